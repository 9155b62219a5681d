"""Labels that come as a column of a pandas, Polars or Arrow frame."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from suffice.errors import BadLabels
from suffice.rows.cells import object_array
from suffice.rows.frames import holds_objects
from suffice.rows.label_codes import Coded, coded_array, coded_objects, refuse_label


def only_column(y: Any) -> tuple[Any, bool]:
    """Return the single column of a frame of labels, and whether it was one."""
    import narwhals as nw

    native = nw.to_native(y, pass_through=True)
    shape = getattr(native, "shape", None)
    if shape is None or len(shape) != 2:
        return native, False
    if shape[1] != 1:
        raise BadLabels(
            f"Unknown label type: multioutput, got a frame of shape {tuple(shape)}",
            hint="pass the one column that names the classes",
        )
    if type(native).__name__ == "RecordBatch":
        return native.column(0), True
    frame = nw.from_native(native, eager_only=True)
    return frame.get_column(frame.columns[0]).to_native(), True


def coded_series(y: Any) -> Coded | None:
    """Return the labels of a pandas, Polars or Arrow column; None when NumPy reads it as well."""
    import narwhals as nw

    if hasattr(y, "dictionary_encode") and not hasattr(y, "chunks"):  # an Arrow array
        y = import_module("pyarrow").chunked_array([y])
    series = nw.from_native(y, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series) or len(series) == 0:
        return None
    blank = np.asarray(series.is_null().to_numpy())
    if blank.any():
        refuse_label(None, int(blank.argmax()))
    dtype = series.dtype
    if dtype in (nw.Int128, nw.UInt128):  # NumPy has none
        return coded_objects(object_array(series.to_list()))
    if dtype.is_numeric() or dtype == nw.Boolean or holds_objects(series):
        return coded_array(np.asarray(series.to_numpy()))
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        try:
            return _coded_arrow(series.to_arrow())
        except (TypeError, ValueError):  # pandas' categories can be anything
            pass
    return coded_objects(object_array(series.to_list()))


def _coded_arrow(column: Any) -> Coded:
    """Return the labels of an Arrow column by way of its dictionary."""
    pa: Any = import_module("pyarrow")
    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    indices = column.indices.to_numpy()
    used = np.bincount(indices, minlength=len(column.dictionary)) > 0
    # Arrow allows a dictionary to repeat a value, and to hold values that no row has.
    classes, inner = coded_array(column.dictionary.to_numpy(zero_copy_only=False)[used])
    return classes, inner[(np.cumsum(used) - 1)[indices]]
