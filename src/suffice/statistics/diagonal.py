"""Column-wise moments: enough for models whose columns are independent given the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.kernels.scatter import class_squares
from suffice.linear_algebra import two_sum
from suffice.statistics.algebra import checked_factor
from suffice.statistics.centres import (
    PER_ROW,
    POOR,
    non_finite,
    provisional_centres,
    rows_of_classes,
    rows_that_count,
)
from suffice.statistics.moments import (
    PER_OPERATION,
    after_subtraction,
    check_kinds,
    refuse_leftovers,
    refuse_negative,
    relative_loss,
    relative_reach,
    remaining,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from suffice.errors import NotFinite
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class DiagonalMoments:
    """Mean and sum of squares of every column by itself; missing cells are simply not there.

    `weight` counts rows, `counts` the cells of each column that were seen. The other
    fields are those of `Moments`, with only the diagonal of the scatter.

    >>> DiagonalMoments.of([[1.0, 5.0], [3.0, float("nan")]]).counts
    array([2., 1.])
    """

    weight: float
    counts: FloatArray
    mean: FloatArray
    low: FloatArray
    scatter: FloatArray
    error: FloatArray

    @classmethod
    def empty(cls, width: int) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        return cls(0.0, *(np.zeros(width) for _ in range(5)))

    @classmethod
    def of(cls, rows: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """Summarize one batch; NaN is a missing cell, rows of weight zero are not looked at."""
        x, w = rows_that_count(rows, weights)
        if len(x) == 0:
            return cls.empty(x.shape[1])
        return cls.of_classes(x, np.zeros(len(x), dtype=np.intp), 1, w)[0]

    @classmethod
    def of_classes(
        cls, rows: FloatArray, codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[Self]:
        """Summarize one batch of rows separately for each code 0 … size - 1."""
        centres = provisional_centres(rows, codes, size)
        for attempt in range(2):
            totals, counts, sums, squares = class_squares(rows, codes, size, weights, centres)
            held = np.where(counts > 0.0, counts, 1.0)
            with np.errstate(all="ignore"):
                mean, low = two_sum(centres, sums / held)
                shift = np.square(sums / np.sqrt(held))
            if attempt == 0 and np.any((shift > (1.0 - 1.0 / POOR) * squares) & (shift > 0.0)):
                centres = mean
                continue
            break
        if not (np.isfinite(squares).all() and np.isfinite(sums).all()):
            raise _refusal(rows)
        scatter = np.maximum(squares - shift, 0.0)
        for part in (mean, low, scatter):
            part[counts == 0.0] = 0.0
        relative = PER_OPERATION + PER_ROW * rows_of_classes(codes, size, totals, weights)
        # Rounding is that of the sums about the centres, which a poor guess makes larger.
        error = relative[:, np.newaxis] * np.where(counts > 0.0, squares, 0.0)
        return [
            cls(float(totals[c]), counts[c], mean[c], low[c], scatter[c], error[c])
            for c in range(size)
        ]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.mean)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which columns have any cell."""
        return self.counts > 0.0

    @property
    def lost(self) -> FloatArray:
        """Per column, the largest possible relative error of its variance."""
        return relative_loss(self.error, self.scatter)

    def __add__(self, other: Self) -> Self:
        """Merge two summaries, column by column."""
        check_kinds(self, other)
        counts = self.counts + other.counts
        gap = (other.mean - self.mean) + (other.low - self.low)
        mean, low, held = self.mean, self.low, counts
        whole = self.counts.all() and other.counts.all()
        if not whole:
            # A column that one side has never seen has no mean there, so there is no gap.
            fresh = self.counts == 0.0
            mean, low = np.where(fresh, other.mean, mean), np.where(fresh, other.low, low)
            gap = np.where(fresh | (other.counts == 0.0), 0.0, gap)
            held = np.where(counts > 0.0, counts, 1.0)
        share = other.counts / held
        mean, low = two_sum(mean, low + gap * share)
        scatter = self.scatter + other.scatter
        scatter += np.square(gap * np.sqrt(self.counts * share))
        added = PER_OPERATION * scatter
        if not whole:
            added[(self.counts == 0.0) | (other.counts == 0.0)] = 0.0
        error = self.error + other.error
        error += added
        return type(self)(self.weight + other.weight, counts, mean, low, scatter, error)

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before."""
        check_kinds(self, other)
        if other.weight == 0.0:
            return self
        weight = remaining(self.weight, other.weight)
        counts = np.array(
            [
                remaining(held, asked, f"column {j}")
                for j, (held, asked) in enumerate(zip(self.counts, other.counts, strict=True))
            ]
        )
        if weight == 0.0:
            gap = (self.mean - other.mean) + (self.low - other.low)
            refuse_leftovers(self, other, gap, self.scatter - other.scatter)
            return self.empty(self.width)
        left = np.where(counts > 0.0, counts, 1.0)
        gap = (self.mean - other.mean) + (self.low - other.low)
        gap = np.where(other.counts > 0.0, gap, 0.0)
        mean, low = two_sum(self.mean, self.low + gap * (other.counts / left))
        reach = gap * np.sqrt(other.counts * (self.counts / left))
        scatter = self.scatter - other.scatter - np.square(reach)
        touched = other.counts > 0.0
        pull = relative_reach(reach, self.scatter) * np.sqrt(other.counts / left)
        error = after_subtraction(self.error + other.error, self.scatter, pull)
        error = np.where(touched, error, self.error)
        gone = counts == 0.0
        scatter[gone] = error[gone] = mean[gone] = low[gone] = 0.0
        refuse_negative(scatter, error)
        small = touched & (scatter <= error)
        scatter[small] = 0.0
        # A single cell has no scatter; a weight of one with some left was two cells of weight ½.
        error[small & (counts == 1.0)] = 0.0
        return type(self)(weight, counts, mean, low, scatter, error)

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self.empty(self.width)
        return type(self)(
            self.weight * f,
            self.counts * f,
            self.mean,
            self.low,
            self.scatter * f,
            self.error * f,
        )

    def embedded(self, places: IntArray, width: int) -> Self:
        """Return the moments of the same rows with more columns, which were all zero."""
        parts = [np.zeros(width) for _ in range(5)]
        parts[0][:] = self.weight
        held = (self.counts, self.mean, self.low, self.scatter, self.error)
        for part, values in zip(parts, held, strict=True):
            part[places] = values
        return type(self)(self.weight, *parts)

    def to_arrays(self) -> dict[str, FloatArray]:
        """Return the whole state as plain arrays."""
        return {
            "weight": np.asarray(self.weight),
            "counts": self.counts,
            "mean": self.mean,
            "low": self.low,
            "scatter": self.scatter,
            "error": self.error,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, FloatArray]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        names = ("counts", "mean", "low", "scatter", "error")
        return cls(float(arrays["weight"]), *(np.asarray(arrays[name]) for name in names))


def _refusal(rows: FloatArray) -> NotFinite:
    """Missing cells are legal here, so only the others can be at fault."""
    return non_finite(np.where(np.isnan(rows), 0.0, rows))
