"""The one door for user data: tables, labels and weights, read once and named when refused.

    read_table(data)          -> Table     a float matrix, or one array per column
    read_labels(y)            -> Labels    the distinct labels, sorted, and a code for every row
    read_weights(w, size)     -> weights   or None, when every row counts once

Everything behind this door may rely on what is written in the three docstrings, and checks no more.
Whether cells are finite is *not* asked here: that test is folded into the sums, and only when a
sum is not finite does `refuse_infinite` look for the culprit.
"""

from __future__ import annotations

import math
import numbers
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import BadLabels, BadRows, BadWeights, NotANumber, NotFinite, listed

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
Label: TypeAlias = Hashable

NUMBER, BOOLEAN, CATEGORY = "number", "boolean", "category"
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))

_FRAME_LIBRARIES = frozenset({"pandas", "polars", "pyarrow", "narwhals", "modin", "cudf"})
_MANY = 10_000
"""From this many labels on, pyarrow's hash tables repay the import of pyarrow."""


# ---------------------------------------------------------------------------------------- tables


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows as they came through the door, before any schema.

    Either `matrix` (float32 or float64, any strides; the caller's own array when it already was
    one) or `cells`, one array per column: float64 with NaN for blanks where `kinds` says
    "number"; object dtype with None for blanks where it says "boolean" or "category".
    `names` is None for arrays; `levels` holds, per column, the levels that the frame declares.

    >>> table = read_table([[1, 2.5], [3, None]])
    >>> table.matrix
    array([[1. , 2.5],
           [3. , nan]])
    >>> table.kinds
    ('number', 'number')
    """

    matrix: NDArray[np.floating[Any]] | None
    cells: tuple[NDArray[Any], ...] | None
    kinds: tuple[str, ...]
    names: tuple[str, ...] | None = None
    levels: tuple[tuple[Label, ...] | None, ...] | None = None

    @property
    def size(self) -> int:
        """How many rows there are."""
        if self.matrix is not None:
            return len(self.matrix)
        return len(self.cells[0]) if self.cells else 0

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.kinds)

    def column(self, index: int) -> NDArray[Any]:
        """Return the cells of one column."""
        if self.matrix is not None:
            return self.matrix[:, index]
        return (self.cells or ())[index]

    def take(self, columns: Sequence[int]) -> Table:
        """Return these columns, in this order."""
        places = list(columns)
        if places == list(range(self.width)):
            return self
        return Table(
            None if self.matrix is None else self.matrix[:, places],
            None if self.cells is None else tuple(self.cells[place] for place in places),
            tuple(self.kinds[place] for place in places),
            None if self.names is None else tuple(self.names[place] for place in places),
            None if self.levels is None else tuple(self.levels[place] for place in places),
        )


def read_table(data: object) -> Table:
    """Read an array, nested lists, or a pandas, Polars or Arrow frame.

    float32 and float64 arrays are taken as they are, without a copy; everything else that is
    made of numbers becomes a float64 matrix, blanks NaN. What holds strings, booleans or
    categories is kept by column.

    >>> read_table(np.array([[1.5, "red"], [2.0, ""]], dtype=object)).cells
    (array([1.5, 2. ]), array(['red', None], dtype=object))
    """
    if type(data) is np.ndarray:
        if data.dtype in _FLOATS and data.ndim == 2 and data.size:
            return Table(data, None, (NUMBER,) * data.shape[1])  # nothing to do: the usual case
        return _table_of_array(data)
    if hasattr(data, "toarray"):
        raise NotANumber(
            f"sparse rows of type {type(data).__name__} cannot be read: dense rows are needed",
            hint="pass rows.toarray() if it fits into memory",
        )
    if isinstance(data, (list, tuple)):
        return _table_of_lists(data)
    if _is_from_frame_library(data) or hasattr(data, "__arrow_c_stream__"):
        return _table_of_frame(data)
    if isinstance(data, np.ma.MaskedArray):
        return _table_of_array(_unmasked(data))
    if hasattr(data, "__array__"):
        return _table_of_array(np.asarray(data))
    if isinstance(data, (numbers.Number, str, bytes)) or data is None:
        raise BadRows(
            f"Expected 2D array, got scalar array instead: {data!r}. "
            "Reshape your data either using array.reshape(-1, 1) if it is one column, "
            "or array.reshape(1, -1) if it is one row.",
            hint="rows are a table: an array with two dimensions, lists of lists, or a frame",
        )
    raise NotANumber(
        f"rows cannot be read from a {type(data).__name__}",
        hint="pass an array, lists of lists, or a pandas, Polars or Arrow frame",
    )


def refuse_infinite(matrix: NDArray[np.floating[Any]], names: Sequence[str] | None = None) -> None:
    """Find the first infinite cell and refuse it by name; return when there is none.

    Called only after a sum came out non-finite, so it may take its time, but not memory.
    """
    for start in range(0, len(matrix), 4096):
        bad = np.isinf(matrix[start : start + 4096])
        if bad.any():
            row, column = divmod(int(bad.argmax()), matrix.shape[1])
            name = _place(column, names)
            raise NotFinite.of(start + row, name, float(matrix[start + row, column]))


def _place(column: int, names: Sequence[str] | None) -> str:
    return f"column {column}" if names is None else names[column]


def _is_from_frame_library(data: object) -> bool:
    return type(data).__module__.partition(".")[0] in _FRAME_LIBRARIES


def _unmasked(data: Any) -> NDArray[Any]:
    """Return a masked array as a plain one: masked is missing."""
    if data.dtype.kind in "fiub":
        kept = data if data.dtype in _FLOATS else data.astype(np.float64)
        return np.asarray(kept.filled(np.nan))
    cells = np.array(data.data, dtype=object)
    cells[np.ma.getmaskarray(data)] = None
    return cells


def _table_of_array(data: NDArray[Any], names: tuple[str, ...] | None = None) -> Table:
    kind = data.dtype.kind
    if kind == "c":
        raise NotANumber(
            f"Complex data not supported: the rows are {data.dtype}",
            hint="pass the real and the imaginary part as two columns",
        )
    if kind not in "fiubOUT":
        raise NotANumber(
            f"rows of dtype {data.dtype} are not numbers: "
            "every cell's argument must be a string or a number",
            hint="pass plain columns: numbers, strings or booleans; dates as numbers of days",
        )
    _check_shape(data)
    width = data.shape[1]
    if kind == "f" and data.dtype in _FLOATS:
        return Table(data, None, (NUMBER,) * width, names)
    if kind in "fiub":
        return Table(data.astype(np.float64), None, (NUMBER,) * width, names)
    columns = [_column_of_objects(data[:, j].tolist(), _place(j, names)) for j in range(width)]
    return _table_of_columns(columns, names, None)


def _check_shape(data: NDArray[Any]) -> None:
    if data.ndim != 2:
        if data.ndim > 2:
            raise BadRows(
                f"Found array with dim {data.ndim}, shape {data.shape}: rows have two",
                hint="flatten each row: array.reshape(len(array), -1)",
            )
        got = "1D" if data.ndim else "scalar"
        raise BadRows(
            f"Expected 2D array, got {got} array instead: shape {data.shape}. "
            "Reshape your data either using array.reshape(-1, 1) if it is one column, "
            "or array.reshape(1, -1) if it is one row.",
            hint="rows are a table, also when there is only one row or one column",
        )
    if 0 in data.shape:
        _refuse_empty(*data.shape)


def _refuse_empty(size: int, width: int) -> NoReturn:
    what = "0 sample(s)" if size == 0 else "0 feature(s)"
    raise BadRows(
        f"Found array with {what} (shape=({size}, {width})) while a minimum of 1 is required.",
        hint="pass at least one row and one column; was everything filtered out?",
    )


def _table_of_lists(data: Sequence[Any]) -> Table:
    try:
        array = np.array(data)
        if array.dtype.kind not in "OUST":
            return _table_of_array(array)
    except (ValueError, TypeError, OverflowError):
        pass  # ragged, or too deep: explained here
    _refuse_ragged(data)
    try:  # NumPy would have turned the numbers beside a string into strings: start again
        array = np.array(data, dtype=object)
    except ValueError:
        raise BadRows("rows are nested too deeply", hint="make each row a list of cells") from None
    return _table_of_array(array)


def _refuse_ragged(data: Sequence[Any]) -> None:
    """Refuse lists whose rows differ in length, or that are no rows at all."""
    width = -1
    for index, row in enumerate(data):
        if isinstance(row, dict):
            raise NotANumber(
                f"row {index}: the argument must be a string or a number, got dict",
                hint="make a frame of records first: pandas.DataFrame(rows)",
            )
        is_row = isinstance(row, (list, tuple)) or (isinstance(row, np.ndarray) and row.ndim > 0)
        length = len(row) if is_row else -1
        if index == 0:
            width = length
        elif length != width:
            says = "no list" if length < 0 else f"{length} cell(s)"
            raise BadRows(
                f"row {index} has {says} where row 0 has "
                + ("no list" if width < 0 else f"{width} cell(s)"),
                hint="every row needs the same number of cells; write None where one is missing",
            )


def _is_blank(value: object) -> bool:
    """Tell blanks from values: None, NaN, NaT, pandas' NA and the empty string."""
    if isinstance(value, str):
        return not value
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124  true of NaN and NaT alone
    except (TypeError, ValueError, ArithmeticError):  # NA has no truth value; nor has an array
        return type(value).__name__ == "NAType"


