"""Merges and subtractions of moments in two doubles, in numba: the twin for streams.

Over a few rows NumPy spends its time on calls, not on numbers. Here one call does what a merge or
a subtraction asks for. Every operation is that of `double_double`, on the same
numbers in the same order, and nothing may be reassociated or fused, so that results are the same
to the last bit. Whatever is out of the ordinary (a class that vanishes, a variance that is gone, an
anchor to be moved, weights at the end of the range) is left to NumPy: the answer is then False.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import boolean, float64, njit

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.dense.double_double import GRAM_ERROR, SLICE, SLICES, SPLITTER

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Pair = tuple[float, float]

TOP, BOTTOM = 1e100, 1e-100
"""Weights beyond these are in other units (`rounding.in_units`), which NumPy does."""
NEARLY = 0.99
"""An anchor that may have to be moved, and a variance that may be gone, are left to NumPy a little
early: it is NumPy that decides."""


@njit(nogil=True)
def _two_sum(a: float, b: float) -> Pair:
    s = a + b
    bb = s - a
    return s, (a - (s - bb)) + (b - bb)


@njit(nogil=True)
def _quick_two_sum(a: float, b: float) -> Pair:
    s = a + b
    return s, b - (s - a)


@njit(nogil=True)
def _two_product(a: float, b: float) -> Pair:
    p = a * b
    t = SPLITTER * a
    a1 = t - (t - a)
    a2 = a - a1
    t = SPLITTER * b
    b1 = t - (t - b)
    b2 = b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


@njit(nogil=True)
def _plus(a: Pair, b: Pair) -> Pair:
    s, e = _two_sum(a[0], b[0])
    return _quick_two_sum(s, e + (a[1] + b[1]))


@njit(nogil=True)
def _minus(a: Pair, b: Pair) -> Pair:
    s, e = _two_sum(a[0], -b[0])
    t, f = _two_sum(a[1], -b[1])
    s, e = _quick_two_sum(s, e + t)
    return _quick_two_sum(s, e + f)


@njit(nogil=True)
def _times(a: Pair, b: Pair) -> Pair:
    p, e = _two_product(a[0], b[0])
    return _quick_two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


@njit(nogil=True)
def _over(a: Pair, b: Pair) -> Pair:
    q = a[0] / b[0]
    p, e = _two_product(q, b[0])
    rest = ((a[0] - p) - e) + (a[1] - q * b[1])
    return _quick_two_sum(q, rest / b[0])


@njit(nogil=True)
def _root(a: Pair) -> Pair:
    r = np.sqrt(a[0])
    p, e = _two_product(r, r)
    rest = ((a[0] - p) - e) + a[1]
    return _quick_two_sum(r, rest / (2.0 * r if r > 0.0 else 1.0))


@njit(nogil=True)
def _squared(a: Pair) -> Pair:
    p, e = _two_product(a[0], a[0])
    return _quick_two_sum(p, e + 2.0 * (a[0] * a[1]))


@njit(nogil=True)
def _outer_square(high: Floats, low: Floats, top: Floats, bottom: Floats) -> None:
    """Write aaᵀ (d, d) of a vector."""
    width = high.size
    first = np.empty(width)
    for j in range(width):
        t = SPLITTER * high[j]
        first[j] = t - (t - high[j])
    for i in range(width):
        for j in range(width):
            p = high[i] * high[j]
            rest_i, rest_j = high[i] - first[i], high[j] - first[j]
            e = first[i] * first[j] - p
            e += first[i] * rest_j
            e += first[j] * rest_i
            e += rest_i * rest_j
            e += high[i] * low[j] + high[j] * low[i]
            top[i, j] = p
            bottom[i, j] = e


@njit(nogil=True)
def _gram(high: Floats, low: Floats, top: Floats, bottom: Floats) -> None:
    """Write Σ xxᵀ (d, d) over at most 32 rows (n, d), of which products are added up exactly."""
    size, width = high.shape
    exponents = np.zeros(width, np.intp)
    slices = np.empty((SLICES, width, size))
    for j in range(width):
        most = 0.0
        for r in range(size):
            most = max(most, abs(high[r, j]))
        exponents[j] = math.frexp(most)[1]
        for r in range(size):
            rest = math.ldexp(high[r, j], -exponents[j])
            unit = 1.0
            for place in range(SLICES):
                if place == 2:
                    rest = rest + math.ldexp(low[r, j], -exponents[j])
                unit *= SLICE
                whole = np.rint(rest * unit)
                slices[place, j, r] = whole
                rest = rest - whole / unit
    levels = np.empty(SLICES)
    for i in range(width):
        for j in range(i + 1):
            unit = SLICE
            for level in range(SLICES):
                total = 0.0
                for place in range(level + 1):
                    ours, theirs = slices[place, i], slices[level - place, j]
                    for r in range(size):
                        total += ours[r] * theirs[r]
                unit *= SLICE
                levels[level] = total / unit
            s, e = _two_sum(levels[0], levels[1])
            s, e = _two_sum(s, e + (levels[2] + levels[3]))
            back = exponents[i] + exponents[j]
            top[i, j] = top[j, i] = math.ldexp(s, back)
            bottom[i, j] = bottom[j, i] = math.ldexp(e, back)


@njit(nogil=True)
def _move(
    sign: float, weights: tuple[Pair, Pair, Pair], ours: tuple[float, float],
    theirs: tuple[float, float], per_sum: float,
) -> tuple[Pair, Pair, float]:  # fmt: skip
    """Return mean and reach of one cell, and what moving it adds to the error of its sum."""
    base, other, left = weights
    gap = _minus(theirs, ours) if sign > 0.0 else _minus(ours, theirs)
    share = _over(other, left)
    mean = _plus(ours, _times(gap, share))
    reach = _times(gap, _root(_times(base, share)))
    heaviest = max(left[0], base[0])
    size = max(abs(ours[0]), abs(theirs[0]))
    there = 1.0 if gap[0] != 0.0 else 0.0
    return mean, reach, per_sum * (other[0] * abs(gap[0]) + heaviest * size * there)


@njit(nogil=True)
def _about(away: float, sum_error: float, slack: float) -> Pair:
    """Return E about another anchor, and what is added to e."""
    moved = away * slack
    return sum_error + moved, away * (2.0 * sum_error + moved)


@njit(nogil=True)
def _ordinary(
    sign: float, weight: float, variance: float, error: float, bound: float, drift: float,
    far: float,
) -> bool:  # fmt: skip
    """Whether nothing is to be said of a column but its numbers."""
    if not (math.isfinite(error) and math.isfinite(variance)):
        return False
    if weight * (drift * drift) > NEARLY * far * variance:
        return False
    return sign > 0.0 or NEARLY * variance > bound


def _classes(  # noqa: PLR0912, PLR0915  one pass over all that a merge touches
    sign: float, nothing: bool, limits: Floats,
    w_a: Floats, x_a: Floats, w_b: Floats, x_b: Floats,
    m_a: Floats, l_a: Floats, m_b: Floats, l_b: Floats,
    s_a: Floats, t_a: Floats, s_b: Floats, t_b: Floats,
    o_a: Floats, o_b: Floats, sum_a: Floats, sum_b: Floats, e_a: Floats, e_b: Floats,
    v_a: Floats, v_b: Floats, weights: Floats, means: Floats, scatter: Floats, error: Floats,
    known: Floats,
) -> None:  # fmt: skip
    """Merge or subtract classes; `known` is E (k, d), anchors (k, d) and whether that was all."""
    per_square, per_sum, firm, far = limits
    size, width = m_a.shape
    reach = np.zeros((2, size, width))
    touched = 0
    for j in range(width):
        error[j] = e_a[j] + e_b[j]
    ours, theirs, more, squares = np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(width)
    bounds, drift = np.zeros(width), np.zeros(width)
    known[2, 0, 0] = 0.0
    whole = 0.0
    for c in range(size):
        base, other = (w_a[c], x_a[c]), (w_b[c], x_b[c])
        left = _plus(base, other) if sign > 0.0 else _minus(base, other)
        if not BOTTOM < left[0] < TOP or (sign < 0.0 and not left[0] > 1e-9 * base[0]):
            return
        weights[0, c], weights[1, c] = left
        whole += left[0]
        both = base[0] > 0.0 and other[0] > 0.0
        slack = v_a[c] + v_b[c]
        for j in range(width):
            held = m_a[c, j], l_a[c, j]
            moving = 0.0
            if base[0] == 0.0:
                held = m_b[c, j], l_b[c, j]
            elif both:
                came = m_b[c, j], l_b[c, j]
                held, far_reach, moving = _move(sign, (base, other, left), held, came, per_sum)
                reach[0, touched, j], reach[1, touched, j] = far_reach
                squares[j] += far_reach[0] * far_reach[0]
            means[0, c, j], means[1, c, j] = held
            anchor = o_a[c, j]
            if sign > 0.0:
                anchor = o_a[c, j] if base[0] >= other[0] else o_b[c, j]
                if not max(base[0], other[0]) >= firm:
                    anchor = held[0]
            own, extra = _about(abs(o_a[c, j] - anchor), sum_a[c, j], v_a[c])
            ours[j] += extra
            sum_error = moving + own
            own, extra = _about(abs(o_b[c, j] - anchor), sum_b[c, j], v_b[c])
            theirs[j] += extra
            sum_error = sum_error + own
            away = abs((held[0] - anchor) + held[1])
            more[j] += moving * (2.0 * away + moving / left[0])
            bounds[j] += away * (2.0 * sum_error + away * slack) + sum_error * (sum_error / left[0])
            drift[j] = max(drift[j], abs(held[0] - anchor))
            known[0, c, j] = sum_error
            known[1, c, j] = anchor
        touched += both
    square = np.zeros((2, width, width))
    if touched == 1:
        _outer_square(reach[0, 0], reach[1, 0], square[0], square[1])
    elif touched:
        _gram(reach[0, :touched], reach[1, :touched], square[0], square[1])
    factor = per_square if touched == 1 else per_square + GRAM_ERROR
    for i in range(width):
        for j in range(width):
            held = s_a[i, j], t_a[i, j]
            if not nothing:
                held = _plus(held, (sign * s_b[i, j], sign * t_b[i, j]))
            held = _plus(held, (sign * square[0, i, j], sign * square[1, i, j]))
            scatter[0, i, j], scatter[1, i, j] = held
    for j in range(width):
        rounding = per_square * (s_a[j, j] + s_b[j, j]) + factor * squares[j]
        error[j] = (((error[j] + rounding) + ours[j]) + theirs[j]) + more[j]
        variance = scatter[0, j, j]
        bound = error[j] + bounds[j]
        if not _ordinary(sign, whole, variance, error[j], bound, drift[j], far):
            return
    known[2, 0, 0] = 1.0


def _columns(
    sign: float, limits: Floats, w_a: Floats, x_a: Floats, w_b: Floats, x_b: Floats,
    a: Floats, b: Floats, t_b: bool, found: Floats,
) -> None:  # fmt: skip
    """Merge or subtract columns by themselves.

    Rows of `a` and `b` are mean (2), scatter (2), anchor, E, e and the error of the weights; those
    of `found` weights (2), mean (2), scatter (2), anchor, E, e, and 1 in the last if that was all.
    """
    per_square, per_sum, firm, far = limits
    width = w_a.size
    found[9, 0] = 0.0
    for j in range(width):
        base, other = (w_a[j], x_a[j]), (w_b[j], x_b[j])
        left = _plus(base, other) if sign > 0.0 else _minus(base, other)
        if not (BOTTOM < left[0] < TOP and base[0] > 0.0 and other[0] > 0.0):
            return
        if sign < 0.0 and not left[0] > 1e-9 * base[0]:
            return
        held, came = (a[0, j], a[1, j]), (b[0, j], b[1, j])
        mean, reach, moving = _move(sign, (base, other, left), held, came, per_sum)
        square = _squared(reach)
        total = a[2, j], a[3, j]
        if t_b:
            total = _plus(total, (sign * b[2, j], sign * b[3, j]))
        total = _plus(total, (sign * square[0], sign * square[1]))
        anchor = a[4, j]
        if sign > 0.0:
            anchor = a[4, j] if base[0] >= other[0] else b[4, j]
            if not max(base[0], other[0]) >= firm:
                anchor = mean[0]
        rounding = per_square * (a[2, j] + b[2, j] + reach[0] * reach[0])
        error = a[6, j] + b[6, j] + rounding
        own, extra = _about(abs(a[4, j] - anchor), a[5, j], a[7, j])
        sum_error, error = moving + own, error + extra
        own, extra = _about(abs(b[4, j] - anchor), b[5, j], b[7, j])
        sum_error, error = sum_error + own, error + extra
        away = abs((mean[0] - anchor) + mean[1])
        error = error + moving * (2.0 * away + moving / left[0])
        bound = error + (
            away * (2.0 * sum_error + away * (a[7, j] + b[7, j]))
            + sum_error * (sum_error / left[0])
        )
        if not _ordinary(sign, left[0], total[0], error, bound, abs(mean[0] - anchor), far):
            return
        found[0, j], found[1, j] = left
        found[2, j], found[3, j] = mean
        found[4, j], found[5, j] = total
        found[6, j], found[7, j], found[8, j] = anchor, sum_error, error
    found[9, 0] = 1.0


@once
def combine_classes() -> Callable[..., None]:
    """Return `_classes`, compiled."""
    one, two = array(float64, 1), array(float64, 2)
    return compiled(
        _classes, float64, boolean, one, *[one] * 4, *[two] * 4, *[two] * 4, *[two] * 4, one, one,
        one, one, target(2), target(3), target(3), target(1), target(3),
    )  # fmt: skip


@once
def combine_columns() -> Callable[..., None]:
    """Return `_columns`, compiled."""
    one, two = array(float64, 1), array(float64, 2)
    return compiled(_columns, float64, one, *[one] * 4, two, two, boolean, target(2))
