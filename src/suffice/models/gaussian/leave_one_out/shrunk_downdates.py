"""Densities of rows under shrunk covariances from which they were taken out.

Taking out a row changes a scatter by a product of rank one and, where correlations are shrunk, the
diagonal of the target as well: exactly by a factor for each row, or by a series to second order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.gaussian.floors import (
    EIGENVALUE_FLOOR,
    VARIANCE_FLOOR,
    degrees_of_freedom,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.floors import Pooled
    from suffice.models.gaussian.full_normals import FullNormals
    from suffice.rows import FloatArray, IntArray


COARSE = 0.2
"""A change of the diagonal, next to what it changes, for which two orders do not do."""


def shrunk_log_densities(
    family: Gaussian,
    summary: ClassSummary,
    normals: FullNormals,
    removal: Removal,
    share: float,
    budget: float,
    *,
    exact: bool,
) -> Downdated:
    """Shrinking moves the diagonal too, not by rank one: a Cholesky per row, or second order.

    `budget` is what Cholesky may cost for each class, infinite if nothing else will do.
    """
    act = np.ix_(normals.active, normals.active)
    divisors, divisor = family.divisors(summary)
    gamma = float(family.shrink or 0.0)
    pooled = summary.scatter[act]
    n, size = len(removal.rows), summary.size
    out = np.empty((n, size))
    unsafe = removal.unsafe.copy()
    means = normals.means[:, normals.active]
    deltas = removal.rows - means[removal.codes]
    squares = np.square(deltas)
    # The pooled variances without the row, which the "scaled" target is measured by.
    held = np.maximum(np.diagonal(pooled), VARIANCE_FLOOR * divisor)
    diagonal = held - removal.downdate[:, np.newaxis] * squares
    if family.shrink_target == "scaled":
        unsafe |= np.any(diagonal < LEVERAGE * held, axis=1)
    diagonal = np.maximum(diagonal, VARIANCE_FLOOR * divisor)
    shared = family.covariance == "shared"
    silent = _Silent.of(family.floored(summary)) if normals.silent and budget < np.inf else None
    for j in range(size):
        own = removal.codes == j
        if shared:
            variances, f, alpha = np.diagonal(pooled), divisor, removal.downdate
            f_new = removal.pooled_divisor
        else:
            assert summary.scatters is not None
            mixed = (1.0 - share) * summary.scatters[j][act] + share * pooled
            variances = np.diagonal(mixed)
            f = (1.0 - share) * divisors[j] + share * divisor
            alpha = np.where(own, 1.0, share) * removal.downdate
            f_new = (1.0 - share) * np.where(own, removal.own_divisor, divisors[j])
            f_new = f_new + share * removal.pooled_divisor
        left = variances - alpha[:, np.newaxis] * squares
        # A row that moves a column alone leaves rounding behind, which no pivot would show.
        unsafe |= np.any((left < LEVERAGE * variances) & (variances > 0.0), axis=1)
        target, before = left, variances
        if family.shrink_target == "scaled" and not shared:
            width = max(1, len(held))
            target = (left / diagonal).sum(axis=1, keepdims=True) / width * diagonal
            before = (variances / held).sum() / width * held
        change = Change(deltas, alpha * (1.0 - gamma), gamma * (before - target))
        # x - m_j is the row's own deviation, stretched if j is its class, and a gap if not.
        stretch = np.where(own, removal.stretch, 1.0)
        asked = AskedDeviations(deltas, stretch[:, np.newaxis], means - means[j], removal.codes)
        m = 0 if shared else j
        factor = normals.factors[m] * np.sqrt(max(f, 0.0))
        if exact and (budget == np.inf or _is_firm(factor)):
            q, logdet, bad = by_cholesky(factor, asked.rows(), change)
        else:
            whitening = normals.whitenings[m] / np.sqrt(max(f, 0.0))
            spoken = whitening if silent is None else silent.off(normals.factors[m], whitening)
            q, logdet, bad = by_series(factor, whitening, spoken, asked, change, budget)
        unsafe |= bad | (f_new <= 0.0) | (f <= 0.0)
        out[:, j] = -0.5 * (logdet - len(held) * np.log(f_new) + f_new * q)
    return Downdated(out, unsafe)


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What a removal takes from a scatter: βδδᵀ and a diagonal, one of each for every row."""

    deltas: FloatArray
    beta: FloatArray
    diagonal: FloatArray

    def of(self, rows: IntArray) -> Change:
        """Return the same for some of the rows."""
        return Change(self.deltas[rows], self.beta[rows], self.diagonal[rows])


