"""How texts are learned: read, counted, and calibrated by some that are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.errors import BadRows, BadSetting, NotADensity
from suffice.learning.answers import LearnedDensity, checked_size, comparison, place_of
from suffice.learning.labelled_batch import read_batch
from suffice.learning.learner import Learner, summary_of
from suffice.learning.randomness import random_generator
from suffice.learning.results import TextExplanation
from suffice.learning.unlabelled.record import IGNORE, checked_unlabelled
from suffice.models.text.documents import LISTED, Documents, read_texts
from suffice.models.text.language import Language
from suffice.models.text.learner import TextLearner, TextRecord, text_log_priors
from suffice.models.text.model import explained, left_out_losses
from suffice.models.text.term_events import BOOLEAN, COMPLEMENT, EVENTS
from suffice.models.text.terms import Terms
from suffice.models.text.tokens import Tokens
from suffice.statistics.text_statistics import TextStatistics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.learning.labelled_batch import LabelledBatch
    from suffice.learning.learned import Learned
    from suffice.models.text.model import TextModel
    from suffice.rows import FloatArray, IntArray, Label

    LearnedCounts = Learned[TextStatistics, "TextFit"]


LANGUAGE, BOTH = "language", "both"
DOCUMENTS = "smoothing or calibrated"
"""The settings that decide whether some documents are kept."""

Reading = dict[str, Any]
"""All that statistics depend on, by the name of the setting that decides it."""


def model_learner(estimator: Any) -> TextLearner:
    """Return settings as `suffice.models` has them; what has no meaning is refused."""
    event, known = estimator.event, (*EVENTS, LANGUAGE, BOTH)
    if not isinstance(event, str) or event not in known:
        raise BadSetting(f"event={event!r} is not known", hint=f"use one of {', '.join(known)}")
    for name in ("lower", "calibrated"):
        value = getattr(estimator, name)
        if not isinstance(value, (bool, np.bool_)):
            raise BadSetting(
                f"{name}={value!r} is neither True nor False",
                hint="use True or False; True is usual",
            )
    terms = language = None
    if event != LANGUAGE:
        tokens = Tokens(estimator.ngrams, bool(estimator.lower))
        terms = Terms(BOOLEAN if event == BOTH else event, tokens)
    if event in (LANGUAGE, BOTH):
        language = Language(estimator.order, estimator.limit)
    return TextLearner(terms, language, estimator.smoothing, bool(estimator.calibrated))


def reading_of(learner: TextLearner) -> Reading:
    """Return how documents are read and counted."""
    terms, language = learner.terms, learner.language
    return {
        "event": (terms and terms.counts_once, language is not None),
        "ngrams": terms and terms.tokens.ngrams,
        "lower": terms and terms.tokens.lower,
        "order": language and language.order,
        "limit": language and language.limit,
        DOCUMENTS: learner.keeps_documents,
    }


def check_reading(before: Reading | None, now: Reading) -> None:
    """Refuse settings that would read documents otherwise than those that were learned."""
    for name, value in (before or now).items():
        if now[name] != value:
            raise BadSetting(
                f"{name} was different when the documents were read",
                hint="set it back, or fit again: other statistics are needed for it",
            )


@dataclass(frozen=True, slots=True, eq=False)
class TextFit:
    """What an estimator asks of an estimate; of a model without documents, what its file held."""

    model: TextModel
    record: TextRecord | None = None

    def with_priors(self, priors: Mapping[Label, float] | None) -> TextFit:
        """Return the same with other priors: what was learned does not depend on them."""
        model, record = self.model, self.record
        log_priors = text_log_priors(model.weights, model.labels, priors)
        return TextFit(
            model.with_log_priors(log_priors),
            None if record is None else record.with_log_priors(log_priors),
        )


@dataclass(frozen=True)
class TextClassifierLearner(Learner[TextStatistics, TextFit]):
    """Learns words, bytes, or both; the settings are those of TextClassifier."""

    event: str = BOTH
    ngrams: tuple[int, int] = (1, 2)
    lower: bool = True
    order: int = 5
    limit: int | None = 3000
    smoothing: float | str = "held-out"
    calibrated: bool = True
    priors: Mapping[Label, float] | None = None
    unlabelled: float | str = IGNORE  # type: ignore[misc]

    name: ClassVar[str] = "TextClassifier"
    later_settings: ClassVar[Mapping[str, Any]] = {"unlabelled": IGNORE}
    faint: ClassVar[float] = 1e-2
    """Each share of a document is counted by cutting it into terms and bytes again."""
    without: ClassVar[frozenset[str]] = frozenset(("estimate_priors",))

    @classmethod
    def lacking(cls, words: str) -> NotADensity:
        """Return why a classifier of texts has no such answer."""
        return NotADensity(
            f"a text classifier has no {words}", hint="with_priors sets known priors"
        )

    def check(self) -> None:
        """Refuse settings that have no meaning."""
        self.of_model()
        if checked_unlabelled(self.unlabelled) != IGNORE and self.event == COMPLEMENT:
            raise BadSetting(
                f'unlabelled={self.unlabelled!r} does not apply to event="complement": its '
                "scores are not probabilities, which are needed to count it",
                hint='event="multinomial" learns from documents without a label',
            )

    def of_model(self) -> TextLearner:
        """Return the settings as `suffice.models` has them."""
        return model_learner(self)

    # Rows

    def documents(self, X: object, known: Columns | None) -> tuple[Columns, Documents]:
        """Return the column of texts, and the texts."""
        if isinstance(X, Documents):  # in two views, as mail is
            return known or LISTED, X
        columns, texts = read_texts(X, known)
        found = Documents.of(texts, self.limit if self.event in (LANGUAGE, BOTH) else 0)
        if not found.size:
            raise BadRows(
                "Found array with 0 sample(s) while a minimum of 1 is required.",
                hint="give at least one document; an empty text is one",
            )
        return columns, found

    def read(
        self, X: object, y: object, weights: object = None, known: LearnedCounts | None = None
    ) -> LabelledBatch:
        """Read labelled texts."""
        columns: list[Columns] = []

        def read(rows: object) -> Documents:
            found, documents = self.documents(rows, None if known is None else known.columns)
            columns.append(found)
            return documents

        blanks = self.blanks(known)
        return read_batch(X, y, weights, lambda rows: (columns[0], rows), read, blanks)

    # Statistics

    def summarize(self, batch: LabelledBatch) -> TextStatistics:
        """Return counts, and a sample of the documents where that is kept."""
        learner = self.of_model()
        check_reading(self.chosen, reading_of(learner))
        found: TextStatistics = summary_of(learner, batch)
        return found

    def keeping(self, *learned: Any) -> LearnedTexts:
        """Return counts, with how their documents were read, as what was learned."""
        return LearnedTexts(self.deciding(reading_of(self.of_model())), *learned)

    def merged(self, left: LearnedCounts, right: LearnedCounts) -> tuple[object, TextStatistics]:
        """Return the column, and the sum."""
        columns = left.columns
        if right.columns.named:
            columns = columns.widened(right.columns)[0] if columns.named else right.columns
        return columns, left.statistics + right.statistics

    def forgetting(self, learned: LearnedCounts) -> Callable[[TextStatistics], TextStatistics]:
        """Return the function that takes statistics away."""
        learner = self.of_model()
        return lambda gone: learner.forget(learned.statistics, gone)

    def estimate(self, learned: LearnedCounts) -> TextFit:
        """Return the model, smoothed and calibrated."""
        learner = self.of_model()
        now = reading_of(learner)
        if self.chosen[DOCUMENTS]:  # more than is needed is enough
            now[DOCUMENTS] = True
        check_reading(self.chosen, now)
        return TextFit(learner.estimate(learned.statistics, self.priors))

    def stored_choice(self) -> None:
        """Store nothing: how documents are read follows from the settings."""
        return

    def restored_choice(self, stored: object) -> Reading:  # noqa: ARG002
        """Return how documents are read."""
        return reading_of(self.of_model())

    def restored(self, state: Mapping[str, Any]) -> Learned[TextStatistics, TextFit]:
        """Return what a file holds, if it is of these settings."""
        record, sample, asked = state["model"], state["statistics"], self.of_model()
        if (record.terms, record.language) != (asked.terms, asked.language):
            raise ValueError("the model does not match its settings")
        if (record.factors is not None) != asked.calibrated:
            raise ValueError("the model is not calibrated according to its settings")
        counts = sample and record.statistics(sample)
        found = super().restored({**state, "statistics": counts})
        return found.knowing(TextFit(record.model, record if sample is None else None))


@dataclass(frozen=True, eq=False)
class LearnedTexts(LearnedDensity[TextStatistics, TextFit]):
    """Counts of words and bytes: predictions, samples, explanations."""

    learner: TextClassifierLearner

    def under(self, learner: Learner[TextStatistics, TextFit]) -> Self:
        """Return it under other settings; other priors alone need no new estimate."""
        found = super().under(learner)
        same = replace(found.learner, priors=self.learner.priors) == self.learner
        if same and self.is_estimated:
            return found.knowing(self.fit.with_priors(found.learner.priors))
        return found

    def with_priors(self, priors: Mapping[Label, float]) -> Self:
        """Return it with other priors; what was learned of each class is untouched."""
        self.fit  # noqa: B018  so that it is there to be copied
        return super().with_priors(priors)

    def left_out_losses(self, rows: Documents, codes: IntArray, weights: FloatArray) -> FloatArray:
        """Return -log p(y | document) of documents that were learned, each taken out."""
        return left_out_losses(self.fit.model, rows, codes, weights)

    def rows(self, X: object) -> Documents:
        """Return texts."""
        return self.learner.documents(X, self.columns)[1]

    def sample(
        self,
        n: int = 1,
        y: Label | None = None,
        random_state: object = None,
        *,
        most: int = 10_000,
    ) -> tuple[list[str], NDArray[Any]]:
        """Write texts, and return their labels; of one class if `y` names it."""
        size, rng, model = checked_size(n), random_generator(random_state), self.model
        if y is None:
            priors = np.exp(model.log_priors)
            codes = rng.choice(len(priors), size=size, p=priors / priors.sum())
        else:
            codes = np.full(size, place_of(y, model.labels))
        texts = model.sample(codes.astype(np.intp), rng, most)
        return [text.decode("utf-8", "replace") for text in texts], self.classes[codes]

    def explain(
        self, X: object, of: Label | None = None, against: Label | None = None
    ) -> TextExplanation:
        """Split the log odds between two classes by the words of each document."""
        model = self.model
        compared = comparison(model.labels, of, against)
        documents = self.rows(X)
        first, second = compared(model.scores(documents))
        found = [
            explained(model, documents, i, int(first[i]), int(second[i]))
            for i in range(documents.size)
        ]
        return TextExplanation(
            self.classes[first],
            self.classes[second],
            np.array([baseline for baseline, _ in found]),
            tuple(tuple(parts) for _, parts in found),
        )

    # On disk

    def stored_state(self, *, statistics: bool = True) -> dict[str, object]:
        """Return counts and what was settled; without statistics, no document is among them."""
        found = super().stored_state(statistics=False)
        fit = self.fit
        if fit.record is not None:  # the documents were left out before
            return found | {"model": fit.record}
        sample = self.statistics.sample if statistics else None
        return found | {"statistics": sample, "model": TextRecord.of(fit.model, self.statistics)}