_REAL = (numbers.Real, Decimal, np.bool_)
_Column: TypeAlias = tuple[str, NDArray[Any]]


def _column_of_objects(values: list[Any], place: str) -> _Column:
    """Return the kind of a column of Python objects, and its cells."""
    if set(map(type, values)) <= {float, int}:
        return NUMBER, _floats(values, place)
    cells = [None if _is_blank(value) else value for value in values]
    seen = set(map(type, cells)) - {type(None)}
    if seen and all(issubclass(kind, (bool, np.bool_)) for kind in seen):
        return BOOLEAN, _objects(None if cell is None else bool(cell) for cell in cells)
    if all(issubclass(kind, _REAL) for kind in seen):  # also when all is blank: NaN says no more
        return NUMBER, _floats(cells, place)
    for kind in seen:
        if not issubclass(kind, (str, *_REAL)):
            row = next(i for i, cell in enumerate(cells) if type(cell) is kind)
            complex_too = issubclass(kind, numbers.Complex)
            raise NotANumber(
                f"row {row}, {place}: "
                + ("Complex data not supported: " if complex_too else "")
                + f"the argument must be a string or a number, got {kind.__name__}",
                hint="a cell is a number, a string, true, false or blank; "
                "turn anything else into one of these first",
            )
    return CATEGORY, _objects(map(_plain, cells))


