"""A weight of zero is no row: such rows are taken out before anyone looks at their cells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from suffice.errors import SufficeError
from suffice.rows import read_weights

if TYPE_CHECKING:
    from suffice.rows import IntArray

E = TypeVar("E", bound=SufficeError)


def rows_with_weight(X: object, y: object, sample_weight: object) -> IntArray | None:
    """Return which rows have a weight, or None when all have (or when nothing fits together)."""
    if sample_weight is None:
        return None
    size = _length(X)
    if size is None or size != _length(y):
        return None  # refused later, in words about rows and labels
    weights = read_weights(sample_weight, size)
    if weights is None or weights.all():
        return None
    return np.flatnonzero(weights)


def _length(data: object) -> int | None:
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
    if hasattr(data, "iloc"):  # pandas, whose own [] would look labels up
        return data.iloc[places]
    if hasattr(data, "take"):  # Arrow
        return data.take(places)
    return (data.tocsr() if hasattr(data, "tocsr") else data)[places]  # not all sparse ones have []


def renumbered(error: E, places: IntArray) -> E:
    """Return a refusal that counts rows as the caller does, weightless ones included."""

    def original(found: re.Match[str]) -> str:
        row = int(found[2])
        return f"{found[1]} {places[row] if row < len(places) else row}"

    return type(error)(re.sub(r"\b([Rr]ow) (\d+)", original, error.problem), hint=error.hint)
