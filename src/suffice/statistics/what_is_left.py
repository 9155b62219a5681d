"""What is left after a subtraction: weights, variances and means, or a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from suffice.errors import DifferentKinds, ForgettingUnseen
from suffice.kernels.dense.double_double import Pair, minus
from suffice.linear_algebra import EPSILON
from suffice.statistics.algebra import ROUNDING
from suffice.statistics.rounding import NO_VARIANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray
    from suffice.statistics.diagonal import DiagonalMoments
    from suffice.statistics.moments import Moments

LAST_DIGITS = 64.0 * EPSILON
"""Relative difference of cells that are equal to fourteen digits."""


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


def remaining_pair(held: Pair, asked: Pair, place: str = "") -> Pair:
    """Return what is left of a weight in two doubles, as `remaining` does in one."""
    if remaining(held[0], asked[0], place) == 0.0:
        return 0.0, 0.0
    return minus(held, asked)


def vanished(
    variances: FloatArray,
    bound: FloatArray,
    before: FloatArray,
    unusual: FloatArray | None,
    digits: FloatArray,
    *,
    single: bool,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which variances are no larger than their bound, and in which columns nothing varies.

    The former may be zero or, by rounding, negative: they become zero and keep their bound. One
    that is negative beyond its bound was never merged in. Where no unusual cell is left, the
    column is constant now; also where the bound is below what any model can see of the variance
    that was there `before`, and below `digits`, the variance of cells that differ in their last
    digits only (else what was taken away was so far off that nothing can be said). And a single
    row has no scatter at all, whatever was subtracted to reach it; but a weight of one is no single
    row if a variance is left (two rows of weight ½).
    """
    refuse_negative(variances, bound)
    gone = variances <= bound
    if single and gone.all():
        return gone, gone
    constant = (bound <= NO_VARIANCE * before) & (bound <= digits)
    if unusual is not None:
        constant |= unusual == 0.0
    return gone, gone & constant


def last_digits(weight: Any, mean: FloatArray) -> FloatArray:
    """Return the scatter of cells that are the same as their mean but for the last digits."""
    found: FloatArray = weight * np.square(LAST_DIGITS * mean)
    return found


def settled_mean(
    mean: Pair,
    constant: NDArray[np.bool_],
    usual: FloatArray | None,
    unusual: FloatArray | None,
) -> Pair:
    """Return means (d,) or (k, d) in which those of constant columns are what each cell is.

    That is the usual cell, or the double that is nearest to the mean: all cells are one double.
    """
    high, low = mean[0], np.where(constant, 0.0, mean[1])
    if usual is not None:
        high = np.where(constant & (unusual == 0.0), usual, high)
    return high, low


def refuse_unbounded(error: FloatArray, what: str) -> None:
    """Refuse what would leave squares beyond all doubles."""
    if not np.isfinite(error).all():
        j = int(np.argmin(np.isfinite(error)))
        raise ForgettingUnseen(
            f"{what} would leave column {j} with a spread beyond the range of a double",
            hint="subtract only what was merged in before: (a + b) - b",
        )


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
    bound = held.bound + gone.bound + 1e-9 * held_variances + rounding
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
