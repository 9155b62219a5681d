"""Loss, gradient and Hessian products over sparse rows of two classes, in numba.

A few rows at a time are scored, told how wrong they are, and added to the sums while the cache has
their cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float64, from_dtype, intp, njit, uint64

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.lanes.intrinsics_numba import prefetch
from suffice.kernels.logistic.binary_numba import NO_WEIGHTS, bend, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.rows.sparse_rows import SparseRows

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Cells = NDArray[Any]
    Places = NDArray[Any]

BLOCK = 64
"""Rows at work at once."""

AHEAD = 64
"""Stored cells between asking for a number and using it: some 100 ns, as memory takes."""

WIDE = 1 << 16
"""Columns from which the table and the sums no longer fit a core's cache, and are asked for."""


def loss_and_gradient(
    rows: SparseRows,
    codes: Codes,
    weights: Floats | None,
    table: Floats,
    offsets: Floats,
    scores: Floats,
) -> tuple[float, Floats, Floats, float]:
    """See `sparse_logistic_numpy.loss_and_gradient`; two classes only."""
    sums, found = np.zeros(rows.width), np.array([0.0, 0.0, np.inf])
    by_row = NO_WEIGHTS if weights is None else weights
    _summing(*_types(rows))(
        rows.data, rows.indices, rows.indptr, np.ascontiguousarray(table[0]), float(offsets[0]),
        codes, by_row, scores[:, 0], sums, found,
    )  # fmt: skip
    return float(found[0]), sums[np.newaxis], found[1:2].copy(), float(found[2])


def hessian_product(
    rows: SparseRows, weights: Floats | None, scores: Floats, table: Floats, offsets: Floats
) -> tuple[Floats, Floats]:
    """See `sparse_logistic_numpy.hessian_product`; two classes only."""
    sums, total = np.zeros(rows.width), np.zeros(1)
    by_row = NO_WEIGHTS if weights is None else weights
    _bending(*_types(rows))(
        rows.data, rows.indices, rows.indptr, np.ascontiguousarray(table[0]), float(offsets[0]),
        by_row, scores[:, 0], sums, total,
    )  # fmt: skip
    return sums[np.newaxis], total


def _types(rows: SparseRows) -> tuple[str, str, str]:
    return rows.data.dtype.str, rows.indices.dtype.str, rows.indptr.dtype.str


def _inputs(names: tuple[str, ...]) -> list[Any]:
    rows = [array(from_dtype(np.dtype(name)), 1) for name in names]
    return [*rows, array(float64, 1), float64]


@once
def _summing(*names: str) -> Callable[..., None]:
    by_row = array(intp, 1, "A"), array(float64, 1, "A"), target(1, "A")
    return compiled(_add_up, *_inputs(names), *by_row, target(1), target(1))


@once
def _bending(*names: str) -> Callable[..., None]:
    by_row = array(float64, 1, "A"), array(float64, 1, "A")
    return compiled(_add_bent, *_inputs(names), *by_row, target(1), target(1))


@njit(nogil=True)
def _fetch(indices: Places, start: int, stop: int, table: Floats, sums: Floats) -> None:
    """Ask for what the cells some way ahead will need."""
    ahead = uint64(AHEAD)
    for p in range(uint64(start), uint64(max(min(stop, indices.size - AHEAD), start))):
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
def _add(data: Cells, indices: Places, start: int, stop: int, factor: float, sums: Floats) -> None:
    """Add the cells times a factor to their places in the sums."""
    for p in range(uint64(start), uint64(stop)):
        sums[uint64(indices[p])] += factor * float64(data[p])


@njit(nogil=True)
def _score(
    data: Cells, indices: Places, indptr: Places, table: Floats, sums: Floats, offset: float,
    start: int, held: int, scores: Floats,
) -> None:  # fmt: skip
    """Write the scores of so many rows."""
    for r in range(held):
        first, last = indptr[start + r], indptr[start + r + 1]
        if table.size > WIDE:
            _fetch(indices, first, last, table, sums)
        scores[r] = offset + _inner(data, indices, first, last, table)


def _add_up(
    data: Cells, indices: Places, indptr: Places, table: Floats, offset: float, codes: Codes,
    weights: Floats, scores: Floats, sums: Floats, found: Floats,
) -> None:  # fmt: skip
    margins, losses, residuals = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, codes.size, BLOCK):
        held = min(BLOCK, codes.size - start)
        _score(data, indices, indptr, table, sums, offset, start, held, margins)
        for r in range(held):
            scores[start + r] = margins[r]
        told(margins, losses, residuals, codes, weights, start, held, found)
        for r in range(held):
            row = start + r
            _add(data, indices, indptr[row], indptr[row + 1], residuals[r], sums)


def _add_bent(
    data: Cells, indices: Places, indptr: Places, table: Floats, offset: float,
    weights: Floats, scores: Floats, sums: Floats, total: Floats,
) -> None:  # fmt: skip
    moved, bends = np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, scores.size, BLOCK):
        held = min(BLOCK, scores.size - start)
        _score(data, indices, indptr, table, sums, offset, start, held, moved)
        for r in range(held):
            bends[r] = scores[start + r]
        bend(bends, bends, held)
        for r in range(held):
            row = start + r
            weight = weights[row] if weights.size else 1.0
            factor = weight * (bends[r] * bends[r] * moved[r])
            total[0] += factor
            _add(data, indices, indptr[row], indptr[row + 1], factor, sums)
