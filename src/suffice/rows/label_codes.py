"""Distinct labels and a code for every row, by whichever way is quickest for their type."""

from __future__ import annotations

import math
import numbers
from collections import defaultdict
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import BadLabels
from suffice.places import Phrase, RowAt
from suffice.rows.cells import REAL, IntArray, is_blank, object_array

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

Coded: TypeAlias = tuple[NDArray[Any], IntArray]
"""Distinct values in any order, and for each row which of them it holds."""

ONE_EACH = "give each row one label; for labels of several parts make tuples of them"
"""The hint for labels that are not labels."""
_MANY = 10_000
"""From this many labels on, pyarrow's hash tables repay the import of pyarrow."""


def row_of(code: int, codes: IntArray) -> int:
    """Return the first row that has a code."""
    return int((codes == code).argmax())


def refuse_label(value: Any, row: int) -> NoReturn:
    """Refuse a label that is blank, infinite or no whole number."""
    if is_blank(value):
        raise BadLabels(
            Phrase("Input y contains NaN. Row {row.number} has no label", row=RowAt(row)),
            hint="drop the rows without a label, or give them a label such as 'unknown'",
        )
    if math.isinf(value):
        raise BadLabels(
            _labelled(
                "Input y contains infinity or a value too large for dtype('float64')", row, value
            ),
            hint="labels name classes: use whole numbers, strings or booleans",
        )
    raise BadLabels(
        _labelled("Unknown label type: continuous", row, value),
        hint="labels name classes: round them, cut them into bins, or use a regression",
    )


def _labelled(what: str, row: int, value: object) -> Phrase:
    said = "{what}. Row {row.number} has the label {value}"
    return Phrase(said, what=what, row=RowAt(row), value=str(value))


def coded_array(values: NDArray[np.generic]) -> Coded:
    """Return the labels of a one-dimensional array."""
    kind = values.dtype.kind
    if kind == "c":
        raise BadLabels("Complex data not supported: labels are complex", hint=ONE_EACH)
    if kind == "O":
        return coded_objects(values)
    if kind == "V":
        raise BadLabels(f"Unknown label type: {values.dtype}", hint=ONE_EACH)
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
            refuse_label(None, int(blank.argmax()))
    return _coded_by_hash(values)


def _coded_integers(values: NDArray[Any], dtype: np.dtype[np.generic]) -> Coded:
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
    # Mostly the first rows have shown every label; a pass over all would cost as much as a sum.
    present = np.bincount(shifted[:65536], minlength=high - low + 1) > 0
    if not present.all():
        present = np.bincount(shifted) > 0
    if present.all():
        return np.arange(low, high + 1, dtype=values.dtype).astype(dtype), shifted
    classes = np.array([low + int(step) for step in np.flatnonzero(present)], dtype=values.dtype)
    return classes.astype(dtype), (np.cumsum(present) - 1)[shifted]


def _coded_by_hash(values: NDArray[np.generic]) -> Coded:
    """Return distinct values of any fixed-width type, by hashing when there are many rows.

    Strings of fixed width are hashed and compared as the bytes they are made of, which is exact
    (NumPy pads with zeros) and ten times as fast as sorting them.
    """
    if len(values) < _MANY or values.dtype.kind not in "iufUS" or values.dtype.itemsize == 0:
        classes, codes = np.unique(values, return_inverse=True)
        return classes, codes.reshape(-1)
    pa = import_module("pyarrow")
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


def coded_list(values: Sequence[object]) -> Coded | None:
    """Return the labels of a list; None when NumPy reads it as well."""
    if not values:
        return None
    if isinstance(values[0], str):
        classes, codes = coded_objects(object_array(values))
        if any(name.endswith("\0") for name in classes):  # NumPy's own strings cannot end so
            return classes, codes
        return classes.astype(np.str_), codes
    kinds = set(map(type, values))
    if any(issubclass(kind, (list, np.ndarray)) for kind in kinds):
        return None
    truths = {kind for kind in kinds if issubclass(kind, (bool, np.bool_))}
    if kinds == truths or (not truths and all(issubclass(k, numbers.Complex) for k in kinds)):
        return None
    return coded_objects(object_array(values))


def coded_objects(values: NDArray[np.generic]) -> Coded:
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


def _addresses(values: NDArray[np.generic]) -> NDArray[np.uintp]:
    """View an object array as the addresses it holds; valid as long as `values` lives."""

    class Addresses:
        def __init__(self) -> None:
            whole = values.__array_interface__
            word = {"typestr": np.dtype(np.uintp).str, "version": whole["version"]}
            self.__array_interface__ = {k: whole[k] for k in ("data", "shape", "strides")} | word

    return np.asarray(Addresses())


def _hashed(values: Iterable[object]) -> Coded:
    """Return distinct values in order of appearance: one pass, one dictionary."""
    places: defaultdict[Hashable, int] = defaultdict()
    places.default_factory = places.__len__
    codes = np.fromiter(map(places.__getitem__, values), dtype=np.intp)
    return object_array(places), codes


def _checked_objects(values: NDArray[np.generic], rows: IntArray | None) -> Coded:
    try:
        classes, codes = _hashed(values)
    except TypeError:
        place, value = next((i, v) for i, v in enumerate(values) if not _is_hashable(v))
        what = f"Unknown label type: {type(value).__name__} {value!r} is not hashable"
        at = RowAt(place if rows is None else int(rows[place]))
        raise BadLabels(
            Phrase("{row}: {what}", row=at, what=what),
            hint="labels must be hashable: use strings, numbers, or tuples instead of lists",
        ) from None
    if all(type(name) is str for name in classes):
        return classes, codes
    first: dict[str, int] = {}
    # True == 1 == 1.0: only when all objects are of one type do the distinct ones tell enough.
    alike = len(set(map(type, values))) == 1
    for place, value in enumerate(classes if alike else values):
        row = row_of(place, codes) if alike and first else place
        family = _family(value)
        if family == "blank" or (family == "number" and not _is_whole(value)):
            refuse_label(value, row if rows is None else int(rows[row]))
        first.setdefault(family, row)
    if len(first) > 1:
        (one, i), (other, j), *_ = first.items()
        a, b = (i, j) if rows is None else (int(rows[i]), int(rows[j]))
        raise BadLabels(
            Phrase(
                "labels of mixed types: {row} is the {one}, {other_row} is the {other}",
                row=RowAt(a),
                one=f"{one} {values[i]!r}",
                other_row=RowAt(b),
                other=f"{other} {values[j]!r}",
            ),
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
    if is_blank(value):
        return "blank"
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    if isinstance(value, REAL):
        return "number"
    return type(value).__name__


def _is_whole(value: Any) -> bool:
    return bool(math.isfinite(value)) and value == math.floor(value)
