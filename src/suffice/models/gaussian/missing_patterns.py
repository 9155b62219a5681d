"""Rows grouped by which of their cells are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.rows import refuse_infinite

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.rows import FloatArray


def by_pattern(
    rows: FloatArray, work: Callable[[FloatArray, NDArray[np.bool_]], FloatArray]
) -> FloatArray:
    """Return work(rows of one pattern, mask of observed columns), row by row in order.

    Infinite cells are refused here: every row that is not finite passes this way.
    """
    refuse_infinite(rows, None)
    seen = ~np.isnan(rows)
    packed = np.packbits(seen, axis=1)
    _, first, codes, counts = np.unique(
        packed, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(codes.ravel(), kind="stable")
    result: FloatArray | None = None
    for start, chosen in zip(first, np.split(order, np.cumsum(counts)[:-1]), strict=True):
        part = work(rows[chosen].astype(np.float64), seen[start])
        if result is None:
            result = np.empty((len(rows), part.shape[1]))
        result[chosen] = part
    assert result is not None
    return result
