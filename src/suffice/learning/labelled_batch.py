"""Labelled rows as the user gave them, read and checked; refusals by the names the user knows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadLabels, NotFinite, SufficeError
from suffice.learning.frames import frame_library
from suffice.places import Phrase, RowAt
from suffice.rows import (
    Table,
    check_lengths,
    read_labels,
    read_table,
    read_weights,
    refuse_infinite,
)
from suffice.rows.bad_cells import refuse_blanks_of
from suffice.rows.labels import blank_labels
from suffice.rows.sparse import SparseRows, is_sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.rows import FloatArray, IntArray, Label

    Coded = Callable[[Any], tuple[Any, Any]]


FLOAT64 = np.dtype(np.float64)
"""The type of rows that single ones are recognized by; NumPy has one object for it."""
REFUSED, LEFT_OUT, KEPT, TOO_LATE = "refused", "left out", "kept", "too late"
"""What becomes of rows without a label: they are refused, dropped, read beside the others, or
refused because they would have to be learned together with rows that are gone."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsWithoutLabel:
    """Rows of a batch that have no label: how many, and where they stood.

    `rows` and `weights` are None where they are left out.
    """

    count: int
    places: IntArray
    rows: Any = None
    weights: FloatArray | None = None
    whole: Any = None
    """All rows of the batch, labelled or not, in their order."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledBatch:
    """Labelled rows, read and coded; float32 rows stay float32, whatever the type says."""

    columns: Any
    rows: Any
    codes: IntArray
    classes: NDArray[np.generic]
    labels: tuple[Label, ...]
    weights: FloatArray | None
    frame: str | None = None
    places: IntArray | None = None
    """Where the rows stood among those given, if some of these had no weight."""
    ravelled: bool = False
    """Whether the labels came as a column of a matrix."""
    without: RowsWithoutLabel | None = None
    """Rows that have no label."""

    def looked_at(self) -> tuple[Any, IntArray, FloatArray | None]:
        """Return rows, classes and weights by whose looks the laws of columns are chosen.

        Rows without a label are among them, as one more class: their cells have to belong to a
        law of the column as well.
        """
        without = self.without
        if without is None or without.whole is None or self.places is None:
            return self.rows, self.codes, self.weights
        order = np.argsort(np.concatenate([self.places, without.places]))
        more = np.full(without.count, len(self.labels), dtype=np.intp)
        codes = np.concatenate([self.codes, more])[order]
        if self.weights is None or without.weights is None:
            return without.whole, codes, None
        return without.whole, codes, np.concatenate([self.weights, without.weights])[order]


def read_batch(
    X: object,
    y: object,
    sample_weight: object,
    coded: Coded,
    read: Callable[[object], object] = read_table,
    blanks: str = REFUSED,
) -> LabelledBatch:
    """Read rows, labels and weights; rows of weight zero are dropped before anything is seen.

    `read(X)` returns a table that knows its `size`; `coded(table)` returns the schema that
    knows its columns, and its rows as that schema codes them. In this order, so that rows and
    labels that do not belong together are refused before any cell is looked at. `blanks` says
    what becomes of rows without a label.
    """
    kept = None if sample_weight is None else rows_with_weight(X, y, sample_weight)
    if kept is None:
        return _read_some(X, y, sample_weight, coded, read, blanks)
    try:
        weights = taken(sample_weight, kept)
        batch = _read_some(taken(X, kept), taken(y, kept), weights, coded, read, blanks)
    except SufficeError as error:
        raise error.filled(rows=kept) from None
    places = kept if batch.places is None else kept[batch.places]
    without = batch.without
    if without is not None:
        without = replace(without, places=kept[without.places])
    return replace(batch, places=places, without=without)


def _read_some(
    X: object, y: object, sample_weight: object, coded: Coded, read: Callable[[Any], Any], how: str
) -> LabelledBatch:
    """Read the rows that have a label, and the others if they are kept."""
    blank = None if how == REFUSED else blank_labels(y)
    size = X.size if isinstance(X, Table) else length_of(X)
    if blank is None or (
        size is not None and len(blank) != size
    ):  # the second is refused in words of its own
        return _read(X, y, sample_weight, coded, read)
    there, gone = np.flatnonzero(~blank), np.flatnonzero(blank)
    if how == TOO_LATE:
        raise BadLabels(
            Phrase("Row {row.number} has no label", row=RowAt(int(gone[0]))),
            hint="rows without a label are learned by fit, together with all others: fit again "
            'on all rows, or set unlabelled="ignore"',
        )
    if not len(there):
        raise BadLabels(
            f"none of {len(blank):,} rows has a label",
            hint="give some rows of every class a label; None, NaN and blank strings are not "
            "labels",
        )
    labels, weights = read_labels(taken(y, there)), read_weights(sample_weight, len(blank))
    own = None if weights is None else weights[there]
    if how == LEFT_OUT:
        try:
            batch = _read(some_rows(X, there), taken(y, there), own, coded, read)
        except SufficeError as error:
            raise error.filled(rows=there) from None
        return replace(batch, places=there, without=RowsWithoutLabel(len(gone), gone))
    table = read(X)
    check_lengths(table.size, len(blank))
    columns, rows = coded(table)
    rest = None if weights is None else weights[gone]
    return LabelledBatch(
        columns,
        some_rows(rows, there),
        labels.codes,
        labels.classes,
        tuple(_plain(labels.classes)),
        own,
        None if type(X) is np.ndarray else frame_library(X),
        there,
        labels.ravelled,
        RowsWithoutLabel(len(gone), gone, some_rows(rows, gone), rest, rows),
    )


def some_rows(rows: Any, places: IntArray) -> object:
    """Return some rows of a batch: of an array, a table, sparse rows, or documents."""
    if hasattr(rows, "taken"):
        return rows.taken(places)
    if isinstance(rows, SparseRows) or hasattr(rows, "parts"):  # or blocks of columns
        return rows.take(places)
    return taken(rows, places)


def _read(
    X: object, y: object, sample_weight: object, coded: Coded, read: Callable[[Any], Any]
) -> LabelledBatch:
    table = read(X)
    labels = read_labels(y)
    check_lengths(table.size, len(labels.codes))
    weights = read_weights(sample_weight, table.size)
    columns, rows = coded(table)
    return LabelledBatch(
        columns,
        rows,
        labels.codes,
        labels.classes,
        tuple(_plain(labels.classes)),
        weights,
        None if type(X) is np.ndarray else frame_library(X),
        ravelled=labels.ravelled,
    )


def _plain(classes: NDArray[np.generic]) -> list[Label]:
    return [v.item() if isinstance(v, np.generic) else v for v in classes.tolist()]


def naming_cells(
    error: NotFinite, rows: NDArray[Any], columns: Columns, places: IntArray | None = None
) -> NotFinite:
    """Return the refusal of a cell with the column's own name, and the caller's row."""
    try:
        refuse_infinite(rows, columns.coded_names)
    except NotFinite as named:
        return named.filled(rows=places)
    return error.filled(columns.coded_names)


def naming(batch: LabelledBatch, learn: Callable[[], object]) -> Any:
    """Learn; a cell that is not finite is refused by its column's name and the caller's row."""
    try:
        return learn()
    except NotFinite as error:
        names = batch.columns.names
        try:
            refuse_blanks_of(batch.rows, names)
        except NotFinite as named:
            raise named.filled(rows=batch.places) from None
        raise error.filled(names) from None


def opened(X: object) -> Any:
    """Return X as a table, or as sparse rows."""
    if not is_sparse(X):
        return read_table(X)
    from suffice.engines.uneven_blocks import read_sparse_rows

    return read_sparse_rows(X)


def rows_with_weight(X: object, y: object, sample_weight: object) -> IntArray | None:
    """Return which rows have a weight, or None when all have (or when nothing fits together)."""
    if sample_weight is None:
        return None
    size = length_of(X)
    if size is None or size != length_of(y):
        return None  # refused later, in words about rows and labels
    weights = read_weights(sample_weight, size)
    if weights is None or weights.all():
        return None
    return np.flatnonzero(weights)


def length_of(data: object) -> int | None:
    """Return how many rows there are; None where that is not known yet."""
    shape = getattr(data, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    return len(data) if isinstance(data, (list, tuple)) else None


def taken(data: Any, places: IntArray) -> Any:
    """Return some rows of an array, a list, a frame or a series, as what they were."""
    if isinstance(data, (list, tuple)):
        return [data[place] for place in places]
    if isinstance(data, np.ndarray):
        return data[places]
    if isinstance(data, Table):  # whose own `take` is of columns
        return data.rows(places)
    if hasattr(data, "iloc"):  # pandas, whose own [] would look labels up
        return data.iloc[places]
    if hasattr(data, "take"):  # Arrow
        return data.take(places)
    return (data.tocsr() if hasattr(data, "tocsr") else data)[places]  # not all sparse ones have []
