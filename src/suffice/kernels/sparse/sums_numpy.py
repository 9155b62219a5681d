"""Sums and scores of sparse rows in NumPy: the twin that is always there."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.rows.sparse_rows import SparseRows

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Places = NDArray[np.integer[Any]]

FEW = 1000
"""Stored cells up to which NumPy's way of adding up products is quicker than calling SciPy."""

BLOCK = 1 << 17
"""Stored cells worked on at a time."""


def class_sums(
    rows: SparseRows, codes: Codes, size: int, weights: Floats | None, threshold: float | None
) -> tuple[Floats, Floats, float]:
    """Return Σw by class, Σw f(x) by class and column, and the smallest cell."""
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
            seen = by_cell > 0.0
            if not seen.all():
                places, cells, by_cell = places[seen], cells[seen], by_cell[seen]
            cells *= by_cell
        with np.errstate(all="ignore"):
            np.add.at(flat, places, cells)
        smallest = float(np.minimum(smallest, smallest_cell(block, _part(weights, part))))
    return totals, sums, smallest


def sparse_scores(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None, out: Floats
) -> float:
    """Write offset + Σ_j f(x_j)·table[j] of every class into `out`; return the smallest cell."""
    smallest = 0.0
    for part, block in _blocks(rows):
        smallest = float(np.minimum(smallest, smallest_cell(block, None)))
        cells, places, lengths = _counted(block, threshold), block.places, np.diff(block.indptr)
        if not cells.all():  # nothing times minus infinity is nothing here
            kept = cells != 0.0
            lengths = np.bincount(block.row_numbers()[kept], minlength=len(block))
            cells, places = cells[kept], places[kept]
        with np.errstate(all="ignore"):
            if len(cells) < FEW:
                out[part] = _few_products(cells, places, lengths, table[:, : len(offsets)])
            else:
                out[part] = _many_products(cells, places, lengths, table)[:, : len(offsets)]
            out[part] += offsets
    return smallest


def _few_products(cells: Floats, places: Places, lengths: Codes, table: Floats) -> Floats:
    """Return Σ_j f(x_j)·table[j] of some rows: a single one takes a few microseconds."""
    found = np.zeros((len(lengths), table.shape[1]))
    there = np.flatnonzero(lengths)
    if len(there):
        starts = np.cumsum(lengths) - lengths
        found[there] = np.add.reduceat(table[places] * cells[:, None], starts[there], axis=0)
    return found


def _many_products(cells: Floats, places: Places, lengths: Codes, table: Floats) -> Floats:
    """Return the same by SciPy, which needs no room for the single products."""
    from scipy import sparse

    indptr = np.concatenate([[0], np.cumsum(lengths)])
    shape = len(lengths), len(table)
    found: Floats = sparse.csr_array((cells, places, indptr), shape=shape) @ table
    return found


def sparse_winners(
    rows: SparseRows, table: Floats, offsets: Floats, threshold: float | None, out: Codes
) -> float:
    """Write the class of the best score into `out`, the first of equals; return the smallest."""
    scores = np.empty((len(rows), len(offsets)))
    smallest = sparse_scores(rows, table, offsets, threshold, scores)
    scores.argmax(axis=1, out=out)
    return smallest


def smallest_cell(rows: SparseRows, weights: Floats | None) -> float:
    """Return min(0, smallest stored cell), NaN when a cell is not finite; weight 0 is no row."""
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


def _blocks(rows: SparseRows) -> Iterator[tuple[slice, SparseRows]]:
    """Yield neighbouring rows that store about as many cells as a block holds."""
    if rows.stored <= BLOCK:
        yield slice(0, len(rows)), rows
        return
    ends = np.arange(int(rows.indptr[0]) + BLOCK, int(rows.indptr[-1]), BLOCK)
    cuts = {0, len(rows), *np.searchsorted(rows.indptr, ends).tolist()}
    for start, stop in pairwise(sorted(cuts)):
        yield slice(start, stop), rows[start:stop]
