"""Which settings are averaged, and what each of them says about rows as if never seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.gaussian.averages.shares import LeftOutScores
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.jury import EXACT_BUDGET, GRID_BUDGET, Jury, candidates
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.gaussian.leave_one_out.leave_one_out import leave_one_out, left_out_priors
from suffice.models.gaussian.missing.e_step import imputed
from suffice.models.gaussian.predictive.posterior import STRENGTHS, least_strength

if TYPE_CHECKING:
    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.rows import FloatArray, IntArray

BEYOND = 30.0
"""Nats by which a setting has to lose more than the best, on rows that need no refit, for its share
to be nothing whatever the others say: e^-30 is 1e-13."""


@dataclass(frozen=True, slots=True)
class Averaged:
    """What is averaged: the strength of the prior, covariances, or neither."""

    strengths: bool = False
    covariances: bool = False

    def families(self, family: Gaussian, summary: ClassSummary) -> tuple[Gaussian, ...]:
        """Return the settings of the grid.

        Strengths leave a degree of freedom to every row. Of covariances so wide that the grid
        would cost too much, only those are averaged that all classes share.
        """
        if self.covariances:
            found = tuple(candidates(family.divisor))
            cost = len(found) * summary.size * 10.0 * float(summary.active.sum()) ** 3
            if cost <= GRID_BUDGET:
                return found
            return tuple(candidate for candidate in found if candidate.pool == 1.0)
        if not self.strengths:
            return (family,)
        least = least_strength(replace(family, predictive=1.0), summary, spare=1.0)
        strengths = dict.fromkeys(max(a, least) for a in STRENGTHS)
        return tuple(replace(family, predictive=a) for a in strengths)


def left_out_scores(
    families: tuple[Gaussian, ...],
    summary: ClassSummary,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    log_priors: FloatArray | None,
    *,
    complete: bool,
    tempered: bool = False,
) -> LeftOutScores:
    """Return what every setting says about rows (n, d), each left out once.

    `summary` is of these rows, or of more if they are not `complete`; rows that say the same are
    one here, with their weight, and are still left out one at a time. All rows are judged. Blank
    cells of full covariances are filled in first, by one normal of all rows, which knows no
    labels: then the grid is judged by a summary of the filled rows.
    """
    if not summary.is_diagonal and np.isnan(rows).any():
        rows = _filled(rows, weights)
        inner = GaussianLearner(Gaussian("per-class"))
        labels = range(summary.size)
        summary = inner.fit(inner.summarize(rows, codes, labels, weights)).summary
        complete = True
    one = np.minimum(weights, 1.0)
    vanished = summary.weights[codes] - one <= 1e-12 * summary.weights[codes]
    priors = left_out_priors(summary, codes, one, log_priors, vanished)
    if not summary.is_diagonal and families[0].predictive is None:
        logs = _by_jury(
            families, summary, rows, codes, weights, priors, complete=complete, tempered=tempered
        )
        return LeftOutScores(tuple(logs), priors, codes, weights, ~vanished)
    budget = EXACT_BUDGET / len(families)
    even = np.zeros(summary.size)
    logs = []
    for family in families:
        normals, notes = family.estimate(summary)
        found = leave_one_out(
            family, summary, normals, notes, rows, codes, weights, even,
            removed=one, refit_budget=10.0 * budget, exact_budget=budget, complete=complete,
        )  # fmt: skip
        logs.append(found.log_posterior)
    return LeftOutScores(tuple(logs), priors, codes, weights, ~vanished)


def _by_jury(
    families: tuple[Gaussian, ...],
    summary: ClassSummary,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    log_priors: FloatArray,
    *,
    complete: bool,
    tempered: bool,
) -> list[FloatArray]:
    """Return log p(x | c) under full covariances; where floors are in the way, by refits or folds.

    A setting that has lost already, on rows that need no refit, is not refitted, unless a
    temperature may still make it good.
    """
    every = np.arange(len(rows), dtype=np.intp)
    jury = Jury(summary, rows, codes, weights, None, every, len(families), complete=complete)
    jury.log_priors = log_priors[jury.judged]
    jury.judge(list(families))
    least = np.inf
    found: dict[Gaussian, FloatArray] = {}
    for family in sorted(families, key=jury.certain_loss):
        hopeless = not tempered and jury.certain_loss(family) > least + BEYOND
        found[family] = jury.log_posteriors(family, refit=not hopeless)
        least = min(least, jury.loss_of(found[family]))
    out = []
    for family in families:
        logs = np.zeros((len(rows), summary.size))
        with np.errstate(invalid="ignore"):
            said = found[family] - jury.log_priors
        # Of a class that cannot be, its prior says all.
        logs[jury.judged] = np.where(np.isfinite(jury.log_priors), said, 0.0)
        out.append(logs)
    return out


def _filled(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return rows with blank cells as one normal of all rows expects them."""
    learner = GaussianLearner(Gaussian("shared", predictive=1.0))
    together = learner.summarize(rows, np.zeros(len(rows), dtype=np.intp), ["all"], weights)
    return imputed(learner.fit(together).model, rows)
