"""Columns of levels with one row added and each of the others taken out: tables, looked up.

Levels, bins and zeros and ones are tallies: the added row changes one cell of each column of its
class, and a row taken out one of its own class, which every row of that level shares. So tables of
levels are made anew, and not scores of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.binned import Binned, bins_of
from suffice.models.naive_bayes.families.categorical import Categorical, tables_of
from suffice.models.naive_bayes.families.left_out import less
from suffice.models.naive_bayes.families.linear_laws import stacked
from suffice.models.naive_bayes.families.tally_laws import TallyTable
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.conformal.added_groups import Asked
    from suffice.rows import FloatArray, IntArray

CELLS = 4_000_000
"""Cells of sparse rows that are laid out (32 MB): with more, unions are made anew. A choice."""


def places_of(block: FloatArray, laws: Any) -> IntArray | None:
    """Return the cells of a block as zeros and ones, -1 where one is blank; None if too many."""
    if isinstance(block, SparseRows):
        if len(block) * block.width > CELLS:
            return None
        block = block.toarray()
    cells = laws.cells(block)
    blank = np.isnan(cells)
    return np.where(blank, -1, np.where(blank, 0.0, cells) > 0.0).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class AddedLevels:
    """Weights of levels by class (k, levels of all columns), and where rows stand in them (d, n).

    `choices` (d,) are the levels that compete in each column. A blank cell stands in a last place
    that says nothing.
    """

    counts: FloatArray
    totals: FloatArray
    alpha: float
    choices: FloatArray
    starts: IntArray
    sizes: IntArray
    places: IntArray
    own: tuple[NDArray[np.intp], ...]
    densities: FloatArray
    family: Any
    levels: Any

    @classmethod
    def of(
        cls, family: Any, groups: Sequence[Any], alpha: float, block: Any, codes: IntArray
    ) -> Self | None:
        """Return rows of tallied columns made ready; None where there is no smoothing."""
        if alpha <= 0.0:
            return None
        levels: Any = None
        places: IntArray | None
        if isinstance(family, Categorical):
            levels, tables = tables_of(groups)
            places = np.asarray(block.in_levels(levels), dtype=np.intp)
        elif isinstance(family, Binned):
            assert family.edges is not None
            _, tables = tables_of(family.laid_out(groups), opened=False)
            places = np.asarray(bins_of(block, family.edges), dtype=np.intp)
        else:
            assert isinstance(family, Bernoulli)
            ones, held = stacked(tuple(groups))
            held = np.broadcast_to(held, ones.shape)
            zeros = np.maximum(held - ones, 0.0)
            tables = [
                TallyTable(np.stack([zeros[:, j], ones[:, j]], axis=1), open=False)
                for j in range(ones.shape[1])
            ]
            levels, _ = family.estimate(groups, alpha)
            places = places_of(block, levels)
        if places is None:
            return None
        sizes = np.array([table.counts.shape[1] for table in tables], dtype=np.intp)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        counts = np.concatenate([table.counts for table in tables], axis=1)
        totals = np.stack([table.totals for table in tables], axis=1)
        choices = np.maximum([table.choices for table in tables], 1.0)
        size = len(counts)
        line = np.ascontiguousarray(np.where(places < 0, counts.shape[1], places + starts).T)
        own = tuple(np.flatnonzero(codes == c) for c in range(size))
        found = cls(
            counts, totals, alpha, choices, starts, sizes, line, own,
            np.empty((len(codes), size)), family, levels,
        )  # fmt: skip
        for c in range(size):
            found.densities[:, c] = found._under(c, counts[c], totals[c])
        return found

    def asked(self, block: Any) -> Asked:
        """Return places of asked rows (m, d), -1 for blanks, and which have a level never seen."""
        if isinstance(self.family, Categorical):
            places = np.asarray(block.in_levels(self.levels), dtype=np.intp)
        elif isinstance(self.family, Binned):
            assert self.family.edges is not None
            places = np.asarray(bins_of(block, self.family.edges), dtype=np.intp)
        else:
            found = places_of(block, self.levels)
            assert found is not None
            places = found
        return places, np.asarray((places >= self.sizes).any(axis=1))

    def added(self, row: IntArray, c: int) -> tuple[FloatArray, bool]:
        """Return densities of rows (n, k) in the union with one asked row, and that it is safe."""
        seen = row >= 0
        counts, totals = self.counts[c].copy(), self.totals[c] + seen
        counts[(self.starts + row)[seen]] += 1.0
        found = self.densities.copy()
        found[:, c] = self._under(c, counts, totals)
        return found, True

    def _under(self, c: int, counts: FloatArray, totals: FloatArray) -> FloatArray:
        """Return log densities of rows (n,) under a class of these weights, without themselves."""
        found: FloatArray = self._table(counts, totals)[self.places].sum(axis=0)
        if len(self.own[c]):
            left = self._table(less(counts, 1.0), less(totals, 1.0))
            found[self.own[c]] = left[self.places[:, self.own[c]]].sum(axis=0)
        return found

    def _table(self, counts: FloatArray, totals: FloatArray) -> FloatArray:
        """Return log probabilities of all levels in one line, and 0 for a blank."""
        out = np.zeros(len(counts) + 1)
        out[:-1] = np.log(counts + self.alpha)
        out[:-1] -= np.repeat(np.log(totals + self.alpha * self.choices), self.sizes)
        return out
