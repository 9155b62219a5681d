"""Loss and gradient of logistic regression in numba: the twin for large inputs.

Some hundred rows at a time are scored, told how wrong they are, and added up while the cache still
has them: memory is read once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float64, intp, njit

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.lanes.contiguous_numba import cells_type, straight_parts
from suffice.kernels.lanes.exponentials_numba import exponential, log_one_plus

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any]

CELLS = 12_288
"""Cells of the rows at work at once, about."""

MOST = 512
"""Rows at work at once, at most."""

NO_WEIGHTS = np.empty(0)


def loss_and_gradient(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    codes: Codes,
    weights: Floats | None,
    theta: Floats,
) -> tuple[float, Floats, float]:
    """See `logistic_numpy.loss_and_gradient`; two classes only."""
    found, sums = np.array([0.0, 0.0, np.inf]), np.zeros(rows.shape[1])
    fixed = *_scale(origin, inverse), *_scaled(theta, inverse), _step(rows)
    loop = _summing(rows.dtype.str)
    for some, part in straight_parts(rows):
        own = NO_WEIGHTS if weights is None else weights[some]
        loop(part, codes[some], own, *fixed, sums, found)
    gradient = np.concatenate((found[1:2], sums))[np.newaxis]
    return float(found[0]), gradient, float(found[2])


def hessian_product(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    weights: Floats | None,
    theta: Floats,
    direction: Floats,
) -> Floats:
    """See `logistic_numpy.hessian_product`; two classes only."""
    total, sums = np.zeros(1), np.zeros(rows.shape[1])
    tables = *_scaled(theta, inverse), *_scaled(direction, inverse)
    fixed = *_scale(origin, inverse), *tables, _step(rows)
    loop = _bending(rows.dtype.str)
    for some, part in straight_parts(rows):
        own = NO_WEIGHTS if weights is None else weights[some]
        loop(part, own, *fixed, sums, total)
    return np.concatenate((total, sums))[np.newaxis]


def reach(rows: Rows, origin: Floats, inverse: Floats) -> float:
    """See `logistic_numpy.reach`."""
    largest = np.zeros(1)
    loop = _reaching(rows.dtype.str)
    for _, part in straight_parts(rows):
        loop(part, *_scale(origin, inverse), largest)
    return 1.0 + float(largest[0])


def _scale(origin: Floats, inverse: Floats) -> tuple[Floats, Floats]:
    return np.ascontiguousarray(origin), np.ascontiguousarray(inverse)


def _scaled(theta: Floats, inverse: Floats) -> tuple[Floats, float]:
    """Return slopes in the units of the cells, and the intercept."""
    return inverse * theta[0, 1:], float(theta[0, 0])


def _step(rows: Rows) -> int:
    """Return how many rows are at work at once."""
    width: int = rows.shape[1]
    return max(min(CELLS // max(width, 1), MOST), 16)


_BY_COLUMN = array(float64, 1)
_BY_ROW = array(float64, 1, "A")
_TABLE = _BY_COLUMN, float64


@once
def _summing(cells: str) -> Callable[..., None]:
    rows = array(cells_type(cells), 2), array(intp, 1, "A"), _BY_ROW
    return compiled(_add_up, *rows, _BY_COLUMN, _BY_COLUMN, *_TABLE, intp, target(1), target(1))


@once
def _bending(cells: str) -> Callable[..., None]:
    fixed = _BY_COLUMN, _BY_COLUMN, *_TABLE, *_TABLE, intp
    rows = array(cells_type(cells), 2), _BY_ROW
    return compiled(_add_bent, *rows, *fixed, target(1), target(1))


@once
def _reaching(cells: str) -> Callable[..., None]:
    return compiled(_reach, array(cells_type(cells), 2), _BY_COLUMN, _BY_COLUMN, target(1))


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def score(rows: Rows, origin: Floats, slopes: Floats, intercept: float, scores: Floats) -> None:
    """Write (x - origin)·slopes + intercept."""
    for r in range(rows.shape[0]):
        score = intercept
        for j in range(slopes.size):
            score += (rows[r, j] - origin[j]) * slopes[j]
        scores[r] = score


@njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def tell(margins: Floats, losses: Floats, wrongs: Floats, held: int) -> None:
    """Write the losses, and the probabilities of the class that is not the row's own."""
    for r in range(held):
        margin = margins[r]
        tail = exponential(-abs(margin))
        losses[r] = log_one_plus(tail) + (0.0 if margin > 0.0 else -margin)
        wrongs[r] = (tail if margin > 0.0 else 1.0) / (1.0 + tail)


@njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def bend(scores: Floats, bends: Floats, held: int) -> None:
    """Write √(p (1 - p)), from the side where nothing cancels."""
    for r in range(held):
        tail = exponential(-0.5 * abs(scores[r]))
        bends[r] = tail / (1.0 + tail * tail)


@njit(nogil=True)
def told(
    margins: Floats, losses: Floats, residuals: Floats, codes: Codes, weights: Floats, start: int,
    held: int, found: Floats,
) -> None:  # fmt: skip
    """Turn scores into margins, write residuals, and add to the loss, the slope and the margin."""
    smallest = found[2]
    for r in range(held):
        margin = margins[r] if codes[start + r] == 1 else -margins[r]
        margins[r] = margin
        smallest = min(smallest, margin)
    found[2] = smallest
    tell(margins, losses, residuals, held)
    loss, slope = 0.0, 0.0
    for r in range(held):
        weight = weights[start + r] if weights.size else 1.0
        loss += weight * losses[r]
        residual = weight * residuals[r]
        residual = -residual if codes[start + r] == 1 else residual
        residuals[r] = residual
        slope += residual
    found[0] += loss
    found[1] += slope


@njit(nogil=True, fastmath={"contract"})
def add_rows(
    rows: Rows, origin: Floats, inverse: Floats, factors: Floats, own: Floats, sums: Floats
) -> None:
    """Add Σ f·z to the sums, four rows at a time; `own` is room for the sums of these rows.

    Each cell is scaled before anything else: columns of 1e200 or 1e-200 are as good as others.
    """
    own[:] = 0.0
    length = rows.shape[0]
    whole = length // 4 * 4
    for r in range(0, whole, 4):
        a, b, c, d = factors[r], factors[r + 1], factors[r + 2], factors[r + 3]
        for j in range(own.size):
            centre, scale = origin[j], inverse[j]
            own[j] += (
                a * ((rows[r, j] - centre) * scale) + b * ((rows[r + 1, j] - centre) * scale)
            ) + (c * ((rows[r + 2, j] - centre) * scale) + d * ((rows[r + 3, j] - centre) * scale))
    for r in range(whole, length):
        for j in range(own.size):
            own[j] += factors[r] * ((rows[r, j] - origin[j]) * inverse[j])
    for j in range(own.size):
        sums[j] += own[j]


def _add_up(
    rows: Rows, codes: Codes, weights: Floats, origin: Floats, inverse: Floats, slopes: Floats,
    intercept: float, step: int, sums: Floats, found: Floats,
) -> None:  # fmt: skip
    length = rows.shape[0]
    margins, losses, residuals = np.empty(step), np.empty(step), np.empty(step)
    own = np.empty(sums.size)
    for start in range(0, length, step):
        held = min(step, length - start)
        some = rows[start : start + held]
        score(some, origin, slopes, intercept, margins)
        told(margins, losses, residuals, codes, weights, start, held, found)
        add_rows(some, origin, inverse, residuals, own, sums)


def _add_bent(
    rows: Rows, weights: Floats, origin: Floats, inverse: Floats, slopes: Floats,
    intercept: float, moves: Floats, move: float, step: int, sums: Floats, found: Floats,
) -> None:  # fmt: skip
    length = rows.shape[0]
    scores, moved, own = np.empty(step), np.empty(step), np.empty(sums.size)
    for start in range(0, length, step):
        held = min(step, length - start)
        some = rows[start : start + held]
        score(some, origin, slopes, intercept, scores)
        score(some, origin, moves, move, moved)
        bend(scores, scores, held)
        total = 0.0
        for r in range(held):
            bent = scores[r] * scores[r] * moved[r]
            bent = weights[start + r] * bent if weights.size else bent
            moved[r] = bent
            total += bent
        found[0] += total
        add_rows(some, origin, inverse, moved, own, sums)


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _norm(row: Rows, origin: Floats, inverse: Floats) -> float:
    """Return ‖z‖²."""
    norm = 0.0
    for j in range(row.size):
        cell = (row[j] - origin[j]) * inverse[j]
        norm += cell * cell
    return norm


def _reach(rows: Rows, origin: Floats, inverse: Floats, largest: Floats) -> None:
    for r in range(rows.shape[0]):
        largest[0] = max(largest[0], _norm(rows[r], origin, inverse))
