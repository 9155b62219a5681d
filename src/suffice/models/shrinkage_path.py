"""Every shrinkage of a shared covariance for the price of one eigendecomposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import BadSetting
from suffice.families.floors import EIGENVALUE_FLOOR, VARIANCE_FLOOR
from suffice.families.gaussian import Gaussian
from suffice.families.summary import ClassSummary
from suffice.linear_algebra import correlation_scaled
from suffice.models.learner import GaussianLearner
from suffice.models.linear.form import LinearForm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.rows import FloatArray, Label
    from suffice.statistics import ByPattern, PooledMoments


@dataclass(frozen=True, eq=False)
class ShrinkagePath:
    """Linear classifiers, one for each shrinkage: `weights` (s, k, d), `offsets` (s, k).

    Shrinking toward the diagonal does not turn the eigenvectors of the correlation matrix:
    (1 - γ)R + γI has the eigenvalues (1 - γ)λ + γ. So one decomposition serves all γ.
    """

    labels: tuple[Label, ...]
    shrinks: FloatArray
    weights: FloatArray
    offsets: FloatArray
    origin: FloatArray

    def __len__(self) -> int:
        """How many shrinkages there are."""
        return len(self.shrinks)

    def __getitem__(self, place: int) -> LinearForm:
        """Return one classifier."""
        return LinearForm(self.labels, self.weights[place], self.offsets[place], self.origin)

    def log_posteriors(self, rows: FloatArray) -> FloatArray:
        """Return log p(y | x) under every shrinkage, (s, n, k)."""
        s, k, d = self.weights.shape
        # Shrinkages last: sums over few classes are slow along the last axis.
        by_class = self.weights.transpose(1, 0, 2).reshape(k * s, d)
        with pinned():
            scores = ((rows - self.origin) @ by_class.T).reshape(len(rows), k, s)
        scores += self.offsets.T
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return scores.transpose(2, 0, 1)


def shrinkage_path(
    statistics: ByPattern[PooledMoments],
    shrinks: Sequence[float] | FloatArray,
    *,
    priors: Mapping[Label, float] | None = None,
    divisor: str = "mle",
) -> ShrinkagePath:
    """Return the classifiers that covariance="shared" gives at each of many shrinkages.

    With `suffice.statistics.leave_one_out` over folds this cross-validates them all.

    >>> import numpy as np
    >>> learner = GaussianLearner(Gaussian("shared"))
    >>> x = np.random.default_rng(0).normal(size=(30, 3))
    >>> path = shrinkage_path(learner.summarize(x, np.arange(30) % 2, ["a", "b"]), [0.0, 0.5, 1.0])
    >>> path.log_posteriors(x).shape
    (3, 30, 2)
    """
    grid = np.asarray(shrinks, dtype=np.float64)
    if grid.ndim != 1 or not np.all((grid >= 0.0) & (grid <= 1.0)):
        raise BadSetting(f"shrinks={shrinks!r} are not all in 0 … 1", hint="0 is no shrinking")
    family = Gaussian("shared", divisor=divisor)
    if not family.accepts(statistics) or not statistics.is_complete:
        raise BadSetting(
            "a shrinkage path needs the pooled moments of complete rows",
            hint='collect them with Gaussian("shared"); impute missing cells first',
        )
    labels = statistics.labels
    summary = ClassSummary.of(statistics, labels)
    log_priors = GaussianLearner(family, priors).log_priors(labels, summary.weights)
    act = summary.active
    with pinned():
        covariance = family.pooled(summary)
        deviations = np.sqrt(np.maximum(np.diagonal(covariance), VARIANCE_FLOOR))
        correlation = correlation_scaled(covariance, deviations)
        np.fill_diagonal(correlation, 1.0)
        values, vectors = np.linalg.eigh(correlation)
        turned = (summary.means[:, act] / deviations) @ vectors  # (k, a)
        shrunk = (1.0 - grid[:, np.newaxis]) * values + grid[:, np.newaxis]
        shrunk = np.maximum(shrunk, EIGENVALUE_FLOOR)
        solved = turned / shrunk[:, np.newaxis, :]  # (s, k, a)
        back = (vectors / deviations[:, np.newaxis]).T / summary.scale[act]  # (a, a)
        weights = np.zeros((len(grid), len(labels), summary.width))
        weights[:, :, act] = (solved.reshape(-1, len(deviations)) @ back).reshape(
            len(grid), len(labels), -1
        )
    offsets = log_priors - (solved * turned).sum(axis=2) / 2.0 - weights @ summary.origin_low
    return ShrinkagePath(labels, grid, weights, offsets, summary.origin)
