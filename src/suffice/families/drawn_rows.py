"""Drawn counts as sparse rows: most words appear in no row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadRows
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray

MOST_DRAWN = 9e18
"""Rates that counts are drawn for: whole numbers of a machine end a little above."""
CELLS = 4_000_000
"""Presences that are drawn at once."""


def counted_rows(
    rows: IntArray, columns: IntArray, size: int, width: int, counts: FloatArray | None = None
) -> SparseRows:
    """Return how often each column was drawn in each row, `counts` times each.

    >>> counted_rows(np.array([1, 0, 1]), np.array([2, 0, 2]), 2, 3).toarray()
    array([[1., 0., 0.],
           [0., 0., 2.]])
    """
    cells, which = np.unique(rows.astype(np.int64) * width + columns, return_inverse=True)
    places, held = np.divmod(cells, width)
    indptr = np.searchsorted(places, np.arange(size + 1)).astype(np.int64)
    totals = np.bincount(which, counts, minlength=len(cells)).astype(np.float64)
    return SparseRows(totals, held, indptr, width)


def present_rows(
    probabilities: FloatArray, codes: IntArray, rng: np.random.Generator
) -> SparseRows:
    """Return which columns are there in each row, each by its own probability."""
    width = probabilities.shape[1]
    step = max(1, CELLS // max(1, width))
    rows, columns = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
    for start in range(0, len(codes), step):
        chosen = codes[start : start + step]
        there = rng.random((len(chosen), width)) < probabilities[chosen]
        place, column = np.nonzero(there)
        rows.append(place + start)
        columns.append(column)
    return counted_rows(np.concatenate(rows), np.concatenate(columns), len(codes), width)


def drawn_counts(rates: FloatArray, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a Poisson count for each rate, or refuse rates that no whole number reaches."""
    if rates.max(initial=0.0) > MOST_DRAWN:
        raise BadRows(
            f"counts of {rates.max():g} on average cannot be drawn: whole numbers end before",
            hint="count in larger units: divide these columns before fitting",
        )
    found: NDArray[np.int64] = rng.poisson(rates)
    return found
