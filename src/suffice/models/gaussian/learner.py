"""Family and priors together: labelled rows to statistics, and those, or given ones, to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from suffice.errors import (
    BadRows,
    BadSetting,
    SufficeError,
    listed,
    meant,
    warn,
)
from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.family import DIAGONAL_FORMS
from suffice.models.gaussian.forgetting import forgotten
from suffice.models.gaussian.model import GenerativeModel
from suffice.places import ColumnAt, Phrase
from suffice.statistics import ByClass, ByPattern, DiagonalMoments, Moments, PooledMoments
from suffice.statistics.moments.rounding import PER_OPERATION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.family import Gaussian, GaussianStatistics, NormalClasses
    from suffice.models.notes import Note
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
    takes_columns: ClassVar[bool] = False
    """Whether `summarize` asks for the schema of the rows: hashes of rows depend on it."""

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
        names: Sequence[str] | None = None,
    ) -> GaussianStatistics:
        """Return held - gone, and be honest about the digits that are left.

        `coded` marks columns of zeros and ones that stand for a level: where their variance is
        gone, the level is, and no digits of anything.
        """
        found: GaussianStatistics = forgotten(held, gone, names, coded)
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
            from suffice.models.gaussian.missing.em import expectation_maximization
            from suffice.models.gaussian.missing.pattern_moments import Incomplete

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
        return log_priors_of(self.priors, labels)


def log_frequencies(weights: FloatArray) -> FloatArray:
    """Return the logs of weights divided by their sum."""
    total = weights.sum()
    shares = weights / total
    # Of weights so far apart that their ratio is no double, the logs still have a difference.
    found: FloatArray = np.log(shares) if shares.all() else np.log(weights) - np.log(total)
    return found


def checked_log_priors(priors: Mapping[Label, float], labels: Sequence[Label]) -> FloatArray:
    """Return log priors in the order of `labels`, or say what is wrong with them."""
    found = log_priors_of(priors, labels)
    unknown = [label for label in priors if label not in set(labels)]
    if unknown:
        raise BadSetting(
            f"priors name {listed(map(repr, unknown))}, which is not a class",
            hint=f"{meant(unknown[0], labels)}give one prior for each of {listed(labels)}",
        )
    return found


def log_priors_of(priors: Mapping[Label, float], labels: Sequence[Label]) -> FloatArray:
    """Return log priors in the order of `labels`, of which none may be missing.

    A class that has no rows, not yet or not any more, takes no part: the others keep their
    proportions.

    >>> np.exp(log_priors_of({"a": 0.5, "b": 0.3, "gone": 0.2}, ["a", "b"]))
    array([0.625, 0.375])
    """
    if not hasattr(priors, "items"):
        raise BadSetting(
            f"priors are given as a {type(priors).__name__}",
            hint=f"name the classes: priors={{{labels[0]!r}: 0.5, ...}}",
        )
    absent = [label for label in labels if label not in priors]
    if absent:
        unknown = [label for label in priors if label not in set(labels)]
        if unknown:
            problem = f"priors name {listed(map(repr, unknown))}, which is not a class"
        else:
            problem = f"priors are missing for {listed(map(repr, absent))}"
        asked = meant(unknown[0], labels) if unknown else ""
        raise BadSetting(problem, hint=f"{asked}give one prior for each of {listed(labels)}")
    for label, prior in priors.items():
        if not isinstance(prior, Real) or isinstance(prior, bool):
            raise BadSetting(
                f"the prior of {label!r} is {prior!r}, which is not a number",
                hint="priors are at least 0 and add up to 1",
            )
        if not float(prior) >= 0.0:
            what = "is negative" if float(prior) < 0.0 else "is not a number"
            raise BadSetting(
                f"the prior of {label!r} is {float(prior):g}: a probability that {what}",
                hint="priors are at least 0 and add up to 1",
            )
    whole = sum(map(float, priors.values()))
    if not abs(whole - 1.0) <= 1e-8:
        named = [*labels, *(label for label in priors if label not in set(labels))]
        raise BadSetting(
            f"priors {listed(f'{float(priors[label]):g}' for label in named)} of "
            f"{listed(map(repr, named))} add up to {whole:g}",
            hint="priors are at least 0 and add up to 1",
        )
    values = np.array([float(priors[label]) for label in labels])
    if not values.any():
        raise BadSetting(
            f"the priors of {listed(map(repr, labels))} are all 0, and no other class has rows",
            hint="give other priors, which add up to 1",
        )
    with np.errstate(divide="ignore"):
        result: FloatArray = np.log(values / values.sum())
    return result


def refuse_nothing_likely(learner: object, labels: Sequence[Label]) -> None:
    """Refuse to forget all classes but those that the priors of settings call impossible."""
    priors = getattr(learner, "priors", None)
    if isinstance(priors, Mapping) and labels and not any(priors.get(c, 1.0) for c in labels):
        log_priors_of(priors, labels)


def warn_of(notes: Sequence[Note], names: Sequence[str], labels: Sequence[Label]) -> None:
    """Tell the user, by name, what was degenerate and what was done about it."""
    for category in dict.fromkeys(note.category for note in notes):
        chosen = [note for note in notes if note.category is category]
        columns = tuple(ColumnAt(j, names[j]) for note in chosen for j in note.columns)
        said = ". ".join(note.sentence(names, labels) for note in chosen)
        warn(Phrase("{said}", said=said, columns=columns), category)


class GivenClasses(NamedTuple):
    """Labels (k), weights (k,), means (k, d) and covariances (k, d, d) of normal classes."""

    labels: tuple[Label, ...]
    weights: FloatArray
    means: FloatArray
    covariances: FloatArray

    @classmethod
    def read(
        cls,
        means: object,
        covariance: object,
        weights: object,
    ) -> GivenClasses:
        """Return the parameters as arrays, checked as those of normal laws are."""
        from suffice.models.gaussian.law.normal import Normal

        if not isinstance(means, Mapping) or not means:
            raise BadSetting(
                f"means are {means!r:.60}, not the means of classes by label",
                hint="use for instance means={'ham': [0.0, 0.0], 'spam': [2.0, 1.0]}",
            )
        labels = tuple(means)
        laws = []
        for label in labels:
            own = _of(covariance, label, "covariance")
            try:
                laws.append(Normal(means[label], own))
            except SufficeError as error:
                refusal = BadSetting(error.problem, hint=error.hint)
                raise refusal.within(f"class {label!r}") from None
            if laws[-1].width != laws[0].width:
                raise BadSetting(
                    f"the mean of class {label!r} has {laws[-1].width} numbers, "
                    f"that of class {labels[0]!r} {laws[0].width}",
                    hint="give one number for each column",
                )
        worth = np.array([_weight(_of(weights, label, "weights"), label) for label in labels])
        return cls(
            labels,
            worth,
            np.array([law.mean for law in laws]),
            np.array([law.covariance for law in laws]),
        )

    def in_order(self, order: Sequence[int]) -> GivenClasses:
        """Return the classes in another order."""
        places = list(order)
        return GivenClasses(
            tuple(self.labels[place] for place in places),
            self.weights[places],
            self.means[places],
            self.covariances[places],
        )


def _of(given: object, label: Label, name: str) -> Any:
    """Return what is given for a class, or for all of them."""
    if not isinstance(given, Mapping):
        return given
    if label not in given:
        raise BadSetting(
            f"{name} of class {label!r} is missing", hint=f"give {name} for every class, or one"
        )
    return given[label]


def _weight(given: Any, label: Label) -> float:
    number = isinstance(given, Real) and not isinstance(given, bool)
    if not number or not 0.0 < float(given) < np.inf:
        raise BadSetting(
            f"prior rows of class {label!r}: {given!r}", hint="use a number of rows above 0"
        )
    return float(given)


UNCHANGED = 1e-9
"""How far, in standard deviations squared, a form may move a covariance that it is to hold.

