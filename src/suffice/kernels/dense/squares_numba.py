"""Centred sums of squares by class and column in numba: the twin for large inputs.

Rows are read where they lie, one after the other, and where they are contiguous the compiler
vectorises along them. Blocks without missing cells, which is most of them, are summed without a
test; the sums themselves tell when that was wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import float64, intp, njit

from suffice.kernels.compilation import (
    DENSE,
    NO_WEIGHTS,
    array,
    cells_type,
    compiled,
    once_for,
    target,
)
from suffice.kernels.dense.columns_apart import ColumnsApart, together
from suffice.kernels.lanes.intrinsics_numba import CELLS_AHEAD, prefetch_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[np.floating] | ColumnsApart
    Cells = NDArray[np.floating]

BLOCK = 256
"""Rows that are summed before their sums are added to the others, at least; and 64 for each class,
so that there is little work on sums beside that on rows. More of them would round more
(`scatter.additions`)."""

PIECES = 16
"""So many of these are added up before one looks whether a cell was missing."""


def class_squares(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """See `scatter.class_squares`."""
    rows = together(rows)
    totals, (counts, sums, squares) = np.zeros(size), np.zeros((3, size, rows.shape[1]))
    loop = _loop(rows.dtype.str, "C" if rows.flags.c_contiguous else "A")
    given = NO_WEIGHTS if weights is None else weights
    loop(rows, codes, given, np.ascontiguousarray(centres), totals, counts, sums, squares)
    return totals, counts, sums, squares


@once_for(lambda: [(cells, layout) for cells in DENSE for layout in "CA"])
def _loop(cells: str, layout: str) -> Callable[..., None]:
    """Return the loop compiled for float32 or float64 cells that lie so."""
    rows = array(cells_type(cells), 2, layout)
    inputs = rows, array(intp, 1, "A"), array(float64, 1, "A"), array(float64, 2)
    return compiled(_square, *inputs, target(1), target(2), target(2), target(2))


# Both are inlined into `_square`: where the arrays of sums are made, the compiler knows that
# nothing else lies there.


@njit(nogil=True, inline="always")
def _add_complete(
    rows: Cells, codes: Codes, weights: Floats, centres: Floats, start: int, stop: int,
    held: Floats, sums: Floats, squares: Floats, totals: Floats, added: Floats, squared: Floats,
) -> None:  # fmt: skip
    """Add the sums of a piece as if no cell were missing; `held`, `sums`, `squares` stay zero."""
    width, weighted = rows.shape[1], weights.size > 0
    ahead = CELLS_AHEAD // max(width, 1)
    for row in range(start, stop):
        code = codes[row]
        weight = weights[row] if weighted else 1.0
        held[code] += weight
        prefetch_row(rows, row + ahead)
        for j in range(width):
            cell = rows[row, j] - centres[code, j]
            part = weight * cell
            sums[code, j] += part
            squares[code, j] += part * cell
    for code in range(held.size):
        totals[code] += held[code]
        held[code] = 0.0
        for j in range(width):
            added[code, j] += sums[code, j]
            squared[code, j] += squares[code, j]
            sums[code, j] = squares[code, j] = 0.0


@njit(nogil=True, inline="always")
def _add_observed(
    rows: Cells, codes: Codes, weights: Floats, centres: Floats, start: int, stop: int,
    held: Floats, seen: Floats, sums: Floats, squares: Floats,
) -> bool:  # fmt: skip
    """Write the sums of one block's observed cells; return whether none was missing."""
    width, weighted = rows.shape[1], weights.size > 0
    ahead = CELLS_AHEAD // max(width, 1)
    held[:] = seen[:] = sums[:] = squares[:] = 0.0
    for row in range(start, stop):
        code = codes[row]
        weight = weights[row] if weighted else 1.0
        held[code] += weight
        prefetch_row(rows, row + ahead)
        for j in range(width):
            cell = rows[row, j] - centres[code, j]
            there = cell == cell  # noqa: PLR0124  a NaN is not itself
            cell = cell if there else 0.0
            part = weight * cell
            seen[code, j] += weight if there else 0.0
            sums[code, j] += part
            squares[code, j] += part * cell
    complete = True
    for code in range(held.size):
        for j in range(width):
            complete &= seen[code, j] == held[code]
    return complete


def _square(
    rows: Cells, codes: Codes, weights: Floats, centres: Floats,
    totals: Floats, counts: Floats, sums: Floats, squares: Floats,
) -> None:  # fmt: skip
    length, width = rows.shape
    size = totals.size
    piece = max(BLOCK, 64 * size)
    held, seen = np.zeros(size), np.zeros((size, width))
    own, own_squares = np.zeros((size, width)), np.zeros((size, width))
    whole, observed = np.zeros(size), np.zeros((size, width))
    added, squared = np.zeros((size, width)), np.zeros((size, width))
    complete = True  # where the block before had missing cells, this one is likely to have some
    for start in range(0, length, PIECES * piece):
        end = min(start + PIECES * piece, length)
        if complete:
            for first in range(start, end, piece):
                _add_complete(
                    rows, codes, weights, centres, first, min(first + piece, end),
                    held, own, own_squares, whole, added, squared,
                )  # fmt: skip
            for code in range(size):
                for j in range(width):
                    # One NaN shows in its sum. So does an infinity, which the careful loop keeps.
                    complete &= added[code, j] - added[code, j] == 0.0
                    observed[code, j] = whole[code]
            if not complete:
                whole[:] = observed[:] = added[:] = squared[:] = 0.0
        if not complete:
            complete = True
            for first in range(start, end, piece):
                complete &= _add_observed(
                    rows, codes, weights, centres, first, min(first + piece, end),
                    held, seen, own, own_squares,
                )  # fmt: skip
                for code in range(size):
                    whole[code] += held[code]
                    held[code] = 0.0
                    for j in range(width):
                        observed[code, j] += seen[code, j]
                        added[code, j] += own[code, j]
                        squared[code, j] += own_squares[code, j]
                        own[code, j] = own_squares[code, j] = 0.0
        for code in range(size):
            totals[code] += whole[code]
            whole[code] = 0.0
            for j in range(width):
                counts[code, j] += observed[code, j]
                sums[code, j] += added[code, j]
                squares[code, j] += squared[code, j]
                observed[code, j] = added[code, j] = squared[code, j] = 0.0
