"""Do GDA and logistic regression aim at the same θ? A test that fits no logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.gaussian.family import Gaussian
from suffice.models.influences import Influences, ScoreSums
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.gaussian.whitened_classes import WhiteClasses

if TYPE_CHECKING:
    from suffice.rows import FloatArray

RANK_FLOOR = 1e-10
"""Eigenvalues of a correlation matrix that count as zero."""
NOISE = 1e-20
"""Below this share of the score's own variance, a contrast is rounding."""

CHI_SQUARED = "score test, χ²"
BOOTSTRAP = "score test, parametric bootstrap"


@dataclass(frozen=True, slots=True)
class ScoreTest:
    """Whether the score of logistic regression at GDA's θ is further from zero than by chance.

    statistic            T = Uᵀ(Σ w eeᵀ)⁺U
    degrees_of_freedom   the rank of Σ w eeᵀ; zero if there is nothing to compare
    p_value              P(T or more), if classes are normal with one covariance
    method               where the p-value is from
    draws                how many bootstrap samples it is from; zero for χ²
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    method: str = CHI_SQUARED
    draws: int = 0


def score_test(sums: ScoreSums, contrasts: FloatArray) -> ScoreTest:
    """Return T and its p-value by χ².

    U is the score Σw(y - h)x̃ at GDA's θ, and e what each row contributes to it, with what it
    did to θ counted in. If both schools have the same limit, U is a sum of e of mean zero.
    The rank is that of e's correlations, so units do not matter.
    """
    from scipy.special import chdtrc

    variances = np.diagonal(contrasts)
    live = np.flatnonzero(variances > NOISE * np.diagonal(sums.information))
    deviations = np.sqrt(variances[live])
    correlation = contrasts[np.ix_(live, live)] / deviations[:, np.newaxis] / deviations
    values, turns = np.linalg.eigh(correlation)
    kept = values > RANK_FLOOR
    turned = (turns[:, kept].T @ (sums.score[live] / deviations)) / np.sqrt(values[kept])
    statistic, rank = float(turned @ turned), int(kept.sum())
    return ScoreTest(statistic, rank, float(chdtrc(rank, statistic)) if rank else 1.0)


def bootstrapped(
    test: ScoreTest, classes: WhiteClasses, draws: int, rng: np.random.Generator
) -> ScoreTest:
    """Return the same statistic, with a p-value from samples of the fitted GDA.

    Each sample has as many rows of each class as the weights say (to the nearest whole
    number, one at least), and goes through all that the rows went through. The rank of a
    sample counts, so that p-values are compared and not statistics. No p-value is zero: the
    rows themselves are one of the samples.
    """
    counts = np.maximum(np.rint(classes.weights), 1.0).astype(np.intp)
    codes = np.repeat(np.arange(len(counts)), counts)
    labels = tuple(range(len(counts)))
    learner = GaussianLearner(Gaussian())
    beyond = 0
    for _ in range(draws):
        rows = classes.drawn(codes, rng)
        found = learner.fit(learner.summarize(rows, codes, labels))
        influences = Influences(WhiteClasses.of(found), rows, codes)
        sums = influences.score_sums()
        drawn = score_test(sums, influences.contrast_sums(sums.information))
        beyond += drawn.statistic >= test.statistic
    return ScoreTest(
        test.statistic,
        test.degrees_of_freedom,
        (beyond + 1.0) / (draws + 1.0),
        BOOTSTRAP,
        draws,
    )
