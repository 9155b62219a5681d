"""Weight, mean and scatter of rows: the sufficient statistics of a multivariate normal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.kernels.dense.double_double import Pair, minus, outer_square, plus
from suffice.kernels.dense.scatter import additions, class_scatters
from suffice.linear_algebra import EPSILON
from suffice.statistics.algebra import checked_factor
from suffice.statistics.moments.centres import (
    PER_ADDITION,
    error_of_sums,
    raise_to_zero,
    rows_of_classes,
    rows_that_count,
    summed_about_centres,
    underflow,
)
from suffice.statistics.moments.few_rows import FEW, few_by_class, rare_by_class, summed_precisely
from suffice.statistics.moments.parts import (
    Classes,
    Combined,
    SecondMoments,
    combined,
    plus_squares,
    scaled_pair,
    with_near_anchor,
)
from suffice.statistics.moments.plain_merges import class_merged_plainly
from suffice.statistics.moments.rounding import (
    FIRM,
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
    possible,
    refuse_leftovers,
    refuse_unbounded,
    remaining_pair,
    settled,
    usual_after,
    usual_cells,
    vanished,
    vouched,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Moments(SecondMoments):
    """The first two moments of weighted rows, kept about their own mean.

    `mean + low` is the mean in two doubles: one alone, at 1e8 standard deviations from
    zero, would cost the scatter ten digits at every merge. `scatter` is Σ w (x - m)(x - m)ᵀ, and
    `scatter_low` what its doubles cannot hold: None for the sums of a batch, which do not know it.
    `error`, `sum_error` and `weight_error` bound the rounding errors of squares and sums about the
    `anchor` (the mean, if None) and of the weight; `bound` is what follows for the variances.
    `unusual` is the weight of cells other than the `usual` one, where nearly all are the same, and
    `steps` how many steps to a unit their grid has, if cells are whole numbers or short decimals.

    >>> Moments.of([[1.0, 2.0], [3.0, 2.0]]).scatter
    array([[2., 0.],
           [0., 0.]])
    """

    weight: float
    mean: FloatArray
    low: FloatArray
    scatter: FloatArray
    error: FloatArray
    scatter_low: FloatArray | None = None
    sum_error: FloatArray | None = None
    anchor: FloatArray | None = None
    weight_low: float = 0.0
    weight_error: float = 0.0
    usual: FloatArray | None = None
    unusual: FloatArray | None = None
    steps: FloatArray | None = None

    @classmethod
    def empty(cls, width: int) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        zero = np.zeros(width)
        return cls(0.0, zero, zero, np.zeros((width, width)), zero)

    @classmethod
    def of(cls, rows: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """Summarize one batch of complete rows; rows of weight zero are not looked at."""
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
        weight, mean, low, sums, scatters = summed_about_centres(
            class_scatters, rows, codes, size, weights
        )
        squares = np.diagonal(scatters, axis1=1, axis2=2).copy()
        if size == 1:
            scatters -= np.multiply.outer(sums[0], sums[0])
        else:
            scatters -= sums[:, :, np.newaxis] * sums[:, np.newaxis, :]
        raise_to_zero(scatters)
        counts = rows_of_classes(codes, size, weight, weights)
        chain = additions(counts, len(rows), rows.shape[1], size)
        relative = PER_OPERATION + PER_ADDITION * chain
        errors = error_of_sums(relative[:, np.newaxis], squares, np.abs(sums))
        errors += underflow(weight, squares, sums)
        usual, unusual = usual_cells(rows, codes, size, weights) or (None, None)
        steps = steps_of(rows, weights)
        found = [
            cls(
                float(weight[c]),
                mean[c],
                low[c],
                scatters[c],
                errors[c],
                weight_error=0.0 if weights is None else float(relative[c] * weight[c]),
                usual=usual,
                unusual=None if unusual is None else unusual[c],
                steps=steps,
            )
            for c in range(size)
        ]
        for c, few, own in rare_by_class(rows, codes, counts, weights):
            found[c] = cls._of_few(few, own)
        return found

    @classmethod
    def _of_few(cls, rows: FloatArray, weights: FloatArray | None) -> Self:
        """Summarize no more than 32 complete rows of one class, in two doubles."""
        if len(rows) == 0:
            return cls.empty(rows.shape[1])
        few = summed_precisely(rows, weights, products=True)
        return cls(
            float(few.weight[0]), *few.mean, few.squares[0], few.error, few.squares[1],
            few.sum_error, weight_low=float(few.weight[1]), usual=few.usual, unusual=few.unusual,
            steps=few.steps,
        )  # fmt: skip

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.mean)

    @property
    def _weight_of_means(self) -> float:
        return self.weight

    @property
    def _bound(self) -> FloatArray:
        if self.anchor is None and self.sum_error is None:
            return self.error  # of one batch, about its own mean
        sums = self._sums
        if self.weight == 0.0:
            return self.error
        away = np.abs((self.mean - sums.anchor) + self.low)
        return self.error + bound_of(self.weight, away, sums.sum_error, self.weight_error)

    @property
    def _sums(self) -> Sums:
        sum_error = self.sum_error
        if sum_error is None:
            sum_error = implied_sum_error(self.weight, self._variances, self.error)
        anchor = self.mean if self.anchor is None else self.anchor
        return Sums(anchor, sum_error, self.error, self.weight_error)

    def __add__(self, other: Self) -> Self:
        """Merge two summaries (Chan, Golub and LeVeque)."""
        check_kinds(self, other)
        if other.weight == 0.0:
            return self
        if self.weight == 0.0:
            return other
        merged = class_merged_plainly(self, other)
        if merged is not None:
            return merged
        found = combined(1.0, self._as_class, other._as_class, self, other)
        if found is not None:
            return self._of_combined(other, found, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            precise = self._precisely(other)
            if np.isfinite(precise.error).all():
                return precise
        # Squares beyond all doubles are infinite here, and refused when they are estimated.
        return class_merged_plainly(self, other, always=True) or precise

    def _precisely(self, other: Self) -> Self:
        """Merge in two doubles: what is rounded then is far below the last digit."""
        weight = plus((self.weight, self.weight_low), (other.weight, other.weight_low))
        gap = minus((other.mean, other.low), (self.mean, self.low))
        mean, reach = self._moved(other, weight, gap)
        scatter = plus_squares(self, other)
        scatter = plus(scatter, outer_square(reach))
        heavy = self if self.weight >= other.weight else other
        firm = heavy.weight >= FIRM
        anchor = heavy._sums.anchor if firm else mean[0]
        error, sum_error = self._rounded(other, weight, gap, mean, reach, anchor)
        slack = self.weight_error + other.weight_error
        if weight[1] != 0.0:
            slack += PRECISE * weight[0]
        merged = type(self)(
            weight[0], *mean, scatter[0], error, scatter[1], sum_error, anchor if firm else None,
            weight[1], slack, *usual_after(self, other),
        )  # fmt: skip
        return with_near_anchor(merged, weight[0])

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before: `(a + b) - b` is `a`, and the state says how nearly."""
        check_kinds(self, other)
        if other.weight == 0.0:
            return self
        weight = remaining_pair((self.weight, self.weight_low), (other.weight, other.weight_low))
        if weight[0] > 0.0:
            found = combined(-1.0, self._as_class, other._as_class, self, other)
            if found is not None:
                return possible(self._of_combined(other, found, -1.0))
        gap = minus((self.mean, self.low), (other.mean, other.low))
        if weight[0] == 0.0:
            refuse_leftovers(self, other, gap[0], np.diagonal(self.scatter - other.scatter))
            return self.empty(self.width)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, reach = self._moved(other, weight, gap)
            scatter = plus_squares(self, other, sign=-1.0)
            square = outer_square(reach)
            high, low = plus(scatter, (-square[0], -square[1]))
            anchor = self._sums.anchor
            error, sum_error = self._rounded(other, weight, gap, mean, reach, anchor)
        refuse_unbounded(error, "forgetting these rows")
        slack = self.weight_error + other.weight_error
        if weight[1] != 0.0:
            slack += PRECISE * self.weight
        away = np.abs((mean[0] - anchor) + mean[1])
        bound = error + bound_of(weight[0], away, sum_error, slack)
        variances = np.diagonal(high)
        usual = usual_after(self, other, -1.0)
        gone, constant = vanished(
            variances, bound, self._variances, usual,
            last_digits(weight[0], mean[0]), single=weight[0] == 1.0,
        )  # fmt: skip
        if gone.any():
            for part in (high, low):
                part[gone] = 0.0
                part[:, gone] = 0.0
            mean, sum_error, error = settled(mean, constant, usual, weight[0], (sum_error, error))
            anchor = np.where(constant, mean[0], anchor)
        left = type(self)(
            weight[0], *mean, high, error, low, sum_error, anchor, weight[1], slack, *usual
        )
        return possible(with_near_anchor(left, weight[0]))

    @property
    def _as_class(self) -> Classes:
        """The same as what is known of the only class."""
        sums = self._sums
        known = Sums(sums.anchor[np.newaxis], sums.sum_error[np.newaxis], sums.error, 0.0)
        if self.weight_error != 0.0:
            known = known._replace(weight_error=np.array([[self.weight_error]]))
        return Classes(
            (np.array([self.weight]), np.array([self.weight_low])),
            (self.mean[np.newaxis], self.low[np.newaxis]),
            known,
        )

    def _of_combined(self, other: Self, found: Combined, sign: float) -> Self:
        """Return moments of what a compiled loop has merged or subtracted."""
        weight, low = float(found.weights[0][0]), float(found.weights[1][0])
        firm = sign < 0.0 or max(self.weight, other.weight) >= FIRM
        anchor = found.anchors[0] if firm and found.anchors is not None else None
        slack = self.weight_error + other.weight_error
        if low != 0.0:
            slack += PRECISE * (weight if sign > 0.0 else self.weight)
        return type(self)(
            weight, found.means[0][0], found.means[1][0], found.scatter[0], found.error,
            found.scatter[1], found.sum_error[0], anchor, low, slack,
            *usual_after(self, other, sign),
        )  # fmt: skip

    def _moved(self, other: Self, left: Pair, gap: Pair) -> tuple[Pair, Pair]:
        """Return the mean after a merge or a subtraction that leaves a weight, and the reach."""
        (base, less, rest), unit = in_units(
            (self.weight, self.weight_low), (other.weight, other.weight_low), left
        )
        mean, reach = moved(base, less, rest, (self.mean, self.low), gap)
        return mean, reach if unit == 1.0 else (reach[0] * unit, reach[1] * unit)

    def _rounded(
        self, other: Self, weight: Pair, gap: Pair, mean: Pair, reach: Pair, anchor: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return e and E after one operation in two doubles that left this weight and mean."""
        heaviest = max(weight[0], self.weight)
        moving = moving_error(other.weight, gap[0], heaviest, self.mean, other.mean)
        rounding = PER_PRECISE_SQUARE * (self._variances + other._variances)
        rounding = rounding + PER_PRECISE_SQUARE * np.square(reach[0])
        return added(self._sums, other._sums, mean, anchor, weight[0], moving, rounding)

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self.empty(self.width)
        weight, weight_low = scaled_pair((self.weight, self.weight_low), f)
        error, scatter_low = self.error * f, None
        if self.scatter_low is None:
            scatter = self.scatter * f
            error += EPSILON * np.diagonal(scatter) * self._is_rough
        else:
            scatter, scatter_low = scaled_pair((self.scatter, self.scatter_low), f)
            error += 2.0 * PRECISE * np.diagonal(scatter)
        sum_error = None if self.sum_error is None else self.sum_error * f
        slack = self.weight_error * f
        if weight_low != 0.0:
            slack += PRECISE * weight
        return type(self)(
            float(weight), self.mean, self.low, scatter, error, scatter_low, sum_error,
            self.anchor, float(weight_low), slack, self.usual,
            None if self.unusual is None else self.unusual * f,
        )  # fmt: skip

    def vouched(self) -> Self:
        """Return the same with bounds as of one batch: someone vouches for these numbers."""
        error = PER_OPERATION * self._variances
        anew = replace(self, error=error, sum_error=None, anchor=None, weight_error=0.0)
        return vouched(anew, self)
