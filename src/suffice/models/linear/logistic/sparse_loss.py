"""The loss of softmax regression over sparse rows, which are never filled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from suffice.engines.threads import workers
from suffice.engines.uneven_blocks import for_sparse_blocks
from suffice.kernels.logistic import sparse as sparse_logistic
from suffice.models.linear.logistic.loss import LogisticLoss
from suffice.statistics.curvature import Curvature

if TYPE_CHECKING:
    from suffice.rows import FloatArray
    from suffice.rows.sparse_rows import SparseRows

DENSE_CELLS = 1_000_000
"""Cells of one filled block (8 MB), where a Hessian is asked for. A choice."""


@dataclass(frozen=True, eq=False)
class SparseLoss(LogisticLoss):
    """-log p(y | x), summed over sparse rows, as a function of θ in standardised columns.

    Centring would fill the rows. So scores and sums are taken of the cells as they are, and what
    centring changes follows from the sums: z·β = x·(β/s) - m·(β/s).
    """

    rows: SparseRows  # type: ignore[assignment]
    is_sparse: ClassVar[bool] = True

    def curvature(self, theta: FloatArray, hessian: bool = True) -> Curvature:
        """Return loss, gradient and (if asked for) Hessian at θ; the latter fills blocks."""
        if hessian:
            return self._dense_curvature(theta)
        return self.scored(theta)[0]

    def scored(self, theta: FloatArray) -> tuple[Curvature, FloatArray]:
        """Return loss and gradient at θ, and the scores (n, m): products start from them."""
        scores = np.empty((len(self.rows), self.size - 1))
        table, offsets = self._in_units(theta)

        def part(some: slice) -> tuple[float, FloatArray, FloatArray, float]:
            weights = None if self.weights is None else self.weights[some]
            return sparse_logistic.loss_and_gradient(
                self.rows[some], self.codes[some], weights, table, offsets, scores[some]
            )

        found = for_sparse_blocks(part, self.rows, workers())
        losses, sums, rests, margins = zip(*found, strict=True)
        gradient = self._standardised(reduce(add, sums), reduce(add, rests))
        loss, margin = sum(losses), min(margins)
        return Curvature(theta, self.weight, loss, gradient, None, margin), scores

    def product_at(self, scored: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the Hessian times a direction, where the scores are these."""
        table, offsets = self._in_units(direction)

        def part(some: slice) -> tuple[FloatArray, FloatArray]:
            weights = None if self.weights is None else self.weights[some]
            return sparse_logistic.hessian_product(
                self.rows[some], weights, scored[some], table, offsets
            )

        sums, rests = zip(*for_sparse_blocks(part, self.rows, workers()), strict=True)
        return self._standardised(reduce(add, sums), reduce(add, rests))

    def _dense(self, some: slice) -> FloatArray:
        return self.rows[some].toarray()

    def product(self, theta: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the Hessian at θ times a direction."""
        return self.product_at(self.scored(theta)[1], direction)

    @property
    def reach(self) -> float:
        """A bound of the largest 1 + ‖z‖²: ‖z - z₀‖ over the cells stored, z₀ an empty row."""
        empty = float(np.linalg.norm(self.origin * self.inverse))
        cells = np.square(self.rows.cells * self.inverse[self.rows.places])
        filled = np.diff(self.rows.indptr) > 0
        starts = (self.rows.indptr[:-1] - self.rows.indptr[0])[filled]
        longest = float(np.add.reduceat(cells, starts).max()) if filled.any() else 0.0
        return 1.0 + float(empty + np.sqrt(longest)) ** 2

    def design(self, some: slice) -> FloatArray:
        """Return rows as the model sees them, filled: (1, z), standardised."""
        rows = self.rows[some]
        filled = np.full((len(rows), rows.width + 1), 1.0 if self.intercept else 0.0)
        filled[:, 1:] = (rows.toarray() - self.origin) * self.inverse
        return filled

    def sampled(self, size: int) -> Self:  # noqa: ARG002
        """Return the loss itself: products over all rows are cheap."""
        return self

    def _dense_curvature(self, theta: FloatArray) -> Curvature:
        """Return the curvature with its Hessian, filling a block of rows at a time."""
        step = max(DENSE_CELLS // max(self.rows.width, 1), 1)
        whole = Curvature.empty(theta)
        for start in range(0, len(self.rows), step):
            some = slice(start, min(start + step, len(self.rows)))
            weights = None if self.weights is None else self.weights[some]
            filled = LogisticLoss(
                self.rows[some].toarray(),
                self.codes[some],
                self.size,
                weights,
                self.origin,
                self.inverse,
            )
            whole = whole + filled.curvature(theta)
        return whole

    def _in_units(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return θ for cells as they are: weights (m, d) and offsets (m,)."""
        table = theta[:, 1:] * self.inverse
        return table, theta[:, 0] - table @ self.origin

    def _standardised(self, sums: FloatArray, rests: FloatArray) -> FloatArray:
        """Return Σ r (1, z) from Σ r x and Σ r."""
        found = np.empty(self.shape)
        found[:, 0] = rests
        found[:, 1:] = (sums - rests[:, np.newaxis] * self.origin) * self.inverse
        return found
