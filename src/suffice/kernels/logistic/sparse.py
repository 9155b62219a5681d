"""Loss, gradient and Hessian products of softmax regression over sparse rows.

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

import numpy as np

from suffice.kernels.compilation import readable, twin, worth_compiling
from suffice.kernels.logistic.dense import (
    losses_and_residuals,
    probability_derivatives,
    shares_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from suffice.rows.sparse_rows import SparseRows

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]

SAVED = 130.0
"""ns that compiled loops save for each stored cell in a whole search, which has many steps."""


def _search_pays(rows: SparseRows, *_: object) -> bool:
    return worth_compiling(rows.stored, SAVED) and readable(rows.cells)


@twin("suffice.kernels.logistic.sparse_numba", when=_search_pays)
@np.errstate(all="ignore")
def loss_and_gradient(
    rows: SparseRows,
    codes: Codes,
    weights: Floats | None,
    table: Floats,
    offsets: Floats,
    scores: Floats,
) -> tuple[float, Floats, Floats, float]:
    """Return (loss, Σ r x (m, d), Σ r (m,), smallest margin) and write the scores (n, m)."""
    matrix = _matrix(rows)
    scores[:] = (matrix @ table.T) + offsets
    losses, residuals, margins = losses_and_residuals(scores, codes)
    if weights is not None:
        losses *= weights
        residuals *= weights[:, np.newaxis]
    gradient = np.ascontiguousarray((matrix.T @ residuals).T)
    smallest = float(margins.min()) if len(margins) else np.inf
    return float(losses.sum()), gradient, residuals.sum(axis=0), smallest


@twin("suffice.kernels.logistic.sparse_numba", when=_search_pays)
@np.errstate(all="ignore")
def hessian_product(
    rows: SparseRows, weights: Floats | None, scores: Floats, table: Floats, offsets: Floats
) -> tuple[Floats, Floats]:
    """Return (Σ t x (m, d), Σ t (m,)), t = w·p∘(δ - Σpδ) for the direction δ = offset + table·x."""
    matrix = _matrix(rows)
    moved = probability_derivatives(*shares_of(scores), (matrix @ table.T) + offsets)
    if weights is not None:
        moved *= weights[:, np.newaxis]
    return np.ascontiguousarray((matrix.T @ moved).T), moved.sum(axis=0)


def _matrix(rows: SparseRows) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array((rows.cells, rows.places, rows.indptr - rows.indptr[0]), shape=rows.shape)
