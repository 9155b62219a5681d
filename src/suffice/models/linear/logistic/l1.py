"""Penalties that make coefficients exactly zero: L1, alone or with L2 (the elastic net).

Minimised is loss + penalty·(ratio·Σ|b| + ½(1 - ratio)·Σb²) over coefficients b in standardised
columns, intercepts free. Of two classes, b is that of the second against the first; of more, each
class has its own, as scikit-learn and glmnet have it: shifts of a column's coefficients change no
posterior, and the penalty chooses among them.

By Newton's method: the loss becomes its second-order model, whose minimum with the penalty is found
exactly (`quadratic_minimum`), and a line search leads there. What is found is the minimum where the
conditions of Karush, Kuhn and Tucker hold: -∂loss/∂b is penalty·ratio·sign(b) + … where b ≠ 0, and
no larger than penalty·ratio where b = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.models.linear.l1_quadratic import quadratic_minimum
from suffice.models.linear.logistic.loss import LogisticLoss
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

WHOLE = 400
"""Coefficients up to which all columns are looked at together. Beyond, only those that matter: a
Hessian of p coefficients is p² numbers, and most of them would stay zero. A choice."""
FIRST_COLUMNS = 50
"""Columns to begin with, where there are too many; each round may double them."""
SUFFICIENT = 1e-4
"""The share of what a step promises that it has to keep (Armijo)."""
SHORTEST = 1e-10
"""A step that is cut below this share leads nowhere."""
ROUNDING = 1e-13
"""Changes of the objective, relative to it, that rounding may be all of."""


class L1Minimum(NamedTuple):
    """Where the search ended.

    theta     (m, d + 1) in standardised columns, against the first class
    loss      without the penalty
    residual  how far any condition is from holding, in standard errors of its coefficient
    passes    over the rows
    """

    theta: FloatArray
    loss: float
    residual: float
    passes: int


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Coordinates x = (intercepts, coefficients class by class), and the objective there."""

    at: FloatArray
    value: float
    loss: float
    gradient: FloatArray
    hessian: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Penalised:
    """The objective over some columns of a loss."""

    whole: LogisticLoss
    loss: LogisticLoss
    columns: IntArray
    first: float
    second: float

    @classmethod
    def over(
        cls, whole: LogisticLoss, columns: IntArray, first: float, second: float
    ) -> _Penalised:
        """Return the objective over these columns; what others hold back is looked at elsewhere."""
        if len(columns) == whole.shape[1] - 1:
            return cls(whole, whole, columns, first, second)
        loss = LogisticLoss(
            _columns_of(whole.rows, columns),
            whole.codes,
            whole.size,
            whole.weights,
            whole.origin[columns],
            whole.inverse[columns],
            intercept=whole.intercept,
        )
        return cls(whole, loss, columns, first, second)

    @property
    def classes(self) -> FloatArray:
        """How θ follows from coefficients (m, r): of two classes as they are, else b_c - b_0."""
        m = self.whole.size - 1
        return np.eye(1) if m == 1 else np.hstack((np.full((m, 1), -1.0), np.eye(m)))

    @property
    def free(self) -> int:
        """How many coordinates come first that have no penalty."""
        return (self.whole.size - 1) * int(self.whole.intercept)

    @property
    def weights(self) -> FloatArray:
        """What |x| is multiplied by."""
        count = self.classes.shape[1] * len(self.columns)
        return np.concatenate((np.zeros(self.free), np.full(count, self.first)))

    def theta(self, at: FloatArray) -> FloatArray:
        """Return θ of the columns at a place."""
        found = np.zeros((self.whole.size - 1, len(self.columns) + 1))
        found[:, 0] = at[: self.free] if self.free else 0.0
        found[:, 1:] = self.classes @ at[self.free :].reshape(self.classes.shape[1], -1)
        return found

    def full_theta(self, at: FloatArray) -> FloatArray:
        """Return θ of all columns: others are zero."""
        found, own = np.zeros(self.whole.shape), self.theta(at)
        found[:, 0] = own[:, 0]
        found[:, 1 + self.columns] = own[:, 1:]
        return found

    def evaluate(self, at: FloatArray) -> _Place:
        """Return the objective at a place: one pass over the rows."""
        seen = self.loss.curvature(self.theta(at))
        assert seen.hessian is not None
        m, width = self.whole.size - 1, len(self.columns) + 1
        blocks = seen.hessian.reshape(m, width, m, width)
        table, free = self.classes, self.free
        slopes = table.T @ seen.gradient[:, 1:]
        bend = np.einsum("ca,cjek,eb->ajbk", table, blocks[:, 1:, :, 1:], table, optimize=True)
        size = slopes.size
        hessian = np.empty((free + size, free + size))
        hessian[free:, free:] = bend.reshape(size, size)
        if free:
            hessian[:free, :free] = blocks[:, 0, :, 0]
            mixed = np.einsum("cek,eb->cbk", blocks[:, 0, :, 1:], table).reshape(m, size)
            hessian[:free, free:], hessian[free:, :free] = mixed, mixed.T
        hessian[np.arange(free, free + size), np.arange(free, free + size)] += self.second
        gradient = np.concatenate((seen.gradient[:, 0][:free], slopes.ravel()))
        gradient[free:] += self.second * at[free:]
        return _Place(at, self.value(at, seen.loss), seen.loss, gradient, hessian)

    def value(self, at: FloatArray, loss: float) -> float:
        """Return the objective, given the loss."""
        slopes = at[self.free :]
        penalty = self.first * np.abs(slopes).sum() + 0.5 * self.second * (slopes @ slopes)
        return loss + float(penalty)


