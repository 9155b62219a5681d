"""Rows on their way into a sample, and back into blocks."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.rows import sorted_levels
from suffice.rows.category_codes import BLANK, CodedColumns
from suffice.rows.sparse import SparseRows
from suffice.rows.text_cells import TextCells
from suffice.statistics.row_sample import END, MOST, RowSample, SampledRow

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.column_blocks import Block
    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.models.naive_bayes.product import Product
    from suffice.rows import FloatArray, IntArray, Label


def sampled(
    product: Product,
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
    pairs = zip(product.families, rows.parts, strict=True)
    cells = [_cells(part, chosen, counts=_counts(family)) for family, part in pairs]
    held = {
        int(kinds[i]): SampledRow(
            tuple(part[i] for part in cells), labels[codes[place]], float(totals[i])
        )
        for i, place in enumerate(chosen)
    }
    return RowSample(held, limit)


def _counts(family: ColumnFamily) -> bool:
    """Whether rows of a family may come dense or sparse: then they are kept as what is not 0."""
    return family.comes_sparse


def are_cells(
    cells: object, family: ColumnFamily, width: int, levels: Sequence[Collection[object]]
) -> bool:
    """Whether these can be the cells of a row in columns of a family, as `sampled` keeps them.

    `levels` are those that the class of the row has shown, column by column.
    """
    if type(cells) is not tuple:
        return False
    if _counts(family):
        return _are_counts(cells, width)
    if len(cells) != width:
        return False
    if family.cells_are_texts:
        return all(cell is None or type(cell) is str for cell in cells)
    if family.cells_are_levels:
        known = zip(cells, levels, strict=True)
        return all(cell is None or cell in shown for cell, shown in known)
    return set(map(type, cells)) <= {float}  # NaN is a blank


def _are_counts(cells: tuple[Any, ...], width: int) -> bool:
    """Whether cells are the places that are not zero, rising, and what is there."""
    if len(cells) != 2 or not all(type(part) is tuple for part in cells):
        return False
    at, values = cells
    rising = all(a < b for a, b in pairwise(at)) if all(type(j) is int for j in at) else False
    if not rising or (at and not 0 <= at[0] <= at[-1] < width) or len(values) != len(at):
        return False
    return all(type(v) is float and v != 0.0 for v in values)


def _cells(part: Block, places: IntArray, *, counts: bool) -> list[tuple[object, ...]]:
    """Return the cells of some rows as plain numbers and levels."""
    if isinstance(part, SparseRows):
        some = part.take(places)
        edges = some.indptr.tolist()
        columns, values = some.indices.tolist(), some.data.astype(np.float64).tolist()
        return [_stored(columns[a:b], values[a:b]) for a, b in pairwise(edges)]
    if isinstance(part, TextCells):
        return [tuple(row) for row in part.cells[places].tolist()]
    if isinstance(part, CodedColumns):
        return [
            tuple(
                None if c == BLANK else levels[c]
                for c, levels in zip(row, part.levels, strict=True)
            )
            for row in part.codes[places].tolist()
        ]
    rows = part[places].astype(np.float64) + 0.0  # -0.0 has the hash of 0.0, and becomes it
    if counts:
        return [_stored(np.flatnonzero(row).tolist(), row[row != 0.0].tolist()) for row in rows]
    return [tuple(row) for row in rows.tolist()]


def _stored(columns: list[int], values: list[float]) -> tuple[Any, ...]:
    pairs = sorted((j, v) for j, v in zip(columns, values, strict=True) if v != 0.0)
    return tuple(j for j, _ in pairs), tuple(v for _, v in pairs)


def blocks_of(
    rows: Sequence[SampledRow], product: Product, groups: Sequence[Sequence[Any]]
) -> Blocks:
    """Return sampled rows as blocks; counts come back sparse if that is possible."""
    parts: list[Any] = []
    for g, family in enumerate(product.families):
        cells = [row.cells[g] for row in rows]
        if _counts(family):
            found = _sparse(cells, groups[g][0].width)
            negative = (getattr(family, "threshold", None) or 0.0) < 0.0
            plain = bool(np.isfinite(found.data).all()) and not negative
            parts.append(found if plain else found.toarray())
        elif family.cells_are_texts:
            held = np.empty((len(cells), len(cells[0])), dtype=object)
            held[:] = cells
            parts.append(TextCells(held))
        elif family.cells_are_levels:
            parts.append(_coded(cells))
        else:
            parts.append(np.array(cells, dtype=np.float64))
    return Blocks(tuple(parts))


def _coded(cells: Sequence[tuple[object, ...]]) -> CodedColumns:
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
