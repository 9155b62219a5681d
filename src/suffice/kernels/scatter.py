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

import numpy as np

from suffice.kernels import scatter_numpy
from suffice.kernels.columns_apart import ColumnsApart, together
from suffice.kernels.compilation import pays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Rows = NDArray[Any] | ColumnsApart

WIDEST = 128
"""Columns up to which compiled products beat BLAS: their buffer fits a core's cache."""

FEW_CLASSES = 6
"""Classes up to which columns are added up where they lie: each costs, as they have to be told
apart by arithmetic. With more of them, putting the columns together first is faster."""


PIECE, WIDE, PER_CLASS = 256, 64, 64
"""Rows that are added up in one go, twice as many for products of more than WIDE columns, and so
many for each class where the sums of all classes are held: what `additions` counts on."""


def additions(counts: Any, rows: int, width: int, size: int) -> Any:
    """Return through how many additions a cell of a class goes at most, given rows by class.

    Whatever the order, of n numbers none goes through more than n additions, and each addition
    rounds by ½ε: a sum of n products has an error of no more than ½ε n Σ|xy|. All loops add up
    pieces, and then the pieces:

    - NumPy: pieces of 256 (512) rows, in whatever order BLAS likes; the pieces of a block, which
      has at least 3·√(2¹⁷/3) = 627 rows; the blocks. So P + n/P + 2 + N/512 + 1, of n rows of a
      class and N rows in all.
    - compiled products: blocks of 256, in lanes or not; then the blocks, one after another, or
      those of a class in a chunk of at least 4096 rows, and then the chunks: 256 + n/256 + N/512.
    - compiled sums of several classes: as many rows as there are, up to 256 or 64 for each class,
      and then these one after another.

    >>> [int(additions(n, n, 10, 1)) for n in (50, 500, 5_000, 10**6)]
    [50, 262, 289, 6119]
    """
    piece = max(PIECE if width <= WIDE else 2 * PIECE, PER_CLASS * size)
    most = piece + counts / PIECE + rows / 512.0 + 4.0
    return np.minimum(counts, most) if isinstance(counts, np.ndarray) else min(counts, most)


def pooled_scatter(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return (totals (k,), sums (k, d), scatter (d, d)), the scatter pooled over the classes."""
    if isinstance(rows, ColumnsApart):
        few = size <= FEW_CLASSES and rows.shape[1] <= WIDEST
        if few and weights is None and pays(cast("Any", rows)):
            from suffice.kernels import column_scatter_numba

            return column_scatter_numba.pooled_scatter(rows, codes, size, centres)
        rows = rows.stacked
    if rows.shape[1] <= WIDEST and pays(rows):
        from suffice.kernels import scatter_numba

        return scatter_numba.pooled_scatter(rows, codes, size, weights, centres)
    return scatter_numpy.pooled_scatter(rows, codes, size, weights, centres)


def class_scatters(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return (totals (k,), sums (k, d), scatters (k, d, d)), one scatter a class."""
    rows = together(rows)
    if rows.shape[1] <= WIDEST and pays(rows):
        from suffice.kernels import scatter_numba

        return scatter_numba.class_scatters(rows, codes, size, weights, centres)
    return scatter_numpy.class_scatters(rows, codes, size, weights, centres)


def class_squares(
    rows: Rows, codes: Codes, size: int, weights: Floats | None, centres: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return (totals (k,), counts (k, d), sums (k, d), squares (k, d)); NaN cells are skipped."""
    rows = together(rows)
    if pays(rows):
        from suffice.kernels import squares_numba

        return squares_numba.class_squares(rows, codes, size, weights, centres)
    return scatter_numpy.class_squares(rows, codes, size, weights, centres)
