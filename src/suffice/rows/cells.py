"""Single cells and columns of Python objects: what is blank, a number, a truth or a category."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import NotANumber, NotFinite
from suffice.places import ColumnAt

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
Label: TypeAlias = Hashable

NUMBER, BOOLEAN, CATEGORY = "number", "boolean", "category"
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
"""Types that are taken as they are; cells of any other are made doubles."""
REAL = (numbers.Real, Decimal, np.bool_)
"""Types of cells that are numbers, beside NumPy's own, which are registered as real."""
KindAndCells: TypeAlias = tuple[str, NDArray[Any]]
"""A kind, and the cells of one column."""
DOUBLES = 2.0**53
"""Whole numbers up to this one are doubles, each its own; beyond, neighbours are the same."""


def place_of(column: int, names: Sequence[str] | None) -> str:
    """Return how a column is called in a refusal."""
    return f"column {column}" if names is None else names[column]


def column_at(column: int, names: Sequence[str] | None) -> ColumnAt:
    """Return a column for a refusal; where its name is not known, others may fill it in."""
    return ColumnAt(column, None if names is None else str(names[column]))


def is_blank(value: object) -> bool:
    """Tell blanks from values: None, NaN, NaT, pandas' NA and the empty string."""
    if isinstance(value, str):
        return not value
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124  true of NaN and NaT alone
    except (TypeError, ValueError, ArithmeticError):  # NA has no truth value; nor has an array
        return type(value).__name__ == "NAType"


def column_of_objects(values: list[object], place: str) -> KindAndCells:
    """Return the kind of a column of Python objects, and its cells."""
    plain_types = set(map(type, values))
    if plain_types <= {float, int}:
        found = _floats(values, place)
        return NUMBER, found if plain_types == {float} else _exact(values, found)
    cells = [None if is_blank(value) else value for value in values]
    seen = set(map(type, cells)) - {type(None)}
    if seen and all(issubclass(kind, (bool, np.bool_)) for kind in seen):
        return BOOLEAN, object_array(None if cell is None else bool(cell) for cell in cells)
    if all(issubclass(kind, REAL) for kind in seen):  # also when all is blank: NaN says no more
        return NUMBER, _exact(cells, _floats(cells, place))
    if not any(issubclass(kind, str) for kind in seen):
        from suffice.rows.typed_dates import are_dates, numbers_of_objects

        if are_dates(seen):
            return NUMBER, numbers_of_objects(cells)
    for kind in seen:
        if not issubclass(kind, (str, *REAL)):
            row = next(i for i, cell in enumerate(cells) if type(cell) is kind)
            complex_too = issubclass(kind, numbers.Complex)
            raise NotANumber.of_cell(
                row,
                place,
                ("Complex data not supported: " if complex_too else "")
                + f"the argument must be a string or a number, got {kind.__name__}",
                hint="a cell is a number, a string, true, false or blank; "
                "turn anything else into one of these first",
            )
    return CATEGORY, object_array(map(plain, cells))


def _floats(cells: list[Any], place: str) -> FloatArray:
    try:
        return np.array(cells, dtype=np.float64)  # None becomes NaN
    except OverflowError:
        most = int(np.finfo(np.float64).max)  # as an integer: huge integers compare with no other
        row = next(i for i, cell in enumerate(cells) if cell and abs(cell) > most)
        raise NotFinite.of(row, place, math.inf if cells[row] > 0 else -math.inf) from None


def _exact(cells: list[Any], found: FloatArray) -> NDArray[np.generic]:
    """Return cells as integers where that is what they are, as doubles where not.

    Beside a fraction, or a blank, small whole numbers are as good as doubles.
    """
    with np.errstate(invalid="ignore"):
        beyond = bool((np.abs(found) >= DOUBLES).any())
    if not beyond:
        whole = all(issubclass(kind, numbers.Integral) for kind in set(map(type, cells)))
        return found.astype(np.int64) if whole else found
    there = ~np.isnan(found)
    if np.isinf(found).any() or (found[there] != np.floor(found[there])).any():
        return found
    return object_array(int(c) if seen else None for c, seen in zip(cells, there, strict=True))


def beyond_doubles(cells: NDArray[np.generic]) -> bool:
    """Whether some of the whole numbers may be no doubles; Python's own may be blank."""
    if cells.dtype.kind in "iu":
        if cells.dtype.itemsize < 8 or not cells.size:
            return False
        least, most = (0 if cells.dtype.kind == "u" else int(cells.min())), int(cells.max())
        return most > DOUBLES or least < -DOUBLES
    if cells.dtype != object:
        return False
    return any(cell is not None and abs(cell) > DOUBLES for cell in cells)


def plain(value: object) -> object:
    """Return a NumPy scalar as the Python object it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def object_array(values: Iterable[object]) -> NDArray[Any]:
    """Build an object array element by element: NumPy would unpack tuples."""
    return np.fromiter(values, dtype=object)
