"""Poisson columns: counts of events, each column with a rate of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.errors import BadRows
from suffice.models.naive_bayes.column_blocks import read_numbers, refuse_large_cells
from suffice.models.naive_bayes.families.left_out import less
from suffice.models.naive_bayes.families.linear_laws import (
    LINEAR_FORM,
    LinearLaws,
    class_totals,
    drawn_counts,
    offsets_flaw,
    stacked,
    weighted_sums,
)
from suffice.models.naive_bayes.families.protocol import BaseFamily, Outside, Scores
from suffice.models.naive_bayes.smoothing import best_smoothing
from suffice.models.notes import Note
from suffice.rows.category_codes import refuse_fractions
from suffice.rows.cells import NUMBER, place_of
from suffice.rows.sparse import MOST_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import (
        Counts,
        EstimatedColumns,
        SumEvidence,
    )
    from suffice.models.naive_bayes.pictures import CountsLaw
    from suffice.rows import FloatArray, IntArray, Table
    from suffice.statistics import Totals


@dataclass(frozen=True, slots=True)
class Poisson(BaseFamily):
    """Counts of events: λ_cj = (Σx + α·x̄_j)/(W_c + α), α pseudo-rows at the mean of all classes.

    See Also
    --------
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> calls = NaiveBayes(Poisson()).fit([[0], [2], [7], [5]], ["a", "a", "b", "b"])
    >>> calls.parameters_["x0"]  # (2 + 3.5)/(2 + 1) and (12 + 3.5)/(2 + 1)
    {'a': {'rate': 1.833...}, 'b': {'rate': 5.166...}}
    """

    name: ClassVar[str] = "poisson"
    smooths: ClassVar[bool] = True
    becomes: ClassVar[str] = "PoissonColumns"
    statistics: ClassVar[str] = "Totals"

    def read(
        self,
        table: Table,
        columns: Sequence[int],
        *,
        learning: bool = True,  # noqa: ARG002
    ) -> NDArray[np.floating]:
        """Return the block of these columns, or refuse a cell that is not a count."""
        rows = read_numbers(table, columns, self.name)
        for place, j in enumerate(columns):
            name = place_of(j, table.names)
            cells = rows[:, place]
            refuse_fractions(cells, name, "Poisson columns count; use gaussian for measurements")
            negative = cells < 0.0
            if negative.any():
                row = int(negative.argmax())
                raise BadRows.of_cell(
                    row,
                    name,
                    f"{cells[row]:g} is negative",
                    value=float(cells[row]),
                    hint="Poisson columns count events; use gaussian for what can be negative",
                )
        refuse_large_cells(rows, columns, table.names)
        return rows

    def summarize(
        self, block: NDArray[Any], codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[Totals]:
        """Return the sums of each class."""
        return class_totals(block, codes, size, weights)

    def estimate(
        self, groups: Sequence[Totals], alpha: float
    ) -> tuple[PoissonColumns, tuple[Note, ...]]:
        """Return the rates of all classes, smoothed."""
        sums, held = stacked(tuple(groups))
        pooled = _pooled(sums, held)
        logs, orders = _log_rates(sums, held, pooled, alpha)
        rates = np.exp(logs) if orders is None else np.where(orders > 0.0, 0.0, np.exp(logs))
        silent = np.broadcast_to(pooled <= 0.0, sums.shape[1:])
        rates = np.where(silent, 0.0, rates)
        logs = np.where(silent, 0.0, logs)
        if orders is not None:
            orders = np.where(silent, 0.0, orders)
        notes: tuple[Note, ...] = ()
        if silent.any():
            columns = tuple(int(j) for j in np.flatnonzero(silent))
            notes = (Note("counts that are always zero", "they are left out", columns),)
        return PoissonColumns(logs, -rates, orders, None, None, held), notes

    def smoothing(self, folds: Sequence[Sequence[Totals]]) -> float:
        """Return the α of the largest leave-one-out likelihood, as far as sums tell it.

        A row that is left out takes its own count with it: seen from an event, 1 + S/W events on
        average, if the column is Poisson (the event itself, and the others of its row).
        """
        sums, held = stacked([reduce(add, groups) for groups in zip(*folds, strict=True)])
        held = np.broadcast_to(held, sums.shape)
        pooled = np.broadcast_to(_pooled(sums, held), sums.shape)
        there = (held > 0.0) & (pooled > 0.0)
        s, w, mean = sums[there], held[there], pooled[there]
        left, rows = np.maximum(s - 1.0 - s / w, 0.0), np.maximum(w - 1.0, 0.0)

        def log_likelihood(alpha: float) -> float:
            logs = np.log(left + alpha * mean) - np.log(rows + alpha)
            rates = (np.maximum(s - s / w, 0.0) + alpha * mean) / (rows + alpha)
            return float(s @ logs - w @ rates)

        return best_smoothing(log_likelihood)

    def left_out(
        self,
        groups: Sequence[Totals],
        alpha: float,
        block: NDArray[np.generic],
        codes: IntArray,
        weights: FloatArray,
    ) -> Scores:
        """Return the scores of rows as if never seen: pseudo-rows change for every class."""
        sums, held = stacked(tuple(groups))
        held = np.broadcast_to(held, sums.shape)
        seen = ~np.isnan(block)
        x = np.where(seen, block, 0.0).astype(np.float64)
        gone, w = weights[:, np.newaxis] * x, weights[:, np.newaxis] * seen
        total, weight = less(sums.sum(axis=0), gone), less(held.sum(axis=0), w)
        pooled = np.where(weight > 0.0, total / np.where(weight > 0.0, weight, 1.0), 0.0)
        silent = total <= 0.0
        logs, orders = np.zeros((len(x), len(sums))), np.zeros((len(x), len(sums)))
        for c in range(len(sums)):
            own = (codes == c)[:, np.newaxis]
            rate, order = _log_rates(
                less(np.broadcast_to(sums[c], x.shape), np.where(own, gone, 0.0)),
                less(np.broadcast_to(held[c], x.shape), np.where(own, w, 0.0)),
                pooled,
                alpha,
            )
            there = seen & ~silent
            possible = np.exp(rate) if order is None else np.where(order > 0.0, 0.0, np.exp(rate))
            logs[:, c] = np.where(there, x * rate - possible, 0.0).sum(axis=1)
            if order is not None:
                orders[:, c] = np.where(there, x * order, 0.0).sum(axis=1)
        return Scores(logs, orders if alpha == 0.0 else None)

    # What others ask

    def sums(self) -> Counts:
        """Return that sums suffice, of whole numbers."""
        from suffice.models.naive_bayes.asked_of_families import Counts

        return Counts(whole=True, most=MOST_COUNT)

    def outside(self, cells: NDArray[np.generic]) -> Outside | None:
        """Return fractions and negative numbers, which are as blank as can be."""
        return counts_outside(cells)

    def evidence(
        self,
        groups: Sequence[Totals],
        alpha: float,  # noqa: ARG002
        law: object,  # noqa: ARG002
        block: object,
    ) -> SumEvidence:
        """Return sums: given those of class and row together, the row's part is binomial."""
        from suffice.models.naive_bayes.asked_of_families import SumEvidence

        sums, held = stacked(tuple(groups))
        return SumEvidence(sums, np.broadcast_to(held, sums.shape), np.asarray(block))

    def estimates(self, names: Sequence[str], own: Sequence[Totals]) -> list[EstimatedColumns]:
        """Return the rates."""
        from suffice.models.naive_bayes.asked_of_families import RATE, EstimatedColumns, ratio

        counts = np.array([part.counts for part in own])
        rates = ratio(np.array([part.sums for part in own]), counts)
        return [EstimatedColumns(list(names), RATE, rates, counts, rates)]


