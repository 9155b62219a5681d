"""Rows on their way into a sample, and back into blocks."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.families.blocks import Blocks
from suffice.rows import sorted_levels
from suffice.rows.levels import BLANK, CodedColumns
from suffice.rows.sparse import SparseRows
from suffice.statistics.row_sample import END, MOST, RowSample, SampledRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.families.blocks import Block
    from suffice.families.product import Product
    from suffice.rows import FloatArray, IntArray, Label


def sampled(
    rows: Blocks,
    codes: IntArray,
    labels: Sequence[Label],
    weights: FloatArray | None,
    hashes: NDArray[np.uint64],
) -> RowSample:
    """Return the rows with the smallest hashes; rows that say the same are one."""
    kinds, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    totals = np.bincount(inverse, weights)
    limit = END if len(kinds) <= MOST else int(kinds[MOST])
    chosen = first[:MOST]
    cells = [_cells(part, chosen) for part in rows.parts]
    held = {
        int(kinds[i]): SampledRow(
            tuple(part[i] for part in cells), labels[codes[place]], float(totals[i])
        )
        for i, place in enumerate(chosen)
    }
    return RowSample(held, limit)


def _cells(part: Block, places: IntArray) -> list[tuple[Any, ...]]:
    """Return the cells of some rows as plain numbers and levels."""
    if isinstance(part, SparseRows):
        some = part.take(places)
        edges = some.indptr.tolist()
        columns, values = some.indices.tolist(), some.data.tolist()
        return [
            (tuple(columns[a:b]), tuple(float(v) for v in values[a:b])) for a, b in pairwise(edges)
        ]
    if isinstance(part, CodedColumns):
        return [
            tuple(
                None if c == BLANK else levels[c]
                for c, levels in zip(row, part.levels, strict=True)
            )
            for row in part.codes[places].tolist()
        ]
    return [tuple(row) for row in part[places].astype(np.float64).tolist()]


def blocks_of(
    rows: Sequence[SampledRow], product: Product, groups: Sequence[Sequence[Any]]
) -> Blocks:
    """Return sampled rows as the blocks they came from; sparse ones are sparse again."""
    parts: list[Any] = []
    for g, family in enumerate(product.families):
        cells = [row.cells[g] for row in rows]
        if family.name == "categorical":
            parts.append(_coded(cells))
        elif cells and len(cells[0]) == 2 and isinstance(cells[0][0], tuple):
            parts.append(_sparse(cells, groups[g][0].width))
        else:
            parts.append(np.array(cells, dtype=np.float64))
    return Blocks(tuple(parts))


def _coded(cells: Sequence[tuple[Any, ...]]) -> CodedColumns:
    codes = np.empty((len(cells), len(cells[0])), dtype=np.int32, order="F")
    levels = []
    for j in range(len(cells[0])):
        column = [row[j] for row in cells]
        known = [level for level in dict.fromkeys(column) if level is not None]
        known = [known[place] for place in sorted_levels(known)]
        at = {level: place for place, level in enumerate(known)} | {None: BLANK}
        codes[:, j] = [at[level] for level in column]
        levels.append(tuple(known))
    return CodedColumns(codes, tuple(levels))


def _sparse(cells: Sequence[tuple[Any, ...]], width: int) -> SparseRows:
    lengths = [len(columns) for columns, _ in cells]
    return SparseRows(
        np.array([v for _, values in cells for v in values], dtype=np.float64),
        np.array([j for columns, _ in cells for j in columns], dtype=np.int64),
        np.cumsum([0, *lengths], dtype=np.int64),
        width,
    )
