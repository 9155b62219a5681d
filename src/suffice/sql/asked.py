"""Which sums suffice for a learner, and so may be asked of whoever can add up rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from suffice.models.gaussian.averages.learner import AveragingLearner
from suffice.models.gaussian.family import DIAGONAL_FORMS
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.naive_bayes.asked_of_families import Squares, SumsOfColumns
from suffice.models.naive_bayes.learner import NaiveBayesLearner


@dataclass(frozen=True, slots=True)
class Products:
    """Weight, mean and scatter of all columns together: `Moments` by class, or `PooledMoments`."""

    pooled: bool


@dataclass(frozen=True, slots=True)
class Parts:
    """Several kinds side by side, each of some columns: `ByColumn`."""

    parts: tuple[tuple[SumsOfColumns, tuple[int, ...]], ...]


Asked: TypeAlias = Products | Squares | Parts


def sums_asked(learner: object) -> Asked | None:
    """Return the sums that a learner's statistics are; None where it has to see rows.

    >>> from suffice.models.gaussian.family import Gaussian
    >>> sums_asked(GaussianLearner(Gaussian("shared")))
    Products(pooled=True)
    """
    if isinstance(learner, AveragingLearner) and not learner.keeps_rows:
        learner = learner.inner
    if isinstance(learner, GaussianLearner):
        form = learner.family.covariance
        return Squares() if form in DIAGONAL_FORMS else Products(pooled=form == "shared")
    if not isinstance(learner, NaiveBayesLearner) or learner.keeps_folds or learner.keeps_rows:
        return None  # folds and samples go by what a row says
    parts = []
    for family, columns in zip(learner.product.families, learner.product.columns, strict=True):
        part = family.sums()
        if part is None:
            return None
        parts.append((part, tuple(columns)))
    return Parts(tuple(parts))
