"""Questions with two answers about a row: above an edge, blank, of a level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.models.pool.coding import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.pool.coding import CodedRows
    from suffice.rows import FloatArray, IntArray

    BoolArray = NDArray[np.bool_]

MOST_EDGES = 15
"""Edges of a column of numbers: with sixteen parts, few rows lie between an edge and the best."""
MOST_LEVELS = 40
"""Levels of one column that are asked about: those of most rows."""
FEWEST_OF_LEVEL = 2
"""Rows that a level has, to be asked about: what one row says is noise."""


def most_splits(rows: CodedRows) -> int:
    """Return a bound on the number of questions about rows like these."""
    levels = np.minimum(rows.level_sizes, MOST_LEVELS).sum()
    return int(rows.ranks.shape[1] * (MOST_EDGES + 1) + levels)


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Questions that training rows suggest.

    edges    of each number, on its normal scores; a blank is taken as the middle
    blanks   numbers that are asked whether they are blank
    levels   (q, 2) pairs of a category and a level
    column   which column each question is about, of numbers before categories

    >>> from suffice.models.pool.coding import Coding
    >>> from suffice.rows import read_table
    >>> cells = np.array([[1.0, "a"], [3.0, "b"], [9.0, "b"], [9.0, "a"]], dtype=object)
    >>> table = read_table(cells)
    >>> rows = Coding.of(table, np.ones(4)).code(table)
    >>> splits = Splits.of(rows, np.ones(4))
    >>> splits.answers(rows).astype(int).tolist()
    [[0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> splits.column.tolist()
    [0, 0, 1]
    """

    edges: tuple[FloatArray, ...]
    blanks: IntArray
    levels: IntArray
    column: IntArray

    @classmethod
    def of(cls, rows: CodedRows, weights: FloatArray) -> Self:
        """Look at rows of positive weight (n,)."""
        used = weights > 0.0
        ranks, levels = rows.ranks[used], rows.levels[used]
        edges = tuple(_edges(ranks[:, j]) for j in range(ranks.shape[1]))
        blanks = np.flatnonzero(np.isnan(ranks).any(axis=0))
        pairs = [
            (j, level)
            for j, size in enumerate(rows.level_sizes.tolist())
            for level in _levels(levels[:, j], size)
        ]
        asked = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        column = np.concatenate([
            np.repeat(np.arange(len(edges)), [len(found) for found in edges]),
            blanks,
            len(edges) + asked[:, 0],
        ])  # fmt: skip
        return cls(edges, blanks, asked, column.astype(np.intp))

    def answers(self, rows: CodedRows) -> BoolArray:
        """Return the answers (m, q) of rows."""
        there = np.where(np.isnan(rows.ranks), 0.0, rows.ranks)
        above = [there[:, j, None] > found for j, found in enumerate(self.edges)]
        parts = [
            *above,
            np.isnan(rows.ranks[:, self.blanks]),
            rows.levels[:, self.levels[:, 0]] == self.levels[:, 1],
        ]
        found: BoolArray = np.concatenate(parts, axis=1)
        return found


def _edges(cells: FloatArray) -> FloatArray:
    """Return edges in the middle between values, at quantiles where there are many."""
    there = np.sort(cells[~np.isnan(cells)])
    values = np.unique(there)
    if len(values) < 2:
        return np.zeros(0)
    after = np.arange(1, len(values))
    if len(values) > MOST_EDGES + 1:
        wanted = np.arange(1, MOST_EDGES + 1) * len(there) // (MOST_EDGES + 1)
        after = np.unique(np.searchsorted(values, there[wanted]))
        after = after[after > 0]
    found: FloatArray = 0.5 * (values[after] + values[after - 1])
    return found


def _levels(codes: IntArray, size: int) -> list[int]:
    """Return the levels of one category that are asked about."""
    tally = np.bincount(codes[codes != UNKNOWN], minlength=size)
    most = np.argsort(-tally, kind="stable")[:MOST_LEVELS]
    found: list[int] = most[tally[most] >= FEWEST_OF_LEVEL].tolist()
    return found[:1] if size == 2 else found  # of two, one says what the other says
