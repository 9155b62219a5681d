"""Terms of all classes side by side: which classes hold a term, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.kernels.ngrams.counts import runs, sort_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray
    from suffice.statistics.keyed_counts import TermCounts
    from suffice.text.counting import TermHashes

BITS = 64


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
        keys, order = sort_keys(every, BITS)
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
        places = np.searchsorted(self.keys, documents.hashes)
        places[places == self.width] = 0
        held = np.flatnonzero(
            self.keys[places] == documents.hashes if self.width else np.zeros(len(places), bool)
        )
        rows = np.repeat(np.arange(size), np.diff(documents.indptr))[held]
        return KnownTerms(rows, places[held], documents.counts[held].astype(np.float64), size)

    def hits(self, known: KnownTerms) -> Hits:
        """Return all entries of known terms."""
        many = self.starts[known.places + 1] - self.starts[known.places]
        which = np.repeat(np.arange(len(known.places)), many)
        first = np.cumsum(many) - many
        entries = np.arange(len(which)) - np.repeat(first - self.starts[known.places], many)
        return Hits(which, entries)
