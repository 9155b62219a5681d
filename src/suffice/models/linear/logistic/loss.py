"""The loss of softmax regression over rows that are here: every look at it is one collect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

import numpy as np

from suffice.engines.threads import answers, collect_blocks, workers
from suffice.kernels.compilation import part_of
from suffice.kernels.logistic import dense as logistic
from suffice.statistics.curvature import Curvature
from suffice.statistics.moments.pooled import PooledMoments

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.engines.parts import Mergeable
    from suffice.rows import FloatArray, IntArray


BLOCK = 1024
"""Rows in one block of a sample: neighbours in memory, so that nothing is copied."""


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """-log p(y | x), summed over dense rows, as a function of θ in standardised columns.

    The rows themselves stay as they are, wherever the user has them: each block is centred and
    scaled on its way through the cache. `parts` restricts the sum to some of the rows. Without an
    intercept the first column of θ is 0, and so is that of the design: nothing is centred then.

    >>> rows, codes = np.array([[1.0], [3.0]]), np.array([0, 1])
    >>> loss = LogisticLoss(rows, codes, 2, None, np.array([2.0]), np.array([1.0]))
    >>> loss.curvature(np.zeros((1, 2))).gradient
    array([[ 0., -1.]])
    """

    rows: FloatArray
    codes: IntArray
    size: int
    weights: FloatArray | None
    origin: FloatArray
    inverse: FloatArray
    parts: tuple[slice, ...] | None = None
    intercept: bool = True
    is_sparse: ClassVar[bool] = False

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of θ: a row for each class but the first, intercepts first."""
        return self.size - 1, self.rows.shape[1] + 1

    def __len__(self) -> int:
        """How many rows are summed."""
        if self.parts is None:
            return len(self.codes)
        return sum(part.stop - part.start for part in self.parts)

    @cached_property
    def weight(self) -> float:
        """Their weight."""
        if self.weights is None:
            return float(len(self))
        return float(sum(self.weights[part].sum() for part in self.parts or (slice(None),)))

    @cached_property
    def class_weights(self) -> FloatArray:
        """Their weight, class by class (k,)."""
        total = np.zeros(self.size)
        for part in self.parts or (slice(None),):
            own = None if self.weights is None else self.weights[part]
            total += np.bincount(self.codes[part], own, minlength=self.size)
        return total

    @property
    def null_loss(self) -> float:
        """The loss of the class frequencies; without an intercept, of equal ones."""
        weights = self.class_weights
        if not self.intercept:
            return float(weights.sum()) * float(np.log(len(weights)))
        return -float(weights @ np.log(weights / weights.sum()))

    @cached_property
    def farthest(self) -> float:
        """A bound of `reach` for nothing: no cell of weight w has a square above Σw/w."""
        lightest = 1.0 if self.weights is None else float(self.weights.min())
        columns = float(np.count_nonzero(self.inverse))
        whole = len(self.codes) if self.weights is None else float(self.weights.sum())
        # Beside weights of 1e300 one of 1e-300 is nothing, and bounds nothing.
        return 1.0 + columns * whole / lightest if lightest > 0.0 else float("inf")

    @cached_property
    def reach(self) -> float:
        """The largest 1 + ‖z‖² of any row."""
        return self.collected(lambda some: Largest(logistic.reach(self._table(some)))).value

    def curvature(self, theta: FloatArray, hessian: bool = True) -> Curvature:
        """Return loss, gradient and (if asked for) Hessian at θ: one pass over the rows."""

        def summarize(some: slice) -> Curvature:
            weights = None if self.weights is None else self.weights[some]
            weight = float(some.stop - some.start if weights is None else weights.sum())
            given = self._table(some), self.codes[some], weights, theta
            if hessian:
                loss, gradient, bend, margin = logistic.curvature(*given)
                return Curvature(theta, weight, loss, gradient, bend, margin)
            loss, gradient, margin = logistic.loss_and_gradient(*given)
            return Curvature(theta, weight, loss, gradient, None, margin)

        return self.collected(summarize)

    @property
    def is_here(self) -> bool:
        """Whether rows can be looked at one by one."""
        return True

    def class_moments(self) -> PooledMoments:
        """Return the moments of the classes, which are called by their numbers."""
        names = tuple(range(self.size))

        def summarize(some: slice) -> PooledMoments:
            weights = None if self.weights is None else self.weights[some]
            return PooledMoments.of_classes(self._dense(some), self.codes[some], names, weights)

        return self.collected(summarize)

    def _dense(self, some: slice) -> FloatArray:
        return self.rows[some]

    def _table(self, some: slice) -> logistic.Standardised:
        return logistic.Standardised(self.rows[some], self.origin, self.inverse)

    def scored(self, theta: FloatArray) -> tuple[Curvature, FloatArray]:
        """Return loss and gradient at θ, and what products with the Hessian there start from."""
        return self.curvature(theta, hessian=False), theta

    def product_at(self, scored: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the Hessian times a direction, where `scored` was."""
        return self.product(scored, direction)

    def product(self, theta: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the Hessian at θ times a direction: one pass over the rows."""

        def summarize(some: slice) -> FloatArray:
            weights = None if self.weights is None else self.weights[some]
            return logistic.hessian_product(self._table(some), weights, theta, direction)

        return self.collected(summarize)

    def design(self, some: slice) -> FloatArray:
        """Return rows as the model sees them: (1, z), standardised; or (0, z)."""
        rows = self.rows[some]
        found = np.empty((len(rows), rows.shape[1] + 1))
        found[:, 0] = 1.0 if self.intercept else 0.0
        np.subtract(rows, self.origin, out=found[:, 1:])
        found[:, 1:] *= self.inverse
        return found

    def sampled(self, size: int) -> Self:
        """Return the loss over about `size` of the rows: blocks of them, evenly spread."""
        count = max(size // BLOCK, 1)
        if self.parts is not None or count * BLOCK >= len(self):
            return self
        last = len(self) - BLOCK
        starts = [last * i // max(count - 1, 1) for i in range(count)]
        return replace(self, parts=tuple(slice(s, s + BLOCK) for s in starts))

    def collected(self, summarize: Callable[[slice], S]) -> S:
        """Return the merged summary of the rows that are summed, a block of them at a time."""
        width = self.rows.shape[1]
        if self.parts is None:
            return collect_blocks(summarize, len(self.codes), width)
        # A group at a time for each thread: a Hessian for each block would be many.
        cells, many = len(self) * width, min(workers(), len(self.parts))
        groups = [self.parts[place::many] for place in range(many)]
        with part_of(cells):
            found = answers(lambda i: reduce(add, map(summarize, groups[i])), many, cells)
        return reduce(add, found)


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest of numbers, merged by `+`."""

    value: float

    def __add__(self, other: Self) -> Self:
        return self if self.value >= other.value else other


S = TypeVar("S", bound="Mergeable")

CELLS = 500_000
"""Cells of one block: what is made of it comes and goes in the cache, not in main memory."""


def collect_design(
    loss: LogisticLoss, summarize: Callable[[slice, FloatArray], S], width: int | None = None
) -> S:
    """Return the summary of all rows of a loss, merged from those of blocks z̃ = (1, z).

    `summarize` is called with a slice of rows and their design, on several threads at once.
    `width` is how many cells it makes of a row, if these are more than the columns: wide sparse
    rows are filled a few at a time.

    >>> import numpy as np
    >>> from suffice.models.linear.logistic.loss import LogisticLoss
    >>> rows, codes = np.array([[1.0], [3.0]]), np.array([0, 1])
    >>> loss = LogisticLoss(rows, codes, 2, None, np.array([2.0]), np.array([1.0]))
    >>> collect_design(loss, lambda some, design: design.sum(axis=0))
    array([2., 0.])
    """
    columns = loss.shape[1]
    step = max(CELLS // max(columns, width or 0), 1)

    def block(some: slice) -> S:
        starts = range(some.start, some.stop, step)
        parts = (slice(start, min(start + step, some.stop)) for start in starts)
        return reduce(add, (summarize(part, loss.design(part)) for part in parts))

    return collect_blocks(block, len(loss.codes), columns)
