"""Scores of rows in numba: the twin for large inputs.

A linear score is read straight off the row; several are tiles of 4 rows × 2 classes. For quadratic
scores the centred rows lie by columns in a small buffer: a whole block of them goes through each
coefficient of the triangle at once, and the half that is zero is never touched.

Where columns are independent, rows are read from memory one after the other: reading several at
once is slower by half, as the processor no longer sees what comes next. Log odds are read straight
off the row. For scores a few rows are centred into a buffer that stays in the first cache, where
tiles of 4 rows × 2 classes share their loads. Rows never meet: no row can spoil another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import float64, njit

from suffice.kernels.compilation import DENSE, array, cells_type, compiled, once_for, target
from suffice.kernels.lanes.intrinsics_numba import CELLS_AHEAD, prefetch_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.kernels.dense.scores import Floats, Rows

BLOCK = 256
"""Rows in the buffer of quadratic scores: two kilobytes a column, for the first cache's sake."""

STRIDE = BLOCK + 8
"""Doubles from one column of the buffer to the next: no power of two, for the cache's sake."""

BLOCK_CELLS = 1024
"""Cells in the buffer of scores of independent columns, about: with more of them the reading of
the next ones is not hidden."""

LANES = 8
"""Columns are filled up to a multiple of a vector: what is left over would be done one by one."""


def linear_scores(
    rows: Rows, origin: Floats, weights: Floats, intercepts: Floats, out: Floats
) -> None:
    """See `scores.linear_scores`."""
    if len(weights) == 1:
        loop = _linear(_score_one, rows.dtype.str, rows.flags.c_contiguous)
    else:
        # Tiles are whole: a class of zeros fills them up.
        weights = np.pad(weights, ((0, len(weights) % 2), (0, 0)))
        loop = _linear(_score_all, rows.dtype.str, False)
    loop(rows, *map(np.ascontiguousarray, (origin, weights, intercepts)), out)


