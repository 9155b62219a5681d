"""Rows as they would be coded had some of them never been seen: what judging by folds asks for.

Means, ranks, bins and levels that rest on all rows know a little of the rows that are to be judged.
A fold's rows are therefore coded by the others. `Coding.of` would give the same from the cells,
a column at a time; here all columns of a fold are done at once, from rows that are coded already.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.models.pool.coding import BEYOND, FARTHEST, UNKNOWN, CodedRows, bin_count
from suffice.special_functions import normal_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray


class Recoded(NamedTuple):
    """Rows coded by some of them.

    rows   all rows; columns that are constant among those that count are gone
    kept   which columns are left, numbers before categories
    """

    rows: CodedRows
    kept: IntArray


class Recoding:
    """Coded rows, sorted column by column once, for any number of subsets.

    >>> from suffice.models.pool.coding import Coding
    >>> from suffice.rows import read_table
    >>> table = read_table(np.array([[1.0, "a"], [3.0, "b"], [9.0, "b"], [4.0, "c"]], dtype=object))
    >>> rows = Coding.of(table, np.ones(4)).code(table)
    >>> found = Recoding(rows).by(np.array([1.0, 1.0, 1.0, 0.0])).rows
    >>> found.values.ravel().round(2).tolist(), found.levels.ravel().tolist()
    ([-0.98, -0.39, 1.37, -0.1], [0, 1, 1, -1])
    """

    def __init__(self, rows: CodedRows) -> None:
        self.rows = rows

    @cached_property
    def _order(self) -> IntArray:
        """Rows (n, a) of each column by size; ranks tell apart what standardised values may not."""
        found: IntArray = np.argsort(self.rows.ranks, axis=0, kind="stable")  # blanks come last
        return found

    @cached_property
    def _sorted(self) -> tuple[FloatArray, FloatArray]:
        """Values and ranks (n, a), sorted within columns."""
        return (
            np.take_along_axis(self.rows.values, self._order, axis=0),
            np.take_along_axis(self.rows.ranks, self._order, axis=0),
        )

    @cached_property
    def _first(self) -> NDArray[np.bool_]:
        """Where a value (n, a) is not the one before it."""
        ranks = self._sorted[1]
        found = np.ones(ranks.shape, dtype=bool)
        found[1:] = ranks[1:] != ranks[:-1]
        return found

    def by(self, weights: FloatArray) -> Recoded:
        """Return all rows, coded by those of positive weight (n,)."""
        values, ranks, bins, bin_sizes, numbers = self._numbers(weights)
        levels, level_sizes, categories = self._categories(weights)
        rows = CodedRows(values, ranks, bins, levels, bin_sizes, level_sizes)
        return Recoded(rows, np.concatenate([numbers, self.rows.ranks.shape[1] + categories]))

    def _numbers(
        self, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, IntArray, IntArray, IntArray]:
        """Return values, normal scores, bins, how many of these, and columns that vary."""
        values, ranks = self._sorted
        size, width = ranks.shape
        if not width:
            none = np.zeros(0, dtype=np.intp)
            return values, ranks, np.zeros((size, 0), dtype=np.intp), none, none
        mass = np.where(np.isnan(ranks), 0.0, weights[self._order])
        upto = np.cumsum(mass, axis=0)
        total = upto[-1]
        below = np.maximum.accumulate(np.where(self._first, upto - mass, -np.inf), axis=0)
        last = np.ones_like(self._first)
        last[:-1] = self._first[1:]
        upto = _least_after(np.where(last, upto, np.inf))
        seen = upto > below  # a value that some row of positive weight has
        kept = np.flatnonzero((seen & self._first).sum(axis=0) > 1)
        values, ranks, mass = values[:, kept], ranks[:, kept], mass[:, kept]
        below, upto, seen, total = below[:, kept], upto[:, kept], seen[:, kept], total[kept]
        with np.errstate(invalid="ignore"):
            scores = normal_quantile(np.clip(0.5 * (below + upto) / total, 1e-12, 1.0 - 1e-12))
        scores = _between(values, ranks, scores, seen)
        bins, bin_sizes = _binned(ranks, upto / total, seen, bin_count(float(weights.sum())))
        there = np.where(np.isnan(values), 0.0, values)
        means = (mass * there).sum(axis=0) / total
        deviations = np.sqrt((mass * np.square(there - means)).sum(axis=0) / total)
        with np.errstate(over="ignore"):
            values = (values - means) / np.where(deviations > 0.0, deviations, 1.0)
        values = np.clip(values, -FARTHEST, FARTHEST)
        order = self._order[:, kept]
        return (
            _unsorted(values, order),
            _unsorted(scores, order),
            _unsorted(bins, order),
            bin_sizes,
            kept,
        )

    def _categories(self, weights: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return codes of levels, how many there are, and columns that vary."""
        levels, sizes = self.rows.levels, self.rows.level_sizes
        starts = np.cumsum(sizes) - sizes
        total = int(sizes.sum())
        known = levels != UNKNOWN
        places = np.where(known, levels + starts, total)
        seen = np.zeros(total + 1, dtype=bool)
        seen[places[weights > 0.0]] = True
        seen[total] = False
        before = np.concatenate([[0], np.cumsum(seen[:total])])
        ends = starts + sizes
        counts = before[ends] - before[starts]
        codes = np.where(seen[places], before[places] - before[starts], UNKNOWN)
        kept = np.flatnonzero(counts > 1)
        return codes[:, kept], counts[kept].astype(np.intp), kept


