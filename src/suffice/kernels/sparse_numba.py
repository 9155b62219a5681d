"""Sums and scores of sparse rows in numba: the twin for large inputs.

Both loops read the stored cells in their order and jump about in a table of classes and columns:
not the arithmetic takes the time but the waiting for memory. So each step asks for the place that
will be needed `AHEAD` cells later, in the row where that will be. A table of scores has the k
numbers of a column in one line of the cache, padded to whole lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import boolean, float64, from_dtype, intp, njit, types, uint64

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.prefetch_numba import prefetch
from suffice.kernels.score_table import lanes, score_table
from suffice.kernels.sparse_numpy import smallest_cell

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

CHUNK = 2048
"""Stored cells tested at a time, while the fastest cache holds them."""

BLOCK = 1024
"""Rows whose scores are held before their winners are picked."""

LARGEST = float(np.finfo(np.float64).max)
NO_WEIGHTS = np.empty(0)


def class_sums(
    rows: SparseRows, codes: Codes, size: int, weights: Floats | None, threshold: float | None
) -> tuple[Floats, Floats, float]:
    """See `sparse_numpy.class_sums`."""
    totals = np.bincount(codes, weights, size).astype(np.float64)
    sums, suspects = np.zeros((size, rows.width)), np.zeros(1)
    by_row = NO_WEIGHTS if weights is None else weights
    _adding(*_types(rows))(
        rows.data, rows.indices, rows.indptr, codes, by_row, *_limit(threshold), sums, suspects
    )
    return totals, sums, smallest_cell(rows, weights) if suspects[0] else 0.0


def sparse_scores(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None, out: Floats
) -> float:
    """See `sparse_numpy.sparse_scores`."""
    suspects = np.zeros(1)
    table = _packed(table, len(offsets))
    _scoring(lanes(len(offsets)), *_types(rows))(
        rows.data, rows.indices, rows.indptr, table.reshape(-1), table.shape[1],
        np.ascontiguousarray(offsets), *_limit(threshold), out, suspects,
    )  # fmt: skip
    return smallest_cell(rows, None) if suspects[0] else 0.0


def sparse_winners(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None, out: Codes
) -> float:
    """See `sparse_numpy.sparse_winners`."""
    suspects, offsets, limit = np.zeros(1), np.ascontiguousarray(offsets), _limit(threshold)
    score, pick = _scoring(lanes(len(offsets)), *_types(rows)), _picking()
    table = _packed(table, len(offsets))
    buffer = np.empty((min(BLOCK, len(rows)), len(offsets)))
    flat = table.reshape(-1)
    for start in range(0, len(rows), BLOCK):
        codes = out[start : start + BLOCK]
        held = buffer[: len(codes)]
        indptr = rows.indptr[start : start + BLOCK + 1]
        score(
            rows.data, rows.indices, indptr, flat, table.shape[1], offsets, *limit, held, suspects
        )
        pick(held, codes)
    return smallest_cell(rows, None) if suspects[0] else 0.0


def _packed(table: Floats, size: int) -> Floats:
    """Return the table in whole lanes, as the loops read it; `score_table` has made it so."""
    if table.flags.c_contiguous and table.shape[1] % lanes(size) == 0 and table.shape[1] >= size:
        return table
    return score_table(table[:, :size].T)


def _limit(threshold: float | None) -> tuple[float, bool]:
    """Return a threshold and whether there is one: a loop's arguments have one type."""
    return (0.0, False) if threshold is None else (float(threshold), True)


def _types(rows: SparseRows) -> tuple[str, str, str]:
    return rows.data.dtype.str, rows.indices.dtype.str, rows.indptr.dtype.str


def _inputs(names: tuple[str, ...]) -> list[Any]:
    return [array(from_dtype(np.dtype(name)), 1) for name in names]


@once
def _adding(*names: str) -> Callable[..., None]:
    by_row = array(intp, 1, "A"), array(float64, 1, "A")
    return compiled(_add, *_inputs(names), *by_row, float64, boolean, target(2), target(1))


@once
def _scoring(side_by_side: int, *names: str) -> Callable[..., None]:
    loop = {1: _score_one, 4: _score_four, 8: _score_eight}[side_by_side]
    table = array(float64, 1), intp, array(float64, 1)
    return compiled(loop, *_inputs(names), *table, float64, boolean, target(2, "A"), target(1))


@once
def _picking() -> Callable[..., None]:
    return compiled(_pick, array(float64, 2), types.Array(intp, 1, "A"))


@njit(nogil=True)
def _suspects(cells: Cells) -> int:
    """Return how many cells are negative or not finite."""
    found = 0
    for q in range(cells.size):
        cell = float64(cells[q])
        found += not ((cell >= 0.0) & (cell <= LARGEST))
    return found


def _add(
    data: Cells, indices: Places, indptr: Places, codes: Codes, weights: Floats,
    threshold: float, binary: bool, sums: Floats, suspects: Floats,
) -> None:  # fmt: skip
    length, stop = codes.size, indptr[-1]
    weighted = weights.size > 0
    row, ends = -1, indptr[0]
    later, later_ends = -1, indptr[0]  # the row that will be at work AHEAD cells later
    own = others = sums[0]
    weight = 1.0
    tested = q = indptr[0]
    while q < stop:
        while ends <= q:
            row += 1
            ends = indptr[row + 1]
            weight = weights[row] if weighted else 1.0
            if weight == 0.0:
                q = ends
            own = sums[codes[row]]
        if q >= stop:
            break
        while later_ends <= q + AHEAD and later < length - 1:
            later += 1
            later_ends = indptr[later + 1]
            others = sums[codes[later]]
        if tested <= q:
            until = min(max(tested + CHUNK, ends), stop)
            suspects[0] += _suspects(data[tested:until])
            tested = until
        # Up to here both rows stay the same.
        until = min(ends, later_ends - AHEAD)
        if until <= q:
            until = ends
            for p in range(uint64(q), uint64(until)):
                cell = data[p]
                value = (1.0 if cell > threshold else 0.0) if binary else float64(cell)
                own[uint64(indices[p])] += weight * value
        else:
            for p in range(uint64(q), uint64(until)):
                prefetch(others, uint64(indices[p + uint64(AHEAD)]))
                cell = data[p]
                value = (1.0 if cell > threshold else 0.0) if binary else float64(cell)
                own[uint64(indices[p])] += weight * value
        q = until


