"""How many documents there were, and how many of them hold each term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadRows, ForgettingUnseen
from suffice.statistics.algebra import are_whole, checked_factor, differences
from suffice.statistics.labels import labels_from_array, labels_to_array
from suffice.statistics.moments.what_is_left import remaining

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from suffice.rows import FloatArray
    from suffice.statistics.algebra import Array

    Terms = Sequence[str] | Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentCounts:
    """The weight of all documents, and for every term that of the documents which hold it.

    That is all that IDF needs. Terms are kept in the order in which they came and merged by name,
    so that vocabularies may grow apart: what scikit-learn cannot update, this adds up. Terms may
    also be numbers of columns, where a hash has put them there.

    >>> a = DocumentCounts.of([["to", "be"], ["be"]])
    >>> b = DocumentCounts.of([["or", "be", "be"]])
    >>> (a + b).weight, (a + b).terms, (a + b).held
    (3.0, ['to', 'be', 'or'], array([1., 3., 1.]))
    """

    weight: float
    terms: Terms
    held: FloatArray

    @classmethod
    def empty(cls) -> Self:
        """Summarize no documents at all: the identity of `+`."""
        return cls(0.0, [], np.zeros(0))

    @classmethod
    def of(cls, documents: Sequence[Sequence[str]], weights: ArrayLike | None = None) -> Self:
        """Summarize documents given as lists of terms; those of weight zero are not looked at."""
        shares = np.ones(len(documents)) if weights is None else np.asarray(weights, np.float64)
        held: dict[str, float] = {}
        for document, share in zip(documents, shares.tolist(), strict=True):
            if share > 0.0:
                for term in dict.fromkeys(document):
                    held[term] = held.get(term, 0.0) + share
        return cls(float(shares.sum()), list(held), np.array(list(held.values()), np.float64))

    @classmethod
    def of_rows(
        cls,
        indptr: NDArray[np.generic],
        indices: NDArray[np.generic],
        terms: Terms,
        weight: float | None = None,
    ) -> Self:
        """Summarize documents given as sparse rows, each column once in a row."""
        # Of more terms than cells, counts that are doubles at once spare a pass over all terms.
        ones = np.ones(len(indices)) if len(terms) > len(indices) else None
        held = np.bincount(indices, ones, len(terms)).astype(np.float64, copy=False)
        return cls(float(len(indptr) - 1) if weight is None else weight, terms, held)

    def __len__(self) -> int:
        """The number of terms."""
        return len(self.terms)

    def in_terms(self, terms: Terms) -> FloatArray:
        """Return the weights laid out for other terms, which hold all of these."""
        if _begins_with(terms, self.terms):
            held = np.zeros(len(terms))
            held[: len(self.held)] = self.held
            return held
        at = {term: place for place, term in enumerate(terms)}
        held = np.zeros(len(terms))
        try:
            held[[at[term] for term in self.terms]] = self.held
        except KeyError as missing:
            raise BadRows(
                f"term {missing.args[0]!r} was counted, and is not among the {len(terms):,} terms",
                hint="give all terms that were counted, and others if there are more",
            ) from None
        return held

    def trimmed(self) -> Self:
        """Return the same without terms that no document holds."""
        if self.held.all():
            return self
        kept = np.flatnonzero(self.held)
        terms: Any = [self.terms[place] for place in kept.tolist()]
        return type(self)(self.weight, terms, self.held[kept])

    def __add__(self, other: Self) -> Self:
        """Merge: terms that only one side has simply appear, after those of this one."""
        terms = united(self.terms, other.terms)
        held = self.in_terms(terms) + other.in_terms(terms)
        return type(self)(self.weight + other.weight, terms, held)

    def __sub__(self, other: Self) -> Self:
        """Forget documents merged in before: exactly, where weights are whole numbers."""
        if other.weight == 0.0:
            return self
        terms = united(self.terms, other.terms)
        ours, theirs = self.in_terms(terms), other.in_terms(terms)
        held = differences(
            ours, theirs, lambda place: f"term {terms[place]!r}", exact=are_whole(ours, theirs)
        )
        weight = remaining(self.weight, other.weight)
        if (held > weight * (1.0 + 1e-9)).any():
            place = int(np.argmax(held))
            raise ForgettingUnseen(
                f"forgetting would leave {held[place]:g} documents with the term "
                f"{terms[place]!r}, of {weight:g}",
                hint="only rows that were learned before can be removed",
            )
        return type(self)(weight, terms, held).trimmed()

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self.empty()
        return type(self)(self.weight * f, self.terms, self.held * f)

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays, the terms in order."""
        kept = self.trimmed()
        order = sorted(range(len(kept)), key=kept.terms.__getitem__)
        return {
            "weight": np.asarray(kept.weight),
            "terms": labels_to_array(kept.terms[place] for place in order),
            "held": kept.held[order],
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on, its terms in order."""
        terms: Any = list(labels_from_array(arrays["terms"]))
        return cls(float(arrays["weight"]), terms, np.asarray(arrays["held"]))


def united(left: Terms, right: Terms) -> Terms:
    """Return the terms of both: those of the first, then those of the second that are new."""
    if _begins_with(left, right):
        return left
    if _begins_with(right, left):
        return right
    return list(dict.fromkeys((*left, *right)))


def _begins_with(longer: Terms, terms: Terms) -> bool:
    """Return whether terms are the first of others: quick where they are the same objects."""
    if longer is terms or len(terms) == 0:
        return True
    if len(longer) < len(terms):
        return False
    if isinstance(longer, range) and isinstance(terms, range):
        return longer[: len(terms)] == terms
    return list(longer[: len(terms)]) == list(terms)
