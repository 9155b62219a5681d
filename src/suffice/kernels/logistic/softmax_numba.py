"""Loss, gradient and Hessian products of softmax regression in numba: the twin for large inputs.

A few rows at a time go from cells to scores and back to sums, in tiles. Between the two, a class's
scores of all these rows lie together, so that exponentials are taken by the vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float64, intp, njit

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.lanes.contiguous_numba import cells_type, straight_parts
from suffice.kernels.lanes.exponentials_numba import exponential, log_one_plus_any
from suffice.kernels.logistic.softmax_tiles_numba import (
    buffers,
    gather,
    gradient_of,
    laid_out,
    room_for_sums,
    score,
    standardise,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any]

NO_WEIGHTS = np.empty(0)


def loss_and_gradient(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    codes: Codes,
    weights: Floats | None,
    theta: Floats,
) -> tuple[float, Floats, float]:
    """See `logistic_numpy.loss_and_gradient`."""
    found, sums = np.array([0.0, np.inf]), room_for_sums(len(theta), theta.shape[1])
    fixed = origin.astype(np.float64), inverse.astype(np.float64), *laid_out(theta)
    loop, z, scores = _summing(rows.dtype.str), *buffers(theta.shape, 1)
    for some, part in straight_parts(rows):
        own = NO_WEIGHTS if weights is None else weights[some]
        loop(part, codes[some], own, *fixed, len(theta), z, scores, sums, found)
    return float(found[0]), gradient_of(sums, theta.shape), float(found[1])


def hessian_product(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    weights: Floats | None,
    theta: Floats,
    direction: Floats,
) -> Floats:
    """See `logistic_numpy.hessian_product`."""
    sums = room_for_sums(len(theta), theta.shape[1])
    fixed = origin.astype(np.float64), inverse.astype(np.float64), *laid_out(theta, direction)
    loop, z, scores = _bending(rows.dtype.str), *buffers(theta.shape, 2)
    for some, part in straight_parts(rows):
        own = NO_WEIGHTS if weights is None else weights[some]
        loop(part, own, *fixed, len(theta), z, scores, sums)
    return gradient_of(sums, theta.shape)


_FIXED = array(float64, 1), array(float64, 1), array(float64, 2), array(float64, 1), intp


@once
def _summing(cells: str) -> Callable[..., None]:
    by_row = array(intp, 1, "A"), array(float64, 1, "A")
    buffers = target(2), target(2), target(2), target(1)
    return compiled(_add_up, array(cells_type(cells), 2), *by_row, *_FIXED, *buffers)


@once
def _bending(cells: str) -> Callable[..., None]:
    buffers = target(2), target(2), target(2)
    rows = array(cells_type(cells), 2)
    return compiled(_add_bent, rows, array(float64, 1, "A"), *_FIXED, *buffers)


@njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def _tell(
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


def _add_up(
    rows: Rows, codes: Codes, weights: Floats, origin: Floats, inverse: Floats, slopes: Floats,
    intercepts: Floats, size: int, z: Floats, scores: Floats, sums: Floats, found: Floats,
) -> None:  # fmt: skip
    length, step = rows.shape[0], z.shape[0]
    reference, own, best = np.empty(step), np.empty(step), np.empty(step)
    losses, heavy = np.empty(step), np.ones(step)
    part = np.empty(sums.shape)
    smallest = found[1]
    for start in range(0, length, step):
        held = min(step, length - start)
        standardise(rows, start, held, origin, inverse, z)
        score(z, slopes, intercepts, scores, held)
        for r in range(held):
            code = codes[start + r]
            if code == 0:
                own[r], reference[r] = 0.0, -np.inf
            else:
                own[r], reference[r] = scores[code - 1, r], 0.0
                scores[code - 1, r] = -np.inf
            if weights.size:
                heavy[r] = weights[start + r]
        _tell(scores, size, reference, own, best, losses, heavy, held)
        loss = 0.0
        for r in range(held):
            smallest = min(smallest, best[r])
            loss += losses[r]
            code = codes[start + r]
            if code > 0:
                scores[code - 1, r] = own[r]
        scores[:size, held:] = 0.0
        part[:] = 0.0
        gather(z, scores, part, held)
        sums += part
        found[0] += loss
    found[1] = smallest


@njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def _bend(scores: Floats, size: int, room: Floats, weights: Floats, held: int) -> None:
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


def _add_bent(
    rows: Rows, weights: Floats, origin: Floats, inverse: Floats, slopes: Floats,
    intercepts: Floats, size: int, z: Floats, scores: Floats, sums: Floats,
) -> None:  # fmt: skip
    length, step = rows.shape[0], z.shape[0]
    room, heavy, part = np.empty((4, step)), np.ones(step), np.empty(sums.shape)
    for start in range(0, length, step):
        held = min(step, length - start)
        standardise(rows, start, held, origin, inverse, z)
        score(z, slopes, intercepts, scores, held)
        if weights.size:
            for r in range(held):
                heavy[r] = weights[start + r]
        _bend(scores, size, room, heavy, held)
        scores[:size, held:] = 0.0
        part[:] = 0.0
        gather(z, scores, part, held)
        sums += part