def fit_l1(
    loss: LogisticLoss,
    first: float,
    second: float,
    start: FloatArray | None,
    tolerance: float,
    most: int,
) -> L1Minimum:
    """Return the minimum of the loss + first·Σ|b| + ½·second·Σb².

    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> loss = LogisticLoss(rows, codes, 2, None, np.array([1.5]), np.array([1.0]))
    >>> fit_l1(loss, 0.5, 0.0, None, 1e-8, 100).theta[:, 1].round(6)
    array([0.411469])
    >>> fit_l1(loss, 2.0, 0.0, None, 1e-8, 100).theta
    array([[0., 0.]])
    """
    count = loss.shape[1] - 1
    rows = 1 if loss.size == 2 else loss.size
    varies = np.flatnonzero(loss.inverse > 0.0)
    every = rows * count <= WHOLE
    columns = varies if every else varies[:0]
    begin = _beginning(loss, start)
    if not every:
        columns = varies[np.abs(begin[:, 1:]).max(axis=0)[varies] > 0.0]
    passes, theta = 0, begin
    limit = FIRST_COLUMNS
    while True:
        part = _Penalised.over(loss, columns, first, second)
        found, used = _minimised(part, _coordinates(part, theta), tolerance, most - passes)
        passes += used
        theta = part.full_theta(found.at)
        residual = _residual(part, found).max(initial=0.0)
        if len(columns) == len(varies):
            break
        gradient = part.classes.T @ loss.curvature(theta, hessian=False).gradient[:, 1:]
        passes += 1
        beyond = np.abs(gradient).max(axis=0) - first
        beyond[columns] = -np.inf
        beyond[loss.inverse == 0.0] = -np.inf
        unit = np.sqrt(loss.weight) / 2.0  # of no column is the curvature above ¼ of the weight
        worst = float(beyond.max(initial=0.0)) / unit
        if worst <= tolerance or passes >= most:
            residual = max(float(residual), worst)
            break
        more = np.flatnonzero(beyond > 0.0)
        more = more[np.argsort(-beyond[more], kind="stable")[: max(limit, len(columns))]]
        columns = np.sort(np.concatenate((columns, more)))
    return L1Minimum(theta, found.loss, float(residual), passes)


def _beginning(loss: LogisticLoss, start: FloatArray | None) -> FloatArray:
    """Return where to begin: the class frequencies, unless a better place is known."""
    theta = np.zeros(loss.shape)
    if loss.intercept:
        theta[:, 0] = np.log(loss.class_weights[1:] / loss.class_weights[0])
    return theta if start is None else start


