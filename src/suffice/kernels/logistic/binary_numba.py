"""Loss, gradient and Hessian of logistic regression in numba: the twin for large inputs.

Some hundred rows at a time are scored, their residuals taken, and added up while the cache still
has them: memory is read once. For the Hessian, rows scaled by √(w p (1 - p)) lie by columns in a
buffer, of which it is the scatter.
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
from suffice.kernels.dense.scatter_numba import BLOCK, STRIDE, add_products
from suffice.kernels.lanes.contiguous_numba import contiguous_parts
from suffice.kernels.lanes.exponentials_numba import exponential, log_one_plus

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.kernels.logistic.dense import Codes, Floats, Rows, Standardised

BLOCK_CELLS = 12_288
"""Cells of the rows at work at once, about: a hundred kilobytes, for a core's second cache."""

MOST_ROWS = 512
"""Rows at work at once, at most: their scores and residuals stay in the first cache."""


def loss_and_gradient(
    table: Standardised, codes: Codes, weights: Floats | None, theta: Floats
) -> tuple[float, Floats, float]:
    """See `dense.loss_and_gradient`; two classes only."""
    rows, tally, sums = table.rows, np.array([0.0, 0.0, np.inf]), np.zeros(theta.shape[1] - 1)
    fixed = *table.scale, *_scaled(theta, table.inverse), _step(rows)
    loop = _gradient_loop(rows.dtype.str)
    for some, part in contiguous_parts(rows):
        own = NO_WEIGHTS if weights is None else weights[some]
        loop(part, codes[some], own, *fixed, sums, tally)
    gradient = np.concatenate((tally[1:2], sums))[np.newaxis]
    return float(tally[0]), gradient, float(tally[2])