def _floats(cells: list[Any], place: str) -> FloatArray:
    try:
        return np.array(cells, dtype=np.float64)  # None becomes NaN
    except OverflowError:
        most = int(np.finfo(np.float64).max)  # as an integer: huge integers compare with no other
        row = next(i for i, cell in enumerate(cells) if cell and abs(cell) > most)
        raise NotFinite.of(row, place, math.inf if cells[row] > 0 else -math.inf) from None


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as the Python object it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def _objects(values: Iterable[object]) -> NDArray[Any]:
    """Build an object array element by element: NumPy would unpack tuples."""
    return np.fromiter(values, dtype=object)


def _table_of_columns(
    columns: list[_Column],
    names: tuple[str, ...] | None,
    levels: tuple[tuple[Label, ...] | None, ...] | None,
) -> Table:
    kinds = tuple(kind for kind, _ in columns)
    cells = tuple(values for _, values in columns)
    if any(kind != NUMBER for kind in kinds):
        wide = tuple(c if c.dtype == object else c.astype(np.float64, copy=False) for c in cells)
        return Table(None, wide, kinds, names, levels)
    # Filled column by column, and so laid out by column: one sequential write for each.
    matrix = np.empty((len(cells[0]), len(cells)), np.result_type(*cells), order="F")
    for j, values in enumerate(cells):
        matrix[:, j] = values
    return Table(matrix, None, kinds, names)


