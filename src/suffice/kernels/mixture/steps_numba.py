"""The step of EM in numba: a few rows by columns in a buffer, through each component in turn.

Rows of a block lie by columns, so that every coefficient of a triangle is applied to a whole block
at once. Products are added up a coefficient at a time, over the block, by symmetry half of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import float64, njit

from suffice.kernels.compilation import array, compiled, once_for, target
from suffice.kernels.lanes.exponentials_numba import exponential

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.kernels.mixture.steps import Floats, Sums

BLOCK = 256
"""Rows in the buffer: two kilobytes a column, for the first cache's sake."""


def mixture_sums(
    rows: Floats,
    weights: Floats,
    means: Floats,
    whitenings: Floats,
    constants: Floats,
    outside: float,
) -> Sums:
    """See `steps.mixture_sums`."""
    size, width = means.shape
    diagonal = whitenings.ndim == 2
    totals, held, firsts = np.zeros(2), np.zeros(size), np.zeros((size, width))
    flat = np.ascontiguousarray(whitenings).reshape(size, -1)
    seconds = np.zeros((size, width if diagonal else width * width))
    loop = _loop(diagonal)
    given = (np.ascontiguousarray(one) for one in (weights, means, flat, constants))
    # -inf would be no number after a subtraction: what has no density has next to none.
    least = np.array([max(outside, -1e300)])
    loop(np.ascontiguousarray(rows), *given, least, totals, held, firsts, seconds)
    if diagonal:
        return float(totals[0]), float(totals[1]), held, firsts, seconds
    products = seconds.reshape(size, width, width)
    products += np.tril(products, -1).transpose(0, 2, 1)
    return float(totals[0]), float(totals[1]), held, firsts, products


@once_for(lambda: [(True,), (False,)])
def _loop(diagonal: bool) -> Callable[..., None]:
    inputs = (array(float64, 2), array(float64, 1), array(float64, 2), array(float64, 2))
    more = (array(float64, 1), array(float64, 1))
    outputs = (target(1), target(1), target(2), target(2))
    return compiled(_diagonal if diagonal else _full, *inputs, *more, *outputs)


def _full(
    rows: Floats,
    weights: Floats,
    means: Floats,
    whitenings: Floats,
    constants: Floats,
    outside: Floats,
    totals: Floats,
    held: Floats,
    firsts: Floats,
    seconds: Floats,
) -> None:
    size, width = means.shape
    cells, gaps = np.empty((width, BLOCK)), np.empty((width, BLOCK))
    white, scores = np.empty(BLOCK), np.empty((size, BLOCK))
    for start in range(0, len(rows), BLOCK):
        many = min(BLOCK, len(rows) - start)
        _by_columns(rows, start, many, cells)
        for c in range(size):
            _centred(cells, means[c], gaps)
            _whitened_squares(gaps, whitenings[c], constants[c], white, scores[c])
        _shares(scores, weights, start, many, outside[0], totals)
        for c in range(size):
            _centred(cells, means[c], gaps)
            held[c] += _products(gaps, scores[c], white, firsts[c], seconds[c])


def _diagonal(
    rows: Floats,
    weights: Floats,
    means: Floats,
    whitenings: Floats,
    constants: Floats,
    outside: Floats,
    totals: Floats,
    held: Floats,
    firsts: Floats,
    seconds: Floats,
) -> None:
    size, width = means.shape
    cells, scores = np.empty((width, BLOCK)), np.empty((size, BLOCK))
    for start in range(0, len(rows), BLOCK):
        many = min(BLOCK, len(rows) - start)
        _by_columns(rows, start, many, cells)
        for c in range(size):
            _scaled_squares(cells, means[c], whitenings[c], constants[c], scores[c])
        _shares(scores, weights, start, many, outside[0], totals)
        for c in range(size):
            held[c] += _squares(cells, means[c], scores[c], firsts[c], seconds[c])


@njit(nogil=True, fastmath={"contract"})
def _centred(cells: Floats, means: Floats, gaps: Floats) -> None:
    for j in range(len(means)):
        middle = means[j]
        for i in range(BLOCK):
            gaps[j, i] = cells[j, i] - middle


