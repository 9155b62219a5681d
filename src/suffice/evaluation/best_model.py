"""The one rule by which a model is chosen, and how far two of them are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.evaluation.candidates import Candidate
    from suffice.rows import FloatArray

EQUAL = 9
"""Digits after the point to which log-losses are compared: the rest is rounding, and must not
decide between models that say the same."""

NEGLIGIBLE = 5e-4
"""A difference of log-losses that is nothing when they are shown, however surely it is there."""


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much the log-loss of one model exceeds another's, on the same folds.

    mean             over folds
    standard_error   Nadeau and Bengio's (2003): folds share most of their training rows, so the
                     usual one, over √folds, is too small
    """

    mean: float
    standard_error: float

    @property
    def is_noise(self) -> bool:
        """Whether it is no more than one standard error, or too small to matter."""
        return self.mean <= max(self.standard_error, NEGLIGIBLE)

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.standard_error:.3f}"


def difference(losses: FloatArray, others: FloatArray, test_share: float) -> Difference:
    """Return how much more `others` lose than `losses`, fold by fold.

    Variance over folds times 1/K + n_test/n_train: Nadeau and Bengio, Inference for the
    generalization error (Machine Learning 52, 2003).

    >>> print(difference(np.array([0.1, 0.3]), np.array([0.2, 0.5]), 1.0))
    0.150 ± 0.087
    """
    gaps = others - losses
    spread = float(gaps.var(ddof=1)) if len(gaps) > 1 else float("inf")
    error = float(np.sqrt(spread * (1.0 / len(gaps) + test_share)))
    return Difference(float(gaps.mean()), error)


def least_loss(candidates: Sequence[Candidate], losses: Mapping[str, FloatArray]) -> Candidate:
    """Return the model of least mean log-loss over folds; of equal ones the simplest.

    By this the best single model is found: `suffice fit --model best`. Probabilities for new rows
    are what a model is for, and the least loss measured on rows held out is the best guess at the
    least loss on those. A rule that takes the simplest within one standard error gives some of it
    away for a shorter description, most of all where rows are few and errors large; who prefers
    that finds it among the reasons.
    """
    return min(candidates, key=lambda one: (round(float(losses[one.name].mean()), EQUAL), one.rank))


def best_of(candidates: Sequence[Candidate], losses: Mapping[str, FloatArray]) -> Candidate:
    """Return the pool of models, unless the best single one is better beyond noise.

    This is the one rule by which a model is chosen: `Comparison.best`, `.estimator()`, the
    recommendation, the report and `suffice fit --model auto` all follow it. Single models are
    compared by `least_loss`. The pool is taken unless the best of them has a log-loss that is lower
    by more than one standard error of the difference over folds: the least of several noisy losses
    is lower than it will be on new rows, while the pool holds models of the same kinds and was not
    picked. Without a pool, or with nothing else, there is no such question.

    >>> from suffice.evaluation.candidates import Candidate
    >>> from suffice import GaussianDiscriminant, Pool
    >>> both = [Candidate("gda", "GDA", GaussianDiscriminant(), "generative", 0)]
    >>> both += [Candidate("pool", "pool", Pool(), "", 1)]
    >>> slightly = {"GDA": np.array([0.3, 0.5]), "pool": np.array([0.5, 0.4])}
    >>> clearly = {"GDA": np.array([0.3, 0.2]), "pool": np.array([0.5, 0.4])}
    >>> best_of(both, slightly).name, best_of(both, clearly).name
    ('pool', 'GDA')
    """
    pools = [one for one in candidates if one.is_pool]
    singles = [one for one in candidates if not one.is_pool]
    if not pools or not singles:
        return least_loss(candidates, losses)
    pool, single = least_loss(pools, losses), least_loss(singles, losses)
    return pool if gap_between(single, pool, losses).is_noise else single


def gap_between(one: Candidate, other: Candidate, losses: Mapping[str, FloatArray]) -> Difference:
    """Return by how much the log-loss of another candidate exceeds that of one, over folds."""
    mine = losses[one.name]
    share = 1.0 / (len(mine) - 1.0) if len(mine) > 1 else 1.0
    return difference(mine, losses[other.name], share)


def from_the_pool(candidates: Sequence[Candidate], losses: Mapping[str, FloatArray]) -> str:
    """Return in words how far the best single model is from the pool; "" if there are not both.

    >>> from suffice.evaluation.candidates import Candidate
    >>> from suffice import GaussianDiscriminant, Pool
    >>> both = [Candidate("gda", "GDA", GaussianDiscriminant(), "generative", 0)]
    >>> both += [Candidate("pool", "pool", Pool(), "", 1)]
    >>> print(from_the_pool(both, {"GDA": np.array([0.6, 0.5]), "pool": np.array([0.5, 0.4])}))
    the best single model, GDA, has a log-loss higher by 0.100 ± 0.000
    """
    pools = [one for one in candidates if one.is_pool]
    singles = [one for one in candidates if not one.is_pool]
    if not pools or not singles:
        return ""
    pool, single = least_loss(pools, losses), least_loss(singles, losses)
    gap = gap_between(pool, single, losses)
    way = "higher" if gap.mean >= 0.0 else "lower"
    return (
        f"the best single model, {single.name}, has a log-loss {way} by "
        f"{abs(gap.mean):.3f} ± {gap.standard_error:.3f}"
    )
