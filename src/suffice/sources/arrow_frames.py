"""Tables as the estimators take them: Arrow frames, columns with names and types."""

from __future__ import annotations

from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadRows
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    from suffice.rows.tables import Table

MUCH_TEXT, REPEATED = 1 << 27, 16
"""Characters of a column that are held in any case; how often texts may come, where they are more.
"""


def frame_of(table: Table) -> object:
    """Return a table as an Arrow frame, or as an array if its columns have no names."""
    if table.names is None:
        if table.matrix is not None:
            return table.matrix
        rows = np.empty((table.size, table.width), dtype=object)
        for j in range(table.width):
            rows[:, j] = table.column(j)
        return rows
    pa = import_module("pyarrow")
    types = {NUMBER: pa.float64(), BOOLEAN: pa.bool_()}
    for j, kind in enumerate(table.kinds):
        if kind == CATEGORY:
            _refuse_much_text(table.column(j), table.names[j])
    columns = [
        _whole(pa, table.exact(j))
        if kind == NUMBER and table.is_whole(j)
        else pa.array(np.ascontiguousarray(table.column(j)), types.get(kind, pa.string()))
        for j, kind in enumerate(table.kinds)
    ]
    return pa.table(columns, names=list(table.names))


def _whole(pa: ModuleType, cells: NDArray[np.generic]) -> object:
    """Return whole numbers as Arrow's integers; those of more than 64 bits as decimals."""
    if cells.dtype.kind == "f":
        return pa.array(cells, mask=np.isnan(cells)).cast(pa.int64())
    if cells.dtype != object:
        return pa.array(cells)
    try:
        return pa.array(cells, pa.int64())
    except (OverflowError, pa.ArrowException):
        return pa.array([None if c is None else Decimal(c) for c in cells], pa.decimal256(76, 0))


def _refuse_much_text(cells: NDArray[np.generic], name: str) -> None:
    """Refuse few long texts that come so often that they would fill the memory.

    A small file can mean them by a code for each row; a frame holds every one of them.
    """
    size = sum(map(len, filter(None, cells)))
    if size > MUCH_TEXT and size > REPEATED * sum(map(len, set(filter(None, cells)))):
        raise BadRows(
            f"{name}: the same long texts are repeated, {size:,} characters in all",
            hint="categories have short names: shorten them, or leave the column out",
        )


def some_rows(table: Table, kept: object) -> Table:
    """Return some rows of a table."""
    return table.rows(kept)
