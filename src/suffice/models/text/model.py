"""What was learned from texts: the posterior of a document, and what in it speaks for a class."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from suffice.errors import NotADensity
from suffice.kernels.tokens.term_hash import term_hash
from suffice.linear_algebra import log_average, normalized
from suffice.models.text.term_events import COMPLEMENT, TermScores
from suffice.models.text.terms import KnownTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.text.calibration import Calibration
    from suffice.models.text.documents import Documents
    from suffice.models.text.language import LanguageLaws
    from suffice.models.text.terms import TermLaws
    from suffice.rows import FloatArray, IntArray, Label


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

    def chosen(self, documents: Documents, classes: NDArray[np.generic]) -> NDArray[Any]:
        """Return the likeliest class of each document (the first, in a tie)."""
        found: NDArray[np.generic] = classes[self.codes(documents)]
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
        return self._log_densities(documents) + self.log_priors

    def log_density(self, documents: Documents) -> FloatArray:
        """Return log p(document)."""
        return log_average(self._log_densities(documents), self.log_priors)

    def _log_densities(self, documents: Documents) -> FloatArray:
        """Return log p(document | y), one column a class; refused where there is no density."""
        if self.terms is not None and self.language is not None:
            raise NotADensity(
                "terms and bytes describe the same document twice: together they have no density",
                hint='use event="language", which has one',
            )
        if self.terms is not None and self.terms.family.event == COMPLEMENT:
            raise NotADensity(
                "complement naive Bayes has scores, but no density",
                hint='use event="multinomial", which has one',
            )
        return self.parts(documents)[0][0]

    def sample(self, codes: IntArray, rng: np.random.Generator, most: int) -> list[bytes]:
        """Write a text of each code's class."""
        if self.language is None:
            raise NotADensity(
                "a model of terms knows how often words appear, not their order: it cannot write "
                "text",
                hint='use event="language" or event="both"',
            )
        return self.language.sample(codes, rng, most)


PIECES = re.compile(rb"\s*\S+\s*|\s+")
"""What the bytes of a text are added up by: words, with the blanks around them."""

MARKS = ".,;:()[]{}<>\"'"
"""What stands at a word and is none of it."""


class Part(NamedTuple):
    """A piece of a document, and what it adds to the log odds. `kind` is "term" or "bytes"."""

    kind: str
    piece: str
    log_odds: float

    @property
    def word(self) -> str:
        """The piece by which what terms and bytes say is added up."""
        return self.piece.lower().strip(MARKS) or self.piece


def explained(
    model: TextModel, documents: Documents, place: int, of: int, against: int
) -> tuple[float, list[Part]]:
    """Return the baseline and the parts of one document: they add up to its log odds."""
    one = documents.taken(np.array([place]))
    baseline = float(model.log_priors[of] - model.log_priors[against])
    scores, lengths = model.parts(one)
    factors = np.ones(len(scores))
    if model.calibration is not None:
        said = sum(float(n[0]) for n in lengths) > 0.0
        if said:
            baseline += float(model.calibration.shifts[of] - model.calibration.shifts[against])
        roots = np.sqrt([max(float(n[0]), 1.0) for n in lengths])
        factors = model.calibration.factors / roots
    parts: list[Part] = []
    if model.terms is not None:
        silent, found = terms_said(model.terms, model.smoothing, one.texts[0], of, against)
        baseline += float(factors[0]) * silent
        parts += [part._replace(log_odds=part.log_odds * float(factors[0])) for part in found]
    if model.language is not None:
        added = model.language.explain(one.starts[0], of, against) * float(factors[-1])
        parts += bytes_said(one.starts[0], added)
    return baseline, parts


def terms_said(
    laws: TermLaws, smoothing: float, text: str | bytes, of: int, against: int
) -> tuple[float, list[Part]]:
    """Return what a document without terms says, and what each term adds to that."""
    hashed = laws.family.hashed([text])
    known = laws.index.known(hashed)
    # Each known term as a document of its own, and one more that has none.
    size = len(known.places)
    alone = KnownTerms(np.arange(size), known.places, known.amounts, size + 1)
    scores = TermScores(laws.family.event, laws.index, alone, laws.index.hits(alone))
    odds = scores.at(smoothing)
    odds = odds[:, of] - odds[:, against]
    added = dict(zip(laws.index.keys[known.places].tolist(), odds[:-1] - odds[-1], strict=True))
    words = dict.fromkeys(laws.family.tokens.tokens_of(text))  # each once, as they come
    pairs = ((word, added.get(term_hash(word))) for word in words)
    found = [Part("term", word, float(value)) for word, value in pairs if value is not None]
    return float(odds[-1]), found


def bytes_said(start: bytes, added: FloatArray) -> list[Part]:
    """Add up what bytes say by the words that they spell; the end of the text is one more."""
    looked_at = start[: len(added)]
    parts = [
        Part(
            "bytes",
            found.group().decode("utf-8", "replace").strip() or "␣",
            float(added[found.start() : found.end()].sum()),
        )
        for found in PIECES.finditer(looked_at)
    ]
    if len(added) > len(looked_at):
        parts.append(Part("bytes", "(the end)", float(added[len(looked_at) :].sum())))
    return parts


def bytes_by_word(
    laws: LanguageLaws, start: bytes, of: int, against: int
) -> tuple[dict[str, float], int]:
    """Return what the bytes of each word add to the log odds, and how many symbols there are."""
    added = laws.explain(start, of, against)
    found: dict[str, float] = {}
    for part in bytes_said(start, added):
        found[part.piece] = found.get(part.piece, 0.0) + part.log_odds
    return found, len(added)


def left_out_losses(
    model: TextModel, documents: Documents, codes: IntArray, weights: FloatArray
) -> FloatArray:
    """Return -log p(y | document) of documents that were learned, each as if it had not been.

    Priors, smoothing and calibration are those of the whole. NaN where a document was all its class
    had.
    """
    scores, lengths = [], []
    if model.terms is not None:
        found = model.terms.left_out(documents.texts, codes, weights)
        scores.append(found.at(model.smoothing))
        lengths.append(found.lengths())
    if model.language is not None:
        scores.append(model.language.left_out(documents.starts, codes, weights))
        lengths.append(model.language.lengths(documents.starts).astype(np.float64))
    joint = model.log_priors + np.sum(scores, axis=0)
    if model.calibration is not None:
        joint = model.calibration.scores(model.log_priors, scores, lengths)
    losses: FloatArray = -normalized(joint)[np.arange(len(codes)), codes]
    losses[model.weights[codes] - weights <= 1e-12 * model.weights[codes]] = np.nan
    return losses
