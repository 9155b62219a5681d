"""Model files as commands use them: where they are written, and what they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from suffice.cli.terminal.outputs import check_output, is_printed
from suffice.columns.schema import Columns
from suffice.errors import BadSetting
from suffice.learning.table_recipe import filled_table
from suffice.storage.atomic_writes import check_place
from suffice.storage.model_file import is_model_file, stored_rows, write_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from suffice.learning.table_recipe import TableNotes
    from suffice.rows import FloatArray, IntArray, Label, Table
    from suffice.storage.model_file import StoredModel
    from suffice.training.saved_models import Saved


def check_model_place(
    place: Path,
    inputs: Sequence[str],
    model: Path | None = None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Refuse a place that no model can be written to, before any work is done for it.

    `model` is the file that is being changed: writing over it is what was asked for.
    """
    if is_printed(place) and as_json:
        raise click.UsageError("--json and -o - both use standard output: write to a file")
    if model is not None and place == model:
        check_place(place)
        return
    check_output(place, inputs, ours=is_model_file, what="a model file", force=force)


def save(
    path: Path,
    saved: Saved,
    *,
    statistics: bool = True,
    check: Callable[[], None] | None = None,
) -> StoredModel:
    """Write a model, whole or not at all, and return what was written; `-` is standard output.

    `check` is called before a file is replaced, and may refuse that.
    """
    stored = saved.stored(statistics=statistics)
    write_stored(path, stored, check)
    return stored


def write_stored(path: Path, stored: StoredModel, check: Callable[[], None] | None = None) -> None:
    """Write what a model file holds to a file, or to standard output."""
    if is_printed(path):
        _print_model(stored)
    else:
        write_model(path, stored, check)


def _print_model(stored: StoredModel) -> None:
    """Write a model to standard output; a zip is written with steps back, which a pipe has not."""
    import shutil
    import sys
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        place = Path(folder) / "model"
        write_model(place, stored)
        with place.open("rb") as file:
            sys.stdout.flush()
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()


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
        plain = isinstance(self._columns, Columns)  # and not the design of a linear model
        return self._columns if plain else self._columns.columns

    def saved(self, path: Path) -> Saved:
        """Return the same model, able to learn; the file is not read again, it may be another."""
        from suffice.training.saved_models import Saved, model_of

        return Saved(model_of(path, self._stored), self._notes)

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

    def _rows(self, table: Table) -> object:
        if self._notes.filled is not None:
            table = filled_table(self._notes.filled, table)
        return stored_rows(self._stored, table)