@dataclass(frozen=True, slots=True, eq=False)
class AskedDeviations:
    """Which deviations u = stretch·δ + gap are asked about: gaps are the same for a whole class."""

    deltas: FloatArray
    stretch: FloatArray
    gaps: FloatArray
    codes: IntArray

    def rows(self) -> FloatArray:
        """Return u itself."""
        return self.in_coordinates(self.deltas, self.gaps)

    def in_coordinates(self, deltas: FloatArray, gaps: FloatArray) -> FloatArray:
        """Return u in other coordinates, from δ and the gaps in them."""
        found: FloatArray = self.stretch * deltas + gaps[self.codes]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Silent:
    """Functionals of the columns that are the same for all rows, in units of the deviations."""

    directions: FloatArray
    deviations: FloatArray

    @classmethod
    def of(cls, pooled: Pooled) -> _Silent | None:
        """Return those of a pooled covariance, if there are any."""
        if pooled.silent is None or not pooled.silent.shape[1]:
            return None
        return cls(pooled.silent, pooled.deviations)

    def off(self, factor: FloatArray, whitening: FloatArray) -> FloatArray:
        """Return L⁻¹ for changes of the diagonal: a class that has a floor there keeps it."""
        along = self.directions / self.deviations[:, np.newaxis]
        if np.square(along.T @ factor).sum(axis=1).max() > 10.0 * EIGENVALUE_FLOOR:
            return whitening
        reach = whitening @ (self.deviations[:, np.newaxis] * self.directions)
        found: FloatArray = whitening - reach @ along.T
        return found


def _is_firm(factor: FloatArray) -> bool:
    """Whether a matrix has digits to lose in every direction: no floor holds it up."""
    squares = np.square(factor)
    return bool(np.all(np.diagonal(squares) > 1e-6 * squares.sum(axis=1)))


