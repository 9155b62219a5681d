"""Tables as the estimators take them: Arrow frames, columns with names and types."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.rows.cells import BOOLEAN, NUMBER
from suffice.rows.tables import Table, table_of_columns

if TYPE_CHECKING:
    from collections.abc import Sequence


def frame_of(table: Table) -> Any:
    """Return a table as an Arrow frame, or as an array if its columns have no names."""
    if table.names is None:
        if table.matrix is not None:
            return table.matrix
        rows = np.empty((table.size, table.width), dtype=object)
        for j in range(table.width):
            rows[:, j] = table.column(j)
        return rows
    pa: Any = import_module("pyarrow")
    types = {NUMBER: pa.float64(), BOOLEAN: pa.bool_()}
    columns = [
        pa.array(np.ascontiguousarray(table.column(j)), types.get(kind, pa.string()))
        for j, kind in enumerate(table.kinds)
    ]
    return pa.table(columns, names=list(table.names))


def joined(tables: Sequence[Table]) -> Table:
    """Return tables of the same columns as one."""
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    columns = [
        (kind, np.concatenate([table.column(j) for table in tables]))
        for j, kind in enumerate(first.kinds)
    ]
    return table_of_columns(columns, first.names, None)


def some_rows(table: Table, kept: Any) -> Table:
    """Return some rows of a table."""
    from dataclasses import replace

    return replace(
        table,
        matrix=None if table.matrix is None else table.matrix[kept],
        cells=None if table.cells is None else tuple(cells[kept] for cells in table.cells),
    )
