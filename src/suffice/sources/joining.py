"""Several chunks as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.rows.tables import table_of_columns
from suffice.sources.source import Chunk

if TYPE_CHECKING:
    from collections.abc import Sequence


def joined_chunks(chunks: Sequence[Chunk]) -> Chunk | None:
    """Return all rows of some chunks of one source; None where there are none."""
    if not chunks:
        return None
    first = chunks[0]
    if len(chunks) == 1:
        return first
    columns = [
        (kind, np.concatenate([chunk.table.column(j) for chunk in chunks]))
        for j, kind in enumerate(first.table.kinds)
    ]
    weights = None
    if first.weights is not None:
        weights = np.concatenate([chunk.weights for chunk in chunks])
    table = table_of_columns(columns, first.table.names, None)
    labels = None if first.labels is None else _joined([chunk.labels for chunk in chunks])
    return Chunk(table, labels, weights, first.place.partition(", rows ")[0])


def _joined(labels: Sequence[Any]) -> Any:
    if isinstance(labels[0], np.ndarray):
        return np.concatenate(labels)
    import pyarrow as pa

    return pa.chunked_array(labels)
