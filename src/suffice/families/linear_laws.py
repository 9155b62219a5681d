"""Laws whose log densities are linear in the cells: Bernoulli, Poisson and multinomial columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.families.laws import Scores
from suffice.kernels.sparse import sparse_scores
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.families.blocks import Block
    from suffice.rows import FloatArray


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
            logs = self._sparse(block, self._table, self.offsets)
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
    def _table(self) -> FloatArray:
        """The slopes with one row for each column: the k numbers of a word lie side by side."""
        return np.ascontiguousarray(self.slopes.T)

    @cached_property
    def _order_table(self) -> FloatArray | None:
        return None if self.order_slopes is None else np.ascontiguousarray(self.order_slopes.T)

    def _sparse(
        self, rows: SparseRows, table: FloatArray, offsets: FloatArray | None
    ) -> FloatArray:
        out = np.empty((len(rows), self.size))
        constant = np.zeros(self.size) if offsets is None else offsets.sum(axis=1)
        sparse_scores(rows, table, constant, self.threshold, out)
        return out

    def cells(self, block: NDArray[Any]) -> FloatArray:
        """Return dense cells as they enter the sums."""
        if self.threshold is None:
            return block.astype(np.float64, copy=False)
        return indicators(block, self.threshold)

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
        if self.offsets is None:
            return self.slopes
        return self.slopes + self.offsets

    def linear(self) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return (weights (k, d), offsets (k,), origin (d,)); None if something is impossible."""
        if self.order_slopes is not None:
            return None
        offsets = np.zeros(self.size) if self.offsets is None else self.offsets.sum(axis=1)
        return self.slopes, offsets, np.zeros(self.width)


def indicators(cells: NDArray[Any], threshold: float) -> FloatArray:
    """Return 1 where a cell lies above the threshold, 0 where not, NaN where it is missing."""
    found = (cells > threshold).astype(np.float64)
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
