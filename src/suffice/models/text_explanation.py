"""Why this class: the log odds of a document as a sum over its terms and its bytes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.families.term_events import TermScores
from suffice.families.term_index import KnownTerms
from suffice.kernels.tokens.term_hash import term_hash

if TYPE_CHECKING:
    from suffice.models.text_model import TextModel
    from suffice.rows import FloatArray
    from suffice.text.documents import Documents

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
        silent, found = _terms(model, one.texts[0], of, against)
        baseline += float(factors[0]) * silent
        parts += [part._replace(log_odds=part.log_odds * float(factors[0])) for part in found]
    if model.language is not None:
        added = model.language.explain(one.starts[0], of, against) * float(factors[-1])
        parts += _pieces(one.starts[0], added)
    return baseline, parts


def _terms(model: TextModel, text: str | bytes, of: int, against: int) -> tuple[float, list[Part]]:
    """Return what a document without terms says, and what each term adds to that."""
    laws = model.terms
    assert laws is not None
    hashed = laws.family.hashed([text])
    known = laws.index.known(hashed)
    # Each known term as a document of its own, and one more that has none.
    size = len(known.places)
    alone = KnownTerms(np.arange(size), known.places, known.amounts, size + 1)
    scores = TermScores(laws.family.event, laws.index, alone, laws.index.hits(alone))
    odds = scores.at(model.smoothing)
    odds = odds[:, of] - odds[:, against]
    added = dict(zip(laws.index.keys[known.places].tolist(), odds[:-1] - odds[-1], strict=True))
    words = dict.fromkeys(laws.family.tokens.tokens_of(text))  # each once, as they come
    pairs = ((word, added.get(term_hash(word))) for word in words)
    found = [Part("term", word, float(value)) for word, value in pairs if value is not None]
    return float(odds[-1]), found


def _pieces(start: bytes, added: FloatArray) -> list[Part]:
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
