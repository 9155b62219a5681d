"""The perceptron's rule and stochastic gradient ascent in numba: the twin for large inputs.

Rows come one after the other, for each one needs what the one before has changed: there is nothing
to share between cores. Dense rows have theta with a line for each class. Sparse rows jump about in
it; they have it turned round, a line for each column, so that the numbers of all classes come with
one fetch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import float64, intp, njit

from suffice.kernels.compilation import (
    DENSE,
    NO_WEIGHTS,
    STORED,
    array,
    cells_type,
    compiled,
    once_for,
    stored_names,
    stored_types,
    target,
)
from suffice.kernels.lanes.intrinsics_numba import LINE, prefetch
from suffice.kernels.online.blocks import TIE
from suffice.kernels.online.rules import SMALL
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.online.rules import Codes, Floats, Rows

    Cells = NDArray[np.number]
    Places = NDArray[np.integer]

LOOSE = {"reassoc", "contract", "nsz", "arcp"}
"""What the compiler may do with sums: several of them side by side."""

VISITS_AHEAD = 8
"""Rows between asking for a row and reading it: in a shuffled order none can be foreseen."""


def correct_mistakes(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    order: Codes,
    codes: Codes,
    weights: Floats | None,
    theta: Floats,
    drift: Floats,
    seen: float,
) -> tuple[int, float]:
    """See `rules.correct_mistakes`."""
    tally = np.array([0.0, seen])
    by_row = NO_WEIGHTS if weights is None else weights
    if isinstance(rows, SparseRows):
        table, drifts = (np.ascontiguousarray(part.T) for part in (theta, drift))
        stored = rows.data, rows.indices, rows.indptr, np.ascontiguousarray(inverse)
        _sparse(_correct_sparse, 0, *stored_names(rows))(
            *stored, order, codes, by_row, table, drifts, tally
        )
        theta[...], drift[...] = table.T, drifts.T
    else:
        scale = np.ascontiguousarray(origin), np.ascontiguousarray(inverse)
        _dense(_correct_dense, 0, rows.dtype.str)(
            rows, *scale, order, codes, by_row, theta, drift, tally
        )
    return int(tally[0]), float(tally[1])


def ascend(
    rows: Rows,
    origin: Floats,
    inverse: Floats,
    order: Codes,
    codes: Codes,
    steps: Floats,
    shares: Floats,
    most: float,
    theta: Floats,
    mean: Floats,
) -> None:
    """See `rules.ascend`."""
    kept = np.array([0.0, 1.0])
    pace = np.array([most])
    if isinstance(rows, SparseRows):
        table, rest = (np.ascontiguousarray(part.T) for part in (theta, mean))
        stored = rows.data, rows.indices, rows.indptr, np.ascontiguousarray(inverse)
        _sparse(_ascend_sparse, 2, *stored_names(rows))(
            *stored, order, codes, pace, steps, shares, table, rest, kept
        )
        theta[...], mean[...] = table.T, rest.T
    else:
        scale = np.ascontiguousarray(origin), np.ascontiguousarray(inverse)
        _dense(_ascend_dense, 2, rows.dtype.str)(
            rows, *scale, order, codes, pace, steps, shares, theta, mean, kept
        )
    mean += kept[0] * theta
    mean *= kept[1]


@once_for(
    lambda: [
        (*loop, cells) for loop in ((_correct_dense, 0), (_ascend_dense, 2)) for cells in DENSE
    ]
)
def _dense(loop: Callable[..., None], vectors: int, cells: str) -> Callable[..., None]:
    rows = array(cells_type(cells), 2, "A")
    return compiled(loop, rows, array(float64, 1), *_others(vectors))


@once_for(
    lambda: [
        (*loop, *kinds) for loop in ((_correct_sparse, 0), (_ascend_sparse, 2)) for kinds in STORED
    ]
)
def _sparse(loop: Callable[..., None], vectors: int, *names: str) -> Callable[..., None]:
    return compiled(loop, *stored_types(names), *_others(vectors))


def _others(vectors: int) -> list[object]:
    """Return the types of what every loop is given besides its rows."""
    by_row = [array(float64, 1), array(intp, 1, "A"), array(intp, 1, "A"), array(float64, 1, "A")]
    return [*by_row, *[array(float64, 1, "A")] * vectors, target(2), target(2), target(1)]


# One row: read, scored, and theta moved by it


@njit(nogil=True, inline="always")
def _prefetch_visit(rows: Cells, order: Places, visit: int) -> None:
    """Ask for a row that will be needed soon, of rows that lie contiguously."""
    if visit + VISITS_AHEAD < order.size:
        start = order[visit + VISITS_AHEAD] * rows.shape[1]
        for j in range(0, rows.shape[1], LINE):
            prefetch(rows, start + j)


@njit(nogil=True, fastmath=LOOSE)
def _standardize(row: Cells, origin: Floats, inverse: Floats, z: Floats) -> float:
    """Write (1, z) of one row, and return its squared length."""
    length = 1.0
    z[0] = 1.0
    for j in range(row.size):
        value = (float64(row[j]) - origin[j]) * inverse[j]
        z[j + 1] = value
        length += value * value
    return length


@njit(nogil=True, fastmath=LOOSE)
def _score(theta: Floats, z: Floats, scores: Floats) -> None:
    """Write theta·(1, z) of every class."""
    for c in range(theta.shape[0]):
        total = 0.0
        own = theta[c]
        for j in range(z.size):
            total += own[j] * z[j]
        scores[c] = total


@njit(nogil=True)
def _move(theta: Floats, other: Floats, pushes: Floats, factor: float, z: Floats) -> None:
    """Add push·(1, z) to every class of theta, and factor times that to its companion."""
    for c in range(theta.shape[0]):
        push = pushes[c]
        if push != 0.0:
            mine, beside = theta[c], other[c]
            for j in range(z.size):
                mine[j] += push * z[j]
                beside[j] += factor * (push * z[j])


@njit(nogil=True)
def _standardize_stored(cells: Cells, places: Places, inverse: Floats, z: Floats) -> float:
    """Write z of the stored cells, and return the squared length of (1, z)."""
    length = 1.0
    for q in range(cells.size):
        value = float64(cells[q]) * inverse[places[q]]
        z[q] = value
        length += value * value
    return length


@njit(nogil=True, fastmath=LOOSE)
def _score_stored(table: Floats, places: Places, z: Floats, scores: Floats) -> None:
    """Write theta·(1, z) of every class, from the stored cells."""
    for c in range(scores.size):
        scores[c] = table[0, c]
    for q in range(places.size):
        line = table[places[q] + 1]
        for c in range(scores.size):
            scores[c] += line[c] * z[q]


@njit(nogil=True)
def _move_stored(
    table: Floats, other: Floats, pushes: Floats, factor: float, places: Places, z: Floats
) -> None:
    """Do what `_move` does, where there are stored cells."""
    for c in range(pushes.size):
        table[0, c] += pushes[c]
        other[0, c] += factor * pushes[c]
    for q in range(places.size):
        mine, beside = table[places[q] + 1], other[places[q] + 1]
        for c in range(pushes.size):
            if pushes[c] != 0.0:
                mine[c] += pushes[c] * z[q]
                beside[c] += factor * (pushes[c] * z[q])


# The perceptron


@njit(nogil=True)
def _find_mistake(scores: Floats, own: int, least: float, step: float, pushes: Floats) -> bool:
    """Return whether the row's own class does not win, and write who is to be pushed how far."""
    if scores.size == 1:
        pushes[0] = step if own == 1 else -step
        return not (scores[0] if own == 1 else -scores[0]) > least
    pushes[:] = 0.0
    rival = 1 if own == 0 else 0
    for c in range(scores.size):
        if c != own and scores[c] > scores[rival]:
            rival = c
    pushes[own], pushes[rival] = step, -step
    return not scores[own] - scores[rival] > least


