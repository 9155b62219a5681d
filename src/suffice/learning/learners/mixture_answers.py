"""What classes that are mixtures answer about rows, and how they learn more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import NotFinite
from suffice.learning.answers import LearnedDensity, checked_size, comparison
from suffice.learning.frames import back_to_frame
from suffice.learning.label_types import (
    check_label_kinds,
    class_array,
    joined_dtype,
    label_kind,
    stored_dtype,
)
from suffice.learning.randomness import random_generator
from suffice.learning.results import Explanation
from suffice.models.gaussian.learner import checked_log_priors, warn_of
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.possible.normal_rows import PossibleNormals
from suffice.rows import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.models.mixture.classes import FittedClasses
    from suffice.models.mixture.laws import MixtureLaws
    from suffice.models.mixture.streams.class_streams import ClassSettings, ClassStreams
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, Label

DRAWS = 9_999
"""Draws that typicality compares a row with: p-values down to 1e-4, to a hundredth at one half."""
SEED = 20_260
"""Of these draws: the same rows have the same p-values every time."""


@dataclass(frozen=True, eq=False)
class KeptMixtures:
    """What is kept of the rows: classes as mixtures, and what was found on the way.

    `shares` are those of the classes among the rows: p(y), unless other priors are given.
    """

    labels: tuple[Label, ...]
    laws: MixtureLaws
    weights: FloatArray
    forms: tuple[str, ...]
    log_likelihood: float
    parameters: int
    converged: bool
    steps: int
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(cls, labels: tuple[Label, ...], weights: FloatArray, fit: FittedClasses) -> Self:
        """Keep what a fit has found."""
        return cls(
            labels, fit.laws, weights, fit.forms, fit.log_likelihood, fit.parameters,
            fit.converged, fit.steps, fit.notes,
        )  # fmt: skip

    def model(self, priors: Mapping[Label, float] | None) -> GenerativeModel:
        """Return what answers under given priors, or under the shares of the rows."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights / self.weights.sum())
        if priors is not None:
            logs = checked_log_priors(priors, self.labels)
        laws: Any = self.laws
        return GenerativeModel(self.labels, logs, laws, self.weights)


@dataclass(frozen=True, eq=False)
class MixturesFit:
    """What answers, beside what it was made of."""

    model: GenerativeModel
    kept: KeptMixtures


