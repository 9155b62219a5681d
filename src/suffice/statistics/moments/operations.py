"""Merging and subtracting classes that share one scatter: in plain doubles, or in two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.dense.double_double import Pair, minus, plus
from suffice.statistics.moments.parts import (
    Classes,
    Combined,
    combined,
    errors_of_moving,
    moved_means,
    plus_squares,
    squares_of,
)
from suffice.statistics.moments.plain_merges import pooled_merged_plainly
from suffice.statistics.moments.rounding import (
    FIRM,
    PER_PRECISE_SQUARE,
    PRECISE,
    Sums,
    added,
    are_rough,
    bound_of,
    nearer,
    over_classes,
)
from suffice.statistics.moments.what_is_left import (
    Usual,
    last_digits,
    refuse_unbounded,
    settled,
    vanished,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray
    from suffice.statistics.moments.pooled import PooledMoments


def merged(ours: Classes, theirs: Classes, held: PooledMoments, other: PooledMoments) -> Combined:
    """Return what two summaries of the same classes are together."""
    if held._is_rough and other._is_rough:
        found = _plainly(ours, theirs, held, other)
        if are_rough(held.error, other.error, np.diagonal(found.scatter[0])):
            return found
    fast = combined(1.0, ours, theirs, held, other)
    if fast is not None:
        return fast._replace(weights_error=slack_after(ours, theirs, fast.weights))
    with np.errstate(over="ignore", invalid="ignore"):
        found = _precisely(ours, theirs, held, other)
        # Squares beyond all doubles are infinite here, and refused when they are estimated.
        return found if np.isfinite(found.error).all() else _plainly(ours, theirs, held, other)


def _plainly(ours: Classes, theirs: Classes, held: PooledMoments, other: PooledMoments) -> Combined:
    weights, means, scatter, error, sum_error = pooled_merged_plainly(ours, theirs, held, other)
    slack = slack_after(ours, theirs, None)
    return Combined(weights, means, (scatter, None), error, sum_error, None, slack)


def _precisely(
    ours: Classes, theirs: Classes, held: PooledMoments, other: PooledMoments
) -> Combined:
    """Merge in two doubles: what is rounded then is far below the last digit."""
    w_a, w_b = ours.weights[0], theirs.weights[0]
    weights = plus(ours.weights, theirs.weights)
    both, fresh = np.flatnonzero((w_a > 0.0) & (w_b > 0.0)), w_a == 0.0
    means: Pair = (ours.means[0].copy(), ours.means[1].copy())
    means[0][fresh], means[1][fresh] = theirs.means[0][fresh], theirs.means[1][fresh]
    gap = minus(theirs.at(both)[1], ours.at(both)[1])
    reach = moved_means(means, ours, theirs, weights, gap, both)
    square, rough = squares_of(reach)
    scatter = plus(plus_squares(held, other), square)
    # A class that one side does not know has the anchor of the other.
    heavy = (w_a >= w_b)[:, np.newaxis]
    firm = (np.maximum(w_a, w_b) >= FIRM)[:, np.newaxis]
    known = np.where(heavy, ours.sums.anchor, theirs.sums.anchor)
    anchors = np.where(firm, known, means[0])
    rounding = PER_PRECISE_SQUARE * (held._variances + other._variances) + rough
    moving = errors_of_moving(ours, theirs, weights[0], gap, both)
    total = weights[0][:, np.newaxis]
    error, sum_error = added(ours.sums, theirs.sums, means, anchors, total, moving, rounding)
    slack = slack_after(ours, theirs, weights)
    return _about_near_anchors(weights, means, scatter, Sums(anchors, sum_error, error, slack))


def subtracted(
    ours: Classes,
    theirs: Classes,
    held: PooledMoments,
    other: PooledMoments,
    here: NDArray[np.bool_],
    usual: Usual,
) -> Combined:
    """Return what is left of the classes that are still `here` without those of `other`."""
    weights = minus(ours.weights, theirs.weights)
    touched = np.flatnonzero(here & (theirs.weights[0] > 0.0))
    means: Pair = (ours.means[0].copy(), ours.means[1].copy())
    with np.errstate(over="ignore", invalid="ignore"):
        gap = minus(ours.at(touched)[1], theirs.at(touched)[1])
        reach = moved_means(means, ours, theirs, weights, gap, touched)
        square, rough = squares_of(reach)
        high, low = plus(plus_squares(held, other, -1.0), (-square[0], -square[1]))
        rounding = PER_PRECISE_SQUARE * (held._variances + other._variances) + rough
        moving = errors_of_moving(ours, theirs, weights[0], gap, touched)
        anchors, total = ours.sums.anchor, np.where(here, weights[0], 1.0)[:, np.newaxis]
        error, sum_error = added(ours.sums, theirs.sums, means, anchors, total, moving, rounding)
        # A class that vanishes whole takes its own scatter with it and moves no mean; what its
        # mean was wrong by stays behind among the squares.
        lone = ~here[:, np.newaxis]
        for side in () if here.all() else (ours, theirs):
            away = np.abs((side.means[0] - side.sums.anchor) + side.means[1]) * lone
            slack = side.sums.weight_error * lone
            more = bound_of(ours.weights[0][:, np.newaxis], away, side.sums.sum_error * lone, slack)
            error = error + over_classes(more)
    refuse_unbounded(error, "forgetting these rows")
    kept = np.flatnonzero(here)
    weights, means = (weights[0][kept], weights[1][kept]), (means[0][kept], means[1][kept])
    slack = ours.sums.weight_error + theirs.sums.weight_error
    slack = slack if isinstance(slack, float) else slack[kept]
    sums = Sums(anchors[kept], sum_error[kept], error, slack)
    gone, constant = vanished(
        np.diagonal(high), error + more_of_means(weights[0], means, sums), held._variances,
        usual, last_digits(weights[0][:, np.newaxis], means[0]).min(axis=0),
        single=bool(np.all(weights[0] == 1.0)),
    )  # fmt: skip
    slack = slack_after(ours, theirs, weights, kept)
    if gone.any():
        for part in (high, low):
            part[gone] = 0.0
            part[:, gone] = 0.0
        total = weights[0][:, np.newaxis]
        means, sum_error, error = settled(means, constant, usual, total, (sums.sum_error, error))
        anchor = np.where(constant, means[0], sums.anchor)
        sums = sums._replace(anchor=anchor, sum_error=sum_error, error=error)
    return _about_near_anchors(weights, means, (high, low), sums._replace(weight_error=slack))


def _about_near_anchors(weights: Pair, means: Pair, scatter: Pair, sums: Sums) -> Combined:
    """Return classes after an operation in two doubles; `sums` has an error (k,) of weights."""
    slack = sums.weight_error
    sums = sums._replace(weight_error=0.0 if slack is None else slack[:, np.newaxis])
    # Only the scatter of all classes is known: four standard deviations within them.
    sums = nearer(sums, float(weights[0].sum()), means[0], np.diagonal(scatter[0]))
    return Combined(weights, means, scatter, sums.error, sums.sum_error, sums.anchor, slack)


def more_of_means(weights: FloatArray, means: Pair, sums: Sums) -> FloatArray:
    """Return what the errors of weights and means add to e, in the bound of S."""
    away = np.abs((means[0] - sums.anchor) + means[1])
    found = bound_of(weights[:, np.newaxis], away, sums.sum_error, sums.weight_error)
    return over_classes(found)


def slack_after(
    ours: Classes, theirs: Classes, weights: Pair | None, kept: object = slice(None)
) -> FloatArray | None:
    """Return the error (k,) of weights after an operation, or None where there is none."""
    slack = ours.sums.weight_error + theirs.sums.weight_error
    found = None if isinstance(slack, float) else slack[kept, 0]
    if weights is not None and weights[1].any():
        found = PRECISE * weights[0] + (0.0 if found is None else found)
    return None if found is None or not found.any() else found
