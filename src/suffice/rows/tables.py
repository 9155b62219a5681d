"""Tables made of arrays and of nested lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import (
    BadRows,
    NotANumber,
    RoundedNumbers,
    warn,
)
from suffice.places import Phrase, RowAt
from suffice.rows.cells import (
    DOUBLES,
    FLOATS,
    NUMBER,
    KindAndCells,
    Label,
    beyond_doubles,
    column_of_objects,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

Whole: TypeAlias = bool | NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows as they came through the door, before any schema.

    Either `matrix` (float32 or float64, any strides; the caller's own array when it already was
    one) or `cells`, one array per column: float64 with NaN for blanks where `kinds` says
    "number"; object dtype with None for blanks where it says "boolean" or "category".
    `names` is None for arrays; `levels` holds, per column, the levels that the frame declares.
    `whole` says, per column, whether its type holds whole numbers only (None: none does). Where
    doubles cannot tell them apart it has the numbers themselves in place of True: integers, or
    Python's own with None for blanks. `bare` says which columns a frame types as numbers: no date
    by its type is one, and no text that stands for a number (None: nobody has said so).

    >>> from suffice.rows import read_table
    >>> table = read_table([[1, 2.5], [3, None]])
    >>> table.matrix
    array([[1. , 2.5],
           [3. , nan]])
    >>> table.kinds
    ('number', 'number')
    """

    matrix: NDArray[np.floating] | None
    cells: tuple[NDArray[Any], ...] | None
    kinds: tuple[str, ...]
    names: tuple[str, ...] | None = None
    levels: tuple[tuple[Label, ...] | None, ...] | None = None
    whole: tuple[Whole, ...] | None = None
    bare: tuple[bool, ...] | None = None

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

    def is_whole(self, index: int) -> bool:
        """Whether the type of a column, or the way it is written, has whole numbers only."""
        return self.whole is not None and self.whole[index] is not False

    def exact(self, index: int) -> NDArray[np.generic]:
        """Return the cells of one column: whole numbers that are no doubles as what they are."""
        held = False if self.whole is None else self.whole[index]
        return self.column(index) if isinstance(held, bool) else held

    def rows(self, kept: Any) -> Table:
        """Return some rows."""
        whole = self.whole
        if whole is not None:
            whole = tuple(held if isinstance(held, bool) else held[kept] for held in whole)
        return Table(
            None if self.matrix is None else self.matrix[kept],
            None if self.cells is None else tuple(cells[kept] for cells in self.cells),
            self.kinds,
            self.names,
            self.levels,
            whole,
            self.bare,
        )

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
            None if self.whole is None else tuple(self.whole[place] for place in places),
            None if self.bare is None else tuple(self.bare[place] for place in places),
        )


def unmasked(data: Any) -> NDArray[np.generic]:
    """Return a masked array as a plain one: masked is missing."""
    if data.dtype.kind in "iub" and not np.ma.is_masked(data):
        return np.asarray(data.data)
    if data.dtype.kind in "fiub" and not beyond_doubles(data.data):
        kept = data if data.dtype in FLOATS else data.astype(np.float64)
        return np.asarray(kept.filled(np.nan))
    cells = np.array(data.data, dtype=object)
    cells[np.ma.getmaskarray(data)] = None
    return cells


def table_of_array(data: NDArray[Any], names: tuple[str, ...] | None = None) -> Table:
    """Read an array of numbers, strings or objects; float arrays are not copied."""
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
    if kind == "f" and data.dtype in FLOATS:
        return Table(data, None, (NUMBER,) * width, names)
    if kind == "f":
        return Table(data.astype(np.float64), None, (NUMBER,) * width, names)
    if kind in "iub":
        whole: tuple[Whole, ...] = (True,) * width
        if beyond_doubles(data):
            whole = tuple(column if beyond_doubles(column) else True for column in data.T)
        return Table(data.astype(np.float64), None, (NUMBER,) * width, names, None, whole)
    columns = [column_of_objects(data[:, j].tolist(), place_of(j, names)) for j in range(width)]
    return table_of_columns(columns, names, None)


def _check_shape(data: NDArray[np.generic]) -> None:
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
        refuse_empty(*data.shape)


