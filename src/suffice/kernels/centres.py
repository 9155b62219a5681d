"""Where classes lie, from a sample of their rows, in the way that suits the size.

rows   (n, d) float32 or float64, any strides, n > 0
codes  (n,) intp, the class of each row, 0..size-1
step   every so manieth row is looked at
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.kernels import centres_numpy
from suffice.kernels.compilation import pays

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any]


def sampled_centres(rows: Rows, codes: Codes, size: int, step: int) -> Floats:
    """Return a row of every class plus the mean deviation of its sampled rows from it, (k, d).

    Cells that are not finite are passed over; a class without rows lies nowhere in particular.
    """
    if pays(rows):
        from suffice.kernels import centres_numba

        return centres_numba.sampled_centres(rows, codes, size, step)
    return centres_numpy.sampled_centres(rows, codes, size, step)
