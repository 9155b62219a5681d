"""Centred sums by class in numba, of columns that lie apart: the loop for files of numbers.

A block of 256 rows is centred column by column, straight from where the file's reader has put it,
into the buffer that the products are made of. Which class a row is of enters as numbers: a mark is
1 in the rows of its class and 0 in all others, and

    x - Σ_c mark_c · centre_c    and    Σ_rows mark_c · (x - centre)

are the centred cell and the sum of its class. Both are exact where a plain choice is, for a product
with 0 or 1 is, and unlike a choice they are the same operations for all rows: four at a time.
Classes are taken by threes, so that a pass over a column serves three of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float32, float64, intp, njit

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.dense.scatter_numba import BLOCK, STRIDE, _mirror, _multiply

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.dense.columns_apart import ColumnsApart

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]

# Untyped: only some releases of numba have types.
carray: Any = import_module("numba").carray
types: Any = import_module("numba.types")
intrinsic: Any = import_module("numba.extending").intrinsic


def pooled_scatter(
    rows: ColumnsApart, codes: Codes, size: int, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """See `scatter_numpy.pooled_scatter`; there are no weights."""
    width = rows.shape[1]
    totals, sums, scatter = np.zeros(size), np.zeros((size, width)), np.zeros((width, width))
    places = np.array([column.ctypes.data for column in rows.columns], np.intp)
    loop = _loop(rows.dtype.str)
    codes, centres = np.ascontiguousarray(codes), np.ascontiguousarray(centres)
    loop(places, rows.columns[0][:0], codes, centres, totals, sums, scatter)
    return totals, sums, scatter


@once
def _loop(cells: str) -> Callable[..., None]:
    """Return the loop compiled for columns of float32 or float64."""
    kind = float32 if cells == np.dtype(np.float32).str else float64
    inputs = array(intp, 1), array(kind, 1), array(intp, 1), array(float64, 2)
    return compiled(_pool, *inputs, target(1), target(2), target(2))


@intrinsic
def _cells(_: Any, like: Any, place: Any) -> Any:
    """Return the cells at an address, of the type of those of `like`, as a pointer."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.inttoptr(given[1], context.get_value_type(signature.return_type))

    return types.CPointer(like.dtype)(like, place), generate


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _centre(
    cells: Any, buffer: Floats, marks: Floats, centres: Floats
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
def _centre_more(buffer: Floats, marks: Floats, centres: Floats) -> tuple[float, float, float]:
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
    found = 0
    for r in range(codes.size):
        marks[r] = 1.0 if codes[r] == code else 0.0
        found += codes[r] == code
    return float64(found)


def _pool(
    places: Codes, like: Any, codes: Codes, centres: Floats,
    totals: Floats, sums: Floats, scatter: Floats,
) -> None:  # fmt: skip
    width, size = places.size, totals.size
    padded = (width + 3) // 4 * 4
    buffer = np.zeros((padded, STRIDE))
    products = np.zeros((padded, padded))
    threes = (size + 2) // 3 * 3
    marks = np.zeros((threes, STRIDE))
    about, found = np.zeros((width, threes)), np.zeros((width, threes))
    about[:, :size] = centres.T
    each = like.itemsize
    for start in range(0, codes.size, BLOCK):
        held = min(BLOCK, codes.size - start)
        own = codes[start : start + held]
        for code in range(size):
            totals[code] += _mark(own, code, marks[code])
        for j in range(width):
            cells = carray(_cells(like, places[j] + start * each), (held,))
            filled = buffer[j, :held]
            for code in range(0, threes, 3):
                if code == 0:
                    first, second, third = _centre(cells, filled, marks, about[j])
                else:
                    first, second, third = _centre_more(filled, marks[code:], about[j, code:])
                found[j, code] += first
                found[j, code + 1] += second
                found[j, code + 2] += third
        _multiply(buffer, products, held)
    sums[:] = found[:, :size].T
    _mirror(products, scatter)