def refuse_empty(size: int, width: int) -> NoReturn:
    """Refuse a table without rows or columns."""
    what = "0 sample(s)" if size == 0 else "0 feature(s)"
    raise BadRows(
        f"Found array with {what} (shape=({size}, {width})) while a minimum of 1 is required.",
        hint="pass at least one row and one column; was everything filtered out?",
    )


def table_of_lists(data: Sequence[object]) -> Table:
    """Read nested lists; the numbers beside strings stay numbers."""
    try:
        array = np.array(data)
        if array.dtype.kind not in "OUST" and not may_have_rounded(array):
            return table_of_array(array)
    except (ValueError, TypeError, OverflowError):
        pass  # ragged, or too deep: explained here
    _refuse_ragged(data)
    try:  # NumPy would have turned the numbers beside a string into strings: start again
        array = np.array(data, dtype=object)
    except ValueError:
        raise BadRows("rows are nested too deeply", hint="make each row a list of cells") from None
    return table_of_array(array)


def may_have_rounded(array: NDArray[np.generic]) -> bool:
    """Whether NumPy may have made doubles of whole numbers that are none."""
    with np.errstate(invalid="ignore"):
        return array.dtype.kind == "f" and bool((np.abs(array) >= DOUBLES).any())


def _refuse_ragged(data: Sequence[Any]) -> None:
    """Refuse lists whose rows differ in length, or that are no rows at all."""
    width = -1
    for index, row in enumerate(data):
        if isinstance(row, dict):
            raise NotANumber(
                Phrase(
                    "{row}: the argument must be a string or a number, got dict", row=RowAt(index)
                ),
                hint="make a frame of records first: pandas.DataFrame(rows)",
            )
        is_row = isinstance(row, (list, tuple)) or (isinstance(row, np.ndarray) and row.ndim > 0)
        length = len(row) if is_row else -1
        if index == 0:
            width = length
        elif length != width:
            raise BadRows(
                Phrase(
                    "{row} has {has} where {first} has {had}",
                    row=RowAt(index),
                    has="no list" if length < 0 else f"{length} cell(s)",
                    first=RowAt(0),
                    had="no list" if width < 0 else f"{width} cell(s)",
                ),
                hint="every row needs the same number of cells; write None where one is missing",
            )


def table_of_columns(
    columns: list[KindAndCells],
    names: tuple[str, ...] | None,
    levels: tuple[tuple[Label, ...] | None, ...] | None,
    whole: Sequence[bool] | None = None,
) -> Table:
    """Put columns together: one matrix if all are numbers, else one array for each.

    Numbers may come as integers, or as Python's own with None for blanks: they are whole. `whole`
    says so of columns that come as doubles.
    """
    kinds = tuple(kind for kind, _ in columns)
    held: list[Whole] = [False] * len(columns) if whole is None else list(whole)
    cells: list[NDArray[np.generic]] = []
    for j, (kind, values) in enumerate(columns):
        if kind == NUMBER and values.dtype.kind not in "fb":
            held[j] = values if beyond_doubles(values) else True
            values = values.astype(np.float64)  # noqa: PLW2901  None becomes NaN
        cells.append(values)
    known = tuple(held) if any(one is not False for one in held) else None
    if any(kind != NUMBER for kind in kinds):
        wide = tuple(c if c.dtype == object else c.astype(np.float64, copy=False) for c in cells)
        return Table(None, wide, kinds, names, levels, known)
    # Filled column by column, and so laid out by column: one sequential write for each.
    matrix = np.empty((len(cells[0]), len(cells)), np.result_type(*cells), order="F")
    for j, values in enumerate(cells):
        matrix[:, j] = values
    return Table(matrix, None, kinds, names, None, known)


def warn_of_rounding(table: Table) -> None:
    """Say where whole numbers that differ are one number as doubles."""
    for j, held in enumerate(table.whole or ()):
        if isinstance(held, bool):
            continue
        there = held if held.dtype != object else held[held != None]  # noqa: E711  element by element
        apart = np.unique(there)
        same = np.flatnonzero(np.diff(apart.astype(np.float64)) == 0.0)
        if len(same):
            one, other = apart[same[0]], apart[same[0] + 1]
            warn(
                f"{place_of(j, table.names)}: {one} and {other} are one number, {float(one):.17g}, "
                "in double precision; store codes as text, and quantities in smaller "
                "units",
                RoundedNumbers,
            )
