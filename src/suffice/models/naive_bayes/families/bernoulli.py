"""Bernoulli columns: each is there or not, independently of the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from numbers import Real
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.errors import BadRows, BadSetting
from suffice.models.naive_bayes.column_blocks import extremes, read_numbers
from suffice.models.naive_bayes.families.left_out import presences_left_out
from suffice.models.naive_bayes.families.linear_laws import (
    LINEAR_FORM,
    LinearLaws,
    class_totals,
    offsets_flaw,
    present_rows,
    stacked,
    weighted_sums,
)
from suffice.models.naive_bayes.families.protocol import BaseFamily, Scores
from suffice.models.naive_bayes.smoothing import (
    best_smoothing,
    left_out_shares,
    log_shares,
)
from suffice.rows import refuse_infinite
from suffice.rows.cells import column_at, place_of
from suffice.statistics.algebra import exceeds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import Counts, EstimatedColumns, LevelEvidence
    from suffice.models.naive_bayes.column_blocks import Block
    from suffice.models.naive_bayes.pictures import LevelsLaw
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table
    from suffice.rows.sparse import SparseRows
    from suffice.statistics import Totals

MANY_COLUMNS = 2000
"""Columns from which draws are sparse. A choice."""


@dataclass(frozen=True, slots=True)
class Bernoulli(BaseFamily):
    """Yes or no: the multivariate Bernoulli event model.

    φ_cj = p(x_j = 1 | c) = (N_cj + α)/(n_cj + 2α).

    Parameters
    ----------
    threshold : float or None, default=None
        A cell is 1 above it and 0 at or below it; None: cells are 0 or 1, or true and false.

    See Also
    --------
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> warm = NaiveBayes(Bernoulli(threshold=20.0))
    >>> warm.fit([[12.0], [35.0], [28.0], [None]], ["a", "a", "b", "b"]).parameters_["x0"]
    {'a': {'probability': 0.5}, 'b': {'probability': 0.666...}}
    """

    threshold: float | None = None
    name: ClassVar[str] = "bernoulli"
    smooths: ClassVar[bool] = True
    form: ClassVar[Mapping[str, str]] = {"threshold": "?float"}
    becomes: ClassVar[str] = "BernoulliColumns"
    statistics: ClassVar[str] = "Totals"
    comes_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        number = isinstance(self.threshold, Real) and not isinstance(self.threshold, bool)
        if self.threshold is not None and not (number and np.isfinite(self.threshold)):
            raise BadSetting(
                f"threshold={self.threshold!r} is not a number to compare cells with",
                hint="cells above the threshold count as 1; 0 is usual for counts",
            )

    def read(
        self,
        table: Table,
        columns: Sequence[int],
        *,
        learning: bool = True,  # noqa: ARG002
    ) -> NDArray[np.floating]:
        """Return the block of these columns, or refuse a cell that is neither 0 nor 1."""
        rows = read_numbers(table, columns, self.name)
        low, high = extremes(rows)
        if not (low > -np.inf and high < np.inf) and np.isinf(rows).any():
            refuse_infinite(rows, [place_of(j, table.names) for j in columns])
        if self.threshold is None:
            bad = ~((rows == 0.0) | (rows == 1.0) | np.isnan(rows))
            if bad.any():
                row, place = divmod(int(bad.argmax()), rows.shape[1])
                value = float(rows[row, place])
                raise BadRows.of_cell(
                    row,
                    column_at(columns[place], table.names),
                    f"{value:g} is neither 1 nor 0",
                    value=value,
                    hint="Bernoulli(threshold=…) counts cells above the threshold as 1",
                )
        return rows

    def summarize(
        self, block: Block, codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[Totals]:
        """Return how many cells were 1, class by class."""
        return class_totals(block, codes, size, weights, self.threshold, signed=True)

    def check_sparse(self) -> None:
        """Refuse sparse rows where every cell that is not stored would be a 1."""
        if self.threshold is not None and self.threshold < 0.0:
            raise BadSetting(
                f"threshold={self.threshold:g} would make every cell that is not stored a 1",
                hint="sparse rows need a threshold of at least 0",
            )

    def estimate(
        self, groups: Sequence[Totals], alpha: float
    ) -> tuple[BernoulliColumns, tuple[Note, ...]]:
        """Return φ of all classes, smoothed."""
        ones, held = stacked(tuple(groups))
        # Sums of weights that are not whole numbers may miss their total by rounding.
        zeros = np.maximum(held - ones, 0.0)
        if alpha == 0.0:
            zeros = np.where(zeros <= 1e-12 * held, 0.0, zeros)
        one, zero = log_shares(ones, held, alpha, 2.0), log_shares(zeros, held, alpha, 2.0)
        orders: tuple[FloatArray | None, FloatArray | None] = (None, None)
        if one.orders is not None or zero.orders is not None:
            first = np.zeros_like(ones) if one.orders is None else one.orders
            second = np.zeros_like(ones) if zero.orders is None else zero.orders
            orders = first - second, second
        laws = BernoulliColumns(one.logs - zero.logs, zero.logs, *orders, self.threshold, held)
        return laws, ()

    def smoothing(self, folds: Sequence[Sequence[Totals]]) -> float:
        """Return the α of the largest leave-one-out likelihood."""
        ones, held = stacked([reduce(add, groups) for groups in zip(*folds, strict=True)])
        both = np.stack([ones, np.maximum(held - ones, 0.0)], axis=2).reshape(len(ones), -1)
        starts = np.arange(0, both.shape[1], 2)
        return best_smoothing(left_out_shares(both, starts, np.array(2.0)))

    def left_out(
        self,
        groups: Sequence[Totals],
        alpha: float,
        block: Block,
        codes: IntArray,
        weights: FloatArray,
    ) -> Scores:
        """Return the scores of rows that were in the fit, each as if it never had been."""
        laws, _ = self.estimate(groups, alpha)
        ones, held = stacked(tuple(groups))
        return presences_left_out(laws, ones, held, alpha, block, codes, weights)

    # What others ask

    def sums(self) -> Counts:
        """Return that sums suffice, of what is above the threshold."""
        from suffice.models.naive_bayes.asked_of_families import Counts

        if self.threshold is None:
            return Counts(whole=True, most=1.0)
        return Counts(threshold=self.threshold, least=None)

    def evidence(
        self,
        groups: Sequence[Totals],
        alpha: float,  # noqa: ARG002
        law: Any,
        block: Any,
    ) -> LevelEvidence:
        """Return how often a cell was 0 and 1."""
        from suffice.models.naive_bayes.asked_of_families import LevelEvidence

        ones, held = stacked(tuple(groups))
        tables = np.stack([np.maximum(held - ones, 0.0), ones], axis=2)
        cells = law.cells(block.toarray() if hasattr(block, "toarray") else block)
        places = np.where(np.isnan(cells), -1.0, cells > 0.0).astype(np.intp)
        return LevelEvidence([tables[:, j] for j in range(tables.shape[1])], places)

    def statistics_flaw(self, part: Totals) -> str:
        """Return whether there are more ones than cells, by more than rounding."""
        return "have more events than cells" if exceeds(part.sums, part.counts) else ""

    def estimates(self, names: Sequence[str], own: Sequence[Totals]) -> list[EstimatedColumns]:
        """Return the shares of ones."""
        from suffice.models.naive_bayes.asked_of_families import estimated_shares

        return estimated_shares(own, names)


@dataclass(frozen=True, eq=False)
class BernoulliColumns(LinearLaws):
    """log p(x | c) = Σ_j x_j logit φ_cj + log(1 - φ_cj)."""

    held: FloatArray | None = None
    """The weight of the cells that each φ was learned from."""
    form: ClassVar[Mapping[str, str]] = {**LINEAR_FORM, "held": "?weight k b"}
    allowed: ClassVar[str] = "truths"
    signed: ClassVar[bool] = True

    @cached_property
    def probabilities(self) -> FloatArray:
        """φ (k, d): the probability of a 1."""
        if self.order_slopes is None:
            found: FloatArray = 1.0 / (1.0 + np.exp(-self.slopes))
            return found
        assert self.offsets is not None
        assert self.order_offsets is not None
        one = np.exp(self.slopes + self.offsets)
        return np.where(self.order_slopes + self.order_offsets > 0.0, 0.0, one)

    def flaw(self, sizes: dict[str, int]) -> str:
        """Return what is wrong with the probabilities."""
        return offsets_flaw(self, sizes)

    def picture(self, column: int, name: str) -> LevelsLaw:  # noqa: ARG002
        """Return the shares of zeros and ones."""
        from suffice.models.naive_bayes.pictures import LevelsLaw

        ones = self.probabilities[:, column]
        return LevelsLaw(["0", "1"], np.array([1.0 - ones, ones]), [0, 1])

    def carrier(self, block: Block) -> FloatArray:
        """Return nothing: presence has no carrier."""
        return np.zeros(len(block))

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray | SparseRows:
        """Return one draw of zeros and ones for each code; sparse, where columns are many.

        Above a threshold of 0 or more, a 1 stands for the least whole number above it.
        """
        found = present_rows(self.probabilities, codes, rng)
        if self.width > MANY_COLUMNS and (self.threshold is None or self.threshold == 0.0):
            return found
        one, zero = _representatives(self.threshold)
        return np.where(found.toarray() > 0.0, one, zero)

    def estimation_variance(self, block: Block, omegas: FloatArray) -> float:
        """Return Σ_cj [Σ_i ω_ci(x_ij - φ_cj)]²/(φ_cj(1 - φ_cj) n_cj)."""
        assert self.held is not None
        ones, seen = weighted_sums(self, block, omegas)
        phi = self.probabilities
        scores = ones - seen * phi
        spread = phi * (1.0 - phi) * self.held
        safe = spread > 0.0
        return float(np.sum(np.square(scores[safe]) / spread[safe]))

    def described(self, column: int, code: int) -> dict[object, float]:
        """Return the probability of a 1."""
        return {"probability": float(self.probabilities[code, column])}


def _representatives(threshold: float | None) -> tuple[float, float]:
    """Return a number above the threshold and one that is not, 1 and 0 where that is so."""
    if threshold is None or 0.0 <= threshold < 1.0:
        return 1.0, 0.0
    return float(np.floor(threshold) + 1.0), float(min(threshold, 0.0))
