"""The posterior of normal classes under a prior as strong as a few rows, from their moments.

The prior is inverse Wishart with ν₀ = a and Ψ₀ = a·diag v, v the variances within classes, and κ
rows at the mean of all rows (κ = 0: the means are free). What is drawn next from a class is then
Student's t: see `full_students.py` and `diagonal_students.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.gaussian.floors import VARIANCE_FLOOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.rows import FloatArray

STRENGTHS = (0.01, 0.1, 0.5, *(2.0**power for power in range(9)))
"""Strengths a of the prior that are averaged over, in rows: 0.01, 0.1, 0.5, 1, 2, 4 … 256. Small
ones are needed where columns are highly correlated, large ones where rows are few."""
LEAST_FREEDOM = 0.5
"""Degrees of freedom that a t law has at least: with none it would be no density. A choice: its
tails are then heavier than Cauchy's."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassPosterior:
    """The posterior of all classes, in the units of a summary.

    `means` are (k, d); Ψ is `scale`, (m, a, a) over the active columns or, column by column,
    (m, d), with m = 1 where all classes share it. `freedom` f and `rows` κ_c, how many a mean is
    known from, are (k,) or (k, d). `raised` is the strength in use where the one that was asked
    for would leave no degree of freedom, else None.
    """

    means: FloatArray
    scale: FloatArray
    freedom: FloatArray
    rows: FloatArray
    raised: float | None = None


def prior_variances(summary: ClassSummary) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return v (d,), the variances within classes, and which of them are a floor."""
    scatter = summary.scatter if summary.is_diagonal else np.diagonal(summary.scatter)
    seen = summary.counts.sum(axis=0)
    spare = seen - (summary.counts > 0.0).sum(axis=0)
    found = scatter / np.where(spare > 0.0, spare, np.maximum(seen, np.finfo(np.float64).tiny))
    lacking = summary.active & (found < VARIANCE_FLOOR)
    return np.where(summary.active, np.maximum(found, VARIANCE_FLOOR), 1.0), lacking


def degrees(family: Gaussian, summary: ClassSummary) -> FloatArray:
    """Return ν of every class's scatter, (k,) or (k, d): W_c - 1, or W - k, or between.

    With rows of a prior at the mean of all rows no degree goes to the means.
    """
    lost = 0.0 if family.prior_rows > 0.0 else 1.0
    if summary.is_diagonal:
        held = np.maximum(summary.counts, 1.0)
        if family.covariance == "shared-diagonal":
            shown = np.where(summary.counts > 0.0, summary.counts - lost, 0.0).sum(axis=0)
            return np.broadcast_to(np.maximum(shown, 0.0), held.shape)
        return np.maximum(held - lost, 0.0)
    share = 1.0 if family.covariance == "shared" else (family.pool or 0.0)
    own, all_ = summary.weights - lost, summary.weight - lost * summary.size
    found: FloatArray = (1.0 - share) * own + share * all_
    return found


def least_strength(family: Gaussian, summary: ClassSummary, spare: float = 0.0) -> float:
    """Return the strength a from which every class has a t law, also after `spare` rows left."""
    nu = degrees(family, summary) - spare
    if not summary.is_diagonal:
        width = float(summary.active.sum())
        return float(max(0.0, LEAST_FREEDOM + width - 1.0 - float(nu.min())))
    nu = np.maximum(nu[:, summary.active], 0.0)
    if not nu.size:
        return 0.0
    if family.covariance == "spherical":
        return float(max(0.0, (LEAST_FREEDOM - float(nu.sum(axis=1).min())) / nu.shape[1]))
    return max(0.0, LEAST_FREEDOM - float(nu.min()))


def class_posterior(family: Gaussian, summary: ClassSummary) -> ClassPosterior:
    """Return the posterior of every class under the prior of the settings."""
    assert family.predictive is not None
    least = least_strength(family, summary)
    strength = max(float(family.predictive), least)
    raised = least if strength > float(family.predictive) else None
    v, _ = prior_variances(summary)
    if summary.is_diagonal:
        return _by_column(family, summary, strength, v, raised)
    act = np.flatnonzero(summary.active)
    inner = np.ix_(act, act)
    kappa, weights = family.prior_rows, summary.weights
    centre = weights @ summary.means / summary.weight
    held = weights + kappa
    means = (weights[:, np.newaxis] * summary.means + kappa * centre) / held[:, np.newaxis]
    reach = (summary.means - centre)[:, act] * np.sqrt(kappa * weights / held)[:, np.newaxis]
    prior = np.diag(strength * v[act])
    width = len(act)
    freedom = strength + degrees(family, summary) - width + 1.0
    pooled = summary.scatter[inner] + reach.T @ reach
    if family.covariance == "shared":
        return ClassPosterior(means, (prior + pooled)[np.newaxis], freedom, held, raised)
    assert summary.scatters is not None
    share = family.pool or 0.0
    scale = np.empty((summary.size, width, width))
    for c in range(summary.size):
        own = summary.scatters[c][inner] + np.multiply.outer(reach[c], reach[c])
        scale[c] = prior + (1.0 - share) * own + share * pooled
    return ClassPosterior(means, scale, freedom, held, raised)


def _by_column(
    family: Gaussian, summary: ClassSummary, strength: float, v: FloatArray, raised: float | None
) -> ClassPosterior:
    """Return the posterior of independent columns; cells of which nothing is known are one row."""
    assert summary.scatters is not None
    kappa = family.prior_rows
    counts = np.where(summary.counts > 0.0, summary.counts, 1.0)
    seen = np.maximum(summary.counts.sum(axis=0), np.finfo(np.float64).tiny)
    centre = (summary.counts * summary.means).sum(axis=0) / seen
    held = counts + kappa
    means = (counts * summary.means + kappa * centre) / held
    squares = np.where(summary.counts > 0.0, np.square(summary.means - centre), 0.0)
    scatters = summary.scatters + kappa * counts / held * squares
    freedom = strength + degrees(family, summary)
    if family.covariance == "shared-diagonal":
        scale = (strength * v + scatters.sum(axis=0))[np.newaxis]
        return ClassPosterior(means, scale, freedom, held, raised)
    if family.covariance == "spherical":
        unit = common_unit(summary)
        parts = np.where(summary.active, np.square(unit), 0.0)
        total = (strength * v + scatters) @ parts
        freedom = np.where(summary.active, freedom, 0.0).sum(axis=1)
        wide = np.where(summary.active, np.square(unit), 1.0)
        scale = total[:, np.newaxis] / wide
        return ClassPosterior(
            means, scale, np.repeat(freedom[:, np.newaxis], summary.width, axis=1), held, raised
        )
    return ClassPosterior(means, strength * v + scatters, freedom, held, raised)


def common_unit(summary: ClassSummary) -> FloatArray:
    """Return the scales of the columns, (d,), in that of the widest: spherical classes have units.

    As small as the square of a number may be; 1 where nothing varies.
    """
    act = summary.active
    widest = float(summary.scale[act].max(initial=0.0)) or 1.0
    return np.where(act, np.maximum(summary.scale / widest, 1e-150), 1.0)
