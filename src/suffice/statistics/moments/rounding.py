"""How far moments may be from those of exact arithmetic: a bound that only adds.

About a fixed anchor o the sums P = Σ w(x - o) and Q = Σ w(x - o)² are linear in the rows: merging
adds them and forgetting subtracts them, so that errors of single operations add up and nothing
compounds. Moments carry a bound E of the error of P (`sum_error`), a bound e of that of Q_jj
(`error`) and a bound of that of the weight; all else follows from S = Q - P²/W:

    |error of S_jj| ≤ e + 2|m - o|E + E²/W + (m - o)² |error of W|.

Of a product of two columns it is √(e_i e_j) + |m_i - o_i|E_j + |m_j - o_j|E_i + E_i E_j/W, up to a
small factor for anchors that moved: not the root of the product of two bounds if only one of the
columns has a large E.

All functions work column by column, for one class (d,) or many (k, d); weights broadcast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.kernels.dense.double_double import Pair, over, plus, root, times
from suffice.linear_algebra import EPSILON

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray

PER_OPERATION = 4.0 * EPSILON
"""What one merge in plain doubles may add to the relative error of a variance: half an epsilon
for each of two sums, and three for the square of the reach.

A summary of few rows begins with as much: its mean, its centre and its products are rounded too."""
PRECISE = EPSILON * EPSILON
"""The rounding of one operation on two doubles is a few of these (`double_double`)."""
PER_PRECISE_SQUARE = 16.0 * PRECISE
"""What one merge in two doubles may add, relative to reach² and to the scatters that are added:
6u² from the gap, 19u² from the weights, 21u² from products and 9u² from sums, u² = PRECISE/4."""
PER_PRECISE_SUM = 4.0 * PRECISE
"""The same for a sum, relative to weight · |gap| and to weight · |mean|, whose two doubles end."""
NO_VARIANCE = 1e-20
"""A variance below this part of what it was has no effect on any model (`families` floor them),
so that one which is no larger, and certainly so, may be called zero."""
LEAST = 5e-324
"""The smallest number above zero: nothing divided by its root is nothing."""
FIRM = 8.0
"""Weight from which a mean is a good anchor, some standard errors from any other it may have; with
less, the anchor follows the mean."""
FAR = 16.0
"""An anchor is moved when the mean is four standard deviations away: a squared ratio."""


LIMITS = np.array([PER_PRECISE_SQUARE, PER_PRECISE_SUM, FIRM, FAR])
"""What compiled loops have to know of these."""


class Sums(NamedTuple):
    """What is known of the rounding of one summary: anchor, E, e and the error of the weight."""

    anchor: FloatArray
    sum_error: FloatArray
    error: FloatArray
    weight_error: Any

    def about(self, anchor: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what E and e are about another anchor: E (…, d), and what is added to e."""
        away = np.abs(self.anchor - anchor)
        if type(self.weight_error) is float and self.weight_error == 0.0:
            return self.sum_error, away * (2.0 * self.sum_error)
        moved = away * self.weight_error
        return self.sum_error + moved, away * (2.0 * self.sum_error + moved)


