"""Words and runs of words as a family: four event models of terms that nobody lists beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting
from suffice.families.term_events import BOOLEAN, EVENTS, MULTINOMIAL, LeftOut, TermScores
from suffice.families.term_index import TermIndex
from suffice.statistics.keyed_counts import TermCounts
from suffice.text.counting import TermHashes, term_hashes
from suffice.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Terms:
    """An event model of the terms of a document.

    `event` is "multinomial" (terms drawn one after the other), "boolean" (the same, each term of a
    document once), "bernoulli" (each term is there or not) or "complement" (what all other classes
    say, each term once as well). A term that no class has seen says nothing.

    >>> family = Terms("boolean", Tokens((1, 2)))
    >>> documents = ["buy cheap pills", "cheap watches", "see you at lunch", "lunch at one?"]
    >>> groups = family.summarize(documents, np.array([0, 0, 1, 1]), 2)
    >>> scores, lengths = family.estimate(groups).scores(["cheap lunch", "see you"], .1)
    >>> scores.argmax(axis=1), lengths
    (array([0, 1]), array([2., 3.]))
    """

    event: str = BOOLEAN
    tokens: Tokens = field(default_factory=Tokens)

    def __post_init__(self) -> None:
        """Refuse an event model that does not exist."""
        if self.event not in EVENTS:
            raise BadSetting(
                f"event={self.event!r} is not known", hint=f"use one of {', '.join(EVENTS)}"
            )

    @property
    def counts_once(self) -> bool:
        """Whether a term counts once a document."""
        return self.event != MULTINOMIAL

    def hashed(self, documents: Sequence[str | bytes]) -> TermHashes:
        """Return the terms of documents."""
        return term_hashes(documents, self.tokens, boolean=self.counts_once)

    def summarize(
        self,
        documents: Sequence[str | bytes],
        codes: IntArray,
        size: int,
        weights: FloatArray | None = None,
    ) -> list[TermCounts]:
        """Return the counts of each class 0 … size - 1; a weight counts repetitions."""
        found = self.hashed(documents)
        rows = np.repeat(np.arange(len(documents)), np.diff(found.indptr))
        amounts = found.counts.astype(np.float64)
        if weights is not None:
            amounts *= weights[rows]
        totals = np.bincount(codes, weights, minlength=size)
        groups = []
        for c in range(size):
            here = (codes[rows] == c) & (amounts > 0.0)
            groups.append(TermCounts.of(found.hashes[here], amounts[here], float(totals[c])))
        return groups

    def estimate(self, groups: Sequence[TermCounts]) -> TermLaws:
        """Return the laws of all classes, for any smoothing."""
        if not groups:
            raise BadSetting("there is no class to learn", hint="give the counts of at least one")
        return TermLaws(self, TermIndex.of(groups))


@dataclass(frozen=True, slots=True, eq=False)
class TermLaws:
    """What terms say, class by class. The smoothing comes when it is asked for.

    Scores are log p(terms | class), without the multinomial coefficient, which is the same in all
    classes; of complements, which have no density, they are scores.
    """

    family: Terms
    index: TermIndex

    def scores(
        self, documents: Sequence[str | bytes], alpha: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the scores of documents (n, k), and how many known terms each has."""
        return self.scores_of(self.family.hashed(documents), alpha)

    def scores_of(self, documents: TermHashes, alpha: float) -> tuple[FloatArray, FloatArray]:
        """Return the scores of documents that were cut into terms."""
        known = self.index.known(documents)
        scores = TermScores(self.family.event, self.index, known, self.index.hits(known))
        return scores.at(alpha), scores.lengths()

    def left_out(
        self, documents: Sequence[str | bytes], codes: IntArray, weights: FloatArray
    ) -> TermScores:
        """Return the scores of learned documents as if each had never been, for any smoothing."""
        known = self.index.known(self.family.hashed(documents))
        hits = self.index.hits(known)
        own = self.index.classes[hits.entries] == codes[known.rows[hits.known]]
        left_out = LeftOut(codes, weights, own.astype(np.float64))
        return TermScores(self.family.event, self.index, known, hits, left_out)
