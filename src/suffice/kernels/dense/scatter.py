"""Centred sums by class, in the way that suits the size: what every Gaussian statistic is made of.

Rows are centred on provisional class centres *before* they are multiplied: that is what keeps the
digits of columns far from zero. Nothing is checked here: a NaN or an infinity in the rows comes out
as a sum that is not finite, which costs no extra pass over the data.

    rows     (n, d) float32 or float64, any strides; float32 is widened before it is centred;
             they may be `ColumnsApart`
    codes    (n,) intp, the class of each row, 0..size-1
    weights  (n,) float64 > 0, or None for ones
    centres  (size, d) float64, finite
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from suffice.kernels.compilation import pays
from suffice.kernels.dense import scatter_numpy
from suffice.kernels.dense.columns_apart import ColumnsApart, together

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any] | ColumnsApart

WIDEST = 128
"""Columns up to which compiled products beat BLAS: their buffer fits a core's cache."""

FEW_CLASSES = 6
"""Classes up to which columns are added up where they lie: each costs, as they have to be told
apart by arithmetic. With more of them, putting the columns together first is faster."""


def pooled_scatter(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return (totals (k,), sums (k, d), scatter (d, d)), the scatter pooled over the classes."""
    if isinstance(rows, ColumnsApart):
        few = size <= FEW_CLASSES and rows.shape[1] <= WIDEST
        if few and weights is None and pays(cast("Any", rows)):
            from suffice.kernels.dense import column_scatter_numba

            return column_scatter_numba.pooled_scatter(rows, codes, size, centres)
        rows = rows.stacked
    if rows.shape[1] <= WIDEST and pays(rows):
        from suffice.kernels.dense import scatter_numba

        return scatter_numba.pooled_scatter(rows, codes, size, weights, centres)
    return scatter_numpy.pooled_scatter(rows, codes, size, weights, centres)


def class_scatters(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return (totals (k,), sums (k, d), scatters (k, d, d)), one scatter a class."""
    rows = together(rows)
    if rows.shape[1] <= WIDEST and pays(rows):
        from suffice.kernels.dense import scatter_numba

        return scatter_numba.class_scatters(rows, codes, size, weights, centres)
    return scatter_numpy.class_scatters(rows, codes, size, weights, centres)


def class_squares(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return (totals (k,), counts (k, d), sums (k, d), squares (k, d)); NaN cells are skipped."""
    rows = together(rows)
    if pays(rows):
        from suffice.kernels.dense import squares_numba

        return squares_numba.class_squares(rows, codes, size, weights, centres)
    return scatter_numpy.class_squares(rows, codes, size, weights, centres)
