"""Complement counts (Rennie et al. 2003): how unlike all the other classes a row is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from suffice.errors import NotADensity
from suffice.models.naive_bayes.families.left_out import complements_left_out
from suffice.models.naive_bayes.families.linear_laws import LinearLaws, class_totals, stacked
from suffice.models.naive_bayes.families.multinomial import Multinomial
from suffice.models.naive_bayes.families.protocol import BaseFamily, Scores
from suffice.models.naive_bayes.smoothing import (
    best_smoothing,
    held_out_shares,
    log_shares,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import Counts, EstimatedColumns
    from suffice.models.naive_bayes.column_blocks import Block
    from suffice.models.naive_bayes.pictures import ColumnLaw
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table
    from suffice.statistics import Totals


@dataclass(frozen=True, slots=True)
class Complement(BaseFamily):
    """Counts of words, compared with those of all other classes.

    score_c = -Σ_j x_j log θ̃_cj with θ̃_cj = (Σ_{b≠c} N_bj + α)/(Σ_{b≠c} N_b + αd). This is a
    linear form and not a density: there is no p(x | c), and no prior in it.

    Parameters
    ----------
    boolean : bool, default=False
        Whether a word counts once per row.

    See Also
    --------
    suffice.ComplementNaiveBayes : The estimator of this family.

    Examples
    --------
    >>> from suffice import ComplementNaiveBayes  # the estimator of this family
    >>> model = ComplementNaiveBayes().fit([[3, 0], [1, 1], [0, 2]], ["spam", "spam", "ham"])
    >>> model.parameters_["x0"]  # -log (4 + 1)/(5 + 2) and -log (0 + 1)/(2 + 2)
    {'ham': {'weight': 0.336...}, 'spam': {'weight': 1.386...}}
    """

    boolean: bool = False
    name: ClassVar[str] = "complement"
    smooths: ClassVar[bool] = True
    needs_folds: ClassVar[bool] = True
    form: ClassVar[Mapping[str, str]] = {"boolean": "truth"}
    becomes: ClassVar[str] = "ComplementForm"
    statistics: ClassVar[str] = "Totals"
    is_density: ClassVar[bool] = False
    is_single: ClassVar[bool] = False
    comes_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        Multinomial(self.boolean)

    def read(
        self,
        table: Table,
        columns: Sequence[int],
        *,
        learning: bool = True,  # noqa: ARG002
    ) -> NDArray[np.floating]:
        """Return the block of these columns, or refuse a cell that is not a count."""
        return Multinomial().read(table, columns)

    def summarize(
        self, block: Block, codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[Totals]:
        """Return how often each word was counted, class by class."""
        return class_totals(block, codes, size, weights, 0.0 if self.boolean else None)

    def estimate(
        self, groups: Sequence[Totals], alpha: float
    ) -> tuple[ComplementForm, tuple[Note, ...]]:
        """Return the weights of all classes, smoothed."""
        counts = np.stack([group.sums for group in groups])
        # Summed without the class itself, and not subtracted from the total: nothing cancels.
        others = _others(counts)
        totals = others.sum(axis=1, keepdims=True)
        shares = log_shares(others, totals, alpha, float(counts.shape[1]))
        orders = None if shares.orders is None else -shares.orders
        threshold = 0.0 if self.boolean else None
        return ComplementForm(-shares.logs, None, orders, None, threshold), ()

    def smoothing(self, folds: Sequence[Sequence[Totals]]) -> float:
        """Return the α with which complements predict the words of other complements best."""
        parts = [_others(stacked(tuple(groups))[0]) for groups in folds]
        events = np.stack(parts)
        return best_smoothing(held_out_shares(events))

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
        counts = np.stack([group.sums for group in groups])
        return complements_left_out(laws, counts, alpha, block, codes, weights)

    # What others ask

    def sums(self) -> Counts:
        """Return that sums suffice, of counts that are all there."""
        return Multinomial(self.boolean).sums()

    def estimates(self, names: Sequence[str], own: Sequence[Totals]) -> list[EstimatedColumns]:
        """Return the shares of words."""
        return Multinomial(self.boolean).estimates(names, own)


@dataclass(frozen=True, eq=False)
class ComplementForm(LinearLaws):
    """Scores without a density."""

    is_density: ClassVar[bool] = False
    by_column: ClassVar[bool] = False
    allowed: ClassVar[str] = "counts"
    may_be_blank: ClassVar[bool] = False

    def picture(self, column: int, name: str) -> ColumnLaw:  # noqa: ARG002
        """Refuse: there is no density."""
        raise NotADensity.of("densities of columns")

    def carrier(self, block: Block) -> FloatArray:  # noqa: ARG002
        """Refuse: there is no density."""
        raise NotADensity.of("log density")

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """Refuse: there is nothing to draw from."""
        raise NotADensity.of("sample")

    def estimation_variance(self, block: Block, omegas: FloatArray) -> float:  # noqa: ARG002
        """Refuse: there is no density."""
        raise NotADensity.of("estimate of priors")

    def described(self, column: int, code: int) -> dict[object, float]:
        """Return the weight of the word."""
        return {"weight": float(self.log_parameters[code, column])}


def _others(counts: FloatArray) -> FloatArray:
    """Return, for each class, the counts of all the others, without subtracting."""
    if len(counts) == 1:
        return np.zeros_like(counts)
    before = np.cumsum(np.vstack([np.zeros_like(counts[:1]), counts[:-1]]), axis=0)
    after = np.cumsum(np.vstack([np.zeros_like(counts[:1]), counts[:0:-1]]), axis=0)[::-1]
    found: FloatArray = before + after
    return found
