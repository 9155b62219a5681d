"""Log densities of rows under Student's t of all the other rows.

The prior's variances v are made from the rows too, so that taking out a row changes Ψ by a product
of rank one and by a diagonal: exactly, by a factor for each row, or by a series to second order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import pinned
from suffice.models.gaussian.floors import VARIANCE_FLOOR
from suffice.models.gaussian.leave_one_out.shrunk_downdates import (
    LEVERAGE,
    AskedDeviations,
    Change,
    Downdated,
    by_series,
    cholesky_factors,
)
from suffice.models.gaussian.predictive.estimate import definite_factor
from suffice.models.gaussian.predictive.full_students import log_normalizer
from suffice.models.gaussian.predictive.posterior import common_unit, least_strength

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.rows import FloatArray, IntArray

CELLS = 2e6
"""Cells of matrices that are factored at a time: 16 MB, and a few copies. A choice."""
SECOND_ORDER = "the prior's variances were corrected to second order"
"""What is said of left-out densities that are not exact."""


def student_log_densities(
    family: Gaussian,
    summary: ClassSummary,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    exact_budget: float,
) -> tuple[Downdated, list[str]]:
    """Return log densities (n, k) of standardized rows under laws without them.

    Rows that have to be refitted are called unsafe: what is left of their class or of a column
    is nothing. Where the prior has rows at the mean of all rows, that mean is without the row, too.
    """
    assert family.predictive is not None
    strength = float(family.predictive)
    spare = float(weights.max(initial=0.0))
    if strength < least_strength(family, summary, spare):
        n, size = len(rows), summary.size
        return Downdated(np.zeros((n, size)), np.ones(n, dtype=bool)), []
    with pinned():
        if summary.is_diagonal:
            return _by_column(family, summary, rows, codes, weights, strength), []
        act = summary.active
        table = _Rows.of(summary, rows[:, act], codes, weights, strength)
        matrices = 1 if family.covariance == "shared" else summary.size
        exact = float(len(rows)) * matrices * float(act.sum()) ** 3 <= exact_budget
        exact |= family.prior_rows > 0.0  # the mean of all rows moves all classes: no series
        found = _full(family, summary, table, None if exact else exact_budget / matrices)
    return found, [] if exact else [SECOND_ORDER]


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """What taking out each row does: to weights, to its class's mean, to the prior's variances."""

    rows: FloatArray
    codes: IntArray
    weights: FloatArray
    deltas: FloatArray
    stretch: FloatArray
    downdate: FloatArray
    prior: FloatArray
    """a·v without the row, (n, a)."""
    change: FloatArray
    """a·v less what it is without the row, (n, a)."""
    unsafe: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        summary: ClassSummary,
        z: FloatArray,
        codes: IntArray,
        weights: FloatArray,
        strength: float,
    ) -> _Rows:
        act = summary.active
        held = summary.weights[codes]
        left = held - weights
        gone = left <= 1e-12 * held
        stretch = held / np.where(gone, 1.0, left)
        downdate = weights * stretch
        deltas = z - summary.means[codes][:, act]
        scatter = np.diagonal(summary.scatter)[act]
        rest = scatter - downdate[:, np.newaxis] * np.square(deltas)
        spare = summary.weight - weights - summary.size
        unsafe = gone | (spare <= 0.0)
        unsafe |= np.any((rest < LEVERAGE * scatter) & (scatter > 0.0), axis=1)
        kept = np.where(spare > 0.0, spare, 1.0)[:, np.newaxis]
        prior = strength * np.maximum(rest / kept, VARIANCE_FLOOR)
        whole = summary.weight - summary.size
        before = scatter / (whole if whole > 0.0 else summary.weight)
        change = strength * np.maximum(before, VARIANCE_FLOOR) - prior
        return cls(z, codes, weights, deltas, stretch, downdate, prior, change, unsafe)


def _full(family: Gaussian, summary: ClassSummary, table: _Rows, budget: float | None) -> Downdated:
    """Return log densities under full scale matrices; by a series where there is a budget."""
    act = summary.active
    inner = np.ix_(act, act)
    n, size, width = len(table.rows), summary.size, int(act.sum())
    means = summary.means[:, act]
    share = 1.0 if family.covariance == "shared" else (family.pool or 0.0)
    strength = float(family.predictive or 0.0)
    unsafe = table.unsafe.copy()
    squares, logdets = np.empty((n, size)), np.empty((n, size))
    freedom, known = np.empty((n, size)), np.empty((n, size))
    pooled = summary.scatter[inner]
    kappa = family.prior_rows
    lost = 0.0 if kappa > 0.0 else 1.0
    spare = summary.weight - table.weights - lost * size
    for j in range(size):
        own = table.codes == j
        left = summary.weights[j] - np.where(own, table.weights, 0.0)
        nu = (1.0 - share) * (left - lost) + share * spare
        freedom[:, j] = strength + nu - width + 1.0
        known[:, j] = left + kappa
    drawn = _DrawnMeans(summary.weights, means, kappa) if kappa > 0.0 else None
    shared = family.covariance == "shared"
    for j in range(1 if shared else size):
        own = table.codes == j
        scatter, factor = pooled, np.ones(n)
        if not shared:
            assert summary.scatters is not None
            scatter = (1.0 - share) * summary.scatters[j][inner] + share * pooled
            factor = np.where(own, 1.0, share)
        change = Change(table.deltas, factor * table.downdate, table.change)
        classes = range(size) if shared else range(j, j + 1)
        if budget is None:
            found = _by_factors(scatter, table, change.beta, means, classes, drawn, share)
            squares[:, classes.start : classes.stop] = found[0]
            logdets[:, classes.start : classes.stop] = found[1][:, np.newaxis]
            unsafe |= found[2]
            continue
        before = table.prior[0] + table.change[0] if n else np.ones(width)
        lower, whitening = definite_factor(scatter + np.diag(before))
        for c in classes:
            stretch = np.where(table.codes == c, table.stretch, 1.0)[:, np.newaxis]
            asked = AskedDeviations(table.deltas, stretch, means - means[c], table.codes)
            q, logdet, bad = by_series(lower, whitening, whitening, asked, change, budget)
            squares[:, c], logdets[:, c] = q, logdet
            unsafe |= bad
    unsafe |= np.any(freedom <= 0.0, axis=1) | np.any(known <= 0.0, axis=1)
    with np.errstate(all="ignore"):
        widened = 1.0 + 1.0 / known
        logs = log_normalizer(freedom, width) - 0.5 * width * np.log(widened / freedom)
        logs -= 0.5 * logdets + (freedom + width) / 2.0 * np.log1p(squares / widened)
    return Downdated(logs, unsafe)


@dataclass(frozen=True, slots=True, eq=False)
class _DrawnMeans:
    """Means that κ rows draw to the mean of all rows, which is without the row as well."""

    weights: FloatArray
    means: FloatArray
    kappa: float

    def without(self, table: _Rows, part: slice) -> tuple[FloatArray, FloatArray]:
        """Return centres (p, k, a) of the classes without each row, and what they add to Ψ.

        That is r with Σ_c r_cr_cᵀ: the means' own distances from the mean of all rows.
        """
        rows, codes, w = table.rows[part], table.codes[part], table.weights[part]
        here = np.arange(len(rows))
        left = np.repeat(self.weights[np.newaxis], len(rows), axis=0)
        left[here, codes] -= w
        means = np.repeat(self.means[np.newaxis], len(rows), axis=0)
        moved = table.deltas[part] * (w / np.maximum(left[here, codes], 1e-300))[:, np.newaxis]
        means[here, codes] -= moved
        total = self.weights @ self.means - w[:, np.newaxis] * rows
        centre = (total / (self.weights.sum() - w)[:, np.newaxis])[:, np.newaxis]
        held = (left + self.kappa)[:, :, np.newaxis]
        reach = (means - centre) * np.sqrt(self.kappa * left[:, :, np.newaxis] / held)
        return (left[:, :, np.newaxis] * means + self.kappa * centre) / held, reach


def _by_factors(
    scatter: FloatArray,
    table: _Rows,
    beta: FloatArray,
    means: FloatArray,
    classes: range,
    drawn: _DrawnMeans | None,
    share: float,
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return (z - m_c)ᵀΨ'⁻¹(z - m_c), (n, classes), log|Ψ'| and failures, one factor a row."""
    n, width = table.rows.shape
    q, logdet = np.full((n, len(classes)), np.nan), np.full(n, np.nan)
    bad = np.ones(n, dtype=bool)
    places = np.arange(width)
    step = max(1, int(CELLS // max(1, width * width)))
    for start in range(0, n, step):
        part = slice(start, start + step)
        d = table.deltas[part]
        matrices = scatter - beta[part, np.newaxis, np.newaxis] * (
            d[:, :, np.newaxis] * d[:, np.newaxis, :]
        )
        matrices[:, places, places] += table.prior[part]
        if drawn is None:
            stretch = np.where(table.codes[part, np.newaxis] == list(classes),
                               table.stretch[part, np.newaxis], 1.0)  # fmt: skip
            u = (table.rows[part, np.newaxis, :] - means[classes]) * stretch[:, :, np.newaxis]
        else:
            centres, reach = drawn.without(table, part)
            u = table.rows[part, np.newaxis, :] - centres[:, classes]
            if len(classes) == 1 and share < 1.0:
                own = reach[:, classes.start]
                matrices += (1.0 - share) * (own[:, :, np.newaxis] * own[:, np.newaxis, :])
            if share > 0.0:
                matrices += share * (reach.transpose(0, 2, 1) @ reach)
        roots = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
        fine = np.isfinite(roots).all(axis=1) & (roots > 0.0).all(axis=1)
        matrices[~fine] = np.eye(width)
        roots[~fine] = 1.0
        matrices /= roots[:, :, np.newaxis]
        matrices /= roots[:, np.newaxis, :]
        factors, definite = cholesky_factors(matrices)
        white = np.linalg.solve(factors, (u / roots[:, np.newaxis, :]).transpose(0, 2, 1))
        pivots = np.diagonal(factors, axis1=1, axis2=2)
        q[part] = np.square(white).sum(axis=1)
        logdet[part] = 2.0 * (np.log(pivots) + np.log(roots)).sum(axis=1)
        bad[part] = ~fine | ~definite | (np.square(pivots).min(axis=1, initial=1.0) < LEVERAGE)
    return q, logdet, bad


def _by_column(
    family: Gaussian,
    summary: ClassSummary,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    strength: float,
) -> Downdated:
    """Return log densities of independent columns, or of one variance; missing cells skipped."""
    assert summary.scatters is not None
    act = summary.active
    z, means, held = rows[:, act], summary.means[:, act], summary.counts[:, act]
    scatters, scatter = summary.scatters[:, act], summary.scatter[act]
    seen = ~np.isnan(z)
    w = weights[:, np.newaxis] * seen
    own_held = held[codes]
    left = own_held - w
    gone = seen & (left <= 1e-12 * own_held)
    # A class that never showed a column has the mean of those that did, this row among them.
    unsafe = np.any(gone | (seen & np.any(held <= 0.0, axis=0)), axis=1)
    stretch = own_held / np.where(left > 0.0, left, 1.0)
    delta = np.where(seen, z - means[codes], 0.0)
    lost = w * stretch * np.square(delta)
    rest = scatter - lost
    unsafe |= np.any(seen & (rest < LEVERAGE * scatter) & (scatter > 0.0), axis=1)
    spare = held.sum(axis=0) - w - (held > 0.0).sum(axis=0)
    unsafe |= np.any(spare <= 0.0, axis=1)
    prior = strength * np.maximum(rest / np.where(spare > 0.0, spare, 1.0), VARIANCE_FLOOR)
    unit = np.square(common_unit(summary)[act])
    kappa = family.prior_rows
    free = 0.0 if kappa > 0.0 else 1.0
    total = held.sum(axis=0) - w
    centre = ((held * means).sum(axis=0) - w * np.where(seen, z, 0.0)) / np.where(
        total > 0.0, total, 1.0
    )
    shared = family.covariance == "shared-diagonal"
    laws = []
    for j in range(summary.size):
        own = (codes == j)[:, np.newaxis]
        left_j = held[j] - np.where(own, w, 0.0)
        known = np.where(left_j > 0.0, left_j, 1.0)
        mean = means[j] - np.where(own, delta * (stretch - 1.0), 0.0)
        more = np.where(left_j > 0.0, kappa * known / (known + kappa) * np.square(mean - centre), 0)
        scatter_j = scatters[j] - np.where(own, lost, 0.0) + more
        drawn = (known * mean + kappa * centre) / (known + kappa)
        laws.append((known, drawn, scatter_j))
    pooled = sum(law[2] for law in laws)
    out = np.empty((len(z), summary.size))
    for j, (alone, drawn, scatter_j) in enumerate(laws):
        known = alone + kappa
        u = np.where(seen, z - drawn, 0.0)
        scale = prior + (pooled if shared else scatter_j)
        freedom = strength + np.maximum(alone, 1.0) - free
        if shared:
            freedom = strength + (spare if free else total)
        squares = np.square(u) / (1.0 + 1.0 / known)
        if family.covariance == "spherical":
            out[:, j] = _joint(freedom, scale * unit, squares * unit, seen, known)
            continue
        terms = log_normalizer(freedom, 1) - 0.5 * np.log(scale / freedom * (1.0 + 1.0 / known))
        terms -= (freedom + 1.0) / 2.0 * np.log1p(squares / scale)
        out[:, j] = np.where(seen, terms, 0.0).sum(axis=1)
    return Downdated(out, unsafe)


def _joint(
    freedom: FloatArray,
    scale: FloatArray,
    squares: FloatArray,
    seen: NDArray[np.bool_],
    known: FloatArray,
) -> FloatArray:
    """Return log t of all cells together: one variance, of which Σscale is the posterior."""
    f, s, width = freedom.sum(axis=1), scale.sum(axis=1), seen.sum(axis=1)
    volume = np.where(seen, np.log1p(1.0 / known), 0.0).sum(axis=1) + width * np.log(s / f)
    q = np.where(seen, squares, 0.0).sum(axis=1) / s
    found: FloatArray = log_normalizer(f, width) - 0.5 * volume
    found -= (f + width) / 2.0 * np.log1p(q)
    return found
