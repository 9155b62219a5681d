"""Column sums: enough for Bernoulli, multinomial and Poisson columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from suffice.errors import ForgettingUnseen
from suffice.places import ColumnAt, Phrase
from suffice.statistics.algebra import (
    ROUNDING,
    are_whole,
    checked_factor,
    differences,
    refuse_excess,
)
from suffice.statistics.moments.centres import rows_that_count
from suffice.statistics.moments.what_is_left import check_kinds, remaining

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from suffice.rows import FloatArray
    from suffice.statistics.algebra import Array


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """How many rows there were, and the sum of every column over the cells that were seen.

    `missing` is the weight of the cells that were not, None where all were: a vocabulary of a
    million words has no missing counts, and should not pay for them. Cells are not negative.

    >>> (Totals.of([[1.0, 0.0], [2.0, 5.0]]) + Totals.of([[4.0, float("nan")]])).sums
    array([7., 5.])
    """

    weight: float
    sums: FloatArray
    missing: FloatArray | None = None

    @classmethod
    def empty(cls, width: int) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        return cls(0.0, np.zeros(width))

    @classmethod
    def of(cls, rows: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """Summarize one batch; NaN is a missing cell, rows of weight zero are not looked at."""
        x, w = rows_that_count(rows, weights)
        return cls.of_classes(x, np.zeros(len(x), dtype=np.intp), 1, w)[0]

    @classmethod
    def of_classes(
        cls,
        rows: FloatArray,
        codes: np.ndarray[tuple[int], np.dtype[np.intp]],
        size: int,
        weights: FloatArray | None,
    ) -> list[Self]:
        """Summarize one batch of rows separately for each code 0 … size - 1."""
        shares = np.zeros((size, len(rows)))
        shares[codes, np.arange(len(rows))] = 1.0 if weights is None else weights
        totals = np.bincount(codes, weights, minlength=size).astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            sums = shares @ rows.astype(np.float64, copy=False)
        if np.isnan(sums).any():
            blank = np.isnan(rows)
            sums = shares @ np.where(blank, 0.0, rows).astype(np.float64, copy=False)
            gaps = shares @ blank.astype(np.float64)
            return [
                cls(float(totals[c]), sums[c], gaps[c] if gaps[c].any() else None)
                for c in range(size)
            ]
        return [cls(float(totals[c]), sums[c]) for c in range(size)]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.sums)

    @property
    def counts(self) -> FloatArray:
        """The weight of the cells that were seen, column by column."""
        if self.missing is None:
            return np.broadcast_to(np.float64(self.weight), self.sums.shape)
        return self.weight - self.missing

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which columns have any cell."""
        if self.missing is None:
            return np.broadcast_to(np.bool_(self.weight > 0.0), self.sums.shape)
        return self.missing < self.weight * (1.0 - ROUNDING)

    @property
    def lost(self) -> FloatArray:
        """Nothing: sums of counts keep their digits."""
        return np.zeros(self.width)

    def __add__(self, other: Self) -> Self:
        """Merge two summaries, column by column."""
        check_kinds(self, other)
        missing = self.missing if other.missing is None else other.missing
        if self.missing is not None and other.missing is not None:
            missing = self.missing + other.missing
        return type(self)(self.weight + other.weight, self.sums + other.sums, missing)

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before: exactly, where cells and weights are whole numbers."""
        check_kinds(self, other)
        if other.weight == 0.0:
            return self
        exact = are_whole(self.sums, other.sums)
        sums = differences(self.sums, other.sums, ColumnAt, exact=exact)
        missing = None
        if self.missing is not None or other.missing is not None:
            none = np.zeros(self.width)
            held = none if self.missing is None else self.missing
            asked = none if other.missing is None else other.missing
            left = differences(held, asked, _blanks, exact=are_whole(held, asked))
            missing = left if left.any() else None
        weight = remaining(self.weight, other.weight)
        if weight == 0.0:
            if sums.any() or missing is not None:
                j = int(np.argmax(sums > 0.0))
                said = (
                    "the rows to forget weigh as much as all learned rows, but would leave "
                    "{left:g} in {column}"
                )
                raise ForgettingUnseen(
                    Phrase(said, left=float(sums[j]), column=ColumnAt(j)),
                    hint="only rows that were learned before can be removed",
                )
            return self.empty(self.width)
        if missing is not None:
            refuse_excess(missing, weight, "with more blank cells than rows", ColumnAt)
        return type(self)(weight, sums, missing)

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self.empty(self.width)
        missing = None if self.missing is None else self.missing * f
        return type(self)(self.weight * f, self.sums * f, missing)

    def to_arrays(self) -> dict[str, Array]:
        """Return the whole state as plain arrays."""
        missing = np.zeros(self.width) if self.missing is None else self.missing
        return {"weight": np.asarray(self.weight), "sums": self.sums, "missing": missing}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        missing = cast("FloatArray", np.asarray(arrays["missing"]))
        return cls(
            float(arrays["weight"]), np.asarray(arrays["sums"]), missing if missing.any() else None
        )


def _blanks(column: int) -> Phrase:
    return Phrase("blanks in {column}", column=ColumnAt(column))
