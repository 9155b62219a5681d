"""Family and priors together: what turns labelled rows into statistics, and those into a model."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import (
    BadRows,
    BadSetting,
    DegenerateData,
    listed,
    meant,
)
from suffice.families.summary import ClassSummary
from suffice.models.forgetting import forgotten
from suffice.models.generative import GenerativeModel
from suffice.models.incomplete import Incomplete
from suffice.models.missing import expectation_maximization
from suffice.statistics import ByPattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.families.gaussian import Gaussian, GaussianStatistics, NormalClasses
    from suffice.families.notes import Note
    from suffice.rows import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False)
class Fit:
    """A model together with the moments it was estimated from, in the order of its labels."""

    model: GenerativeModel
    summary: ClassSummary
    notes: tuple[Note, ...]
    parameters: tuple[FloatArray, FloatArray] | None = None
    """Standardized means and covariances at the end of EM, where cells were missing."""
    steps: int = 0
    """How many steps EM took to get there."""

    @property
    def normals(self) -> NormalClasses:
        """The class densities."""
        return self.model.densities


@dataclass(frozen=True, slots=True)
class GaussianLearner:
    """Learns a GenerativeModel with normal classes: summarize, then estimate. Nothing else.

    `priors` are given by label, or None for the class frequencies. They never touch the
    covariance.

    >>> import numpy as np
    >>> from suffice.families import Gaussian
    >>> learner = GaussianLearner(Gaussian("shared"))
    >>> x = np.array([[0.0], [2.0], [5.0], [7.0]])
    >>> statistics = learner.summarize(x, np.array([0, 0, 1, 1]), ["low", "high"])
    >>> learner.estimate(statistics).labels
    ('high', 'low')
    """

    family: Gaussian
    priors: Mapping[Label, float] | None = None

    def summarize(
        self,
        rows: FloatArray,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None = None,
    ) -> GaussianStatistics:
        """Summarize labelled rows: row i belongs to labels[codes[i]]; zero weights are no rows."""
        if weights is not None and not weights.all():
            kept = weights > 0.0
            rows, codes, weights = rows[kept], codes[kept], weights[kept]
        return self.family.summarize(rows, codes, labels, weights)

    def forget(
        self,
        held: GaussianStatistics,
        gone: GaussianStatistics,
        coded: NDArray[np.bool_] | None = None,
    ) -> GaussianStatistics:
        """Return held - gone, and be honest about the digits that are left.

        `coded` marks columns of zeros and ones that stand for a level: where their variance is
        gone, the level is, and no digits of anything.
        """
        found: GaussianStatistics = forgotten(held, gone, None, coded)
        return found

    def estimate(self, statistics: GaussianStatistics) -> GenerativeModel:
        """Turn statistics, from wherever they came, into a model."""
        return self.fit(statistics).model

    def fit(
        self,
        statistics: GaussianStatistics,
        *,
        start: tuple[FloatArray, FloatArray] | None = None,
        most_steps: int | None = None,
    ) -> Fit:
        """Estimate, and keep the moments that leave-one-out and typicality need."""
        labels = statistics.labels
        if not labels:
            raise BadRows("there are no rows to learn from", hint="every row has weight zero")
        parameters, taken = None, 0
        if isinstance(statistics, ByPattern) and not statistics.is_complete:
            data = Incomplete.of(statistics, labels)
            steps = {} if most_steps is None else {"most_steps": most_steps}
            summary, parameters, taken = expectation_maximization(self.family, data, start, **steps)
        else:
            summary = ClassSummary.of(statistics, labels)
        densities, notes = self.family.estimate(summary)
        log_priors = self.log_priors(labels, summary.weights)
        model = GenerativeModel(labels, log_priors, densities, summary.weights)
        return Fit(model, summary, notes, parameters, taken)

    def log_priors(self, labels: Sequence[Label], weights: FloatArray) -> FloatArray:
        """Return the given priors in the order of `labels`, or the class frequencies."""
        if self.priors is None:
            return log_frequencies(weights)
        return checked_log_priors(self.priors, labels)


def log_frequencies(weights: FloatArray) -> FloatArray:
    """Return the logs of weights divided by their sum."""
    total = weights.sum()
    shares = weights / total
    # Of weights so far apart that their ratio is no double, the logs still have a difference.
    found: FloatArray = np.log(shares) if shares.all() else np.log(weights) - np.log(total)
    return found


def checked_log_priors(priors: Mapping[Label, float], labels: Sequence[Label]) -> FloatArray:
    """Return log priors in the order of `labels`, or say what is wrong with them."""
    if not hasattr(priors, "items"):
        raise BadSetting(
            f"priors are given as a {type(priors).__name__}",
            hint=f"name the classes: priors={{{labels[0]!r}: 0.5, ...}}",
        )
    unknown = [label for label in priors if label not in set(labels)]
    absent = [label for label in labels if label not in priors]
    if unknown or absent:
        problem = (
            f"priors name {listed(map(repr, unknown))}, which is no class"
            if unknown
            else (f"priors do not mention {listed(map(repr, absent))}")
        )
        asked = meant(unknown[0], labels) if unknown else ""
        raise BadSetting(problem, hint=f"{asked}give one prior for each of {listed(labels)}")
    for label, prior in priors.items():
        if not isinstance(prior, Real) or isinstance(prior, bool):
            raise BadSetting(
                f"the prior of {label!r} is {prior!r}, which is no number",
                hint="priors are at least 0 and add up to 1",
            )
        if not float(prior) >= 0.0:
            what = "is negative" if float(prior) < 0.0 else "is no number"
            raise BadSetting(
                f"the prior of {label!r} is {float(prior):g}: a probability that {what}",
                hint="priors are at least 0 and add up to 1",
            )
    values = np.array([float(priors[label]) for label in labels])
    if not abs(values.sum() - 1.0) <= 1e-8:
        raise BadSetting(
            f"priors {listed(f'{v:g}' for v in values)} of {listed(map(repr, labels))} "
            f"add up to {values.sum():g}",
            hint="priors are at least 0 and add up to 1",
        )
    with np.errstate(divide="ignore"):
        result: FloatArray = np.log(values / values.sum())
    return result


def warn_of(notes: Sequence[Note], names: Sequence[str], labels: Sequence[Label]) -> None:
    """Tell the user, by name, what was degenerate and what was done about it."""
    if notes:
        text = ". ".join(note.told(names, labels) for note in notes)
        warnings.warn(text, DegenerateData, stacklevel=4)
