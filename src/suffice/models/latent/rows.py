"""Rows that EM goes through: here, each content once and in the order of its hash, or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.threads import collect_blocks
from suffice.kernels.compilation import NO_WEIGHTS
from suffice.models.naive_bayes.column_blocks import Blocks
from suffice.rows.category_codes import CodedColumns
from suffice.rows.row_hashes import content_hashes, joined_hashes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suffice.models.latent.sums import LatentSums
    from suffice.models.naive_bayes.product import Product
    from suffice.rows import FloatArray, IntArray

CHUNK = 1 << 16
"""Rows that are gone through at a time where columns are not levels alone: p(class | row) of these
is a few megabytes. A choice."""


@dataclass(frozen=True, slots=True, eq=False)
class LatentRows:
    """Some rows as the E-step takes them.

    blocks   rows, cut by family
    places   (n, columns of levels) where each cell stands among `levels`, one after the other;
             0 is a blank
    levels   those of every column of levels, in the order of the groups
    weights  how often each counts; empty: once
    """

    blocks: Blocks
    places: NDArray[np.int32]
    levels: tuple[tuple[Any, ...], ...]
    weights: FloatArray

    @classmethod
    def of(cls, blocks: Blocks, weights: FloatArray | None) -> LatentRows:
        """Lay out the levels of all columns in one table."""
        parts = [part for part in blocks.parts if isinstance(part, CodedColumns)]
        levels = tuple(column for part in parts for column in part.levels)
        places = np.empty((len(blocks), len(levels)), dtype=np.int32)
        start, j = 1, 0
        for part in parts:
            for own, column in enumerate(part.levels):
                codes = part.codes[:, own]
                places[:, j] = np.where(codes < 0, 0, codes + start)
                start, j = start + len(column), j + 1
        return cls(blocks, places, levels, NO_WEIGHTS if weights is None else weights)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.blocks)

    def __getitem__(self, rows: slice) -> LatentRows:
        """Return neighbouring rows."""
        weights = self.weights[rows] if len(self.weights) else self.weights
        return replace(self, blocks=self.blocks[rows], places=self.places[rows], weights=weights)

    @property
    def weight(self) -> float:
        """The sum of weights."""
        return float(self.weights.sum()) if len(self.weights) else float(len(self))

    @property
    def others(self) -> bool:
        """Whether there are columns besides those of levels."""
        return any(not isinstance(part, CodedColumns) for part in self.blocks.parts)

    def first(self, size: int) -> LatentRows:
        """Return the first rows: of rows in the order of their hashes, a sample."""
        return self if len(self) <= size else self[:size]

    def collect(self, summarize: Callable[[LatentRows], LatentSums]) -> LatentSums:
        """Return the sum of what some rows after the others come to."""
        if not self.others:
            return collect_blocks(lambda rows: summarize(self[rows]), len(self), self.width)
        found = summarize(self[:CHUNK])
        for start in range(CHUNK, len(self), CHUNK):
            found = found + summarize(self[start : start + CHUNK])
        return found

    @property
    def width(self) -> int:
        """How many cells a row has, about."""
        return max(1, self.blocks.cells // max(1, len(self)))


def with_a_cell(blocks: Blocks) -> NDArray[np.bool_]:
    """Return which rows have any cell."""
    found = np.zeros(len(blocks), dtype=bool)
    for part in blocks.parts:
        if isinstance(part, CodedColumns):
            found |= (part.codes >= 0).any(axis=1)
        elif isinstance(part, np.ndarray):
            found |= ~np.isnan(part).all(axis=1)
        else:  # sparse: what is not stored is 0
            found[:] = True
    return found


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """Each content once, in the order of its hash, with its weight.

    rows     what EM goes through
    order    places among the rows that were given, those of equal content together
    starts   where in `order` each content begins
    """

    rows: LatentRows
    order: IntArray
    starts: IntArray
    weights: FloatArray | None

    @classmethod
    def of(cls, product: Product, blocks: Blocks, weights: FloatArray | None) -> DistinctRows:
        """Sort rows that have a cell; equal ones become one, with the sum of their weights."""
        kept = np.flatnonzero(with_a_cell(blocks))
        pairs = zip(blocks.parts, product.columns, strict=True)
        hashes = joined_hashes([content_hashes(part, group) for part, group in pairs])
        order = kept[np.argsort(hashes[kept], kind="stable")]
        sorted_blocks = blocks.take(order)
        new = _differs(sorted_blocks, hashes[order])
        starts = np.flatnonzero(new)
        own = None if weights is None else weights[order]
        if len(starts) < len(order):
            each = np.ones(len(order)) if own is None else own
            own = np.add.reduceat(each, starts)
            sorted_blocks = sorted_blocks.take(starts)
        return cls(
            LatentRows.of(_trimmed(sorted_blocks), own),
            order,
            starts,
            None if weights is None else weights[order],
        )

    def shares(self, given: FloatArray) -> FloatArray:
        """Return p(class | row) of distinct rows, from that of the rows that were given (n, k)."""
        sorted_shares = given[self.order]
        if len(self.starts) == len(self.order):
            return sorted_shares
        own = np.ones(len(self.order)) if self.weights is None else self.weights
        sums = np.add.reduceat(sorted_shares * own[:, np.newaxis], self.starts, axis=0)
        found: FloatArray = sums / np.add.reduceat(own, self.starts)[:, np.newaxis]
        return found


def _differs(blocks: Blocks, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which of sorted rows say something else than the row before."""
    new = np.ones(len(blocks), dtype=bool)
    if len(blocks) < 2:
        return new
    same = hashes[1:] == hashes[:-1]
    at = np.flatnonzero(same)
    for part in blocks.parts:
        if not len(at):
            break
        if isinstance(part, CodedColumns):
            equal = (part.codes[at + 1] == part.codes[at]).all(axis=1)
        elif isinstance(part, np.ndarray):
            one, other = part[at + 1], part[at]
            equal = ((one == other) | (np.isnan(one) & np.isnan(other))).all(axis=1)
        else:
            equal = np.zeros(len(at), dtype=bool)
        same[at[~equal]] = False
        at = np.flatnonzero(same)
    new[1:] = ~same
    return new


def _trimmed(blocks: Blocks) -> Blocks:
    """Return the same without levels that no row has."""
    parts: list[Any] = []
    for part in blocks.parts:
        if isinstance(part, CodedColumns):
            levels = tuple(
                tuple(column[int(i)] for i in np.unique(part.codes[:, j]) if i >= 0)
                for j, column in enumerate(part.levels)
            )
            parts.append(CodedColumns(part.in_levels(levels), levels))
        else:
            parts.append(part)
    return Blocks(tuple(parts))


def level_groups(blocks: Blocks) -> Sequence[bool]:
    """Return which groups are columns of levels."""
    return [isinstance(part, CodedColumns) for part in blocks.parts]