@njit(nogil=True)
def _square(theta: Floats) -> float:
    """Return ‖theta‖²; a mistake makes it grow by its own square at most."""
    total = 0.0
    for value in theta.flat:
        total += value * value
    return total


def _correct_dense(
    rows: Cells, origin: Floats, inverse: Floats, order: Codes, codes: Codes, weights: Floats,
    theta: Floats, drift: Floats, tally: Floats,
) -> None:  # fmt: skip
    z = np.empty(theta.shape[1])
    near = rows.strides[1] == rows.itemsize and rows.strides[0] == rows.shape[1] * rows.itemsize
    scores, pushes = np.empty(theta.shape[0]), np.empty(theta.shape[0])
    square = _square(theta)
    for visit in range(order.size):
        i = order[visit]
        if near:
            _prefetch_visit(rows, order, visit)
        length = _standardize(rows[i], origin, inverse, z)
        left = weights[i] if weights.size else 1.0
        while left > 0.0:
            step = min(left, 1.0)
            _score(theta, z, scores)
            if not _find_mistake(scores, codes[i], TIE * math.sqrt(square * length), step, pushes):
                break
            _move(theta, drift, pushes, tally[1], z)
            square += 2.0 * step * step * length
            tally[0] += 1.0
            tally[1] += step
            left -= step
        tally[1] += left


