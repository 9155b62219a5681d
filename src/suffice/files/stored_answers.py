"""What a stored model answers, without an estimator around it: predicting needs NumPy alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from suffice.errors import BadSetting
from suffice.files.kinds import name_of
from suffice.models.text.documents import Documents
from suffice.models.text.documents import read_texts

if TYPE_CHECKING:
    from collections.abc import Collection

    from suffice.files.stored_models import StoredModel
    from suffice.rows import FloatArray, Table


def stored_rows(stored: StoredModel, table: Table) -> Any:
    """Return a table as the rows that the stored model takes: coded, matched, or cut into blocks.

    Columns are matched by name where the model knows names, in whatever order they come; what is
    missing, or does not belong, is refused.
    """
    model, columns, reader = stored.state["model"], stored.state["columns"], stored.estimator
    if name_of(model) == "Normal":
        raise BadSetting(
            f"a {reader} is a law of rows without classes: there is nothing to predict",
            hint="suffice.load(path) gives it back: log_density, typicality, sample",
        )
    if name_of(model) == "LinearForm":
        return columns.rows(table, reader)
    if name_of(model) == "GenerativeModel":
        return columns.encode(table, reader)
    if name_of(model) == "TextRecord":
        return Documents.of(read_texts(table, columns)[1], model.limit)
    matched = columns.matched(table, reader)
    return model.product.read(matched, learning=False, chosen=partial(_chosen, stored))


def _chosen(stored: StoredModel) -> Collection[int]:
    """Return the columns whose families nobody had named."""
    from suffice.models.naive_bayes.families_by_looks import chosen_by_looks

    asked = (stored.state.get("chosen") or {}).get("asked")
    return chosen_by_looks(asked, stored.state["columns"])


def stored_posterior(stored: StoredModel, table: Table, *, log: bool = False) -> FloatArray:
    """Return p(y | x), or its logarithm: one column for each of `stored.state["model"].labels`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.files.stored_models import read_model
    >>> from suffice.rows import read_table
    >>> place = Path(tempfile.mkdtemp()) / "model.suffice"
    >>> GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [6.0]], list("aabb")).save(place)
    >>> stored_posterior(read_model(place), read_table([[3.5]]))
    array([[0.5, 0.5]])
    """
    rows = stored_rows(stored, table)
    found: FloatArray = stored.state["model"].posterior(rows, log=log)
    return found
