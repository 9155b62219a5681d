"""A weight of zero is no row: such rows are taken out before anyone looks at their cells."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from suffice.errors import SufficeError
from suffice.rows import read_weights
from suffice.rows.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.rows import IntArray

E = TypeVar("E", bound=SufficeError)


def rows_with_weight(X: object, y: object, sample_weight: object) -> IntArray | None:
    """Return which rows have a weight, or None when all have (or when nothing fits together)."""
    if sample_weight is None:
        return None
    size = _length(X)
    if size is None or size != _length(y):
        return None  # refused later, in words about rows and labels
    weights = read_weights(sample_weight, size)
    if weights is None or weights.all():
        return None
    return np.flatnonzero(weights)


def _length(data: object) -> int | None:
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
    if hasattr(data, "iloc"):  # pandas, whose own [] would look labels up
        return data.iloc[places]
    if hasattr(data, "take"):  # Arrow
        return data.take(places)
    return (data.tocsr() if hasattr(data, "tocsr") else data)[places]  # not all sparse ones have []


def as_given(error: E, places: IntArray, again: Callable[[IntArray], object]) -> E:
    """Return a refusal that counts rows as the caller does, weightless ones included.

    `places` is where the rows stood that have weight. `again` does what was refused once more, with
    the rows that it is told of, counted among these. It gets as many as were given, each where it
    stood, and in the place of a weightless row the last one before it: so the refusal counts
    right by itself. To renumber its sentence would be to guess what is a row in it, and what the
    name of a column.
    """
    index = np.searchsorted(places, np.arange(int(places[-1]) + 1), side="right") - 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if index[0] < 0:  # no row before these: any will do that is not the one to be refused
            index[index < 0] = _unsuspected(again, len(places))
        try:
            again(index)
        except type(error) as told:
            return told
        except SufficeError:
            pass
    return error


def _unsuspected(again: Callable[[IntArray], object], size: int) -> int:
    """Return a row that is not refused, neither by itself nor, if possible, beside others."""
    some = [size - 1, 0, size // 2, size // 3]

    def passes(one: int, other: int) -> bool:
        try:
            again(np.array([one, other]))
        except SufficeError:
            return False
        return True

    return max(some, key=lambda one: sum(passes(one, other) for other in some))


def rows_at(rows: Any, index: IntArray) -> Any:
    """Return some rows of an array, of sparse rows or of a table that has been read."""
    if not isinstance(rows, Table):
        return rows[index]
    if rows.matrix is not None:
        return replace(rows, matrix=rows.matrix[index])
    return replace(rows, cells=tuple(column[index] for column in rows.cells or ()))
