"""The loss of softmax regression over rows that are somewhere else: one collect for every look."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np

from suffice.engines.parts import Mergeable
from suffice.models.linear.logistic.loss import Largest, LogisticLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.linear.online.seen_rows import SeenRows
    from suffice.rows import FloatArray
    from suffice.statistics.curvature import Curvature
    from suffice.statistics.moments.pooled import PooledMoments

S = TypeVar("S", bound=Mergeable)


class Everywhere(Protocol):
    """Calls a function on the loss over every part of the rows, where they are, and merges."""

    def __call__(
        self, summarize: Callable[[LogisticLoss], S], origin: FloatArray, inverse: FloatArray
    ) -> S:
        """Return the merged summary of the losses over all parts."""
        ...


@dataclass(frozen=True, eq=False)
class RemoteLoss(LogisticLoss):
    """-log p(y | x), summed over rows that are not here.

    `rows` and `codes` are empty, but for their width.

    everywhere  what collects over the parts
    seen        what is known of all rows: labels, weights, moments
    lightest    the smallest weight of a row
    drawn       some of the rows, from all over them, that are here

    >>> from suffice.models.linear.online.seen_rows import SeenRows
    >>> rows, codes = np.array([[1.0], [3.0]]), np.array([0, 1])
    >>> def everywhere(summarize, origin, inverse):
    ...     parts = [LogisticLoss(rows[[i]], codes[[i]], 2, None, origin, inverse) for i in (0, 1)]
    ...     return summarize(parts[0]) + summarize(parts[1])
    >>> loss = RemoteLoss.over(everywhere, SeenRows.of(rows, codes, ("a", "b")), 1.0, None)
    >>> loss.curvature(np.zeros((1, 2))).gradient
    array([[ 0., -1.]])
    """

    everywhere: Everywhere = None  # type: ignore[assignment]
    seen: SeenRows = None  # type: ignore[assignment]
    lightest: float = 1.0
    drawn: LogisticLoss | None = None

    @classmethod
    def over(
        cls,
        everywhere: Everywhere,
        seen: SeenRows,
        lightest: float,
        drawn: tuple[FloatArray, Any, FloatArray | None] | None,
        intercept: bool = True,
    ) -> Self:
        """Return the loss over rows of which this much is known, in standardised columns."""
        size = len(seen.labels)
        scale = seen.scale if intercept else seen.scale.about_zero()
        width = len(scale.origin)
        held = None
        if drawn is not None:
            rows, codes, weights = drawn
            held = LogisticLoss(
                rows, codes, size, weights, scale.origin, scale.inverse, intercept=intercept
            )
        return cls(
            np.empty((0, width)),
            np.empty(0, dtype=np.intp),
            size,
            None,
            scale.origin,
            scale.inverse,
            intercept=intercept,
            everywhere=everywhere,
            seen=seen,
            lightest=lightest,
            drawn=held,
        )

    @property
    def is_here(self) -> bool:
        """Whether rows can be looked at one by one: no."""
        return False

    def __len__(self) -> int:
        """How many rows are summed."""
        return self.seen.size

    @property
    def weight(self) -> float:
        """Their weight."""
        return self.seen.weight

    @property
    def class_weights(self) -> FloatArray:
        """Their weight, class by class (k,)."""
        return self.seen.weights

    @property
    def farthest(self) -> float:
        """A bound of `reach` for nothing: no cell of weight w has a square above Σw/w."""
        columns = float(np.count_nonzero(self.inverse))
        return 1.0 + columns * self.weight / self.lightest if self.lightest > 0.0 else float("inf")

    @cached_property
    def reach(self) -> float:
        """The largest 1 + ‖z‖² of any row."""
        return self._collected(lambda part: Largest(part.reach)).value

    def curvature(self, theta: FloatArray, hessian: bool = True) -> Curvature:
        """Return loss, gradient and (if asked for) Hessian at θ: one pass over the rows."""
        return self._collected(lambda part: part.curvature(theta, hessian))

    def product(self, theta: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the Hessian at θ times a direction: one pass over the rows."""
        return self._collected(lambda part: part.product(theta, direction))

    def class_moments(self) -> PooledMoments:
        """Return the moments of the classes, numbered: one pass over the rows."""
        return self._collected(lambda part: part.class_moments())

    def sampled(self, size: int) -> LogisticLoss:  # type: ignore[override]
        """Return the loss over some of the rows that are here, if these are enough."""
        if self.drawn is None or len(self.drawn) >= len(self):
            return self
        return self.drawn.sampled(size)

    def _collected(self, summarize: Callable[[LogisticLoss], S]) -> S:
        return self.everywhere(summarize, self.origin, self.inverse)
