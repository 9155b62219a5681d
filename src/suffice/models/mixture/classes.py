"""From labelled rows to classes that are mixtures, each by itself or all of one form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import BadSetting, listed
from suffice.models.mixture.coordinates import Coordinates, MixtureRows
from suffice.models.mixture.em import climb
from suffice.models.mixture.factored.factor_forms import form_parameters
from suffice.models.mixture.fitting import ROUGHLY, MixtureSettings, fit_mixture, forms_to_try
from suffice.models.mixture.law import law_of
from suffice.models.mixture.laws import MixtureLaws, joined_laws
from suffice.models.mixture.maximization import ComponentPrior, Maximization
from suffice.models.mixture.starts import FIRST_STEPS, Starts, started
from suffice.models.mixture.sums import Components, Expectation, MixtureSums, PatternSums
from suffice.models.mixture.survey import SUBSAMPLE, RowSurvey
from suffice.models.notes import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.mixture.em import Climb
    from suffice.models.mixture.fitting import MixtureFit
    from suffice.rows import FloatArray, IntArray, Label

MOST_SUBCLASSES = 5
"""Components of a class that are tried where their number is to be chosen: as in MclustDA."""
SAMPLED = 2 * SUBSAMPLE
"""Rows of a class on which starts are found. A choice."""


@dataclass(frozen=True, eq=False)
class FittedClasses:
    """Classes as mixtures, and what was found on the way.

    `forms` and `numbers` are those of each class; `log_likelihood` is Σ log p(x | y) over the
    rows, `parameters` how many free numbers it has, priors not counted.
    """

    laws: MixtureLaws
    forms: tuple[str, ...]
    numbers: tuple[int, ...]
    log_likelihood: float
    parameters: int
    weight: float
    converged: bool
    steps: int
    notes: tuple[Note, ...]

    @property
    def bic(self) -> float:
        """-2 log-likelihood + parameters·log n: less is better."""
        return -2.0 * self.log_likelihood + self.parameters * float(np.log(self.weight))


@dataclass(frozen=True, eq=False)
class RowsByClass:
    """The rows of each class with their weights, and a look at them: what EM goes through."""

    parts: tuple[MixtureRows, ...]
    surveys: tuple[RowSurvey, ...]
    whole: RowSurvey

    @classmethod
    def of(cls, rows: FloatArray, codes: IntArray, size: int, weights: FloatArray | None) -> Any:
        """Part rows by their class; those without a cell say nothing, and are left out."""
        there = ~np.isnan(rows).all(axis=1)
        parts, surveys = [], []
        for c in range(size):
            chosen = np.flatnonzero((codes == c) & there)
            own = None if weights is None else weights[chosen]
            part = MixtureRows(np.ascontiguousarray(rows[chosen]), own)
            parts.append(part)
            surveys.append(RowSurvey.of(part.rows, own, SAMPLED))
        kept = None if weights is None else weights[there]
        whole = RowSurvey.of(rows[there], kept, 1).checked()
        return cls(tuple(parts), tuple(surveys), whole)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return sum(part.size for part in self.parts)


class _OwnComponents:
    """Rows under components of which each belongs to one class: a row is of its own class's."""

    def __init__(self, rows: RowsByClass, numbers: Sequence[int]) -> None:
        self.rows, self.size = rows, rows.size
        stops = np.cumsum(numbers)
        self.places = [slice(stop - n, stop) for stop, n in zip(stops, numbers, strict=True)]

    def collect(self, summarize: Any) -> Any:
        """Return the sums of all rows, those of a class under its own components alone."""
        asked: Components = summarize.components
        total = MixtureSums(0.0, 0.0, {})
        for part, places in zip(self.rows.parts, self.places, strict=True):
            own = Components(asked.shares[places], asked.means[places], asked.covariances[places])
            sums = part.collect(Expectation(own, summarize.coordinates))
            wide = {k: _widened(v, places, asked.size) for k, v in sums.patterns.items()}
            total = total + MixtureSums(sums.likelihood, 0.0, wide)
        return total


def _widened(sums: PatternSums, places: slice, size: int) -> PatternSums:
    """Return the sums of a class's components among those of all."""

    def wide(part: FloatArray) -> FloatArray:
        out = np.zeros((size, *part.shape[1:]))
        out[places] = part
        return out

    return PatternSums(wide(sums.held), wide(sums.firsts), wide(sums.seconds))


