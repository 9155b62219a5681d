"""What was learned from texts: the posterior of a document, and what in it speaks for a class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import NotADensity
from suffice.families.term_events import COMPLEMENT
from suffice.linear_algebra import log_sum_exp, normalized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.families.language_laws import LanguageLaws
    from suffice.families.terms import TermLaws
    from suffice.models.text_calibration import Calibration
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.text.documents import Documents


@dataclass(frozen=True, slots=True, eq=False)
class TextModel:
    """Class priors, and what terms and bytes say about each class.

    `calibration` is None where Bayes' rule is taken at its word.
    """

    labels: tuple[Label, ...]
    log_priors: FloatArray
    weights: FloatArray
    terms: TermLaws | None
    smoothing: float
    language: LanguageLaws | None
    calibration: Calibration | None

    def with_log_priors(self, log_priors: FloatArray) -> Self:
        """Return a model with other priors; what was learned of each class stays."""
        return replace(self, log_priors=log_priors)

    def parts(self, documents: Documents) -> tuple[list[FloatArray], list[FloatArray]]:
        """Return the scores of each event model (n, k), and what they are sums of."""
        scores, lengths = [], []
        if self.terms is not None:
            found, length = self.terms.scores(documents.texts, self.smoothing)
            scores.append(found)
            lengths.append(length)
        if self.language is not None:
            scores.append(self.language.log_density(documents.starts))
            lengths.append(self.language.lengths(documents.starts).astype(np.float64))
        return scores, lengths

    def scores(self, documents: Documents) -> FloatArray:
        """Return what the posterior is proportional to, as logarithms (n, k)."""
        scores, lengths = self.parts(documents)
        if self.calibration is None:
            found: FloatArray = self.log_priors + np.sum(scores, axis=0)
            return found
        return self.calibration.scores(self.log_priors, scores, lengths)

    def posterior(self, documents: Documents, *, log: bool = False) -> FloatArray:
        """Return p(y | document), or its logarithm."""
        found = normalized(self.scores(documents))
        return found if log else np.exp(found)

    def chosen(self, documents: Documents, classes: NDArray[Any]) -> NDArray[Any]:
        """Return the likeliest class of each document (the first, in a tie)."""
        found: NDArray[Any] = classes[self.codes(documents)]
        return found

    def codes(self, documents: Documents) -> IntArray:
        """Return the place of the likeliest class of each document."""
        found: IntArray = self.scores(documents).argmax(axis=1)
        return found

    def log_joint(self, documents: Documents) -> FloatArray:
        """Return log p(document, y), by the law of the bytes or of the terms; never calibrated.

        Of terms it is the probability of the terms that are known, given how many there are, up to
        the multinomial coefficient, which is the same in every class.
        """
        if self.terms is not None and self.language is not None:
            raise NotADensity(
                "terms and bytes are two laws of the same document: together they are no density",
                hint='event="language" has one',
            )
        if self.terms is not None and self.terms.family.event == COMPLEMENT:
            raise NotADensity(
                "complements are scores, and no density", hint='event="multinomial" has one'
            )
        scores, _ = self.parts(documents)
        return self.log_priors + scores[0]

    def log_density(self, documents: Documents) -> FloatArray:
        """Return log p(document)."""
        return log_sum_exp(self.log_joint(documents))

    def sample(self, codes: IntArray, rng: np.random.Generator, most: int) -> list[bytes]:
        """Write a text of each code's class."""
        if self.language is None:
            raise NotADensity(
                "a model of terms knows their numbers, and not the words: it cannot write",
                hint='event="language" or event="both" writes text',
            )
        return self.language.sample(codes, rng, most)
