"""Products of rows with the few columns of a softmax regression, and back, in numba.

BLAS is slow at products with some ten columns. Here a few rows at a time are standardised into a
buffer that stays in a core's cache; tiles of 4 rows × 2 classes share their loads. Buffers are
whole vectors and tiles: what is missing is filled with zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[Any]

CELLS = 8192
"""Cells in the buffer, about: 64 kilobytes."""

LEAST, MOST = 16, 256
"""Rows in the buffer, at least and at most."""

LANES = 8
"""What the columns of the buffer are filled up to a multiple of."""


def _even(number: int) -> int:
    return number + number % 2


def room_for_sums(size: int, width: int) -> Floats:
    """Return zeros in whole tiles, for the slopes of `width - 1` columns, an intercept behind."""
    return np.zeros((_even(size), -(-(width - 1) // LANES) * LANES + 1))


def laid_out(*given: Floats) -> tuple[Floats, Floats]:
    """Return slopes and intercepts in whole tiles, one table below the other."""
    slopes = [room_for_sums(len(theta), theta.shape[1])[:, :-1] for theta in given]
    intercepts = [np.zeros(len(table)) for table in slopes]
    for theta, table, starts in zip(given, slopes, intercepts, strict=True):
        table[: len(theta), : theta.shape[1] - 1] = theta[:, 1:]
        starts[: len(theta)] = theta[:, 0]
    return np.concatenate(slopes), np.concatenate(intercepts)


def buffers(shape: tuple[int, int], tables: int) -> tuple[Floats, Floats]:
    """Return a buffer for rows and one for the scores of so many tables."""
    width = -(-(shape[1] - 1) // LANES) * LANES
    length = min(max(CELLS // max(width, 1), LEAST), MOST) // 4 * 4
    return np.zeros((length, width)), np.zeros((tables * _even(shape[0]), length))


def gradient_of(sums: Floats, shape: tuple[int, int]) -> Floats:
    """Return the sums of the real classes and columns, the intercepts first."""
    gradient = np.empty(shape)
    gradient[:, 0] = sums[: shape[0], -1]
    gradient[:, 1:] = sums[: shape[0], : shape[1] - 1]
    return gradient


@njit(nogil=True)
def standardise(
    rows: Rows, start: int, held: int, origin: Floats, inverse: Floats, z: Floats
) -> None:
    """Write (x - origin)·inverse of so many rows into the buffer."""
    for r in range(held):
        row, to = rows[start + r], z[r]
        for j in range(row.size):
            to[j] = (row[j] - origin[j]) * inverse[j]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def score(z: Floats, slopes: Floats, intercepts: Floats, scores: Floats, held: int) -> None:
    """Write slopes · zᵀ + intercepts, in tiles of 2 classes × 4 rows."""
    for c in range(0, slopes.shape[0], 2):
        for r in range(0, held, 4):
            a0 = b0 = c0 = d0 = intercepts[c]
            a1 = b1 = c1 = d1 = intercepts[c + 1]
            for j in range(z.shape[1]):
                x, y = slopes[c, j], slopes[c + 1, j]
                p, q, s, t = z[r, j], z[r + 1, j], z[r + 2, j], z[r + 3, j]
                a0 += p * x
                a1 += p * y
                b0 += q * x
                b1 += q * y
                c0 += s * x
                c1 += s * y
                d0 += t * x
                d1 += t * y
            scores[c, r], scores[c, r + 1] = a0, b0
            scores[c, r + 2], scores[c, r + 3] = c0, d0
            scores[c + 1, r], scores[c + 1, r + 1] = a1, b1
            scores[c + 1, r + 2], scores[c + 1, r + 3] = c1, d1


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def gather(z: Floats, residuals: Floats, sums: Floats, held: int) -> None:
    """Add residuals · z to the sums, in tiles of 2 classes × 4 rows; their totals go behind."""
    width = z.shape[1]
    for k in range(0, sums.shape[0], 2):
        first, second = 0.0, 0.0
        for r in range(0, held, 4):
            a, b, c, d = (
                residuals[k, r], residuals[k, r + 1], residuals[k, r + 2], residuals[k, r + 3]
            )  # fmt: skip
            e, f, g, h = (
                residuals[k + 1, r], residuals[k + 1, r + 1],
                residuals[k + 1, r + 2], residuals[k + 1, r + 3],
            )  # fmt: skip
            first += (a + b) + (c + d)
            second += (e + f) + (g + h)
            for j in range(width):
                p, q, s, t = z[r, j], z[r + 1, j], z[r + 2, j], z[r + 3, j]
                sums[k, j] += (a * p + b * q) + (c * s + d * t)
                sums[k + 1, j] += (e * p + f * q) + (g * s + h * t)
        sums[k, width] += first
        sums[k + 1, width] += second