def implied_sum_error(weight: Any, variances: FloatArray, error: FloatArray) -> FloatArray:
    """Return E of a summary that says e only: one batch, or a file that is older than E.

    A batch whose squares have the relative error r has a mean that is wrong by no more than r
    standard deviations: E = √(W/S) e. If nothing is left of S but error, S is no more than that.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        spread = np.sqrt(np.maximum(np.maximum(variances, error), LEAST))
        found: FloatArray = np.sqrt(weight) * (error / spread)
    return found


def bound_of(weight: Any, away: FloatArray, sum_error: FloatArray, weight_error: Any) -> FloatArray:
    """Return what the errors of weight and mean add to e, in the bound of S; `away` is |m - o|."""
    with np.errstate(over="ignore", invalid="ignore"):
        bound: FloatArray = away * (2.0 * sum_error + away * weight_error)
        bound += sum_error * (sum_error / weight)  # a square may be beyond all doubles
    bound[np.isnan(bound)] = np.inf
    return bound


class Moved(NamedTuple):
    """A mean after a merge or a subtraction, in two doubles, and the reach: S changes by reach²."""

    mean: Pair
    reach: Pair


def moved(base: Pair, other: Pair, left: Pair, mean: Pair, gap: Pair) -> Moved:
    """Return mean + gap · other/left, and gap · √(base · other/left).

    A merge of a and b: base W_a, other W_b, left W_a + W_b, gap m_b - m_a. Taking b from u: base
    W_u, other W_b, left W_u - W_b, gap m_u - m_b; for b is as far from what is left of u as it is
    from u, stretched.
    """
    share = over(other, left)
    return Moved(plus(mean, times(gap, share)), times(gap, root(times(base, share))))


def in_units(*weights: Pair) -> tuple[list[Pair], object]:
    """Return weights in units of 4ⁿ near the last of them, and 2ⁿ, so that products stay in range.

    >>> in_units((1.0, 0.0), (3.0, 0.0))
    ([(1.0, 0.0), (3.0, 0.0)], 1.0)
    """
    last = np.asarray(weights[-1][0])
    if last.size == 0 or (last.min() > 1e-100 and last.max() < 1e100):
        return list(weights), 1.0
    half = np.frexp(last)[1] // 2
    scaled = [(np.ldexp(high, -2 * half), np.ldexp(low, -2 * half)) for high, low in weights]
    return scaled, np.ldexp(1.0, half)


def far_away(weight: object, gap: FloatArray, variances: FloatArray) -> NDArray[np.bool_]:
    """Return where a mean is more than four standard deviations from its anchor."""
    with np.errstate(over="ignore"):
        found: NDArray[np.bool_] = weight * np.square(gap) > FAR * variances
    return found


def nearer(sums: Sums, weight: object, mean: FloatArray, variances: FloatArray) -> Sums:
    """Return the same about anchors near the means: distant ones would make bounds wide."""
    far = far_away(weight, mean - sums.anchor, variances)
    if not far.any():
        return sums
    anchor = np.where(far, mean, sums.anchor)
    sum_error, more = sums.about(anchor)
    return Sums(anchor, sum_error, sums.error + over_classes(more), sums.weight_error)


def moving_error(
    weight: object, gap: FloatArray, heaviest: object, mean: FloatArray, other: FloatArray
) -> FloatArray:
    """Return what moving a mean in two doubles adds to E; one that does not move is as it was."""
    size = np.maximum(np.abs(mean), np.abs(other))
    found: FloatArray = PER_PRECISE_SUM * (weight * np.abs(gap) + heaviest * size * (gap != 0.0))
    return found


def added(
    ours: Sums,
    theirs: Sums,
    mean: Pair,
    anchor: FloatArray,
    weight: FloatArray,
    moving: FloatArray,
    rounding: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return e (d,) and E of a sum or a difference, about an anchor.

    `moving` is what the operation itself adds to the error of the sum, weight · mean, and
    `rounding` what it adds to that of the scatter.
    """
    sum_error, error = moving, ours.error + theirs.error + rounding
    for side in (ours, theirs):
        own, more = side.about(anchor)
        sum_error = sum_error + own
        error = error + over_classes(more)
    away = np.abs((mean[0] - anchor) + mean[1])
    error = error + over_classes(moving * (2.0 * away + moving / weight))
    return error, sum_error


def over_classes(errors: FloatArray) -> FloatArray:
    """Return errors (d,), or those of all classes (k, d) together."""
    found: FloatArray = errors if errors.ndim == 1 else errors.sum(axis=0)
    return found


def are_rough(ours: FloatArray, theirs: FloatArray, variances: FloatArray) -> bool:
    """Whether, in most columns, a merge in plain doubles adds little to errors on both sides.

    So it is between the parts of one fit, and never where a few rows come to many. Columns that do
    not vary have no say: a level that comes later adds such columns to what was there before, and a
    run that goes on from a checkpoint has to end at the same bits.
    """
    varying = variances > 0.0
    enough = (np.minimum(ours, theirs) >= PER_OPERATION * variances) & varying
    return 2 * int(np.count_nonzero(enough)) >= int(np.count_nonzero(varying))


def added_plainly(
    ours: Sums,
    theirs: Sums,
    weight: FloatArray,
    other: Any,
    gap: FloatArray,
    mean: FloatArray,
    rounding: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return e (d,) and E, about the new mean, after a merge in plain doubles.

    `other` is the weight that came to the rest, at a distance of `gap`.
    """
    away = np.abs(gap)
    size = (np.abs(mean) + away) * (away > 0.0)
    # The gap has three roundings of half an epsilon, and a mean of two doubles ends somewhere.
    moving = (1.5 * EPSILON * other) * away + (2.0 * PRECISE * weight) * size
    sum_error, error = moving, ours.error + theirs.error + rounding
    for side in (ours, theirs):
        own, more = side.about(mean)
        sum_error = sum_error + own
        error = error + over_classes(more)
    return error + over_classes(moving * (EPSILON * size + moving / weight)), sum_error
