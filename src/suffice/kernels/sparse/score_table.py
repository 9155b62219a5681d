"""The table that sparse rows are scored with: laid out once, read millions of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINE = 8
"""Doubles in a line of the cache."""


def lanes(size: int) -> int:
    """Return how many scores are added up side by side for so many classes.

    >>> [lanes(size) for size in (1, 2, 4, 5, 20)]
    [1, 2, 4, 8, 8]
    """
    return min(1 << (size - 1).bit_length(), LINE)


def score_table(weights: NDArray[Any]) -> NDArray[np.float64]:
    """Return weights (k, d) as a table (d, ≥ k): one row a column, filled up with zeros.

    Rows are whole lanes and begin with a line of the cache, or share it: the k numbers of a column
    come with one fetch. That is worth a factor of two at a million columns; a table of any other
    layout gives the same scores.

    >>> score_table(np.ones((5, 2))).shape
    (2, 8)
    """
    size, width = weights.shape
    padded = -(-size // lanes(size)) * lanes(size)
    room = np.zeros(width * padded + LINE)
    skipped = -(room.ctypes.data // room.itemsize) % LINE
    table = room[skipped : skipped + width * padded].reshape(width, padded)
    table[:, :size] = weights.T
    return table


def packed(table: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return a table (d, ≥ size) in whole lanes: itself, where `score_table` has made it."""
    if table.flags.c_contiguous and table.shape[1] >= size and not table.shape[1] % lanes(size):
        return table
    return score_table(table[:, :size].T)
