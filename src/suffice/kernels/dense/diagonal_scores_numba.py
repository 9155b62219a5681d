"""Scores of normal classes with independent columns in numba: the twin for large inputs.

Rows are read from memory one after the other: reading several at once is slower by half, as the
processor no longer sees what comes next. Log odds are read straight off the row. For scores a few
rows are centred into a buffer that stays in the first cache, where tiles of 4 rows × 2 classes
share their loads. Rows never meet: no row can spoil another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float32, float64, njit

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.lanes.prefetch_numba import AHEAD, expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[Any]

BLOCK = 1024
"""Cells in the buffer, about: with more of them the reading of the next ones is not hidden."""

LANES = 8
"""Columns are filled up to a multiple of a vector: what is left over would be done one by one."""


def diagonal_scores(
    rows: Rows, origin: Floats, scales: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """See `diagonal_scores_numpy.diagonal_scores`."""
    size, width = shifts.shape
    # Tiles and vectors are whole: classes and columns of zeros fill them up.
    factors = np.zeros((size + size % 2, width + -width % LANES))
    offsets = np.zeros_like(factors)
    factors[:size, :width], offsets[:size, :width] = scales, shifts
    origin, constants = np.ascontiguousarray(origin), np.ascontiguousarray(constants)
    _loop(_score, *_kind(rows), 2)(rows, origin, factors, offsets, constants, out)


def diagonal_odds(
    rows: Rows, origin: Floats, curves: Floats, slopes: Floats, offset: float, out: Floats
) -> None:
    """See `diagonal_scores_numpy.diagonal_odds`."""
    origin, curves, slopes = map(np.ascontiguousarray, (origin, curves, slopes))
    _loop(_odds, *_kind(rows), 1)(rows, origin, curves, slopes, np.array([offset]), out)


def _kind(rows: Rows) -> tuple[str, str]:
    """Return what rows are compiled for: the type of their cells, and how they lie."""
    return rows.dtype.str, "C" if rows.flags.c_contiguous else "A"


@once
def _loop(
    loop: Callable[..., None], cells: str, layout: str, dimensions: int
) -> Callable[..., None]:
    rows = array(float32 if cells == np.dtype(np.float32).str else float64, 2, layout)
    parameters = array(float64, dimensions), array(float64, dimensions), array(float64, 1)
    return compiled(loop, rows, array(float64, 1), *parameters, target(dimensions, "A"))


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _curved(row: Rows, origin: Floats, curves: Floats, slopes: Floats) -> float:
    """Return Σ z(curve·z + slope) of one row."""
    total = 0.0
    for j in range(origin.size):
        z = row[j] - origin[j]
        total += z * (curves[j] * z + slopes[j])
    return total


def _odds(
    rows: Rows, origin: Floats, curves: Floats, slopes: Floats, offset: Floats, out: Floats
) -> None:
    ahead = AHEAD // max(rows.shape[1], 1)
    for i in range(rows.shape[0]):
        expect(rows, i + ahead)
        out[i] = _curved(rows[i], origin, curves, slopes) + offset[0]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _norms(block: Floats, factors: Floats, offsets: Floats, norms: Floats, length: int) -> None:
    """Write Σ(x·factor - offset)² of so many rows of the block, or a few more, into `norms`."""
    for r in range(0, length, 4):
        for c in range(0, factors.shape[0], 2):
            a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = 0.0
            for j in range(factors.shape[1]):
                x, y, m, n = factors[c, j], factors[c + 1, j], offsets[c, j], offsets[c + 1, j]
                p, q, s, t = block[r, j], block[r + 1, j], block[r + 2, j], block[r + 3, j]
                a0 += (p * x - m) * (p * x - m)
                a1 += (p * y - n) * (p * y - n)
                b0 += (q * x - m) * (q * x - m)
                b1 += (q * y - n) * (q * y - n)
                c0 += (s * x - m) * (s * x - m)
                c1 += (s * y - n) * (s * y - n)
                d0 += (t * x - m) * (t * x - m)
                d1 += (t * y - n) * (t * y - n)
            norms[r, c], norms[r, c + 1] = a0, a1
            norms[r + 1, c], norms[r + 1, c + 1] = b0, b1
            norms[r + 2, c], norms[r + 2, c + 1] = c0, c1
            norms[r + 3, c], norms[r + 3, c + 1] = d0, d1


def _score(
    rows: Rows, origin: Floats, factors: Floats, offsets: Floats, constants: Floats, out: Floats
) -> None:
    length, width = rows.shape
    many = 4 * max(BLOCK // max(4 * factors.shape[1], 1), 1)
    block = np.zeros((many, factors.shape[1]))
    norms = np.empty((many, factors.shape[0]))
    for start in range(0, length, many):
        held = min(many, length - start)
        for r in range(held):
            expect(rows, start + r + many)
            for j in range(width):
                block[r, j] = rows[start + r, j] - origin[j]
        # Rows left over from the block before are scored too, and not looked at.
        _norms(block, factors, offsets, norms, held)
        for r in range(held):
            for c in range(constants.size):
                out[start + r, c] = constants[c] - 0.5 * norms[r, c]
