"""Binned columns: a continuous attribute cut at fixed edges, its density flat in between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from suffice.errors import BadSetting, NotFinite
from suffice.models.naive_bayes.column_blocks import read_numbers
from suffice.models.naive_bayes.families.categorical import (
    best_tally_smoothing,
    class_tallies,
    tables_of,
    tallies_left_out,
)
from suffice.models.naive_bayes.families.protocol import BaseFamily, Scores
from suffice.models.naive_bayes.families.tally_laws import TALLY_FORM, TallyLaws
from suffice.rows.category_codes import CodedColumns
from suffice.rows.cells import column_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import (
        BinsCell,
        EstimatedColumns,
        LevelEvidence,
        Levels,
    )
    from suffice.models.naive_bayes.pictures import Density
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table
    from suffice.statistics import Tallies

BINS = 10
"""Bins of a column, unless others are asked for. A choice, and the usual one: deciles."""


@dataclass(frozen=True, slots=True)
class Binned(BaseFamily):
    """Numbers cut into bins: p(x | c) is the mass of the bin / its width.

    What lies outside counts as in the outer bin. Statistics with other edges do not merge.

    Parameters
    ----------
    bins : int, default=BINS
        The most bins, where `edges` is None.
    edges : tuple of float or None, default=None
        Where bins begin and end; None takes quantiles of the first rows.

    See Also
    --------
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes(Binned(edges=(0, 10, 20)))
    >>> model.fit([[1.0], [12.0], [15.0], [19.0]], ["a", "a", "b", "b"]).parameters_["x0"]["b"]
    {(0.0, 10.0): 0.25, (10.0, 20.0): 0.75...}
    """

    bins: int = BINS
    edges: tuple[float, ...] | None = None
    name: ClassVar[str] = "binned"
    smooths: ClassVar[bool] = True
    form: ClassVar[Mapping[str, str]] = {"bins": "count", "edges": "?(float) n"}
    becomes: ClassVar[str] = "BinnedColumns"
    statistics: ClassVar[str] = "Tallies"

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        asked: object = self.bins
        whole = isinstance(asked, (int, np.integer)) and not isinstance(asked, bool)
        if not whole or self.bins < 1:
            raise BadSetting(
                f"bins={self.bins!r} is not a number of bins", hint="use at least 1; 10 is usual"
            )
        if self.edges is None:
            return
        given: object = self.edges
        edges: tuple[Any, ...] = tuple(given) if isinstance(given, Iterable) else ()
        if (
            len(edges) < 2
            or not all(isinstance(e, Real) and np.isfinite(float(e)) for e in edges)
            or any(a >= b for a, b in pairwise(edges))
        ):
            raise BadSetting(
                f"edges={self.edges!r:.80} are not valid edges of bins",
                hint="give at least two finite numbers, each larger than the one before",
            )
        object.__setattr__(self, "edges", tuple(float(e) for e in edges))

    def decided(self, table: Table, column: int, weights: FloatArray | None) -> Self:
        """Return the family with edges, at quantiles of the first rows where none are given."""
        return self.cut(self.read(table, [column])[:, 0], weights) if self.edges is None else self

    def cut(self, cells: NDArray[np.generic], weights: FloatArray | None) -> Self:
        """Return the family with edges at quantiles of the cells; a weight of 2 is two rows."""
        if self.edges is not None:
            return self
        return replace(self, edges=quantile_edges(cells, weights, self.bins))

    def read(
        self,
        table: Table,
        columns: Sequence[int],
        *,
        learning: bool = True,  # noqa: ARG002
    ) -> NDArray[np.floating]:
        """Return the block of these columns."""
        rows = read_numbers(table, columns, self.name)
        if np.isinf(rows).any():
            row, place = divmod(int(np.isinf(rows).argmax()), rows.shape[1])
            column = column_at(columns[place], table.names)
            raise NotFinite.of(row, column, float(rows[row, place]))
        return rows

    def coded(self, block: NDArray[np.generic]) -> CodedColumns:
        """Return the bins that cells fall into; every column of the block has the same edges."""
        assert self.edges is not None
        count = len(self.edges) - 1
        codes = bins_of(block, self.edges)
        return CodedColumns(codes, (tuple(range(count)),) * block.shape[1])

    def summarize(
        self, block: NDArray[np.generic], codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[Tallies]:
        """Return the weight of every bin, class by class."""
        return class_tallies(self.coded(block), codes, size, weights)

    def estimate(
        self, groups: Sequence[Tallies], alpha: float
    ) -> tuple[BinnedColumns, tuple[Note, ...]]:
        """Return the bins of all classes, smoothed."""
        assert self.edges is not None
        levels, tables = tables_of(self.laid_out(groups), opened=False)
        inner = TallyLaws.of(levels, tables, alpha)
        return BinnedColumns(inner.levels, inner.tables, inner.orders, inner.totals, self.edges), ()

    def laid_out(self, groups: Sequence[Tallies]) -> list[Tallies]:
        """Return tallies that name every bin, also those where nothing fell."""
        assert self.edges is not None
        every = (tuple(range(len(self.edges) - 1)),)
        return [
            type(group)(group.weight, every * group.width, group.in_levels(every * group.width))
            for group in groups
        ]

    def smoothing(self, folds: Sequence[Sequence[Tallies]]) -> float:
        """Return the α of the largest held-out likelihood."""
        return best_tally_smoothing([self.laid_out(groups) for groups in folds], opened=False)

    def left_out(
        self,
        groups: Sequence[Tallies],
        alpha: float,
        block: NDArray[np.generic],
        codes: IntArray,
        weights: FloatArray,
    ) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been."""
        assert self.edges is not None
        _, tables = tables_of(self.laid_out(groups), opened=False)
        return tallies_left_out(tables, alpha, bins_of(block, self.edges), codes, weights)

    # What others ask

    def sums(self) -> Levels:
        """Return that tallies of bins suffice."""
        from suffice.models.naive_bayes.asked_of_families import Levels

        return Levels(self.edges)

    def evidence(
        self,
        groups: Sequence[Tallies],
        alpha: float,  # noqa: ARG002
        law: object,  # noqa: ARG002
        block: NDArray[np.generic],
    ) -> LevelEvidence:
        """Return how often every bin was seen, and how wide it is."""
        from suffice.models.naive_bayes.asked_of_families import LevelEvidence

        assert self.edges is not None
        _, found = tables_of(self.laid_out(groups), opened=False)
        widths = np.log(np.diff(self.edges))
        return LevelEvidence([t.counts for t in found], bins_of(block, self.edges), widths)

    def statistics_flaw(self, part: Tallies) -> str:
        """Return whether there are bins that are none of the family's."""
        bins = range(len(self.edges) - 1) if self.edges else ()
        known = all(type(v) is int and v in bins for held in part.levels for v in held)
        return "" if known else "have bins that do not match the family"

    def law_flaw(self, law: BinnedColumns) -> str:
        """Return whether edges differ."""
        return "" if self.edges == law.edges else "has bins of other edges"

    def estimates(self, names: Sequence[str], own: Sequence[Tallies]) -> list[EstimatedColumns]:
        """Return the shares of bins."""
        from suffice.models.naive_bayes.asked_of_families import estimated_levels

        return estimated_levels(own, names, self.edges)


