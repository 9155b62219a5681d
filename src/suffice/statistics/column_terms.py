"""How often terms were in columns of texts, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import DifferentKinds, ForgettingUnseen
from suffice.statistics.algebra import checked_factor
from suffice.statistics.keyed_counts import TermCounts
from suffice.statistics.moments.what_is_left import remaining

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.rows import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ColumnTerms:
    """The weight of all rows, and for every column the terms of its texts.

    The weight of a column's terms is that of its rows whose cell is not blank.

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
    def width(self) -> int:
        """The number of columns."""
        return len(self.terms)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which columns have any text."""
        return np.array([part.weight > 0.0 for part in self.terms], dtype=bool)

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
        """Merge: the terms of all rows of both sides."""
        self._check(other)
        both = zip(self.terms, other.terms, strict=True)
        return type(self)(self.weight + other.weight, tuple(a + b for a, b in both))

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before: exactly, where weights are whole numbers."""
        self._check(other)
        if other.weight == 0.0:
            return self
        terms = tuple(a - b for a, b in zip(self.terms, other.terms, strict=True))
        weight = remaining(self.weight, other.weight)
        if weight == 0.0 and any(part.weight > 0.0 for part in terms):
            raise ForgettingUnseen(
                "the rows to forget weigh as much as all learned rows, but would leave texts",
                hint="subtract only what was merged in before: (a + b) - b",
            )
        return type(self)(weight, terms)

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        return type(self)(self.weight * f, tuple(part.scaled(f) for part in self.terms))

    def to_arrays(self) -> dict[str, Any]:
        """Return the whole state as plain arrays, columns one after the other."""
        return {
            "weight": np.asarray(self.weight),
            "weights": np.array([part.weight for part in self.terms], dtype=np.float64),
            "sizes": np.array([part.width for part in self.terms], dtype=np.int64),
            "keys": np.concatenate(
                [np.empty(0, dtype=np.uint64), *(part.keys for part in self.terms)]
            ),
            "counts": np.concatenate([np.empty(0), *(part.counts for part in self.terms)]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        ends = np.cumsum(arrays["sizes"])[:-1]
        keys = np.split(np.asarray(arrays["keys"], dtype=np.uint64), ends)
        counts = np.split(np.asarray(arrays["counts"], dtype=np.float64), ends)
        weights = arrays["weights"].tolist()
        if not weights:
            return cls(float(arrays["weight"]), ())
        held = zip(weights, keys, counts, strict=True)
        return cls(float(arrays["weight"]), tuple(TermCounts(*part) for part in held))