# ---------------------------------------------------------------------------------------- frames


def _table_of_frame(data: Any) -> Table:
    import narwhals as nw

    native = _in_memory(nw.to_native(data, pass_through=True))
    if len(native.shape) != 2:
        return _table_of_array(np.asarray(native))  # a series: refused there
    if 0 in native.shape:
        _refuse_empty(*native.shape)
    names = _column_names(native)
    if names is None:  # labels that are no strings may also repeat, which narwhals refuses
        native = native.set_axis([f"x{j}" for j in range(native.shape[1])], axis=1)
    frame = nw.from_native(native, eager_only=True)
    dtypes = set(frame.schema.values())
    if dtypes <= {nw.Float64()} or dtypes <= {nw.Float32()}:
        matrix = frame.to_numpy()
        if matrix.dtype in _FLOATS:
            return _table_of_array(matrix, names)
    columns, levels = [], []
    for j, series in enumerate(frame.iter_columns()):
        column, declared = _column_of_series(series, _place(j, names))
        columns.append(column)
        levels.append(declared)
    return _table_of_columns(columns, names, tuple(levels))


def _in_memory(native: Any) -> Any:
    """Return what has a shape: a frame or a series; Arrow streams are read."""
    if hasattr(native, "collect"):
        raise BadRows(
            f"rows cannot be read from a {type(native).__name__}",
            hint="collect it into a frame first: rows.collect()",
        )
    if type(native).__name__ != "RecordBatch" and hasattr(native, "shape"):
        return native
    pa: Any = import_module("pyarrow")
    if isinstance(native, (pa.Array, pa.ChunkedArray, pa.Scalar)):
        return np.asarray(native)
    try:
        return pa.table(native)
    except (TypeError, ValueError):
        raise NotANumber(
            f"rows cannot be read from a {type(native).__name__}",
            hint="pass an array, lists of lists, or a pandas, Polars or Arrow frame",
        ) from None


