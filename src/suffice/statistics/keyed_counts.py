"""Counts of terms and n-grams by keys of 64 bits: they add up whatever either side has seen."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.errors import BadSetting, BadWeights, DifferentKinds, ForgettingUnseen
from suffice.kernels.ngrams.counts import count_keys, count_ngrams, merge_counts, runs, sort_keys
from suffice.kernels.ngrams.texts import BITS, BOS, EOT, LONGEST, Texts
from suffice.statistics.algebra import ArraysOfFields, are_whole, checked_factor, differences
from suffice.statistics.moments.what_is_left import remaining

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from suffice.rows import FloatArray


class KeyedCounts(ArraysOfFields):
    """How many documents there were, and how often each key was in them.

    Keys are sorted, each once, and all counts are positive: what was never seen costs nothing, and
    there is no vocabulary to agree on before two sides can be merged.
    """

    __slots__ = ()

    weight: float
    keys: NDArray[np.uint64]
    counts: FloatArray

    @abstractmethod
    def _with(self, weight: float, keys: NDArray[np.uint64], counts: FloatArray) -> Self:
        """Return other counts of the same kind."""

    @abstractmethod
    def _place(self, place: int) -> str:
        """Return what a refusal calls the key at a place."""

    def _check(self, other: Self) -> None:
        if type(self) is not type(other):
            raise DifferentKinds(
                f"{type(self).__name__} and {type(other).__name__} cannot be added",
                hint="summarize all documents by the same statistics",
            )

    @property
    def width(self) -> int:
        """The number of different keys."""
        return len(self.keys)

    @property
    def lost(self) -> FloatArray:
        """Nothing: counts keep their digits."""
        return np.zeros(0)

    def __add__(self, other: Self) -> Self:
        """Merge: the counts of all documents of both sides."""
        self._check(other)
        keys, counts = merge_counts(self.keys, self.counts, other.keys, other.counts)
        return self._with(self.weight + other.weight, keys, counts)

    def __sub__(self, other: Self) -> Self:
        """Forget documents merged in before: exactly, where weights are whole numbers."""
        self._check(other)
        if not other.width and other.weight == 0.0:
            return self
        places = np.searchsorted(self.keys, other.keys)
        known = places < self.width
        known[known] = self.keys[places[known]] == other.keys[known]
        if not known.all():
            j = int(np.argmin(known))
            raise ForgettingUnseen.of(0.0, float(other.counts[j]), other._place(j))
        held = self.counts[places]
        exact = are_whole(held, other.counts)
        counts = self.counts.copy()
        counts[places] = differences(held, other.counts, other._place, exact=exact)
        weight = remaining(self.weight, other.weight)
        kept = counts > 0.0
        keys, counts = (self.keys, counts) if kept.all() else (self.keys[kept], counts[kept])
        left = self._with(weight, keys, counts)
        if weight == 0.0:
            if len(counts):
                raise ForgettingUnseen(
                    "the documents to forget weigh as much as all learned ones, "
                    f"but would leave {counts[0]:g} of {left._place(0)}",
                    hint="only rows that were learned before can be removed",
                )
            return self._nothing()
        return left

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self._nothing()
        return self._with(self.weight * f, self.keys, self.counts * f)

    def _nothing(self) -> Self:
        return self._with(0.0, np.empty(0, dtype=np.uint64), np.empty(0))


TERM_BITS = 64
"""Bits of a term's key: a hash of 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class TermCounts(KeyedCounts):
    """How many documents there were, and how often each term was in them, by the term's number.

    A term is a hash of 64 bits of its text: the words themselves are not kept, and of a million
    terms two are the same number with probability 3e-8.

    >>> a = TermCounts.of(np.array([7, 3, 7], dtype=np.uint64), np.ones(3), 2.0)
    >>> b = TermCounts.of(np.array([9], dtype=np.uint64), np.ones(1), 1.0)
    >>> (a + b).keys, (a + b).counts
    (array([3, 7, 9], dtype=uint64), array([1., 2., 1.]))
    """

    weight: float
    keys: NDArray[np.uint64]
    counts: FloatArray

    @classmethod
    def empty(cls) -> Self:
        """Summarize no documents at all: the identity of `+`."""
        return cls(0.0, np.empty(0, dtype=np.uint64), np.empty(0))

    @classmethod
    def of(cls, keys: NDArray[np.uint64], amounts: FloatArray | None, weight: float) -> Self:
        """Summarize documents of so much weight: terms in any order, and how often each came.

        Without amounts each came once.
        """
        if not len(keys):
            return cls(weight, np.empty(0, dtype=np.uint64), np.empty(0))
        if amounts is None:
            return cls(weight, *count_keys(keys, TERM_BITS))
        ordered, places = sort_keys(keys, TERM_BITS)
        firsts = runs(ordered)
        return cls(weight, ordered[firsts], np.add.reduceat(amounts[places], firsts))

    def _with(self, weight: float, keys: NDArray[np.uint64], counts: FloatArray) -> Self:
        return type(self)(weight, keys, counts)

    def _place(self, place: int) -> str:
        return f"the term {int(self.keys[place]):016x}"


