"""Loss, gradient and Hessian products of softmax regression in numba: the twin for large inputs.

BLAS is slow at products with some ten columns. Here a few rows at a time are standardised into a
buffer that stays in a core's cache, and go from cells to scores and back to sums in tiles of
4 rows × 2 classes that share their loads. Buffers are whole vectors and tiles: what is missing is
filled with zeros. Between the two products, a class's scores of all these rows lie together, so
that exponentials are taken by the vector.
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
from suffice.kernels.lanes.contiguous_numba import contiguous_parts
from suffice.kernels.lanes.exponentials_numba import exponential, log_one_plus_any

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.kernels.logistic.dense import Codes, Floats, Rows, Standardised

BUFFER_CELLS = 8192
"""Cells in the buffer, about: 64 kilobytes."""

LEAST_ROWS, MOST_ROWS = 16, 256
"""Rows in the buffer: enough for a vector of exponentials, and no more than the first cache has
room for the scores of."""

LANES = 8
"""What the columns of the buffer are filled up to a multiple of: the doubles of a vector."""


def loss_and_gradient(
    table: Standardised, codes: Codes, weights: Floats | None, theta: Floats
) -> tuple[float, Floats, float]:
    """See `dense.loss_and_gradient`."""
    tally, sums = np.array([0.0, np.inf]), _room_for_sums(len(theta), theta.shape[1])
    rows, fixed = table.rows, (*table.scale, *_laid_out(theta))
    loop, z, scores = _gradient_loop(rows.dtype.str), *_buffers(theta.shape, 1)
    for some, part in contiguous_parts(rows):
        own = NO_WEIGHTS if weights is None else weights[some]
        loop(part, codes[some], own, *fixed, len(theta), z, scores, sums, tally)
    return float(tally[0]), _gradient_of(sums, theta.shape), float(tally[1])


def hessian_product(
    table: Standardised, weights: Floats | None, theta: Floats, direction: Floats
) -> Floats:
    """See `dense.hessian_product`."""
    sums = _room_for_sums(len(theta), theta.shape[1])
    rows, fixed = table.rows, (*table.scale, *_laid_out(theta, direction))
    loop, z, scores = _product_loop(rows.dtype.str), *_buffers(theta.shape, 2)
    for some, part in contiguous_parts(rows):
        own = NO_WEIGHTS if weights is None else weights[some]
        loop(part, own, *fixed, len(theta), z, scores, sums)
    return _gradient_of(sums, theta.shape)


def _even(number: int) -> int:
    return number + number % 2


def _room_for_sums(size: int, width: int) -> Floats:
    """Return zeros in whole tiles, for the slopes of `width - 1` columns, an intercept behind."""
    return np.zeros((_even(size), -(-(width - 1) // LANES) * LANES + 1))


def _laid_out(*given: Floats) -> tuple[Floats, Floats]:
    """Return slopes and intercepts in whole tiles, one table below the other."""
    slopes = [_room_for_sums(len(theta), theta.shape[1])[:, :-1] for theta in given]
    intercepts = [np.zeros(len(table)) for table in slopes]
    for theta, table, starts in zip(given, slopes, intercepts, strict=True):
        table[: len(theta), : theta.shape[1] - 1] = theta[:, 1:]
        starts[: len(theta)] = theta[:, 0]
    return np.concatenate(slopes), np.concatenate(intercepts)


def _buffers(shape: tuple[int, int], tables: int) -> tuple[Floats, Floats]:
    """Return a buffer for rows and one for the scores of so many tables."""
    width = -(-(shape[1] - 1) // LANES) * LANES
    length = min(max(BUFFER_CELLS // max(width, 1), LEAST_ROWS), MOST_ROWS) // 4 * 4
    return np.zeros((length, width)), np.zeros((tables * _even(shape[0]), length))


def _gradient_of(sums: Floats, shape: tuple[int, int]) -> Floats:
    """Return the sums of the real classes and columns, the intercepts first."""
    gradient = np.empty(shape)
    gradient[:, 0] = sums[: shape[0], -1]
    gradient[:, 1:] = sums[: shape[0], : shape[1] - 1]
    return gradient


_FIXED = array(float64, 1), array(float64, 1), array(float64, 2), array(float64, 1), intp
"""Types of what does not change from row to row: origin, inverse, slopes, intercepts, classes."""


@once_for(lambda: [(cells,) for cells in DENSE])
def _gradient_loop(cells: str) -> Callable[..., None]:
    by_row = array(intp, 1, "A"), array(float64, 1, "A")
    written = target(2), target(2), target(2), target(1)
    return compiled(_add_gradients, array(cells_type(cells), 2), *by_row, *_FIXED, *written)


@once_for(lambda: [(cells,) for cells in DENSE])
def _product_loop(cells: str) -> Callable[..., None]:
    written = target(2), target(2), target(2)
    rows = array(cells_type(cells), 2)
    return compiled(_add_products, rows, array(float64, 1, "A"), *_FIXED, *written)


@njit(nogil=True)
def _standardise(
    rows: Rows, start: int, held: int, origin: Floats, inverse: Floats, z: Floats
) -> None:
    """Write (x - origin)·inverse of so many rows into the buffer."""
    for r in range(held):
        row, to = rows[start + r], z[r]
        for j in range(row.size):
            to[j] = (row[j] - origin[j]) * inverse[j]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _score(z: Floats, slopes: Floats, intercepts: Floats, scores: Floats, held: int) -> None:
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
def _add_rows(z: Floats, residuals: Floats, sums: Floats, held: int) -> None:
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


@njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def _write_residuals(
    scores: Floats, size: int, reference: Floats, own: Floats, best: Floats, losses: Floats,
    weights: Floats, held: int,
) -> None:  # fmt: skip
    """Turn scores without the row's own class into residuals, and write losses and best scores.

    Where the own class was, there is minus infinity, whose residual is 0: that of the own class is
    then in `own`. It is what the others have together, with its digits where that is little.
    """
    for r in range(held):
        best[r] = reference[r]
    for c in range(size):
        for r in range(held):
            best[r] = max(best[r], scores[c, r])
    for r in range(held):
        losses[r] = exponential(reference[r] - max(best[r], own[r]))
    for c in range(size):
        for r in range(held):
            share = exponential(scores[c, r] - max(best[r], own[r]))
            scores[c, r] = share
            losses[r] += share
    for r in range(held):
        rest, top, mine = losses[r], max(best[r], own[r]), own[r]
        part = exponential(mine - top)
        above = rest if mine >= best[r] else (rest - 1.0) + part
        factor = weights[r] / (rest + part)
        losses[r] = weights[r] * (log_one_plus_any(above) + (top - mine))
        best[r] = mine - best[r]  # the margin
        own[r] = -rest * factor
        reference[r] = factor
    for c in range(size):
        for r in range(held):
            scores[c, r] *= reference[r]


def _add_gradients(
    rows: Rows, codes: Codes, weights: Floats, origin: Floats, inverse: Floats, slopes: Floats,
    intercepts: Floats, size: int, z: Floats, scores: Floats, sums: Floats, tally: Floats,
) -> None:  # fmt: skip
    length, step = rows.shape[0], z.shape[0]
    reference, own, best = np.empty(step), np.empty(step), np.empty(step)
    losses, heavy = np.empty(step), np.ones(step)
    part = np.empty(sums.shape)
    smallest = tally[1]
    for start in range(0, length, step):
        held = min(step, length - start)
        _standardise(rows, start, held, origin, inverse, z)
        _score(z, slopes, intercepts, scores, held)
        for r in range(held):
            code = codes[start + r]
            if code == 0:
                own[r], reference[r] = 0.0, -np.inf
            else:
                own[r], reference[r] = scores[code - 1, r], 0.0
                scores[code - 1, r] = -np.inf
            if weights.size:
                heavy[r] = weights[start + r]
        _write_residuals(scores, size, reference, own, best, losses, heavy, held)
        loss = 0.0
        for r in range(held):
            smallest = min(smallest, best[r])
            loss += losses[r]
            code = codes[start + r]
            if code > 0:
                scores[code - 1, r] = own[r]
        scores[:size, held:] = 0.0
        part[:] = 0.0
        _add_rows(z, scores, part, held)
        sums += part
        tally[0] += loss
    tally[1] = smallest


@njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def _write_derivatives(scores: Floats, size: int, room: Floats, weights: Floats, held: int) -> None:
    """Turn scores into w·p∘(δ - Σpδ), for the moves δ that lie below the scores.

    Moves count from that of the likeliest class: it adds nothing to the mean, from which it would
    else be subtracted.
    """
    below = scores.shape[0] // 2
    top, base, total, mean = room[0], room[1], room[2], room[3]
    for r in range(held):
        top[r], base[r] = 0.0, 0.0
    for c in range(size):
        for r in range(held):
            better = scores[c, r] > top[r]
            top[r] = scores[c, r] if better else top[r]
            base[r] = scores[below + c, r] if better else base[r]
    for r in range(held):
        share = exponential(-top[r])
        total[r], mean[r] = share, -share * base[r]
    for c in range(size):
        for r in range(held):
            share = exponential(scores[c, r] - top[r])
            scores[c, r] = share
            total[r] += share
            mean[r] += share * (scores[below + c, r] - base[r])
    for r in range(held):
        mean[r] /= total[r]
        total[r] = weights[r] / total[r]
    for c in range(size):
        for r in range(held):
            scores[c, r] *= total[r] * ((scores[below + c, r] - base[r]) - mean[r])


def _add_products(
    rows: Rows, weights: Floats, origin: Floats, inverse: Floats, slopes: Floats,
    intercepts: Floats, size: int, z: Floats, scores: Floats, sums: Floats,
) -> None:  # fmt: skip
    length, step = rows.shape[0], z.shape[0]
    room, heavy, part = np.empty((4, step)), np.ones(step), np.empty(sums.shape)
    for start in range(0, length, step):
        held = min(step, length - start)
        _standardise(rows, start, held, origin, inverse, z)
        _score(z, slopes, intercepts, scores, held)
        if weights.size:
            for r in range(held):
                heavy[r] = weights[start + r]
        _write_derivatives(scores, size, room, heavy, held)
        scores[:size, held:] = 0.0
        part[:] = 0.0
        _add_rows(z, scores, part, held)
        sums += part
