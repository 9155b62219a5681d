"""Scores of rows in numba: the twin for large inputs.

A linear score is read straight off the row; several are tiles of 4 rows × 2 classes. For quadratic
scores the centred rows lie by columns in a small buffer: a whole block of them goes through each
coefficient of the triangle at once, and the half that is zero is never touched. Rows never meet:
no row can spoil another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float32, float64, njit

from suffice.kernels.compilation import array, compiled, once, target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[Any]

BLOCK = 256
"""Rows in the buffer."""

STRIDE = BLOCK + 8
"""Doubles from one column of the buffer to the next: no power of two, for the cache's sake."""


def linear_scores(
    rows: Rows, origin: Floats, weights: Floats, intercepts: Floats, out: Floats
) -> None:
    """See `scores_numpy.linear_scores`."""
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
    """See `scores_numpy.quadratic_scores`."""
    width = rows.shape[1]
    missing = -width % 4  # tiles are whole: columns of zeros fill them up
    whitenings = np.pad(whitenings, ((0, 0), (0, missing), (0, missing)))
    shifts = np.pad(shifts, ((0, 0), (0, missing)))
    loop = _quadratic(rows.dtype.str)
    loop(
        rows, np.ascontiguousarray(origin), whitenings, shifts, np.ascontiguousarray(constants), out
    )


def _cells(name: str) -> Any:
    return float32 if name == np.dtype(np.float32).str else float64


@once
def _linear(loop: Callable[..., None], cells: str, contiguous: bool) -> Callable[..., None]:
    rows = array(_cells(cells), 2, "C" if contiguous else "A")
    return compiled(
        loop, rows, array(float64, 1), array(float64, 2), array(float64, 1), target(2, "A")
    )


@once
def _quadratic(cells: str) -> Callable[..., None]:
    inputs = array(float64, 1), array(float64, 3), array(float64, 2), array(float64, 1)
    return compiled(_score_quadratic, array(_cells(cells), 2, "A"), *inputs, target(2, "A"))


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