def quadratic_scores(
    rows: Rows, origin: Floats, whitenings: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """See `scores.quadratic_scores`."""
    width = rows.shape[1]
    missing = -width % 4  # tiles are whole: columns of zeros fill them up
    whitenings = np.pad(whitenings, ((0, 0), (0, missing), (0, missing)))
    shifts = np.pad(shifts, ((0, 0), (0, missing)))
    loop = _quadratic(rows.dtype.str)
    loop(
        rows, np.ascontiguousarray(origin), whitenings, shifts, np.ascontiguousarray(constants), out
    )


def diagonal_scores(
    rows: Rows, origin: Floats, scales: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """See `scores.diagonal_scores`."""
    size, width = shifts.shape
    # Tiles and vectors are whole: classes and columns of zeros fill them up.
    factors = np.zeros((size + size % 2, width + -width % LANES))
    offsets = np.zeros_like(factors)
    factors[:size, :width], offsets[:size, :width] = scales, shifts
    origin, constants = np.ascontiguousarray(origin), np.ascontiguousarray(constants)
    _diagonal(_score_diagonal, *_kind(rows), 2)(rows, origin, factors, offsets, constants, out)


def diagonal_odds(
    rows: Rows, origin: Floats, curves: Floats, slopes: Floats, offset: float, out: Floats
) -> None:
    """See `scores.diagonal_odds`."""
    origin, curves, slopes = map(np.ascontiguousarray, (origin, curves, slopes))
    _diagonal(_score_odds, *_kind(rows), 1)(rows, origin, curves, slopes, np.array([offset]), out)


@once_for(
    lambda: [
        (loop, cells, side)
        for loop, side in ((_score_one, True), (_score_one, False), (_score_all, False))
        for cells in DENSE
    ]
)
def _linear(loop: Callable[..., None], cells: str, contiguous: bool) -> Callable[..., None]:
    rows = array(cells_type(cells), 2, "C" if contiguous else "A")
    return compiled(
        loop, rows, array(float64, 1), array(float64, 2), array(float64, 1), target(2, "A")
    )


@once_for(lambda: [(cells,) for cells in DENSE])
def _quadratic(cells: str) -> Callable[..., None]:
    inputs = array(float64, 1), array(float64, 3), array(float64, 2), array(float64, 1)
    return compiled(_score_quadratic, array(cells_type(cells), 2, "A"), *inputs, target(2, "A"))


def _kind(rows: Rows) -> tuple[str, str]:
    """Return what rows are compiled for: the type of their cells, and how they lie."""
    return rows.dtype.str, "C" if rows.flags.c_contiguous else "A"


@once_for(
    lambda: [
        (loop, cells, layout, size)
        for loop, size in ((_score_diagonal, 2), (_score_odds, 1))
        for cells in DENSE
        for layout in "CA"
    ]
)
def _diagonal(
    loop: Callable[..., None], cells: str, layout: str, dimensions: int
) -> Callable[..., None]:
    rows = array(cells_type(cells), 2, layout)
    parameters = array(float64, dimensions), array(float64, dimensions), array(float64, 1)
    return compiled(loop, rows, array(float64, 1), *parameters, target(dimensions, "A"))


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _inner(row: Rows, origin: Floats, weights: Floats) -> float:
    """Return (x - origin)·w."""
    score = 0.0
    for j in range(weights.size):
        score += (row[j] - origin[j]) * weights[j]
    return score


def _score_one(
    rows: Rows, origin: Floats, weights: Floats, intercepts: Floats, out: Floats
) -> None:
    for i in range(rows.shape[0]):
        out[i, 0] = _inner(rows[i], origin, weights[0]) + intercepts[0]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _products(block: Floats, weights: Floats, scores: Floats, length: int) -> None:
    """Write block · weightsᵀ into the scores, in tiles of 4 × 2, for so many rows or a few more."""
    for r in range(0, length, 4):
        for c in range(0, weights.shape[0], 2):
            a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = 0.0
            for j in range(block.shape[1]):
                x, y = weights[c, j], weights[c + 1, j]
                p, q, s, t = block[r, j], block[r + 1, j], block[r + 2, j], block[r + 3, j]
                a0 += p * x
                a1 += p * y
                b0 += q * x
                b1 += q * y
                c0 += s * x
                c1 += s * y
                d0 += t * x
                d1 += t * y
            scores[r, c], scores[r, c + 1] = a0, a1
            scores[r + 1, c], scores[r + 1, c + 1] = b0, b1
            scores[r + 2, c], scores[r + 2, c + 1] = c0, c1
            scores[r + 3, c], scores[r + 3, c + 1] = d0, d1


def _score_all(
    rows: Rows, origin: Floats, weights: Floats, intercepts: Floats, out: Floats
) -> None:
    length, width = rows.shape
    block = np.zeros((BLOCK, width))
    scores = np.empty((BLOCK, weights.shape[0]))
    for start in range(0, length, BLOCK):
        held = min(BLOCK, length - start)
        for r in range(held):
            for j in range(width):
                block[r, j] = rows[start + r, j] - origin[j]
        # Rows left over from the block before are multiplied too, and not looked at.
        _products(block, weights, scores, held)
        for r in range(held):
            for c in range(intercepts.size):
                out[start + r, c] = scores[r, c] + intercepts[c]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _norms(
    buffer: Floats, whitening: Floats, shift: Floats, white: Floats, norms: Floats, length: int
) -> None:
    """Write ‖W x - shift‖² of the first rows of the buffer into `norms`, in tiles of 4 × 4."""
    norms[:] = 0.0
    for i in range(0, whitening.shape[0], 4):
        for t in range(4):
            white[t] = -shift[i + t]
        for j in range(0, i + 4, 4):
            a0, a1, a2, a3 = (
                whitening[i, j], whitening[i, j + 1], whitening[i, j + 2], whitening[i, j + 3]
            )  # fmt: skip
            b0, b1, b2, b3 = (
                whitening[i + 1, j], whitening[i + 1, j + 1],
                whitening[i + 1, j + 2], whitening[i + 1, j + 3],
            )  # fmt: skip
            c0, c1, c2, c3 = (
                whitening[i + 2, j], whitening[i + 2, j + 1],
                whitening[i + 2, j + 2], whitening[i + 2, j + 3],
            )  # fmt: skip
            d0, d1, d2, d3 = (
                whitening[i + 3, j], whitening[i + 3, j + 1],
                whitening[i + 3, j + 2], whitening[i + 3, j + 3],
            )  # fmt: skip
            for r in range(length):
                x, y, z, u = buffer[j, r], buffer[j + 1, r], buffer[j + 2, r], buffer[j + 3, r]
                white[0, r] += a0 * x + a1 * y + a2 * z + a3 * u
                white[1, r] += b0 * x + b1 * y + b2 * z + b3 * u
                white[2, r] += c0 * x + c1 * y + c2 * z + c3 * u
                white[3, r] += d0 * x + d1 * y + d2 * z + d3 * u
        for r in range(length):
            a, b, c, d = white[0, r], white[1, r], white[2, r], white[3, r]
            norms[r] += a * a + b * b + c * c + d * d


def _score_quadratic(
    rows: Rows, origin: Floats, whitenings: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    length, width = rows.shape
    buffer = np.zeros((whitenings.shape[1], STRIDE))
    white = np.empty((4, STRIDE))
    norms = np.empty(BLOCK)
    for start in range(0, length, BLOCK):
        held = min(BLOCK, length - start)
        for r in range(held):
            for j in range(width):
                buffer[j, r] = rows[start + r, j] - origin[j]
        for c in range(constants.size):
            _norms(buffer, whitenings[c], shifts[c], white, norms, held)
            for r in range(held):
                out[start + r, c] = constants[c] - 0.5 * norms[r]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _curved(row: Rows, origin: Floats, curves: Floats, slopes: Floats) -> float:
    """Return Σ z(curve·z + slope) of one row."""
    total = 0.0
    for j in range(origin.size):
        z = row[j] - origin[j]
        total += z * (curves[j] * z + slopes[j])
    return total


def _score_odds(
    rows: Rows, origin: Floats, curves: Floats, slopes: Floats, offset: Floats, out: Floats
) -> None:
    ahead = CELLS_AHEAD // max(rows.shape[1], 1)
    for i in range(rows.shape[0]):
        prefetch_row(rows, i + ahead)
        out[i] = _curved(rows[i], origin, curves, slopes) + offset[0]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _diagonal_norms(
    block: Floats, factors: Floats, offsets: Floats, norms: Floats, length: int
) -> None:
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


def _score_diagonal(
    rows: Rows, origin: Floats, factors: Floats, offsets: Floats, constants: Floats, out: Floats
) -> None:
    length, width = rows.shape
    many = 4 * max(BLOCK_CELLS // max(4 * factors.shape[1], 1), 1)
    block = np.zeros((many, factors.shape[1]))
    norms = np.empty((many, factors.shape[0]))
    for start in range(0, length, many):
        held = min(many, length - start)
        for r in range(held):
            prefetch_row(rows, start + r + many)
            for j in range(width):
                block[r, j] = rows[start + r, j] - origin[j]
        # Rows left over from the block before are scored too, and not looked at.
        _diagonal_norms(block, factors, offsets, norms, held)
        for r in range(held):
            for c in range(constants.size):
                out[start + r, c] = constants[c] - 0.5 * norms[r, c]
