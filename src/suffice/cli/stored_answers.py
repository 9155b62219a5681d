"""What a model file answers about rows, with NumPy alone: no estimator is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.columns.design import Design
from suffice.errors import BadSetting
from suffice.estimators.shared.table_recipe import filled_table
from suffice.storage.model_file import stored_rows

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.estimators.shared.table_recipe import TableNotes
    from suffice.storage.model_file import StoredModel
    from suffice.rows import FloatArray, IntArray, Label, Table


class StoredAnswers:
    """Posteriors and classes of rows, by the model that a file holds."""

    def __init__(self, stored: StoredModel, notes: TableNotes) -> None:
        self._stored = stored
        self._notes = notes
        self._model: Any = stored.state["model"]
        self._columns: Any = stored.state["columns"]

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes, in order."""
        found: tuple[Label, ...] = tuple(self._model.labels)
        return found

    @property
    def columns(self) -> Any:
        """The columns that a table should have."""
        if self._notes.filled is not None:
            return self._notes.filled.columns
        design = isinstance(self._columns, Design)
        return self._columns.columns if design else self._columns

    def estimator(self, path: Path) -> Any:
        """Return the same model as an estimator; the file is not read again, it may be another."""
        from suffice.estimators.shared.saving import restored

        return restored(path, self._stored)

    def posterior(self, table: Table) -> FloatArray:
        """Return p(y | x), one column a class."""
        if self._stored.estimator == "Perceptron":
            raise BadSetting(
                "a perceptron has classes, but no probabilities",
                hint="leave --proba, --cost and --reject-below out, or fit another model",
            )
        found: FloatArray = self._model.posterior(self._rows(table))
        return found

    def codes(self, table: Table) -> IntArray:
        """Return the place of the likeliest class of every row."""
        found: IntArray = self._model.codes(self._rows(table))
        return found

    def _rows(self, table: Table) -> Any:
        if self._notes.filled is not None:
            table = filled_table(self._notes.filled, table)
        return stored_rows(self._stored, table)
