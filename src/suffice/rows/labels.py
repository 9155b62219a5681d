"""Labels: which classes there are, in order, and which row is of which class."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import numpy as np

from suffice.errors import (
    BadLabels,
    BadRows,
    SimilarLabels,
    warn,
)
from suffice.rows.cells import is_blank, object_array
from suffice.rows.frames import holds_objects, is_from_frame_library
from suffice.rows.label_codes import (
    ONE_EACH,
    Coded,
    coded_array,
    coded_list,
    coded_objects,
    refuse_label,
    row_of,
)
from suffice.rows.tables import may_have_rounded, unmasked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from suffice.rows.cells import IntArray, Label


INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
"""Characters of no width: soft hyphens, joiners, marks of direction and of byte order."""

MANY_CLASSES = 10_000
"""Classes whose names are compared; more of them are not names that anybody reads."""


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

    classes: NDArray[np.generic]
    codes: IntArray
    ravelled: bool = False


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
            coded = coded_list(y) or _rounded(y)
            if coded is not None:
                return _sorted_labels(*coded, ravelled=False)
        elif hasattr(y, "toarray"):
            raise BadLabels("sparse labels cannot be read", hint="pass y.toarray().ravel()")
        elif is_from_frame_library(y):
            y, ravelled = only_column(y)
            coded = coded_series(y)
            if coded is not None:
                return _sorted_labels(*coded, ravelled=ravelled)
        elif isinstance(y, np.ma.MaskedArray):
            y = unmasked(y) if np.ma.is_masked(y) else y.data
    try:
        values = np.asarray(y)
    except ValueError:
        raise BadLabels("Unknown label type: the labels are ragged", hint=ONE_EACH) from None
    if values.ndim == 2 and values.shape[1] == 1:
        values, ravelled = values[:, 0], True
    if values.ndim != 1:
        what = "Unknown label type: multioutput" if values.ndim else "y should be a 1d array"
        raise BadLabels(f"{what}, got an array of shape {values.shape} instead.", hint=ONE_EACH)
    if len(values) == 0:
        raise BadLabels("there are 0 labels (0 sample(s))", hint="pass at least one row")
    return _sorted_labels(*coded_array(values), ravelled=ravelled)


def _rounded(y: Sequence[object]) -> Coded | None:
    """Return the labels of a list that NumPy would round; None where it would not."""
    kinds = set(map(type, y))
    if not kinds <= {int, float} or int not in kinds or not may_have_rounded(np.asarray(y)):
        return None
    return coded_objects(object_array(map(_as_whole, y)))


def _as_whole(label: Any) -> object:
    """Return a whole number as an integer, lest 1.0 be another class than 1."""
    return int(label) if label == label // 1 else label


def similar_labels(labels: Iterable[object]) -> list[str]:
    """Return what is to be said of labels that differ, but look the same.

    >>> similar_labels(["u", "u ", "v"])
    ["'u' and 'u ' are two classes that differ only in blanks"]
    """
    known: dict[str, list[str]] = {}
    for label in sorted({label for label in labels if isinstance(label, str)}):
        known.setdefault(_looks(label), []).append(label)
    said = []
    for same in known.values():
        if len(same) > 1:
            blanks = len({"".join(normalize("NFC", label).split()) for label in same}) == 1
            blanks = blanks and len({normalize("NFC", label) for label in same}) == len(same)
            what = "blanks" if blanks else "characters that cannot be seen"
            named = " and ".join(map(repr if blanks else ascii, same[:8]))
            count = "two" if len(same) == 2 else str(len(same))
            said.append(f"{named} are {count} classes that differ only in {what}")
    return said


def _looks(label: str) -> str:
    """Return what a label looks like: blanks, and how letters are composed, are not seen."""
    seen = "".join(c for c in normalize("NFC", label) if c.isspace() or c not in INVISIBLE)
    return " ".join(seen.split())


def check_lengths(rows_n: int, labels_n: int) -> None:
    """Refuse rows and labels that do not pair up."""
    if rows_n != labels_n:
        raise BadRows(
            f"Found input variables with inconsistent numbers of samples: [{rows_n}, {labels_n}]",
            hint=f"there are {rows_n} row(s) and {labels_n} label(s): pass one label for each row",
        )


def _sorted_labels(values: NDArray[np.generic], codes: IntArray, *, ravelled: bool) -> Labels:
    """Refuse values that name no class, and put the others in order."""
    if values.dtype.kind == "f":
        _check_float_labels(values, codes)
    if values.dtype.kind in "OU" and 1 < len(values) <= MANY_CLASSES:
        for said in similar_labels(values.tolist()):
            warn(said, SimilarLabels)
    order = _order(values)
    if (order == np.arange(len(order))).all():
        return Labels(values, codes.astype(np.intp, copy=False), ravelled)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return Labels(values[order], rank[codes], ravelled)


def sorted_levels(values: Sequence[Label]) -> list[int]:
    """Return the places of values in sorted order; by kind first if they do not compare.

    Numbers come before text and text before the rest, each in its own order, so that leaving
    some out does not change the order of the others.
    """
    places = range(len(values))
    if not any(isinstance(value, (set, frozenset)) for value in values):  # < is no order there
        try:
            return sorted(places, key=lambda place: values[place])  # type: ignore[arg-type,return-value]
        except TypeError:
            pass
    return sorted(places, key=lambda place: _rank(values[place]))


def _rank(value: Label) -> tuple[object, ...]:
    if isinstance(value, Real) and not isinstance(value, bool):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return 2, type(value).__name__, repr(value)


def _order(values: NDArray[np.generic]) -> IntArray:
    if values.dtype == object:
        return np.array(sorted_levels(values.tolist()), dtype=np.intp)
    return np.argsort(values, kind="stable")


def _check_float_labels(values: NDArray[np.generic], codes: IntArray) -> None:
    for code in np.flatnonzero(~np.isfinite(values)):
        refuse_label(values[code], row_of(int(code), codes))
    broken = values != np.floor(values)
    if broken.any():
        row = int(broken[codes].argmax())
        refuse_label(values[codes[row]], row)


def only_column(y: object) -> tuple[object, bool]:
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


def coded_series(y: object) -> Coded | None:
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
    pa = import_module("pyarrow")
    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    indices = column.indices.to_numpy()
    used = np.bincount(indices, minlength=len(column.dictionary)) > 0
    # Arrow allows a dictionary to repeat a value, and to hold values that no row has.
    classes, inner = coded_array(column.dictionary.to_numpy(zero_copy_only=False)[used])
    return classes, inner[(np.cumsum(used) - 1)[indices]]


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


def _blank(y: object) -> NDArray[np.bool_] | None:
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


def _of_array(values: NDArray[np.generic]) -> NDArray[np.bool_] | None:
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


def _of_objects(values: Iterable[object]) -> NDArray[np.bool_] | None:
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


def _of_series(y: object) -> NDArray[np.bool_] | None:
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
