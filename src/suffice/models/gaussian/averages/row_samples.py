"""Coded rows on their way into a sample, and back into an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.rows import CATEGORY
from suffice.rows.row_hashes import content_hashes, joined_hashes, label_hashes, level_hash
from suffice.statistics.row_sample import END, MOST, RowSample, SampledRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.columns import Columns
    from suffice.rows import FloatArray, IntArray, Label


def sampled_rows(
    rows: FloatArray,
    columns: Columns,
    codes: IntArray,
    labels: Sequence[Label],
    weights: FloatArray | None,
) -> RowSample:
    """Return the rows with the smallest hashes; rows that say the same are one."""
    hashes = joined_hashes(
        [content_hashes(rows, _identities(columns)), label_hashes(labels)[codes]]
    )
    kinds, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    totals = np.bincount(inverse, weights)
    limit = END if len(kinds) <= MOST else int(kinds[MOST])
    chosen = first[:MOST]
    cells = rows[chosen].astype(np.float64) + 0.0  # -0.0 has the hash of 0.0, and becomes it
    held = {
        int(kinds[i]): SampledRow((tuple(cells[i].tolist()),), labels[codes[p]], float(totals[i]))
        for i, p in enumerate(chosen)
    }
    return RowSample(held, limit)


def _identities(columns: Columns) -> list[int]:
    """Return a number for every coded column that is the same however many levels are known.

    A column counts by its name, if it has one, and not by where it stands; a level by its own.
    """
    if not columns.named and columns.is_plain:
        return list(range(columns.width))
    found: list[int] = []
    for j, column in enumerate(columns.columns):
        name = j if column.name is None else column.name
        if column.kind == CATEGORY:
            found += [level_hash((name, level)) for level in column.levels]
        else:
            found.append(level_hash((name,)))
    return found


def array_of(sample: RowSample, labels: Sequence[Label]) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the rows (n, d) of a sample, the places of their labels, and their weights."""
    known = {label: c for c, label in enumerate(labels)}
    held = [sample.rows[h] for h in sorted(sample.rows)]
    rows = np.array([row.cells[0] for row in held], dtype=np.float64)
    codes = np.array([known[row.label] for row in held], dtype=np.intp)
    return rows, codes, np.array([row.weight for row in held])


def embedded_sample(sample: RowSample, places: IntArray, width: int) -> RowSample:
    """Return the same rows with more columns, which were all zero."""

    def wider(row: SampledRow) -> SampledRow:
        cells = np.zeros(width)
        cells[places] = row.cells[0]
        return row._replace(cells=(tuple(cells.tolist()),))

    return RowSample({h: wider(row) for h, row in sample.rows.items()}, sample.limit)