def _least_after(cells: NDArray[np.generic]) -> NDArray[Any]:
    """Return the least of each cell and those below it in its column."""
    found: NDArray[np.generic] = np.minimum.accumulate(cells[::-1], axis=0)[::-1]
    return found


def _unsorted(cells: NDArray[np.generic], order: IntArray) -> NDArray[Any]:
    """Return sorted cells (n, a) where their rows are."""
    found = np.empty_like(cells)
    np.put_along_axis(found, order, cells, axis=0)
    return found


def _between(
    values: FloatArray, ranks: FloatArray, scores: FloatArray, seen: NDArray[np.bool_]
) -> FloatArray:
    """Return normal scores of values that were not seen, from those of their neighbours."""
    size = len(values)
    place = np.broadcast_to(np.arange(size)[:, None], values.shape)
    before = np.maximum.accumulate(np.where(seen, place, -1), axis=0)
    after = _least_after(np.where(seen, place, size))
    low, high = np.maximum(before, 0), np.minimum(after, size - 1)

    def at(cells: FloatArray, index: IntArray) -> FloatArray:
        return np.take_along_axis(cells, index, axis=0)

    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gap = at(values, high) - at(values, low)
        share = np.where(
            gap > 0.0,
            (values - at(values, low)) / gap,
            (ranks - at(ranks, low)) / (at(ranks, high) - at(ranks, low)),
        )
        found = at(scores, low) + share * (at(scores, high) - at(scores, low))
        least, most = after[:1], before[-1:]
        slope = (at(scores, most) - at(scores, least)) / (at(values, most) - at(values, least))
        above = at(scores, most) + np.minimum(BEYOND, (values - at(values, most)) * slope)
        under = at(scores, least) - np.minimum(BEYOND, (at(values, least) - values) * slope)
    found = np.where(after == size, above, np.where(before == -1, under, found))
    found = np.where(seen, scores, found)
    return np.where(np.isnan(ranks), np.nan, found)


def _binned(
    ranks: FloatArray, shares: FloatArray, seen: NDArray[np.bool_], most: int
) -> tuple[IntArray, IntArray]:
    """Return quantile bins (n, a) of sorted columns, and how many each column has."""
    width = ranks.shape[1]
    columns = np.arange(width)
    size = len(ranks)
    largest = size - 1 - seen[::-1].argmax(axis=0)
    top = ranks[largest, columns]
    lower = seen & (ranks < top)
    second = size - 1 - lower[::-1].argmax(axis=0)
    bins = np.zeros(ranks.shape, dtype=np.intp)
    sizes = np.ones(width, dtype=np.intp)
    edge = np.full(width, -np.inf)
    for wanted in np.arange(1, most) / most:
        at = np.minimum((seen & (shares >= wanted - 1e-12)).argmax(axis=0), second)
        next_edge = ranks[at, columns]
        fresh = next_edge > edge
        bins += (ranks > next_edge) & fresh
        sizes += fresh
        edge = np.where(fresh, next_edge, edge)
    bins[np.isnan(ranks)] = UNKNOWN
    return bins, sizes
