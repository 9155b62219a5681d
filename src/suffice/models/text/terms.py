"""Words and runs of words as a family: four event models of terms that nobody lists beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.errors import BadSetting
from suffice.kernels.ngrams.counts import runs, sort_keys
from suffice.kernels.tokens.spread_keys import SpreadKeys
from suffice.models.text.counting import TermHashes, term_hashes
from suffice.models.text.term_events import BOOLEAN, EVENTS, MULTINOMIAL, LeftOut, TermScores
from suffice.models.text.tokens import Tokens
from suffice.statistics.keyed_counts import TermCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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
        return self.counted(self.hashed(documents), codes, size, weights)

    def counted(
        self, found: TermHashes, codes: IntArray, size: int, weights: FloatArray | None = None
    ) -> list[TermCounts]:
        """Return the same counts of documents that were cut into terms."""
        totals = np.bincount(codes, weights, minlength=size)
        sizes = np.diff(found.indptr)
        if weights is None and self.counts_once:
            own = np.repeat(codes, sizes)
            return [
                TermCounts.of(found.hashes[own == c], None, float(totals[c])) for c in range(size)
            ]
        rows = np.repeat(np.arange(len(codes)), sizes)
        amounts = found.counts.astype(np.float64)
        if weights is not None:
            amounts *= weights[rows]
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
        return self.left_out_of(self.family.hashed(documents), codes, weights)

    def left_out_of(
        self, documents: TermHashes, codes: IntArray, weights: FloatArray
    ) -> TermScores:
        """Return the same of documents that were cut into terms."""
        known = self.index.known(documents)
        hits = self.index.hits(known)
        own = self.index.classes[hits.entries] == codes[known.rows[hits.known]]
        left_out = LeftOut(codes, weights, own.astype(np.float64))
        return TermScores(self.family.event, self.index, known, hits, left_out)


KEY_BITS = 64
"""Bits of a term's key, by which keys are sorted: that of a hash, a uint64."""


class KnownTerms(NamedTuple):
    """The terms of some documents that were learned: row, place in the index, how often."""

    rows: IntArray
    places: IntArray
    amounts: FloatArray
    size: int
    """The number of documents."""


class Hits(NamedTuple):
    """Where a term of a document was seen in a class: the known term, and the entry."""

    known: IntArray
    entries: IntArray


@dataclass(frozen=True, eq=False)
class TermIndex:
    """All terms of all classes, sorted; beside each, the classes that hold it.

    Most terms are in few classes, so only counts that are not zero are kept: `counts[e]` is how
    often class `classes[e]` has the term, for the entries e from `starts[j]` to `starts[j + 1]`.
    `documents` are the weights of the classes.
    """

    keys: NDArray[np.uint64]
    starts: IntArray
    classes: IntArray
    counts: FloatArray
    documents: FloatArray

    @classmethod
    def of(cls, groups: Sequence[TermCounts]) -> Self:
        """Put the counts of classes side by side."""
        every = np.concatenate([group.keys for group in groups])
        keys, order = sort_keys(every, KEY_BITS)
        firsts = runs(keys)
        classes = np.repeat(np.arange(len(groups)), [group.width for group in groups])[order]
        counts = np.concatenate([group.counts for group in groups])[order]
        documents = np.array([group.weight for group in groups], dtype=np.float64)
        return cls(keys[firsts], np.append(firsts, len(keys)), classes, counts, documents)

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.documents)

    @property
    def width(self) -> int:
        """The number of different terms."""
        return len(self.keys)

    @cached_property
    def spread(self) -> SpreadKeys:
        """The terms, as they are looked up."""
        return SpreadKeys.of(self.keys)

    @cached_property
    def totals(self) -> FloatArray:
        """How often each term was seen in all classes together."""
        if not self.width:
            return np.zeros(0)
        found: FloatArray = np.add.reduceat(self.counts, self.starts[:-1])
        return found

    @cached_property
    def class_totals(self) -> FloatArray:
        """How many terms each class has, repetitions counted."""
        return np.bincount(self.classes, self.counts, minlength=self.size).astype(np.float64)

    def known(self, documents: TermHashes) -> KnownTerms:
        """Return the terms of documents that some class holds; a term never seen says nothing."""
        size = len(documents.indptr) - 1
        places = self.spread.places(documents.hashes)
        held = np.flatnonzero(places >= 0)
        rows = np.repeat(np.arange(size), np.diff(documents.indptr))[held]
        return KnownTerms(rows, places[held], documents.counts[held].astype(np.float64), size)

    def hits(self, known: KnownTerms) -> Hits:
        """Return all entries of known terms."""
        many = self.starts[known.places + 1] - self.starts[known.places]
        which = np.repeat(np.arange(len(known.places)), many)
        first = np.cumsum(many) - many
        entries = np.arange(len(which)) - np.repeat(first - self.starts[known.places], many)
        return Hits(which, entries)
