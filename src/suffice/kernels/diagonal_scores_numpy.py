"""Scores of normal classes with independent columns in NumPy, a block in the cache at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[Any]

BLOCK_CELLS = 1 << 15
"""Cells of one block: a quarter of a megabyte of doubles, as every class goes through it again."""


def diagonal_scores(
    rows: Rows, origin: Floats, scales: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """Write constant - ½Σ_j((x_j - origin_j)·scale_j - shift_j)² of every class into `out`."""
    length, width = rows.shape
    scales = np.broadcast_to(scales, shifts.shape)
    step = min(max(BLOCK_CELLS // max(width, 1), 16), max(length, 1))
    centred, white = np.empty((step, width)), np.empty((step, width))
    with np.errstate(all="ignore"):
        for start in range(0, length, step):
            part = slice(start, min(start + step, length))
            z, u = centred[: part.stop - start], white[: part.stop - start]
            np.subtract(rows[part], origin, out=z)
            for code, constant in enumerate(constants):
                np.multiply(z, scales[code], out=u)
                u -= shifts[code]
                out[part, code] = constant - 0.5 * np.einsum("ij,ij->i", u, u)
