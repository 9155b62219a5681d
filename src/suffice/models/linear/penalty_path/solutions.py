"""Minima of penalised losses, one after the other: each search begins where the last one ended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import EPSILON
from suffice.models.linear.logistic.loss import LogisticLoss
from suffice.models.linear.logistic.newton import descend, newton
from suffice.models.linear.logistic.objective import Objective
from suffice.models.linear.logistic.preconditioners import Kronecker, spread_of_classes
from suffice.models.linear.logistic.search import MANY_COLUMNS, MOST_PASSES, search
from suffice.models.linear.logistic.start import gda_start

if TYPE_CHECKING:
    from suffice.rows import FloatArray

NEWTON_PARAMETERS = 300
"""Parameters up to which the Hessian is written down for every step: one takes some hundredths of a
second for 2,000 rows. Beyond, gradients lead to the minimum, and no leverages are known."""

MOST_TURNED = 10_000_000
"""Cells up to which rows of more columns than rows are turned into their own directions: 80 MB. A
choice."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The θ of least penalised loss (m, d + 1), and the same in the directions of the rows.

    inner    the loss in these directions; where columns are fewer than rows, these are the columns
    within   θ there
    hessian  the Hessian there, with the penalty; None where it was not written down
    """

    theta: FloatArray
    inner: LogisticLoss
    within: FloatArray
    hessian: FloatArray | None


@dataclass(frozen=True, eq=False)
class PenalisedLoss:
    """A loss whose minima are looked for under many penalties.

    Where columns are more than rows, a penalised minimum lies in the directions of the rows: θ is
    looked for there, and the penalty is the same.

    >>> from suffice.models.linear.logistic.fit import standardised_loss
    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> loss = PenalisedLoss(standardised_loss(rows, codes, 2, None))
    >>> loss.minimum(1.0, loss.first, 1e-8).theta[:, 1].round(4)
    array([0.4534])
    """

    loss: LogisticLoss

    @property
    def first(self) -> FloatArray:
        """The θ that knows the class frequencies alone; without an intercept, nothing."""
        theta = np.zeros(self.loss.shape)
        if self.loss.intercept:
            weights = self.loss.class_weights
            theta[:, 0] = np.log(weights[1:] / weights[0])
        return theta

    def minimum(self, penalty: float, start: FloatArray, tolerance: float) -> Solution:
        """Return the minimum under a penalty, from a θ that is near it."""
        inner, turn = self._along_rows
        begin = start
        if turn is not None:
            begin = np.concatenate((start[:, :1], start[:, 1:] @ turn), axis=1)
        m, width = inner.shape
        hessian = None
        if m * width > NEWTON_PARAMETERS:
            within = self._by_gradients(penalty, begin, tolerance)
        else:
            objective = Objective(inner, penalty)
            here = objective.evaluate(objective.place(begin), True)
            point = newton(objective.evaluate, here, tolerance, MOST_PASSES).point
            within, hessian = objective.theta(point.at), point.hessian
        theta = within
        if turn is not None:
            theta = np.concatenate((within[:, :1], within[:, 1:] @ turn.T), axis=1)
        return Solution(theta, inner, within, hessian)

    def _by_gradients(self, penalty: float, start: FloatArray, tolerance: float) -> FloatArray:
        """Return the minimum by L-BFGS, with the Hessian as a product of classes and columns."""
        inner = self._along_rows[0]
        if not inner.intercept or inner.shape[1] > MANY_COLUMNS:
            found = search(inner, penalty, start, tolerance, with_hessian=False)
            return found.objective.theta(found.found.point.at)
        objective = Objective(inner, penalty)
        spread = spread_of_classes(inner, start) * inner.weight
        near = Kronecker.of_axes(objective.between, spread, *self._axes, penalty)
        here = objective.evaluate(objective.place(start), False)
        point = descend(objective.evaluate, here, near.solve, tolerance, MOST_PASSES).point
        return objective.theta(point.at)

    @cached_property
    def _along_rows(self) -> tuple[LogisticLoss, FloatArray | None]:
        """The loss in the directions of the rows, and these (d, r); itself, and None, of few."""
        loss, n = self.loss, len(self.loss.codes)
        width = loss.shape[1] - 1
        if width <= n or n * width > MOST_TURNED:
            return loss, None
        design = loss.design(slice(0, n))[:, 1:]
        left, lengths, directions = np.linalg.svd(design, full_matrices=False)
        kept = lengths > EPSILON * n * lengths[0]
        rows, none = left[:, kept] * lengths[kept], np.zeros(int(kept.sum()))
        turned = LogisticLoss(
            rows, loss.codes, loss.size, loss.weights, none, none + 1.0, intercept=loss.intercept
        )
        return turned, np.ascontiguousarray(directions[kept].T)

    @cached_property
    def _axes(self) -> tuple[FloatArray, FloatArray]:
        """The eigenvalues and eigenvectors of the columns' correlations."""
        values, vectors = np.linalg.eigh(gda_start(self._along_rows[0]).correlations)
        return values, vectors
