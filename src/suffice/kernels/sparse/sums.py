"""Sums by class and scores of sparse rows, and the table they are scored with.

A cell counts as f(x): itself where `threshold` is None, else 1 above the threshold and 0 up to it.
Cells that are not stored are 0, so a threshold is ≥ 0. Nothing is refused here: each function
returns the smallest of all cells it has seen, which costs no pass of its own. That is 0 when
every stored cell is finite and ≥ 0, negative when one is negative, NaN when one is not finite.

    rows       SparseRows, in any order within a row, each column once
    codes      (n,) intp, the class of each row, 0..size-1
    weights    (n,) float64 ≥ 0, or None for ones; a row of weight 0 is not looked at
    table      (d, ≥ k) float64, the scores of each column; `score_table` makes the quick ones
    offsets    (k,) float64, what each class has before any cell
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import stored_cells_pay, twin
from suffice.kernels.dense.scores import best_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.rows.sparse_rows import SparseRows

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Places = NDArray[np.integer]

LINE = 8
"""Doubles in a line of the cache."""

FEW_CELLS = 1000
"""Stored cells up to which NumPy's way of adding up products is quicker than calling SciPy."""

BLOCK_CELLS = 1 << 17
"""Stored cells worked on at a time: a megabyte of doubles."""

PLAIN_CELLS = 1 << 22
"""The same, where cells are taken as they are: SciPy copies what is a small part of a matrix."""


def lanes(size: int) -> int:
    """Return how many scores are added up side by side for so many classes.

    >>> [lanes(size) for size in (1, 2, 4, 5, 20)]
    [1, 2, 4, 8, 8]
    """
    return min(1 << (size - 1).bit_length(), LINE)


def score_table(weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return weights (k, d) as a table (d, ≥ k): one row a column, filled up with zeros.

    Rows are whole lanes and begin with a line of the cache, or share it: the k numbers of a column
    come with one fetch. That is worth a factor of two at a million columns; a table of any other
    layout gives the same scores.

    >>> score_table(np.ones((5, 2))).shape
    (2, 8)
    """
    size, width = weights.shape
    padded = -(-size // lanes(size)) * lanes(size)
    room = np.zeros(width * padded + LINE)
    skipped = -(room.ctypes.data // room.itemsize) % LINE
    table = room[skipped : skipped + width * padded].reshape(width, padded)
    table[:, :size] = weights.T
    return table


def packed(table: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return a table (d, ≥ size) in whole lanes: itself, where `score_table` has made it."""
    if table.flags.c_contiguous and table.shape[1] >= size and not table.shape[1] % lanes(size):
        return table
    return score_table(table[:, :size].T)


@twin("suffice.kernels.sparse.sums_numba", when=stored_cells_pay)
def class_sums(
    rows: SparseRows, codes: Codes, size: int, weights: Floats | None, threshold: float | None
) -> tuple[Floats, Floats, float]:
    """Return (totals (k,), sums (k, d), smallest cell): Σw and Σw f(x) of every class."""
    totals = np.bincount(codes, weights, size).astype(np.float64)
    sums = np.zeros((size, rows.width))
    flat = sums.reshape(-1)
    smallest = 0.0
    for part, block in _blocks(rows):
        lengths = np.diff(block.indptr)
        places = np.repeat(codes[part] * rows.width, lengths)
        places += block.places
        cells = _counted(block, threshold)
        if weights is not None:
            by_cell = np.repeat(weights[part], lengths)
            counts = by_cell > 0.0
            if not counts.all():
                places, cells, by_cell = places[counts], cells[counts], by_cell[counts]
            cells *= by_cell
        with np.errstate(all="ignore"):
            np.add.at(flat, places, cells)
        smallest = float(np.minimum(smallest, smallest_cell(block, _part(weights, part))))
    return totals, sums, smallest


@twin("suffice.kernels.sparse.sums_numba", when=stored_cells_pay)
def sparse_scores(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None, out: Floats
) -> float:
    """Write offset + Σ_j f(x_j)·table[j] of every class into `out` (n, k); return the smallest.

    A cell that counts 0 adds nothing, not even where the table is infinite.
    """
    smallest = 0.0
    converted = threshold is not None or rows.dtype != np.float64
    for part, block in _blocks(rows, BLOCK_CELLS if converted else PLAIN_CELLS):
        smallest = float(np.minimum(smallest, smallest_cell(block, None)))
        cells, places, lengths = block.cells, block.places, np.diff(block.indptr)
        if converted:
            cells = _counted(block, threshold)
        if not (_is_finite(table) if len(cells) > table.size else cells.all()):
            # Nothing times minus infinity is nothing here.
            kept = cells != 0.0
            lengths = np.bincount(block.row_numbers()[kept], minlength=len(block))
            cells, places = cells[kept], places[kept]
        with np.errstate(all="ignore"):
            if len(cells) < FEW_CELLS:
                products = _few_products(cells, places, lengths, table[:, : len(offsets)])
            else:
                products = _many_products(cells, places, lengths, table, len(offsets))
            np.add(products, offsets, out=out[part])
    return smallest


def _is_finite(table: Floats) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.isfinite(table.sum()))


