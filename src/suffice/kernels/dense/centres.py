"""Where classes lie, from a sample of their rows, in the way that suits the size.

rows   (n, d) float32 or float64, any strides, n > 0; they may be `ColumnsApart`
codes  (n,) intp, the class of each row, 0..size-1
step   every so manieth row is looked at
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.kernels.compilation import pays
from suffice.kernels.dense import centres_numpy
from suffice.kernels.dense.columns_apart import ColumnsApart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any] | ColumnsApart


def sampled_centres(rows: Rows, codes: Codes, size: int, step: int) -> Floats:
    """Return a row of every class plus the mean deviation of its sampled rows from it, (k, d).

    Cells that are not finite are passed over; a class without rows lies nowhere in particular.
    """
    if isinstance(rows, ColumnsApart):
        sample, drawn = _sample(rows, codes, size, step)
        return sampled_centres(sample, drawn, size, 1)
    if pays(rows):
        from suffice.kernels.dense import centres_numba

        return centres_numba.sampled_centres(rows, codes, size, step)
    return centres_numpy.sampled_centres(rows, codes, size, step)


def _sample(rows: ColumnsApart, codes: Codes, size: int, step: int) -> tuple[NDArray[Any], Codes]:
    """Return the rows that are looked at, and their classes.

    The first row of a class that the sample does not show is put at its end, where it stands for
    its class and for nothing else.
    """
    drawn = codes[::step]
    lacking = np.flatnonzero(np.bincount(drawn, minlength=size) == 0)
    firsts = [int(places[0]) for c in lacking if len(places := np.flatnonzero(codes == c))]
    length = len(drawn)
    sample = np.empty((length + len(firsts), rows.shape[1]), rows.dtype, order="F")
    for j, column in enumerate(rows.columns):
        sample[:length, j] = column[::step]
        if firsts:
            sample[length:, j] = column[firsts]
    return sample, np.concatenate([drawn, codes[firsts]]) if firsts else drawn
