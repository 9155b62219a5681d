"""Loss, gradient and Hessian products of softmax regression over sparse rows, in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.kernels.logistic.dense_numpy import bent, shares_of, told

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows.sparse_rows import SparseRows

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]


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
    losses, residuals, margins = told(scores, codes)
    if weights is not None:
        losses *= weights
        residuals *= weights[:, np.newaxis]
    gradient = np.ascontiguousarray((matrix.T @ residuals).T)
    smallest = float(margins.min()) if len(margins) else np.inf
    return float(losses.sum()), gradient, residuals.sum(axis=0), smallest


@np.errstate(all="ignore")
def hessian_product(
    rows: SparseRows, weights: Floats | None, scores: Floats, table: Floats, offsets: Floats
) -> tuple[Floats, Floats]:
    """Return (Σ t x (m, d), Σ t (m,)), t the answer of the rows to the direction given."""
    matrix = _matrix(rows)
    moved = bent(*shares_of(scores), (matrix @ table.T) + offsets)
    if weights is not None:
        moved *= weights[:, np.newaxis]
    return np.ascontiguousarray((matrix.T @ moved).T), moved.sum(axis=0)


def _matrix(rows: SparseRows) -> Any:
    from scipy.sparse import csr_array

    return csr_array((rows.cells, rows.places, rows.indptr - rows.indptr[0]), shape=rows.shape)