def _few_products(cells: Floats, places: Places, lengths: Codes, table: Floats) -> Floats:
    """Return Σ_j f(x_j)·table[j] of some rows: a single one takes a few microseconds."""
    products = np.zeros((len(lengths), table.shape[1]))
    there = np.flatnonzero(lengths)
    if len(there):
        starts = np.cumsum(lengths) - lengths
        products[there] = np.add.reduceat(table[places] * cells[:, None], starts[there], axis=0)
    return products


def _many_products(
    cells: Floats, places: Places, lengths: Codes, table: Floats, size: int
) -> Floats:
    """Return the same by SciPy, which needs no room for the single products."""
    from scipy import sparse

    # Of the same type as the columns: SciPy has nothing to look at and to convert then.
    indptr = np.zeros(len(lengths) + 1, places.dtype if len(cells) < 2**31 else np.int64)
    np.cumsum(lengths, out=indptr[1:])
    shape = len(lengths), len(table)
    if len(cells) > table.size:  # the products that lanes add cost more than leaving them out
        table = np.ascontiguousarray(table[:, :size])
    products: Floats = sparse.csr_array((cells, places, indptr), shape=shape) @ table
    return products[:, :size]


@twin("suffice.kernels.sparse.sums_numba", when=stored_cells_pay)
def sparse_winners(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None, out: Codes
) -> float:
    """Write the class of the best score into `out` (n,), the first of equals; return the smallest.

    The scores themselves are not kept.
    """
    scores = np.empty((len(rows), len(offsets)))
    smallest = sparse_scores(rows, table, offsets, threshold, scores)
    with np.errstate(all="ignore"):
        best_columns(scores, out, float(scores.sum()))
    return smallest


def smallest_cell(rows: SparseRows, weights: Floats | None) -> float:
    """Return min(0, smallest stored cell), NaN when a cell is not finite; weight 0 is not a row."""
    cells = rows.cells
    if weights is not None and not weights.all():
        cells = cells[np.repeat(weights > 0.0, np.diff(rows.indptr))]
    if not len(cells):
        return 0.0
    low, high = float(cells.min()), float(cells.max())
    return min(low, 0.0) if math.isfinite(low) and math.isfinite(high) else math.nan


def _counted(block: SparseRows, threshold: float | None) -> Floats:
    """Return f(x) of the stored cells, a copy: x itself, or 1 above the threshold and 0 below."""
    # As a double: float32 cells are widened before they are compared.
    cells = block.cells if threshold is None else block.cells > np.float64(threshold)
    return cells.astype(np.float64)


def _part(weights: Floats | None, part: slice) -> Floats | None:
    return None if weights is None else weights[part]


def _blocks(rows: SparseRows, most: int = BLOCK_CELLS) -> Iterator[tuple[slice, SparseRows]]:
    """Yield neighbouring rows that store about `most` cells."""
    if rows.stored <= most:
        yield slice(0, len(rows)), rows
        return
    ends = np.arange(int(rows.indptr[0]) + most, int(rows.indptr[-1]), most)
    cuts = {0, len(rows), *np.searchsorted(rows.indptr, ends).tolist()}
    for start, stop in pairwise(sorted(cuts)):
        yield slice(start, stop), rows[start:stop]
