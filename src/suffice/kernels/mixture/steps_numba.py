"""The step of EM in numba: a few rows by columns in a buffer, through each component in turn.

Rows of a block lie by columns, so that every coefficient of a triangle is applied to a whole block
at once. Products are added up by tiles of their coefficients, over the block, by symmetry half of
them.
Where a component has few rows of a block, these wait until they are a block themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import float64, njit

from suffice.kernels.compilation import array, compiled, once_for, target
from suffice.kernels.lanes.exponentials_numba import exponential
from suffice.kernels.mixture.steps import LEAST

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.mixture.steps import Floats, Sums

    Places = NDArray[np.intp]

BLOCK = 256
"""Rows in the buffer: two kilobytes a column, for the first cache's sake."""
TILE = 4
"""Rows and columns of a tile of W: sixteen coefficients, and what they meet, fill the registers."""
LINE = 8
"""Rows that are laid by columns at a time: what is written of a column is then a cache line. One
row after the other, all columns would fall on the same few places of the cache."""
FEW = BLOCK // 2
"""Rows of a block that are gathered, at most: of more, going through all of them is faster."""


def mixture_sums(
    rows: Floats,
    frame: Floats,
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
    if not diagonal:  # rows and columns of nothing fill the last tiles
        more = _tiled(width) - width
        whitenings = np.pad(whitenings, ((0, 0), (0, more), (0, more)))
    flat = np.ascontiguousarray(whitenings).reshape(size, -1)
    seconds = np.zeros((size, width if diagonal else width * width))
    loop = _loop(diagonal)
    given = (np.ascontiguousarray(one) for one in (frame, weights, means, flat, constants))
    # -inf would be no number after a subtraction: what has no density has next to none.
    least = np.array([max(outside, -1e300)])
    loop(np.ascontiguousarray(rows), *given, least, totals, held, firsts, seconds)
    if diagonal:
        return float(totals[0]), float(totals[1]), held, firsts, seconds
    products = seconds.reshape(size, width, width)
    products += np.tril(products, -1).transpose(0, 2, 1)
    return float(totals[0]), float(totals[1]), held, firsts, products


@njit(nogil=True)
def _tiled(width: int) -> int:
    """Return a number of columns that whole tiles have."""
    return (width + TILE - 1) // TILE * TILE


@once_for(lambda: [(True,), (False,)])
def _loop(diagonal: bool) -> Callable[..., None]:
    inputs = (array(float64, 2), array(float64, 2), array(float64, 1))
    more = (array(float64, 2), array(float64, 2), array(float64, 1), array(float64, 1))
    outputs = (target(1), target(1), target(2), target(2))
    return compiled(_diagonal if diagonal else _full, *inputs, *more, *outputs)


def _full(
    rows: Floats,
    frame: Floats,
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
    cells, gaps = np.empty((width, BLOCK)), np.zeros((_tiled(width), BLOCK))
    white, scores = np.empty((TILE, BLOCK)), np.empty((size, BLOCK))
    waiting, own = np.zeros((size, _tiled(width), BLOCK)), np.zeros((size, BLOCK))
    held_back, places = np.zeros(size, dtype=np.intp), np.empty(BLOCK, dtype=np.intp)
    for start in range(0, len(rows), BLOCK):
        many = min(BLOCK, len(rows) - start)
        _by_columns(rows, frame, start, many, cells)
        for c in range(size):
            _centred(cells, means[c], gaps)
            _whitened_squares(gaps, whitenings[c], constants[c], white, scores[c])
        _shares(scores, weights, start, many, outside[0], totals)
        for c in range(size):
            held[c] += _total(scores[c])
            found = _present(scores[c], places)
            if found > FEW:
                _centred(cells, means[c], gaps)
                _products(gaps, scores[c], white, firsts[c], seconds[c])
                continue
            if held_back[c] + found > BLOCK:
                _products(waiting[c], own[c], white, firsts[c], seconds[c])
                own[c] = 0.0
                held_back[c] = 0
            _gathered(cells, means[c], scores[c], places[:found], held_back[c], waiting[c], own[c])
            held_back[c] += found
    for c in range(size):
        if held_back[c] > 0:
            _products(waiting[c], own[c], white, firsts[c], seconds[c])


def _diagonal(
    rows: Floats,
    frame: Floats,
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
        _by_columns(rows, frame, start, many, cells)
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
    """Write constant - ½‖W(x - m)‖², by tiles of W: what is loaded of a row serves four of its."""
    width = len(gaps)
    for i in range(BLOCK):
        out[i] = constant
    for j in range(0, width, TILE):
        white[:] = 0.0
        for m in range(0, j, TILE):
            _tile(gaps, whitening, j, m, white)
        _last_tile(gaps, whitening, j, white, out)


@njit(nogil=True, fastmath={"contract"}, inline="always")
def _tile(gaps: Floats, whitening: Floats, j: int, m: int, white: Floats) -> None:
    width = len(gaps)
    p, q, r, s = j * width + m, (j + 1) * width + m, (j + 2) * width + m, (j + 3) * width + m
    p0, p1, p2, p3 = whitening[p], whitening[p + 1], whitening[p + 2], whitening[p + 3]
    q0, q1, q2, q3 = whitening[q], whitening[q + 1], whitening[q + 2], whitening[q + 3]
    r0, r1, r2, r3 = whitening[r], whitening[r + 1], whitening[r + 2], whitening[r + 3]
    s0, s1, s2, s3 = whitening[s], whitening[s + 1], whitening[s + 2], whitening[s + 3]
    for i in range(BLOCK):
        a, b, c, d = gaps[m, i], gaps[m + 1, i], gaps[m + 2, i], gaps[m + 3, i]
        white[0, i] += p0 * a + p1 * b + p2 * c + p3 * d
        white[1, i] += q0 * a + q1 * b + q2 * c + q3 * d
        white[2, i] += r0 * a + r1 * b + r2 * c + r3 * d
        white[3, i] += s0 * a + s1 * b + s2 * c + s3 * d


@njit(nogil=True, fastmath={"contract"}, inline="always")
def _last_tile(gaps: Floats, whitening: Floats, j: int, white: Floats, out: Floats) -> None:
    """Finish four rows of W with the tile on its diagonal, and take their squares."""
    width = len(gaps)
    p, q, r, s = j * width + j, (j + 1) * width + j, (j + 2) * width + j, (j + 3) * width + j
    p0, q0, q1 = whitening[p], whitening[q], whitening[q + 1]
    r0, r1, r2 = whitening[r], whitening[r + 1], whitening[r + 2]
    s0, s1, s2, s3 = whitening[s], whitening[s + 1], whitening[s + 2], whitening[s + 3]
    for i in range(BLOCK):
        a, b, c, d = gaps[j, i], gaps[j + 1, i], gaps[j + 2, i], gaps[j + 3, i]
        one = white[0, i] + p0 * a
        two = white[1, i] + q0 * a + q1 * b
        three = white[2, i] + r0 * a + r1 * b + r2 * c
        four = white[3, i] + s0 * a + s1 * b + s2 * c + s3 * d
        out[i] -= 0.5 * (one * one + two * two + three * three + four * four)


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _total(shares: Floats) -> float:
    held = 0.0
    for i in range(BLOCK):
        held += shares[i]
    return held


@njit(nogil=True)
def _present(shares: Floats, places: Places) -> int:
    """Note where a component has a row, in part at least; return how often."""
    found = 0
    for i in range(BLOCK):
        places[found] = i
        found += 1 if shares[i] >= LEAST else 0
    return found


@njit(nogil=True, fastmath={"contract"})
def _gathered(
    cells: Floats,
    means: Floats,
    shares: Floats,
    places: Places,
    first: int,
    waiting: Floats,
    own: Floats,
) -> None:
    """Put centred rows of a component with those that wait, from place `first` on."""
    for i in range(len(places)):
        own[first + i] = shares[places[i]]
    for j in range(len(means)):
        middle = means[j]
        for i in range(len(places)):
            waiting[j, first + i] = cells[j, places[i]] - middle


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _products(gaps: Floats, shares: Floats, white: Floats, firsts: Floats, seconds: Floats) -> None:
    """Add up shares·gaps, and the lower half of their products, a tile of these at a time."""
    width = len(firsts)
    for j in range(0, width, TILE):
        for t in range(TILE):
            total = 0.0
            for i in range(BLOCK):
                white[t, i] = shares[i] * gaps[j + t, i]
                total += white[t, i]
            if j + t < width:
                firsts[j + t] += total
        for m in range(0, min(j + TILE, width), 2):
            _product_tile(gaps, white, j, m, width, seconds)


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"}, inline="always")
def _product_tile(gaps: Floats, white: Floats, j: int, m: int, width: int, seconds: Floats) -> None:
    """Add up the products of four columns with two: eight sums fill the registers."""
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
    for i in range(BLOCK):
        one, other = gaps[m, i], gaps[m + 1, i]
        a0 += white[0, i] * one
        a1 += white[1, i] * one
        a2 += white[2, i] * one
        a3 += white[3, i] * one
        b0 += white[0, i] * other
        b1 += white[1, i] * other
        b2 += white[2, i] * other
        b3 += white[3, i] * other
    for t, one, other in ((0, a0, b0), (1, a1, b1), (2, a2, b2), (3, a3, b3)):
        row = j + t
        if row < width and m <= row:
            seconds[row * width + m] += one
        if row < width and m + 1 <= row:
            seconds[row * width + m + 1] += other


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
def _by_columns(rows: Floats, frame: Floats, start: int, many: int, cells: Floats) -> None:
    """Lay a block of rows by columns, in units; what is left of a block repeats its first row."""
    width = rows.shape[1]
    for first in range(0, BLOCK, LINE):
        if first + LINE <= many:
            place = start + first
            for j in range(width):
                for i in range(LINE):
                    cells[j, first + i] = rows[place + i, j]
            continue
        for i in range(first, first + LINE):
            place = start + (i if i < many else 0)
            for j in range(width):
                cells[j, i] = rows[place, j]
    for j in range(width):
        origin, low, unit = frame[0, j], frame[1, j], frame[2, j]
        for i in range(BLOCK):
            cells[j, i] = (cells[j, i] - origin - low) / unit


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