Rounding moves it by some 1e-15, and a floor for directions without variance by no more than this;
a form that can't hold it at all, such as a spherical one, moves it by far more."""


def statistics_of_parameters(family: Gaussian, given: GivenClasses) -> GaussianStatistics:
    """Return the statistics of which the family's estimates are these parameters."""
    labels, weights, means, covariances = given
    width = means.shape[1]
    shared = family.covariance in ("shared", "shared-diagonal")
    lost: Any = 0.0
    if family.divisor == "unbiased":
        lost = len(labels) / weights.sum() if shared else 1.0 / weights
    factors = weights * (1.0 - lost)
    if (factors <= 0.0).any():
        c = int(np.argmin(factors))
        raise BadSetting(
            f"a weight of {weights[c]:g} of class {labels[c]!r} has no unbiased covariance",
            hint='use a larger weight, or divisor="mle"',
        )
    scatters = factors[:, np.newaxis, np.newaxis] * covariances
    squares = np.diagonal(scatters, axis1=1, axis2=2)
    zero = np.zeros(width)
    if family.covariance in DIAGONAL_FORMS:
        return ByClass(
            {
                label: DiagonalMoments(
                    float(weights[c]),
                    np.full(width, weights[c]),
                    means[c],
                    zero,
                    squares[c].copy(),
                    PER_OPERATION * squares[c],
                )
                for c, label in enumerate(labels)
            }
        )
    whole: Any
    if family.covariance == "shared":
        whole = PooledMoments(
            tuple(labels),
            weights,
            means,
            np.zeros_like(means),
            scatters.sum(axis=0),
            PER_OPERATION * squares.sum(axis=0),
        )
    else:
        whole = ByClass(
            {
                label: Moments(
                    float(weights[c]), means[c], zero, scatters[c], PER_OPERATION * squares[c]
                )
                for c, label in enumerate(labels)
            }
        )
    return ByPattern.complete(width, whole)


def check_held(
    found: FloatArray, covariances: FloatArray, labels: Sequence[Label], form: str
) -> None:
    """Refuse covariances (k, d, d) that the form has changed: it can't hold them."""
    scale = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))
    unit = np.where(scale > 0.0, scale, 1.0)
    moved = np.abs(found - covariances) / (unit[:, :, np.newaxis] * unit[:, np.newaxis, :])
    constant = scale == 0.0  # what never varies gets a stand-in
    moved[constant[:, :, np.newaxis] | constant[:, np.newaxis, :]] = 0.0
    worst = moved.max(axis=(1, 2), initial=0.0)
    if (worst > UNCHANGED).any():
        c = int(np.argmax(worst))
        raise BadSetting(
            f'covariance="{form}" cannot represent the covariance of class {labels[c]!r}: it '
            f"would change it by {worst[c]:.2g} of a variance",
            hint='use covariance="per-class" without pool and shrink',
        )
