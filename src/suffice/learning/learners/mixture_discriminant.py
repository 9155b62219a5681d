"""How classes that are mixtures are learned, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.columns import Columns
from suffice.errors import BadRows, BadSetting, NotADensity, NotANumber, NotFinite, listed
from suffice.learning.answers import LearnedDensity, checked_size, comparison
from suffice.learning.collect import MOST_CELLS, rows_that_fit, spooled
from suffice.learning.frames import back_to_frame
from suffice.learning.label_types import class_array, label_kind, restored_dtype, stored_dtype
from suffice.learning.labelled_batch import naming_cells, read_batch
from suffice.learning.learner import Learner
from suffice.learning.randomness import random_generator
from suffice.learning.results import Explanation
from suffice.models.gaussian.learner import checked_log_priors, warn_of
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.mixture.classes import MOST_SUBCLASSES, RowsByClass, fit_classes
from suffice.models.mixture.fitting import MixtureSettings, forms_to_try
from suffice.models.possible.normal_rows import PossibleNormals
from suffice.rows import CATEGORY, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.models.mixture.laws import MixtureLaws
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, Label, Table
    from suffice.sources import Source, Wanted

LEFT_OUT = "left-out"
CRITERIA = ("bic", LEFT_OUT)
"""By what numbers of components are chosen: BIC, or the loss of rows that are left out by folds."""
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


@dataclass(frozen=True)
class MixtureDiscriminantLearner(Learner[KeptMixtures, MixturesFit]):
    """Learns a mixture for each class; the settings are those of MixtureDiscriminant.

    Which rows belong to which component is not known: there are no sums that suffice, so that
    it does not merge or forget.
    """

    components: Any = "auto"
    covariance: Any = "auto"
    shared: bool = False
    priors: Mapping[Label, float] | None = None
    prior: bool = False
    tol: float = 1e-8
    max_iter: int = 1000
    random_state: Any = 0
    criterion: str = "bic"

    name: ClassVar[str] = "MixtureDiscriminant"
    later_settings: ClassVar[Mapping[str, object]] = {"criterion": "bic"}
    adds_up: ClassVar[bool] = False
    without: ClassVar[frozenset[str]] = frozenset(
        ("estimate_priors", "forget", "gone_with", "partial_fit", "statistics_", "vouch")
    )

    @classmethod
    def lacking(cls, words: str) -> NotADensity:
        """Return why classes that are mixtures have no such answer."""
        return NotADensity(
            f"{cls.name} has no {words}: the component of each row is estimated from all rows "
            "together, so there are no sums that rows could be added to or removed from",
            hint="fit again on all rows; GaussianDiscriminant is built from sums",
        )

    # Settings

    def check(self) -> None:
        """Refuse settings that have no meaning, before any row is read."""
        forms_to_try(self.covariance, 1 << 40, 2)
        if isinstance(self.components, Mapping):
            for label, number in self.components.items():
                _whole(f"components[{label!r}]", number, 1)
        elif self.components != "auto":
            _whole("components", self.components, 1)
        for name in ("shared", "prior"):
            if getattr(self, name) not in (True, False):
                raise BadSetting(
                    f"{name}={getattr(self, name)!r:.50} is neither True nor False",
                    hint=f"{name}=True",
                )
        if self.criterion not in CRITERIA:
            raise BadSetting(
                f"criterion={self.criterion!r:.50} is not known",
                hint='choose "bic" or "left-out"',
            )
        real = isinstance(self.tol, Real) and not isinstance(self.tol, bool)
        if not real or not 0.0 <= float(self.tol) < np.inf:
            raise BadSetting(
                f"tol={self.tol!r:.50} is not a tolerance", hint="use a number such as 1e-8"
            )
        _whole("max_iter", self.max_iter, 1)
        _whole("random_state", self.random_state, 0)

    def numbers(self, labels: Sequence[Label], sizes: Sequence[int]) -> list[tuple[int, ...]]:
        """Return, for each class, the numbers of components to try."""
        asked: Any = self.components
        if isinstance(asked, Mapping):
            unknown = [label for label in asked if label not in labels]
            if unknown:
                raise BadSetting(
                    f"components name {listed(map(repr, unknown))}, which is not a class",
                    hint=f"the classes are {listed(map(repr, labels))}; a class that is not named "
                    "has one component",
                )
            return [(int(asked.get(label, 1)),) for label in labels]
        if asked == "auto":
            return [tuple(range(1, min(MOST_SUBCLASSES, max(size, 1)) + 1)) for size in sizes]
        return [(int(asked),)] * len(labels)

    # Learning

    def read(
        self,
        X: object,
        y: object,
        weights: object = None,
        known: Learned[KeptMixtures, MixturesFit] | None = None,
    ) -> LabelledBatch:
        """Read labelled rows of numbers."""
        return read_batch(X, y, weights, partial(self._coded, known))

    def _coded(self, known: Any, table: Table) -> tuple[Columns, object]:
        columns = Columns.infer(table) if known is None else known.columns
        other = [one.name for one in columns.columns if one.kind == CATEGORY]
        if other:
            raise NotANumber(
                f"categorical columns cannot be normally distributed: {listed(other)}",
                hint="leave them out; NaiveBayes and GaussianDiscriminant take them",
            )
        return columns, np.asarray(columns.encode(table, self.name), dtype=np.float64)

    def searched(self, source: Source, wanted: Wanted) -> Learned[KeptMixtures, MixturesFit]:
        """Learn from rows that are somewhere else: all of them at once."""
        source = spooled(source, wanted) if source.once else source
        few = rows_that_fit(source, wanted)
        if few is None:
            raise BadRows(
                f"{self.name} needs all rows at once, and {source.name} has more than "
                f"{MOST_CELLS:,} cells, or is not read here",
                hint="give a part of the rows; GaussianDiscriminant reads any number of them",
            )
        return self.first(self.read(few.table, few.labels, few.weights))

    def summarize(self, batch: LabelledBatch) -> KeptMixtures:
        """Return the mixture of every class."""
        if np.isinf(batch.rows).any():
            raise naming_cells(NotFinite.of_range(()), batch.rows, batch.columns, batch.places)
        labels = tuple(batch.labels)
        rows = RowsByClass.of(batch.rows, batch.codes, len(labels), batch.weights)
        settings = MixtureSettings(
            (1,), (), None, bool(self.prior), "bic", float(self.tol), int(self.max_iter),
            int(self.random_state),
        )  # fmt: skip
        numbers = self.numbers(labels, [len(one.sample.rows) for one in rows.surveys])
        if self.criterion == LEFT_OUT and max(len(one) for one in numbers) > 1:
            from suffice.models.mixture.numbers.left_out import left_out_numbers

            numbers = left_out_numbers(
                batch.rows, batch.codes, batch.weights, labels, numbers, self.covariance, settings,
                shared=bool(self.shared),
                log_priors=None if self.priors is None else checked_log_priors(self.priors, labels),
            )  # fmt: skip
        found = fit_classes(
            rows, labels, numbers, self.covariance, settings, shared=bool(self.shared)
        )
        return KeptMixtures(
            labels,
            found.laws,
            np.array([part.weight for part in rows.parts]),
            found.forms,
            found.log_likelihood,
            found.parameters,
            found.converged,
            found.steps,
            found.notes,
        )

    def estimate(self, learned: Learned[KeptMixtures, MixturesFit]) -> MixturesFit:
        """Return what answers under the priors."""
        kept = learned.statistics
        return MixturesFit(kept.model(self.priors), kept)

    def keeping(self, *learned: Any) -> LearnedMixtures:
        """Return what was found, with what else there is to know, as what was learned."""
        return LearnedMixtures(self, *learned)

    # On disk

    def restored(self, state: Mapping[str, Any]) -> Learned[KeptMixtures, MixturesFit]:
        """Return what a file holds, of these settings."""
        model, record = state["model"], state["mixtures"]
        kept = KeptMixtures(
            model.labels, model.densities, model.weights, record.forms, record.log_likelihood,
            record.parameters, record.converged, record.steps,
        )  # fmt: skip
        classes = class_array(tuple(model.labels), restored_dtype(state["labels"]))
        return self.keeping(
            state["columns"], kept, classes.dtype, label_kind(classes), state["frame"]
        )


@dataclass(frozen=True, eq=False)
class LearnedMixtures(LearnedDensity[KeptMixtures, MixturesFit]):
    """What was learned of classes that are mixtures."""

    def rows(self, X: object) -> FloatArray:
        """Return rows coded as at fit."""
        table = self.as_learned(read_table(X))
        return np.asarray(self.columns.encode(table, self.learner.name), dtype=np.float64)

    def more(self, batch: LabelledBatch) -> Self:  # noqa: ARG002
        """Refuse more rows: EM goes through all of them at every step."""
        raise self.learner.lacking("partial_fit")

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
            laws: MixtureLaws = self.statistics.laws
            drawn = laws.drawn_components(codes, rng)
            rows = laws.components.sample(drawn, rng)
            rows = PossibleNormals.of(laws.components, self.columns, shown).rows(rows, drawn)
        return self.given_back(rows), self.classes[codes]

    def warn(self) -> None:
        """Tell, after `fit`, what was done about degenerate rows."""
        warn_of(self.statistics.notes, self.columns.coded_names, self.labels)

    def typicality(self, X: object, y: object = None) -> FloatArray:
        """Return, per class, how often a draw of the class is no more likely than the row (n, k).

        By 9,999 draws from the fitted mixture: what its parameters may be off is not counted.
        Labels of rows of the fit are refused: these cannot be taken out of the mixture first.
        """
        if y is not None:
            raise self.learner.lacking("typicality of the rows of the fit, each left out")
        laws: MixtureLaws = self.statistics.laws

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

        model, laws = self.model, self.statistics.laws
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

    def stored_state(self, *, statistics: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return what was learned, by name."""
        from suffice.models.mixture.record import ClassMixtures

        kept = self.statistics
        record = ClassMixtures(
            kept.forms, kept.log_likelihood, kept.parameters, kept.converged, kept.steps
        )
        return {
            "columns": self.columns,
            "statistics": None,
            "labels": stored_dtype(self.dtype),
            "frame": self.frame,
            "chosen": None,
            "model": self.model,
            "mixtures": record,
        }


def _whole(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number of at least so many."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        auto = ' or "auto"' if name == "components" else ""
        raise BadSetting(
            f"{name}={value!r:.50} is not a whole number of at least {least}",
            hint=f"use a number, such as {max(least, 3)}{auto}",
        )
