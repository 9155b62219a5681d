"""Centred sums by class in numba: the twin for large inputs.

Rows are centred into a small buffer that lies by columns, so that each inner product of two columns
runs over contiguous numbers. Tiles of 4 × 2 columns share their loads and fit the 16 vector
registers of AVX2. The buffer's columns are a little longer than a power of two: at exactly 2048 or
4096 bytes all of them would compete for the same cache sets, which takes twice the time.

Sums may be reassociated inside the products (that is what lets the compiler vectorise them), but
NaN and infinities keep their meaning.

Columns that lie apart are centred straight from where the file's reader has put them, a block of
256 rows at a time. Which class a row is of enters as numbers: a mark is 1 in the rows of its class
and 0 in all others, and

    x - Σ_c mark_c · centre_c    and    Σ_rows mark_c · (x - centre)

are the centred cell and the sum of its class. Both are exact where a plain choice is, for a product
with 0 or 1 is, and unlike a choice they are the same operations for all rows: four at a time.
Classes are taken by threes, so that a pass over a column serves three of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from numba import float64, intp, njit

from suffice.kernels.compilation import (
    DENSE,
    NO_WEIGHTS,
    array,
    cells_type,
    compiled,
    once_for,
    target,
)
from suffice.kernels.dense.columns_apart import ColumnsApart, together
from suffice.kernels.lanes.intrinsics_numba import cells_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.dense.scatter import Codes, Floats, Rows

PER_CLASS = 64
"""Rows for each class, and BLOCK at least, that are summed before their sums are added to those of
the rows before: there is little work on sums beside that on rows, and rounding stays small
(`scatter.additions`)."""

carray = import_module("numba").carray  # untyped: only some releases of numba have types

FEW_CLASSES = 6
"""Classes up to which columns are added up where they lie: each costs, as they have to be parted
by arithmetic. With more of them, putting the columns together first is faster."""

BLOCK = 256
"""Rows in the buffer: two kilobytes a column, so that those of a tile stay in the first cache."""

STRIDE = BLOCK + 8
"""Doubles from one column of the buffer to the next: no power of two, for the cache's sake."""

CHUNK = 4096
"""Rows sorted by class at a time, at least; and 32 for each class, that its products are long."""


def sampled_centres(rows: Rows, codes: Codes, size: int, step: int) -> Floats:
    """See `scatter.sampled_centres`."""
    rows = together(rows)
    centres = np.zeros((size, rows.shape[1]))
    _centre_loop(rows.dtype.str)(rows, codes, step, centres)
    return centres


@once_for(lambda: [(cells,) for cells in DENSE])
def _centre_loop(cells: str) -> Callable[..., None]:
    rows = array(cells_type(cells), 2, "A")
    return compiled(_add_deviations, rows, array(intp, 1, "A"), intp, target(2))


def _add_deviations(rows: Rows, codes: Codes, step: int, centres: Floats) -> None:
    size, width = centres.shape
    first = np.full(size, -1)
    left = size
    for apart in (step, 1):  # where a class is not in the sample, its first row has to do
        for row in range(0, rows.shape[0], apart):
            if left == 0:
                break
            if first[codes[row]] < 0:
                first[codes[row]] = row
                left -= 1
    for code in range(size):
        if first[code] >= 0:
            for j in range(width):
                cell = float64(rows[first[code], j])
                centres[code, j] = cell if np.isfinite(cell) else 0.0
    sums, counts = np.zeros((size, width)), np.zeros((size, width))
    for row in range(0, rows.shape[0], step):
        code = codes[row]
        for j in range(width):
            away = rows[row, j] - centres[code, j]
            if np.isfinite(away):
                sums[code, j] += away
                counts[code, j] += 1.0
    for code in range(size):
        for j in range(width):
            centre = centres[code, j] + sums[code, j] / max(counts[code, j], 1.0)
            centres[code, j] = centre if np.isfinite(centre) else 0.0


