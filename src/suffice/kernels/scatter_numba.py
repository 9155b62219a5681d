"""Centred sums by class in numba: the twin for large inputs.

Rows are centred into a small buffer that lies by columns, so that each inner product of two columns
runs over contiguous numbers. Tiles of 4 × 2 columns share their loads and fit the 16 vector
registers of AVX2. The buffer's columns are a little longer than a power of two: at exactly 2048 or
4096 bytes all of them would compete for the same cache sets, which takes twice the time.

Sums may be reassociated inside the products (that is what lets the compiler vectorise them), but
NaN and infinities keep their meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float32, float64, intp, njit

from suffice.kernels.compilation import array, compiled, once, target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any]

BLOCK = 256
"""Rows in the buffer."""

STRIDE = BLOCK + 8
"""Doubles from one column of the buffer to the next."""

CHUNK = 4096
"""Rows sorted by class at a time, at least; and 32 for each class, that its products are long."""

PER_CLASS = 64
"""Rows for each class, and BLOCK at least, that are summed before their sums are added to those of
the rows before: there is little work on sums beside that on rows, and rounding stays small
(`scatter.additions`)."""

NO_WEIGHTS = np.empty(0)


def pooled_scatter(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """See `scatter_numpy.pooled_scatter`."""
    width = rows.shape[1]
    totals, sums, scatter = np.zeros(size), np.zeros((size, width)), np.zeros((width, width))
    loop = _loop(_pool, rows.dtype.str, 2)
    loop(rows, codes, _or_none(weights), np.ascontiguousarray(centres), totals, sums, scatter)
    return totals, sums, scatter


def class_scatters(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """See `scatter_numpy.class_scatters`."""
    width = rows.shape[1]
    totals, sums, scatters = np.zeros(size), np.zeros((size, width)), np.zeros((size, width, width))
    loop = _loop(_separate, rows.dtype.str, 3)
    loop(rows, codes, _or_none(weights), np.ascontiguousarray(centres), totals, sums, scatters)
    return totals, sums, scatters


def _or_none(weights: Floats | None) -> Floats:
    """Return the weights, or an array of none of them: a loop's arguments have one type."""
    return NO_WEIGHTS if weights is None else weights


@once
def _loop(loop: Callable[..., None], cells: str, dimensions: int) -> Callable[..., None]:
    """Return a loop compiled for float32 or float64 cells, with products of these dimensions."""
    kind = float32 if cells == np.dtype(np.float32).str else float64
    inputs = array(kind, 2, "A"), array(intp, 1, "A"), array(float64, 1, "A"), array(float64, 2)
    return compiled(loop, *inputs, target(1), target(2), target(dimensions))


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _multiply(buffer: Floats, products: Floats, length: int) -> None:
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
    held_weights, held_sums = np.zeros(size), np.zeros((size, width))
    every = max(BLOCK, PER_CLASS * size) // BLOCK * BLOCK
    for start in range(0, length, BLOCK):
        held = min(BLOCK, length - start)
        for r in range(held):
            row = start + r
            code = codes[row]
            if weighted:
                root = np.sqrt(weights[row])
                held_weights[code] += weights[row]
                for j in range(width):
                    cell = root * (rows[row, j] - centres[code, j])
                    buffer[j, r] = cell
                    held_sums[code, j] += root * cell
            else:
                held_weights[code] += 1.0
                for j in range(width):
                    cell = rows[row, j] - centres[code, j]
                    buffer[j, r] = cell
                    held_sums[code, j] += cell
        _multiply(buffer, products, held)
        if (start + BLOCK) % every == 0 or start + BLOCK >= length:
            for code in range(size):
                totals[code] += held_weights[code]
                held_weights[code] = 0.0
                for j in range(width):
                    sums[code, j] += held_sums[code, j]
                    held_sums[code, j] = 0.0
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
                _multiply(buffer, products, held)
                first += held
            _mirror(products, scatters[code])
