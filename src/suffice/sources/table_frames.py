"""Tables as the estimators take them: Arrow frames, columns with names and types."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.rows.cells import BOOLEAN, NUMBER

if TYPE_CHECKING:
    from suffice.rows.tables import Table


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


def some_rows(table: Table, kept: Any) -> Table:
    """Return some rows of a table."""
    from dataclasses import replace

    return replace(
        table,
        matrix=None if table.matrix is None else table.matrix[kept],
        cells=None if table.cells is None else tuple(cells[kept] for cells in table.cells),
    )
