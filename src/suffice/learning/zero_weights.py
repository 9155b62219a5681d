"""A weight of zero is not a row: such rows are taken out before anyone looks at their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.rows import Table, read_weights

if TYPE_CHECKING:
    from suffice.rows import IntArray


def rows_with_weight(X: object, y: object, sample_weight: object) -> IntArray | None:
    """Return which rows have a weight, or None when all have (or when nothing fits together)."""
    if sample_weight is None:
        return None
    size = length_of(X)
    if size is None or size != length_of(y):
        return None  # refused later, in words about rows and labels
    weights = read_weights(sample_weight, size)
    if weights is None or weights.all():
        return None
    return np.flatnonzero(weights)


def length_of(data: object) -> int | None:
    """Return how many rows there are; None where that is not known yet."""
    shape = getattr(data, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    return len(data) if isinstance(data, (list, tuple)) else None


def taken(data: Any, places: IntArray) -> Any:
    """Return some rows of an array, a list, a frame or a series, as what they were."""
    if isinstance(data, (list, tuple)):
        return [data[place] for place in places]
    if isinstance(data, np.ndarray):
        return data[places]
    if isinstance(data, Table):  # whose own `take` is of columns
        return data.rows(places)
    if hasattr(data, "iloc"):  # pandas, whose own [] would look labels up
        return data.iloc[places]
    if hasattr(data, "take"):  # Arrow
        return data.take(places)
    return (data.tocsr() if hasattr(data, "tocsr") else data)[places]  # not all sparse ones have []
