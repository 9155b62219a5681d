"""Laws whose log densities are linear in the cells: Bernoulli, Poisson and multinomial columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from suffice.families.laws import Scores
from suffice.kernels.sparse.sums import score_table, sparse_scores
from suffice.rows.sparse import SparseRows
from suffice.rows.sparse import refuse_huge_stored, refuse_stored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.families.blocks import Block
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class LinearLaws:
    """log p(x | c) = Σ_j over seen cells of (x_j·slopes[c, j] + offsets[c, j]) + h(x).

    `slopes` are the natural parameters. `offsets` is None where they are zero. The two `order`
    arrays are the same form for the number of impossible events, None where nothing is
    impossible. Cells count as 1 or 0 by `threshold`, where there is one.
    """

    slopes: FloatArray
    offsets: FloatArray | None
    order_slopes: FloatArray | None = None
    order_offsets: FloatArray | None = None
    threshold: float | None = None
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
        blank = np.isnan(cells)
        gaps = bool(blank.any())
        if gaps:
            cells = np.where(blank, 0.0, cells)
        orders = None
        if self.order_slopes is not None:
            orders = _dense(cells, blank if gaps else None, self.order_slopes, self.order_offsets)
        return Scores(_dense(cells, blank if gaps else None, self.slopes, self.offsets), orders)

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

    def cells(self, block: NDArray[Any]) -> FloatArray:
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
    out: FloatArray = cells @ slopes.T
    if offsets is not None:
        out += offsets.sum(axis=1)
        if blank is not None:
            out -= blank @ offsets.T
    return out
