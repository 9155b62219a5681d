"""Laws of columns with levels: a table of log probabilities, looked up cell by cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from suffice.models.naive_bayes.families.left_out import less, with_own
from suffice.models.naive_bayes.families.protocol import LINEAR_ONES, BaseLaws, Scores
from suffice.models.naive_bayes.smoothing import log_shares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import ScoredCell
    from suffice.rows import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False)
class TallyTable:
    """Weights (k, levels) of one column's levels, with one more choice for what was never seen.

    The smoothed probability of a level is (N_l + α)/(N + αK), K the levels that some class has
    shown; a level that none has gets α/(N + α(K + 1)), for that cell alone. Where `open` is
    False there is nothing beyond the levels: all count, shown or not.
    """

    counts: FloatArray
    open: bool = True

    @property
    def totals(self) -> FloatArray:
        """The weight of all cells of the column, by class."""
        found: FloatArray = self.counts.sum(axis=1)
        return found

    @property
    def choices(self) -> float:
        """K: how many levels compete."""
        return float((self.counts > 0.0).any(axis=0).sum() if self.open else self.counts.shape[1])

    def logs(self, alpha: float) -> tuple[FloatArray, FloatArray | None]:
        """Return log probabilities (levels + 2, k) and their orders.

        The last two rows are for a level never seen and for a cell that is missing.
        """
        totals = self.totals[:, np.newaxis]
        size = self.counts.shape[1]
        known = np.broadcast_to(self.choices, (1, size)).copy()
        if self.open:
            known[:, ~(self.counts > 0.0).any(axis=0)] += 1.0
        shown = log_shares(self.counts, totals, alpha, np.maximum(known, 1.0))
        never = log_shares(np.zeros_like(totals), totals, alpha, self.choices + 1.0)
        blank = np.zeros((len(totals), 1))
        logs = np.concatenate([shown.logs, never.logs, blank], axis=1).T
        if shown.orders is None and never.orders is None:
            return np.ascontiguousarray(logs), None
        first = np.zeros_like(shown.logs) if shown.orders is None else shown.orders
        second = np.zeros_like(blank) if never.orders is None else never.orders
        return np.ascontiguousarray(logs), np.concatenate([first, second, blank], axis=1).T

    def left_out(
        self, alpha: float, places: IntArray, codes: IntArray, weights: FloatArray
    ) -> Scores:
        """Return what the column adds to the scores of rows that were counted in it."""
        logs, orders = self.logs(alpha)
        found = Scores(logs[places], None if orders is None else orders[places])
        seen = places >= 0
        here, own = places[seen], codes[seen]
        w = weights[seen]
        # If the row was the only one to show its level, that level was never seen: K falls by
        # one, and the cell of a level never seen has K + 1 choices, which is K again.
        left = log_shares(less(self.counts[own, here], w), less(self.totals[own], w), alpha,
                          max(self.choices, 1.0))  # fmt: skip
        own_logs, own_orders = np.zeros(len(codes)), np.zeros(len(codes))
        own_logs[seen] = left.logs
        if left.orders is not None:
            own_orders[seen] = left.orders
        return with_own(found, codes, Scores(own_logs, own_orders if alpha == 0.0 else None))


TALLY_FORM = {
    "levels": "(labels *) d",
    "tables": "(log * k) d",
    "orders": "(?float * k) d",
    "totals": "weight k d",
}
"""What a model file may hold of laws that are tables of levels."""


@dataclass(frozen=True, eq=False)
class TallyLaws(BaseLaws):
    """Tables of all columns of a group, and the levels they speak of."""

    levels: tuple[tuple[Label, ...], ...]
    tables: tuple[FloatArray, ...]
    orders: tuple[FloatArray | None, ...]
    totals: FloatArray
    form: ClassVar[Mapping[str, str]] = TALLY_FORM
    is_light: ClassVar[bool] = True

    def flaw(self, sizes: dict[str, int]) -> str:  # noqa: ARG002
        """Return whether tables are of other levels."""
        for levels, table, order in zip(self.levels, self.tables, self.orders, strict=True):
            if len(table) != len(levels) + 2 or (order is not None and len(order) != len(table)):
                return "has a table of other levels"
        return ""

    def cell(self, column: int) -> ScoredCell:
        """Return the table of one column."""
        from suffice.models.naive_bayes.asked_of_families import LevelsCell

        return LevelsCell(self.levels[column], self.tables[column], self.orders[column])

    @classmethod
    def of(
        cls, levels: Sequence[Sequence[Label]], tallies: Sequence[TallyTable], alpha: float
    ) -> Self:
        """Smooth the tables of every column."""
        found = [tally.logs(alpha) for tally in tallies]
        return cls(
            tuple(tuple(column) for column in levels),
            tuple(logs for logs, _ in found),
            tuple(orders for _, orders in found),
            np.stack([tally.totals for tally in tallies], axis=1),
        )

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.totals)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.levels)

    def looked_up(self, places: NDArray[np.integer]) -> Scores:
        """Return the scores of rows given as places in the tables, -1 where a cell is missing."""
        logs = np.zeros((len(places), self.size))
        orders = np.zeros_like(logs) if any(o is not None for o in self.orders) else None
        part = np.empty_like(logs)
        for j, (table, order) in enumerate(zip(self.tables, self.orders, strict=True)):
            logs += table.take(places[:, j], axis=0, out=part, mode="wrap")  # -1 is the last
            if order is not None:
                assert orders is not None
                orders += order[places[:, j]]
        return Scores(logs, orders)

    def of_column(self, places: NDArray[np.integer], column: int) -> Scores:
        """Return what one column adds to the scores."""
        order = self.orders[column]
        return Scores(self.tables[column][places], None if order is None else order[places])

    def probabilities(self, column: int) -> FloatArray:
        """Return the probabilities (k, levels) of one column, those of levels known."""
        order = self.orders[column]
        found: FloatArray = np.exp(self.tables[column][:-2].T)
        return found if order is None else np.where(order[:-2].T > 0.0, 0.0, found)

    def draw(self, codes: IntArray, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return one draw for each code, as places in the levels; -1 where there are none."""
        out = np.full((len(codes), self.width), -1, dtype=np.int32)
        for j in range(self.width):
            p = self.probabilities(j)
            if p.shape[1] == 0:
                continue
            # Levels known share what is theirs: nobody can draw what was never seen.
            edges = np.cumsum(p / p.sum(axis=1, keepdims=True), axis=1)
            u = rng.random(len(codes))
            found = (u[:, np.newaxis] >= edges[codes]).sum(axis=1)
            out[:, j] = np.minimum(found, p.shape[1] - 1)
        return out

    def why_not_linear(self) -> tuple[str, str]:
        """Return that levels are not numbers."""
        kind = "categorical" if self.cells_are_levels else "binned"
        return f" in numbers: {kind} columns have a table of levels", LINEAR_ONES

    def linear(self) -> None:
        """Return None: a level is not a number."""
        return

    def variance(self, places: NDArray[np.integer], omegas: FloatArray) -> float:
        """Return Σ_cj [Σ_l s_l²/p_l - (Σ_l s_l)²]/N_cj, s_l = Σ_i ω_ci over cells of level l."""
        total = 0.0
        for j in range(self.width):
            shares = self.probabilities(j)
            here = places[:, j]
            known = (here >= 0) & (here < shares.shape[1])
            for c, (p, omega) in enumerate(zip(shares, omegas, strict=True)):
                scores = np.bincount(here[known], omega[known], minlength=len(p))
                safe = p > 0.0
                spread = np.sum(np.square(scores[safe]) / p[safe]) - np.square(scores.sum())
                total += max(float(spread), 0.0) / max(float(self.totals[c, j]), 1.0)
        return total
