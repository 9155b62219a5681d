"""A model of texts as a file holds it: its counts, and the few numbers that they have settled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from suffice.families.language import Language
from suffice.models.text_calibration import Calibration
from suffice.models.text_model import TextModel
from suffice.statistics.text_statistics import TextStatistics

if TYPE_CHECKING:
    from suffice.families.terms import Terms
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.statistics.by_class import ByClass
    from suffice.statistics.row_sample import RowSample
    from suffice.text.documents import Documents


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
