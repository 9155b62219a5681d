"""Rows that lie one after another in memory, whatever the strides of those given.

Loops over rows are fastest where each row is one run of memory. Other rows (of frames that lie by
columns, say) are copied, a few at a time, into a buffer that stays in a core's cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import DENSE, array, cells_type, compiled, once_for
from suffice.kernels.lanes.intrinsics_numba import types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Rows = NDArray[np.floating]

CELLS = 1 << 15
"""Cells copied at a time, about: a quarter of a megabyte, which a core's second cache holds."""

LEAST_ROWS = 64
"""Rows copied at a time, at least: of very wide rows too, a loop needs some to work on."""


def contiguous_parts(rows: Rows) -> Iterator[tuple[slice, Rows]]:
    """Yield slices and their rows, contiguous: all of them at once, or copies in a buffer."""
    length, width = rows.shape
    if rows.flags.c_contiguous:
        yield slice(0, length), rows
        return
    step = max(CELLS // max(width, 1), LEAST_ROWS)
    buffer = np.empty((min(step, length), width), rows.dtype)
    copy = _copying(rows.dtype.str)
    for start in range(0, length, step):
        part = slice(start, min(start + step, length))
        block = buffer[: part.stop - start]
        copy(rows[part], block)
        yield part, block


@once_for(lambda: [(cells,) for cells in DENSE])
def _copying(name: str) -> Callable[..., None]:
    kind = cells_type(name)
    return compiled(_copy, array(kind, 2, "A"), types.Array(kind, 2, "C"))


def _copy(rows: Rows, out: Rows) -> None:
    length, width = rows.shape
    if abs(rows.strides[0]) >= abs(rows.strides[1]):
        for r in range(length):
            for j in range(width):
                out[r, j] = rows[r, j]
        return
    whole = width // 4 * 4  # four columns at a time: one write, not four
    for j in range(0, whole, 4):
        for r in range(length):
            a, b, c, d = rows[r, j], rows[r, j + 1], rows[r, j + 2], rows[r, j + 3]
            out[r, j], out[r, j + 1], out[r, j + 2], out[r, j + 3] = a, b, c, d
    for j in range(whole, width):
        for r in range(length):
            out[r, j] = rows[r, j]
