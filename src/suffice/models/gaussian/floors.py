"""What to do where a direction has no variance: one rule, silent on full-rank data.

The rule is relative to the total variance of the columns, hence free of units, and it acts
only where a direction is really missing. See docs/degenerate-data.md for the reasons.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import (
    EPSILON,
    correlation_scaled,
    factored,
    inverse_factor,
    lower_factor,
    lower_inverse,
    smallest_eigenvalue_bound,
)
from suffice.models.notes import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.rows import FloatArray

VARIANCE_FLOOR = 1e-20
"""The least variance within classes, as a share of the column's total variance."""
EIGENVALUE_FLOOR = 1e-10
"""The least eigenvalue of the pooled correlation matrix."""
CLASS_FLOOR = 1e-8
"""Below this share of the pooled variance a class's own direction counts as missing."""
MOST_CERTAIN = 1e24
"""Weight beyond which no class is surer that nothing varies along a direction: of factors that are
1e-12 beside others doubles have four digits left, and of smaller ones soon none."""
AT_ONCE = 2**14
"""Cells of the covariances that are factored by one call: with few columns the call itself costs
more than its work, and no more memory is taken than a large class needs."""
FREEDOM_FLOOR = 1e-12
"""Degrees of freedom below this share of the weight are none: weights that add up to one, such as
ten of a tenth, do so but for rounding, which would otherwise be what a scatter is divided by."""


def degrees_of_freedom(weights: FloatArray | float, means: float) -> FloatArray:
    """Return weights less the means that were estimated from them; 0 where only rounding is left.

    >>> degrees_of_freedom(np.array([3.0, 0.7 + 0.2 + 0.1, 0.5]), 1.0)
    array([ 2. ,  0. , -0.5])
    """
    left = np.asarray(weights - means, dtype=np.float64)
    return np.where(np.abs(left) <= FREEDOM_FLOOR * means, 0.0, left)


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """A pooled covariance D R D that can be inverted, and what had to be done to it.

    `factor` L and `whitening` L⁻¹ are lower triangular with LLᵀ the covariance. Where the
    floor was needed, `basis` holds the eigenvectors of R (in columns) and `values` its
    floored eigenvalues; `missing` marks the directions that were floored, and `silent` spans
    the functionals of the columns that are the same for all rows of all classes. `constant`
    marks columns that do not vary within classes.
    """

    deviations: FloatArray
    factor: FloatArray
    whitening: FloatArray
    basis: FloatArray | None = None
    values: FloatArray | None = None
    missing: NDArray[np.bool_] | None = None
    silent: FloatArray | None = None
    constant: NDArray[np.bool_] | None = None

    @property
    def lacking(self) -> int:
        """In how many directions classes do not vary."""
        if self.missing is None or self.constant is None:
            return 0
        return int(self.missing.sum() + self.constant.sum())


def pooled_covariance(covariance: FloatArray, total: Callable[[], FloatArray]) -> Pooled:
    """Return the pooled covariance, floored where a direction is missing.

    Only then is `total`, the covariance of all rows, asked for. Both matrices are in units of the
    columns' total standard deviation. On the correlation scale, what matters is the smallest
    eigenvalue: raw condition numbers only tell units.
    """
    variances = np.diagonal(covariance)
    constant = variances < VARIANCE_FLOOR
    deviations = np.sqrt(np.maximum(variances, VARIANCE_FLOOR))
    correlation = correlation_scaled(covariance, deviations)
    np.fill_diagonal(correlation, 1.0)
    pair = inverse_factor(correlation)
    if (
        pair is not None
        and not constant.any()
        and smallest_eigenvalue_bound(pair[1]) > EIGENVALUE_FLOOR
    ):
        factor, whitening = pair
        return Pooled(deviations, deviations[:, np.newaxis] * factor, whitening / deviations)
    values, basis = np.linalg.eigh(correlation)
    missing = values < EIGENVALUE_FLOOR
    values = np.maximum(values, EIGENVALUE_FLOOR)
    factor, whitening = factored(values, basis)
    shares, directions = np.linalg.eigh(total())
    # A functional w of the standardized columns is (Dw) of the columns divided by D.
    silent = np.linalg.qr(deviations[:, np.newaxis] * directions[:, shares < EIGENVALUE_FLOOR])[0]
    return Pooled(
        deviations,
        deviations[:, np.newaxis] * factor,
        whitening / deviations,
        basis,
        values,
        missing,
        silent,
        constant,
    )


