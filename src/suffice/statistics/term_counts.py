"""How often each term was seen: enough for every event model of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.kernels.ngrams.counts import runs, sort_keys
from suffice.statistics.keyed_counts import KeyedCounts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.rows import FloatArray

BITS = 64


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
    def of(cls, keys: NDArray[np.uint64], amounts: FloatArray, weight: float) -> Self:
        """Summarize documents of so much weight: terms in any order, and how often each came."""
        if not len(keys):
            return cls(weight, np.empty(0, dtype=np.uint64), np.empty(0))
        ordered, places = sort_keys(keys, BITS)
        firsts = runs(ordered)
        return cls(weight, ordered[firsts], np.add.reduceat(amounts[places], firsts))

    def to_arrays(self) -> dict[str, Any]:
        """Return the whole state as plain arrays."""
        return {"weight": np.asarray(self.weight), "keys": self.keys, "counts": self.counts}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        return cls(
            float(arrays["weight"]), np.asarray(arrays["keys"]), np.asarray(arrays["counts"])
        )

    def _with(self, weight: float, keys: NDArray[np.uint64], counts: FloatArray) -> Self:
        return type(self)(weight, keys, counts)

    def _place(self, place: int) -> str:
        return f"the term {int(self.keys[place]):016x}"
