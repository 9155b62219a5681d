"""Weight, mean and scatter of rows: the sufficient statistics of a multivariate normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from suffice.errors import DifferentKinds, ForgettingUnseen
from suffice.kernels.scatter import class_scatters
from suffice.linear_algebra import EPSILON, two_sum
from suffice.statistics.algebra import ROUNDING, checked_factor
from suffice.statistics.centres import (
    PER_ROW,
    rows_of_classes,
    rows_that_count,
    summed_about_centres,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from suffice.rows import FloatArray, IntArray
    from suffice.statistics.diagonal import DiagonalMoments

PER_OPERATION = 4.0 * EPSILON
"""What one merge or one subtraction may add to the relative error of a variance.

A summary of few rows begins with as much: its mean, its centre and its products are rounded too."""


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The first two moments of weighted rows, kept about their own mean.

    `mean + low` is the mean in two doubles: one alone, at 1e8 standard deviations from
    zero, would cost the scatter ten digits at every merge. `scatter` is Σ w (x - m)(x - m)ᵀ.
    `error` bounds the absolute rounding error of each variance in it, which grows with every
    row, merge and subtraction: |error of S_ij| ≤ √(error_i error_j).

    >>> Moments.of([[1.0, 2.0], [3.0, 2.0]]).scatter
    array([[2., 0.],
           [0., 0.]])
    """

    weight: float
    mean: FloatArray
    low: FloatArray
    scatter: FloatArray
    error: FloatArray

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
        weight, mean, low, sums, scatters = summed_about_centres(
            class_scatters, rows, codes, size, weights
        )
        # Rounding is that of the sums about the centres, which a poor guess makes larger.
        squares = np.diagonal(scatters, axis1=1, axis2=2).copy()
        if size == 1:
            scatters -= np.multiply.outer(sums[0], sums[0])
        else:
            scatters -= sums[:, :, np.newaxis] * sums[:, np.newaxis, :]
        counts = rows_of_classes(codes, size, weight, weights)
        return [
            cls(
                float(weight[c]),
                mean[c],
                low[c],
                scatters[c],
                (PER_OPERATION + PER_ROW * counts[c]) * squares[c],
            )
            for c in range(size)
        ]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.mean)

    @property
    def lost(self) -> FloatArray:
        """Per column, the largest possible relative error of its variance."""
        return relative_loss(self.error, np.diagonal(self.scatter))

    def __add__(self, other: Self) -> Self:
        """Merge two summaries (Chan, Golub and LeVeque)."""
        check_kinds(self, other)
        if other.weight == 0.0:
            return self
        if self.weight == 0.0:
            return other
        weight = self.weight + other.weight
        gap = (other.mean - self.mean) + (other.low - self.low)
        share = other.weight / weight
        mean, low = two_sum(self.mean, self.low + gap * share)
        reach = gap * np.sqrt(self.weight * share)
        scatter = self.scatter + other.scatter + np.multiply.outer(reach, reach)
        error = self.error + other.error + PER_OPERATION * np.diagonal(scatter)
        return type(self)(weight, mean, low, scatter, error)

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before: `(a + b) - b` is `a`, and the state says how nearly."""
        check_kinds(self, other)
        if other.weight == 0.0:
            return self
        weight = remaining(self.weight, other.weight)
        gap = (self.mean - other.mean) + (self.low - other.low)
        if weight == 0.0:
            refuse_leftovers(self, other, gap, np.diagonal(self.scatter - other.scatter))
            return self.empty(self.width)
        share = other.weight / weight
        mean, low = two_sum(self.mean, self.low + gap * share)
        # The gap between b and what is left of u is the gap between b and u, stretched.
        reach = gap * np.sqrt(other.weight * self.weight / weight)
        scatter = self.scatter - other.scatter - np.multiply.outer(reach, reach)
        variances = np.diagonal(self.scatter)
        pull = relative_reach(reach, variances).max(initial=0.0) * np.sqrt(share)
        error = after_subtraction(self.error + other.error, variances, pull)
        scatter, error = settled(scatter, error, single=weight == 1.0)
        return type(self)(weight, mean, low, scatter, error)

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self.empty(self.width)
        return type(self)(self.weight * f, self.mean, self.low, self.scatter * f, self.error * f)

    def embedded(self, places: IntArray, width: int) -> Self:
        """Return the moments of the same rows with more columns, which were all zero."""
        mean, low, error = (np.zeros(width) for _ in range(3))
        scatter = np.zeros((width, width))
        mean[places], low[places], error[places] = self.mean, self.low, self.error
        scatter[np.ix_(places, places)] = self.scatter
        return type(self)(self.weight, mean, low, scatter, error)

    def to_arrays(self) -> dict[str, FloatArray]:
        """Return the whole state as plain arrays."""
        return {
            "weight": np.asarray(self.weight),
            "mean": self.mean,
            "low": self.low,
            "scatter": self.scatter,
            "error": self.error,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, FloatArray]) -> Self:
        """Return what `to_arrays` was called on, bit for bit."""
        return cls(
            float(arrays["weight"]),
            *(np.asarray(arrays[name]) for name in ("mean", "low", "scatter", "error")),
        )


class HasWidth(Protocol):
    """Statistics of a fixed number of columns."""

    @property
    def width(self) -> int:
        """The number of columns."""
        ...


def check_kinds(left: HasWidth, right: HasWidth) -> None:
    """Refuse statistics of two kinds, or of tables with different numbers of columns."""
    if type(left) is not type(right):
        raise DifferentKinds(
            f"{type(left).__name__} and {type(right).__name__} do not add up",
            hint="summarize all rows by the same statistics",
        )
    if left.width != right.width:
        raise DifferentKinds(
            f"statistics of {left.width} columns and of {right.width} columns do not add up",
            hint="merge and forget rows with the same columns only",
        )


def remaining(held: float, asked: float, place: str = "") -> float:
    """Return what is left of a weight: never negative, and zero when only rounding is left."""
    weight = held - asked
    if weight < -ROUNDING * held or (held == 0.0 and asked > 0.0):
        raise ForgettingUnseen.of(held, asked, place)
    return weight if weight > ROUNDING * held else 0.0


def relative_reach(reach: FloatArray, variances: FloatArray) -> FloatArray:
    """Return |reach|/√S, between 0 and 1: how much of a column's spread lies between two groups."""
    deviations = np.sqrt(np.maximum(variances, 0.0))
    moved = np.abs(reach)
    share: FloatArray = np.minimum(moved, deviations) / np.where(deviations > 0.0, deviations, 1.0)
    return share


