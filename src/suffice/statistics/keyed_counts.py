"""Counts of things that have a number of 64 bits: they add up whatever was seen on either side."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.errors import DifferentKinds, ForgettingUnseen
from suffice.kernels.ngrams.counts import merge_counts
from suffice.statistics.algebra import checked_factor
from suffice.statistics.differences import are_whole, differences
from suffice.statistics.what_is_left import remaining

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray


class KeyedCounts:
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
                f"{type(self).__name__} and {type(other).__name__} do not add up",
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
                    "the documents to forget have the weight of all that are there, "
                    f"but would leave {counts[0]:g} of {left._place(0)}",
                    hint="subtract only what was merged in before: (a + b) - b",
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