def fit_classes(
    rows: RowsByClass,
    labels: Sequence[Label],
    numbers: Sequence[tuple[int, ...]],
    covariance: object,
    settings: MixtureSettings,
    *,
    shared: bool,
) -> FittedClasses:
    """Return every class as the mixture of most likelihood; of several, that of least BIC.

    `numbers` are, for each class, the numbers of components to try. With `shared`, one form
    holds for the components of all classes together; otherwise each class has its own.
    """
    frame = rows.whole.summary()
    for c, survey in enumerate(rows.surveys):
        if not survey.size:
            raise BadSetting(
                f"all rows of class {labels[c]!r} are blank", hint="leave the class out"
            )
        distinct = len(survey.sample.rows)
        if survey.sample.whole and numbers[c][0] > distinct:
            raise BadSetting(
                f"components={numbers[c][0]}, and class {labels[c]!r} has {distinct} different "
                f"row{'s' * (distinct != 1)}, blank ones left out",
                hint="use no more components than a class has different rows",
            )
    with pinned():
        if shared:
            return _together(rows, numbers, covariance, settings, frame)
        return _apart(rows, labels, numbers, covariance, settings, frame)


# Each class by itself


def _apart(
    rows: RowsByClass,
    labels: Sequence[Label],
    numbers: Sequence[tuple[int, ...]],
    covariance: object,
    settings: MixtureSettings,
    frame: ClassSummary,
) -> FittedClasses:
    fits = [
        fit_class(part, survey, one, covariance, settings, frame)
        for part, survey, one in zip(rows.parts, rows.surveys, numbers, strict=True)
    ]
    collapsed = [c for c, fit in enumerate(fits) if fit.penalised and not settings.prior]
    notes = [note for note in fits[0].notes if note.columns]
    if collapsed:
        notes.append(_collapse(listed(repr(labels[c]) for c in collapsed)))
    return joined_classes(fits, tuple(notes))


def fit_class(
    part: MixtureRows,
    survey: RowSurvey,
    numbers: tuple[int, ...],
    covariance: object,
    settings: MixtureSettings,
    frame: ClassSummary,
) -> MixtureFit:
    """Return the mixture of one class, in the units of the rows of all."""
    width = int(frame.active.sum())
    forms = _comparable(forms_to_try(covariance, survey.size, width), frame)
    own = replace(settings, components=numbers, forms=forms)
    return fit_mixture(part, survey, own, frame=frame)


def joined_classes(fits: Sequence[MixtureFit], notes: tuple[Note, ...]) -> FittedClasses:
    """Return classes that are mixtures by themselves as one fit."""
    laws = joined_laws(
        [fit.model.densities for fit in fits],  # type: ignore[misc]
        [np.exp(fit.model.log_priors) for fit in fits],
    )
    return FittedClasses(
        laws,
        tuple(fit.form for fit in fits),
        tuple(int(fit.model.densities.size) for fit in fits),
        float(sum(fit.log_likelihood for fit in fits)),
        sum(fit.parameters for fit in fits),
        float(sum(fit.weight for fit in fits)),
        all(fit.converged for fit in fits),
        max(len(fit.history) for fit in fits),
        notes,
    )


def _comparable(forms: tuple[str, ...], frame: ClassSummary) -> tuple[str, ...]:
    """Return the forms whose densities can be compared between classes.

    Where columns are sums of others, forms with axes of their own leave out what repeats, and
    those without count it twice.
    """
    trifle = Coordinates.of(frame, "EEE", complete=frame.scatter.ndim == 2).trifle
    if not trifle.any():
        return forms
    full = tuple(form for form in forms if not form.endswith("I"))
    return full or forms


def _collapse(classes: str) -> Note:
    return Note(
        f"a component of {classes} collapses on nearly equal rows, so the likelihood has no "
        "maximum",
        "the prior of Fraley and Raftery (2007) is used instead, and the penalised log-likelihood "
        "is maximised",
    )


# One form for the components of all classes


def _together(
    rows: RowsByClass,
    numbers: Sequence[tuple[int, ...]],
    covariance: object,
    settings: MixtureSettings,
    frame: ClassSummary,
) -> FittedClasses:
    forms = forms_to_try(covariance, rows.size, int(frame.active.sum()))
    if covariance == "auto":
        forms = _comparable(forms, frame)
    most = max(len(one) for one in numbers)
    found: list[tuple[float, FittedClasses]] = []
    for i in range(most):
        chosen = [one[min(i, len(one) - 1)] for one in numbers]
        for form in forms:
            alone = most * len(forms) == 1
            fit = _of_form(rows, chosen, form, settings, frame, alone=alone)
            if fit is not None:
                found.append((fit.bic, fit))
    if not found:
        first = [one[0] for one in numbers]
        fit = _of_form(rows, first, forms[0], settings, frame, alone=True)
        assert fit is not None
        return fit
    return min(found, key=lambda pair: pair[0])[1]


