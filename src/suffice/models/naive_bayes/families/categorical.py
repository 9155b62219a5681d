"""Categorical columns: any hashable level, and a share for the level that nobody has seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.engines.threads import collect_blocks
from suffice.errors import BadRows
from suffice.models.naive_bayes.families.protocol import BaseFamily, Outside, Scores
from suffice.models.naive_bayes.families.tally_laws import TallyLaws, TallyTable
from suffice.models.naive_bayes.smoothing import best_smoothing, left_out_shares
from suffice.rows.category_codes import CodedColumns, coded_columns, plain_level
from suffice.rows.cells import CATEGORY, object_array
from suffice.statistics import ByClass, Tallies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import EstimatedColumns, LevelEvidence, Levels
    from suffice.models.naive_bayes.pictures import LevelsLaw
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table


@dataclass(frozen=True, slots=True)
class Categorical(BaseFamily):
    """Categories: (N_cl + α)/(N_c + αK_j) over the levels that the data have shown.

    A level that no class has shown gets α/(N_c + α(K_j + 1)), for that cell alone.

    See Also
    --------
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = [["red"], ["red"], ["blue"], ["red"]]
    >>> NaiveBayes(Categorical()).fit(rows, ["a", "a", "b", "b"]).parameters_["x0"]
    {'a': {'blue': 0.25, 'red': 0.75...}, 'b': {'blue': 0.5, 'red': 0.5}}
    """

    name: ClassVar[str] = "categorical"
    smooths: ClassVar[bool] = True
    becomes: ClassVar[str] = "CategoricalColumns"
    statistics: ClassVar[str] = "Tallies"
    cells_are_levels: ClassVar[bool] = True

    def read(
        self,
        table: Table,
        columns: Sequence[int],
        *,
        learning: bool = True,  # noqa: ARG002
    ) -> CodedColumns:
        """Return the levels of these columns as codes; numbers have to be whole."""
        return coded_columns(table, columns)

    def summarize(
        self, block: CodedColumns, codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[Tallies]:
        """Return the weight of every level, class by class."""
        return class_tallies(block, codes, size, weights)

    def estimate(
        self, groups: Sequence[Tallies], alpha: float
    ) -> tuple[CategoricalColumns, tuple[Note, ...]]:
        """Return the tables of all classes, smoothed."""
        levels, tables = tables_of(groups)
        return CategoricalColumns.of(levels, tables, alpha), ()

    def smoothing(self, folds: Sequence[Sequence[Tallies]]) -> float:
        """Return the α of the largest held-out likelihood."""
        return best_tally_smoothing(folds)

    def left_out(
        self,
        groups: Sequence[Tallies],
        alpha: float,
        block: CodedColumns,
        codes: IntArray,
        weights: FloatArray,
    ) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been."""
        levels, tables = tables_of(groups)
        return tallies_left_out(tables, alpha, block.in_levels(levels), codes, weights)

    # What others ask

    def sums(self) -> Levels:
        """Return that tallies suffice."""
        from suffice.models.naive_bayes.asked_of_families import Levels

        return Levels()

    def outside(self, cells: NDArray[np.generic]) -> Outside | None:
        """Return fractions, which are levels that were never seen."""
        with np.errstate(invalid="ignore"):
            mask = np.isfinite(cells) & (cells != np.floor(cells))
        if not mask.any():
            return None
        values = (None if cell != cell else plain_level(cell) for cell in cells.tolist())  # noqa: PLR0124
        return Outside(mask, CATEGORY, object_array(values))

    def evidence(
        self,
        groups: Sequence[Tallies],
        alpha: float,  # noqa: ARG002
        law: object,  # noqa: ARG002
        block: CodedColumns,
    ) -> LevelEvidence:
        """Return how often every level was seen."""
        from suffice.models.naive_bayes.asked_of_families import LevelEvidence

        levels, found = tables_of(groups)
        return LevelEvidence([table.counts for table in found], block.in_levels(levels))

    def estimates(self, names: Sequence[str], own: Sequence[Tallies]) -> list[EstimatedColumns]:
        """Return the shares of levels."""
        from suffice.models.naive_bayes.asked_of_families import estimated_levels

        return estimated_levels(own, names)


