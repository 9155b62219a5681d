"""Loss, gradient and Hessian products over sparse rows, in the way that suits the size.

Sparse rows are not centred: that would fill them. Scores are offset + table·x, in the units of
the cells; what centring would change is put right by the caller, from the sums returned.

    rows     SparseRows, finite cells
    codes    (n,) intp, 0..m; class 0 is the reference
    weights  (n,) float64 > 0, or None for ones
    table    (m, d) float64, offsets (m,)
    scores   (n, m) float64
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.kernels.compilation import pays
from suffice.kernels.logistic import sparse_numpy as sparse_logistic_numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from suffice.rows.sparse_rows import SparseRows

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]


def loss_and_gradient(
    rows: SparseRows,
    codes: Codes,
    weights: Floats | None,
    table: Floats,
    offsets: Floats,
    scores: Floats,
) -> tuple[float, Floats, Floats, float]:
    """Return (loss, Σ r x (m, d), Σ r (m,), smallest margin) and write the scores (n, m)."""
    if pays(rows.cells):
        from suffice.kernels.logistic import sparse_softmax_numba as sparse_logistic_numba

        return sparse_logistic_numba.loss_and_gradient(rows, codes, weights, table, offsets, scores)
    return sparse_logistic_numpy.loss_and_gradient(rows, codes, weights, table, offsets, scores)


def hessian_product(
    rows: SparseRows, weights: Floats | None, scores: Floats, table: Floats, offsets: Floats
) -> tuple[Floats, Floats]:
    """Return (Σ t x (m, d), Σ t (m,)), t = w·p∘(δ - Σpδ) for the direction δ = offset + table·x."""
    if pays(rows.cells):
        from suffice.kernels.logistic import sparse_softmax_numba as sparse_logistic_numba

        return sparse_logistic_numba.hessian_product(rows, weights, scores, table, offsets)
    return sparse_logistic_numpy.hessian_product(rows, weights, scores, table, offsets)