@dataclass(frozen=True, eq=False)
class BinnedColumns(TallyLaws):
    """log p(x | c) = Σ_j log mass - log width."""

    edges: tuple[float, ...] = ()
    form: ClassVar[Mapping[str, str]] = {**TALLY_FORM, "edges": "(float) n"}

    def flaw(self, sizes: dict[str, int]) -> str:
        """Return what is wrong with the edges, or with the tables."""
        bins = tuple(range(len(self.edges) - 1))
        if len(bins) < 1 or any(a >= b for a, b in pairwise(self.edges)):
            return "has edges that do not rise"
        if any(levels != bins for levels in self.levels):
            return "has other levels than bins"
        return TallyLaws.flaw(self, sizes)

    def cell(self, column: int) -> BinsCell:
        """Return the table of one column's bins."""
        from suffice.models.naive_bayes.asked_of_families import BinsCell

        return BinsCell(self.edges, self.tables[column], self.orders[column])

    def picture(self, column: int, name: str) -> Density:  # noqa: ARG002
        """Return the histogram."""
        from suffice.models.naive_bayes.pictures import steps

        return steps([self.described(column, c) for c in range(self.size)])

    def scores(self, block: NDArray[np.generic]) -> Scores:
        """Return log masses; widths are the same for all classes. Missing cells are skipped."""
        return self.looked_up(bins_of(block, self.edges))

    def carrier(self, block: NDArray[np.generic]) -> FloatArray:
        """Return minus the log widths of the bins."""
        widths = np.log(np.diff(self.edges))
        found: FloatArray = -np.append(widths, 0.0)[bins_of(block, self.edges)].sum(axis=1)
        return found

    def column_scores(self, block: NDArray[np.generic], column: int) -> Scores:
        """Return what one column adds to the scores."""
        return self.of_column(bins_of(block[:, column], self.edges), column)

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code, uniform within its bin."""
        places = self.draw(codes, rng)
        edges = np.array(self.edges)
        low, high = edges[places], edges[places + 1]
        found: FloatArray = low + (high - low) * rng.random(places.shape)
        return found

    def estimation_variance(self, block: NDArray[np.generic], omegas: FloatArray) -> float:
        """Return what estimating the masses adds to the variance of Σω log p."""
        return self.variance(bins_of(block, self.edges), omegas)

    def described(self, column: int, code: int) -> dict[object, float]:
        """Return the mass of every bin, by its edges."""
        shares = self.probabilities(column)[code]
        bins = zip(self.edges, self.edges[1:], shares, strict=False)
        return {(low, high): float(p) for low, high, p in bins}


def bins_of(cells: NDArray[np.generic], edges: tuple[float, ...]) -> NDArray[np.int32]:
    """Return the bin of every cell: [low, high), the last one with its end; -1 where missing."""
    inner = np.asarray(edges[1:-1])
    found = np.searchsorted(inner, cells, side="right").astype(np.int32)
    found[np.isnan(cells)] = -1
    return found


def quantile_edges(
    cells: NDArray[np.generic], weights: FloatArray | None, bins: int
) -> tuple[float, ...]:
    """Return edges between which about equally many cells lie, each once.

    Inverse of the weighted distribution function: repeating a row and doubling its weight give
    the same edges. A constant column gets one bin of width one about its value.
    """
    seen = np.isfinite(cells)
    values = cells[seen].astype(np.float64)
    if not len(values):
        return (0.0, 1.0)
    held = np.ones(len(values)) if weights is None else weights[seen]
    few = np.unique(values)
    if 1 < len(few) <= bins:
        # A bin for each value, cut midway, and as wide outside as next to the outer cut.
        middles = few[:-1] + (few[1:] / 2.0 - few[:-1] / 2.0)
        with np.errstate(over="ignore"):
            low = few[0] - (middles[0] - few[0])
            high = few[-1] + (few[-1] - middles[-1])
        most = np.finfo(np.float64).max
        return tuple(float(e) for e in np.unique(np.clip([low, *middles, high], -most, most)))
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.cumsum(held[order])
    targets = np.arange(1, bins) / bins * below[-1]
    places = np.minimum(np.searchsorted(below, targets * (1.0 - 1e-12)), len(values) - 1)
    edges = np.unique(np.concatenate([[values[0]], values[places], [values[-1]]]))
    if len(edges) == 1:
        reach = max(abs(float(edges[0])), 1.0) / 2.0
        return (float(edges[0]) - reach, float(edges[0]) + reach)
    return tuple(float(edge) for edge in edges)
