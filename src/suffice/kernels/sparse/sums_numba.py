"""Sums and scores of sparse rows in numba: the twin for large inputs.

Both loops read the stored cells in their order and jump about in a table of classes and columns:
not the arithmetic takes the time but the waiting for memory. So each step asks for the place that
will be needed `AHEAD` cells later, in the row where that will be. A table of scores has the k
numbers of a column in one line of the cache, padded to whole lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import boolean, float64, intp, njit, uint64

from suffice.kernels.compilation import (
    NO_WEIGHTS,
    STORED,
    array,
    compiled,
    once,
    once_for,
    stored_names,
    stored_types,
    target,
)
from suffice.kernels.lanes.intrinsics_numba import add_scaled, lanes_of, prefetch, types, write
from suffice.kernels.sparse.sums import lanes, packed, smallest_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.rows.sparse_rows import SparseRows

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Cells = NDArray[np.number]
    Places = NDArray[np.integer]

AHEAD = 64
"""Stored cells between asking for a number and using it: some 100 ns, as memory takes."""

CHUNK = 2048
"""Stored cells tested at a time, while the fastest cache holds them."""

BLOCK = 4096
"""Rows whose scores are kept before their winners are picked: for ten classes a third of a MB."""

LARGEST = float(np.finfo(np.float64).max)
"""What every finite cell is at most."""


def class_sums(
    rows: SparseRows, codes: Codes, size: int, weights: Floats | None, threshold: float | None
) -> tuple[Floats, Floats, float]:
    """See `sums.class_sums`."""
    totals = np.bincount(codes, weights, size).astype(np.float64)
    sums, suspects = np.zeros((size, rows.width)), np.zeros(1)
    by_row = NO_WEIGHTS if weights is None else weights
    _adding(*stored_names(rows))(
        rows.data, rows.indices, rows.indptr, codes, by_row, *_limit(threshold), sums, suspects
    )
    return totals, sums, smallest_cell(rows, weights) if suspects[0] else 0.0


def sparse_scores(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None, out: Floats
) -> float:
    """See `sums.sparse_scores`."""
    suspects = np.zeros(1)
    _scorer(rows, table, offsets, threshold)(rows.indptr, out, suspects)
    return smallest_cell(rows, None) if suspects[0] else 0.0


def sparse_winners(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None, out: Codes
) -> float:
    """See `sums.sparse_winners`."""
    suspects = np.zeros(1)
    score, pick = _scorer(rows, table, offsets, threshold), _picking()
    buffer = np.empty((min(BLOCK, len(rows)), len(offsets)))
    for start in range(0, len(rows), BLOCK):
        codes = out[start : start + BLOCK]
        scores = buffer[: len(codes)]
        score(rows.indptr[start : start + BLOCK + 1], scores, suspects)
        pick(scores, codes)
    return smallest_cell(rows, None) if suspects[0] else 0.0


def _scorer(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None
) -> Callable[[Places, Floats, Floats], None]:
    """Return the loop with all that does not change from block to block."""
    many = lanes(len(offsets))
    loop = _scoring(many, *stored_names(rows))
    table = packed(table, len(offsets))
    fixed = table.reshape(-1), table.shape[1], np.ascontiguousarray(offsets), *_limit(threshold)
    zeros = (0.0,) * many

    def score(indptr: Places, out: Floats, suspects: Floats) -> None:
        loop(rows.data, rows.indices, indptr, *fixed, zeros, out, suspects)

    return score


def _limit(threshold: float | None) -> tuple[float, bool]:
    """Return a threshold and whether there is one: a loop's arguments have one type."""
    return (0.0, False) if threshold is None else (float(threshold), True)


@once_for(lambda: STORED)
def _adding(*names: str) -> Callable[..., None]:
    by_row = array(intp, 1, "A"), array(float64, 1, "A")
    return compiled(_add, *stored_types(names), *by_row, float64, boolean, target(2), target(1))


@once_for(lambda: [(many, *kinds) for many in (1, 2, 4, 8) for kinds in STORED])
def _scoring(many: int, *names: str) -> Callable[..., None]:
    table = array(float64, 1), intp, array(float64, 1)
    zeros = types.UniTuple(float64, many)
    return compiled(
        _score, *stored_types(names), *table, float64, boolean, zeros, target(2, "A"), target(1)
    )


@once
def _picking() -> Callable[..., None]:
    return compiled(_pick, array(float64, 2), types.Array(intp, 1, "A"))


@njit(nogil=True)
def _suspects(cells: Cells) -> int:
    """Return how many cells are negative or not finite."""
    count = 0
    for q in range(cells.size):
        cell = float64(cells[q])
        count += not ((cell >= 0.0) & (cell <= LARGEST))
    return count


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
        while ends <= q < stop:
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


def _score(
    data: Cells, indices: Places, indptr: Places, table: Floats, width: int, offsets: Floats,
    threshold: float, binary: bool, zeros: tuple[float, ...], out: Floats, suspects: Floats,
) -> None:  # fmt: skip
    size, many = offsets.size, len(zeros)
    line = np.empty(many)
    step, ahead = uint64(width), uint64(AHEAD)
    last = uint64(max(indices.size - AHEAD, 0))
    tested = indptr[0]
    for i in range(out.shape[0]):
        start, stop = indptr[i], indptr[i + 1]
        if tested <= start:
            tested = min(max(start + CHUNK, stop), indptr[-1])
            suspects[0] += _suspects(data[start:tested])
        for first in range(0, size, many):
            sums = lanes_of(zeros)
            lane = uint64(first)
            for p in range(uint64(start), uint64(stop)):
                if p < last:
                    prefetch(table, uint64(indices[p + ahead]) * step + lane)
                cell = data[p]
                if cell > threshold if binary else cell != 0:
                    factor = 1.0 if binary else float64(cell)
                    add_scaled(sums, table, uint64(indices[p]) * step + lane, factor)
            write(sums, line)
            for k in range(min(many, size - first)):
                out[i, first + k] = offsets[first + k] + line[k]


def _pick(scores: Floats, out: Codes) -> None:
    """Write the first of the best scores of each row; a NaN is best, as NumPy has it."""
    for i in range(scores.shape[0]):
        best, top = 0, scores[i, 0]
        for k in range(1, scores.shape[1]):
            if top == top and not scores[i, k] <= top:  # noqa: PLR0124  until a NaN is found
                best, top = k, scores[i, k]
        out[i] = best