def _coordinates(part: _Penalised, theta: FloatArray) -> FloatArray:
    """Return the coordinates of θ: of several classes, those of the least penalty."""
    slopes = theta[:, 1 + part.columns]
    if part.whole.size > 2:
        slopes = least_shifted(slopes, part.first, part.second)
    return np.concatenate((theta[:, 0][: part.free], slopes.ravel()))


def least_shifted(slopes: FloatArray, first: float, second: float) -> FloatArray:
    """Return coefficients of all classes from those against the first, (m, d) to (m + 1, d).

    Of each column, the shift that first·Σ|b - t| + ½·second·Σ(b - t)² is least at: for L1 a median,
    so that some class has a coefficient of exactly zero.

    >>> least_shifted(np.array([[1.0, 0.0], [3.0, 0.0]]), 1.0, 0.0)
    array([[-1.,  0.],
           [ 0.,  0.],
           [ 2.,  0.]])
    """
    every = np.vstack((np.zeros(slopes.shape[1]), slopes))
    rising = np.sort(every, axis=0)
    size = len(rising)
    # Just below a kink the slope in t is first·(2i - size) - second·Σ(b - t), and it only rises.
    below = first * (2.0 * np.arange(size)[:, np.newaxis] - size) - second * (
        rising.sum(axis=0) - size * rising
    )
    place = np.maximum((below <= 0.0).sum(axis=0) - 1, 0)
    each = np.arange(rising.shape[1])
    shift = rising[place, each]
    above = below[place, each] + 2.0 * first
    if second > 0.0:  # between two kinks
        shift = np.where(above < 0.0, shift - above / (size * second), shift)
    found: FloatArray = every - shift
    return found


def _minimised(part: _Penalised, at: FloatArray, tolerance: float, most: int) -> tuple[_Place, int]:
    """Return the minimum over the columns of a part, and how many passes it took."""
    here, passes = part.evaluate(at), 1
    damping, weights = 0.0, part.weights
    worst = _residual(part, here).max(initial=0.0)
    while worst > tolerance and passes < max(most, 2):
        bend = here.hessian
        if damping:
            bend = bend + damping * np.diag(np.diagonal(bend))
        aim = quadratic_minimum(bend, here.gradient - bend @ here.at, weights, here.at)
        way = aim - here.at
        promised = float(here.gradient @ way + weights @ (np.abs(aim) - np.abs(here.at)))
        slack = ROUNDING * abs(here.value)
        share = 1.0
        while True:
            there = part.evaluate(aim if share == 1.0 else here.at + share * way)
            passes += 1
            if there.value <= here.value + SUFFICIENT * share * promised + slack:
                break
            share *= 0.5
            if share < SHORTEST or passes >= most:
                return here, passes
        left = _residual(part, there).max(initial=0.0)
        if promised > -slack and left >= 0.5 * worst:  # all that moves is rounding
            return (there if left < worst else here), passes
        damping = 0.0 if share == 1.0 else max(4.0 * damping, 1e-3)
        here, worst = there, left
    return here, passes


def _residual(part: _Penalised, here: _Place) -> FloatArray:
    """Return how far each condition is from holding, in standard errors of its coefficient.

    Where a coordinate hardly curves, the most that it could curve at all stands for that: else what
    rounding leaves of a gradient would be many errors of no size.
    """
    weights = part.weights
    inward = np.maximum(np.abs(here.gradient) - weights, 0.0)
    found = np.where(here.at != 0.0, np.abs(here.gradient + weights * np.sign(here.at)), inward)
    found[: part.free] = np.abs(here.gradient[: part.free])
    curved = np.diagonal(here.hessian)
    least = 1e-6 * part.whole.weight
    return np.asarray(found / np.sqrt(np.maximum(curved, least)), dtype=np.float64)


def _columns_of(rows: FloatArray | SparseRows, columns: IntArray) -> FloatArray:
    """Return some columns of rows, filled."""
    if not isinstance(rows, SparseRows):
        return np.ascontiguousarray(rows[:, columns], dtype=np.float64)
    from scipy.sparse import csr_array

    whole = csr_array((rows.cells, rows.places, rows.indptr - rows.indptr[0]), shape=rows.shape)
    return np.asarray(whole.tocsc()[:, columns].toarray(), dtype=np.float64)
