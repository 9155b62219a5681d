"""Loss, gradient and Hessian of logistic and softmax regression, in the way that suits the size.

Class 0 is the reference and scores 0; class c scores theta[c - 1]·(1, z) with
z = (x - origin)·inverse. The loss is Σ w·(-log p(y | x)), a sum over rows. Two classes are the
case m = 1. A cell that is not finite comes out as a loss or a gradient that is not finite.

    rows     (n, d) float32 or float64, any strides; float32 is widened before it is centred
    origin   (d,) float64, subtracted first: columns far from zero keep their digits
    inverse  (d,) float64 ≥ 0, one over the scale of each column; 0 leaves a column out
    codes    (n,) intp, 0..m
    weights  (n,) float64 > 0, or None for ones
    theta    (m, d + 1) float64, intercepts first
    margin   the smallest score of a row's own class above the best of the others
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.kernels.compilation import pays
from suffice.kernels.logistic import dense_numpy as logistic_numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any]

WIDEST = 1024
"""Columns up to which compiled products with the few columns of theta beat BLAS."""

WIDEST_HESSIAN = 512
"""Columns up to which compiled products of columns with each other do: their buffer is 1 MB."""


def loss_and_gradient(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    codes: Codes,
    weights: Floats | None,
    theta: Floats,
) -> tuple[float, Floats, float]:
    """Return (loss, gradient (m, d + 1), smallest margin)."""
    if len(theta) == 1 and pays(rows):
        from suffice.kernels.logistic import binary_numba as logistic_numba

        return logistic_numba.loss_and_gradient(rows, origin, inverse, codes, weights, theta)
    if rows.shape[1] <= WIDEST and pays(rows):
        from suffice.kernels.logistic import softmax_numba

        return softmax_numba.loss_and_gradient(rows, origin, inverse, codes, weights, theta)
    return logistic_numpy.loss_and_gradient(rows, origin, inverse, codes, weights, theta)


def curvature(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    codes: Codes,
    weights: Floats | None,
    theta: Floats,
) -> tuple[float, Floats, Floats, float]:
    """Return (loss, gradient, Hessian (m(d + 1), m(d + 1)), smallest margin)."""
    if len(theta) == 1 and rows.shape[1] <= WIDEST_HESSIAN and pays(rows):
        from suffice.kernels.logistic import hessian_numba as logistic_curvature_numba

        return logistic_curvature_numba.curvature(rows, origin, inverse, codes, weights, theta)
    return logistic_numpy.curvature(rows, origin, inverse, codes, weights, theta)


def hessian_product(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    weights: Floats | None,
    theta: Floats,
    direction: Floats,
) -> Floats:
    """Return the Hessian at theta times a direction, both (m, d + 1)."""
    if len(theta) == 1 and pays(rows):
        from suffice.kernels.logistic import binary_numba as logistic_numba

        return logistic_numba.hessian_product(rows, origin, inverse, weights, theta, direction)
    if rows.shape[1] <= WIDEST and pays(rows):
        from suffice.kernels.logistic import softmax_numba

        return softmax_numba.hessian_product(rows, origin, inverse, weights, theta, direction)
    return logistic_numpy.hessian_product(rows, origin, inverse, weights, theta, direction)


def reach(rows: Rows, origin: Floats, inverse: Floats) -> float:
    """Return the largest 1 + ‖z‖² of all rows: how far one row can pull."""
    if pays(rows):
        from suffice.kernels.logistic import binary_numba as logistic_numba

        return logistic_numba.reach(rows, origin, inverse)
    return logistic_numpy.reach(rows, origin, inverse)