def class_covariance(
    covariance: FloatArray, weight: float, pooled: Pooled
) -> tuple[FloatArray, FloatArray, bool]:
    """Return (L, L⁻¹) of one class's covariance, and whether the rule had to act.

    θ, the eigenvalues relative to the pooled covariance, do not change under any affine map.
    Those that are missing get 1/W of the pooled variance: a class of one row is given the
    pooled covariance and not a spike. Directions along which nothing varies at all, not
    even between classes, say nothing: every class has the pooled floor there.
    """
    own = _plainly_definite(covariance, pooled)
    if own is not None:
        return *own, False
    if pooled.basis is None:
        relative = pooled.whitening @ covariance @ pooled.whitening.T
        relative = (relative + relative.T) / 2.0
        root = pooled.factor
    else:
        assert pooled.values is not None
        assert pooled.missing is not None
        assert pooled.silent is not None
        turned = pooled.basis.T @ correlation_scaled(covariance, pooled.deviations) @ pooled.basis
        # Divided by the floor, rounding would pass for variance: what is zero is made zero.
        along = pooled.basis.T @ pooled.silent
        turned -= along @ (along.T @ turned)
        turned -= (turned @ along) @ along.T
        noise = 64.0 * EPSILON * len(turned) * max(1.0, float(np.abs(turned).max()))
        gone = pooled.missing & (np.diagonal(turned) <= noise)
        turned[gone] = 0.0
        turned[:, gone] = 0.0
        turned += along @ (along.T * pooled.values @ along) @ along.T
        roots = np.sqrt(pooled.values)
        relative = correlation_scaled((turned + turned.T) / 2.0, roots)
        root = pooled.deviations[:, np.newaxis] * pooled.basis * roots
    theta, turns = np.linalg.eigh(relative)
    rounding = 64.0 * EPSILON * len(theta) * max(1.0, float(theta.max(initial=0.0)))
    theta, acted = raised(np.where(theta > rounding, theta, 0.0), weight)
    factor = lower_factor(root @ (turns * np.sqrt(theta)))
    return factor, lower_inverse(factor), acted


def class_covariances(
    covariances: Sequence[FloatArray] | FloatArray, weights: FloatArray, pooled: Pooled
) -> tuple[FloatArray, FloatArray, list[int]]:
    """Return (L, L⁻¹) of the covariances of all classes, and for which of them the rule acted."""
    width, size = len(pooled.deviations), len(weights)
    factors, whitenings = np.empty((size, width, width)), np.empty((size, width, width))
    acted = []
    step = max(1, AT_ONCE // max(width * width, 1))
    for start in range(0, size, step):
        block = slice(start, min(start + step, size))
        own = _plainly_definite(np.asarray(covariances[block]), pooled)
        if own is not None:
            factors[block], whitenings[block] = own
            continue
        for c in range(size)[block]:
            factors[c], whitenings[c], one = class_covariance(
                covariances[c], float(weights[c]), pooled
            )
            if one:
                acted.append(c)
    return factors, whitenings, acted


def _plainly_definite(
    covariances: FloatArray, pooled: Pooled
) -> tuple[FloatArray, FloatArray] | None:
    """Return (L, L⁻¹) if it takes no eigenvalues to see that no θ is below the floor.

    Of a stack (k, d, d), only if that holds for each of them.

    θ_min = 1/‖L_c⁻¹L‖₂² ≥ 1/‖L_c⁻¹L‖_F². The class is factored on its own correlation scale,
    so that a pooled matrix near its floor cannot cost it digits.
    """
    variances = np.diagonal(covariances, axis1=-2, axis2=-1)
    if not np.all(variances > 0.0):
        return None
    deviations = np.sqrt(variances)
    pair = inverse_factor(correlation_scaled(covariances, deviations))
    # A matrix that is singular but for rounding may pass Cholesky by luck.
    rounding = 64.0 * EPSILON * variances.shape[-1]
    if pair is None or smallest_eigenvalue_bound(pair[1]) <= rounding:
        return None
    factor = deviations[..., :, np.newaxis] * pair[0]
    whitening = pair[1] / deviations[..., np.newaxis, :]
    if smallest_eigenvalue_bound(whitening @ pooled.factor) <= CLASS_FLOOR:
        return None
    return factor, whitening


def raised(theta: FloatArray, weight: float | FloatArray) -> tuple[FloatArray, bool]:
    """Return θ + max(0, 1 - θ/1e-8)/max(1, W): continuous, and the identity above 1e-8."""
    lacking = np.maximum(0.0, 1.0 - theta / CLASS_FLOOR)
    return theta + lacking / np.clip(weight, 1.0, MOST_CERTAIN), bool(np.any(lacking > 0.0))


def lacking_directions(summary: ClassSummary, pooled: Pooled) -> Note:
    """Name the columns that take part in directions without variance within classes."""
    assert pooled.basis is not None
    assert pooled.missing is not None
    loads = np.abs(pooled.basis[:, pooled.missing]).max(axis=1, initial=0.0)
    involved = np.flatnonzero(summary.active)[(loads > 0.1) | pooled.constant]
    return Note(
        f"{pooled.lacking} directions have no variance within classes, among these columns",
        "a floor far below every real variance is used instead",
        tuple(int(j) for j in involved),
        silent=pooled.silent is not None and pooled.lacking == pooled.silent.shape[1],
    )
