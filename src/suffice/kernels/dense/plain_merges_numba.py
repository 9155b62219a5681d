"""Merges of moments in plain doubles, in numba: the twin between the parts of a large fit.

A fit of many rows is cut into blocks, and each of their merges is two dozen calls of NumPy on a few
numbers. Here it is one call. Operations are those of NumPy in the same order, and nothing is
reassociated or fused, so that results are the same to the last bit. What is out of the ordinary
(cells that were never seen, sums beyond all doubles, errors so small that a merge in plain doubles
would add to them) is left to NumPy: the last row of what is found is then zero.

A part that is not kept comes as an empty array.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import float64, njit

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.dense.double_double_numba import _plus, _two_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@njit(nogil=True, inline="always")
def _sum_error(weight: float, variance: float, error: float, least: float) -> float:
    """Return what the error of squares says of that of a sum (`rounding.implied_sum_error`)."""
    return float(np.sqrt(weight) * (error / np.sqrt(max(variance, error, least))))


@njit(nogil=True, inline="always")
def _are_rough(e_a: Floats, e_b: Floats, variances: Floats, per_operation: float) -> bool:
    """Whether both are sums in plain doubles, whose errors a merge adds little to."""
    ours = theirs = False
    varying = enough = 0
    for j in range(variances.size):
        ours |= e_a[j] != 0.0
        theirs |= e_b[j] != 0.0
        if variances[j] > 0.0:
            varying += 1
            enough += min(e_a[j], e_b[j]) >= per_operation * variances[j]
    return ours and theirs and 2 * enough >= varying


def _columns(
    limits: Floats, w_a: Floats, x_a: Floats, w_b: Floats, x_b: Floats,
    m_a: Floats, l_a: Floats, s_a: Floats, e_a: Floats, o_a: Floats, sum_a: Floats, v_a: Floats,
    m_b: Floats, l_b: Floats, s_b: Floats, e_b: Floats, o_b: Floats, sum_b: Floats, v_b: Floats,
    found: Floats,
) -> None:  # fmt: skip
    """Merge columns by themselves.

    Rows of `found` are weights (2), mean (2), scatter, E and e, and 1 in the last if that was all.
    """
    rounding, per_gap, per_mean, epsilon, least, per_operation = limits
    width = w_a.size
    found[7, 0] = 0.0
    for j in range(width):
        if w_a[j] == 0.0 or w_b[j] == 0.0:
            return
        low_a = x_a[j] if x_a.size else 0.0
        low_b = x_b[j] if x_b.size else 0.0
        weight, weight_low = _plus((w_a[j], low_a), (w_b[j], low_b))
        gap = (m_b[j] - m_a[j]) + (l_b[j] - l_a[j])
        share = w_b[j] / weight
        mean, low = _two_sum(m_a[j], l_a[j] + gap * share)
        reach = gap * np.sqrt(w_a[j] * share)
        scatter = (s_a[j] + s_b[j]) + reach * reach
        away = abs(gap)
        size = abs(mean) + away if away > 0.0 else 0.0
        moving = (per_gap * w_b[j]) * away + (per_mean * weight) * size
        error = (e_a[j] + e_b[j]) + rounding * scatter
        own = sum_a[j] if sum_a.size else _sum_error(w_a[j], s_a[j], e_a[j], least)
        drift = abs((o_a[j] if o_a.size else m_a[j]) - mean)
        moved = drift * (v_a[j] if v_a.size else 0.0)
        sum_error = moving + (own + moved)
        error += drift * (2.0 * own + moved)
        own = sum_b[j] if sum_b.size else _sum_error(w_b[j], s_b[j], e_b[j], least)
        drift = abs((o_b[j] if o_b.size else m_b[j]) - mean)
        moved = drift * (v_b[j] if v_b.size else 0.0)
        sum_error += own + moved
        error += drift * (2.0 * own + moved)
        error += moving * (epsilon * size + moving / weight)
        if not (math.isfinite(error) and math.isfinite(sum_error) and math.isfinite(scatter)):
            return
        found[0, j], found[1, j], found[2, j], found[3, j] = weight, weight_low, mean, low
        found[4, j], found[5, j], found[6, j] = scatter, sum_error, error
    if _are_rough(e_a, e_b, found[4], per_operation):
        found[7, 0] = 1.0


@njit(nogil=True)
def _merge(
    limits: Floats, w_a: Floats, x_a: Floats, w_b: Floats, x_b: Floats,
    m_a: Floats, l_a: Floats, s_a: Floats, e_a: Floats, o_a: Floats, sum_a: Floats, v_a: Floats,
    m_b: Floats, l_b: Floats, s_b: Floats, e_b: Floats, o_b: Floats, sum_b: Floats, v_b: Floats,
    weights: Floats, scatter: Floats, error: Floats, found: Floats,
) -> None:  # fmt: skip
    rounding, per_gap, per_mean, epsilon, least, per_operation = limits
    size, width = m_a.shape
    reach, ours, theirs = np.empty((size, width)), np.zeros(width), np.zeros(width)
    more, variances = np.zeros(width), np.empty(width)
    found[3, 0, 0] = 0.0
    for c in range(size):
        if w_a[c] == 0.0 or w_b[c] == 0.0:
            return
        low_a = x_a[c] if x_a.size else 0.0
        low_b = x_b[c] if x_b.size else 0.0
        weight, weights[1, c] = _plus((w_a[c], low_a), (w_b[c], low_b))
        weights[0, c] = weight
        share = w_b[c] / weight
        root = np.sqrt(w_a[c] * share)
        slack_a = v_a[c] if v_a.size else 0.0
        slack_b = v_b[c] if v_b.size else 0.0
        for j in range(width):
            gap = (m_b[c, j] - m_a[c, j]) + (l_b[c, j] - l_a[c, j])
            mean, low = _two_sum(m_a[c, j], l_a[c, j] + gap * share)
            reach[c, j] = gap * root
            away = abs(gap)
            large = abs(mean) + away if away > 0.0 else 0.0
            moving = (per_gap * w_b[c]) * away + (per_mean * weight) * large
            own = sum_a[c, j] if sum_a.size else _sum_error(w_a[c], s_a[j, j], e_a[j], least)
            drift = abs((o_a[c, j] if o_a.size else m_a[c, j]) - mean)
            moved = drift * slack_a
            sum_error = moving + (own + moved)
            ours[j] += drift * (2.0 * own + moved)
            own = sum_b[c, j] if sum_b.size else _sum_error(w_b[c], s_b[j, j], e_b[j], least)
            drift = abs((o_b[c, j] if o_b.size else m_b[c, j]) - mean)
            moved = drift * slack_b
            sum_error += own + moved
            theirs[j] += drift * (2.0 * own + moved)
            more[j] += moving * (epsilon * large + moving / weight)
            if not math.isfinite(sum_error):
                return
            found[0, c, j], found[1, c, j], found[2, c, j] = mean, low, sum_error
    for i in range(width):
        for j in range(width):
            product = reach[0, i] * reach[0, j]
            for c in range(1, size):
                product += reach[c, i] * reach[c, j]
            scatter[i, j] = (s_a[i, j] + s_b[i, j]) + product
    for j in range(width):
        variances[j] = scatter[j, j]
        error[j] = (e_a[j] + e_b[j]) + rounding * variances[j]
        error[j] = ((error[j] + ours[j]) + theirs[j]) + more[j]
        if not (math.isfinite(error[j]) and math.isfinite(variances[j])):
            return
    if _are_rough(e_a, e_b, variances, per_operation):
        found[3, 0, 0] = 1.0


def _classes(
    limits: Floats, w_a: Floats, x_a: Floats, w_b: Floats, x_b: Floats,
    m_a: Floats, l_a: Floats, s_a: Floats, e_a: Floats, o_a: Floats, sum_a: Floats, v_a: Floats,
    m_b: Floats, l_b: Floats, s_b: Floats, e_b: Floats, o_b: Floats, sum_b: Floats, v_b: Floats,
    weights: Floats, scatter: Floats, error: Floats, found: Floats,
) -> None:  # fmt: skip
    """Merge classes (k, …) with one scatter (d, d) for all of them.

    `found` has the means in two doubles (2, k, d) and E, and 1 in the last if that was all.
    """
    _merge(
        limits, w_a, x_a, w_b, x_b, m_a, l_a, s_a, e_a, o_a, sum_a, v_a,
        m_b, l_b, s_b, e_b, o_b, sum_b, v_b, weights, scatter, error, found,
    )  # fmt: skip


def _one_class(
    limits: Floats, held: Floats, m_a: Floats, l_a: Floats, s_a: Floats, e_a: Floats,
    o_a: Floats, sum_a: Floats, m_b: Floats, l_b: Floats, s_b: Floats, e_b: Floats,
    o_b: Floats, sum_b: Floats, weights: Floats, scatter: Floats, error: Floats, found: Floats,
) -> None:  # fmt: skip
    """Merge one class: `held` has its weights in two doubles and their errors, of either side."""
    w_a, x_a, v_a, w_b, x_b, v_b = held
    _merge(
        limits, np.array([w_a]), np.array([x_a]), np.array([w_b]), np.array([x_b]),
        m_a.reshape(1, m_a.size), l_a.reshape(1, m_a.size), s_a, e_a,
        o_a.reshape(min(o_a.size, 1), o_a.size), sum_a.reshape(min(sum_a.size, 1), sum_a.size),
        np.array([v_a]),
        m_b.reshape(1, m_a.size), l_b.reshape(1, m_a.size), s_b, e_b,
        o_b.reshape(min(o_b.size, 1), o_b.size), sum_b.reshape(min(sum_b.size, 1), sum_b.size),
        np.array([v_b]), weights, scatter, error, found,
    )  # fmt: skip


@once
def merge_columns() -> Callable[..., None]:
    """Return `_columns`, compiled."""
    return compiled(_columns, *[array(float64, 1, "A")] * 19, target(2))


@once
def merge_classes() -> Callable[..., None]:
    """Return `_classes`, compiled."""
    one, two = array(float64, 1), array(float64, 2)
    side = [two, two, two, one, two, two, one]
    return compiled(_classes, *[one] * 5, *side, *side, target(2), target(2), target(1), target(3))


@once
def merge_class() -> Callable[..., None]:
    """Return `_one_class`, compiled."""
    one, two = array(float64, 1), array(float64, 2)
    side = [one, one, two, one, one, one]
    return compiled(_one_class, one, one, *side, *side, target(2), target(2), target(1), target(3))
