"""Labelled rows as the user gave them, read and checked; refusals by the names the user knows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.uneven_blocks import read_sparse_rows
from suffice.errors import NotFinite, SufficeError
from suffice.learning.frames import frame_library
from suffice.learning.zero_weights import rows_with_weight, taken
from suffice.rows import (
    check_lengths,
    read_labels,
    read_table,
    read_weights,
    refuse_infinite,
)
from suffice.rows.bad_cells import refuse_blanks_of
from suffice.rows.sparse import is_sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.rows import FloatArray, IntArray, Label

    Coded = Callable[[Any], tuple[Any, Any]]


FLOAT64 = np.dtype(np.float64)
"""The type of rows that single ones are recognized by; NumPy has one object for it."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledBatch:
    """Labelled rows, read and coded; float32 rows stay float32, whatever the type says."""

    columns: Any
    rows: Any
    codes: IntArray
    classes: NDArray[Any]
    labels: tuple[Label, ...]
    weights: FloatArray | None
    frame: str | None = None
    places: IntArray | None = None
    """Where the rows stood among those given, if some of these had no weight."""
    ravelled: bool = False
    """Whether the labels came as a column of a matrix."""


def read_batch(
    X: object,
    y: object,
    sample_weight: object,
    coded: Coded,
    read: Callable[[Any], object] = read_table,
) -> LabelledBatch:
    """Read rows, labels and weights; rows of weight zero are dropped before anything is seen.

    `read(X)` returns a table that knows its `size`; `coded(table)` returns the schema that
    knows its columns, and its rows as that schema codes them. In this order, so that rows and
    labels that do not belong together are refused before any cell is looked at.
    """
    kept = None if sample_weight is None else rows_with_weight(X, y, sample_weight)
    if kept is None:
        return _read(X, y, sample_weight, coded, read)
    try:
        weights = taken(sample_weight, kept)
        batch = _read(taken(X, kept), taken(y, kept), weights, coded, read)
        return replace(batch, places=kept)
    except SufficeError as error:
        raise error.filled(rows=kept) from None


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
    return read_sparse_rows(X) if is_sparse(X) else read_table(X)
