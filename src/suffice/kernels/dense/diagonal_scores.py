"""Scores of normal classes with independent columns, in the way that suits the size.

rows       (n, d) float32 or float64, any strides; float32 is widened before it is centred
origin     (d,) float64, subtracted first: columns far from zero keep their digits
scales     (k, d) float64, or (1, d) where all classes have the same
shifts     (k, d) float64
constants  (k,) float64
out        (n, k) float64, any strides
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.kernels.compilation import pays
from suffice.kernels.dense import diagonal_scores_numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[Any]


def diagonal_scores(
    rows: Rows, origin: Floats, scales: Floats, shifts: Floats, constants: Floats, out: Floats
) -> None:
    """Write constant - ½Σ_j((x_j - origin_j)·scale_j - shift_j)² into `out`, a column a class.

    Scales are (k, d), or (1, d) where all classes have the same; shifts (k, d), constants (k,) and
    `out` (n, k). Squares are summed as they are: expanded, they would cancel where a class is
    narrow.
    """
    if pays(rows):
        from suffice.kernels.dense import diagonal_scores_numba

        diagonal_scores_numba.diagonal_scores(rows, origin, scales, shifts, constants, out)
    else:
        diagonal_scores_numpy.diagonal_scores(rows, origin, scales, shifts, constants, out)


def diagonal_odds(
    rows: Rows, origin: Floats, curves: Floats, slopes: Floats, offset: float, out: Floats
) -> None:
    """Write offset + Σ_j z_j(curve_j·z_j + slope_j) with z = x - origin into `out` (n,).

    The log odds of two classes in one column: half the work, and half the memory, of two scores.
    """
    if pays(rows):
        from suffice.kernels.dense import diagonal_scores_numba

        diagonal_scores_numba.diagonal_odds(rows, origin, curves, slopes, offset, out)
    else:
        diagonal_scores_numpy.diagonal_odds(rows, origin, curves, slopes, offset, out)
