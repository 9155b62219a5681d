"""Whether what a file says can be a model: shapes that agree, no variance below zero."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

ROUNDING = 1e-8
"""How much less than zero the eigenvalues of a scatter may be, relative to the largest."""


def check_sound(state: Mapping[str, Any]) -> None:
    """Refuse a state whose parts cannot belong to one model."""
    for name, value in state.items():
        for place, kind, found in _parts(value, name):
            _check(place, kind, found)


def _parts(
    value: Any, place: str, kind: str = "", depth: int = 0
) -> Iterator[tuple[str, str, Any]]:
    """Yield everything inside a value, with where it is and the name of its field."""
    yield place, kind, value
    if depth > 40:
        raise BadFile(f"{place} is too deep", hint="write the file again")
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            inner = getattr(value, field.name)
            # The weights of a linear form are slopes; all others count rows.
            kind = "" if type(value).__name__ == "LinearForm" else field.name
            yield from _parts(inner, f"{place}.{field.name}", kind, depth + 1)
    elif isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from _parts(item, f"{place}[{i}]", kind, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _parts(item, f"{place}[{key!r:.20}]", kind, depth + 1)


def _check(place: str, kind: str, value: Any) -> None:
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and np.isnan(value).any():
            raise _refusal(place, "holds NaN")
        if kind in ("weights", "weight", "counts", "totals", "scale") and value.size:
            low = float(value.min())
            if low < 0.0 or not np.isfinite(value).all():
                raise _refusal(place, f"holds {low:g}: weights are not negative")
        if kind in ("scatter", "covariance_") and value.ndim >= 2:
            _check_scatter(place, value)
        if kind in ("factors", "whitenings"):
            _check_triangles(place, value)
    elif kind == "weight" and not (isinstance(value, (int, float)) and 0.0 <= value < np.inf):
        raise _refusal(place, f"is {value!r:.20}: a weight is not negative")


def _check_scatter(place: str, stack: NDArray[Any]) -> None:
    if stack.shape[-1] != stack.shape[-2]:
        raise _refusal(place, f"has the shape {stack.shape}")
    for matrix in stack.reshape(-1, *stack.shape[-2:]):
        finite = np.isfinite(matrix)
        if not finite.all():
            raise _refusal(place, "is not finite")
        size = float(np.abs(matrix).max(initial=0.0))
        if np.abs(matrix - matrix.T).max(initial=0.0) > ROUNDING * size:
            raise _refusal(place, "is not symmetric")
        diagonal = np.diagonal(matrix)
        scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        values = np.linalg.eigvalsh(matrix / scale / scale[:, np.newaxis]) if len(matrix) else [0.0]
        if (diagonal < 0.0).any() or float(values[0]) < -ROUNDING * max(float(values[-1]), 1.0):
            raise _refusal(place, "is not a sum of squares")


def _check_triangles(place: str, stack: NDArray[Any]) -> None:
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2] or not np.isfinite(stack).all():
        raise _refusal(place, f"has the shape {stack.shape}")
    for matrix in stack:
        if (np.diagonal(matrix) <= 0.0).any() or np.triu(matrix, 1).any():
            raise _refusal(place, "is not lower triangular with a positive diagonal")


def _refusal(place: str, why: str) -> BadFile:
    return BadFile(f"{place} {why}", hint="the file is damaged: write it again")
