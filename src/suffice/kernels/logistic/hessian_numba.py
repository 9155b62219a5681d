"""Loss, gradient and Hessian of logistic regression in numba: the twin for large inputs.

Rows scaled by √(w p (1 - p)) lie by columns in a buffer: the Hessian is their scatter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float64, intp, njit

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.dense.scatter_numba import BLOCK, STRIDE, _multiply
from suffice.kernels.lanes.contiguous_numba import cells_type, straight_parts
from suffice.kernels.logistic.binary_numba import NO_WEIGHTS, add_rows, bend, score, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any]


def curvature(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    codes: Codes,
    weights: Floats | None,
    theta: Floats,
) -> tuple[float, Floats, Floats, float]:
    """See `logistic_numpy.curvature`; two classes only."""
    found, sums = np.array([0.0, 0.0, np.inf]), np.zeros(rows.shape[1])
    tiles = -(-theta.shape[1] // 4) * 4
    products = np.zeros((tiles, tiles))
    fixed = np.ascontiguousarray(origin), np.ascontiguousarray(inverse), inverse * theta[0, 1:]
    loop = _summing(rows.dtype.str)
    for some, part in straight_parts(rows):
        own = NO_WEIGHTS if weights is None else weights[some]
        loop(part, codes[some], own, *fixed, float(theta[0, 0]), sums, found, products)
    lower = np.tril(products[: theta.shape[1], : theta.shape[1]])
    hessian = lower + np.tril(lower, -1).T
    gradient = np.concatenate((found[1:2], sums))[np.newaxis]
    return float(found[0]), gradient, hessian, float(found[2])


@once
def _summing(cells: str) -> Callable[..., None]:
    rows = array(cells_type(cells), 2), array(intp, 1, "A"), array(float64, 1, "A")
    fixed = array(float64, 1), array(float64, 1), array(float64, 1), float64
    return compiled(_add_up, *rows, *fixed, target(1), target(1), target(2))


@njit(nogil=True)
def _fill(rows: Rows, origin: Floats, inverse: Floats, roots: Floats, buffer: Floats) -> None:
    """Write root·(1, z) of each row into the buffer, by columns."""
    for r in range(rows.shape[0]):
        root = roots[r]
        buffer[0, r] = root
        for j in range(rows.shape[1]):
            buffer[j + 1, r] = root * ((rows[r, j] - origin[j]) * inverse[j])


def _add_up(
    rows: Rows, codes: Codes, weights: Floats, origin: Floats, inverse: Floats, slopes: Floats,
    intercept: float, sums: Floats, found: Floats, products: Floats,
) -> None:  # fmt: skip
    length = rows.shape[0]
    margins, losses, residuals = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    own, buffer = np.empty(sums.size), np.zeros((products.shape[0], STRIDE))
    for start in range(0, length, BLOCK):
        held = min(BLOCK, length - start)
        some = rows[start : start + held]
        score(some, origin, slopes, intercept, margins)
        told(margins, losses, residuals, codes, weights, start, held, found)
        add_rows(some, origin, inverse, residuals, own, sums)
        bend(margins, margins, held)
        if weights.size:
            for r in range(held):
                margins[r] *= np.sqrt(weights[start + r])
        _fill(some, origin, inverse, margins, buffer)
        _multiply(buffer, products, held)
