"""Column sums of large blocks, dense or sparse, class by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.uneven_blocks import collect_class_sums
from suffice.engines.threads import collect_blocks
from suffice.errors import NotFinite
from suffice.families.linear_laws import indicators
from suffice.rows.sparse import SparseRows
from suffice.rows.sparse import MOST_COUNT, refuse_huge_stored, refuse_stored
from suffice.statistics import ByClass, Totals

if TYPE_CHECKING:
    from suffice.families.blocks import Block
    from suffice.rows import FloatArray, IntArray

MOST_SUM = 1e300
"""Sums above this are refused: their products with logarithms would leave the range."""


def class_totals(
    block: Block,
    codes: IntArray,
    size: int,
    weights: FloatArray | None,
    threshold: float | None = None,
    *,
    signed: bool = False,
) -> list[Totals]:
    """Return the totals of each class 0 … size - 1; cells count as 1 or 0 by a threshold.

    Cells of sparse rows that cannot be meant are found on the way, those of dense rows by the
    reader; where cells are `signed`, negative ones can.
    """
    if isinstance(block, SparseRows):
        totals, sums, smallest = collect_class_sums(block, codes, size, weights, threshold)
        refuse_stored(block, smallest, signed=signed)
        if not sums.max(initial=0.0) <= MOST_COUNT:
            refuse_huge_stored(block)
        _refuse_overflow(sums)
        return [Totals(float(totals[c]), sums[c]) for c in range(size)]
    rows: Any = block

    def part(rows_of: slice) -> ByClass[Totals]:
        cells = rows[rows_of]
        if threshold is not None:
            cells = indicators(cells, threshold)
        w = None if weights is None else weights[rows_of]
        return ByClass.of(Totals, cells, codes[rows_of], range(size), w)

    found = collect_blocks(part, *rows.shape)
    groups = [found.groups.get(c, Totals.empty(rows.shape[1])) for c in range(size)]
    for group in groups:
        _refuse_overflow(group.sums[np.newaxis])
    return groups


def _refuse_overflow(sums: FloatArray) -> None:
    wide = ~(sums <= MOST_SUM).all(axis=0)
    if wide.any():
        raise NotFinite(
            f"column {int(np.argmax(wide))}: counts and weights add up to more than a number holds",
            hint="divide the counts, or the weights, by a power of ten",
        )


def stacked(groups: list[Totals] | tuple[Totals, ...]) -> tuple[FloatArray, FloatArray]:
    """Return the sums (k, d) and the weights of the cells seen, (k, d) or (k, 1) if all were."""
    sums = np.stack([group.sums for group in groups])
    if all(group.missing is None for group in groups):
        return sums, np.array([[group.weight] for group in groups])
    return sums, np.stack([group.counts for group in groups])