def _column_names(native: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns, or None when they are not names (pandas' integers)."""
    labels = list(native.column_names if hasattr(native, "column_names") else native.columns)
    strings = [isinstance(label, str) for label in labels]
    if not any(strings):
        return None
    if not all(strings):
        odd = labels[strings.index(False)]
        raise NotANumber(
            "Feature names are only supported if all input features have string names, "
            f"but column {strings.index(False)} is named {odd!r} ({type(odd).__name__})",
            hint="rename the columns: frame.columns = frame.columns.astype(str)",
        )
    if len(set(labels)) < len(labels):
        twice = sorted({str(label) for label in labels if labels.count(label) > 1})
        raise BadRows(
            f"more than one column is named {listed(twice)}",
            hint="drop or rename the repeated columns",
        )
    return tuple(str(label) for label in labels)


def _column_of_series(series: Any, place: str) -> tuple[_Column, tuple[Label, ...] | None]:
    """Return one column of a frame, and the levels it declares."""
    import narwhals as nw

    dtype = series.dtype
    if _holds_objects(series):
        return _column_of_objects(series.to_list(), place), None
    if dtype.is_numeric():
        if not dtype.is_float():
            series = series.cast(nw.Float64())
        values = np.asarray(series.to_numpy())
        if values.dtype not in _FLOATS:
            values = values.astype(np.float64)
        return (NUMBER, values), None
    if dtype == nw.Boolean:
        blanks = map(_is_blank, cells := series.to_list())
        truth = (None if blank else bool(c) for blank, c in zip(blanks, cells, strict=True))
        return (BOOLEAN, _objects(truth)), None
    if dtype == nw.String:
        return (
            CATEGORY,
            _objects(c if isinstance(c, str) and c else None for c in series.to_list()),
        ), None
    if dtype in (nw.Categorical, nw.Enum):
        cells = [None if _is_blank(cell) else _plain(cell) for cell in series.to_list()]
        # A Polars Categorical or an Arrow dictionary is a way to store strings; only pandas'
        # categories and Enums are chosen by the user and say what else there could have been.
        native: Any = getattr(series.to_native(), "dtype", None)
        pandas = series.implementation.is_pandas_like() and hasattr(native, "categories")
        declared = native.categories.tolist() if pandas else getattr(dtype, "categories", None)
        levels = None if declared is None else tuple(_plain(d) for d in declared if d != "")
        return (CATEGORY, _objects(cells)), levels
    if dtype.is_temporal() or dtype.is_nested():
        raise NotANumber(
            f"{place}: a column of type {dtype} holds neither numbers nor categories",
            hint="dates: turn them into numbers, such as days since a fixed day, or drop the "
            "column; lists and structs: make columns of their parts",
        )
    values = np.asarray(series.to_numpy())
    if values.dtype.kind in "fiub":
        return (NUMBER, values.astype(np.float64)), None
    return _column_of_objects(values.tolist(), place), None


def _holds_objects(series: Any) -> bool:
    """Tell pandas' columns of Python objects, which may be strings or anything else."""
    return str(getattr(series.to_native(), "dtype", "")) == "object"


# ---------------------------------------------------------------------------------------- labels


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The distinct labels in sorted order, and for each row the place of its label.

    `classes` keeps the type that was given: integers stay integers, booleans booleans, and
    tuples stay tuples. `codes` may be the caller's own array. `ravelled` tells that the labels
    came as a column of shape (n, 1).

    >>> labels = read_labels(["spam", "ham", "spam"])
    >>> labels.classes, labels.codes
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0, 1]))
    """

    classes: NDArray[Any]
    codes: IntArray
    ravelled: bool = False


_Coded: TypeAlias = tuple[NDArray[Any], IntArray]
"""Distinct values in any order, and for each row which of them it holds."""


def read_labels(y: object) -> Labels:
    """Read labels of any hashable type; refuse those that cannot name classes.

    >>> read_labels([0.5, 1.5])
    Traceback (most recent call last):
    ...
    suffice.errors.BadLabels: Unknown label type: continuous. Row 0 has the label 0.5
    Hint: labels name classes: round them, cut them into bins, or use a regression
    """
    ravelled = False
    if type(y) is not np.ndarray:
        if y is None:
            raise BadLabels(
                "a classifier requires y to be passed, but the target y is None",
                hint="pass one label for every row",
            )
        if isinstance(y, (list, tuple)):
            coded = _coded_list(y)
            if coded is not None:
                return _sorted_labels(*coded, ravelled=False)
        elif hasattr(y, "toarray"):
            raise BadLabels("sparse labels cannot be read", hint="pass y.toarray().ravel()")
        elif _is_from_frame_library(y):
            y, ravelled = _only_column(y)
            coded = _coded_series(y)
            if coded is not None:
                return _sorted_labels(*coded, ravelled=ravelled)
        elif isinstance(y, np.ma.MaskedArray):
            y = _unmasked(y) if np.ma.is_masked(y) else y.data
    try:
        values = np.asarray(y)
    except ValueError:
        raise BadLabels("Unknown label type: the labels are ragged", hint=_ONE_EACH) from None
    if values.ndim == 2 and values.shape[1] == 1:
        values, ravelled = values[:, 0], True
    if values.ndim != 1:
        what = "Unknown label type: multioutput" if values.ndim else "y should be a 1d array"
        raise BadLabels(f"{what}, got an array of shape {values.shape} instead.", hint=_ONE_EACH)
    if len(values) == 0:
        raise BadLabels("there are 0 labels (0 sample(s))", hint="pass at least one row")
    return _sorted_labels(*_coded_array(values), ravelled=ravelled)


_ONE_EACH = "give each row one label; for labels of several parts make tuples of them"


def check_lengths(rows_n: int, labels_n: int) -> None:
    """Refuse rows and labels that do not pair up."""
    if rows_n != labels_n:
        raise BadRows(
            f"Found input variables with inconsistent numbers of samples: [{rows_n}, {labels_n}]",
            hint=f"there are {rows_n} row(s) and {labels_n} label(s): pass one label for each row",
        )


def _sorted_labels(values: NDArray[Any], codes: IntArray, *, ravelled: bool) -> Labels:
    """Refuse values that name no class, and put the others in order."""
    if values.dtype.kind == "f":
        _check_float_labels(values, codes)
    order = _order(values)
    if (order == np.arange(len(order))).all():
        return Labels(values, codes.astype(np.intp, copy=False), ravelled)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return Labels(values[order], rank[codes], ravelled)


def sorted_levels(values: Sequence[Label]) -> list[int]:
    """Return the places of values in sorted order; by type and `repr` if they do not compare."""
    places = range(len(values))
    if not any(isinstance(value, (set, frozenset)) for value in values):  # < is no order there
        try:
            return sorted(places, key=lambda place: values[place])  # type: ignore[arg-type,return-value]
        except TypeError:
            pass
    return sorted(places, key=lambda place: (type(values[place]).__name__, repr(values[place])))


def _order(values: NDArray[Any]) -> IntArray:
    if values.dtype == object:
        return np.array(sorted_levels(values.tolist()), dtype=np.intp)
    return np.argsort(values, kind="stable")


def _row_of(code: int, codes: IntArray) -> int:
    return int((codes == code).argmax())


def _check_float_labels(values: NDArray[Any], codes: IntArray) -> None:
    for code in np.flatnonzero(~np.isfinite(values)):
        _refuse_label(values[code], _row_of(int(code), codes))
    broken = values != np.floor(values)
    if broken.any():
        row = int(broken[codes].argmax())
        _refuse_label(values[codes[row]], row)


def _refuse_label(value: Any, row: int) -> NoReturn:
    """Refuse a label that is blank, infinite or no whole number."""
    if _is_blank(value):
        raise BadLabels(
            f"Input y contains NaN. Row {row} has no label",
            hint="drop the rows without a label, or give them one of their own: 'unknown'",
        )
    if math.isinf(value):
        raise BadLabels(
            "Input y contains infinity or a value too large for dtype('float64'). "
            f"Row {row} has the label {value!s}",
            hint="labels name classes: use whole numbers, strings or booleans",
        )
    raise BadLabels(
        f"Unknown label type: continuous. Row {row} has the label {value!s}",
        hint="labels name classes: round them, cut them into bins, or use a regression",
    )


def _coded_array(values: NDArray[Any]) -> _Coded:
    kind = values.dtype.kind
    if kind == "c":
        raise BadLabels("Complex data not supported: labels are complex", hint=_ONE_EACH)
    if kind == "O":
        return _coded_objects(values)
    if kind == "V":
        raise BadLabels(f"Unknown label type: {values.dtype}", hint=_ONE_EACH)
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if kind == "b":
        return _coded_integers(values.view(np.uint8), values.dtype)
    if kind in "iu":
        return _coded_integers(values, values.dtype)
    if kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    if kind in "mM":
        blank = np.isnat(values)
        if blank.any():
            _refuse_label(None, int(blank.argmax()))
    return _coded_by_hash(values)


def _coded_integers(values: NDArray[Any], dtype: np.dtype[Any]) -> _Coded:
    """Count instead of sorting, when the labels lie close together."""
    low, high = int(values.min()), int(values.max())
    if high - low >= max(65536, 4 * len(values)):
        return _coded_by_hash(values)
    if low == 0:
        shifted = values.astype(np.intp, copy=False)
    elif values.dtype == np.uint64:  # may lie beyond the signed range
        shifted = (values - np.uint64(low)).astype(np.intp)
    else:
        shifted = values.astype(np.intp) - low
    present = np.bincount(shifted) > 0
    if present.all():
        return np.arange(low, high + 1, dtype=values.dtype).astype(dtype), shifted
    classes = np.array([low + int(step) for step in np.flatnonzero(present)], dtype=values.dtype)
    return classes.astype(dtype), (np.cumsum(present) - 1)[shifted]


def _coded_by_hash(values: NDArray[Any]) -> _Coded:
    """Return distinct values of any fixed-width type, by hashing when there are many rows.

    Strings of fixed width are hashed and compared as the bytes they are made of, which is exact
    (NumPy pads with zeros) and ten times as fast as sorting them.
    """
    if len(values) < _MANY or values.dtype.kind not in "iufUS" or values.dtype.itemsize == 0:
        classes, codes = np.unique(values, return_inverse=True)
        return classes, codes.reshape(-1)
    pa: Any = import_module("pyarrow")
    values = np.ascontiguousarray(values)
    if values.dtype.kind in "iuf":
        # Adding 0 makes one zero of the two: Arrow compares bits.
        encoded = pa.array(values + 0 if values.dtype.kind == "f" else values).dictionary_encode()
        return encoded.dictionary.to_numpy(zero_copy_only=False), encoded.indices.to_numpy()
    width = pa.binary(values.dtype.itemsize)
    buffer = pa.py_buffer(values.view(np.uint8))
    encoded = pa.FixedSizeBinaryArray.from_buffers(width, len(values), [None, buffer])
    encoded = encoded.dictionary_encode()
    indices = encoded.indices.to_numpy()
    return values[_first_rows(indices, len(encoded.dictionary))], indices


def _first_rows(codes: IntArray, size: int) -> IntArray:
    """Return for each code the first row that has it."""
    rows = np.empty(size, dtype=np.intp)
    rows[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last write wins
    return rows


def _coded_list(values: Sequence[Any]) -> _Coded | None:
    """Return the labels of a list; None when NumPy reads it as well."""
    if not values:
        return None
    if isinstance(values[0], str):
        classes, codes = _coded_objects(_objects(values))
        if any(name.endswith("\0") for name in classes):  # NumPy's own strings cannot end so
            return classes, codes
        return classes.astype(np.str_), codes
    kinds = set(map(type, values))
    if any(issubclass(kind, (list, np.ndarray)) for kind in kinds):
        return None
    truths = {kind for kind in kinds if issubclass(kind, (bool, np.bool_))}
    if kinds == truths or (not truths and all(issubclass(k, numbers.Complex) for k in kinds)):
        return None
    return _coded_objects(_objects(values))


def _coded_objects(values: NDArray[Any]) -> _Coded:
    """Return distinct objects; the type of each *object* is looked at once.

    Labels that come from a dictionary, a parser or a list of constants are few objects, seen
    many times: then it is enough to tell their addresses apart, and to look at one of each.
    """
    if len(values) >= _MANY and len(set(map(id, values[:: len(values) // 500]))) <= 100:
        by_address, codes = _coded_by_hash(_addresses(values))
        rows = _first_rows(codes, len(by_address))
        classes, inner = _checked_objects(values[rows], rows)
        return classes, inner[codes]
    return _checked_objects(values, None)


def _addresses(values: NDArray[Any]) -> NDArray[np.uintp]:
    """View an object array as the addresses it holds; valid as long as `values` lives."""

    class Addresses:
        def __init__(self) -> None:
            whole = values.__array_interface__
            word = {"typestr": np.dtype(np.uintp).str, "version": whole["version"]}
            self.__array_interface__ = {k: whole[k] for k in ("data", "shape", "strides")} | word

    return np.asarray(Addresses())


def _hashed(values: Iterable[Any]) -> _Coded:
    """Return distinct values in order of appearance: one pass, one dictionary."""
    places: defaultdict[Any, int] = defaultdict()
    places.default_factory = places.__len__
    codes = np.fromiter(map(places.__getitem__, values), dtype=np.intp)
    return _objects(places), codes


def _checked_objects(values: NDArray[Any], rows: IntArray | None) -> _Coded:
    try:
        classes, codes = _hashed(values)
    except TypeError:
        place, value = next((i, v) for i, v in enumerate(values) if not _is_hashable(v))
        raise BadLabels(
            f"row {place if rows is None else rows[place]}: "
            f"Unknown label type: {type(value).__name__} {value!r} is not hashable",
            hint="labels must be hashable: use strings, numbers, or tuples instead of lists",
        ) from None
    if all(type(name) is str for name in classes):
        return classes, codes
    first: dict[str, int] = {}
    # True == 1 == 1.0: only when all objects are of one type do the distinct ones tell enough.
    alike = len(set(map(type, values))) == 1
    for place, value in enumerate(classes if alike else values):
        row = _row_of(place, codes) if alike and first else place
        family = _family(value)
        if family == "blank" or (family == "number" and not _is_whole(value)):
            _refuse_label(value, row if rows is None else int(rows[row]))
        first.setdefault(family, row)
    if len(first) > 1:
        (one, i), (other, j), *_ = first.items()
        a, b = (i, j) if rows is None else (int(rows[i]), int(rows[j]))
        raise BadLabels(
            f"labels of mixed types: row {a} is the {one} {values[i]!r}, "
            f"row {b} is the {other} {values[j]!r}",
            hint="make all labels strings, or all numbers",
        )
    return classes, codes


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _family(value: object) -> str:
    """Name the sort of a label; labels of one sort go together."""
    if isinstance(value, str):
        return "string"
    if _is_blank(value):
        return "blank"
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    if isinstance(value, _REAL):
        return "number"
    return type(value).__name__


def _is_whole(value: Any) -> bool:
    return bool(math.isfinite(value)) and value == math.floor(value)


def _only_column(y: Any) -> tuple[Any, bool]:
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


def _coded_series(y: Any) -> _Coded | None:
    """Return the labels of a pandas, Polars or Arrow column; None when NumPy reads it as well."""
    import narwhals as nw

    if hasattr(y, "dictionary_encode") and not hasattr(y, "chunks"):  # an Arrow array
        y = import_module("pyarrow").chunked_array([y])
    series = nw.from_native(y, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series) or len(series) == 0:
        return None
    blank = np.asarray(series.is_null().to_numpy())
    if blank.any():
        _refuse_label(None, int(blank.argmax()))
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean or _holds_objects(series):
        return _coded_array(np.asarray(series.to_numpy()))
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        try:
            return _coded_arrow(series.to_arrow())
        except (TypeError, ValueError):  # pandas' categories can be anything
            pass
    return _coded_objects(_objects(series.to_list()))


def _coded_arrow(column: Any) -> _Coded:
    """Return the labels of an Arrow column by way of its dictionary."""
    pa: Any = import_module("pyarrow")
    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    indices = column.indices.to_numpy()
    used = np.bincount(indices, minlength=len(column.dictionary)) > 0
    # Arrow allows a dictionary to repeat a value, and to hold values that no row has.
    classes, inner = _coded_array(column.dictionary.to_numpy(zero_copy_only=False)[used])
    return classes, inner[(np.cumsum(used) - 1)[indices]]


# --------------------------------------------------------------------------------------- weights


def read_weights(weights: object, size: int) -> FloatArray | None:
    """Return one finite weight ≥ 0 per row, or None when every row counts once.

    >>> read_weights([1, 2, 0], 3)
    array([1., 2., 0.])
    >>> read_weights(None, 3) is None
    True
    """
    if weights is None:
        return None
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
    if high == 0.0:
        raise BadWeights(
            f"all {size} sample weights are zero: "
            "Sample weights must contain at least one non-zero number.",
            hint="at least one row needs a weight above 0",
        )
    return None if low == high == 1.0 else values
