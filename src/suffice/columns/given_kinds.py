"""A table whose columns are of the kinds that a schema knows, whatever they were read as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns.column import numbers_of
from suffice.errors import NotANumber
from suffice.rows import BOOLEAN, NUMBER, refuse_infinite
from suffice.rows.tables import table_of_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows import Table


def of_kinds(columns: Any, table: Table) -> Table:
    """Return a table whose columns are of the kinds that the schema knows, or refuse a cell."""
    known = tuple(column.kind for column in columns.columns)
    if known == table.kinds:
        return table
    found = []
    for j, column in enumerate(columns.columns):
        kind, cells = table.kinds[j], table.column(j)
        if kind == column.kind:
            found.append((kind, cells))
        elif column.kind == NUMBER:
            found.append((NUMBER, numbers_of(column, kind, cells, columns.names[j])))
        else:
            found.append((column.kind, _levels_of(column, kind, cells, columns.names[j])))
    return table_of_columns(found, table.names, None)


def _levels_of(column: Any, kind: str, cells: NDArray[np.generic], name: str) -> Any:
    """Return the cells of a category or of truths; numbers are refused unless they are blank."""
    if column.kind == BOOLEAN:
        numbers = numbers_of(column, kind, cells, name)
        truths = [None if np.isnan(v) else bool(v) for v in numbers]
        return np.array(truths, dtype=object)
    if kind == NUMBER and not np.isnan(cells).all():
        row = int((~np.isnan(cells)).argmax())
        raise NotANumber.of_cell(
            row,
            name,
            f"{cells[row]:g} is a number: {name} holds categories",
            value=float(cells[row]),
            hint="pass the column with the same type as in training",
        )
    found = np.full(len(cells), None, dtype=object)
    if kind != NUMBER:
        found[:] = cells
    return found


def refuse_infinite_cells(table: Table, names: Sequence[str]) -> None:
    """Refuse an infinite cell, by the name of its column."""
    if table.matrix is not None:
        refuse_infinite(table.matrix, names)
        return
    numbers = [j for j, kind in enumerate(table.kinds) if kind == NUMBER]
    if numbers:
        cells = np.column_stack([table.column(j) for j in numbers])
        refuse_infinite(cells, [names[j] for j in numbers])