def _of_form(
    rows: RowsByClass,
    numbers: Sequence[int],
    form: str,
    settings: MixtureSettings,
    frame: ClassSummary,
    *,
    alone: bool,
) -> FittedClasses | None:
    """Fit one form; where it collapses, under a prior if it is the only one, or else not at all."""
    coordinates = Coordinates.of(frame, form, complete=rows.whole.complete)
    prior = ComponentPrior.of(form, sum(numbers), coordinates)
    own = _OwnComponents(rows, numbers)
    penalised = settings.prior
    asked = Maximization(form, coordinates, prior if penalised else None)
    top = _climbed(own, asked, settings)
    if top is None and alone and not penalised:
        penalised = True
        top = _climbed(own, Maximization(form, coordinates, prior), settings)
    if top is None:
        if alone:
            raise BadSetting(
                f"mixtures of form {form} collapse on these rows even under a prior",
                hint="use fewer components",
            )
        return None
    law = law_of(top.components, coordinates, form)
    mixing = np.zeros((len(numbers), own.places[-1].stop))
    logs = 0.0
    for c, places in enumerate(own.places):
        shares = top.components.shares[places]
        mixing[c, places] = shares / shares.sum()
        logs += rows.parts[c].weight * float(np.log(shares.sum()))
    # Every class has its own priors on its shares: one less free number for each.
    count = form_parameters(form, sum(numbers), coordinates.width) - (len(numbers) - 1)
    densities: Any = law.densities
    notes = (_collapse("a class"),) if penalised and not settings.prior else ()
    return FittedClasses(
        MixtureLaws(densities, mixing),
        (form,) * len(numbers),
        tuple(numbers),
        top.likelihood - logs,
        count,
        float(coordinates.weight),
        top.converged,
        top.steps,
        notes,
    )


def _climbed(
    own: _OwnComponents, maximization: Maximization, settings: MixtureSettings
) -> Climb | None:
    """Return the best maximum from several starts; None where every one collapses."""
    coordinates = maximization.coordinates
    prior = ComponentPrior.of(maximization.form, own.places[-1].stop, coordinates)
    careful = Maximization(maximization.form, coordinates, prior)

    def climbed(way: Maximization, begin: Components, *, steps: int, tolerance: float) -> Climb:
        rows: Any = own
        return climb(rows, coordinates, way, begin, tolerance=tolerance, most_steps=steps)

    firsts = [
        climbed(careful, begin, steps=FIRST_STEPS, tolerance=ROUGHLY)
        for begin in _begins(own, careful, settings.seed)
    ]
    for first in sorted(firsts, key=lambda one: -one.objective):
        if not maximization.is_sound(first.components, coordinates.weight):
            continue
        top = climbed(
            maximization,
            first.components,
            steps=settings.most_steps,
            tolerance=settings.tolerance,
        )
        if top.sound:
            return top
    return None


def _begins(own: _OwnComponents, maximization: Maximization, seed: int) -> list[Components]:
    """Return where EM begins: every class parted by itself, in several ways."""
    parts: list[list[FloatArray]] = []
    samples: list[FloatArray] = []
    weights: list[FloatArray] = []
    for c, places in enumerate(own.places):
        sample = own.rows.surveys[c].sample
        starts = Starts(sample.rows, maximization.coordinates, seed, noisy=False)
        parts.append(starts.partitions(places.stop - places.start))
        rows, held = sample.rows[: starts.size], sample.weights[: starts.size]
        samples.append(rows)
        # A class of which some rows stand for all weighs as much as all of it.
        weights.append(held * (own.rows.parts[c].weight / held.sum()))
    stacked, held = np.concatenate(samples), np.concatenate(weights)
    found = []
    for i in range(max(len(one) for one in parts)):
        shares = np.zeros((len(stacked), own.places[-1].stop))
        start = 0
        for one, places in zip(parts, own.places, strict=True):
            some = one[min(i, len(one) - 1)]
            shares[start : start + len(some), places] = some
            start += len(some)
        found.append(started(shares, stacked, held, maximization, 0.0, 0.0))
    return found