@njit(nogil=True, fastmath={"contract"})
def _one(
    data: Cells, indices: Places, start: int, stop: int, last: int,
    table: Floats, threshold: float, binary: bool,
) -> float:  # fmt: skip
    """Return the score of one row with a single class."""
    a = 0.0
    for p in range(uint64(start), uint64(stop)):
        if p < uint64(last):
            prefetch(table, uint64(indices[p + uint64(AHEAD)]))
        cell = data[p]
        if binary:
            if cell > threshold:
                a += table[uint64(indices[p])]
        elif cell != 0:
            a += cell * table[uint64(indices[p])]
    return a


@njit(nogil=True, fastmath={"contract"})
def _four(
    data: Cells, indices: Places, start: int, stop: int, last: int,
    table: Floats, threshold: float, binary: bool,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the scores of one row with up to four classes."""
    a = b = c = d = 0.0
    for p in range(uint64(start), uint64(stop)):
        if p < uint64(last):
            prefetch(table, uint64(indices[p + uint64(AHEAD)]) * uint64(4))
        cell = data[p]
        if cell > threshold if binary else cell != 0:
            value = 1.0 if binary else float64(cell)
            j = uint64(indices[p]) * uint64(4)
            a += value * table[j]
            b += value * table[j + uint64(1)]
            c += value * table[j + uint64(2)]
            d += value * table[j + uint64(3)]
    return a, b, c, d


@njit(nogil=True, fastmath={"contract"})
def _eight(
    data: Cells, indices: Places, start: int, stop: int, last: int,
    table: Floats, width: int, first: int, threshold: float, binary: bool,
) -> tuple[float, float, float, float, float, float, float, float]:  # fmt: skip
    """Return the scores of one row for eight classes from `first` on."""
    a = b = c = d = e = f = g = h = 0.0
    for p in range(uint64(start), uint64(stop)):
        if p < uint64(last):
            prefetch(table, uint64(indices[p + uint64(AHEAD)]) * uint64(width) + uint64(first))
        cell = data[p]
        if cell > threshold if binary else cell != 0:
            value = 1.0 if binary else float64(cell)
            j = uint64(indices[p]) * uint64(width) + uint64(first)
            a += value * table[j]
            b += value * table[j + uint64(1)]
            c += value * table[j + uint64(2)]
            d += value * table[j + uint64(3)]
            e += value * table[j + uint64(4)]
            f += value * table[j + uint64(5)]
            g += value * table[j + uint64(6)]
            h += value * table[j + uint64(7)]
    return a, b, c, d, e, f, g, h


def _score_one(
    data: Cells, indices: Places, indptr: Places, table: Floats, _: int, offsets: Floats,
    threshold: float, binary: bool, out: Floats, suspects: Floats,
) -> None:  # fmt: skip
    last, tested = indices.size - AHEAD, indptr[0]
    for i in range(out.shape[0]):
        start, stop = indptr[i], indptr[i + 1]
        if tested <= start:
            tested = min(max(start + CHUNK, stop), indptr[-1])
            suspects[0] += _suspects(data[start:tested])
        out[i, 0] = offsets[0] + _one(data, indices, start, stop, last, table, threshold, binary)


def _score_four(
    data: Cells, indices: Places, indptr: Places, table: Floats, _: int, offsets: Floats,
    threshold: float, binary: bool, out: Floats, suspects: Floats,
) -> None:  # fmt: skip
    last, tested = indices.size - AHEAD, indptr[0]
    for i in range(out.shape[0]):
        start, stop = indptr[i], indptr[i + 1]
        if tested <= start:
            tested = min(max(start + CHUNK, stop), indptr[-1])
            suspects[0] += _suspects(data[start:tested])
        found = _four(data, indices, start, stop, last, table, threshold, binary)
        for k in range(offsets.size):
            out[i, k] = offsets[k] + found[k]


def _score_eight(
    data: Cells, indices: Places, indptr: Places, table: Floats, width: int, offsets: Floats,
    threshold: float, binary: bool, out: Floats, suspects: Floats,
) -> None:  # fmt: skip
    last, tested = indices.size - AHEAD, indptr[0]
    for i in range(out.shape[0]):
        start, stop = indptr[i], indptr[i + 1]
        if tested <= start:
            tested = min(max(start + CHUNK, stop), indptr[-1])
            suspects[0] += _suspects(data[start:tested])
        for first in range(0, offsets.size, 8):
            found = _eight(data, indices, start, stop, last, table, width, first, threshold, binary)
            for k in range(min(8, offsets.size - first)):
                out[i, first + k] = offsets[first + k] + found[k]


def _pick(scores: Floats, out: Codes) -> None:
    """Write the first of the best scores of each row; a NaN is best, as NumPy has it."""
    for i in range(scores.shape[0]):
        best, top = 0, scores[i, 0]
        for k in range(1, scores.shape[1]):
            if top == top and not scores[i, k] <= top:  # noqa: PLR0124  until a NaN is found
                best, top = k, scores[i, k]
        out[i] = best
