"""Whether a matrix can be a sum of squares."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.threads import pinned

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDING = 1e-8
"""How far below zero the eigenvalues of a sum of squares may be, relative to its variances."""
SMALL = 64
"""Columns up to which BLAS keeps to one thread by itself."""


def is_sum_of_squares(matrix: NDArray[Any], error: NDArray[Any] | None = None) -> bool:
    """Whether a matrix is symmetric, and has no variance below zero in any direction.

    `error` bounds the rounding errors of the variances, |E_ij| ≤ √(e_i e_j): a matrix of such
    entries lowers no variance by more than d·e_i.

    >>> is_sum_of_squares(np.array([[1.0, 2.0], [2.0, 1.0]]))
    False
    """
    size = len(matrix)
    diagonal = np.diagonal(matrix)
    room = ROUNDING * diagonal if error is None else ROUNDING * diagonal + size * error
    if not size:
        return True
    if (diagonal < 0.0).any() or not np.isfinite(matrix).all():
        return False
    with np.errstate(over="ignore", under="ignore"):
        scale = np.sqrt(diagonal + room)
        # A variance of zero leaves nothing for its covariances.
        inverse = np.where(scale > 0.0, 1.0 / np.where(scale > 0.0, scale, 1.0), 1e300)
        even = matrix * inverse * inverse[:, np.newaxis]
        even[scale == 0.0, scale == 0.0] = 1.0
    if not np.isfinite(even).all() or np.abs(even - even.T).max() > ROUNDING:
        return False
    even[np.diag_indices(size)] = 1.0 + size * ROUNDING
    try:
        # A machine that is busy makes several threads of BLAS wait for each other.
        with pinned() if size > SMALL else nullcontext():
            np.linalg.cholesky(even)
    except np.linalg.LinAlgError:
        return False
    return True
