"""Tables made of pandas, Polars and Arrow frames, read through narwhals."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from suffice.errors import BadRows, NotANumber, listed
from suffice.rows.cells import (
    BOOLEAN,
    CATEGORY,
    DOUBLES,
    FLOATS,
    NUMBER,
    KindAndCells,
    Label,
    column_of_objects,
    is_blank,
    object_array,
    place_of,
    plain,
)
from suffice.rows.tables import Table, refuse_empty, table_of_array, table_of_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FRAME_LIBRARIES = frozenset({"pandas", "polars", "pyarrow", "narwhals", "modin", "cudf"})
"""Where the types of data frames are defined. They are known by this name, and nothing is
imported."""


def is_from_frame_library(data: object) -> bool:
    """Tell frames and series by the library their class comes from, without importing it."""
    return type(data).__module__.partition(".")[0] in _FRAME_LIBRARIES


def eager_frame(data: object) -> Any:
    """Return a frame that is here as narwhals has it, and everything else as it is.

    Names that come twice are refused in our words: narwhals has an error of its own for them.
    """
    import narwhals as nw
    from narwhals.dependencies import is_polars_lazyframe

    lazy = isinstance(data, nw.LazyFrame) or is_polars_lazyframe(data)  # its names cost a plan
    if is_from_frame_library(data) and not lazy:
        labels = _labels_of(data)
        if len(set(labels)) < len(labels):
            if not any(isinstance(label, str) for label in labels):
                return nw.from_native(data.set_axis(range(len(labels)), axis=1), eager_only=True)  # type: ignore[attr-defined]
            _refuse_repeated(labels)
    return nw.from_native(data, eager_only=True, pass_through=True)


def table_of_frame(data: object) -> Table:
    """Read a frame of any library that narwhals knows, or an Arrow stream."""
    import narwhals as nw

    native = _in_memory(nw.to_native(data, pass_through=True))
    if len(native.shape) != 2:
        return table_of_array(np.asarray(native))  # a series: refused there
    if 0 in native.shape:
        refuse_empty(*native.shape)
    names = _column_names(native)
    if names is None:  # labels that are no strings may also repeat, which narwhals refuses
        native = native.set_axis([f"x{j}" for j in range(native.shape[1])], axis=1)
    frame = nw.from_native(native, eager_only=True)
    dtypes = set(frame.schema.values())
    if dtypes <= {nw.Float64()} or dtypes <= {nw.Float32()}:
        matrix = frame.to_numpy()
        if matrix.dtype in FLOATS:
            return replace(table_of_array(matrix, names), bare=(True,) * matrix.shape[1])
    columns, levels, whole, bare = [], [], [], []
    for j, series in enumerate(frame.iter_columns()):
        column, declared = _column_of_series(series, place_of(j, names))
        columns.append(column)
        levels.append(declared)
        whole.append(series.dtype.is_integer() or _may_be_integers(series, column))
        bare.append(column[0] == NUMBER and not _holds_dates(series))
    found = table_of_columns(columns, names, tuple(levels), whole)
    return replace(found, bare=tuple(bare)) if any(bare) else found


def _holds_dates(series: Any) -> bool:
    """Whether a column that is read as numbers has dates or times, by its type or its cells."""
    if series.dtype.is_numeric():
        return False
    if series.dtype.is_temporal():
        return True
    from suffice.rows.typed_dates import are_dates

    return are_dates({type(cell) for cell in series.to_list() if not is_blank(cell)})


def _in_memory(native: object) -> Any:
    """Return what has a shape: a frame or a series; Arrow streams are read."""
    if hasattr(native, "collect"):
        raise BadRows(
            f"rows cannot be read from a {type(native).__name__}",
            hint="collect it into a frame first: rows.collect()",
        )
    if type(native).__name__ != "RecordBatch" and hasattr(native, "shape"):
        return native
    pa = import_module("pyarrow")
    if isinstance(native, (pa.Array, pa.ChunkedArray, pa.Scalar)):
        return np.asarray(native)
    try:
        return pa.table(native)
    except (TypeError, ValueError):
        raise NotANumber(
            f"rows cannot be read from a {type(native).__name__}",
            hint="pass an array, lists of lists, or a pandas, Polars or Arrow frame",
        ) from None


def _column_names(native: object) -> tuple[str, ...] | None:
    """Return the names of a frame's columns, or None when they are not names (pandas' integers)."""
    labels = _labels_of(native)
    strings = [isinstance(label, str) for label in labels]
    if not any(strings):
        _refuse_moved(labels)
        return None
    if not all(strings):
        odd = labels[strings.index(False)]
        raise NotANumber(
            "Feature names are only supported if all input features have string names, "
            f"but column {strings.index(False)} is named {odd!r} ({type(odd).__name__})",
            hint="rename the columns: frame.columns = frame.columns.astype(str)",
        )
    if len(set(labels)) < len(labels):
        _refuse_repeated(labels)
    return tuple(str(label) for label in labels)


def _labels_of(native: object) -> list[object]:
    """Return what the columns of a frame are called; a series has none."""
    named = getattr(native, "column_names", None)
    return list(getattr(native, "columns", ()) if named is None or callable(named) else named)


def _refuse_repeated(labels: list[Any]) -> NoReturn:
    twice = sorted({str(label) for label in labels if labels.count(label) > 1})
    raise BadRows(
        f"more than one column is named {listed(twice)}",
        hint="drop or rename the repeated columns",
    )


def _may_be_integers(series: Any, column: KindAndCells) -> bool:
    """Whether a column of pandas holds doubles only because some of its integers are blank."""
    if not series.implementation.is_pandas_like() or column[0] != NUMBER:
        return False
    cells = column[1]
    blank = np.isnan(cells) if cells.dtype == np.float64 else np.zeros(0, dtype=bool)
    return bool(blank.any()) and not bool((cells - np.floor(cells) > 0.0).any())


def _whole_numbers(series: Any) -> NDArray[np.generic]:
    """Return integers as they are if none is blank or all are doubles anyway, else as doubles.

    Blank ones among those that are no doubles make them Python's own.
    """
    import narwhals as nw

    gaps = bool(series.is_null().any())
    wide = series.dtype in (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128)
    if not gaps and series.dtype not in (nw.Int128, nw.UInt128):
        return np.asarray(series.to_numpy())
    ends = (series.min(), series.max()) if wide else ()
    if any(not is_blank(end) and abs(int(end)) > DOUBLES for end in ends):
        return object_array(None if is_blank(cell) else int(cell) for cell in series.to_list())
    return np.asarray(series.cast(nw.Float64()).to_numpy(), dtype=np.float64)


def _decimals(series: Any) -> NDArray[np.generic]:
    """Return decimals as doubles, unless they are whole and no doubles."""
    import narwhals as nw

    if series.implementation.is_pyarrow():
        found = np.asarray(series.to_native().cast("double", safe=False).to_numpy())
    else:
        found = np.asarray(series.cast(nw.Float64()).to_numpy(), dtype=np.float64)
    with np.errstate(invalid="ignore"):
        if (
            not (np.abs(found) >= DOUBLES).any()
            or (found != np.floor(found))[~np.isnan(found)].any()
        ):
            return found
    cells = series.to_list()
    if any(cell is not None and cell != int(cell) for cell in cells):
        return found
    return object_array(None if cell is None else int(cell) for cell in cells)


def _refuse_moved(labels: list[Any]) -> None:
    """Refuse numbers as names where their order tells that columns were moved.

    As in scikit-learn only strings are names: columns numbered 0, 1, 2 are read by position. In
    another order, position and number say different things, and one of them would be misread.
    """
    if not all(isinstance(label, (int, np.integer)) for label in labels):
        return
    if len(set(labels)) == len(labels) and labels != sorted(labels):
        raise BadRows(
            f"columns are named {listed(labels)}: numbers are not valid names, and by position "
            "these columns would be read in a different order",
            hint="frame.columns.astype(str) turns them into names; frame.to_numpy() uses positions",
        )


def _column_of_series(series: Any, place: str) -> tuple[KindAndCells, tuple[Label, ...] | None]:
    """Return one column of a frame, and the levels it declares."""
    import narwhals as nw

    dtype = series.dtype
    if holds_objects(series):
        return column_of_objects(series.to_list(), place), None
    if dtype.is_numeric():
        if dtype.is_integer():
            return (NUMBER, _whole_numbers(series)), None
        if not dtype.is_float():
            return (NUMBER, _decimals(series)), None
        values = np.asarray(series.to_numpy())
        if values.dtype not in FLOATS:
            values = values.astype(np.float64)
        return (NUMBER, values), None
    if dtype == nw.Boolean:
        blanks = map(is_blank, cells := series.to_list())
        truth = (None if blank else bool(c) for blank, c in zip(blanks, cells, strict=True))
        return (BOOLEAN, object_array(truth)), None
    if dtype == nw.String:
        return (
            CATEGORY,
            object_array(c if isinstance(c, str) and c else None for c in series.to_list()),
        ), None
    if dtype in (nw.Categorical, nw.Enum):
        cells = [None if is_blank(cell) else plain(cell) for cell in series.to_list()]
        # A Polars Categorical or an Arrow dictionary is a way to store strings; only pandas'
        # categories and Enums are chosen by the user and say what else there could have been.
        native: object = getattr(series.to_native(), "dtype", None)
        told = series.implementation.is_pandas_like() or dtype == nw.Enum
        # The oldest narwhals does not pass on what an Enum declares.
        held = native if told and hasattr(native, "categories") else dtype
        declared = getattr(held, "categories", None)
        levels = None if declared is None else tuple(plain(d) for d in declared if d != "")
        return (CATEGORY, object_array(cells)), levels
    if dtype.is_temporal():
        from suffice.rows.typed_dates import numbers_of_dates

        return (NUMBER, numbers_of_dates(series)), None
    if dtype.is_nested():
        raise NotANumber(
            f"{place}: a column of type {dtype} holds neither numbers nor categories",
            hint="lists and structs: make columns of their parts, or drop the column",
        )
    values = np.asarray(series.to_numpy())
    if values.dtype.kind in "fiub":
        return (NUMBER, values.astype(np.float64)), None
    return column_of_objects(values.tolist(), place), None


def holds_objects(series: Any) -> bool:
    """Tell pandas' columns of Python objects, which may be strings or anything else."""
    return str(getattr(series.to_native(), "dtype", "")) == "object"