@dataclass(frozen=True, slots=True, eq=False)
class NgramCounts(KeyedCounts):
    """How many documents there were, and how often each n-gram of `order` symbols ended in them.

    At every symbol of BOS … BOS, bytes, EOT that is not BOS one full n-gram ends: shorter ones, the
    contexts and the numbers of their successors all follow from these, and are not kept. Keys are
    n-grams as `kernels.ngrams.texts` packs them, sorted, each once; all counts are positive.

    >>> counts = NgramCounts.of([b"aba"], order=2) + NgramCounts.of([b"ab"], order=2)
    >>> [f"{ngram(key, 2)}: {n:g}" for key, n in zip(counts.keys, counts.counts, strict=True)]
    ['ab: 2', 'a⊣: 1', 'ba: 1', 'b⊣: 1', '⊢a: 2']
    """

    order: int
    weight: float
    keys: NDArray[np.uint64]
    counts: FloatArray

    @classmethod
    def empty(cls, order: int) -> Self:
        """Summarize no documents at all: the identity of `+`."""
        return cls(checked_order(order), 0.0, np.empty(0, dtype=np.uint64), np.empty(0))

    @classmethod
    def of(
        cls,
        documents: Sequence[bytes],
        order: int,
        limit: int | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Summarize documents, the first `limit` bytes of each; weight 0 is no document."""
        texts = Texts.of(documents, checked_limit(limit))
        given = None if weights is None else np.asarray(weights, dtype=np.float64)
        if given is not None and given.shape != (texts.size,):
            raise BadWeights(
                f"{texts.size} documents have weights of shape {given.shape}",
                hint="give one weight for each document",
            )
        return cls.of_texts(texts, order, given)

    @classmethod
    def of_texts(cls, texts: Texts, order: int, weights: FloatArray | None = None) -> Self:
        """Summarize documents that lie side by side."""
        if weights is not None and not weights.all():
            texts, weights = texts.taken(weights > 0.0), weights[weights > 0.0]
        weight = float(texts.size if weights is None else weights.sum())
        return cls(checked_order(order), weight, *count_ngrams(texts, order, weights))

    def _check(self, other: Self) -> None:
        KeyedCounts._check(self, other)  # a class with slots is made twice: super() has the first
        if self.order != other.order:
            raise DifferentKinds(
                f"n-grams of {self.order} and of {other.order} symbols cannot be added",
                hint="count all documents with the same order",
            )

    def _with(self, weight: float, keys: NDArray[np.uint64], counts: FloatArray) -> Self:
        return type(self)(self.order, weight, keys, counts)

    def _place(self, place: int) -> str:
        return f"n-gram {ngram(self.keys[place], self.order)!r}"


def ngram(key: int | np.uint64, order: int) -> str:
    """Return an n-gram to look at: bytes as Latin-1 has them, ⊢ for BOS, ⊣ for EOT.

    >>> ngram((97 << 9) + 257, 2)
    'a⊣'
    """
    symbols = [(int(key) >> BITS * place) & 511 for place in reversed(range(order))]
    return "".join({BOS: "⊢", EOT: "⊣"}.get(symbol, chr(symbol)) for symbol in symbols)


def checked_order(order: int) -> int:
    """Return an order that a key has room for, or refuse it."""
    if not _is_whole(order) or not 1 <= order <= LONGEST:
        raise BadSetting(
            f"n-grams of {order!r} symbols cannot be counted",
            hint="use an order from 1 to 7; 5 is a good one",
        )
    return int(order)


def checked_limit(limit: int | None) -> int | None:
    """Return how many bytes of a document are looked at, or refuse it; None is all of them."""
    if limit is None:
        return None
    if not _is_whole(limit) or limit < 1:
        raise BadSetting(
            f"cannot look at the first {limit!r} bytes of a document",
            hint="use a whole number from 1, or None for all bytes",
        )
    return int(limit)


def _is_whole(number: object) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)
