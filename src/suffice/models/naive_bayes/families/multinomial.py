"""Multinomial counts: words drawn one after the other, given how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.errors import BadRows, BadSetting
from suffice.models.naive_bayes.column_blocks import extremes, read_numbers, refuse_large_cells
from suffice.models.naive_bayes.families.left_out import counted_cells, counts_left_out
from suffice.models.naive_bayes.families.linear_laws import (
    LINEAR_FORM,
    LinearLaws,
    class_totals,
    counted_rows,
    drawn_counts,
    stacked,
    weighted_sums,
)
from suffice.models.naive_bayes.families.protocol import BaseFamily, Scores
from suffice.models.naive_bayes.smoothing import (
    best_smoothing,
    held_out_shares,
    log_shares,
)
from suffice.rows.bad_cells import refuse_counts
from suffice.rows.cells import column_at
from suffice.rows.sparse import MOST_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import Counts, EstimatedColumns, WordEvidence
    from suffice.models.naive_bayes.column_blocks import Block
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray, Table
    from suffice.rows.sparse import SparseRows
    from suffice.statistics import Totals

SHORT = 8
"""Rows of more words than so many times the vocabulary are not drawn word by word. A choice."""


@dataclass(frozen=True, slots=True)
class Multinomial(BaseFamily):
    """Counts of words: the multinomial event model over a group of columns.

    θ_cj = (N_cj + α)/(N_c + αd). Counts may be any non-negative numbers, TF-IDF weights among
    them. The distribution is conditional on the length of the row, so missing counts are refused:
    the length would be unknown.

    Parameters
    ----------
    boolean : bool, default=False
        Whether a word counts once per row, however often it appears.

    See Also
    --------
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> words = NaiveBayes({(0, 1): Multinomial(boolean=True)})
    >>> words.fit([[3, 0], [1, 1], [0, 2]], ["spam", "spam", "ham"]).parameters_["x0"]
    {'ham': {'probability': 0.333...}, 'spam': {'probability': 0.600...}}
    """

    boolean: bool = False
    name: ClassVar[str] = "multinomial"
    smooths: ClassVar[bool] = True
    needs_folds: ClassVar[bool] = True
    form: ClassVar[Mapping[str, str]] = {"boolean": "truth"}
    becomes: ClassVar[str] = "MultinomialCounts"
    statistics: ClassVar[str] = "Totals"
    is_single: ClassVar[bool] = False
    comes_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if not isinstance(self.boolean, (bool, np.bool_)):
            raise BadSetting(
                f"boolean={self.boolean!r} is neither True nor False",
                hint="use True to count a word once per row",
            )

    def read(
        self,
        table: Table,
        columns: Sequence[int],
        *,
        learning: bool = True,  # noqa: ARG002
    ) -> NDArray[np.floating]:
        """Return the block of these columns, or refuse a cell that is not a count."""
        rows = read_numbers(table, columns, self.name)
        low, high = extremes(rows)
        if low >= 0.0 and high <= MOST_COUNT:
            return rows
        if not low >= 0.0:
            blank = np.isnan(rows)
            if blank.any():
                row, place = divmod(int(blank.argmax()), rows.shape[1])
                raise BadRows.of_cell(
                    row,
                    column_at(columns[place], table.names),
                    "the count is missing (NaN), so the length of the row is unknown",
                    hint="write 0 where nothing was counted, or use another family",
                )
        if not (low >= 0.0 and high < np.inf):
            names = None if table.names is None else [table.names[j] for j in columns]
            refuse_counts(rows, names)
        refuse_large_cells(rows, columns, table.names)
        return rows

    @property
    def threshold(self) -> float | None:
        """Above which a count is one, where only presence counts."""
        return 0.0 if self.boolean else None

    def summarize(
        self, block: Block, codes: IntArray, size: int, weights: FloatArray | None
    ) -> list[Totals]:
        """Return how often each word was counted, class by class."""
        return class_totals(block, codes, size, weights, self.threshold)

    def estimate(
        self, groups: Sequence[Totals], alpha: float
    ) -> tuple[MultinomialCounts, tuple[Note, ...]]:
        """Return θ of all classes, smoothed."""
        counts = np.stack([group.sums for group in groups])
        totals = counts.sum(axis=1, keepdims=True)
        shares = log_shares(counts, totals, alpha, float(counts.shape[1]))
        weights = np.array([group.weight for group in groups])
        return (
            MultinomialCounts(
                shares.logs, None, shares.orders, None, self.threshold, totals[:, 0], weights
            ),
            (),
        )

    def smoothing(self, folds: Sequence[Sequence[Totals]]) -> float:
        """Return the α of the largest held-out likelihood."""
        events = np.stack([stacked(tuple(groups))[0] for groups in folds])
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
        return counts_left_out(laws, counts, alpha, block, codes, weights)

    # What others ask

    def sums(self) -> Counts:
        """Return that sums suffice, of counts that are all there."""
        from suffice.models.naive_bayes.asked_of_families import Counts

        return Counts(threshold=self.threshold, most=MOST_COUNT, blank=False)

    def evidence(
        self, groups: Sequence[Totals], alpha: float, law: MultinomialCounts, block: Block
    ) -> WordEvidence:
        """Return counts of draws, which are compared with others."""
        from suffice.models.naive_bayes.asked_of_families import WordEvidence

        return WordEvidence(law, groups, alpha, block)

    def estimates(self, names: Sequence[str], own: Sequence[Totals]) -> list[EstimatedColumns]:
        """Return the shares of words."""
        from suffice.models.naive_bayes.asked_of_families import estimated_shares

        return estimated_shares(own, names, of_words=True)


@dataclass(frozen=True, eq=False)
class MultinomialCounts(LinearLaws):
    """log p(x | c, length) = log length! - Σ_j log x_j! + Σ_j x_j log θ_cj."""

    tokens: FloatArray | None = None
    """How many words each class was learned from, and from how many rows."""
    documents: FloatArray | None = None
    form: ClassVar[Mapping[str, str]] = {
        **LINEAR_FORM,
        "tokens": "?weight k",
        "documents": "?weight k",
    }
    by_column: ClassVar[bool] = False
    allowed: ClassVar[str] = "counts"
    may_be_blank: ClassVar[bool] = False

    def flaw(self, sizes: dict[str, int]) -> str:  # noqa: ARG002
        """Return what is wrong with the numbers of words and rows."""
        if (self.tokens is None) != (self.documents is None):
            return "has words without documents, or documents without words"
        if self.tokens is None or self.documents is None:
            return ""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            long = self.tokens / self.documents
        return "" if np.isfinite(long).all() else "has words without documents"

    @cached_property
    def probabilities(self) -> FloatArray:
        """θ (k, d): the probability that the next word is this one."""
        found: FloatArray = np.exp(self.slopes)
        return found if self.order_slopes is None else np.where(self.order_slopes > 0.0, 0.0, found)

    @property
    def mean_lengths(self) -> FloatArray:
        """The mean length of a row of each class."""
        assert self.tokens is not None
        assert self.documents is not None
        found: FloatArray = self.tokens / self.documents
        return found

    def carrier(self, block: Block) -> FloatArray:
        """Return the logarithm of the multinomial coefficient."""
        from scipy.special import gammaln

        place, _, value = counted_cells(self, block)
        lengths = np.bincount(place, value, minlength=len(block))
        repeats = np.bincount(place, gammaln(value + 1.0), minlength=len(block))
        found: FloatArray = gammaln(lengths + 1.0) - repeats
        return found

    def sample(
        self, codes: IntArray, rng: np.random.Generator, lengths: IntArray | None = None
    ) -> SparseRows:
        """Return one draw for each code; lengths are Poisson with the class's mean, or given.

        Where a word counts once, the length is the number of different words.
        """
        if lengths is None:
            lengths = drawn_counts(self.mean_lengths[codes], rng).astype(np.intp)
        rows, columns = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
        long: list[tuple[Any, FloatArray]] = []
        for c in np.unique(codes):
            here = np.flatnonzero(codes == c)
            p = self.probabilities[c] / self.probabilities[c].sum()
            if self.threshold is None:
                some = here[lengths[here] <= SHORT * self.width]
                edges = np.cumsum(p)
                drawn = rng.random(int(lengths[some].sum())) * edges[-1]
                words = np.searchsorted(edges, drawn, side="right")
                rows.append(np.repeat(some, lengths[some]))
                columns.append(np.minimum(words, self.width - 1))
                long += [(row, p) for row in here if lengths[row] > SHORT * self.width]
                continue
            for row in here:
                words = _distinct(p, int(lengths[row]), rng)
                rows.append(np.full(len(words), row))
                columns.append(words)
        counts = [np.ones(sum(map(len, rows)))]
        for row, p in long:
            found = rng.multinomial(lengths[row], p)
            words = np.flatnonzero(found)
            rows.append(np.full(len(words), row))
            columns.append(words)
            counts.append(found[words].astype(np.float64))
        cells = np.concatenate(rows), np.concatenate(columns)
        return counted_rows(*cells, len(codes), self.width, np.concatenate(counts))

    def estimation_variance(self, block: Block, omegas: FloatArray) -> float:
        """Return Σ_c [Σ_j s_cj²/θ_cj - (Σ_j s_cj)²]/N_c with s_cj = Σ_i ω_ci x_ij."""
        assert self.tokens is not None
        scores, _ = weighted_sums(self, block, omegas)
        total = 0.0
        for s, theta, tokens in zip(scores, self.probabilities, self.tokens, strict=True):
            safe = theta > 0.0
            spread = np.sum(np.square(s[safe]) / theta[safe]) - np.square(s.sum())
            total += float(max(spread, 0.0) / max(tokens, 1.0))
        return total

    def described(self, column: int, code: int) -> dict[object, float]:
        """Return the probability of the word."""
        return {"probability": float(self.probabilities[code, column])}


def _distinct(p: FloatArray, length: int, rng: np.random.Generator) -> IntArray:
    """Return as many different words as the length says, drawn without repetitions.

    The largest of log p + Gumbel noise are such a draw, in one step.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(p)
    many = min(length, int(np.isfinite(logs).sum()))
    if many == 0:
        return np.zeros(0, dtype=np.intp)
    noisy = logs + rng.gumbel(size=len(logs))
    return np.argpartition(-noisy, many - 1)[:many]


def checked_lengths(lengths: object, size: int) -> IntArray | None:
    """Return how long the drawn rows are to be, one length for each, or refuse them."""
    if lengths is None:
        return None
    found = np.asarray(lengths)
    if found.ndim == 0:
        found = np.full(size, found)
    whole = found.dtype.kind in "iu" or (
        found.dtype.kind == "f"
        and bool(np.all(np.isfinite(found) & (found == np.floor(found)) & (found < 2.0**53)))
    )
    if found.shape != (size,) or not whole or (found < 0).any():
        raise BadSetting(
            f"lengths={lengths!r:.60} are not {size} whole numbers of at least 0",
            hint="give one length for all rows to be drawn, or one for each",
        )
    return found.astype(np.intp)