@dataclass(frozen=True, eq=False)
class StreamedMixtures:
    """What is kept of a stream, of which each row goes by once: running sums, by class.

    `asked` is how classes are fitted whose rows still wait.
    """

    streams: ClassStreams
    asked: ClassSettings

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes, in order."""
        return self.streams.labels

    @property
    def weights(self) -> FloatArray:
        """The weight of each class."""
        return self.streams.weights

    @cached_property
    def kept(self) -> KeptMixtures:
        """The mixtures of all classes at this moment."""
        return KeptMixtures.of(self.labels, self.weights, self.streams.fitted(self.asked))


@dataclass(frozen=True, eq=False)
class LearnedMixtures(LearnedDensity[Any, MixturesFit]):
    """What was learned of classes that are mixtures."""

    @property
    def kept(self) -> KeptMixtures:
        """The mixtures of all classes."""
        return self.fit.kept

    def rows(self, X: object) -> FloatArray:
        """Return rows coded as at fit."""
        table = self.as_learned(read_table(X))
        return np.asarray(self.columns.encode(table, self.learner.name), dtype=np.float64)

    @property
    def streams(self) -> ClassStreams:
        """What a stream has come to; after a fit to all rows at once, where it goes on from."""
        held = self.statistics
        if isinstance(held, StreamedMixtures):
            return held.streams
        from suffice.models.mixture.streams.class_streams import ClassStreams

        return ClassStreams.of_laws(
            held.labels, held.laws, held.forms, held.weights, held.log_likelihood,
            converged=held.converged,
        )  # fmt: skip

    def more(self, batch: LabelledBatch) -> Self:
        """Return what is known when more rows have gone by, once."""
        check_label_kinds(self.kind, label_kind(batch.classes))
        learner: Any = self.learner
        statistics = learner.streamed(self.streams, batch)
        dtype = joined_dtype(self.dtype, batch.classes.dtype)
        dtype = class_array(statistics.labels, dtype).dtype
        return replace(self, statistics=statistics, dtype=dtype)

    def given_back(self, rows: FloatArray) -> Any:
        """Return rows as the user gave them."""
        return back_to_frame(self.columns, rows, self.frame, self.dated)

    def sample(
        self,
        n: int = 1,
        y: Label | None = None,
        random_state: object = None,
        within: object = "auto",
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows and their labels; of one class if `y` names it."""
        size, shown, rng = (
            checked_size(n),
            self.shown_within(within),
            random_generator(random_state),
        )
        rows, codes = self.model.sample(size, rng, y)
        if shown is not None:
            laws: MixtureLaws = self.kept.laws
            drawn = laws.drawn_components(codes, rng)
            rows = laws.components.sample(drawn, rng)
            rows = PossibleNormals.of(laws.components, self.columns, shown).rows(rows, drawn)
        return self.given_back(rows), self.classes[codes]

    def warn(self) -> None:
        """Tell, after `fit`, what was done about degenerate rows."""
        warn_of(self.kept.notes, self.columns.coded_names, self.labels)

    def typicality(self, X: object, y: object = None) -> FloatArray:
        """Return, per class, how often a draw of the class is no more likely than the row (n, k).

        By 9,999 draws from the fitted mixture: what its parameters may be off is not counted.
        Labels of rows of the fit are refused: these cannot be taken out of the mixture first.
        """
        if y is not None:
            raise self.learner.lacking("typicality of the rows of the fit, each left out")
        laws: MixtureLaws = self.kept.laws

        def answer(rows: FloatArray) -> FloatArray:
            if np.isinf(rows).any():
                raise NotFinite.of_range(())
            return laws.typicality(rows, DRAWS, np.random.default_rng(SEED))

        return self.asked(X, answer)

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> Explanation:
        """Split the log odds of every row by column.

        Of each of the two classes the component that the row is likeliest of is compared, as
        normal classes are; what the other components add is part of the baseline.
        """
        from suffice.models.gaussian.explanation import explain

        model, laws = self.model, self.kept.laws
        pair = comparison(model.labels, of, against)
        owners = laws.owners

        def answer(rows: FloatArray) -> Any:
            scores, joint = laws.component_scores(rows), model.log_joint(rows)
            first, second = pair(model.posterior(rows, log=True))
            nearest = np.stack(
                [
                    np.where(owners == k, scores, -np.inf).argmax(axis=1)
                    for k in range(len(model.labels))
                ],
                axis=1,
            )
            every = np.arange(len(rows))
            inner: Any = GenerativeModel(
                tuple(range(len(owners))), np.zeros(len(owners)), laws.components, np.ones(1)
            )
            found = explain(inner, rows, nearest[every, first], nearest[every, second])
            odds = joint[every, first] - joint[every, second]
            baseline = odds - found.contributions.sum(axis=1)
            return found, first, second, baseline

        found, first, second, baseline = self.asked(X, answer)
        return Explanation(
            self.classes[first],
            self.classes[second],
            baseline,
            found.contributions,
            found.pairs,
            tuple(self.columns.names),
        )

    def with_priors(self, priors: Mapping[Label, float]) -> LearnedMixtures:
        """Return it with other priors; what was learned of each class is untouched."""
        checked_log_priors(priors, self.labels)
        learner: Any = self.learner
        return replace(self, learner=replace(learner, priors=dict(priors)))

    def stored_state(self, *, statistics: bool = True) -> dict[str, Any]:
        """Return what was learned, by name; without statistics, rows that wait are left out."""
        from suffice.models.mixture.record import ClassMixtures

        kept = self.kept
        record = ClassMixtures(
            kept.forms, kept.log_likelihood, kept.parameters, kept.converged, kept.steps
        )
        state = {
            "columns": self.columns,
            "statistics": None,
            "labels": stored_dtype(self.dtype),
            "frame": self.frame,
            "chosen": None,
            "model": self.model,
            "mixtures": record,
        }
        if statistics and isinstance(self.statistics, StreamedMixtures):
            state["streams"] = self.statistics.streams
        return state
