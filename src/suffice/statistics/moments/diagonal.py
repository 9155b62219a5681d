"""Column-wise moments: enough for models whose columns are independent given the class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.kernels.dense.double_double import Pair, compiled_twin, minus, plus, squared
from suffice.kernels.dense.scatter import additions
from suffice.places import ColumnAt
from suffice.statistics.algebra import checked_factor, differences, refuse_excess
from suffice.statistics.moments.centres import (
    PER_ADDITION,
    error_of_sums,
    rows_of_classes,
    rows_that_count,
    squared_about_centres,
    underflow,
)
from suffice.statistics.moments.few_rows import (
    FEW,
    cells_summed_precisely,
    few_by_class,
    rare_by_class,
)
from suffice.statistics.moments.parts import (
    SecondMoments,
    plus_squares,
    scaled_pair,
    with_near_anchor,
)
from suffice.statistics.moments.plain_merges import columns_merged_plainly
from suffice.statistics.moments.rounding import (
    FIRM,
    LIMITS,
    PER_OPERATION,
    PER_PRECISE_SQUARE,
    PRECISE,
    Sums,
    added,
    bound_of,
    implied_sum_error,
    in_units,
    moved,
    moving_error,
)
from suffice.statistics.moments.steps import steps_of
from suffice.statistics.moments.what_is_left import (
    check_kinds,
    last_digits,
    refuse_leftovers,
    refuse_unbounded,
    remaining_pair,
    settled,
    usual_after,
    usual_cells,
    vanished,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class DiagonalMoments(SecondMoments):
    """Mean and sum of squares of every column by itself; missing cells are simply not there.

    `weight` counts rows, `counts` the cells of each column that were seen. The other
    fields are those of `Moments`, with only the diagonal of the scatter; the errors of
    `counts` are kept, as they are the weights of the columns.

    >>> DiagonalMoments.of([[1.0, 5.0], [3.0, float("nan")]]).counts
    array([2., 1.])
    """

    weight: float
    counts: FloatArray
    mean: FloatArray
    low: FloatArray
    scatter: FloatArray
    error: FloatArray
    scatter_low: FloatArray | None = None
    sum_error: FloatArray | None = None
    anchor: FloatArray | None = None
    weight_low: float = 0.0
    counts_low: FloatArray | None = None
    counts_error: FloatArray | None = None
    usual: FloatArray | None = None
    unusual: FloatArray | None = None
    steps: FloatArray | None = None

    @classmethod
    def empty(cls, width: int) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        zero = np.zeros(width)
        return cls(0.0, zero, zero, zero, zero, zero)

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
        if len(rows) <= FEW:
            return [cls._of_few(*few) for few in few_by_class(rows, codes, size, weights)]
        summed = squared_about_centres(rows, codes, size, weights)
        totals, counts, mean, low, sums, shift, squares = summed
        scatter = np.maximum(squares - shift, 0.0)
        own = rows_of_classes(codes, size, totals, weights)
        relative = PER_OPERATION + PER_ADDITION * additions(own, len(rows), rows.shape[1], size)
        error = error_of_sums(relative[:, np.newaxis], squares, np.sqrt(shift))
        error += underflow(totals, squares, sums)
        if not counts.all():
            scatter[counts == 0.0] = error[counts == 0.0] = 0.0
        slack = None if weights is None else relative[:, np.newaxis] * counts
        usual, unusual = usual_cells(rows, codes, size, weights) or (None, None)
        steps = steps_of(rows, weights)
        found = [
            cls(
                float(totals[c]), counts[c], mean[c], low[c], scatter[c], error[c],
                counts_error=None if slack is None else slack[c], usual=usual,
                unusual=None if unusual is None else unusual[c],
                steps=steps,
            )
            for c in range(size)
        ]  # fmt: skip
        for c, few, each in rare_by_class(rows, codes, own, weights):
            found[c] = cls._of_few(few, each)
        return found

    @classmethod
    def _of_few(cls, rows: FloatArray, weights: FloatArray | None) -> Self:
        """Summarize no more than 32 rows of one class, in two doubles."""
        if len(rows) == 0:
            return cls.empty(rows.shape[1])
        weight, counts, few = cells_summed_precisely(rows, weights)
        return cls(
            float(weight[0]), counts[0], *few.mean, few.squares[0], few.error, few.squares[1],
            few.sum_error, weight_low=float(weight[1]),
            counts_low=counts[1] if counts[1].any() else None, usual=few.usual, unusual=few.unusual,
            steps=few.steps,
        )  # fmt: skip

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.mean)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Which columns have any cell."""
        return self.counts > 0.0

    @property
    def _weight_of_means(self) -> FloatArray:
        return self.counts

    @property
    def _bound(self) -> FloatArray:
        if self.anchor is None and self.sum_error is None:
            return self.error  # of one batch, about its own mean
        sums = self._sums
        away = np.abs((self.mean - sums.anchor) + self.low)
        held = np.where(self.counts > 0.0, self.counts, 1.0)
        return self.error + bound_of(held, away, sums.sum_error, sums.weight_error)

    @property
    def _sums(self) -> Sums:
        sum_error = self.sum_error
        if sum_error is None:
            sum_error = implied_sum_error(self.counts, self.scatter, self.error)
        anchor = self.mean if self.anchor is None else self.anchor
        slack = 0.0 if self.counts_error is None else self.counts_error
        return Sums(anchor, sum_error, self.error, slack)

    @property
    def _counts(self) -> Pair:
        low = np.zeros_like(self.counts) if self.counts_low is None else self.counts_low
        return self.counts, low

    def __add__(self, other: Self) -> Self:
        """Merge two summaries, column by column."""
        check_kinds(self, other)
        if other.weight == 0.0:
            return self
        if self.weight == 0.0:
            return other
        found = columns_merged_plainly(self, other) or self._combined(other, 1.0)
        if found is not None:
            return found
        weight, weight_low = plus((self.weight, self.weight_low), (other.weight, other.weight_low))
        counts = plus(self._counts, other._counts)
        both = (self.counts > 0.0) & (other.counts > 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = minus((other.mean, other.low), (self.mean, self.low))
            mean: Pair = (self.mean, self.low)
            if not both.all():
                # A column that one side has never seen has no mean there, so there is no gap.
                gap = np.where(both, gap[0], 0.0), np.where(both, gap[1], 0.0)
                fresh = self.counts == 0.0
                mean = np.where(fresh, other.mean, mean[0]), np.where(fresh, other.low, mean[1])
            mean, reach = self._moved(other, counts, mean, gap)
            high, low = plus(plus_squares(self, other), squared(reach))
            if not np.isfinite(high).all():  # refused when it is estimated
                high = np.where(np.isnan(high), np.inf, high)
                low = np.where(np.isfinite(low), low, 0.0)
            ours, theirs = self._sums, other._sums
            heavy = self.counts >= other.counts
            firm = (np.maximum(self.counts, other.counts) >= FIRM) | ~both
            anchor = np.where(firm, np.where(heavy, ours.anchor, theirs.anchor), mean[0])
            held = np.where(counts[0] > 0.0, counts[0], 1.0)
            error, sum_error = self._rounded(other, held, both, gap, mean, reach, anchor)
        slack = ours.weight_error + theirs.weight_error
        merged = type(self)(
            weight, counts[0], *mean, high, error, low, sum_error, anchor, weight_low,
            *_counts_after(counts, slack), *usual_after(self, other),
        )  # fmt: skip
        return with_near_anchor(merged, counts[0])

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before."""
        check_kinds(self, other)
        if other.weight == 0.0:
            return self
        weight = remaining_pair((self.weight, self.weight_low), (other.weight, other.weight_low))
        found = None if weight[0] == 0.0 else self._combined(other, -1.0)
        if found is not None:
            refuse_excess(found.counts, found.weight, "with more cells than rows", ColumnAt)
            return found
        left = differences(self.counts, other.counts, ColumnAt, exact=False)
        gap = minus((self.mean, self.low), (other.mean, other.low))
        if weight[0] == 0.0:
            refuse_leftovers(self, other, gap[0], self.scatter - other.scatter)
            return self.empty(self.width)
        refuse_excess(left, weight[0], "with more cells than rows", ColumnAt)
        touched, gone = other.counts > 0.0, left == 0.0
        counts = minus(self._counts, other._counts)
        if gone.any():
            counts = np.where(gone, 0.0, counts[0]), np.where(gone, 0.0, counts[1])
        if gone.any() or not touched.all():
            moves = touched & ~gone
            gap = np.where(moves, gap[0], 0.0), np.where(moves, gap[1], 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, reach = self._moved(other, counts, (self.mean, self.low), gap)
            square = squared(reach)
            high, low = plus(plus_squares(self, other, -1.0), (-square[0], -square[1]))
            ours, theirs = self._sums, other._sums
            held = np.where(gone, 1.0, counts[0])
            error, sum_error = self._rounded(other, held, touched, gap, mean, reach, ours.anchor)
        refuse_unbounded(error, "forgetting these rows")
        slack = ours.weight_error + theirs.weight_error
        away = np.abs((mean[0] - ours.anchor) + mean[1])
        bound = np.where(gone, np.inf, error + bound_of(held, away, sum_error, slack))
        # A single cell has no scatter; a weight of one with some left was two cells of weight ½.
        usual = usual_after(self, other, -1.0)
        small, constant = vanished(
            high, bound, self.scatter, usual, last_digits(held, mean[0]), single=False
        )
        small &= touched
        constant = gone | (touched & constant) | (small & (counts[0] == 1.0))
        high, low = np.where(small, 0.0, high), np.where(small, 0.0, low)
        mean, sum_error, error = settled(mean, constant, usual, held, (sum_error, error))
        mean = np.where(gone, 0.0, mean[0]), np.where(gone, 0.0, mean[1])
        error, sum_error = np.where(gone, 0.0, error), np.where(gone, 0.0, sum_error)
        anchor = np.where(constant, mean[0], ours.anchor)
        found = type(self)(
            weight[0], counts[0], *mean, high, error, low, sum_error, anchor, weight[1],
            *_counts_after(counts, slack), *usual,
        )  # fmt: skip
        return with_near_anchor(found, counts[0])

    def _combined(self, other: Self, sign: float) -> Self | None:
        """Return what a compiled loop merges (1) or subtracts (-1), or None if NumPy has to."""
        twin = compiled_twin() if self.width else None
        if twin is None:
            return None
        ours, theirs = self._columns, other._columns
        found = np.empty((10, self.width))
        nothing = other.scatter_low is None and not other.scatter.any()
        twin.combine_columns()(
            sign, LIMITS, *self._counts, *other._counts, ours, theirs, not nothing, found
        )
        if found[9, 0] == 0.0:
            return None
        one, two = (self.weight, self.weight_low), (other.weight, other.weight_low)
        weight, weight_low = plus(one, two) if sign > 0.0 else minus(one, two)
        counts, counts_low, mean, low, scatter, scatter_low, anchor, sum_error, error, _ = found
        whole = self.counts_error is None and other.counts_error is None
        slack = 0.0 if whole else ours[7] + theirs[7]
        return type(self)(
            weight, counts, mean, low, scatter, error, scatter_low, sum_error, anchor, weight_low,
            *_counts_after((counts, counts_low), slack), *usual_after(self, other, sign),
        )  # fmt: skip

    @property
    def _columns(self) -> FloatArray:
        """What is known of the columns (8, d), as the compiled loop reads it."""
        sums, found = self._sums, np.empty((8, self.width))
        found[0], found[1], found[2] = self.mean, self.low, self.scatter
        found[3] = 0.0 if self.scatter_low is None else self.scatter_low
        found[4], found[5], found[6], found[7] = sums
        return found

    def _moved(self, other: Self, left: Pair, mean: Pair, gap: Pair) -> tuple[Pair, Pair]:
        """Return the mean after a merge or a subtraction that leaves these counts, and reaches."""
        none = left[0] == 0.0
        if none.any():
            left = np.where(none, 1.0, left[0]), left[1]
        (base, less, rest), unit = in_units(self._counts, other._counts, left)
        mean, reach = moved(base, less, rest, mean, gap)
        return mean, (reach[0] * unit, reach[1] * unit)

    def _rounded(
        self,
        other: Self,
        weight: FloatArray,
        touched: NDArray[np.bool_],
        gap: Pair,
        mean: Pair,
        reach: Pair,
        anchor: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return e and E after one operation in two doubles, on the columns that it touched."""
        heaviest = np.maximum(weight, self.counts)
        moving = moving_error(other.counts, gap[0], heaviest, self.mean, other.mean)
        rounding = PER_PRECISE_SQUARE * (self.scatter + other.scatter + np.square(reach[0]))
        if not touched.all():
            moving, rounding = np.where(touched, moving, 0.0), np.where(touched, rounding, 0.0)
        return added(self._sums, other._sums, mean, anchor, weight, moving, rounding)

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self.empty(self.width)
        weight, weight_low = scaled_pair((self.weight, self.weight_low), f)
        counts = scaled_pair(self._counts, f)
        low = np.zeros_like(self.scatter) if self.scatter_low is None else self.scatter_low
        scatter, scatter_low = scaled_pair((self.scatter, low), f)
        return type(self)(
            float(weight), counts[0], self.mean, self.low, scatter,
            self.error * f + 2.0 * PRECISE * scatter, scatter_low,
            None if self.sum_error is None else self.sum_error * f, self.anchor, float(weight_low),
            *_counts_after(counts, 0.0 if self.counts_error is None else self.counts_error * f),
            self.usual, None if self.unusual is None else self.unusual * f,
        )  # fmt: skip

    def vouched(self) -> Self:
        """Return the same with bounds as of one batch: someone vouches for these numbers."""
        error = PER_OPERATION * self.scatter
        return replace(self, error=error, sum_error=None, anchor=None, counts_error=None)

    def embedded(self, places: IntArray, width: int) -> Self:
        """Return the moments of the same rows with more columns, which were all zero."""
        counts, counts_low = np.full(width, self.weight), None
        counts[places] = self.counts
        if self.counts_low is not None or self.weight_low != 0.0:
            counts_low = np.full(width, self.weight_low)
            counts_low[places] = self._counts[1]
        found = SecondMoments.embedded(self, places, width)
        return replace(found, counts=counts, counts_low=counts_low)


def _counts_after(
    counts: Pair, slack: FloatArray | float
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the lower part of counts and their error, which was `slack` before an operation."""
    if counts[1] is None or not counts[1].any():
        return None, None if isinstance(slack, float) else slack
    return counts[1], slack + PRECISE * counts[0]
