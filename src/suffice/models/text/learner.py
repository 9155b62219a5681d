"""From texts to statistics, and from these to a model whose probabilities can be believed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadSetting, ForgettingUnseen
from suffice.models.text.calibration import Calibration
from suffice.models.text.left_out_documents import LeftOutDocuments
from suffice.models.text.model import TextModel
from suffice.rows.row_hashes import joined_hashes, label_hashes
from suffice.statistics.algebra import exceeds
from suffice.statistics.by_class import ByClass
from suffice.statistics.row_sample import MOST, RowSample, SampledRow
from suffice.statistics.text_statistics import TextStatistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.models.text.documents import Documents
    from suffice.models.text.language import Language
    from suffice.models.text.terms import TermLaws, Terms
    from suffice.rows import FloatArray, IntArray, Label


HELD_OUT = "held-out"
GRID = tuple(float(10.0 ** (power / 2.0)) for power in range(-8, 3))
"""The smoothings that are tried: from 1e-4 to 10, two in each power of ten."""
HALVES = re.compile("[\ud800-\udfff]")
"""Halves of surrogate pairs: no encoding can write them."""
DECADES = 2.0
"""What is known of α beforehand: it is 1, give or take two powers of ten."""


@dataclass(frozen=True, slots=True)
class TextLearner:
    """One or two event models of texts, how terms are smoothed, and whether to calibrate.

    >>> from suffice.models.text.documents import Documents
    >>> from suffice.models.text.terms import Terms
    >>> learner = TextLearner(Terms("boolean"), None)
    >>> documents = Documents.of(["cheap pills", "cheap watches", "see you", "you there?"])
    >>> statistics = learner.summarize(documents, np.array([1, 1, 0, 0]), ("ham", "spam"))
    >>> model = learner.estimate(statistics + statistics)
    >>> model.labels, model.posterior(Documents.of(["cheap", ""])).argmax(axis=1)
    (('ham', 'spam'), array([1, 0]))
    """

    terms: Terms | None
    language: Language | None
    smoothing: float | str = HELD_OUT
    calibrated: bool = True

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.terms is None and self.language is None:
            raise BadSetting("there is no event model", hint="give terms, a language, or both")
        if self.terms is not None and self.language is not None and not self.calibrated:
            raise BadSetting(
                "two event models of the same text have to be calibrated",
                hint='set calibrated=True, or choose one of them by event="boolean" or "language"',
            )
        if isinstance(self.smoothing, Real) and not isinstance(self.smoothing, bool):
            known = 0.0 < float(self.smoothing) <= 1e100
        else:
            known = isinstance(self.smoothing, str) and self.smoothing == HELD_OUT
        if not known:
            raise BadSetting(
                f"smoothing={self.smoothing!r} is not valid",
                hint='use a positive number (1 is Laplace\'s rule), or "held-out"',
            )

    @property
    def keeps_documents(self) -> bool:
        """Whether some documents are kept, to judge what was learned from the others."""
        return self.calibrated or (self.terms is not None and self.smoothing == HELD_OUT)

    def summarize(
        self,
        documents: Documents,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None = None,
    ) -> TextStatistics:
        """Return the counts of documents, class by class, and a sample of them."""
        return TextStatistics(
            _by_class(self.terms, documents.texts, codes, labels, weights),
            _by_class(self.language, documents.starts, codes, labels, weights),
            self._sample(documents, codes, labels, weights),
        )

    def _sample(
        self,
        documents: Documents,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None,
    ) -> RowSample:
        if not self.keeps_documents or not documents.size:
            return RowSample({})
        hashes = joined_hashes([documents.hashes(), label_hashes(labels)[codes]])
        different = np.unique(hashes)
        some = np.arange(documents.size)
        if len(different) > MOST:
            some = np.flatnonzero(hashes <= different[MOST])
        rows: dict[int, SampledRow] = {}
        for i in some.tolist():
            weight = 1.0 if weights is None else float(weights[i])
            if weight == 0.0:
                continue
            held = rows.get(int(hashes[i]))
            if held is not None:
                rows[int(hashes[i])] = held._replace(weight=held.weight + weight)
                continue
            cells = (
                readable(documents.texts[i]) if self.terms is not None else "",
                documents.starts[i].decode("latin-1") if self.language is not None else "",
            )
            rows[int(hashes[i])] = SampledRow(cells, labels[codes[i]], weight)
        return RowSample(rows).cut()

    def forget(self, held: TextStatistics, gone: TextStatistics) -> TextStatistics:
        """Return held - gone, if documents can have such counts."""
        left = held - gone
        if left.terms is None or self.terms is None or not self.terms.counts_once:
            return left
        for label in gone.labels:
            group = left.terms.groups.get(label)
            if group is not None and exceeds(group.counts, group.weight):
                raise ForgettingUnseen(
                    f"forgetting would leave class {label!r} with a term in more documents than "
                    "it has",
                    hint="only rows that were learned before can be removed",
                )
        return left

    def estimate(
        self, statistics: TextStatistics, priors: Mapping[Label, float] | None = None
    ) -> TextModel:
        """Return the model; smoothing and calibration by documents that are left out one by one."""
        labels, weights = statistics.labels, statistics.weights
        log_priors = text_log_priors(weights, labels, priors)
        terms = language = None
        if self.terms is not None and statistics.terms is not None:
            terms = self.terms.estimate([statistics.terms.groups[label] for label in labels])
        if self.language is not None and statistics.ngrams is not None:
            language = self.language.estimate([statistics.ngrams.groups[label] for label in labels])
        held = LeftOutDocuments.of(
            statistics.sample, labels, text_log_priors(weights, labels, None)
        )
        smoothing = 1.0 if self.smoothing == HELD_OUT else float(self.smoothing)
        scores: list[FloatArray] = []
        lengths: list[FloatArray] = []
        if terms is not None and held is not None:
            if language is not None and held.are_long:
                held = held.telling(terms)
            smoothing, found = self._smoothed(terms, held)
            scores.append(found[0])
            lengths.append(found[1])
        calibration = None
        if self.calibrated and held is not None:
            if language is not None:
                scores.append(language.left_out(held.documents.starts, held.codes, held.weights))
                lengths.append(language.lengths(held.documents.starts).astype(np.float64))
            calibration, _ = held.fitted(scores, lengths)
        elif self.calibrated:
            many = (terms is not None) + (language is not None)
            calibration = Calibration.usual(many, len(labels))
        return TextModel(labels, log_priors, weights, terms, smoothing, language, calibration)

    def _smoothed(
        self, terms: TermLaws, held: LeftOutDocuments
    ) -> tuple[float, tuple[FloatArray, FloatArray]]:
        """Return α of the least log-loss of held-out documents, with their scores and lengths."""
        left_out = terms.left_out(held.documents.texts, held.codes, held.weights)
        lengths = left_out.lengths()
        if self.smoothing != HELD_OUT:
            return float(self.smoothing), (left_out.at(float(self.smoothing)), lengths)
        best: tuple[float, float, FloatArray] | None = None
        for alpha in GRID:
            scores = left_out.at(alpha)
            loss = held.fitted([scores], [lengths])[1] if self.calibrated else held.loss(scores)
            # Of a few documents all may be right at every α: then Laplace's is as good as any.
            loss += 0.5 * (np.log10(alpha) / DECADES) ** 2 / held.counted.sum()
            if best is None or loss < best[0]:
                best = loss, alpha, scores
        assert best is not None
        return best[1], (best[2], lengths)


def _by_class(
    family: Any,
    documents: Sequence[object],
    codes: IntArray,
    labels: Sequence[Label],
    weights: FloatArray | None,
) -> ByClass[Any] | None:
    if family is None:
        return None
    groups = family.summarize(documents, codes, len(labels), weights)
    return ByClass({label: g for label, g in zip(labels, groups, strict=True) if g.weight > 0.0})


def text_log_priors(
    weights: FloatArray, labels: Sequence[Label], priors: Mapping[Label, float] | None
) -> FloatArray:
    """Return the logarithms of the priors that are given, or of the class frequencies."""
    if priors is not None:
        from suffice.models.gaussian.learner import log_priors_of  # heavy, and rarely needed

        return log_priors_of(priors, tuple(labels))
    found: FloatArray = np.log(weights / weights.sum())
    return found


def readable(text: str | bytes) -> str:
    """Return a text of the same terms as a string that JSON can hold.

    Bytes are UTF-8, or latin-1 where they are not. Half a surrogate pair is part of no word, and
    two halves would come back as one letter.
    """
    if isinstance(text, str):
        return HALVES.sub("\ufffd", text)
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


@dataclass(frozen=True, eq=False)
class TextRecord:
    """Counts are what a model of texts is made of, so that they are kept once.

    The model follows from them and from what was settled when they were estimated: priors, α, and
    the calibration. So it answers bit for bit as before, and no document is needed for that.
    """

    labels: tuple[Label, ...]
    log_priors: FloatArray
    weights: FloatArray
    smoothing: float
    factors: FloatArray | None
    shifts: FloatArray | None
    terms: Terms | None
    term_counts: ByClass[Any] | None
    language: Language | None
    ngram_counts: ByClass[Any] | None

    @classmethod
    def of(cls, model: TextModel, statistics: TextStatistics) -> Self:
        """Return what is to be kept of a model, and of the statistics it was estimated from."""
        from suffice.models.text.language import Language

        calibration = model.calibration
        language = model.language
        return cls(
            model.labels,
            model.log_priors,
            model.weights,
            model.smoothing,
            None if calibration is None else calibration.factors,
            None if calibration is None else calibration.shifts,
            None if model.terms is None else model.terms.family,
            statistics.terms,
            None if language is None else Language(language.order, language.limit),
            statistics.ngrams,
        )

    @cached_property
    def model(self) -> TextModel:
        """The model itself, made when it is asked for."""
        calibration = terms = language = None
        if self.factors is not None and self.shifts is not None:
            calibration = Calibration(self.factors, self.shifts)
        if self.terms is not None:
            terms = self.terms.estimate(self._groups(self.term_counts))
        if self.language is not None:
            language = self.language.estimate(self._groups(self.ngram_counts))
        return TextModel(
            self.labels, self.log_priors, self.weights, terms, self.smoothing, language, calibration
        )

    def with_log_priors(self, log_priors: FloatArray) -> Self:
        """Return the record of a model with other priors."""
        return replace(self, log_priors=log_priors)

    def _groups(self, counts: ByClass[Any] | None) -> list[Any]:
        assert counts is not None
        return [counts.groups[label] for label in self.labels]

    @property
    def limit(self) -> int | None:
        """How many bytes of a document are looked at; None is all."""
        return 0 if self.language is None else self.language.limit

    def statistics(self, sample: RowSample) -> TextStatistics:
        """Return what was learned, with the documents that were kept."""
        return TextStatistics(self.term_counts, self.ngram_counts, sample)

    def posterior(self, documents: Documents, *, log: bool = False) -> FloatArray:
        """Return p(y | document), or its logarithm."""
        return self.model.posterior(documents, log=log)

    def codes(self, documents: Documents) -> IntArray:
        """Return the place of the likeliest class of each document."""
        return self.model.codes(documents)