def _correct_sparse(
    data: Cells, indices: Places, indptr: Places, inverse: Floats, order: Codes, codes: Codes,
    weights: Floats, table: Floats, drift: Floats, tally: Floats,
) -> None:  # fmt: skip
    buffer = np.empty(max(table.shape[0] - 1, 0))
    scores, pushes = np.empty(table.shape[1]), np.empty(table.shape[1])
    square = _square(table)
    for visit in range(order.size):
        i = order[visit]
        start, stop = indptr[i], indptr[i + 1]
        places, z = indices[start:stop], buffer[: stop - start]
        length = _standardize_stored(data[start:stop], places, inverse, z)
        left = weights[i] if weights.size else 1.0
        while left > 0.0:
            step = min(left, 1.0)
            _score_stored(table, places, z, scores)
            if not _find_mistake(scores, codes[i], TIE * math.sqrt(square * length), step, pushes):
                break
            _move_stored(table, drift, pushes, tally[1], places, z)
            square += 2.0 * step * step * length
            tally[0] += 1.0
            tally[1] += step
            left -= step
        tally[1] += left


# Gradient ascent


@njit(nogil=True)
def _residuals(scores: Floats, own: int, step: float) -> None:
    """Turn scores into step·(y - h(x))."""
    if scores.size == 1:
        sign = 1.0 if own == 1 else -1.0
        margin = scores[0] * sign
        tail = math.exp(-abs(margin))
        scores[0] = step * sign * (tail if margin > 0.0 else 1.0) / (1.0 + tail)
        return
    top, rest = scores.max(), 0.0
    mine = math.exp(scores[own] - top)
    for c in range(scores.size):
        if c != own:
            scores[c] = math.exp(scores[c] - top)
            rest += scores[c]
    factor = step / (rest + mine)
    for c in range(scores.size):
        scores[c] *= -factor
    scores[own] = factor * rest


@njit(nogil=True)
def _average(share: float, theta: Floats, rest: Floats, kept: Floats) -> None:
    """Let the mean, kept[1]·(rest + kept[0]·theta), move toward theta."""
    if share >= 1.0:
        rest[:] = 0.0
        kept[0] = kept[1] = 1.0
    elif share > 0.0:
        kept[1] *= 1.0 - share
        kept[0] += share / kept[1]
        if kept[1] < SMALL:
            for r in range(theta.shape[0]):
                for c in range(theta.shape[1]):
                    rest[r, c] = kept[1] * (rest[r, c] + kept[0] * theta[r, c])
            kept[0], kept[1] = 0.0, 1.0


def _ascend_dense(
    rows: Cells, origin: Floats, inverse: Floats, order: Codes, codes: Codes, pace: Floats,
    steps: Floats, shares: Floats, theta: Floats, rest: Floats, kept: Floats,
) -> None:  # fmt: skip
    z, scores = np.empty(theta.shape[1]), np.empty(theta.shape[0])
    near = rows.strides[1] == rows.itemsize and rows.strides[0] == rows.shape[1] * rows.itemsize
    for visit in range(order.size):
        i = order[visit]
        if near:
            _prefetch_visit(rows, order, visit)
        length = _standardize(rows[i], origin, inverse, z)
        step = min(steps[visit], pace[0] / length)
        _score(theta, z, scores)
        _residuals(scores, codes[i], step)
        _move(theta, rest, scores, -kept[0], z)
        _average(shares[visit], theta, rest, kept)


def _ascend_sparse(
    data: Cells, indices: Places, indptr: Places, inverse: Floats, order: Codes, codes: Codes,
    pace: Floats, steps: Floats, shares: Floats, table: Floats, rest: Floats, kept: Floats,
) -> None:  # fmt: skip
    buffer = np.empty(max(table.shape[0] - 1, 0))
    scores = np.empty(table.shape[1])
    for visit in range(order.size):
        i = order[visit]
        start, stop = indptr[i], indptr[i + 1]
        places, z = indices[start:stop], buffer[: stop - start]
        length = _standardize_stored(data[start:stop], places, inverse, z)
        step = min(steps[visit], pace[0] / length)
        _score_stored(table, places, z, scores)
        _residuals(scores, codes[i], step)
        _move_stored(table, rest, scores, -kept[0], places, z)
        _average(shares[visit], table, rest, kept)
