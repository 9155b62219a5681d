"""Rows cut by column: for each group of columns what its family reads."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import BadRows
from suffice.places import CellAt
from suffice.rows.category_codes import CodedColumns
from suffice.rows.cells import CATEGORY, column_at, place_of
from suffice.rows.sparse import MOST_COUNT, SparseRows, refuse_huge
from suffice.rows.tables import warn_of_rounding
from suffice.rows.text_cells import TextCells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import IntArray, Table

Block: TypeAlias = NDArray[np.floating] | CodedColumns | SparseRows | TextCells
"""Numbers (n, columns) with NaN for blanks, codes of categories, sparse counts, or texts."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The same rows, one block for each group of columns."""

    parts: tuple[Block, ...]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.parts[0])

    @property
    def cells(self) -> int:
        """How many cells there are to look at."""
        return sum(_cells(part) for part in self.parts)

    def __getitem__(self, rows: slice) -> Blocks:
        """Return neighbouring rows, without a copy."""
        return Blocks(tuple(part[rows] for part in self.parts))

    def take(self, places: IntArray) -> Blocks:
        """Return a copy of some rows, in any order."""
        return Blocks(tuple(taken(part, places) for part in self.parts))


LETTERS_A_CELL = 6
"""Letters that are as much work as a number: a word with its blank. A choice."""


def _cells(part: Block) -> int:
    if isinstance(part, SparseRows):
        return int(part.indptr[-1] - part.indptr[0]) + len(part)
    if isinstance(part, TextCells):
        return part.characters // LETTERS_A_CELL + len(part)
    return int(part.codes.size if isinstance(part, CodedColumns) else part.size)


def taken(part: Block, places: IntArray) -> Block:
    """Return a copy of some rows of a block."""
    return part.take(places) if isinstance(part, SparseRows) else part[places]


def joined_blocks(rows: Blocks, more: Blocks) -> Blocks:
    """Return the rows of both, those of `more` last."""
    return Blocks(tuple(_joined(a, b) for a, b in zip(rows.parts, more.parts, strict=True)))


def _joined(part: Block, more: Block) -> Block:
    if isinstance(part, CodedColumns):
        assert isinstance(more, CodedColumns)
        known = zip(part.levels, more.levels, strict=True)
        new = [tuple(v for v in theirs if v not in ours) for ours, theirs in known]
        # New levels come last: nobody who compares codes asks for an order.
        levels = tuple(ours + added for ours, added in zip(part.levels, new, strict=True))
        return CodedColumns(np.concatenate([part.codes, more.in_levels(levels)]), levels)
    if isinstance(part, TextCells):
        assert isinstance(more, TextCells)
        return TextCells(np.concatenate([part.cells, more.cells]))
    if isinstance(part, SparseRows) or isinstance(more, SparseRows):
        one, other = _sparse(part), _sparse(more)
        data = np.concatenate([one.cells, other.cells])
        places = np.concatenate([one.places, other.places])
        starts = one.indptr - one.indptr[0], other.indptr[1:] - other.indptr[0] + one.stored
        return SparseRows(data, places, np.concatenate(starts), one.width)
    assert isinstance(more, np.ndarray)
    return np.concatenate([part, more])


def _sparse(part: Block) -> SparseRows:
    """Return counts by the cells that are not zero."""
    if isinstance(part, SparseRows):
        return part
    assert isinstance(part, np.ndarray)
    rows, columns = np.nonzero(part)
    counts = np.bincount(rows, minlength=len(part))
    starts = np.concatenate([[0], np.cumsum(counts)])
    return SparseRows(part[rows, columns], columns, starts, part.shape[1])


LOOK = 1 << 15
"""Cells that are looked at together: a quarter of a megabyte of doubles, which stays near."""


def extremes(rows: NDArray[np.floating]) -> tuple[float, float]:
    """Return the least and the largest cell, both NaN where there is a blank.

    >>> extremes(np.array([[2.0, 0.0], [1.0, 5.0]]))
    (0.0, 5.0)
    """
    step = max(1, LOOK // max(rows.shape[1], 1))
    parts = [rows[start : start + step] for start in range(0, len(rows), step)]
    if not parts or not rows.shape[1]:
        return 0.0, 0.0
    found = [(part.min(), part.max()) for part in parts]
    return float(np.min([low for low, _ in found])), float(np.max([high for _, high in found]))


def refuse_large_cells(
    rows: NDArray[np.generic], columns: Sequence[int], names: Sequence[str] | None
) -> None:
    """Refuse dense counts that are too large to be added up."""
    if rows.dtype == np.float64 and not np.nanmax(rows, initial=0.0) <= MOST_COUNT:

        def place(at: int) -> CellAt:
            row, column = divmod(at, rows.shape[1])
            return CellAt(row, column_at(columns[column], names))

        refuse_huge(rows, place)


def numbers(table: Table, columns: Any) -> NDArray[np.floating]:
    """Return some columns of a table that hold numbers or truths, as one matrix.

    All columns of a matrix come back without a copy.
    """
    if table.matrix is not None:
        if len(columns) == table.width and list(columns) == list(range(table.width)):
            whole: NDArray[np.floating] = table.matrix
            return whole
        some: NDArray[np.floating] = table.matrix[:, list(columns)]
        return some
    out = np.empty((table.size, len(columns)), order="F")
    for place, j in enumerate(columns):
        out[:, place] = table.column(j)  # None becomes NaN
    return out


def read_numbers(table: Table, columns: Sequence[int], family: str) -> NDArray[np.floating]:
    """Return some columns as one matrix of numbers; text is refused by its place."""
    for j in columns:
        if table.kinds[j] == CATEGORY:
            refuse_text(table, j, family)
    if table.whole is not None:
        warn_of_rounding(table.take(columns))
    return numbers(table, columns)


def refuse_text(table: Table, column: int, family: str) -> None:
    """Refuse a column of text where numbers are needed, by its first cell."""
    cells = table.column(column)
    row = next((i for i, v in enumerate(cells) if not (v is None or isinstance(v, Real))), None)
    if row is None:
        return
    name = place_of(column, table.names)
    raise BadRows.of_cell(
        row,
        name,
        f"{cells[row]!r} is not a number, but {name} is {family}",
        value=cells[row],
        hint="text belongs to the family categorical",
    )