@dataclass(frozen=True, eq=False)
class CategoricalColumns(TallyLaws):
    """log p(x | c) = Σ_j log p(x_j | c), looked up."""

    cells_are_levels: ClassVar[bool] = True

    def picture(self, column: int, name: str) -> LevelsLaw:
        """Return the shares of levels."""
        from suffice.models.naive_bayes.pictures import shares_of_levels

        return shares_of_levels([self.described(column, c) for c in range(self.size)], name)

    def scores(self, block: CodedColumns) -> Scores:
        """Return log p(x | c); missing cells are skipped."""
        return self.looked_up(block.in_levels(self.levels))

    def carrier(self, block: CodedColumns) -> FloatArray:
        """Return nothing: masses have no carrier."""
        return np.zeros(len(block))

    def column_scores(self, block: CodedColumns, column: int) -> Scores:
        """Return what one column adds to the scores."""
        one = CodedColumns(block.codes[:, [column]], (block.levels[column],))
        return self.of_column(one.in_levels((self.levels[column],))[:, 0], column)

    def sample(self, codes: IntArray, rng: np.random.Generator) -> CodedColumns:
        """Return one draw for each code."""
        return CodedColumns(self.draw(codes, rng), self.levels)

    def estimation_variance(self, block: CodedColumns, omegas: FloatArray) -> float:
        """Return what estimating the shares of the levels adds to the variance of Σω log p."""
        return self.variance(block.in_levels(self.levels), omegas)

    def described(self, column: int, code: int) -> dict[object, float]:
        """Return the probability of every level known."""
        shares = self.probabilities(column)[code]
        return {level: float(p) for level, p in zip(self.levels[column], shares, strict=True)}


def class_tallies(
    block: CodedColumns, codes: IntArray, size: int, weights: FloatArray | None
) -> list[Tallies]:
    """Return the tallies of each class 0 … size - 1."""

    def part(rows: slice) -> ByClass[Any]:
        w = None if weights is None else weights[rows]
        found = Tallies.of_classes(block[rows], codes[rows], size, w)
        return ByClass({c: tallies for c, tallies in enumerate(found) if tallies.weight > 0.0})

    merged = collect_blocks(part, len(block), block.codes.shape[1])
    empty = Tallies.empty(block.codes.shape[1])
    return [merged.groups.get(c, empty) for c in range(size)]


def tables_of(
    groups: Sequence[Tallies], *, opened: bool = True
) -> tuple[tuple[tuple[object, ...], ...], list[TallyTable]]:
    """Return the levels that all groups together have shown, and a table for each column."""
    everything = reduce(add, groups).trimmed() if opened else reduce(add, groups)
    levels = everything.levels
    kept = [group.trimmed() if opened else group for group in groups]
    held = np.stack([group.in_levels(levels) for group in kept])
    starts = everything.starts
    tables = [
        TallyTable(held[:, starts[j] : starts[j + 1]], opened) for j in range(everything.width)
    ]
    return levels, tables


def tallies_left_out(
    tables: Sequence[TallyTable],
    alpha: float,
    places: Any,
    codes: IntArray,
    weights: FloatArray,
) -> Scores:
    """Return the scores of rows that were tallied, each as if it never had been."""
    size = len(tables[0].counts) if tables else 1
    logs = np.zeros((len(codes), size))
    orders = np.zeros_like(logs)
    for j, table in enumerate(tables):
        if places[:, j].max(initial=-1) >= table.counts.shape[1]:
            raise BadRows(
                "these rows have categories that were never learned",
                hint="leave-one-out needs exactly the rows of the fit",
            )
        found = table.left_out(alpha, places[:, j], codes, weights)
        logs += found.logs
        if found.orders is not None:
            orders += found.orders
    return Scores(logs, orders if alpha == 0.0 else None)


def best_tally_smoothing(folds: Sequence[Sequence[Tallies]], *, opened: bool = True) -> float:
    """Return the α of the largest leave-one-out likelihood of tallies."""
    groups = [reduce(add, parts) for parts in zip(*folds, strict=True)]
    levels, tables = tables_of(groups, opened=opened)
    events = np.concatenate([table.counts for table in tables], axis=1)
    sizes = np.array([len(column) for column in levels])
    filled = sizes[sizes > 0]
    if not len(filled):
        return 1.0
    starts = np.concatenate([[0], np.cumsum(filled)[:-1]])
    choices = np.array([table.choices for table in tables])[sizes > 0]
    return best_smoothing(left_out_shares(events, starts, choices))
