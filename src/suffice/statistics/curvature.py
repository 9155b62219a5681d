"""Loss, gradient and Hessian of a regression at one θ: they add up over rows like any statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.errors import DifferentKinds
from suffice.statistics.algebra import ArraysOfFields, checked_factor
from suffice.statistics.moments.what_is_left import remaining

if TYPE_CHECKING:
    from suffice.rows import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Curvature(ArraysOfFields):
    """What rows say about a loss at θ: its value, its slope and how it bends.

    One of Newton's steps needs no more than this, wherever the rows are: parts of them are
    summarized where they lie, and the summaries are added.

    theta      (m, d + 1), where the loss was looked at
    weight     how many rows there were, each counted with its weight
    loss       Σ w·(-log p(y | x))
    gradient   (m, d + 1)
    hessian    (m(d + 1), m(d + 1)), class by class; None where only the slope was asked for
    margin     the smallest score of a row's own class above the best of the others: where it is
               positive, θ separates the classes

    >>> at = np.zeros((1, 2))
    >>> one = Curvature(at, 1.0, 0.5, np.array([[1.0, 2.0]]))
    >>> (one + one).gradient
    array([[2., 4.]])
    """

    theta: FloatArray
    weight: float
    loss: float
    gradient: FloatArray
    hessian: FloatArray | None = None
    margin: float = np.inf

    @classmethod
    def empty(cls, theta: FloatArray, bends: bool = True) -> Self:
        """Summarize no rows at all: the identity of `+`."""
        hessian = np.zeros((theta.size, theta.size)) if bends else None
        return cls(theta, 0.0, 0.0, np.zeros(theta.shape), hessian)

    def __add__(self, other: Self) -> Self:
        """Merge: of the same θ only, for slopes at different places do not add up."""
        self._check(other)
        hessian = None
        if self.hessian is not None and other.hessian is not None:
            hessian = self.hessian + other.hessian
        return type(self)(
            self.theta,
            self.weight + other.weight,
            self.loss + other.loss,
            self.gradient + other.gradient,
            hessian,
            min(self.margin, other.margin),
        )

    def __sub__(self, other: Self) -> Self:
        """Forget rows merged in before; the margin stays, as a lower bound."""
        self._check(other)
        hessian = None
        if self.hessian is not None and other.hessian is not None:
            hessian = self.hessian - other.hessian
        return type(self)(
            self.theta,
            remaining(self.weight, other.weight),
            self.loss - other.loss,
            self.gradient - other.gradient,
            hessian,
            self.margin,
        )

    def scaled(self, factor: float) -> Self:
        """Multiply every weight by `factor`; 0 leaves nothing."""
        f = checked_factor(factor)
        if f == 0.0:
            return self.empty(self.theta, self.hessian is not None)
        hessian = None if self.hessian is None else self.hessian * f
        return type(self)(
            self.theta, self.weight * f, self.loss * f, self.gradient * f, hessian, self.margin
        )

    def _check(self, other: Self) -> None:
        if type(other) is not type(self):
            raise DifferentKinds(
                f"a {type(self).__name__} cannot be merged with a {type(other).__name__}",
                hint="merge what was collected at the same θ",
            )
        if self.theta is not other.theta and not np.array_equal(self.theta, other.theta):
            raise DifferentKinds(
                "these curvatures were taken at different θ",
                hint="collect both at the same θ; losses and slopes at different θ cannot be added",
            )
