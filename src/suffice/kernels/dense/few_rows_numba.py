"""Small batches in two doubles, in numba: the twin for streams.

As in `double_double_numba`, every operation is that of NumPy, in the same order; what is out of the
ordinary (cells that are not finite, squares below the range of a double) is left to it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import float64, intp, njit

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.dense.double_double import GRAM_ERROR
from suffice.kernels.dense.double_double_numba import (
    _gram,
    _plus,
    _root,
    _squared,
    _times,
    _two_sum,
)
from suffice.linear_algebra import EPSILON

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Pair = tuple[float, float]

SMALL_SQUARE = 1e-290
"""Sums of squares below this lose digits (`centres.SMALL_SQUARE`), which NumPy says."""
NO_WEIGHTS = np.empty(0)
"""What stands for weights where every row counts once."""


@njit(nogil=True)
def _centre(rows: Floats, codes: Codes, weights: Floats, held: Floats, centres: Floats) -> None:
    """Write a row of every class plus the mean deviation of its rows from it, by weight."""
    count, width = centres.shape
    first, number = np.full(count, -1), np.zeros(count)
    for r in range(codes.size):
        if first[codes[r]] < 0:
            first[codes[r]] = r
        number[codes[r]] += 1.0
    sums = np.zeros((count, width))
    for r in range(codes.size):
        c = codes[r]
        for j in range(width):
            away = rows[r, j] - rows[first[c], j]
            sums[c, j] += away * (weights[r] / held[c]) if weights.size else away
    for c in range(count):
        for j in range(width):
            mean = sums[c, j] if weights.size else sums[c, j] / number[c]
            centres[c, j] = rows[first[c], j] + mean


def _few_products(
    rows: Floats, codes: Codes, weights: Floats, held: Floats, epsilon: float,
    means: Floats, squares: Floats, error: Floats, sum_error: Floats, said: Floats,
) -> None:  # fmt: skip
    """Summarize several rows by class, with one scatter for all; see `few_rows`."""
    (size, width), count = rows.shape, held.size
    said[0] = 0.0
    centres = np.empty((count, width))
    _centre(rows, codes, weights, held, centres)
    high, low = np.zeros((size, width + count)), np.zeros((size, width + count))
    for r in range(size):
        c = codes[r]
        root = (1.0, 0.0)
        if weights.size:
            root = _root((weights[r], 0.0))
        for j in range(width):
            away = _two_sum(rows[r, j], -centres[c, j])
            if weights.size:
                away = _times(away, root)
            if not math.isfinite(away[0]):
                return
            high[r, j], low[r, j] = away
        high[r, width + c], low[r, width + c] = root
    top, bottom = np.empty((width + count, width + count)), np.empty((width + count, width + count))
    _gram(high, low, top, bottom)
    reach = np.empty((count, width))
    for j in range(width):
        variance, moved, more, still = top[j, j], 0.0, 0.0, True
        for c in range(count):
            total = top[width + c, j]
            shift = total / held[c]
            reach[c, j] = total / np.sqrt(held[c])
            means[0, c, j], means[1, c, j] = _two_sum(centres[c, j], shift)
            wrong = 2.0 * epsilon * abs(total) + GRAM_ERROR * (np.sqrt(held[c]) * np.sqrt(variance))
            sum_error[c, j] = wrong
            moved += reach[c, j] * reach[c, j]
            more += wrong * (2.0 * abs(shift) + 2.0 * wrong / held[c])
            still &= total == 0.0
        if variance < SMALL_SQUARE and not (variance == 0.0 and still):
            return
        error[j] = (GRAM_ERROR * variance + (3.0 + count) * epsilon * moved) + more
    for i in range(width):
        for j in range(width):
            outer = 0.0
            for c in range(count):
                outer += reach[c, i] * reach[c, j]
            s, e = _two_sum(top[i, j], -outer)
            s, e = _two_sum(s, e + bottom[i, j])
            if not math.isfinite(s) or (i == j and s < 0.0):
                return
            squares[0, i, j], squares[1, i, j] = s, e
    said[0] = 1.0


@njit(nogil=True)
def _halved(high: Floats, low: Floats) -> Pair:
    """Return the sum of numbers, halves added to halves; they are overwritten."""
    length = high.size
    while length > 1:
        half = length // 2
        for r in range(half):
            high[r], low[r] = _plus((high[r], low[r]), (high[half + r], low[half + r]))
        if length % 2:
            high[half], low[half] = high[2 * half], low[2 * half]
        length = half + length % 2
    return high[0], low[0]


def _few_squares(
    rows: Floats, codes: Codes, weights: Floats, held: float, epsilon: float, found: Floats,
    said: Floats,
) -> None:  # fmt: skip
    """Summarize several rows column by column; see `few_rows`."""
    size, width = rows.shape
    said[0] = 0.0
    centres = np.empty((1, width))
    _centre(rows, codes, weights, np.full(1, held), centres)
    high, low, top, bottom = np.empty((4, size))
    for j in range(width):
        for r in range(size):
            away = _two_sum(rows[r, j], -centres[0, j])
            part = away
            if weights.size:
                root = _root((weights[r], 0.0))
                away = _times(away, root)
                part = _times(away, root)
            if not math.isfinite(away[0]):
                return
            high[r], low[r] = part
            top[r], bottom[r] = _squared(away)
        total = _halved(high, low)[0]
        square = _halved(top, bottom)
        variance = square[0]
        if variance < SMALL_SQUARE and not (variance == 0.0 and total == 0.0):
            return
        shift, reach = total / held, total / np.sqrt(held)
        s, e = _two_sum(variance, -(reach * reach))
        s, e = _two_sum(s, e + square[1])
        if not (math.isfinite(s) and s >= 0.0):
            return
        found[0, j], found[1, j] = _two_sum(centres[0, j], shift)
        found[2, j], found[3, j] = s, e
        wrong = 2.0 * epsilon * abs(total) + GRAM_ERROR * (np.sqrt(held) * np.sqrt(variance))
        error = GRAM_ERROR * variance + 4.0 * epsilon * (reach * reach)
        found[4, j] = error + wrong * (2.0 * abs(shift) + 2.0 * wrong / held)
        found[5, j] = wrong
    said[0] = 1.0


def few_products(
    rows: Floats, codes: Codes, weights: Floats | None, held: Floats
) -> tuple[Floats, Floats, Floats, Floats] | None:
    """Return means (2, k, d), squares (2, d, d), e (d,) and E (k, d), or None if NumPy has to."""
    count, width = len(held), rows.shape[1]
    means, squares = np.empty((2, count, width)), np.empty((2, width, width))
    error, sum_error, said = np.empty(width), np.empty((count, width)), np.empty(1)
    given = NO_WEIGHTS if weights is None else np.ascontiguousarray(weights)
    codes, rows = np.ascontiguousarray(codes), np.ascontiguousarray(rows)
    _loop_of_products()(rows, codes, given, held, EPSILON, means, squares, error, sum_error, said)
    return (means, squares, error, sum_error) if said[0] else None


def few_squares(rows: Floats, weights: Floats | None, held: float, found: Floats) -> bool:
    """Write mean (2), squares (2), e and E of every column; return whether that was all."""
    given = NO_WEIGHTS if weights is None else np.ascontiguousarray(weights)
    codes, said = np.zeros(len(rows), np.intp), np.empty(1)
    _loop_of_squares()(np.ascontiguousarray(rows), codes, given, held, EPSILON, found, said)
    return bool(said[0])


@once
def _loop_of_products() -> Callable[..., None]:
    one, two, codes = array(float64, 1), array(float64, 2), array(intp, 1)
    return compiled(
        _few_products, two, codes, one, one, float64,
        target(3), target(3), target(1), target(2), target(1),
    )  # fmt: skip


@once
def _loop_of_squares() -> Callable[..., None]:
    one, two, codes = array(float64, 1), array(float64, 2), array(intp, 1)
    return compiled(_few_squares, two, codes, one, float64, float64, target(2), target(1))
