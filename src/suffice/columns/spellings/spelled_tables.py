"""Tables in memory whose texts are read as what they stand for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from suffice.columns.spellings.date_parts import with_date_parts
from suffice.columns.spellings.spelling import read_cells
from suffice.errors import NotANumber
from suffice.rows.cells import CATEGORY
from suffice.rows.tables import table_of_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.columns.spellings.spelling import Spelling
    from suffice.rows.tables import Table


def read_spelled(table: Table, spellings: Mapping[str, Spelling]) -> Table:
    """Return a table whose columns of text are read by their spelling; typed ones stay.

    A number that a frame has in a column of dates that are numbers is such a date, as in a text.

    Parts of dates that are columns of their own stand behind the others.

    >>> import numpy as np
    >>> from suffice.columns.spellings.spelling import Spelling
    >>> from suffice.rows.tables import table_of_columns
    >>> cells = np.array(["$1,200", None], dtype=object)
    >>> table = table_of_columns([("category", cells)], ("price",), None)
    >>> read_spelled(table, {"price": Spelling("number", currency="$")}).matrix
    array([[1200.],
           [  nan]])
    """
    names = table.names
    if names is None:
        return with_date_parts(table, spellings)
    asked = [_is_asked(table, j, spellings.get(name)) for j, name in enumerate(names)]
    if not any(asked):
        return with_date_parts(table, spellings)
    columns: list[tuple[str, Any]] = []
    whole: list[Any] = []
    for j, (name, kind) in enumerate(zip(names, table.kinds, strict=True)):
        spelling = spellings.get(name)
        if spelling is None or not asked[j]:
            columns.append((kind, table.column(j)))
            whole.append(False if table.whole is None else table.whole[j])
        else:
            columns.append((spelling.kind, _cells(table.exact(j).tolist(), spelling, name)))
            whole.append(False)
    found = table_of_columns(columns, names, None)
    levels = None if found.cells is None else table.levels
    read = replace(found, levels=levels, whole=None if table.whole is None else tuple(whole))
    return with_date_parts(read, spellings)


def _is_asked(table: Table, column: int, spelling: Spelling | None) -> bool:
    """Whether the cells of a column stand for something else."""
    if spelling is None:
        return False
    if (table.kinds[column] == CATEGORY) != (spelling.kind == CATEGORY):
        return True
    return spelling.is_serial and table.bare is not None and table.bare[column]


def _cells(cells: list[object], spelling: Spelling, name: str) -> object:
    def refusal(row: int) -> NotANumber:
        return NotANumber.of_cell(
            row,
            name,
            f"{cells[row]!r:.60} does not match the notation of its column: {spelling.words}",
            value=cells[row],
            hint="write it like the others, or leave the cell empty if it is not known",
        )

    return read_cells(cells, spelling, refusal)