def pooled_scatter(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """See `scatter.pooled_scatter`."""
    if isinstance(rows, ColumnsApart) and size <= FEW_CLASSES and weights is None:
        return _pooled_columns(rows, codes, size, centres)
    rows = together(rows)
    width = rows.shape[1]
    totals, sums, scatter = np.zeros(size), np.zeros((size, width)), np.zeros((width, width))
    loop = _loop(_pool, rows.dtype.str, 2)
    given = NO_WEIGHTS if weights is None else weights
    loop(rows, codes, given, np.ascontiguousarray(centres), totals, sums, scatter)
    return totals, sums, scatter


def class_scatters(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """See `scatter.class_scatters`."""
    rows = together(rows)
    width = rows.shape[1]
    totals, sums, scatters = np.zeros(size), np.zeros((size, width)), np.zeros((size, width, width))
    loop = _loop(_separate, rows.dtype.str, 3)
    given = NO_WEIGHTS if weights is None else weights
    loop(rows, codes, given, np.ascontiguousarray(centres), totals, sums, scatters)
    return totals, sums, scatters


@once_for(
    lambda: [(loop, cells, size) for loop, size in ((_pool, 2), (_separate, 3)) for cells in DENSE]
)
def _loop(loop: Callable[..., None], cells: str, dimensions: int) -> Callable[..., None]:
    """Return a loop compiled for float32 or float64 cells, with products of these dimensions."""
    rows = array(cells_type(cells), 2, "A")
    inputs = rows, array(intp, 1, "A"), array(float64, 1, "A"), array(float64, 2)
    return compiled(loop, *inputs, target(1), target(2), target(dimensions))


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def add_products(buffer: Floats, products: Floats, length: int) -> None:
    """Add buffer · bufferᵀ to the tiles on and below the diagonal."""
    for i in range(0, products.shape[0], 4):
        for j in range(0, i + 4, 2):
            a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = 0.0
            for r in range(length):
                a, b, c, d = buffer[i, r], buffer[i + 1, r], buffer[i + 2, r], buffer[i + 3, r]
                x, y = buffer[j, r], buffer[j + 1, r]
                a0 += a * x
                a1 += a * y
                b0 += b * x
                b1 += b * y
                c0 += c * x
                c1 += c * y
                d0 += d * x
                d1 += d * y
            products[i, j] += a0
            products[i, j + 1] += a1
            products[i + 1, j] += b0
            products[i + 1, j + 1] += b1
            products[i + 2, j] += c0
            products[i + 2, j + 1] += c1
            products[i + 3, j] += d0
            products[i + 3, j + 1] += d1


@njit(nogil=True)
def _mirror(products: Floats, scatter: Floats) -> None:
    """Add the lower triangle to both triangles of a scatter."""
    for i in range(scatter.shape[0]):
        for j in range(i):
            scatter[i, j] += products[i, j]
            scatter[j, i] = scatter[i, j]
        scatter[i, i] += products[i, i]


def _pool(
    rows: Rows, codes: Codes, weights: Floats, centres: Floats,
    totals: Floats, sums: Floats, scatter: Floats,
) -> None:  # fmt: skip
    length, width = rows.shape
    padded = (width + 3) // 4 * 4
    buffer = np.zeros((padded, STRIDE))
    products = np.zeros((padded, padded))
    weighted = weights.size > 0
    size = totals.size
    # What rows are added to is what the caller gave, which is zero: the compiler makes more of it.
    whole_weights, whole_sums = np.zeros(size), np.zeros((size, width))
    every = max(BLOCK, PER_CLASS * size) // BLOCK * BLOCK
    for start in range(0, length, BLOCK):
        held = min(BLOCK, length - start)
        for r in range(held):
            row = start + r
            code = codes[row]
            if weighted:
                root = np.sqrt(weights[row])
                totals[code] += weights[row]
                for j in range(width):
                    cell = root * (rows[row, j] - centres[code, j])
                    buffer[j, r] = cell
                    sums[code, j] += root * cell
            else:
                totals[code] += 1.0
                for j in range(width):
                    cell = rows[row, j] - centres[code, j]
                    buffer[j, r] = cell
                    sums[code, j] += cell
        add_products(buffer, products, held)
        if (start + BLOCK) % every == 0 or start + BLOCK >= length:
            for code in range(size):
                whole_weights[code] += totals[code]
                totals[code] = 0.0
                for j in range(width):
                    whole_sums[code, j] += sums[code, j]
                    sums[code, j] = 0.0
    totals[:] = whole_weights
    sums[:] = whole_sums
    _mirror(products, scatter)


def _separate(  # noqa: PLR0912  one loop, with weights and without
    rows: Rows, codes: Codes, weights: Floats, centres: Floats,
    totals: Floats, sums: Floats, scatters: Floats,
) -> None:  # fmt: skip
    length, width = rows.shape
    size = totals.size
    padded = (width + 3) // 4 * 4
    buffer = np.zeros((padded, STRIDE))
    products = np.zeros((padded, padded))
    weighted = weights.size > 0
    held_sums = np.empty(width)
    chunk = min(max(CHUNK, 32 * size), max(length, 1))
    order = np.empty(chunk, np.intp)
    edges = np.empty(size + 1, np.intp)
    for start in range(0, length, chunk):
        stop = min(start + chunk, length)
        edges[:] = 0
        for row in range(start, stop):
            edges[codes[row]] += 1
        total = 0
        for code in range(size + 1):
            total, edges[code] = total + edges[code], total
        for row in range(start, stop):
            code = codes[row]
            order[edges[code]] = row
            edges[code] += 1
        # Filling moved each edge to the end of its class, which is where the next class begins.
        first = 0
        for code in range(size):
            last = edges[code]
            if last == first:
                continue
            products[:] = 0.0
            while first < last:
                held = min(BLOCK, last - first)
                held_weight = 0.0
                for j in range(width):
                    held_sums[j] = 0.0
                for r in range(held):
                    row = order[first + r]
                    if weighted:
                        root = np.sqrt(weights[row])
                        held_weight += weights[row]
                        for j in range(width):
                            cell = root * (rows[row, j] - centres[code, j])
                            buffer[j, r] = cell
                            held_sums[j] += root * cell
                    else:
                        held_weight += 1.0
                        for j in range(width):
                            cell = rows[row, j] - centres[code, j]
                            buffer[j, r] = cell
                            held_sums[j] += cell
                totals[code] += held_weight
                for j in range(width):
                    sums[code, j] += held_sums[j]
                add_products(buffer, products, held)
                first += held
            _mirror(products, scatters[code])


def _pooled_columns(
    rows: ColumnsApart, codes: Codes, size: int, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the pooled scatter of columns that lie apart, and have no weights."""
    width = rows.shape[1]
    totals, sums, scatter = np.zeros(size), np.zeros((size, width)), np.zeros((width, width))
    places = np.array([column.ctypes.data for column in rows.columns], np.intp)
    loop = _column_loop(rows.dtype.str)
    codes, centres = np.ascontiguousarray(codes), np.ascontiguousarray(centres)
    loop(places, rows.columns[0][:0], codes, centres, totals, sums, scatter)
    return totals, sums, scatter


@once_for(lambda: [(cells,) for cells in DENSE])
def _column_loop(cells: str) -> Callable[..., None]:
    """Return the loop compiled for columns of float32 or float64."""
    kind = cells_type(cells)
    inputs = array(intp, 1), array(kind, 1), array(intp, 1), array(float64, 2)
    return compiled(_pool_columns, *inputs, target(1), target(2), target(2))


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _centre_column(
    cells: NDArray[np.floating], buffer: Floats, marks: Floats, centres: Floats
) -> tuple[float, float, float]:
    """Write cells without the centres of three classes; return what they add up to in each."""
    one, two, three = marks[0], marks[1], marks[2]
    a, b, c = centres[0], centres[1], centres[2]
    first = second = third = 0.0
    for r in range(cells.size):
        cell = ((cells[r] - a * one[r]) - b * two[r]) - c * three[r]
        buffer[r] = cell
        first += one[r] * cell
        second += two[r] * cell
        third += three[r] * cell
    return first, second, third


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _centre_further(buffer: Floats, marks: Floats, centres: Floats) -> tuple[float, float, float]:
    """Do the same for three more classes, in place: under two names it would be slow."""
    one, two, three = marks[0], marks[1], marks[2]
    a, b, c = centres[0], centres[1], centres[2]
    first = second = third = 0.0
    for r in range(buffer.size):
        cell = ((buffer[r] - a * one[r]) - b * two[r]) - c * three[r]
        buffer[r] = cell
        first += one[r] * cell
        second += two[r] * cell
        third += three[r] * cell
    return first, second, third


@njit(nogil=True)
def _mark(codes: Codes, code: int, marks: Floats) -> float:
    """Write 1 where a class is, and 0 elsewhere; return how many rows it has."""
    count = 0
    for r in range(codes.size):
        marks[r] = 1.0 if codes[r] == code else 0.0
        count += codes[r] == code
    return float64(count)


def _pool_columns(
    places: Codes, like: NDArray[np.floating], codes: Codes, centres: Floats,
    totals: Floats, sums: Floats, scatter: Floats,
) -> None:  # fmt: skip
    width, size = places.size, totals.size
    padded = (width + 3) // 4 * 4
    buffer = np.zeros((padded, STRIDE))
    products = np.zeros((padded, padded))
    threes = (size + 2) // 3 * 3
    marks = np.zeros((threes, STRIDE))
    about, sums_by_column = np.zeros((width, threes)), np.zeros((width, threes))
    about[:, :size] = centres.T
    each = like.itemsize
    for start in range(0, codes.size, BLOCK):
        held = min(BLOCK, codes.size - start)
        own = codes[start : start + held]
        for code in range(size):
            totals[code] += _mark(own, code, marks[code])
        for j in range(width):
            cells = carray(cells_at(like, places[j] + start * each), (held,))
            filled = buffer[j, :held]
            for code in range(0, threes, 3):
                if code == 0:
                    first, second, third = _centre_column(cells, filled, marks, about[j])
                else:
                    first, second, third = _centre_further(filled, marks[code:], about[j, code:])
                sums_by_column[j, code] += first
                sums_by_column[j, code + 1] += second
                sums_by_column[j, code + 2] += third
        add_products(buffer, products, held)
    sums[:] = sums_by_column[:, :size].T
    _mirror(products, scatter)