@njit(nogil=True, fastmath={"contract"})
def _whitened_squares(
    gaps: Floats, whitening: Floats, constant: float, white: Floats, out: Floats
) -> None:
    """Write constant - ½‖W(x - m)‖², four coefficients of a row of W at a time."""
    width = len(gaps)
    for i in range(BLOCK):
        out[i] = constant
    for j in range(width):
        row = whitening[j * width : j * width + j + 1]
        for i in range(BLOCK):
            white[i] = 0.0
        m = 0
        while m + 4 <= j + 1:
            a, b, c, d = row[m], row[m + 1], row[m + 2], row[m + 3]
            for i in range(BLOCK):
                white[i] += (
                    a * gaps[m, i] + b * gaps[m + 1, i] + c * gaps[m + 2, i] + d * gaps[m + 3, i]
                )
            m += 4
        while m < j + 1:
            a = row[m]
            for i in range(BLOCK):
                white[i] += a * gaps[m, i]
            m += 1
        for i in range(BLOCK):
            out[i] -= 0.5 * white[i] * white[i]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _products(
    gaps: Floats, shares: Floats, white: Floats, firsts: Floats, seconds: Floats
) -> float:
    """Add up shares, shares·gaps, and the lower half of their products; return the first."""
    held = 0.0
    for i in range(BLOCK):
        held += shares[i]
    if held == 0.0:
        return held
    width = len(gaps)
    for j in range(width):
        total = 0.0
        for i in range(BLOCK):
            white[i] = shares[i] * gaps[j, i]
            total += white[i]
        firsts[j] += total
        m = 0
        while m + 2 <= j + 1:
            one = other = 0.0
            for i in range(BLOCK):
                one += white[i] * gaps[m, i]
                other += white[i] * gaps[m + 1, i]
            seconds[j * width + m] += one
            seconds[j * width + m + 1] += other
            m += 2
        if m < j + 1:
            one = 0.0
            for i in range(BLOCK):
                one += white[i] * gaps[m, i]
            seconds[j * width + m] += one
    return held


@njit(nogil=True, fastmath={"contract"})
def _scaled_squares(
    cells: Floats, means: Floats, scales: Floats, constant: float, out: Floats
) -> None:
    for i in range(BLOCK):
        out[i] = constant
    for j in range(len(means)):
        middle, factor = means[j], scales[j]
        for i in range(BLOCK):
            white = factor * (cells[j, i] - middle)
            out[i] -= 0.5 * white * white


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _squares(
    cells: Floats, means: Floats, shares: Floats, firsts: Floats, seconds: Floats
) -> float:
    held = 0.0
    for i in range(BLOCK):
        held += shares[i]
    for j in range(len(means)):
        middle = means[j]
        first = second = 0.0
        for i in range(BLOCK):
            gap = cells[j, i] - middle
            part = shares[i] * gap
            first += part
            second += part * gap
        firsts[j] += first
        seconds[j] += second
    return held


@njit(nogil=True, fastmath={"contract"})
def _by_columns(rows: Floats, start: int, many: int, cells: Floats) -> None:
    """Lay a block of rows by columns; what is left of a block repeats its first row."""
    width = rows.shape[1]
    for i in range(BLOCK):
        place = start + (i if i < many else 0)
        for j in range(width):
            cells[j, i] = rows[place, j]


@njit(nogil=True, fastmath={"contract", "reassoc"})
def _shares(
    scores: Floats, weights: Floats, start: int, many: int, outside: float, totals: Floats
) -> None:
    """Turn log joint densities into weighted responsibilities, zero beyond the block's rows."""
    size = scores.shape[0]
    top, total = np.empty(BLOCK), np.empty(BLOCK)
    for i in range(BLOCK):
        top[i] = outside
    for c in range(size):
        for i in range(BLOCK):
            top[i] = max(top[i], scores[c, i])
    for i in range(BLOCK):
        total[i] = exponential(outside - top[i])
    noise = 0.0
    likelihood = 0.0
    away = total.copy()
    for c in range(size):
        for i in range(BLOCK):
            scores[c, i] = exponential(scores[c, i] - top[i])
            total[i] += scores[c, i]
    for i in range(BLOCK):
        own = 1.0
        if i >= many:
            own = 0.0
        elif len(weights) > 0:
            own = weights[start + i]
        likelihood += own * (np.log(total[i]) + top[i])
        top[i] = own / total[i]
        noise += top[i] * away[i]
    for c in range(size):
        for i in range(BLOCK):
            scores[c, i] *= top[i]
    totals[0] += likelihood
    totals[1] += noise