def curvature(
    table: Standardised, codes: Codes, weights: Floats | None, theta: Floats
) -> tuple[float, Floats, Floats, float]:
    """See `dense.curvature`; two classes only."""
    rows, tally, sums = table.rows, np.array([0.0, 0.0, np.inf]), np.zeros(theta.shape[1] - 1)
    tiles = -(-theta.shape[1] // 4) * 4
    products = np.zeros((tiles, tiles))
    fixed = *table.scale, *_scaled(theta, table.inverse)
    loop = _curvature_loop(rows.dtype.str)
    for some, part in contiguous_parts(rows):
        own = NO_WEIGHTS if weights is None else weights[some]
        loop(part, codes[some], own, *fixed, sums, tally, products)
    lower = np.tril(products[: theta.shape[1], : theta.shape[1]])
    hessian = lower + np.tril(lower, -1).T
    gradient = np.concatenate((tally[1:2], sums))[np.newaxis]
    return float(tally[0]), gradient, hessian, float(tally[2])


def hessian_product(
    table: Standardised, weights: Floats | None, theta: Floats, direction: Floats
) -> Floats:
    """See `dense.hessian_product`; two classes only."""
    rows, total, sums = table.rows, np.zeros(1), np.zeros(theta.shape[1] - 1)
    given = *_scaled(theta, table.inverse), *_scaled(direction, table.inverse)
    fixed = *table.scale, *given, _step(rows)
    loop = _product_loop(rows.dtype.str)
    for some, part in contiguous_parts(rows):
        own = NO_WEIGHTS if weights is None else weights[some]
        loop(part, own, *fixed, sums, total)
    return np.concatenate((total, sums))[np.newaxis]


def reach(table: Standardised) -> float:
    """See `dense.reach`."""
    largest = np.zeros(1)
    loop = _reach_loop(table.rows.dtype.str)
    for _, part in contiguous_parts(table.rows):
        loop(part, *table.scale, largest)
    return 1.0 + float(largest[0])


def _scaled(theta: Floats, inverse: Floats) -> tuple[Floats, float]:
    """Return slopes in the units of the cells, and the intercept."""
    return inverse * theta[0, 1:], float(theta[0, 0])


def _step(rows: Rows) -> int:
    """Return how many rows are at work at once."""
    width: int = rows.shape[1]
    return max(min(BLOCK_CELLS // max(width, 1), MOST_ROWS), 16)


_BY_COLUMN = array(float64, 1)
"""The type of an argument with one number a column: 1 axis, without gaps."""
_BY_ROW = array(float64, 1, "A")
"""The same with one number a row, of any strides: one compilation for all of them."""
_TABLE = _BY_COLUMN, float64
"""Slopes with their intercept."""


@once_for(lambda: [(cells,) for cells in DENSE])
def _gradient_loop(cells: str) -> Callable[..., None]:
    rows = array(cells_type(cells), 2), array(intp, 1, "A"), _BY_ROW
    return compiled(
        _add_gradients, *rows, _BY_COLUMN, _BY_COLUMN, *_TABLE, intp, target(1), target(1)
    )


@once_for(lambda: [(cells,) for cells in DENSE])
def _curvature_loop(cells: str) -> Callable[..., None]:
    rows = array(cells_type(cells), 2), array(intp, 1, "A"), array(float64, 1, "A")
    fixed = array(float64, 1), array(float64, 1), array(float64, 1), float64
    return compiled(_add_curvatures, *rows, *fixed, target(1), target(1), target(2))


@once_for(lambda: [(cells,) for cells in DENSE])
def _product_loop(cells: str) -> Callable[..., None]:
    fixed = _BY_COLUMN, _BY_COLUMN, *_TABLE, *_TABLE, intp
    rows = array(cells_type(cells), 2), _BY_ROW
    return compiled(_add_products, *rows, *fixed, target(1), target(1))


@once_for(lambda: [(cells,) for cells in DENSE])
def _reach_loop(cells: str) -> Callable[..., None]:
    return compiled(_find_reach, array(cells_type(cells), 2), _BY_COLUMN, _BY_COLUMN, target(1))


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _score(rows: Rows, origin: Floats, slopes: Floats, intercept: float, scores: Floats) -> None:
    """Write (x - origin)·slopes + intercept."""
    for r in range(rows.shape[0]):
        total = intercept
        for j in range(slopes.size):
            total += (rows[r, j] - origin[j]) * slopes[j]
        scores[r] = total


@njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def _write_losses(margins: Floats, losses: Floats, wrongs: Floats, held: int) -> None:
    """Write the losses, and the probabilities of the class that is not the row's own."""
    for r in range(held):
        margin = margins[r]
        tail = exponential(-abs(margin))
        losses[r] = log_one_plus(tail) + (0.0 if margin > 0.0 else -margin)
        wrongs[r] = (tail if margin > 0.0 else 1.0) / (1.0 + tail)


@njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def root_hessian_weights(scores: Floats, roots: Floats, held: int) -> None:
    """Write √(p (1 - p)), from the side where nothing cancels."""
    for r in range(held):
        tail = exponential(-0.5 * abs(scores[r]))
        roots[r] = tail / (1.0 + tail * tail)


@njit(nogil=True)
def write_residuals(
    margins: Floats, losses: Floats, residuals: Floats, codes: Codes, weights: Floats, start: int,
    held: int, tally: Floats,
) -> None:  # fmt: skip
    """Turn scores into margins, write residuals, and add to the loss, the slope and the margin."""
    smallest = tally[2]
    for r in range(held):
        margin = margins[r] if codes[start + r] == 1 else -margins[r]
        margins[r] = margin
        smallest = min(smallest, margin)
    tally[2] = smallest
    _write_losses(margins, losses, residuals, held)
    loss, slope = 0.0, 0.0
    for r in range(held):
        weight = weights[start + r] if weights.size else 1.0
        loss += weight * losses[r]
        residual = weight * residuals[r]
        residual = -residual if codes[start + r] == 1 else residual
        residuals[r] = residual
        slope += residual
    tally[0] += loss
    tally[1] += slope


@njit(nogil=True, fastmath={"contract"})
def _add_rows(
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


def _add_gradients(
    rows: Rows, codes: Codes, weights: Floats, origin: Floats, inverse: Floats, slopes: Floats,
    intercept: float, step: int, sums: Floats, tally: Floats,
) -> None:  # fmt: skip
    length = rows.shape[0]
    margins, losses, residuals = np.empty(step), np.empty(step), np.empty(step)
    own = np.empty(sums.size)
    for start in range(0, length, step):
        held = min(step, length - start)
        some = rows[start : start + held]
        _score(some, origin, slopes, intercept, margins)
        write_residuals(margins, losses, residuals, codes, weights, start, held, tally)
        _add_rows(some, origin, inverse, residuals, own, sums)


@njit(nogil=True)
def _fill(rows: Rows, origin: Floats, inverse: Floats, roots: Floats, buffer: Floats) -> None:
    """Write root·(1, z) of each row into the buffer, by columns."""
    for r in range(rows.shape[0]):
        root = roots[r]
        buffer[0, r] = root
        for j in range(rows.shape[1]):
            buffer[j + 1, r] = root * ((rows[r, j] - origin[j]) * inverse[j])


def _add_curvatures(
    rows: Rows, codes: Codes, weights: Floats, origin: Floats, inverse: Floats, slopes: Floats,
    intercept: float, sums: Floats, tally: Floats, products: Floats,
) -> None:  # fmt: skip
    length = rows.shape[0]
    margins, losses, residuals = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    own, buffer = np.empty(sums.size), np.zeros((products.shape[0], STRIDE))
    for start in range(0, length, BLOCK):
        held = min(BLOCK, length - start)
        some = rows[start : start + held]
        _score(some, origin, slopes, intercept, margins)
        write_residuals(margins, losses, residuals, codes, weights, start, held, tally)
        _add_rows(some, origin, inverse, residuals, own, sums)
        root_hessian_weights(margins, margins, held)
        if weights.size:
            for r in range(held):
                margins[r] *= np.sqrt(weights[start + r])
        _fill(some, origin, inverse, margins, buffer)
        add_products(buffer, products, held)


def _add_products(
    rows: Rows, weights: Floats, origin: Floats, inverse: Floats, slopes: Floats,
    intercept: float, moves: Floats, move: float, step: int, sums: Floats, tally: Floats,
) -> None:  # fmt: skip
    length = rows.shape[0]
    scores, moved, own = np.empty(step), np.empty(step), np.empty(sums.size)
    for start in range(0, length, step):
        held = min(step, length - start)
        some = rows[start : start + held]
        _score(some, origin, slopes, intercept, scores)
        _score(some, origin, moves, move, moved)
        root_hessian_weights(scores, scores, held)
        total = 0.0
        for r in range(held):
            factor = scores[r] * scores[r] * moved[r]
            factor = weights[start + r] * factor if weights.size else factor
            moved[r] = factor
            total += factor
        tally[0] += total
        _add_rows(some, origin, inverse, moved, own, sums)


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _norm(row: Rows, origin: Floats, inverse: Floats) -> float:
    """Return ‖z‖²."""
    norm = 0.0
    for j in range(row.size):
        cell = (row[j] - origin[j]) * inverse[j]
        norm += cell * cell
    return norm


def _find_reach(rows: Rows, origin: Floats, inverse: Floats, largest: Floats) -> None:
    for r in range(rows.shape[0]):
        largest[0] = max(largest[0], _norm(rows[r], origin, inverse))
