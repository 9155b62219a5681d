"""Several chunks as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.rows.cells import NUMBER, object_array
from suffice.rows.tables import table_of_columns
from suffice.sources.source import Chunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows.tables import Table


def joined_chunks(chunks: Sequence[Chunk]) -> Chunk | None:
    """Return all rows of some chunks of one source; None where there are none."""
    if not chunks:
        return None
    first = chunks[0]
    if len(chunks) == 1:
        return first
    columns = [
        (kind, _column([chunk.table for chunk in chunks], j))
        for j, kind in enumerate(first.table.kinds)
    ]
    whole = [all(chunk.table.is_whole(j) for chunk in chunks) for j in range(first.table.width)]
    weights = None
    if first.weights is not None:
        weights = np.concatenate([chunk.weights for chunk in chunks])
    table = table_of_columns(columns, first.table.names, None, whole)
    labels = None if first.labels is None else _joined([chunk.labels for chunk in chunks])
    return Chunk(table, labels, weights, first.place.partition(", rows ")[0])


def _column(tables: Sequence[Table], column: int) -> NDArray[Any]:
    """Return the cells of all; whole numbers that are no doubles stay what they are."""
    parts = [table.exact(column) for table in tables]
    kinds = {part.dtype.kind for part in parts}
    if tables[0].kinds[column] != NUMBER or len(kinds) == 1:
        return np.concatenate(parts)
    if not all(table.is_whole(column) for table in tables):
        return np.concatenate([table.column(column) for table in tables])
    return object_array(
        None if cell is None or cell != cell else int(cell)  # noqa: PLR0124  NaN is blank
        for part in parts
        for cell in part.tolist()
    )


def _joined(labels: Sequence[Any]) -> Any:
    if isinstance(labels[0], np.ndarray):
        return np.concatenate(labels)
    import pyarrow as pa

    return pa.chunked_array(labels)
