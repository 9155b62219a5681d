"""Weights: how many rows a row counts for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadWeights

if TYPE_CHECKING:
    from suffice.rows.cells import FloatArray


def read_weights(weights: object, size: int) -> FloatArray | None:
    """Return one finite weight ≥ 0 per row, or None when every row counts once.

    >>> read_weights([1, 2, 0], 3)
    array([1., 2., 0.])
    >>> read_weights(None, 3) is None
    True
    """
    if weights is None:
        return None
    if isinstance(weights, np.ma.MaskedArray) and np.ma.getmaskarray(weights).any():
        row = int(np.ma.getmaskarray(weights).ravel().argmax())
        raise BadWeights(
            f"row {row}: the weight is masked, and a row counts or does not",
            hint="weights.filled(0.0) leaves such rows out, weights.data counts what is below",
        )
    try:
        given = np.asarray(weights)
        if given.dtype.kind == "c":
            raise TypeError
        values = given.astype(np.float64)
    except (TypeError, ValueError):
        raise BadWeights(
            f"weights cannot be read from {type(weights).__name__}",
            hint="pass one real number ≥ 0 for every row",
        ) from None
    if values.ndim == 0:
        values = np.full(size, float(values))
    if values.ndim != 1:
        raise BadWeights(
            f"Sample weights must be 1D array or scalar, got shape {values.shape}",
            hint="pass one number for every row: weights.ravel()",
        )
    if len(values) != size:
        raise BadWeights(
            f"sample_weight.shape == {values.shape}, expected ({size},)!",
            hint="pass one weight for every row",
        )
    low, high = (float(values.min()), float(values.max())) if size else (0.0, 0.0)
    if not (low >= 0.0 and high < math.inf):  # NaN fails the first comparison
        bad = ~((values >= 0.0) & np.isfinite(values))
        row = int(bad.argmax())
        raise BadWeights(
            f"row {row}: a weight of {values[row]:g} cannot count a row (Negative or not finite)",
            hint="weights are finite and ≥ 0; 0 leaves the row out",
        )
    with np.errstate(over="ignore"):
        total = values.sum()
    if not total < math.inf:
        raise BadWeights(
            f"the weights, of up to {high:g}, add up to more than a number can hold",
            hint="divide all of them by a power of ten: only their ratios matter much",
        )
    if high == 0.0:
        raise BadWeights(
            f"all {size} sample weights are zero: "
            "Sample weights must contain at least one non-zero number.",
            hint="at least one row needs a weight above 0",
        )
    return None if low == high == 1.0 else values
