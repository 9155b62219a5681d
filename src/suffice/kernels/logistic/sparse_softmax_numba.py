"""Loss, gradient and Hessian products over sparse rows, in numba: the twin for large inputs.

A row's cells are read, its score computed, and the row added to the sums while the cache has it.
The numbers of a column, one a class, lie together in whole lanes, in the table as in the sums. Both
are asked for `AHEAD` cells before they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float64, from_dtype, intp, njit, uint64

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.lanes.exponentials_numba import exponential, log_one_plus_any
from suffice.kernels.lanes.intrinsics_numba import (
    add_scaled,
    lanes_of,
    prefetch,
    scatter_scaled,
    types,
    write,
)
from suffice.kernels.logistic import sparse_binary_numba
from suffice.kernels.sparse.score_table import LINE, lanes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.rows.sparse_rows import SparseRows

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Cells = NDArray[Any]
    Places = NDArray[Any]

AHEAD = 64
"""Stored cells between asking for a number and using it: some 100 ns, as memory takes."""

HALF = LINE // 2
"""Doubles in half a line of the cache."""

NO_WEIGHTS = np.empty(0)


def loss_and_gradient(
    rows: SparseRows,
    codes: Codes,
    weights: Floats | None,
    table: Floats,
    offsets: Floats,
    scores: Floats,
) -> tuple[float, Floats, Floats, float]:
    """See `sparse_logistic_numpy.loss_and_gradient`."""
    if len(table) == 1:
        return sparse_binary_numba.loss_and_gradient(rows, codes, weights, table, offsets, scores)
    packed, starts, zeros = _laid_out(table, offsets)
    sums, rests, found = np.zeros(packed.size), np.zeros(len(starts)), np.array([0.0, np.inf])
    by_row = NO_WEIGHTS if weights is None else weights
    loop = _summing(len(zeros), *_types(rows))
    loop(
        rows.data, rows.indices, rows.indptr, packed, starts, len(table), zeros, codes, by_row,
        scores, sums, rests, found,
    )  # fmt: skip
    return float(found[0]), _unpacked(sums, table), rests[: len(table)], float(found[1])


def hessian_product(
    rows: SparseRows, weights: Floats | None, scores: Floats, table: Floats, offsets: Floats
) -> tuple[Floats, Floats]:
    """See `sparse_logistic_numpy.hessian_product`."""
    if len(table) == 1:
        return sparse_binary_numba.hessian_product(rows, weights, scores, table, offsets)
    packed, starts, zeros = _laid_out(table, offsets)
    sums, rests = np.zeros(packed.size), np.zeros(len(starts))
    by_row = NO_WEIGHTS if weights is None else weights
    loop = _bending(len(zeros), *_types(rows))
    loop(
        rows.data, rows.indices, rows.indptr, packed, starts, len(table), zeros, by_row, scores,
        sums, rests,
    )  # fmt: skip
    return _unpacked(sums, table), rests[: len(table)]


def _laid_out(table: Floats, offsets: Floats) -> tuple[Floats, Floats, tuple[float, ...]]:
    """Return the table by columns, in whole lanes, the offsets likewise, and zeros for one step."""
    size, width = table.shape
    # Table and sums together hardly fit the cache: half a vector is better than half a line empty.
    many = HALF if size > LINE and 0 < size % LINE <= HALF else lanes(size)
    packed, starts = np.zeros((width, -(-size // many) * many)), np.zeros(-(-size // many) * many)
    packed[:, :size], starts[:size] = table.T, offsets
    return packed.reshape(-1), starts, (0.0,) * many


def _unpacked(sums: Floats, table: Floats) -> Floats:
    """Return sums by columns as sums by classes."""
    size, width = table.shape
    return np.ascontiguousarray(sums.reshape(width, -1)[:, :size].T)


def _types(rows: SparseRows) -> tuple[str, str, str]:
    return rows.data.dtype.str, rows.indices.dtype.str, rows.indptr.dtype.str


def _inputs(many: int, names: tuple[str, ...]) -> list[Any]:
    rows = [array(from_dtype(np.dtype(name)), 1) for name in names]
    return [*rows, array(float64, 1), array(float64, 1), intp, types.UniTuple(float64, many)]


@once
def _summing(many: int, *names: str) -> Callable[..., None]:
    by_row = array(intp, 1, "A"), array(float64, 1, "A"), target(2, "A")
    return compiled(_add_up, *_inputs(many, names), *by_row, target(1), target(1), target(1))


@once
def _bending(many: int, *names: str) -> Callable[..., None]:
    by_row = array(float64, 1, "A"), array(float64, 2, "A")
    return compiled(_add_bent, *_inputs(many, names), *by_row, target(1), target(1))


@njit(nogil=True)
def _score(
    data: Cells, indices: Places, start: int, stop: int, table: Floats, offsets: Floats,
    zeros: tuple[float, ...], sums: Floats, piece: Floats, line: Floats,
) -> None:  # fmt: skip
    """Write the scores of one row into `line`, and ask for what comes after it."""
    many, ahead = len(zeros), uint64(AHEAD)
    step, last = uint64(line.size), uint64(max(indices.size - AHEAD, 0))
    for first in range(0, line.size, many):
        lane = uint64(first)
        total = lanes_of(zeros)
        for p in range(uint64(start), uint64(stop)):
            if p < last:
                place = uint64(indices[p + ahead]) * step + lane
                prefetch(table, place)
                prefetch(sums, place)
            add_scaled(total, table, uint64(indices[p]) * step + lane, float64(data[p]))
        write(total, piece)
        for k in range(many):
            line[first + k] = offsets[first + k] + piece[k]


@njit(nogil=True)
def _add(
    data: Cells, indices: Places, start: int, stop: int, zeros: tuple[float, ...], line: Floats,
    sums: Floats, rests: Floats,
) -> None:  # fmt: skip
    """Add one row to the sums, times a factor for each class."""
    many, step = len(zeros), uint64(line.size)
    for first in range(0, line.size, many):
        lane = uint64(first)
        factors = lanes_of(zeros)
        add_scaled(factors, line, lane, 1.0)
        for p in range(uint64(start), uint64(stop)):
            scatter_scaled(sums, uint64(indices[p]) * step + lane, factors, float64(data[p]))
    for k in range(line.size):
        rests[k] += line[k]


@njit(nogil=True, error_model="numpy")
def _tell(line: Floats, size: int, code: int, weight: float, found: Floats) -> None:
    """Turn the scores of one row into residuals, each from the side where nothing cancels."""
    own = line[code - 1] if code > 0 else 0.0
    best = 0.0 if code > 0 else -np.inf
    if code > 0:
        line[code - 1] = -np.inf
    for c in range(size):
        best = max(best, line[c])
    top = max(best, own)
    mine, rest = exponential(own - top), exponential(-top) if code > 0 else 0.0
    for c in range(size):
        share = exponential(line[c] - top)
        line[c] = share
        rest += share
    above = rest if own >= best else (rest - 1.0) + mine
    found[0] += weight * (log_one_plus_any(above) + (top - own))
    found[1] = min(found[1], own - best)
    factor = weight / (rest + mine)
    for c in range(size):
        line[c] *= factor
    if code > 0:
        line[code - 1] = -rest * factor


@njit(nogil=True, error_model="numpy")
def _bend(line: Floats, scores: Floats, room: Floats, size: int, weight: float) -> None:
    """Turn the moves δ of one row into w·p∘(δ - Σpδ), counted from the likeliest class's move."""
    top, base = 0.0, 0.0
    for c in range(size):
        if scores[c] > top:
            top, base = scores[c], line[c]
    total = exponential(-top)
    mean = -total * base
    for c in range(size):
        share = exponential(scores[c] - top)
        room[c] = share
        total += share
        mean += share * (line[c] - base)
    mean /= total
    factor = weight / total
    for c in range(size):
        line[c] = room[c] * factor * ((line[c] - base) - mean)


