"""Densities of rows under many pooled and shrunk covariances from which they were taken out.

The settings of a grid differ in two shares and a target. Where no floor acts, what a row leaves of
a scatter is known in closed form for each of them, and small matrices are factored side by side:
one operation of NumPy for all settings, classes and rows at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import lower_inverse
from suffice.models.gaussian.floors import CLASS_FLOOR, VARIANCE_FLOOR
from suffice.models.gaussian.leave_one_out.shrunk_downdates import LEVERAGE, Downdated, Removal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.rows import FloatArray, IntArray

MOST_COLUMNS = 16
"""Columns up to which matrices are factored side by side; LAPACK is as fast from about 20 on."""
FIRM = 1e-5
"""The least eigenvalue of a correlation matrix for which no floor is near."""
BLOCK_CELLS = 200_000
"""Cells of matrices that are factored together: they stay in the cache."""


def grid_log_densities(
    families: Sequence[Gaussian],
    summary: ClassSummary,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray,
) -> tuple[tuple[Gaussian, ...], Downdated]:
    """Return the settings that no floor is near, and log densities under downdated covariances.

    `families` differ in pool, shrink and target alone; rows are in the units of the summary. What
    is found is (s, rows, k) and (s, rows) for s settings.
    """
    none = Downdated(np.zeros((0, len(codes), summary.size)), np.zeros((0, len(codes)), bool))
    act = summary.active
    width = int(act.sum())
    if not 0 < width <= MOST_COLUMNS or summary.scatters is None or not families:
        return (), none
    grid = _Grid(families, summary)
    firm = grid.is_firm()
    if not firm.any():
        return (), none
    grid = grid.only(firm)
    removal = Removal.of(families[0], summary, rows[:, act], codes, weights)
    step = max(1, BLOCK_CELLS // (grid.size * summary.size * width**2))
    found = [grid.without(removal, slice(i, i + step)) for i in range(0, len(codes), step)]
    densities = np.concatenate([part for part, _ in found], axis=1)
    unsafe = np.concatenate([bad for _, bad in found], axis=1) | removal.unsafe
    return grid.families, Downdated(densities, unsafe)


class _Grid:
    """Settings side by side: scatters (s, k, d, d) after pooling, and what they are divided by."""

    def __init__(self, families: Sequence[Gaussian], summary: ClassSummary) -> None:
        act = np.ix_(summary.active, summary.active)
        assert summary.scatters is not None
        self.families, self.summary = tuple(families), summary
        self.pools = np.array([one.pool or 0.0 for one in families])
        self.shrinks = np.array([one.shrink or 0.0 for one in families])
        self.scaled = np.array([one.shrink_target == "scaled" for one in families])
        self.divisors, self.divisor = families[0].divisors(summary)
        self.pooled = summary.scatter[act]
        own = np.stack([scatter[act] for scatter in summary.scatters])
        share = self.pools[:, np.newaxis, np.newaxis, np.newaxis]
        self.mixed = (1.0 - share) * own + share * self.pooled
        self.means = summary.means[:, summary.active]
        self.held = np.maximum(np.diagonal(self.pooled), VARIANCE_FLOOR * self.divisor)

    @property
    def size(self) -> int:
        """How many settings there are."""
        return len(self.families)

    def only(self, chosen: NDArray[np.bool_]) -> _Grid:
        """Return some of the settings."""
        kept = [one for one, there in zip(self.families, chosen, strict=True) if there]
        return _Grid(kept, self.summary)

    def is_firm(self) -> NDArray[np.bool_]:
        """Return for which settings (s,) no class and no pooled covariance is near a floor."""
        none = np.zeros(self.size, dtype=bool)
        pooled = self.families[0].floored(self.summary)
        freedom = (1.0 - self.pools)[:, np.newaxis] * self.divisors
        freedom = freedom + (self.pools * self.divisor)[:, np.newaxis]
        variances = np.diagonal(self.mixed, axis1=2, axis2=3)
        if pooled.basis is not None:
            return none
        fine = np.asarray((freedom > 0.0).all(axis=1) & (variances > 0.0).all(axis=(1, 2)))
        shrinks = self.shrinks[:, np.newaxis, np.newaxis]
        mean = (variances / self.held).mean(axis=2, keepdims=True)
        target = np.where(self.scaled[:, np.newaxis, np.newaxis], mean * self.held, variances)
        after = (1.0 - shrinks) * variances + shrinks * target
        matrices = (1.0 - shrinks[..., np.newaxis]) * self.mixed
        places = np.arange(len(self.held))
        matrices[..., places, places] = after
        matrices[~fine] = np.eye(len(self.held))
        roots = np.sqrt(np.where(fine[:, np.newaxis, np.newaxis], after, 1.0))
        matrices /= roots[..., np.newaxis] * roots[..., np.newaxis, :]
        fine &= np.asarray((np.linalg.eigvalsh(matrices)[..., 0] > FIRM).all(axis=1))
        matrices[~fine] = np.eye(len(self.held))
        whitening = lower_inverse(np.linalg.cholesky(matrices))
        deviations = roots / np.sqrt(np.where(freedom > 0.0, freedom, 1.0))[..., np.newaxis]
        relative = (whitening / deviations[..., np.newaxis, :]) @ pooled.factor
        least = 1.0 / np.square(relative).sum(axis=(2, 3))
        found: NDArray[np.bool_] = fine & np.asarray((least > CLASS_FLOOR).all(axis=1))
        return found

    def without(self, removal: Removal, part: slice) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return log densities (s, rows, k) and what is unsafe (s, rows) for a block of rows."""
        codes = removal.codes[part]
        own = codes == np.arange(len(self.means))[:, np.newaxis]  # (k, n)
        pools = self.pools[:, np.newaxis, np.newaxis]
        downdate = removal.downdate[part]
        alpha = np.where(own, 1.0, pools) * downdate  # (s, k, n)
        divisors = self.divisors[:, np.newaxis]
        freedom = (1.0 - pools) * np.where(own, removal.own_divisor[part], divisors)
        freedom = freedom + pools * removal.pooled_divisor[part]
        deltas = (removal.rows[part] - self.means[codes]).T  # (d, n)
        squares = np.square(deltas)
        matrices, bad = self._left(alpha, deltas, squares, downdate)
        gaps = self.means[codes][:, np.newaxis] - self.means  # (n, k, d)
        stretch = np.where(own, removal.stretch[part], 1.0)
        asked = stretch * deltas[:, np.newaxis] + np.moveaxis(gaps, (0, 2), (2, 0))  # (d, k, n)
        with np.errstate(all="ignore"):
            q, logdet, lost = factored_side_by_side(matrices, asked[:, np.newaxis])
            found = -0.5 * (logdet - len(deltas) * np.log(freedom) + freedom * q)
        bad |= (lost | ~(freedom > 0.0)).any(axis=1)
        return np.swapaxes(found, 1, 2), bad

    def _left(
        self, alpha: FloatArray, deltas: FloatArray, squares: FloatArray, downdate: FloatArray
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return what rows leave of the scatters (d, d, s, k, n), and where that is rounding."""
        shrinks = self.shrinks[:, np.newaxis, np.newaxis]
        mixed = np.moveaxis(self.mixed, (2, 3), (0, 1))[..., np.newaxis]  # (d, d, s, k, 1)
        products = deltas[:, np.newaxis] * deltas
        matrices = (1.0 - shrinks) * (mixed - alpha * products[:, :, np.newaxis, np.newaxis])
        variances = np.einsum("iiskn->iskn", mixed)
        left = variances - alpha * squares[:, np.newaxis, np.newaxis]
        bad = np.asarray((left < LEVERAGE * variances).any(axis=(0, 2)))
        held = self.held[:, np.newaxis]
        diagonal = held - downdate * squares  # (d, n)
        scaled = self.scaled[:, np.newaxis]
        bad |= scaled & (diagonal < LEVERAGE * held).any(axis=0)
        diagonal = np.maximum(diagonal, VARIANCE_FLOOR * self.divisor)[:, np.newaxis, np.newaxis]
        mean = (left / diagonal).mean(axis=0)
        target = np.where(scaled[..., np.newaxis], mean * diagonal, left)
        np.einsum("iiskn->iskn", matrices)[:] = (1.0 - shrinks) * left + shrinks * target
        return matrices, bad


def factored_side_by_side(
    matrices: FloatArray, vectors: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return uᵀA⁻¹u, log|A| and failures for many A (d, d, …) and u (d, …), by A = LDLᵀ.

    The matrices are overwritten. A pivot that is rounding, next to the diagonal, is a failure.

    >>> A, u = np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([2.0, 3.0])
    >>> found = factored_side_by_side(A[..., np.newaxis], u[:, np.newaxis])
    >>> [round(x.item(), 6) for x in found]
    [3.0, 2.079442, 0]
    """
    width = len(matrices)
    first = np.einsum("ii...->i...", matrices).copy()
    shape = matrices.shape[2:]
    u = np.array(np.broadcast_to(vectors, (width, *shape)))
    q, logdet, lost = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
    for j in range(width):
        pivot = matrices[j, j]
        lost |= ~(pivot >= LEVERAGE * first[j]) | ~(first[j] > 0.0)
        q += np.square(u[j]) / pivot
        logdet += np.log(pivot)
        column = matrices[j + 1 :, j]
        lower = column / pivot
        u[j + 1 :] -= lower * u[j]
        for i in range(width - j - 1):  # the lower triangle alone
            matrices[j + 1 + i :, j + 1 + i] -= lower[i:] * column[i]
    return q, logdet, lost