def by_cholesky(
    factor: FloatArray, u: FloatArray, change: Change
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return uᵀA'⁻¹u, log|A'| and failures for A' = LLᵀ less what each row takes away."""
    n, width = u.shape
    q, logdet, bad = np.full(n, np.nan), np.full(n, np.nan), np.ones(n, dtype=bool)
    scatter = factor @ factor.T
    places = np.arange(width)
    step = max(1, int(2e6 // max(1, width * width)))
    for start in range(0, n, step):
        part = slice(start, start + step)
        d, beta = change.deltas[part], change.beta[part, np.newaxis, np.newaxis]
        matrices = scatter - beta * d[:, :, np.newaxis] * d[:, np.newaxis, :]
        matrices[:, places, places] -= change.diagonal[part]
        # Factored on the correlation scale, so that a failure means what it says.
        roots = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
        fine = np.isfinite(roots).all(axis=1) & (roots > 0.0).all(axis=1)
        matrices[~fine] = np.eye(width)
        roots[~fine] = 1.0
        matrices /= roots[:, :, np.newaxis]
        matrices /= roots[:, np.newaxis, :]
        factors, definite = cholesky_factors(matrices)
        white = np.linalg.solve(factors, (u[part] / roots)[:, :, np.newaxis])[:, :, 0]
        pivots = np.diagonal(factors, axis1=1, axis2=2)
        q[part] = np.square(white).sum(axis=1)
        logdet[part] = 2.0 * (np.log(pivots) + np.log(roots)).sum(axis=1)
        bad[part] = ~fine | ~definite | (np.square(pivots).min(axis=1, initial=np.inf) < LEVERAGE)
    return q, logdet, bad


def cholesky_factors(matrices: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return Cholesky factors of a stack, the identity where a matrix has none."""
    definite = np.ones(len(matrices), dtype=bool)
    try:
        return np.asarray(np.linalg.cholesky(matrices)), definite
    except np.linalg.LinAlgError:
        factors = np.empty_like(matrices)
    for i, matrix in enumerate(matrices):
        try:
            factors[i] = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            factors[i], definite[i] = np.eye(len(matrix)), False
    return factors, definite


def by_series(
    factor: FloatArray,
    whitening: FloatArray,
    spoken: FloatArray,
    asked: AskedDeviations,
    change: Change,
    budget: float,
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """The same to second order in the change Δ of the diagonal, one whitening for all rows.

    With P = A⁻¹, (A - Δ)⁻¹ ≈ P + PΔP + PΔPΔP and log|A - Δ| ≈ log|A| - tr PΔ - ½ tr PΔPΔ. The
    last trace is also the square of how large Δ is next to A: rows where it is not small are
    done by Cholesky as long as the budget allows and no floor is in the way. `spoken` is the
    whitening as Δ meets it.
    """
    precision = spoken.T @ spoken
    small = change.diagonal
    d_white = change.deltas @ whitening.T
    d_solved = d_white @ spoken
    gaps = asked.gaps @ whitening.T
    u_white, u_solved = (
        asked.in_coordinates(d_white, gaps),
        asked.in_coordinates(d_solved, gaps @ spoken),
    )
    d_moved, u_moved = (small * d_solved) @ spoken.T, (small * u_solved) @ spoken.T
    t = _dot(d_white, d_white) + _dot(small * d_solved, d_solved) + _dot(d_moved, d_moved)
    r = _dot(d_white, u_white) + _dot(small * d_solved, u_solved) + _dot(d_moved, u_moved)
    q = _dot(u_white, u_white) + _dot(small * u_solved, u_solved) + _dot(u_moved, u_moved)
    size = _dot(small @ np.square(precision), small)
    logdet = 2.0 * np.log(np.diagonal(factor)).sum() - small @ np.diagonal(precision) - size / 2.0
    rest = 1.0 - change.beta * t
    bad = ~(rest > LEVERAGE)
    q, logdet = q + change.beta * np.square(r) / rest, logdet + np.log1p(-change.beta * t)
    coarse = np.flatnonzero(~(size <= COARSE**2) & ~bad)
    coarse = coarse[: int(budget / max(1, len(factor)) ** 3)]
    if not _is_firm(factor):
        bad |= ~(size < 1.0)
    elif len(coarse):
        u = asked.rows()[coarse]
        q[coarse], logdet[coarse], bad[coarse] = by_cholesky(factor, u, change.of(coarse))
    return q, logdet, bad


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the products of rows with rows."""
    found: FloatArray = np.einsum("ij,ij->i", left, right)
    return found


LEVERAGE = 1e-8
"""Removal that leaves less than this of a direction is done by refitting."""


@dataclass(frozen=True, slots=True, eq=False)
class Downdated:
    """Log densities (n, k), up to a term common to all classes, and rows not to be trusted."""

    log_densities: FloatArray
    unsafe: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """What taking out row i does to weights and divisors; arrays over rows."""

    rows: FloatArray
    codes: IntArray
    stretch: FloatArray  # W_c/W_c': how far the row moves away from its class's new mean
    downdate: FloatArray  # a = wW_c/W_c', the factor of δδᵀ
    own_divisor: FloatArray
    pooled_divisor: FloatArray
    unsafe: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        family: Gaussian,
        summary: ClassSummary,
        rows: FloatArray,
        codes: IntArray,
        weights: FloatArray,
    ) -> Removal:
        """Return it for every row."""
        held = summary.weights[codes]
        left = held - weights
        stretch = held / left
        # A class that loses its last or second row has no covariance of its own any more.
        unsafe = left <= weights * (1.0 + 1e-12)
        own, pooled = left, summary.weight - weights
        if family.divisor == "unbiased":
            own = degrees_of_freedom(left, 1.0)
            pooled = degrees_of_freedom(pooled, float(summary.size))
        return cls(
            rows,
            codes,
            stretch,
            weights * stretch,
            own,
            pooled,
            unsafe,
        )
