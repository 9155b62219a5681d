"""How the columns of a table become numbers: values, normal scores, bins and levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.rows import NUMBER
from suffice.special_functions import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from suffice.rows import FloatArray, IntArray, Table

UNKNOWN = -1
"""The code of a cell that says nothing: a blank number, or a level that no training row has."""
BEYOND = 1.0
"""Standard deviations that a normal score may lie beyond the outermost training row: how far away
a value is beyond it, ranks cannot tell."""
FARTHEST = 1e60
"""Standard deviations that a value may lie from the mean; what lies farther is said to lie there.
Squares of such numbers are finite, also in units of the smallest variances of a class."""
ROWS_PER_BIN = 2.2
"""Bins of a column are √n/2.2: three at 50 rows and ten at 500, found by trial on 29 tables."""
FEWEST_BINS, MOST_BINS = 3, 10
"""A column has at least three bins, so that it may rise and fall, and at most ten."""


def bin_count(weight: float) -> int:
    """Return how many quantile bins rows of this weight allow.

    >>> bin_count(50.0), bin_count(5000.0)
    (3, 10)
    """
    return int(np.clip(round(np.sqrt(weight) / ROWS_PER_BIN), FEWEST_BINS, MOST_BINS))


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Rows as the members of a pool read them.

    values  (n, a) numbers, standardised by the training rows; NaN is a blank
    ranks   (n, a) their normal scores: Φ⁻¹ of the middle rank among the training rows
    bins    (n, a) their quantile bins; UNKNOWN for blanks
    levels  (n, b) codes of categories, blanks being a level; UNKNOWN for what was never seen
    bin_sizes, level_sizes  how many of them each column has
    """

    values: FloatArray
    ranks: FloatArray
    bins: IntArray
    levels: IntArray
    bin_sizes: IntArray
    level_sizes: IntArray

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.values)

    @property
    def width(self) -> int:
        """How many columns there are that say anything."""
        return int(self.values.shape[1]) + int(self.levels.shape[1])

    def take(self, kept: Any) -> Self:
        """Return some rows."""
        return type(self)(
            self.values[kept],
            self.ranks[kept],
            self.bins[kept],
            self.levels[kept],
            self.bin_sizes,
            self.level_sizes,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """What training rows say about their columns, labels aside.

    numbers, categories  positions of the columns that are not constant
    units                of numbers: powers of two near the largest, in which squares are finite
    means, deviations    of numbers, one a column, in these units
    knots                values that occur, in these units, and the normal score of each
    edges                upper ends of all bins but the last, in these units
    levels               codes of a category's levels; None is a blank

    >>> from suffice.rows import read_table
    >>> import numpy as np
    >>> table = read_table(np.array([[1.0, "a"], [3.0, "b"], [9.0, None]], dtype=object))
    >>> rows = Coding.of(table, np.ones(3)).code(table)
    >>> rows.ranks.round(2).tolist(), rows.levels.tolist()
    ([[-0.97], [0.0], [0.97]], [[0], [1], [2]])
    """

    numbers: tuple[int, ...]
    categories: tuple[int, ...]
    units: FloatArray
    means: FloatArray
    deviations: FloatArray
    knots: tuple[tuple[FloatArray, FloatArray], ...]
    edges: tuple[FloatArray, ...]
    levels: tuple[Mapping[Hashable, int], ...]

    @classmethod
    def of(cls, table: Table, weights: FloatArray) -> Self:
        """Look at training rows; constant columns and columns of blanks are left out."""
        most = bin_count(float(weights.sum()))
        numbers, categories, levels = [], [], []
        knots, edges, units, means, deviations = [], [], [], [], []
        for j, kind in enumerate(table.kinds):
            cells = table.column(j)
            if kind != NUMBER:
                known = _levels(cells)
                if len(known) > 1:
                    categories.append(j)
                    levels.append(known)
                continue
            there = ~np.isnan(cells)
            values, shares = _shares(cells[there].astype(np.float64), weights[there])
            if len(values) < 2:
                continue
            numbers.append(j)
            unit = float(np.ldexp(1.0, int(np.frexp(np.abs(values).max())[1]) - 1))
            values = values / unit
            mean = float(shares @ values)
            units.append(unit)
            means.append(mean)
            deviations.append(float(np.sqrt(shares @ np.square(values - mean))) or 1.0)
            middle = np.cumsum(shares) - 0.5 * shares
            knots.append((values, normal_quantile(np.clip(middle, 1e-12, 1.0 - 1e-12))))
            wanted = np.arange(1, most) / most
            at = np.searchsorted(np.cumsum(shares), wanted - 1e-12)
            edges.append(np.unique(values[np.minimum(at, len(values) - 2)]))
        return cls(
            tuple(numbers),
            tuple(categories),
            np.array(units),
            np.array(means),
            np.array(deviations),
            tuple(knots),
            tuple(edges),
            tuple(levels),
        )

    def code(self, table: Table) -> CodedRows:
        """Return rows as the members read them; (n, d) cells of the same columns as in training."""
        size = table.size
        values = np.empty((size, len(self.numbers)))
        ranks = np.empty_like(values)
        bins = np.empty(values.shape, dtype=np.intp)
        for place, j in enumerate(self.numbers):
            with np.errstate(over="ignore"):
                cells = np.asarray(table.column(j), dtype=np.float64) / self.units[place]
                away = (cells - self.means[place]) / self.deviations[place]
            blank = np.isnan(cells)
            values[:, place] = np.clip(away, -FARTHEST, FARTHEST)
            ranks[:, place] = _normal_scores(cells, *self.knots[place])
            bins[:, place] = np.where(blank, UNKNOWN, np.searchsorted(self.edges[place], cells))
        levels = np.empty((size, len(self.categories)), dtype=np.intp)
        for place, j in enumerate(self.categories):
            known = self.levels[place]
            levels[:, place] = [known.get(cell, UNKNOWN) for cell in _plain(table.column(j))]
        return CodedRows(
            values,
            ranks,
            bins,
            levels,
            np.array([len(ends) + 1 for ends in self.edges], dtype=np.intp),
            np.array([len(known) for known in self.levels], dtype=np.intp),
        )


def _plain(cells: Any) -> list[Any]:
    """Return the cells of a category: levels, and None for blanks."""
    return [None if cell is None or cell != cell else cell for cell in cells.tolist()]  # noqa: PLR0124  NaN


def _levels(cells: object) -> dict[Hashable, int]:
    """Return a code for each level; in the order of their texts, which does not depend on rows."""
    seen = sorted(set(_plain(cells)), key=lambda level: (level is None, str(level), repr(level)))
    return {level: code for code, level in enumerate(seen)}


def _shares(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the different values in order, and the share of the weight that each has."""
    different, inverse = np.unique(values, return_inverse=True)
    totals = np.bincount(inverse, weights, minlength=len(different)).astype(np.float64)
    total = totals.sum()
    return different, totals / total if total > 0.0 else totals


def _normal_scores(cells: FloatArray, values: FloatArray, scores: FloatArray) -> FloatArray:
    """Return scores between those of the neighbours; at most BEYOND the outermost; NaN blank."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.interp(cells, values, scores)
        near = np.searchsorted(values, cells).clip(0, len(values) - 1)
        found = np.where(np.isnan(found), scores[near], found)  # between neighbours 1e-308 apart
        slope = (scores[-1] - scores[0]) / (values[-1] - values[0])
        above = np.minimum(BEYOND, (cells - values[-1]) * slope)
        below = np.minimum(BEYOND, (values[0] - cells) * slope)
    found = np.where(cells > values[-1], scores[-1] + above, found)
    found = np.where(cells < values[0], scores[0] - below, found)
    return np.where(np.isnan(cells), np.nan, found)
