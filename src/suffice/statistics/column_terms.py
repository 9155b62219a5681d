"""What was counted in columns of texts, column by column: terms, or n-grams of bytes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import DifferentKinds, ForgettingUnseen
from suffice.statistics.algebra import checked_factor
from suffice.statistics.keyed_counts import NgramCounts, TermCounts
from suffice.statistics.moments.what_is_left import remaining

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.rows import FloatArray


class ColumnCounts:
    """The weight of all rows, and for every column what was counted in its texts.

    The weight of a column's counts is that of its rows whose cell is not blank.
    """

    __slots__ = ()

    weight: float

    @property
    @abstractmethod
    def counted(self) -> tuple[Any, ...]:
        """The counts of each column."""

    @abstractmethod
    def _with(self, weight: float, counted: tuple[Any, ...]) -> Self:
        """Return other counts of the same kind."""

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.counted)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which columns have any text."""
        return np.array([part.weight > 0.0 for part in self.counted], dtype=bool)

    @property
    def lost(self) -> FloatArray:
        """Nothing: counts keep their digits."""
        return np.zeros(self.width)

    def _check(self, other: Self) -> None:
        if self.width != other.width:
            raise DifferentKinds(
                f"{self.width} and {other.width} columns of text cannot be merged",
                hint="merge what was learned from the same columns",
            )

    def __add__(self, other: Self) -> Self:
        """Merge: the counts of all rows of both sides."""
        self._check(other)
        both = zip(self.counted, other.counted, strict=True)
        return self._with(self.weight + other.weight, tuple(a + b for a, b in both))

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before: exactly, where weights are whole numbers."""
        self._check(other)
        if other.weight == 0.0:
            return self
        left = tuple(a - b for a, b in zip(self.counted, other.counted, strict=True))
        weight = remaining(self.weight, other.weight)
        if weight == 0.0 and any(part.weight > 0.0 for part in left):
            raise ForgettingUnseen(
                "the rows to forget weigh as much as all learned rows, but would leave texts",
                hint="subtract only what was merged in before: (a + b) - b",
            )
        return self._with(weight, left)

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        return self._with(self.weight * f, tuple(part.scaled(f) for part in self.counted))

    def to_arrays(self) -> dict[str, Any]:
        """Return the whole state as plain arrays, columns one after the other."""
        parts = self.counted
        return {
            "weight": np.asarray(self.weight),
            "weights": np.array([part.weight for part in parts], dtype=np.float64),
            "sizes": np.array([part.width for part in parts], dtype=np.int64),
            "keys": np.concatenate([np.empty(0, dtype=np.uint64), *(part.keys for part in parts)]),
            "counts": np.concatenate([np.empty(0), *(part.counts for part in parts)]),
        }


def _apart(arrays: Mapping[str, Any]) -> list[tuple[float, NDArray[np.uint64], FloatArray]]:
    """Return weight, keys and counts of each column, out of its arrays."""
    weights = arrays["weights"].tolist()
    if not weights:
        return []
    ends = np.cumsum(arrays["sizes"])[:-1]
    keys = np.split(np.asarray(arrays["keys"], dtype=np.uint64), ends)
    counts = np.split(np.asarray(arrays["counts"], dtype=np.float64), ends)
    return list(zip(weights, keys, counts, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class ColumnTerms(ColumnCounts):
    """The weight of all rows, and for every column the terms of its texts.

    >>> one = TermCounts.of(np.array([7], dtype=np.uint64), np.ones(1), 1.0)
    >>> both = ColumnTerms(2.0, (one,)) + ColumnTerms(1.0, (one,))
    >>> both.weight, both.terms[0].weight, both.terms[0].counts
    (3.0, 2.0, array([2.]))
    """

    weight: float
    terms: tuple[TermCounts, ...]

    @classmethod
    def empty(cls, width: int) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        return cls(0.0, (TermCounts.empty(),) * width)

    @property
    def counted(self) -> tuple[TermCounts, ...]:
        """The terms of each column."""
        return self.terms

    def _with(self, weight: float, counted: tuple[TermCounts, ...]) -> Self:
        return type(self)(weight, counted)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        return cls(float(arrays["weight"]), tuple(TermCounts(*part) for part in _apart(arrays)))


@dataclass(frozen=True, slots=True, eq=False)
class ColumnNgrams(ColumnCounts):
    """The weight of all rows, and for every column the n-grams of bytes of its texts.

    >>> one = NgramCounts.of([b"ab"], order=2)
    >>> both = ColumnNgrams(2.0, (one,)) + ColumnNgrams(1.0, (one,))
    >>> both.weight, both.ngrams[0].weight, both.ngrams[0].counts
    (3.0, 2.0, array([2., 2., 2.]))
    """

    weight: float
    ngrams: tuple[NgramCounts, ...]

    @classmethod
    def empty(cls, width: int, order: int) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        return cls(0.0, (NgramCounts.empty(order),) * width)

    @property
    def counted(self) -> tuple[NgramCounts, ...]:
        """The n-grams of each column."""
        return self.ngrams

    def _with(self, weight: float, counted: tuple[NgramCounts, ...]) -> Self:
        return type(self)(weight, counted)

    def to_arrays(self) -> dict[str, Any]:
        """Return the whole state as plain arrays, columns one after the other."""
        orders = np.array([part.order for part in self.ngrams], dtype=np.int64)
        # A class with slots is made twice: super() has the first.
        return {**ColumnCounts.to_arrays(self), "orders": orders}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        both = zip(arrays["orders"].tolist(), _apart(arrays), strict=True)
        return cls(float(arrays["weight"]), tuple(NgramCounts(n, *part) for n, part in both))
