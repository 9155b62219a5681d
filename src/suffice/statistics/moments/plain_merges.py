"""Merges in plain doubles: between the parts of one large batch nothing more is gained.

Sums of many rows are wrong by more than a merge in doubles adds, so that two doubles would only
cost time. In a fit of many rows a compiled loop does it (`plain_merges_numba`), the same bits.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from suffice.kernels.dense.double_double import MOST_ROWS, SHORT_SUM, Pair, plus, worth_a_twin
from suffice.linear_algebra import EPSILON, two_sum
from suffice.statistics.moments.parts import Classes, Combined
from suffice.statistics.moments.rounding import (
    LEAST,
    PER_OPERATION,
    PRECISE,
    added_plainly,
    are_rough,
)
from suffice.statistics.moments.steps import steps_after
from suffice.statistics.moments.what_is_left import Usual, usual_after

if TYPE_CHECKING:
    from suffice.rows import FloatArray
    from suffice.statistics.moments.diagonal import DiagonalMoments
    from suffice.statistics.moments.full import Moments
    from suffice.statistics.moments.pooled import PooledMoments

NONE = np.empty(0)
"""What a loop is given for a part that is not kept: its arguments have one type."""
NONE_BY_CLASS = np.empty((0, 0))
"""The same for a part that has one row for each class."""

D = TypeVar("D", bound="DiagonalMoments")
M = TypeVar("M", bound="Moments")


@cache
def _limits(classes: int) -> FloatArray:
    """Return what compiled loops have to know of rounding, where so many classes are pooled."""
    per_class = EPSILON / 2.0 * classes
    return np.array(
        [PER_OPERATION + per_class, 1.5 * EPSILON, 2.0 * PRECISE, EPSILON, LEAST, PER_OPERATION]
    )


@cache
def _loop(name: str) -> Any:
    """Return a compiled loop."""
    return getattr(import_module("suffice.kernels.dense.plain_merges_numba"), name)()


def _or(part: FloatArray | None, none: FloatArray = NONE) -> FloatArray:
    return none if part is None else np.ascontiguousarray(part)


def columns_merged_plainly(held: D, other: D) -> D | None:
    """Return both, column by column, or None where two doubles are called for."""
    if held.scatter_low is not None or other.scatter_low is not None or held.width == 0:
        return None
    if worth_a_twin():
        found = np.empty((8, held.width))
        _loop("merge_columns")(
            _limits(0), held.counts, _or(held.counts_low), other.counts, _or(other.counts_low),
            held.mean, held.low, held.scatter, held.error,
            _or(held.anchor), _or(held.sum_error), _or(held.counts_error),
            other.mean, other.low, other.scatter, other.error,
            _or(other.anchor), _or(other.sum_error), _or(other.counts_error), found,
        )  # fmt: skip
        if found[7, 0] != 0.0:
            counts, counts_low, mean, low, scatter, sum_error, error, _ = found
            whole = held.counts_error is None and other.counts_error is None
            return _columns(
                held, other, (counts, None if whole else counts_low), (mean, low), scatter,
                error, sum_error,
            )  # fmt: skip
    if not (held._is_rough and other._is_rough and held.counts.all() and other.counts.all()):
        return None
    counts = held.counts + other.counts
    pair: Pair = (counts, None)
    if not (held.counts_error is None and other.counts_error is None):  # else they are whole
        pair = plus(held._counts, other._counts)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = (other.mean - held.mean) + (other.low - held.low)
        share = other.counts / pair[0]
        mean, low = two_sum(held.mean, held.low + gap * share)
        scatter = held.scatter + other.scatter
        scatter += np.square(gap * np.sqrt(held.counts * share))
        error, sum_error = added_plainly(
            held._sums, other._sums, pair[0], other.counts, gap, mean, PER_OPERATION * scatter
        )
    if not are_rough(held.error, other.error, scatter):
        return None
    return _columns(held, other, pair, (mean, low), scatter, error, sum_error)


def _columns(
    held: D,
    other: D,
    counts: Pair,
    mean: Pair,
    scatter: FloatArray,
    error: FloatArray,
    sum_error: FloatArray,
) -> D:
    weight, weight_low = plus((held.weight, held.weight_low), (other.weight, other.weight_low))
    slack: FloatArray | None = None
    low = counts[1]
    if low is not None:
        slack = held._sums.weight_error + other._sums.weight_error
        if low.any():
            slack = slack + PRECISE * counts[0]
        else:
            low = None
    return type(held)(
        weight, counts[0], *mean, scatter, error, None, sum_error, None, weight_low,
        low, slack, *_usual(held, other),
    )  # fmt: skip


def _usual(held: Any, other: Any) -> Usual:
    """Return what is usual of both; of sums with errors nothing is, unless it was before."""
    if held.usual is None and other.usual is None:
        return None, None, steps_after(held, other)
    return usual_after(held, other)


def class_merged_plainly(held: M, other: M, *, always: bool = False) -> M | None:
    """Return both, or None where two doubles are called for, unless it is `always` asked for."""
    if not always and (held.scatter_low is not None or other.scatter_low is not None):
        return None
    slack = held.weight_error + other.weight_error
    if not always and held.width and worth_a_twin():
        width = held.width
        weights, scatter = np.empty((2, 1)), np.empty((width, width))
        error, found = np.empty(width), np.empty((4, 1, width))
        given = np.array(
            [
                held.weight, held.weight_low, held.weight_error,
                other.weight, other.weight_low, other.weight_error,
            ]
        )  # fmt: skip
        _loop("merge_class")(
            _limits(0), given, *_of_class(held), *_of_class(other), weights, scatter, error, found
        )
        if found[3, 0, 0] != 0.0:
            weight, low = weights.tolist()
            return type(held)(
                weight[0], found[0, 0], found[1, 0], scatter, error, None, found[2, 0], None,
                low[0], slack, *_usual(held, other),
            )  # fmt: skip
    if not (always or (held._is_rough and other._is_rough)):
        return None
    total, total_low = plus((held.weight, held.weight_low), (other.weight, other.weight_low))
    with np.errstate(over="ignore", invalid="ignore"):
        gap = (other.mean - held.mean) + (other.low - held.low)
        share = other.weight / total
        mean, mean_low = two_sum(held.mean, held.low + gap * share)
        reach = gap * np.sqrt(held.weight * share)
        scatter = held.scatter + other.scatter + np.multiply.outer(reach, reach)
        rounding = PER_OPERATION * np.diagonal(scatter)
        error, sum_error = added_plainly(
            held._sums, other._sums, total, other.weight, gap, mean, rounding
        )
    if not (always or are_rough(held.error, other.error, np.diagonal(scatter))):
        return None
    return type(held)(
        total, mean, mean_low, scatter, error, None, sum_error, None, total_low, slack,
        *usual_after(held, other),
    )  # fmt: skip


def _of_class(state: Moments) -> list[FloatArray]:
    parts = (state.mean, state.low, state.scatter, state.error, state.anchor, state.sum_error)
    return [_or(part) for part in parts]


def pooled_merged_quickly(held: PooledMoments, other: PooledMoments) -> Combined | None:
    """Return what a compiled loop makes of sums of the same classes, or None where NumPy has to."""
    if held.scatter_low is not None or other.scatter_low is not None or not worth_a_twin():
        return None
    size, width = held.means.shape
    # Of many numbers in one column NumPy adds halves to halves.
    if width == 0 or size > MOST_ROWS or (width == 1 and size >= SHORT_SUM):
        return None
    weights, scatter = np.empty((2, size)), np.empty((width, width))
    error, found = np.empty(width), np.empty((4, size, width))
    _loop("merge_classes")(
        _limits(size), _or(held.weights), _or(held.weights_low),
        _or(other.weights), _or(other.weights_low),
        *_of_classes(held), *_of_classes(other), weights, scatter, error, found,
    )  # fmt: skip
    if found[3, 0, 0] == 0.0:
        return None
    slack = None
    if held.weights_error is not None or other.weights_error is not None:
        both = [e for e in (held.weights_error, other.weights_error) if e is not None]
        slack = np.sum(both, axis=0)
        slack = slack if slack.any() else None
    return Combined(
        (weights[0], weights[1]), (found[0], found[1]), (scatter, None), error, found[2], None,
        slack,
    )  # fmt: skip


def _of_classes(state: PooledMoments) -> list[FloatArray]:
    return [
        _or(state.means), _or(state.lows), _or(state.scatter), _or(state.error),
        _or(state.anchors, NONE_BY_CLASS), _or(state.sum_error, NONE_BY_CLASS),
        _or(state.weights_error),
    ]  # fmt: skip


def pooled_merged_plainly(
    ours: Classes, theirs: Classes, held: PooledMoments, other: PooledMoments
) -> tuple[Pair, Pair, FloatArray, FloatArray, FloatArray]:
    """Return weights and means in two doubles, scatter, e and E of the same classes, merged."""
    w_a, w_b = ours.weights[0], theirs.weights[0]
    weights = plus(ours.weights, theirs.weights)
    (m_a, l_a), (m_b, l_b) = ours.means, theirs.means
    with np.errstate(over="ignore", invalid="ignore"):
        share = (w_b / weights[0])[:, np.newaxis]
        gap = (m_b - m_a) + (l_b - l_a)
        base, low = m_a, l_a
        if not (w_a.all() and w_b.all()):  # a class that is new has no mean to move from
            both, fresh = ((w_a > 0.0) & (w_b > 0.0))[:, np.newaxis], (w_a == 0.0)[:, np.newaxis]
            gap = np.where(both, gap, 0.0)
            base, low = np.where(fresh, m_b, m_a), np.where(fresh, l_b, l_a)
        means: Pair = two_sum(base, low + gap * share)
        reach = gap * np.sqrt(w_a[:, np.newaxis] * share)
        scatter = held.scatter + other.scatter + _products(reach)
        rounding = (PER_OPERATION + EPSILON / 2.0 * len(w_a)) * np.diagonal(scatter)
        error, sum_error = added_plainly(
            ours.sums, theirs.sums, weights[0][:, np.newaxis], w_b[:, np.newaxis], gap, means[0],
            rounding,
        )  # fmt: skip
    return weights, means, scatter, error, sum_error


def _products(reach: FloatArray) -> FloatArray:
    """Return Σ_c reach reachᵀ (d, d); of few classes in their order, as a compiled loop adds."""
    if len(reach) > MOST_ROWS:
        return reach.T @ reach
    found: FloatArray = np.multiply.outer(reach[0], reach[0])
    for each in reach[1:]:
        found += np.multiply.outer(each, each)
    return found
