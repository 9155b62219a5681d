"""Classes that are mixtures, learned from a stream: each class fades by its own rows alone.

Each class is a stream of its own (`MixtureStream`), in a frame that all have in common: a class of
which no row comes for a while loses nothing. Where one form holds for the components of all classes
together, the M-step is taken for all of them, each class weighing what its rows do.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import BadRows
from suffice.models.mixture.classes import (
    SAMPLED,
    FittedClasses,
    RowsByClass,
    fit_class,
    fit_classes,
    joined_classes,
)
from suffice.models.mixture.coordinates import MixtureRows, telling
from suffice.models.mixture.factored.factor_forms import form_parameters, is_one
from suffice.models.mixture.law import law_of
from suffice.models.mixture.maximization import ComponentPrior, Maximization
from suffice.models.mixture.record import MixtureRecord
from suffice.models.mixture.stepwise import (
    START_ROWS,
    MixtureStream,
    start_rows,
    step_rows,
    thin_rows,
)
from suffice.models.mixture.streams.frame import StreamFrame, fit_of_class
from suffice.models.mixture.survey import RowSurvey
from suffice.statistics.labels import ordered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.mixture.fitting import MixtureFit, MixtureSettings
    from suffice.models.mixture.laws import MixtureLaws
    from suffice.rows import FloatArray, IntArray, Label

    Numbers = Callable[[Sequence[Label], Sequence[int]], list[tuple[int, ...]]]

LEAST_ROWS = 2.0
"""Rows that a component is worth at least where its mean alone is estimated anew: all components
have the same covariance."""


@dataclass(frozen=True, eq=False)
class ClassSettings:
    """How classes are fitted: `numbers` says, by class and rows, which numbers are to be tried."""

    numbers: Numbers
    covariance: object
    mixture: MixtureSettings
    shared: bool

    def most(self, labels: Sequence[Label]) -> list[int]:
        """Return how many components each class may have."""
        return [one[-1] for one in self.numbers(labels, [START_ROWS] * len(labels))]


@dataclass(frozen=True, eq=False)
class ClassStream:
    """One class: its running sums and rows that wait, and, once it has begun, its mixture."""

    rows: MixtureStream
    model: GenerativeModel | None = None
    record: MixtureRecord | None = None

    @property
    def is_begun(self) -> bool:
        """Whether steps are made; until then all rows wait."""
        return self.rows.is_begun

    @property
    def fit(self) -> MixtureFit:
        """The mixture."""
        assert self.record is not None
        assert self.model is not None
        return self.record.fit(self.model)

    @classmethod
    def of(cls, rows: MixtureStream, fit: MixtureFit) -> Self:
        """Put sums and mixture together."""
        return cls(rows, fit.model, MixtureRecord.of(fit))

    @property
    def size(self) -> int:
        """How many rows wait."""
        return len(self.rows.weights)

    def survey(self, many: int) -> tuple[MixtureRows, RowSurvey]:
        """Return the first rows that wait, and a look at them."""
        part = MixtureRows(self.rows.rows[:many], self.rows.weights[:many])
        return part, RowSurvey.of(part.rows, part.weights, SAMPLED)


@dataclass(frozen=True, eq=False)
class ClassStreams:
    """What a stream of labelled rows has come to, by class; `weights` are those of all its rows."""

    labels: tuple[Label, ...]
    classes: tuple[ClassStream, ...]
    weights: FloatArray
    frame: StreamFrame | None = field(default=None)

    @classmethod
    def empty(cls) -> Self:
        """Return a stream of which nothing has come yet."""
        return cls((), (), np.empty(0))

    @classmethod
    def of_laws(
        cls,
        labels: tuple[Label, ...],
        laws: MixtureLaws,
        forms: Sequence[str],
        weights: FloatArray,
        log_likelihood: float,
        *,
        converged: bool,
    ) -> Self:
        """Return a stream that goes on where a fit to all rows at once has ended."""
        frame = StreamFrame.of_laws(laws, weights)
        level = log_likelihood / float(weights.sum())
        classes = []
        for c, (form, weight) in enumerate(zip(forms, weights.tolist(), strict=True)):
            fit = fit_of_class(laws, c, form, frame, weight, level * weight, converged=converged)
            rows = MixtureStream.empty(len(frame.origin))
            classes.append(ClassStream.of(rows.begun(fit, frame.coordinates(form, weight)), fit))
        return cls(labels, tuple(classes), weights, frame)

    # More rows

    def after(
        self,
        labels: Sequence[Label],
        rows: FloatArray,
        codes: IntArray,
        weights: FloatArray | None,
        asked: ClassSettings,
    ) -> Self:
        """Return the stream when more rows have gone by, row i of labels[codes[i]]."""
        kept = telling(rows, weights)
        held = np.ones(len(rows)) if weights is None else weights
        rows, codes, held = rows[kept], codes[kept], held[kept]
        found = self._knowing(labels, rows.shape[1])
        places = {label: c for c, label in enumerate(found.labels)}
        codes = np.array([places[label] for label in labels], dtype=np.intp)[codes]
        start = 0
        with pinned():
            if found.frame is None:
                wanted = found._rows_to_begin(codes, asked)
                start = min(len(rows), wanted)
                found = found._holding(rows[:start], codes[:start], held[:start])
                if start == wanted:
                    found = found._framed(asked)
            if found.frame is not None:
                found.frame.refuse_far(rows[start:])
            many = [one.size for one in found.classes]
            found = found._holding(rows[start:], codes[start:], held[start:])
            for c, label in enumerate(found.labels):
                if not found.weights[c] > 0.0:
                    raise BadRows(
                        f"all rows of class {label!r} are blank", hint="leave the class out"
                    )
            return found if found.frame is None else found._stepped(codes[start:], many, asked)

    def _knowing(self, labels: Sequence[Label], width: int) -> Self:
        """Return it with classes that have just come, in the order of all."""
        if set(labels) <= set(self.labels):
            return self
        known = dict(zip(self.labels, zip(self.classes, self.weights, strict=True), strict=True))
        every = ordered({*self.labels, *labels})
        nothing = ClassStream(MixtureStream.empty(width)), 0.0
        pairs = [known.get(label, nothing) for label in every]
        weights = np.array([weight for _, weight in pairs], dtype=np.float64)
        return replace(self, labels=every, classes=tuple(one for one, _ in pairs), weights=weights)

    def _holding(self, rows: FloatArray, codes: IntArray, weights: FloatArray) -> Self:
        """Return it with more rows that wait."""
        classes = list(self.classes)
        for c in np.unique(codes):
            own = codes == c
            held = classes[c]
            classes[c] = replace(held, rows=held.rows.after(rows[own], weights[own]))
        added = np.bincount(codes, weights=weights, minlength=len(classes))
        return replace(self, classes=tuple(classes), weights=self.weights + added)

    def _rows_to_begin(self, codes: IntArray, asked: ClassSettings) -> int:
        """Return after how many more rows there are enough to begin, as these come in."""
        held = sum(one.size for one in self.classes)
        known = [label for label, one in zip(self.labels, self.classes, strict=True) if one.size]
        if not asked.shared:
            return max(0, START_ROWS - held)
        width = self.classes[0].rows.waiting.shape[1]
        found, first = np.unique(codes, return_index=True)
        coming = sorted(
            (int(at), self.labels[c])
            for at, c in zip(first, found, strict=True)
            if self.labels[c] not in known
        )
        while True:
            wanted = start_rows(sum(asked.most(known)), width) if known else 1
            if not coming or coming[0][0] >= wanted - held:
                return max(0, wanted - held)
            known.append(coming.pop(0)[1])

    def _framed(self, asked: ClassSettings) -> Self:
        """Return it in a frame, once there are enough rows for one and a column varies."""
        parts = [one.rows for one in self.classes if one.size]
        rows = np.vstack([part.rows for part in parts])
        weights = np.concatenate([part.weights for part in parts])
        summary = RowSurvey.of(rows, weights, 1).summary()
        if not summary.active.any():
            return self
        if not asked.shared:
            return replace(self, frame=StreamFrame.of_summary(summary))
        here = [c for c, one in enumerate(self.classes) if one.size]
        met = replace(
            self,
            labels=tuple(self.labels[c] for c in here),
            classes=tuple(self.classes[c] for c in here),
            weights=self.weights[here],
        )
        fit = met._at_once(asked)
        begun = self.of_laws(
            met.labels, fit.laws, fit.forms, met.weights, fit.log_likelihood,
            converged=fit.converged,
        )  # fmt: skip
        return begun._knowing(self.labels, rows.shape[1])

    def _stepped(self, codes: IntArray, before: Sequence[int], asked: ClassSettings) -> Self:
        """Make the steps for which there are rows, in the order in which these came in."""
        classes, gone = list(self.classes), [0] * len(self.classes)
        arrivals = [np.flatnonzero(codes == c) for c in range(len(classes))]

        def due(c: int) -> int | None:
            """Return which row completes the next step of a class; None if none does."""
            wanted = self._wanted(c, classes[c], asked)
            if classes[c].size < wanted:
                return None
            place = gone[c] + wanted - 1 - (before[c] if c < len(before) else 0)
            return -1 if place < 0 else int(arrivals[c][place])

        while True:
            next_ = [(at, c) for c in range(len(classes)) if (at := due(c)) is not None]
            if not next_:
                return replace(self, classes=tuple(classes))
            c = min(next_)[1]
            many = self._wanted(c, classes[c], asked)
            self._step(classes, c, many, asked)
            gone[c] += many

    def _wanted(self, c: int, one: ClassStream, asked: ClassSettings) -> int:
        """Return how many rows a class needs to begin, or for its next step."""
        width = one.rows.waiting.shape[1]
        if one.model is not None and one.is_begun:
            return step_rows(one.model.densities.size, width)
        return start_rows(asked.most(self.labels)[c], width)

    def _step(self, classes: list[ClassStream], c: int, many: int, asked: ClassSettings) -> None:
        one, frame = classes[c], self.frame
        assert frame is not None
        if not one.is_begun:
            classes[c] = self._begun(c, one, many, asked)
            if asked.shared:
                _tie(classes, frame, asked)
            return
        fit = one.fit
        if not asked.shared:
            rows, fit = one.rows.stepped(fit, many, prior=asked.mixture.prior)
            classes[c] = ClassStream.of(rows, fit)
            return
        rows, _, _ = one.rows.averaged(fit, many)
        classes[c] = ClassStream.of(rows, rows.weighing(fit))
        _tie(classes, frame, asked)

    def _begun(self, c: int, one: ClassStream, many: int, asked: ClassSettings) -> ClassStream:
        """Return a class that begins with the mixture of its first rows."""
        assert self.frame is not None
        fit = self._fit_of_class(c, one, many, asked)
        fit = replace(fit, trials=(), history=fit.history[-1:])
        coordinates = self.frame.coordinates(fit.form, fit.weight)
        return ClassStream.of(one.rows.without(many).begun(fit, coordinates), fit)

    def _waiting(self, c: int, one: ClassStream, asked: ClassSettings) -> ClassStream:
        """Return a class as if it began with what waits; made once for each of its rows."""
        key = (asked.covariance, asked.mixture, asked.most(self.labels)[c])
        known = one.__dict__.get("(begun)")
        if known is None or known[0] != key:
            known = one.__dict__["(begun)"] = key, self._begun(c, one, one.size, asked)
        found: ClassStream = known[1]
        return found

    def _fit_of_class(
        self, c: int, one: ClassStream, many: int, asked: ClassSettings
    ) -> MixtureFit:
        assert self.frame is not None
        part, survey = one.survey(many)
        distinct = len(survey.sample.rows)
        numbers = _fewer(asked.numbers(self.labels, [distinct] * len(self.labels))[c], distinct)
        covariance = asked.covariance
        if asked.shared:  # the form of all others, which is chosen
            covariance = next(other.fit.form for other in self.classes if other.is_begun)
        summary = self.frame.summary()
        return fit_class(part, survey, numbers, covariance, asked.mixture, summary)

    # What answers

    def fitted(self, asked: ClassSettings) -> FittedClasses:
        """Return the mixtures of all classes; those of few rows are fitted to what waits."""
        if self.frame is None:
            return self._at_once(asked)
        with pinned():
            classes = [
                one if one.is_begun else self._waiting(c, one, asked)
                for c, one in enumerate(self.classes)
            ]
            if asked.shared and not all(one.is_begun for one in self.classes):
                _tie(classes, self.frame, asked)
        fits = [one.fit for one in classes]
        found = joined_classes(fits, ())
        if asked.shared:
            k, width = sum(found.numbers), int(self.frame.active.sum())
            count = form_parameters(found.forms[0], k, width) - (len(fits) - 1)
            found = replace(found, parameters=count)
        return found

    def _at_once(self, asked: ClassSettings) -> FittedClasses:
        """Fit all rows at once: those of a stream that has not begun."""
        parts = [one.rows for one in self.classes]
        rows = np.vstack([part.rows for part in parts])
        codes = np.repeat(np.arange(len(parts)), [len(part.weights) for part in parts])
        weights = np.concatenate([part.weights for part in parts])
        by_class = RowsByClass.of(rows, codes, len(parts), weights)
        distinct = [len(one.sample.rows) for one in by_class.surveys]
        numbers = asked.numbers(self.labels, distinct)
        some = [_fewer(one, many) for one, many in zip(numbers, distinct, strict=True)]
        return fit_classes(
            by_class, self.labels, some, asked.covariance, asked.mixture, shared=asked.shared
        )


def _fewer(numbers: tuple[int, ...], rows: int) -> tuple[int, ...]:
    """Return numbers that so many different rows allow: of a class that has just come, fewer."""
    return tuple(n for n in numbers if n <= rows) or (max(1, min(numbers[0], rows)),)


def _tie(classes: list[ClassStream], frame: StreamFrame, asked: ClassSettings) -> None:
    """Take the M-step of one form for the components of all classes that have begun."""
    begun = [c for c, one in enumerate(classes) if one.is_begun]
    parts = [classes[c].rows for c in begun]
    form = classes[begun[0]].fit.form
    alike = is_one(form)
    worth = sum(part.worth for part in parts)
    coordinates = frame.coordinates(form, worth)
    least = LEAST_ROWS if alike else thin_rows(coordinates.width)
    if not all(part.holds(least) for part in parts):
        return
    seen = np.array([part.seen for part in parts])
    parted = list(zip(parts, (seen / seen.sum()).tolist(), strict=True))
    shares = np.concatenate([part.held * share for part, share in parted])
    spread = np.concatenate([part.spread * (share * worth) for part, share in parted])
    means = np.concatenate([part.means for part in parts])
    prior = ComponentPrior.of(form, len(shares), coordinates) if asked.mixture.prior else None
    maximization = Maximization(form, coordinates, prior)
    image = maximization.of_moments(shares * worth, means, spread, shares)
    if not maximization.is_sound(image, worth):
        return
    start = 0
    for c, part in zip(begun, parts, strict=True):
        held = part.held
        assert held is not None
        own = np.arange(start, start + len(held))
        start += len(own)
        inner = replace(image.in_order(own), shares=held / held.sum())
        model = law_of(inner, replace(coordinates, weight=part.seen), form)
        classes[c] = ClassStream.of(part, replace(classes[c].fit, model=model))
