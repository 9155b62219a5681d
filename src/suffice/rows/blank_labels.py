"""Which rows have no label: None, NaN, pandas' NA, masked, and strings of blanks only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.rows.cells import is_blank, object_array
from suffice.rows.frames import is_from_frame_library

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

LOWEST = 0x20
"""The code of the space: nearly all letters are above it, and no label of letters begins below."""


def blank_labels(y: object) -> NDArray[np.bool_] | None:
    """Return which labels are blank (n,); None where none is, or where labels cannot be read.

    A number is never blank: -1, which scikit-learn's self-training takes for "no label", names a
    class like any other.

    >>> blank_labels(["ham", None, " ", "spam"])
    array([False,  True,  True, False])
    >>> blank_labels([-1, 0, 1]) is None
    True
    """
    found = _blank(y)
    return found if found is not None and found.any() else None


def _blank(y: Any) -> NDArray[np.bool_] | None:
    if isinstance(y, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(y)
        if mask.ndim == 2 and mask.shape[1] == 1:
            y, mask = y[:, 0], mask[:, 0]
        if mask.ndim != 1:
            return None
        held = np.flatnonzero(~mask)
        inner = _blank(np.asarray(y.data[held]))
        if inner is not None:
            mask = mask.copy()
            mask[held] |= inner
        return np.asarray(mask)
    if isinstance(y, np.ndarray):
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        return _of_array(y) if y.ndim == 1 else None
    if isinstance(y, (list, tuple)):
        return _of_objects(y)
    if y is None or not is_from_frame_library(y):
        return None
    return _of_series(y)


def _of_array(values: NDArray[Any]) -> NDArray[np.bool_] | None:
    kind = values.dtype.kind
    if kind == "f":
        return np.asarray(np.isnan(values))
    if kind in "mM":
        return np.asarray(np.isnat(values))
    if kind == "O":
        return _of_objects(values.tolist())
    if kind != "U" or not len(values):
        return None
    if values.dtype.itemsize == 0:
        return np.ones(len(values), dtype=bool)
    plain = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("=")))
    first = plain.view(np.uint32).reshape(len(values), -1)[:, 0]
    found = first <= LOWEST  # only these may be blank, but for spaces of other alphabets
    found |= first > 0x7F
    for place in np.flatnonzero(found):
        found[place] = not str(values[place]).strip()
    return found


def _of_objects(values: Iterable[Any]) -> NDArray[np.bool_] | None:
    """Look at each distinct object once."""
    held = values if isinstance(values, (list, tuple)) else list(values)
    try:
        distinct = set(held)
    except TypeError:  # no labels at all, which is said where they are read
        return None
    if not any(map(_is_no_label, distinct)):
        return None
    return np.fromiter(map(_is_no_label, held), dtype=bool, count=len(held))


def _is_no_label(value: object) -> bool:
    return not value.strip() if isinstance(value, str) else is_blank(value)


def _of_series(y: Any) -> NDArray[np.bool_] | None:
    import narwhals as nw

    from suffice.rows.labels import only_column

    column, _ = only_column(y)
    series = nw.from_native(column, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        cells: Any = column
        if not hasattr(cells, "to_pylist"):
            return None
        if not cells.null_count and not any(map(_is_no_label, cells.unique().to_pylist())):
            return None
        return _of_objects(cells.to_pylist())
    null = np.asarray(series.is_null().to_numpy(), dtype=bool)
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean or dtype.is_temporal():
        if dtype in (nw.Float32, nw.Float64):
            null = null | np.asarray(series.is_nan().fill_null(value=True).to_numpy(), dtype=bool)
        return null
    if dtype in (nw.String, nw.Categorical, nw.Enum) and not any(
        isinstance(text, str) and not text.strip() for text in series.unique().to_list()
    ):
        return null  # one look at each distinct text, and not at each row
    inner = _of_objects(object_array(series.to_list()).tolist())
    return null if inner is None else null | inner
