"""Learns an average over settings: statistics and a sample of rows, by which they are judged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.models.gaussian.averages.grid import Averaged, left_out_scores
from suffice.models.gaussian.averages.row_samples import array_of, sampled_rows
from suffice.models.gaussian.averages.shares import (
    LEFT_OUT,
    LeftOutScores,
    averaged_without_themselves,
    fitted_shares,
    temperatures_of,
)
from suffice.models.gaussian.forgetting import forgotten
from suffice.models.gaussian.learner import Fit, GaussianLearner
from suffice.models.gaussian.leave_one_out.leave_one_out import leave_one_out, left_out_priors
from suffice.models.gaussian.leave_one_out.missing_cells import judged_missing
from suffice.models.gaussian.predictive.averaged_laws import AveragedLaws
from suffice.statistics.row_sample import END, WithRows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.models.gaussian.family import Gaussian, GaussianStatistics
    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.left_out import LeaveOneOut
    from suffice.rows import FloatArray, IntArray, Label

EM_STRENGTH = 1.0
"""Rows of the prior while EM expects blank cells, where its strength is averaged over: one EM then
serves all of the grid."""
EM_POOL = 0.5
"""The share of the pooled covariance by which EM expects blank cells where covariances are averaged
over: one EM then serves all of the grid. A choice: the middle."""


@dataclass(frozen=True, eq=False)
class AveragedFit(Fit):
    """A fit whose model is an average: `families` are those of its laws, in the same order."""

    families: tuple[Gaussian, ...] = ()
    temperatures: FloatArray = field(default_factory=lambda: np.ones(1))
    shares: FloatArray = field(default_factory=lambda: np.ones((1, 1)))
    complete: bool = True
    """Whether all rows were in the sample by which settings were judged."""


@dataclass(frozen=True, slots=True)
class AveragingLearner:
    """Learns a GenerativeModel of averaged laws: summarize, then estimate.

    `family` is what the statistics are collected for; `averaged` says what of it is a grid, and
    `temperature` is β, or "left-out". What is judged by rows keeps a sample of them.
    """

    family: Gaussian
    priors: Mapping[Label, float] | None
    averaged: Averaged
    temperature: float | str = 1.0
    takes_columns: ClassVar[bool] = True

    @property
    def keeps_rows(self) -> bool:
        """Whether a sample of the rows is kept."""
        grid = self.averaged.strengths or self.averaged.covariances
        return grid or self.temperature == LEFT_OUT

    @property
    def inner(self) -> GaussianLearner:
        """The learner of the statistics, and of what EM makes of them."""
        family = self.family
        if self.averaged.strengths:
            family = replace(family, predictive=EM_STRENGTH)
        elif self.averaged.covariances:
            family = replace(family, pool=EM_POOL)
        return GaussianLearner(family, self.priors)

    def accepts(self, statistics: object) -> bool:
        """Whether these are the statistics that `summarize` collects."""
        held = statistics.held if isinstance(statistics, WithRows) else statistics
        return self.family.accepts(held) and self.keeps_rows <= isinstance(statistics, WithRows)

    def summarize(
        self,
        rows: FloatArray,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None = None,
        columns: Columns | None = None,
    ) -> GaussianStatistics | WithRows:
        """Summarize labelled rows: row i belongs to labels[codes[i]]; zero weights are no rows."""
        held = self.inner.summarize(rows, codes, labels, weights)
        if not self.keeps_rows:
            return held
        assert columns is not None
        if weights is not None and not weights.all():
            kept = weights > 0.0
            rows, codes, weights = rows[kept], codes[kept], weights[kept]
        return WithRows(held, sampled_rows(rows, columns, codes, labels, weights))

    def forget(
        self,
        held: object,
        gone: object,
        coded: NDArray[np.bool_] | None = None,
        names: Sequence[str] | None = None,
    ) -> Any:
        """Return held - gone, and be honest about the digits that are left."""
        return forgotten(held, gone, names, coded)

    def estimate(self, statistics: Any) -> GenerativeModel:
        """Turn statistics, from wherever they came, into a model."""
        return self.fit(statistics).model

    def fit(self, statistics: Any) -> AveragedFit:
        """Estimate every setting of the grid, and how much each counts."""
        held = statistics.held if isinstance(statistics, WithRows) else statistics
        base = self.inner.fit(held)
        families = self.averaged.families(self.family, base.summary)
        temperatures = temperatures_of(self.temperature, base.summary.weights)
        shares = np.ones((1, 1))
        complete = True
        if self.keeps_rows:
            complete = statistics.sample.limit == END
            shares = self._shares(statistics.sample, base, families, temperatures)
        law, cold = np.any(shares > 0.0, axis=1), np.any(shares > 0.0, axis=0)
        families = tuple(f for f, used in zip(families, law, strict=True) if used)
        shares, temperatures = shares[np.ix_(law, cold)], temperatures[cold]
        found = [family.estimate(base.summary) for family in families]
        laws = AveragedLaws(tuple(one for one, _ in found), temperatures, shares)
        model = replace(base.model, densities=laws)
        notes = found[int(np.argmax(shares.sum(axis=1)))][1]
        return AveragedFit(
            model, base.summary, notes, base.parameters, base.steps,
            families, temperatures, shares, complete,
        )  # fmt: skip

    def _shares(
        self, sample: Any, base: Fit, families: tuple[Gaussian, ...], temperatures: FloatArray
    ) -> FloatArray:
        """Return how much every setting and temperature counts, (g, b)."""
        if len(base.model.labels) < 2 or not sample.rows:
            shares = np.zeros((len(families), len(temperatures)))
            shares[:, int(np.argmin(np.abs(np.log(temperatures))))] = 1.0 / len(families)
            return shares
        rows, codes, weights = array_of(sample, base.model.labels)
        scores = left_out_scores(
            families,
            base.summary,
            rows,
            codes,
            weights,
            None if self.priors is None else base.model.log_priors,
            complete=sample.limit == END,
            tempered=self.temperature == LEFT_OUT,
        )
        return fitted_shares(scores, temperatures)


def averaged_leave_one_out(
    learner: AveragingLearner,
    fit: AveragedFit,
    statistics: Any,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None,
    log_priors: FloatArray | None,
    *,
    complete: bool = True,
) -> LeaveOneOut:
    """Return what each row of the fit gets from the average of all the others.

    Every setting of the average is left out by itself, and the row's own loss is taken out of
    the shares; how the other rows' losses would be without it is not asked.
    """
    summary = fit.summary
    even = np.zeros(summary.size)
    held = statistics.held if isinstance(statistics, WithRows) else statistics
    if not summary.is_diagonal and not getattr(held, "is_complete", True):
        family = learner.inner.family
        found = judged_missing(family, fit.families, held, fit, rows, codes, weights, even)
    else:
        found = []
        for family in fit.families:
            law, notes = family.estimate(summary)
            found.append(
                leave_one_out(
                    family, summary, law, notes, rows, codes, weights, even, complete=complete
                )
            )
    first = found[0]
    priors = left_out_priors(summary, codes, first.weights, log_priors, first.vanished)
    logs = tuple(one.log_posterior for one in found)
    scores = LeftOutScores(logs, priors, codes, first.weights, ~first.vanished)
    judged = learner.keeps_rows and fit.complete
    worth = first.weights if judged else np.zeros(len(codes))
    said = "; ".join(dict.fromkeys(one.approximate for one in found if one.approximate))
    posterior = averaged_without_themselves(scores, fit.temperatures, fit.shares, worth)
    return replace(first, log_posterior=posterior, approximate=said)
