"""Scores of normal classes with independent columns in NumPy, a block in the cache at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[Any]

BLOCK_CELLS = 1 << 15
"""Cells of one block: a quarter of a megabyte of doubles, as it is gone through several times."""


def diagonal_scores(
    rows: Rows, origin: Floats, scales: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """Write constant - ½Σ_j((x_j - origin_j)·scale_j - shift_j)² of every class into `out`."""
    scales = np.broadcast_to(scales, shifts.shape)
    with np.errstate(all="ignore"):
        for part, z, u in _centred_blocks(rows, origin):
            for code, constant in enumerate(constants):
                np.multiply(z, scales[code], out=u)
                np.subtract(u, shifts[code], out=u)
                out[part, code] = constant - 0.5 * np.einsum("ij,ij->i", u, u)


def diagonal_odds(
    rows: Rows, origin: Floats, curves: Floats, slopes: Floats, offset: float, out: Floats
) -> None:
    """Write offset + Σ_j z_j(curve_j·z_j + slope_j) with z = x - origin into `out`."""
    with np.errstate(all="ignore"):
        for part, z, u in _centred_blocks(rows, origin):
            np.multiply(z, curves, out=u)
            np.add(u, slopes, out=u)
            out[part] = offset + np.einsum("ij,ij->i", z, u)


def _centred_blocks(rows: Rows, origin: Floats) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield x - origin block by block, with room for as much; the next block overwrites both."""
    length, width = rows.shape
    step = min(max(BLOCK_CELLS // max(width, 1), 16), max(length, 1))
    centred, room = np.empty((step, width)), np.empty((step, width))
    for start in range(0, length, step):
        part = slice(start, min(start + step, length))
        held = part.stop - start
        np.subtract(rows[part], origin, out=centred[:held])
        yield part, centred[:held], room[:held]
