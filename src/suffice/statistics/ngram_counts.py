"""How often each n-gram of bytes was seen: enough for a language model of its order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import BadSetting, BadWeights, DifferentKinds
from suffice.kernels.ngrams.counts import count_ngrams
from suffice.kernels.ngrams.texts import BITS, BOS, EOT, LONGEST, Texts
from suffice.statistics.keyed_counts import KeyedCounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from suffice.rows import FloatArray


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

    def to_arrays(self) -> dict[str, Any]:
        """Return the whole state as plain arrays."""
        return {
            "order": np.asarray(self.order, dtype=np.int64),
            "weight": np.asarray(self.weight),
            "keys": self.keys,
            "counts": self.counts,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        return cls(
            int(arrays["order"]),
            float(arrays["weight"]),
            np.asarray(arrays["keys"]),
            np.asarray(arrays["counts"]),
        )

    def _check(self, other: Self) -> None:
        KeyedCounts._check(self, other)  # a class with slots is made twice: super() has the first
        if self.order != other.order:
            raise DifferentKinds(
                f"n-grams of {self.order} and of {other.order} symbols do not add up",
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