def after_subtraction(
    error: FloatArray, variances: FloatArray, pull: FloatArray | float
) -> FloatArray:
    """Return the errors of variances after one subtraction from `variances`, before it `error`.

    Besides the rounding of the difference there is that of the means. Wrong by r standard
    deviations, r being the relative error of the sums, they move the reach by r√(S·share),
    share being the weight that goes over the weight that stays: that counts where a few rows
    stay, far from the many that go. `pull` is the relative reach, of the column that has the
    largest where products of columns are kept, times √share.
    """
    whole = variances + error
    relative = PER_OPERATION + np.where(whole > 0.0, error / np.where(whole > 0.0, whole, 1.0), 0.0)
    bound: FloatArray = error + PER_OPERATION * variances + pull * relative * whole
    return bound


def settled(
    scatter: FloatArray, error: FloatArray, *, single: bool
) -> tuple[FloatArray, FloatArray]:
    """Return a scatter after a subtraction, without variances that are only rounding.

    A variance below its own error bound may be zero or, by rounding, negative: it becomes
    zero and keeps its bound. One that is negative beyond the bound was never merged in. A
    single row has no scatter at all, whatever was subtracted to reach it; but a weight of one
    is no single row if a variance is left (two rows of weight ½).
    """
    variances = np.diagonal(scatter)
    refuse_negative(variances, error)
    gone = variances <= error
    if single and gone.all():
        return np.zeros_like(scatter), np.zeros_like(error)
    if gone.any():
        scatter = scatter.copy()
        scatter[gone] = 0.0
        scatter[:, gone] = 0.0
    return scatter, error


def refuse_negative(variances: FloatArray, error: FloatArray) -> None:
    """Refuse a subtraction that leaves a negative variance: it took away what was not there."""
    if np.any(variances < -error):
        j = int(np.argmin(variances + error))
        raise ForgettingUnseen(
            f"forgetting would leave column {j} with a negative variance ({variances[j]:g})",
            hint="subtract only what was merged in before: (a + b) - b",
        )


def refuse_leftovers(
    held: Moments | DiagonalMoments,
    gone: Moments | DiagonalMoments,
    gap: FloatArray,
    variances: FloatArray,
) -> None:
    """Refuse to take away all the weight with rows that are not those that were merged in."""
    held_variances = np.diagonal(held.scatter) if held.scatter.ndim == 2 else held.scatter
    rounding = held.weight * np.square(64.0 * EPSILON * np.abs(held.mean))
    bound = held.error + gone.error + 1e-9 * held_variances + rounding
    with np.errstate(over="ignore"):
        strange = (np.abs(variances) > bound) | (held.weight * np.square(gap) > bound)
    if strange.any():
        j = int(np.argmax(strange))
        raise ForgettingUnseen(
            f"the rows to forget have the weight of all that is there, but column {j} differs: "
            f"their mean is {gone.mean[j]:g}, not {held.mean[j]:g}, or their spread is another",
            hint="subtract only what was merged in before: (a + b) - b",
        )


def relative_loss(error: FloatArray, variances: FloatArray) -> FloatArray:
    """Return error/variance, with 0/0 = 0: a column that never moved has lost nothing."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(error > 0.0, error / variances, 0.0)
