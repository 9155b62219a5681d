"""Loss, gradient and Hessian products over sparse rows, in numba: the twin for large inputs.

A row's cells are read, its score computed, and the row added to the sums while the cache has it.
The numbers of a column, one a class, lie together in whole lanes, in the table as in the sums. Both
are asked for `CELLS_AHEAD` cells before they are needed.

Of two classes, some rows at a time are scored, their residuals taken, and added to the sums while
the cache has their cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import float64, intp, njit, uint64

from suffice.kernels.compilation import (
    NO_WEIGHTS,
    STORED,
    array,
    compiled,
    once_for,
    stored_names,
    stored_types,
    target,
)
from suffice.kernels.lanes.exponentials_numba import exponential, log_one_plus_any
from suffice.kernels.lanes.intrinsics_numba import (
    add_scaled,
    lanes_of,
    prefetch,
    scatter_scaled,
    types,
    write,
)
from suffice.kernels.logistic.binary_numba import root_hessian_weights, write_residuals
from suffice.kernels.sparse.sums import LINE, lanes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.logistic.sparse import Codes, Floats
    from suffice.rows.sparse_rows import SparseRows

    Cells = NDArray[np.number]
    Places = NDArray[np.integer]

CELLS_AHEAD = 64
"""Stored cells between asking for a number and using it: some 100 ns, as memory takes."""

HALF_LINE = LINE // 2
"""Doubles in half a line of the cache."""

BLOCK = 64
"""Rows of two classes at work at once: some thousand stored cells, which the cache still has."""

WIDE_TABLE = 1 << 16
"""Columns from which the table and the sums no longer fit a core's cache, and are asked for."""


def loss_and_gradient(
    rows: SparseRows,
    codes: Codes,
    weights: Floats | None,
    table: Floats,
    offsets: Floats,
    scores: Floats,
) -> tuple[float, Floats, Floats, float]:
    """See `sparse.loss_and_gradient`."""
    if len(table) == 1:
        return _binary_loss_and_gradient(rows, codes, weights, table, offsets, scores)
    packed, starts, zeros = _laid_out(table, offsets)
    sums, rests, tally = np.zeros(packed.size), np.zeros(len(starts)), np.array([0.0, np.inf])
    by_row = NO_WEIGHTS if weights is None else weights
    loop = _gradient_loop(len(zeros), *stored_names(rows))
    loop(
        rows.data, rows.indices, rows.indptr, packed, starts, len(table), zeros, codes, by_row,
        scores, sums, rests, tally,
    )  # fmt: skip
    return float(tally[0]), _unpacked(sums, table), rests[: len(table)], float(tally[1])


def hessian_product(
    rows: SparseRows, weights: Floats | None, scores: Floats, table: Floats, offsets: Floats
) -> tuple[Floats, Floats]:
    """See `sparse.hessian_product`."""
    if len(table) == 1:
        return _binary_hessian_product(rows, weights, scores, table, offsets)
    packed, starts, zeros = _laid_out(table, offsets)
    sums, rests = np.zeros(packed.size), np.zeros(len(starts))
    by_row = NO_WEIGHTS if weights is None else weights
    loop = _product_loop(len(zeros), *stored_names(rows))
    loop(
        rows.data, rows.indices, rows.indptr, packed, starts, len(table), zeros, by_row, scores,
        sums, rests,
    )  # fmt: skip
    return _unpacked(sums, table), rests[: len(table)]


