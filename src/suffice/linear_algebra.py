"""Scale-free linear algebra: what the families and models need beyond NumPy."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.rows import FloatArray

EPSILON = float(np.finfo(np.float64).eps)
"""The distance from 1 to the next double; half of it, relative, is the most that one operation
rounds by."""
FEW_COLUMNS = 64
"""Columns up to which the mask of a triangle is kept: making it takes longer than using it."""
LOG_TAU = float(np.log(2.0 * np.pi))
"""log 2π, of the normal density."""


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (s, e) with s = fl(a + b) and s + e = a + b exactly (Knuth).

    >>> [float(x) for x in two_sum(np.float64(1e16), np.float64(1.0))]
    [1e+16, 1.0]
    """
    s = a + b
    bb = s - a
    return s, (a - (s - bb)) + (b - bb)


def log_sum_exp(values: FloatArray) -> FloatArray:
    """Return log Σ_c exp(values[:, c]) row by row; all -inf gives -inf, never NaN."""
    top = values.max(axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        result: FloatArray = np.log(np.exp(values - top).sum(axis=1)) + top[:, 0]
    return result


def log_average(logs: FloatArray, log_shares: FloatArray) -> FloatArray:
    """Return log Σ_c share_c exp(logs[:, c]) row by row, for shares (k,) that add up to one.

    An average is no larger than the largest of its terms and no smaller than the smallest: a row
    that says nothing has density one and a probability is never more, though shares are rounded.

    >>> log_average(np.zeros((1, 3)), np.log([0.1, 0.2, 0.7]))
    array([0.])
    """
    held = log_shares > -np.inf
    some: FloatArray = logs if held.all() else logs[:, held]
    found = log_sum_exp(some + log_shares[held])
    return np.clip(found, some.min(axis=1), some.max(axis=1))


def normalized(log_weights: FloatArray) -> FloatArray:
    """Return log weights minus their log sum, row by row: log probabilities.

    The largest is subtracted first: next to weights of -1e283 the log of a sum would drown.
    """
    top = log_weights.max(axis=1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        shifted = log_weights - np.where(np.isfinite(top), top, 0.0)
    return shifted - log_sum_exp(shifted)[:, np.newaxis]


SCATTER_ROUNDING = 1e-8
"""How far below zero the eigenvalues of a sum of squares may be, relative to its variances."""


def is_positive(
    matrix: FloatArray, error: FloatArray | None = None, rounding: float = SCATTER_ROUNDING
) -> bool:
    """Whether a matrix is symmetric, and has no variance below zero in any direction.

    `error` bounds the rounding errors of the variances, |E_ij| ≤ √(e_i e_j): a matrix of such
    entries lowers no variance by more than d·e_i.

    >>> is_positive(np.array([[1.0, 2.0], [2.0, 1.0]]))
    False
    """
    size = len(matrix)
    diagonal = np.diagonal(matrix)
    room = rounding * diagonal if error is None else rounding * diagonal + size * error
    if not size:
        return True
    if (diagonal < 0.0).any() or not np.isfinite(matrix).all():
        return False
    with np.errstate(over="ignore", under="ignore"):
        scale = np.sqrt(diagonal + room)
        # A variance of zero leaves nothing for its covariances.
        inverse = np.where(scale > 0.0, 1.0 / np.where(scale > 0.0, scale, 1.0), 1e300)
        even = matrix * inverse * inverse[:, np.newaxis]
        even[scale == 0.0, scale == 0.0] = 1.0
    if not np.isfinite(even).all() or np.abs(even - even.T).max() > rounding:
        return False
    even[np.diag_indices(size)] = 1.0 + size * rounding
    try:
        np.linalg.cholesky(even)
    except np.linalg.LinAlgError:
        return False
    return True


@contextmanager
def what_doubles_can_solve() -> Iterator[None]:
    """Refuse, in words, matrices that LAPACK cannot factor: doubles have no digits left for them.

    Floors keep covariances of ordinary rows away from that (`models/gaussian/floors.py`). What is
    left are weights or cells some hundred powers of ten apart.
    """
    try:
        yield
    except np.linalg.LinAlgError:
        raise BadRows(
            "cells or weights are so far apart that doubles have no digits left for a covariance",
            hint="leave out rows that weigh next to nothing (a weight of 0), and rows whose cells "
            "are beyond all others",
        ) from None


def check_finite(*parts: FloatArray) -> None:
    """Raise what LAPACK does where numbers were lost, for those who refuse it in words."""
    if not all(np.isfinite(part).all() for part in parts):
        raise np.linalg.LinAlgError


def inverse_factor(matrix: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return (L, L⁻¹) of a positive definite matrix = LLᵀ, or None if Cholesky refuses it.

    Of a stack of matrices all must be positive definite.
    """
    try:
        factor = np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return factor, lower_inverse(factor)


def lower_inverse(factor: FloatArray) -> FloatArray:
    """Return the inverse of lower triangular matrices (a stack is fine), lower triangular too."""
    inverse: FloatArray = np.asarray(np.linalg.inv(factor), dtype=np.float64)
    width = factor.shape[-1]
    if width > FEW_COLUMNS:
        return np.asarray(np.tril(inverse))
    inverse[..., _above(width)] = 0.0
    return inverse


@functools.cache
def _above(width: int) -> NDArray[np.bool_]:
    return ~np.tri(width, dtype=bool)


def factored(values: FloatArray, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (L, L⁻¹) with LLᵀ = V diag(values) Vᵀ, by QR, without forming the product.

    The small eigenvalues of a badly conditioned matrix would drown in the rounding of the
    large ones if the matrix were multiplied out and handed to Cholesky.
    """
    factor = lower_factor(vectors * np.sqrt(values))
    return factor, lower_inverse(factor)


def lower_factor(roots: FloatArray) -> FloatArray:
    """Return L, lower triangular with a positive diagonal, with LLᵀ = AAᵀ (a stack is fine)."""
    r = np.asarray(np.linalg.qr(np.swapaxes(roots, -1, -2), mode="r"))
    signs = np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0.0, -1.0, 1.0)
    return np.ascontiguousarray(np.swapaxes(r * signs[..., np.newaxis], -1, -2))


def smallest_eigenvalue_bound(whitening: FloatArray) -> float:
    """Return a lower bound for the smallest eigenvalue of A, given L⁻¹ of A = LLᵀ.

    Of a stack, it is one for all of them. λ_min(A) = 1/‖L⁻¹‖₂² ≥ 1/‖L⁻¹‖_F²: no eigenvalues are
    needed to see that a matrix is far from singular.
    """
    size = float(np.einsum("...ij,...ij->...", whitening, whitening).max(initial=0.0))
    return 1.0 / size if size > 0.0 else np.inf


def correlation_scaled(matrix: FloatArray, deviations: FloatArray) -> FloatArray:
    """Return D⁻¹AD⁻¹, dividing by one deviation after the other: their product may overflow."""
    scaled: FloatArray = matrix / deviations[..., :, np.newaxis] / deviations[..., np.newaxis, :]
    return scaled
