"""Laws whose log densities are linear in the cells: Bernoulli, Poisson and multinomial columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.engines.threads import collect_blocks
from suffice.engines.uneven_blocks import collect_class_sums
from suffice.errors import BadRows, NotFinite
from suffice.kernels.dense.scores import linear_scores
from suffice.kernels.sparse.sums import score_table, sparse_scores
from suffice.models.naive_bayes.families.protocol import BaseLaws, Scores
from suffice.places import ColumnAt, Phrase
from suffice.rows.sparse import MOST_COUNT, SparseRows, refuse_huge_stored, refuse_stored
from suffice.statistics import ByClass, Totals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.asked_of_families import LinearCell
    from suffice.models.naive_bayes.column_blocks import Block
    from suffice.rows import FloatArray, IntArray


LINEAR_FORM = {
    "slopes": "float k d",
    "offsets": "?float k d",
    "order_slopes": "?float k d",
    "order_offsets": "?float k d",
    "threshold": "?float",
}
"""What a model file may hold of laws whose scores are linear in the cells."""


@dataclass(frozen=True, eq=False)
class LinearLaws(BaseLaws):
    """Laws with log p(x | c) = Σ_j (x_j·slopes[c, j] + offsets[c, j]) + h(x) over seen cells.

    Parameters
    ----------
    slopes : ndarray of float
        The natural parameters (k, d).
    offsets : ndarray of float or None
        The offsets (k, d); None where they are zero.
    order_slopes : ndarray of float or None, default=None
        The same form for the number of impossible events; None where nothing is impossible.
    order_offsets : ndarray of float or None, default=None
        The offsets of `order_slopes`, or None.
    threshold : float or None, default=None
        Cells above it count as 1 and the others as 0; None takes cells as they are.

    See Also
    --------
    register_family : Takes such laws of a new family.
    """

    slopes: FloatArray
    offsets: FloatArray | None
    order_slopes: FloatArray | None = None
    order_offsets: FloatArray | None = None
    threshold: float | None = None
    form: ClassVar[Mapping[str, str]] = LINEAR_FORM
    is_light: ClassVar[bool] = True
    signed: ClassVar[bool] = False
    """Whether cells may be negative: only where a threshold is all they are compared with."""

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.slopes)

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.slopes.shape[1])

    def scores(self, block: Block) -> Scores:
        """Return log p(x | c) without the carrier; missing cells are skipped."""
        if isinstance(block, SparseRows):
            logs = self._sparse(block, self.table, self.offsets)
            if self.order_slopes is None:
                return Scores(logs, None)
            assert self._order_table is not None
            return Scores(logs, self._sparse(block, self._order_table, self.order_offsets))
        assert isinstance(block, np.ndarray)
        cells = self.cells(block)
        found = self._dense(cells, None)
        with np.errstate(all="ignore"):
            total = sum(float(part.sum()) for part in found if part is not None)
        blank = None if np.isfinite(total) else np.isnan(cells)
        if blank is not None and blank.any():
            found = self._dense(np.where(blank, 0.0, cells), blank)
        return Scores(*found)

    def _dense(
        self, cells: FloatArray, blank: NDArray[np.bool_] | None
    ) -> tuple[FloatArray, FloatArray | None]:
        """Return scores, and those of impossible events; blank cells are zero."""
        logs = _dense(cells, blank, self.slopes, self.offsets)
        if self.order_slopes is None:
            return logs, None
        return logs, _dense(cells, blank, self.order_slopes, self.order_offsets)

    @cached_property
    def table(self) -> FloatArray:
        """The slopes with one row for each column: the k numbers of a word lie side by side."""
        return score_table(self.slopes)

    @cached_property
    def _order_table(self) -> FloatArray | None:
        return None if self.order_slopes is None else score_table(self.order_slopes)

    def _sparse(
        self, rows: SparseRows, table: FloatArray, offsets: FloatArray | None
    ) -> FloatArray:
        out = np.empty((len(rows), self.size))
        constant = np.zeros(self.size) if offsets is None else offsets.sum(axis=1)
        smallest = sparse_scores(rows, table, constant, self.threshold, out)
        refuse_stored(rows, smallest, signed=self.signed)
        if not np.isfinite(out.sum()):
            refuse_huge_stored(rows)
        return out

    def cells(self, block: NDArray[np.generic]) -> FloatArray:
        """Return dense cells as they enter the sums."""
        if self.threshold is None:
            return block.astype(np.float64, copy=False)
        return indicators(block, self.threshold)

    def stored(self, rows: SparseRows) -> tuple[IntArray, IntArray, FloatArray]:
        """Return row, column and value of every stored cell that counts."""
        value = rows.cells.astype(np.float64)
        place, column = rows.row_numbers(), rows.places.astype(np.intp)
        if self.threshold is None:
            return place, column, value
        kept = value > self.threshold
        return place[kept], column[kept], np.ones(int(kept.sum()))

    def column_scores(self, block: Block, column: int) -> Scores:
        """Return what one column adds to the scores."""
        rows = block.toarray() if isinstance(block, SparseRows) else block
        assert isinstance(rows, np.ndarray)
        cells = self.cells(rows[:, column : column + 1])
        inner = LinearLaws(
            *(
                None if part is None else part[:, column : column + 1]
                for part in (self.slopes, self.offsets, self.order_slopes, self.order_offsets)
            )  # type: ignore[arg-type]
        )
        return inner.scores(cells)

    @property
    def log_parameters(self) -> FloatArray:
        """The log parameters (k, d): of a 1, of the next word, or of the complement's weight."""
        found = self.slopes if self.offsets is None else self.slopes + self.offsets
        if self.order_slopes is None:
            return found
        orders = self.order_slopes
        if self.order_offsets is not None:
            orders = orders + self.order_offsets
        return np.where(orders > 0.0, -np.inf, np.where(orders < 0.0, np.inf, found))

    allowed: ClassVar[str] = "any"
    """Cells that have an answer in a database: "any", "counts", "whole", "truths"."""
    may_be_blank: ClassVar[bool] = True

    def cell(self, column: int) -> LinearCell:
        """Return slope and offset of one column in every class."""
        from suffice.models.naive_bayes.asked_of_families import LinearCell  # SQL alone needs it

        def own(part: FloatArray | None) -> FloatArray | None:
            return None if part is None else part[:, column]

        return LinearCell(
            self.slopes[:, column],
            own(self.offsets),
            own(self.order_slopes),
            own(self.order_offsets),
            self.threshold,
            "any" if self.threshold is not None and self.signed else self.allowed,
            self.may_be_blank,
        )

    def why_not_linear(self) -> tuple[str, str]:
        """Return that something is impossible, and what makes it possible."""
        return (
            ": some events are impossible without smoothing",
            "smoothing=1 makes everything possible",
        )

    def linear(self) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return (weights (k, d), offsets (k,), origin (d,)); None if something is impossible."""
        if self.order_slopes is not None:
            return None
        offsets = np.zeros(self.size) if self.offsets is None else self.offsets.sum(axis=1)
        return self.slopes, offsets, np.zeros(self.width)


def weighted_sums(
    law: LinearLaws, block: Block, omegas: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return Σ_i ω_ci x_ij and Σ_i ω_ci over the cells that are there, both (k, d)."""
    if isinstance(block, SparseRows):
        place, column, value = law.stored(block)
        width = law.width
        sums = np.stack(
            [np.bincount(column, omega[place] * value, minlength=width) for omega in omegas]
        ).astype(np.float64)
        return sums, np.broadcast_to(omegas.sum(axis=1, keepdims=True), sums.shape)
    assert isinstance(block, np.ndarray)
    cells = law.cells(block)
    seen = ~np.isnan(cells)
    return omegas @ np.where(seen, cells, 0.0), omegas @ seen.astype(np.float64)