def _add_up(
    data: Cells, indices: Places, indptr: Places, table: Floats, offsets: Floats, size: int,
    zeros: tuple[float, ...], codes: Codes, weights: Floats, scores: Floats, sums: Floats,
    rests: Floats, found: Floats,
) -> None:  # fmt: skip
    line, piece = np.empty(offsets.size), np.empty(len(zeros))
    for i in range(codes.size):
        start, stop = indptr[i], indptr[i + 1]
        _score(data, indices, start, stop, table, offsets, zeros, sums, piece, line)
        for c in range(size):
            scores[i, c] = line[c]
        _tell(line, size, codes[i], weights[i] if weights.size else 1.0, found)
        _add(data, indices, start, stop, zeros, line, sums, rests)


def _add_bent(
    data: Cells, indices: Places, indptr: Places, table: Floats, offsets: Floats, size: int,
    zeros: tuple[float, ...], weights: Floats, scores: Floats, sums: Floats, rests: Floats,
) -> None:  # fmt: skip
    line, piece, room = np.empty(offsets.size), np.empty(len(zeros)), np.empty(size)
    for i in range(scores.shape[0]):
        start, stop = indptr[i], indptr[i + 1]
        _score(data, indices, start, stop, table, offsets, zeros, sums, piece, line)
        _bend(line, scores[i], room, size, weights[i] if weights.size else 1.0)
        _add(data, indices, start, stop, zeros, line, sums, rests)
