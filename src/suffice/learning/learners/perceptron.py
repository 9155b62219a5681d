"""How a perceptron learns: rows that are gone through until none is on the wrong side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.errors import BadSetting, NotADensity, OneClass, StatisticsMissing, warn
from suffice.learning.label_types import check_label_kinds, class_array, joined_dtype, label_kind
from suffice.learning.labelled_batch import naming
from suffice.learning.learners.linear import LearnedLine, LinearLearner
from suffice.learning.randomness import check_seed, random_generator
from suffice.models.linear.online.perceptron import OnlinePerceptron, PerceptronFit, fit_perceptron
from suffice.models.linear.online.rule import shuffled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.models.linear.form import LinearForm
    from suffice.rows import Label


@dataclass(frozen=True, eq=False)
class KeptPerceptron:
    """What a perceptron keeps of its rows.

    model    what scores rows
    found    how it came to that, and what it goes on from; None in a file without statistics
    """

    model: LinearForm
    found: PerceptronFit | None

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes, in order."""
        return self.model.labels


@dataclass(frozen=True)
class PerceptronLearner(LinearLearner[KeptPerceptron]):
    """Learns a boundary that moves where it is wrong; the settings are those of Perceptron."""

    epochs: int = 100
    average: bool = True
    shuffle: bool = True
    random_state: Any = None

    name: ClassVar[str] = "Perceptron"
    without: ClassVar[frozenset[str]] = LinearLearner.without | {
        "posterior", "predict_proba", "predict_log_proba",
    }  # fmt: skip

    @classmethod
    def lacking(cls, words: str) -> NotADensity:
        """Return why a perceptron has no such answer."""
        if not words.startswith("predict"):
            return super().lacking(words)
        return NotADensity(
            f"a perceptron has no {words}: its scores are not log odds",
            hint="LogisticRegression has the same boundary with probabilities; here there are "
            "predict and decision_function",
        )

    def check(self) -> None:
        """Refuse settings that have no meaning, before any row is read."""
        whole = isinstance(self.epochs, Integral) and not isinstance(self.epochs, bool)
        if not whole or self.epochs < 1:
            raise BadSetting(
                f"epochs={self.epochs!r:.50} is not a whole number of at least 1",
                hint="use a whole number such as 100, the default; training ends earlier once "
                "all rows are right",
            )
        for name in ("average", "shuffle"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise BadSetting(f"{name}={value!r:.50} is not known", hint="use True or False")

    def read(
        self,
        X: object,
        y: object,
        weights: object = None,
        known: Learned[KeptPerceptron, KeptPerceptron] | None = None,
    ) -> LabelledBatch:
        """Read labelled rows; a seed that is none is refused before."""
        check_seed(self.random_state)
        return super().read(X, y, weights, known)

    def summarize(self, batch: LabelledBatch) -> KeptPerceptron:
        """Return what is found when rows are gone through again and again."""
        rng = random_generator(self.random_state)
        found: PerceptronFit = naming(
            batch,
            lambda: fit_perceptron(
                batch.rows,
                batch.codes,
                batch.labels,
                batch.weights,
                epochs=int(self.epochs),
                average=bool(self.average),
                rng=rng if self.shuffle else None,
            ),
        )
        return KeptPerceptron(found.form, found)

    def learned(self, batch: LabelledBatch) -> LearnedPerceptron:
        """Return what is learned from one batch by itself."""
        return self._keeping(self.summarize(batch), batch)

    def begun(self, batch: LabelledBatch) -> LearnedPerceptron:
        """Return what is learned when the first rows of a stream are gone through once."""
        start = OnlinePerceptron.start(batch.rows.shape[1])
        return self._keeping(self.once_more(start, 0, batch), batch)

    def once_more(self, online: OnlinePerceptron, epochs: int, batch: LabelledBatch) -> Any:
        """Return what is found when rows are gone through once."""
        order, rng = None, random_generator(self.random_state)
        if self.shuffle:
            order = next(shuffled(batch.rows, batch.codes, batch.labels, rng))
        online = naming(
            batch,
            lambda: online.learn(batch.rows, batch.codes, batch.labels, batch.weights, order),
        )
        form = online.form(bool(self.average))
        return KeptPerceptron(
            form, PerceptronFit(form, online.updates, epochs + 1, None, None, online)
        )

    def keeping(self, *learned: Any) -> LearnedPerceptron:
        """Return what was found, with what else there is to know, as what was learned."""
        return LearnedPerceptron(self, *learned)

    def _keeping(self, kept: KeptPerceptron, batch: LabelledBatch) -> LearnedPerceptron:
        kind, dtype = label_kind(batch.classes), batch.classes.dtype
        return self.keeping(
            _design(kept, batch), kept, class_array(kept.labels, dtype).dtype, kind, batch.frame
        )

    # On disk

    def kept_from(self, state: Mapping[str, Any]) -> KeptPerceptron:
        """Return what a file holds of what was found."""
        return KeptPerceptron(state["model"], state["found"])


@dataclass(frozen=True, eq=False)
class LearnedPerceptron(LearnedLine[KeptPerceptron]):
    """What a perceptron has learned."""

    if TYPE_CHECKING:
        learner: PerceptronLearner

    @property
    def outcome(self) -> PerceptronFit:
        """How it came to its form."""
        found = self.statistics.found
        if found is None:
            raise StatisticsMissing(
                "this perceptron was saved without its statistics: it can only predict",
                hint="save it with them: save(path), or suffice fit without --without-statistics",
            )
        return found

    def more(self, batch: LabelledBatch) -> Self:
        """Return what is learned when more rows are gone through, once."""
        check_label_kinds(self.kind, label_kind(batch.classes))
        online = self.outcome.online
        if batch.columns is not self.columns:
            places = self.design.places_in(batch.columns)
            online = online.embedded(places, batch.rows.shape[1])
        kept = self.learner.once_more(online, self.outcome.epochs, batch)
        dtype = class_array(kept.labels, joined_dtype(self.dtype, batch.classes.dtype)).dtype
        return replace(self, columns=_design(kept, batch), statistics=kept, dtype=dtype)

    def warn_of_one_class(self) -> None:
        """Tell that there is only one class."""
        if len(self.labels) == 1:
            warn(
                f"there is only one class, {self.labels[0]!r}: every row is predicted as this "
                f"class",
                OneClass,
            )

    def stored_state(self, *, statistics: bool = True) -> dict[str, object]:
        """Return what was learned, by name; without statistics, what is needed to answer."""
        state = super().stored_state(statistics=statistics)
        return {**state, "found": self.statistics.found if statistics else None}


def _design(kept: KeptPerceptron, batch: LabelledBatch) -> object:
    """Return how columns are coded: a level never seen is read as the mean of its columns."""
    return replace(batch.columns, usual=kept.model.origin)
