"""Where classes lie, from a sample of their rows, in numba: the twin for large inputs.

The sample is small, but NumPy takes two dozen steps for it, and holds up other threads meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float32, float64, intp

from suffice.kernels.compilation import array, compiled, once, target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any]


def sampled_centres(rows: Rows, codes: Codes, size: int, step: int) -> Floats:
    """See `centres_numpy.sampled_centres`."""
    centres = np.zeros((size, rows.shape[1]))
    _loop(rows.dtype.str)(rows, codes, step, centres)
    return centres


@once
def _loop(cells: str) -> Callable[..., None]:
    rows = array(float32 if cells == np.dtype(np.float32).str else float64, 2, "A")
    return compiled(_centre, rows, array(intp, 1, "A"), intp, target(2))


def _centre(rows: Rows, codes: Codes, step: int, centres: Floats) -> None:
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
            found = centres[code, j] + sums[code, j] / max(counts[code, j], 1.0)
            centres[code, j] = found if np.isfinite(found) else 0.0