def indicators(cells: NDArray[Any], threshold: float) -> FloatArray:
    """Return 1 where a cell lies above the threshold, 0 where not, NaN where it is missing."""
    # As a double: float32 cells are compared as the numbers they are.
    found = (cells > np.float64(threshold)).astype(np.float64)
    blank = np.isnan(cells)
    if blank.any():
        found[blank] = np.nan
    return found


def _dense(
    cells: FloatArray,
    blank: NDArray[np.bool_] | None,
    slopes: FloatArray,
    offsets: FloatArray | None,
) -> FloatArray:
    """Return Σ_j (x_j·slope_j + offset_j) over the cells that are there (blanks are zero)."""
    size, width = slopes.shape
    out = np.empty((len(cells), size))
    constants = np.zeros(size) if offsets is None else offsets.sum(axis=1)
    linear_scores(cells, np.zeros(width), slopes, constants, out)
    if offsets is not None and blank is not None:
        out -= blank @ offsets.T
    return out


MOST_SUM = 1e300
"""Sums above this are refused: their products with logarithms would leave the range."""


def class_totals(
    block: Block,
    codes: IntArray,
    size: int,
    weights: FloatArray | None,
    threshold: float | None = None,
    *,
    signed: bool = False,
) -> list[Totals]:
    """Return the totals of each class 0 … size - 1; cells count as 1 or 0 by a threshold.

    Cells of sparse rows that cannot be meant are found on the way, those of dense rows by the
    reader; where cells are `signed`, negative ones can.
    """
    if isinstance(block, SparseRows):
        totals, sums, smallest = collect_class_sums(block, codes, size, weights, threshold)
        refuse_stored(block, smallest, signed=signed)
        if not sums.max(initial=0.0) <= MOST_COUNT:
            refuse_huge_stored(block)
        _refuse_overflow(sums)
        return [Totals(float(totals[c]), sums[c]) for c in range(size)]
    rows: Any = block

    def part(rows_of: slice) -> ByClass[Totals]:
        cells = rows[rows_of]
        if threshold is not None:
            cells = indicators(cells, threshold)
        w = None if weights is None else weights[rows_of]
        return ByClass.of(Totals, cells, codes[rows_of], range(size), w)

    found = collect_blocks(part, *rows.shape)
    groups = [found.groups.get(c, Totals.empty(rows.shape[1])) for c in range(size)]
    for group in groups:
        _refuse_overflow(group.sums[np.newaxis])
    return groups


