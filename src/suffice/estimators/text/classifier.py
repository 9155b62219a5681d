"""The classifier of texts: words, bytes, or both, with probabilities that can be believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.errors import BadRows, BadSetting
from suffice.estimators.shared.answers import Predictions, checked_size, comparison, place_of
from suffice.estimators.shared.labelled_batch import LabelledBatch, read_batch
from suffice.estimators.shared.learned import kept, unchanged
from suffice.estimators.shared.learning import Learning
from suffice.estimators.shared.randomness import random_generator
from suffice.estimators.text.explanation import TextExplanation
from suffice.models.text.documents import LISTED, Documents, read_texts
from suffice.models.text.language import Language
from suffice.models.text.learner import TextLearner, TextRecord, text_log_priors
from suffice.models.text.model import explained
from suffice.models.text.term_events import BOOLEAN, EVENTS
from suffice.models.text.terms import Terms
from suffice.models.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from suffice.columns import Columns
    from suffice.estimators.shared.state import State
    from suffice.models.text.model import TextModel
    from suffice.rows import Label


LANGUAGE, BOTH = "language", "both"
DOCUMENTS = "smoothing or calibrated"
"""The settings that decide whether some documents are kept."""

Reading = dict[str, Any]
"""All that statistics depend on, by the name of the setting that decides it."""


def learner_of(estimator: Any) -> TextLearner:
    """Return the settings of an estimator as a learner; what has no meaning is refused."""
    event, known = estimator.event, (*EVENTS, LANGUAGE, BOTH)
    if not isinstance(event, str) or event not in known:
        raise BadSetting(f"event={event!r} is not known", hint=f"use one of {', '.join(known)}")
    for name in ("lower", "calibrated"):
        value = getattr(estimator, name)
        if not isinstance(value, (bool, np.bool_)):
            raise BadSetting(f"{name}={value!r} is neither True nor False", hint="True is usual")
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
                f"{name} was set otherwise when the documents were read",
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


class TextClassifier(Learning, Predictions, ClassifierMixin, BaseEstimator):
    """Naive Bayes of words, a language model of bytes, or both: learned in one pass, taken back.

    | setting    | default    | meaning                                                          |
    |------------|------------|------------------------------------------------------------------|
    | event      | "both"     | "boolean", "multinomial", "bernoulli" or "complement" terms,     |
    |            |            | "language": bytes one after the other, "both": boolean and bytes |
    | ngrams     | (1, 2)     | words of a term, least and most                                  |
    | lower      | True       | whether terms are in lower case                                  |
    | order      | 5          | of the language model: a byte depends on the order - 1 before it |
    | limit      | 3000       | bytes of a text that the language model looks at; None: all      |
    | smoothing  | "held-out" | α > 0 of the terms; "held-out" chooses it                        |
    | calibrated | True       | whether probabilities are those of documents never seen          |
    | priors     | None       | {label: probability}; None is the class frequencies              |

    Documents are str or bytes. Nothing but counts is kept, and a sample of 2,048 documents where
    something is held out: by it smoothing and calibration are chosen, leaving each document out of
    the counts in turn. So models merge, learn more and forget exactly.

    >>> texts = ["buy cheap pills now", "cheap watches!!!", "lunch at one?", "see you at lunch"]
    >>> model = TextClassifier().fit(texts, ["spam", "spam", "ham", "ham"])
    >>> print(*model.predict(["cheap lunch pills", "at one"]))
    spam ham
    """

    def __init__(
        self,
        event: str = BOTH,
        *,
        ngrams: tuple[int, int] = (1, 2),
        lower: bool = True,
        order: int = 5,
        limit: int | None = 3000,
        smoothing: float | str = "held-out",
        calibrated: bool = True,
        priors: Mapping[Label, float] | None = None,
    ) -> None:
        self.event = event
        self.ngrams = ngrams
        self.lower = lower
        self.order = order
        self.limit = limit
        self.smoothing = smoothing
        self.calibrated = calibrated
        self.priors = priors

    # Learning

    def _check_settings(self) -> None:
        learner_of(self)

    def _learner(self, chosen: Reading | None) -> TextLearner:
        found = learner_of(self)
        check_reading(chosen, reading_of(found))
        return found

    def _state_of(self, batch: LabelledBatch, chosen: Reading | None, learner: Any = None) -> State:
        now = reading_of(self._learner(chosen))
        return super()._state_of(batch, now, learner)

    def _documents(self, X: Any, known: State | None) -> tuple[Columns, Documents]:
        columns = None if known is None else known.columns
        if isinstance(X, Documents):  # in two views, as mail is
            return columns or LISTED, X
        columns, texts = read_texts(X, columns)
        found = Documents.of(texts, self.limit if self.event in (LANGUAGE, BOTH) else 0)
        if not found.size:
            raise BadRows(
                "Found array with 0 sample(s) while a minimum of 1 is required.",
                hint="give at least one document; an empty text is one",
            )
        return columns, found

    def _read(
        self, X: object, y: object, sample_weight: object, known: State | None
    ) -> LabelledBatch:
        columns: list[Columns] = []

        def read(rows: Any) -> Documents:
            found, documents = self._documents(rows, known)
            columns.append(found)
            return documents

        return read_batch(X, y, sample_weight, lambda rows: (columns[0], rows), read)

    def _needs_choice(self) -> bool:
        return False

    def _choose(self, batch: LabelledBatch) -> None:  # noqa: ARG002
        return None

    def _merged(self, left: State, right: State) -> tuple[Any, Any]:
        columns = left.columns
        if right.columns.named:
            columns = columns.widened(right.columns)[0] if columns.named else right.columns
        return columns, left.statistics + right.statistics

    def _forgetting(self, state: State) -> Callable[[Any], Any]:
        return lambda gone: state.statistics - gone

    def _warn(self, fit: Any) -> None:
        """Say nothing: no text is degenerate."""

    def _settings_key(self) -> tuple[Any, ...]:
        return (self.event, self.ngrams, self.lower, self.order, self.limit, self.smoothing,
                self.calibrated, self.priors)  # fmt: skip

    def _estimate(self, state: State) -> TextFit:
        found, settings = state.cache.get("fit"), kept(self._settings_key())
        if found is not None and unchanged(found[0][:-1], settings[:-1]):
            return found[1].with_priors(self.priors)  # type: ignore[no-any-return]
        learner = learner_of(self)
        now = reading_of(learner)
        if state.chosen[DOCUMENTS]:  # more than is needed is enough
            now[DOCUMENTS] = True
        check_reading(state.chosen, now)
        return TextFit(learner.estimate(state.statistics, self.priors))

    def with_priors(self, priors: Mapping[Label, float]) -> Self:
        """Return a copy with other priors; what was learned of each class is untouched."""
        whole = self._whole()
        whole._fit  # noqa: B018  so that it is there to be copied
        changed = super(TextClassifier, whole).with_priors(priors)
        changed._require().cache["fit"] = whole._require().cache["fit"]
        return changed

    # On disk

    def _stored_state(self, statistics: bool) -> dict[str, Any]:
        """Return counts and what was settled; without statistics, no document is among them."""
        found = super()._stored_state(statistics=False)
        fit, held = self._fit, self._require().statistics
        if fit.record is not None:  # the documents were left out before
            return found | {"model": fit.record}
        sample = held.sample if statistics else None
        return found | {"statistics": sample, "model": TextRecord.of(fit.model, held)}

    def _restore(self, state: dict[str, Any]) -> None:
        record, sample = state["model"], state["statistics"]
        learner = self._learner(None)
        if (record.terms, record.language) != (learner.terms, learner.language):
            raise ValueError("the model is not that of its settings")
        if (record.factors is not None) != learner.calibrated:
            raise ValueError("the model is not calibrated as its settings say")
        super()._restore(state | {"statistics": sample and record.statistics(sample)})
        fit = TextFit(record.model, record if sample is None else None)
        restored = self._require()
        restored.cache["fit"] = (kept(self._settings_key()), fit)

    def _stored_choice(self, chosen: Any) -> None:  # noqa: ARG002
        """Store nothing: how documents are read follows from the settings."""
        return

    def _restored_choice(self, stored: Any) -> Reading:  # noqa: ARG002
        return reading_of(learner_of(self))

    # Answers

    def _rows(self, X: object) -> Documents:
        return self._documents(X, self._require())[1]

    def sample(
        self,
        n: int = 1,
        y: Label | None = None,
        random_state: object = None,
        *,
        most: int = 10_000,
    ) -> tuple[list[str], NDArray[Any]]:
        """Write texts, and return their labels; of one class if `y` names it.

        The language model writes byte after byte until the text ends, or has `most` bytes.
        """
        whole = self._whole()
        size, rng, model = checked_size(n), random_generator(random_state), whole._fit.model
        if y is None:
            priors = np.exp(model.log_priors)
            codes = rng.choice(len(priors), size=size, p=priors / priors.sum())
        else:
            codes = np.full(size, place_of(y, model.labels))
        texts = model.sample(codes.astype(np.intp), rng, most)
        return [text.decode("utf-8", "replace") for text in texts], whole.classes_[codes]

    def explain(
        self, X: object, *, of: Label | None = None, against: Label | None = None
    ) -> TextExplanation:
        """Split the log odds between two classes by the words of each document.

        By default the likeliest class is compared with the runner-up.

        >>> texts = ["buy cheap pills", "cheap watches", "lunch at one?", "see you at lunch"]
        >>> model = TextClassifier("boolean").fit(texts, ["spam", "spam", "ham", "ham"])
        >>> model.explain(["cheap lunch, cheap!"], of="spam").reasons()[0][0][0]
        'cheap'
        """
        whole = self._whole()
        model = whole._fit.model
        compared = comparison(model.labels, of, against)
        documents = whole._rows(X)
        first, second = compared(model.scores(documents))
        found = [
            explained(model, documents, i, int(first[i]), int(second[i]))
            for i in range(documents.size)
        ]
        return TextExplanation(
            whole.classes_[first],
            whole.classes_[second],
            np.array([baseline for baseline, _ in found]),
            tuple(tuple(parts) for _, parts in found),
        )

    @property
    def smoothing_(self) -> float:
        """α in use: given, or chosen by documents left out."""
        found: float = self._fit.model.smoothing
        return found

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that rows are texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags
