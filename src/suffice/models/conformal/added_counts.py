"""Counts with one row added and each of the others taken out: Poisson columns and words.

A Poisson rate stands on the mean of all classes, so that an added row moves every class; but rows
that counted the same in a column have the same rate without themselves, and there are few counts.
Of words, only the asked row's class changes, by its words and its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.models.naive_bayes.families.left_out import counted_cells, less
from suffice.models.naive_bayes.families.linear_laws import stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.conformal.added_groups import Asked
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class AddedCounts:
    """Poisson columns: sums and weights (k, d), and counts that occur, column by column.

    `values` are the counts in one line, `columns` whose they are, and `places` (d, n) where rows
    stand in them; a blank cell stands in a last place that says nothing.
    """

    sums: FloatArray
    held: FloatArray
    alpha: float
    values: FloatArray
    columns: IntArray
    places: IntArray
    own: tuple[NDArray[np.intp], ...]

    @classmethod
    def of(cls, groups: Sequence[Any], alpha: float, block: Any, codes: IntArray) -> Self | None:
        """Return rows of counts made ready; None where there is no smoothing."""
        if alpha <= 0.0:
            return None
        sums, held = stacked(tuple(groups))
        cells = np.asarray(block, dtype=np.float64)
        values, columns, places, start = [], [], np.empty(cells.shape, dtype=np.intp), 0
        for j, column in enumerate(cells.T):
            blank = np.isnan(column)
            some, at = np.unique(np.where(blank, 0.0, column), return_inverse=True)
            places[:, j] = np.where(blank, -1, at + start)
            values.append(some)
            columns.append(np.full(len(some), j, dtype=np.intp))
            start += len(some)
        places[places < 0] = start
        own = tuple(np.flatnonzero(codes == c) for c in range(len(sums)))
        line = np.ascontiguousarray(places.T)
        return cls(
            sums, np.broadcast_to(held, sums.shape), alpha,
            np.concatenate(values), np.concatenate(columns), line, own,
        )  # fmt: skip

    def asked(self, block: FloatArray) -> Asked:
        """Return the cells of asked rows (m, d), and that all are safe."""
        cells = np.asarray(block, dtype=np.float64)
        return cells, np.zeros(len(cells), dtype=bool)

    def added(self, row: FloatArray, c: int) -> tuple[FloatArray, bool]:
        """Return densities of rows (n, k) in the union with one asked row, and that it is safe."""
        seen = ~np.isnan(row)
        sums, held = self.sums.copy(), self.held.copy()
        sums[c] += np.where(seen, row, 0.0)
        held[c] += seen
        v, j = self.values, self.columns
        total, weight = less(sums.sum(axis=0)[j], v), less(held.sum(axis=0)[j], 1.0)
        mean = np.where(weight > 0.0, total / np.where(weight > 0.0, weight, 1.0), 0.0)
        found = np.empty((self.places.shape[1], len(sums)))
        for b in range(len(sums)):
            table = self._table(sums[b, j], held[b, j], mean)
            found[:, b] = table[self.places].sum(axis=0)
            own = self.own[b]
            if len(own):
                table = self._table(less(sums[b, j], v), less(held[b, j], 1.0), mean)
                found[own, b] = table[self.places[:, own]].sum(axis=0)
        return found, True

    def _table(self, sums: FloatArray, held: FloatArray, mean: FloatArray) -> FloatArray:
        """Return v log λ - λ of every count that occurs, and 0 for a blank."""
        out = np.zeros(len(sums) + 1)
        # A column in which nothing else was ever counted says nothing.
        silent = mean <= 0.0
        rates = np.where(silent, 1.0, (sums + self.alpha * mean) / (held + self.alpha))
        out[:-1] = np.where(silent, 0.0, self.values * np.log(rates) - rates)
        return out


@dataclass(frozen=True, slots=True, eq=False)
class AddedWords:
    """Words: counts (k, d), and those of rows that are not zero, row by row."""

    counts: FloatArray
    alpha: float
    rows: IntArray
    columns: IntArray
    values: FloatArray
    lengths: FloatArray
    own: tuple[NDArray[np.intp], ...]
    """Of each class, where the counts of its rows stand."""
    classes: IntArray
    densities: FloatArray
    laws: Any

    @classmethod
    def of(
        cls, family: Any, groups: Sequence[Any], alpha: float, block: Any, codes: IntArray
    ) -> Self | None:
        """Return rows of words made ready; None where there is no smoothing."""
        if alpha <= 0.0:
            return None
        laws, _ = family.estimate(groups, alpha)
        counts = np.stack([group.sums for group in groups])
        rows, columns, values = counted_cells(laws, block)
        lengths = np.bincount(rows, values, minlength=len(codes)).astype(np.float64)
        own = tuple(np.flatnonzero(codes[rows] == c) for c in range(len(counts)))
        found = cls(
            counts, alpha, rows, columns, values, lengths, own, codes,
            np.empty((len(codes), len(counts))), laws,
        )  # fmt: skip
        for c in range(len(counts)):
            found.densities[:, c] = found._under(c, counts[c])
        return found

    def asked(self, block: FloatArray) -> Asked:
        """Return the words of each asked row, and that all are safe."""
        rows, columns, values = counted_cells(self.laws, block)
        edges = np.searchsorted(rows, np.arange(len(block) + 1))
        each = [(columns[a:b], values[a:b]) for a, b in pairwise(edges.tolist())]
        return each, np.zeros(len(block), dtype=bool)

    def added(self, row: tuple[IntArray, FloatArray], c: int) -> tuple[FloatArray, bool]:
        """Return densities of rows (n, k) in the union with one asked row, and that it is safe."""
        counts = self.counts[c].copy()
        np.add.at(counts, row[0], row[1])
        found = self.densities.copy()
        found[:, c] = self._under(c, counts)
        return found, True

    def _under(self, c: int, counts: FloatArray) -> FloatArray:
        """Return log densities of rows (n,) under a class of these counts, without themselves."""
        many, total = self.alpha * len(counts), counts.sum()
        shares = np.log(counts + self.alpha) - np.log(total + many)
        n = len(self.lengths)
        said = self.values * shares[self.columns]
        found: FloatArray = np.bincount(self.rows, said, minlength=n).astype(np.float64)
        ours, at = self.classes == c, self.own[c]
        v = self.values[at]
        logs = np.log(less(counts[self.columns[at]], v) + self.alpha)
        own = np.bincount(self.rows[at], v * logs, minlength=n)[ours]
        rest = np.log(less(np.full(int(ours.sum()), total), self.lengths[ours]) + many)
        found[ours] = own - self.lengths[ours] * rest
        return found