def _refuse_overflow(sums: FloatArray) -> None:
    wide = ~(sums <= MOST_SUM).all(axis=0)
    if wide.any():
        said = "{column}: counts and weights add up to more than a double can hold"
        raise NotFinite(
            Phrase(said, column=ColumnAt(int(np.argmax(wide)))),
            hint="divide the counts, or the weights, by a power of ten",
        )


def stacked(groups: list[Totals] | tuple[Totals, ...]) -> tuple[FloatArray, FloatArray]:
    """Return the sums (k, d) and the weights of the cells seen, (k, d) or (k, 1) if all were."""
    sums = np.stack([group.sums for group in groups])
    if all(group.missing is None for group in groups):
        return sums, np.array([[group.weight] for group in groups])
    return sums, np.stack([group.counts for group in groups])


MOST_DRAWN = 9e18
"""Rates that counts are drawn for: whole numbers of a machine end a little above."""
CELLS = 4_000_000
"""Presences that are drawn at once."""


def counted_rows(
    rows: IntArray, columns: IntArray, size: int, width: int, counts: FloatArray | None = None
) -> SparseRows:
    """Return how often each column was drawn in each row, `counts` times each.

    >>> counted_rows(np.array([1, 0, 1]), np.array([2, 0, 2]), 2, 3).toarray()
    array([[1., 0., 0.],
           [0., 0., 2.]])
    """
    cells, which = np.unique(rows.astype(np.int64) * width + columns, return_inverse=True)
    places, held = np.divmod(cells, width)
    indptr = np.searchsorted(places, np.arange(size + 1)).astype(np.int64)
    totals = np.bincount(which, counts, minlength=len(cells)).astype(np.float64)
    return SparseRows(totals, held, indptr, width)


def present_rows(
    probabilities: FloatArray, codes: IntArray, rng: np.random.Generator
) -> SparseRows:
    """Return which columns are there in each row, each by its own probability."""
    width = probabilities.shape[1]
    step = max(1, CELLS // max(1, width))
    rows, columns = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
    for start in range(0, len(codes), step):
        chosen = codes[start : start + step]
        there = rng.random((len(chosen), width)) < probabilities[chosen]
        place, column = np.nonzero(there)
        rows.append(place + start)
        columns.append(column)
    return counted_rows(np.concatenate(rows), np.concatenate(columns), len(codes), width)


def drawn_counts(rates: FloatArray, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a Poisson count for each rate, or refuse rates that no whole number reaches."""
    if rates.max(initial=0.0) > MOST_DRAWN:
        raise BadRows(
            f"counts of {rates.max():g} on average cannot be drawn: they are too large for whole "
            f"numbers",
            hint="count in larger units: divide these columns before fitting",
        )
    found: NDArray[np.int64] = rng.poisson(rates)
    return found


def offsets_flaw(law: LinearLaws, sizes: dict[str, int]) -> str:
    """Return what is wrong with probabilities and rates, which offsets tell: log(1 - φ), or -λ."""
    if law.offsets is None or law.offsets.max(initial=0.0) > 0.0:
        return "has offsets of no probabilities or rates"
    return "" if sizes.get("b", 1) in (1, sizes["d"]) else "has the weights of other columns"