@dataclass(frozen=True, eq=False)
class PoissonColumns(LinearLaws):
    """log p(x | c) = Σ_j x_j log λ_cj - λ_cj - log x_j!."""

    held: FloatArray | None = None
    form: ClassVar[Mapping[str, str]] = {**LINEAR_FORM, "held": "?weight k b"}
    allowed: ClassVar[str] = "whole"

    def flaw(self, sizes: dict[str, int]) -> str:
        """Return what is wrong with the rates."""
        return offsets_flaw(self, sizes)

    def picture(self, column: int, name: str) -> CountsLaw:  # noqa: ARG002
        """Return the chance of every whole number."""
        from scipy.special import gammaln, xlogy

        from suffice.models.naive_bayes.pictures import counts_law

        rates = self.rates[:, column]
        return counts_law(
            rates, np.sqrt(rates), lambda at: xlogy(at, rates) - rates - gammaln(at + 1.0)
        )

    @cached_property
    def rates(self) -> FloatArray:
        """λ (k, d); zero where a column says nothing."""
        assert self.offsets is not None
        return -self.offsets

    def carrier(self, block: NDArray[np.generic]) -> FloatArray:
        """Return -Σ log x!."""
        from scipy.special import gammaln

        counted = self.rates.any(axis=0)
        cells = np.where(np.isnan(block) | ~counted, 0.0, block)
        found: FloatArray = -gammaln(cells + 1.0).sum(axis=1)
        return found

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code."""
        return drawn_counts(self.rates[codes], rng).astype(np.float64)

    def estimation_variance(self, block: NDArray[Any], omegas: FloatArray) -> float:
        """Return Σ_cj [Σ_i ω_ci(x_ij - λ_cj)]²/(λ_cj W_cj)."""
        assert self.held is not None
        sums, seen = weighted_sums(self, block, omegas)
        scores = sums - seen * self.rates
        spread = self.rates * self.held
        safe = spread > 0.0
        return float(np.sum(np.square(scores[safe]) / spread[safe]))

    def described(self, column: int, code: int) -> dict[object, float]:
        """Return the rate."""
        return {"rate": float(self.rates[code, column])}


def counts_outside(cells: NDArray[Any]) -> Outside | None:
    """Return what is not a count: no class explains it better than another, so it is a blank."""
    with np.errstate(invalid="ignore"):
        mask = np.isfinite(cells) & ((cells != np.floor(cells)) | (cells < 0.0))
    return Outside(mask, NUMBER, np.where(mask, np.nan, cells)) if mask.any() else None


def _pooled(sums: FloatArray, held: FloatArray) -> FloatArray:
    weight = np.broadcast_to(held, sums.shape).sum(axis=0)
    found: FloatArray = sums.sum(axis=0) / np.where(weight > 0.0, weight, 1.0)
    return found


def _log_rates(
    sums: FloatArray, held: FloatArray, pooled: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray | None]:
    """Return log λ and, for α = 0, to which power α appears in a rate that is its limit zero.

    A class without any cell of a column has the mean of the others; one that never counted has
    λ = α·x̄/W, which goes to zero with α.
    """
    with np.errstate(divide="ignore"):
        if alpha > 0.0:
            logs = np.log((sums + alpha * pooled) / (held + alpha))
            return np.where(np.isfinite(logs), logs, 0.0), None
        absent = np.broadcast_to(held <= 0.0, sums.shape)
        never = (sums <= 0.0) & ~absent
        weight = np.where(absent, 1.0, held)
        logs = np.log(np.where(absent | never, np.maximum(pooled, 1e-300), sums) / weight)
    return logs, never.astype(np.float64) if never.any() else None
