"""One row in numba: how a rule that learns row by row reads it, scores it, and moves theta by it.

Dense rows have theta with a line for each class; sparse rows have it turned round, a line for each
column, so that the numbers of all classes come with one fetch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import float64, njit

from suffice.kernels.lanes.intrinsics_numba import prefetch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Cells = NDArray[Any]

LOOSE = {"reassoc", "contract", "nsz", "arcp"}
"""What the compiler may do with sums: several of them side by side."""

AHEAD = 8
"""Rows between asking for a row and reading it: in a shuffled order none can be foreseen."""

LINE = 8
"""Cells in a line of the cache; of float32 it holds twice as many, which does no harm."""


@njit(nogil=True, inline="always")
def expect(rows: Cells, order: Cells, visit: int) -> None:
    """Ask for a row that will be needed soon, of rows that lie contiguously."""
    if visit + AHEAD < order.size:
        start = order[visit + AHEAD] * rows.shape[1]
        for j in range(0, rows.shape[1], LINE):
            prefetch(rows, start + j)


@njit(nogil=True, fastmath=LOOSE)
def standardize(row: Cells, origin: Floats, inverse: Floats, z: Floats) -> float:
    """Write (1, z) of one row, and return its squared length."""
    length = 1.0
    z[0] = 1.0
    for j in range(row.size):
        value = (float64(row[j]) - origin[j]) * inverse[j]
        z[j + 1] = value
        length += value * value
    return length


@njit(nogil=True, fastmath=LOOSE)
def score(theta: Floats, z: Floats, scores: Floats) -> None:
    """Write theta·(1, z) of every class."""
    for c in range(theta.shape[0]):
        total = 0.0
        own = theta[c]
        for j in range(z.size):
            total += own[j] * z[j]
        scores[c] = total


@njit(nogil=True)
def move(theta: Floats, other: Floats, pushes: Floats, factor: float, z: Floats) -> None:
    """Add push·(1, z) to every class of theta, and factor times that to its companion."""
    for c in range(theta.shape[0]):
        push = pushes[c]
        if push != 0.0:
            mine, beside = theta[c], other[c]
            for j in range(z.size):
                mine[j] += push * z[j]
                beside[j] += factor * (push * z[j])


@njit(nogil=True)
def standardize_stored(cells: Cells, places: Cells, inverse: Floats, z: Floats) -> float:
    """Write z of the stored cells, and return the squared length of (1, z)."""
    length = 1.0
    for q in range(cells.size):
        value = float64(cells[q]) * inverse[places[q]]
        z[q] = value
        length += value * value
    return length


@njit(nogil=True, fastmath=LOOSE)
def score_stored(table: Floats, places: Cells, z: Floats, scores: Floats) -> None:
    """Write theta·(1, z) of every class, from the stored cells."""
    for c in range(scores.size):
        scores[c] = table[0, c]
    for q in range(places.size):
        line = table[places[q] + 1]
        for c in range(scores.size):
            scores[c] += line[c] * z[q]


@njit(nogil=True)
def move_stored(
    table: Floats, other: Floats, pushes: Floats, factor: float, places: Cells, z: Floats
) -> None:
    """Do what `move` does, where there are stored cells."""
    for c in range(pushes.size):
        table[0, c] += pushes[c]
        other[0, c] += factor * pushes[c]
    for q in range(places.size):
        mine, beside = table[places[q] + 1], other[places[q] + 1]
        for c in range(pushes.size):
            if pushes[c] != 0.0:
                mine[c] += pushes[c] * z[q]
                beside[c] += factor * (pushes[c] * z[q])
