"""Shrinkage chosen from the data: covariance="auto", and the whole path of shrinkages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import BadSetting
from suffice.linear_algebra import correlation_scaled
from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.floors import EIGENVALUE_FLOOR, VARIANCE_FLOOR
from suffice.models.gaussian.jury import GRID_BUDGET, POOLS, SHRINKS, Jury, candidates
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.linear.form import LinearForm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.rows import FloatArray, IntArray, Label
    from suffice.statistics import ByPattern, PooledMoments


JUDGED_BUDGET = 2e11
"""Operations that may be spent on judging rows; beyond, a stratified part of them is judged."""
FEWEST_JUDGED = 400
"""Rows that are judged at least, whatever they cost. A choice: the standard error of a share of 400
rows is at most √(¼/400) = 2.5 %."""


def choose(
    summary: ClassSummary,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None,
    log_priors: FloatArray | None,
    divisor: str,
) -> tuple[Gaussian, tuple[tuple[Gaussian, float], ...]]:
    """Return the setting of least leave-one-out log-loss, and the loss of every candidate.

    All candidates are estimated from the same moments: no pass over the rows but one
    whitening per candidate and class. Where even that costs much, not all are judged: see
    `_by_neighbours`.
    """
    options = list(candidates(divisor))
    judged = _judged(summary, codes, len(options))
    jury = Jury(summary, rows, codes, weights, log_priors, judged, len(options))
    width = float(summary.active.sum())
    if len(options) * summary.size * 10.0 * width**3 <= GRID_BUDGET:
        return jury.verdict(options)
    return _by_neighbours(jury, options)


def _by_neighbours(
    jury: Jury, options: list[Gaussian]
) -> tuple[Gaussian, tuple[tuple[Gaussian, float], ...]]:
    """Judge what is pooled all the way, and then the neighbours of the best until it stays best."""
    known = [option for option in options if option.pool == 1.0]
    while True:
        best, found = jury.verdict(known)
        here = _steps(best)
        near = [
            option
            for option in options
            if option not in known
            and sum(abs(i - j) for i, j in zip(_steps(option), here, strict=True)) <= 1
        ]
        if not near:
            return best, found
        known = [option for option in options if option in known or option in near]


def _steps(option: Gaussian) -> tuple[int, int, int]:
    """Return where a candidate stands in the grid."""
    target = int(bool(option.shrink) and option.shrink_target == "diagonal")
    return POOLS.index(option.pool or 0.0), SHRINKS.index(option.shrink or 0.0), target


def _judged(summary: ClassSummary, codes: IntArray, options: int) -> IntArray:
    """Return which rows are judged: all of them, or an even share of every class."""
    width = max(1, int(summary.active.sum()))
    most = int(JUDGED_BUDGET / (4.0 * options * summary.size * width**2))
    most = max(FEWEST_JUDGED, most)
    if len(codes) <= most:
        return np.arange(len(codes), dtype=np.intp)
    order = np.argsort(codes, kind="stable")
    return np.sort(order[_spread(len(codes), most)])


def _spread(length: int, most: int) -> IntArray:
    """Return at most `most` places, evenly over 0 … length - 1."""
    return np.linspace(0, length - 1, min(most, length)).round().astype(np.intp)


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

    Parameters
    ----------
    statistics : ByPattern[PooledMoments]
        Pooled moments by pattern, as GaussianLearner makes them.
    shrinks : sequence of float or ndarray of float
        The shrinkages, 0 … 1.
    priors : mapping of Label to float or None, default=None
        Class probabilities by label; None takes the shares of the rows.
    divisor : {"mle", "unbiased"}, default="mle"
        "mle" or "unbiased".

    Returns
    -------
    ShrinkagePath
        A linear classifier for each shrinkage.

    See Also
    --------
    suffice.statistics.leave_one_out : With it over folds, this cross-validates them all.

    Examples
    --------
    >>> import numpy as np
    >>> learner = GaussianLearner(Gaussian("shared"))
    >>> x = np.random.default_rng(0).normal(size=(30, 3))
    >>> path = shrinkage_path(learner.summarize(x, np.arange(30) % 2, ["a", "b"]), [0.0, 0.5, 1.0])
    >>> path.log_posteriors(x).shape
    (3, 30, 2)
    """
    grid = np.asarray(shrinks, dtype=np.float64)
    if grid.ndim != 1 or not np.all((grid >= 0.0) & (grid <= 1.0)):
        raise BadSetting(
            f"shrinks={shrinks!r} are not all in 0 … 1",
            hint="use numbers from 0 to 1; 0 means no shrinking",
        )
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