def _laid_out(table: Floats, offsets: Floats) -> tuple[Floats, Floats, tuple[float, ...]]:
    """Return the table by columns, in whole lanes, the offsets likewise, and zeros for one step."""
    size, width = table.shape
    # Table and sums together hardly fit the cache: half a vector is better than half a line empty.
    many = HALF_LINE if size > LINE and 0 < size % LINE <= HALF_LINE else lanes(size)
    packed, starts = np.zeros((width, -(-size // many) * many)), np.zeros(-(-size // many) * many)
    packed[:, :size], starts[:size] = table.T, offsets
    return packed.reshape(-1), starts, (0.0,) * many


def _unpacked(sums: Floats, table: Floats) -> Floats:
    """Return sums by columns as sums by classes."""
    size, width = table.shape
    return np.ascontiguousarray(sums.reshape(width, -1)[:, :size].T)


def _inputs(many: int, names: tuple[str, ...]) -> list[object]:
    rows = stored_types(names)
    return [*rows, array(float64, 1), array(float64, 1), intp, types.UniTuple(float64, many)]


@once_for(lambda: [(many, *kinds) for many in (2, 4, 8) for kinds in STORED])
def _gradient_loop(many: int, *names: str) -> Callable[..., None]:
    by_row = array(intp, 1, "A"), array(float64, 1, "A"), target(2, "A")
    return compiled(_add_gradients, *_inputs(many, names), *by_row, target(1), target(1), target(1))


@once_for(lambda: [(many, *kinds) for many in (2, 4, 8) for kinds in STORED])
def _product_loop(many: int, *names: str) -> Callable[..., None]:
    by_row = array(float64, 1, "A"), array(float64, 2, "A")
    return compiled(_add_products, *_inputs(many, names), *by_row, target(1), target(1))


@njit(nogil=True)
def _score(
    data: Cells, indices: Places, start: int, stop: int, table: Floats, offsets: Floats,
    zeros: tuple[float, ...], sums: Floats, piece: Floats, line: Floats,
) -> None:  # fmt: skip
    """Write the scores of one row into `line`, and ask for what comes after it."""
    many, ahead = len(zeros), uint64(CELLS_AHEAD)
    step, last = uint64(line.size), uint64(max(indices.size - CELLS_AHEAD, 0))
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
def _write_residuals(line: Floats, size: int, code: int, weight: float, tally: Floats) -> None:
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
    tally[0] += weight * (log_one_plus_any(above) + (top - own))
    tally[1] = min(tally[1], own - best)
    factor = weight / (rest + mine)
    for c in range(size):
        line[c] *= factor
    if code > 0:
        line[code - 1] = -rest * factor


@njit(nogil=True, error_model="numpy")
def _write_derivatives(
    line: Floats, scores: Floats, room: Floats, size: int, weight: float
) -> None:
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


def _add_gradients(
    data: Cells, indices: Places, indptr: Places, table: Floats, offsets: Floats, size: int,
    zeros: tuple[float, ...], codes: Codes, weights: Floats, scores: Floats, sums: Floats,
    rests: Floats, tally: Floats,
) -> None:  # fmt: skip
    line, piece = np.empty(offsets.size), np.empty(len(zeros))
    for i in range(codes.size):
        start, stop = indptr[i], indptr[i + 1]
        _score(data, indices, start, stop, table, offsets, zeros, sums, piece, line)
        for c in range(size):
            scores[i, c] = line[c]
        _write_residuals(line, size, codes[i], weights[i] if weights.size else 1.0, tally)
        _add(data, indices, start, stop, zeros, line, sums, rests)


def _add_products(
    data: Cells, indices: Places, indptr: Places, table: Floats, offsets: Floats, size: int,
    zeros: tuple[float, ...], weights: Floats, scores: Floats, sums: Floats, rests: Floats,
) -> None:  # fmt: skip
    line, piece, room = np.empty(offsets.size), np.empty(len(zeros)), np.empty(size)
    for i in range(scores.shape[0]):
        start, stop = indptr[i], indptr[i + 1]
        _score(data, indices, start, stop, table, offsets, zeros, sums, piece, line)
        _write_derivatives(line, scores[i], room, size, weights[i] if weights.size else 1.0)
        _add(data, indices, start, stop, zeros, line, sums, rests)


# Two classes


def _binary_loss_and_gradient(
    rows: SparseRows,
    codes: Codes,
    weights: Floats | None,
    table: Floats,
    offsets: Floats,
    scores: Floats,
) -> tuple[float, Floats, Floats, float]:
    """Return what `loss_and_gradient` does, of two classes."""
    sums, tally = np.zeros(rows.width), np.array([0.0, 0.0, np.inf])
    by_row = NO_WEIGHTS if weights is None else weights
    _binary_gradient_loop(*stored_names(rows))(
        rows.data, rows.indices, rows.indptr, np.ascontiguousarray(table[0]), float(offsets[0]),
        codes, by_row, scores[:, 0], sums, tally,
    )  # fmt: skip
    return float(tally[0]), sums[np.newaxis], tally[1:2].copy(), float(tally[2])


def _binary_hessian_product(
    rows: SparseRows, weights: Floats | None, scores: Floats, table: Floats, offsets: Floats
) -> tuple[Floats, Floats]:
    """Return what `hessian_product` does, of two classes."""
    sums, total = np.zeros(rows.width), np.zeros(1)
    by_row = NO_WEIGHTS if weights is None else weights
    _binary_product_loop(*stored_names(rows))(
        rows.data, rows.indices, rows.indptr, np.ascontiguousarray(table[0]), float(offsets[0]),
        by_row, scores[:, 0], sums, total,
    )  # fmt: skip
    return sums[np.newaxis], total


def _binary_inputs(names: tuple[str, ...]) -> list[object]:
    return [*stored_types(names), array(float64, 1), float64]


@once_for(lambda: STORED)
def _binary_gradient_loop(*names: str) -> Callable[..., None]:
    by_row = array(intp, 1, "A"), array(float64, 1, "A"), target(1, "A")
    return compiled(_add_binary_gradients, *_binary_inputs(names), *by_row, target(1), target(1))


@once_for(lambda: STORED)
def _binary_product_loop(*names: str) -> Callable[..., None]:
    by_row = array(float64, 1, "A"), array(float64, 1, "A")
    return compiled(_add_binary_products, *_binary_inputs(names), *by_row, target(1), target(1))


@njit(nogil=True)
def _fetch(indices: Places, start: int, stop: int, table: Floats, sums: Floats) -> None:
    """Ask for what the cells some way ahead will need."""
    ahead = uint64(CELLS_AHEAD)
    for p in range(uint64(start), uint64(max(min(stop, indices.size - CELLS_AHEAD), start))):
        place = uint64(indices[p + ahead])
        prefetch(table, place)
        prefetch(sums, place)


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _inner(data: Cells, indices: Places, start: int, stop: int, table: Floats) -> float:
    """Return the cells times their places in the table."""
    score = 0.0
    for p in range(uint64(start), uint64(stop)):
        score += float64(data[p]) * table[uint64(indices[p])]
    return score


@njit(nogil=True, fastmath={"contract"})
def _add_binary(
    data: Cells, indices: Places, start: int, stop: int, factor: float, sums: Floats
) -> None:
    """Add the cells times a factor to their places in the sums."""
    for p in range(uint64(start), uint64(stop)):
        sums[uint64(indices[p])] += factor * float64(data[p])


@njit(nogil=True)
def _score_binary(
    data: Cells, indices: Places, indptr: Places, table: Floats, sums: Floats, offset: float,
    start: int, held: int, scores: Floats,
) -> None:  # fmt: skip
    """Write the scores of so many rows."""
    for r in range(held):
        first, last = indptr[start + r], indptr[start + r + 1]
        if table.size > WIDE_TABLE:
            _fetch(indices, first, last, table, sums)
        scores[r] = offset + _inner(data, indices, first, last, table)


def _add_binary_gradients(
    data: Cells, indices: Places, indptr: Places, table: Floats, offset: float, codes: Codes,
    weights: Floats, scores: Floats, sums: Floats, tally: Floats,
) -> None:  # fmt: skip
    margins, losses, residuals = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, codes.size, BLOCK):
        held = min(BLOCK, codes.size - start)
        _score_binary(data, indices, indptr, table, sums, offset, start, held, margins)
        for r in range(held):
            scores[start + r] = margins[r]
        write_residuals(margins, losses, residuals, codes, weights, start, held, tally)
        for r in range(held):
            row = start + r
            _add_binary(data, indices, indptr[row], indptr[row + 1], residuals[r], sums)


def _add_binary_products(
    data: Cells, indices: Places, indptr: Places, table: Floats, offset: float,
    weights: Floats, scores: Floats, sums: Floats, total: Floats,
) -> None:  # fmt: skip
    moved, roots = np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, scores.size, BLOCK):
        held = min(BLOCK, scores.size - start)
        _score_binary(data, indices, indptr, table, sums, offset, start, held, moved)
        for r in range(held):
            roots[r] = scores[start + r]
        root_hessian_weights(roots, roots, held)
        for r in range(held):
            row = start + r
            weight = weights[row] if weights.size else 1.0
            factor = weight * (roots[r] * roots[r] * moved[r])
            total[0] += factor
            _add_binary(data, indices, indptr[row], indptr[row + 1], factor, sums)
