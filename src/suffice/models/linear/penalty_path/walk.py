"""Down a path of penalties, from the strongest on, until weaker ones are clearly worse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import pinned
from suffice.models.linear.logistic.fit import standardised_loss
from suffice.models.linear.penalty_path.fold_fits import FoldFits
from suffice.models.linear.penalty_path.left_out_rows import left_out_rows
from suffice.models.linear.penalty_path.path import FOLDS, LEFT_OUT, NOTHING, PenaltyPath
from suffice.models.linear.penalty_path.solutions import PenalisedLoss, Solution

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray
    from suffice.rows.sparse_rows import SparseRows

PENALTIES = tuple(1000.0 * 10.0 ** (-t / 2) for t in range(11))
"""The penalties of a path, for rows of weight 1: from hardly a slope at all to hardly a penalty at
all, two for each power of ten. A choice."""
SAFE_LEVERAGE = 0.4
"""The largest leverage of a row up to which steps stand for refits without it. Measured with refits
of 50 rows, labels true and permuted: below, the mean loss is off by .007 at most; up to .5 by .02,
up to .6 by .06, always too low."""
FEWEST_OF_CLASS = 5
"""Rows of every class for which one step stands for a refit. Without one of m rows of a class its
intercept moves by log(1 - 1/m), in one step by -1/m: with 5 the loss of the row is too low by .02,
with 2 by .2."""
RISES = 2
"""How often in a row the loss may be clearly worse than the best before the path ends."""
TOLERANCE = 1e-8
"""Standard errors from the minimum at which the fit of a penalty ends: that of `fit`."""


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """A path, the θ of each of its penalties, and what was said of each row without it.

    thetas    in standardised columns, against the first class
    origin    the means of the columns
    inverse   one over their standard deviations
    held_out  log p(y | x) of every row by fits without it, one table (n, k) for each penalty
    """

    path: PenaltyPath
    thetas: tuple[FloatArray, ...]
    origin: FloatArray
    inverse: FloatArray
    held_out: tuple[FloatArray, ...]


def walked(
    rows: FloatArray | SparseRows,
    codes: IntArray,
    size: int,
    weights: FloatArray | None = None,
    intercept: bool = True,
) -> Walk:
    """Return a path over rows of `size` classes, each of which has rows.

    Rows of a class that has no other row are not judged: without its row, a class is not known.

    >>> rng = np.random.default_rng(0)
    >>> codes = np.arange(40) % 2
    >>> rows = rng.normal(size=(40, 3)) + codes[:, np.newaxis]
    >>> walk = walked(rows, codes, 2)
    >>> walk.path.judged[0], round(walk.path.penalty, 3)
    ('left-out', 1.0)
    """
    judge = _Judge.of(rows, codes, size, weights, intercept)
    with pinned():
        fit = PenalisedLoss(standardised_loss(rows, codes, size, weights, intercept))
        loss, theta, found, tables, rises = fit.loss, fit.first, [], [], 0
        losses: list[FloatArray] = []
        for penalty in PENALTIES:
            ended = fit.minimum(penalty * judge.unit, theta, TOLERANCE)
            theta = ended.theta
            table, way = judge.held_out(penalty * judge.unit, ended)
            tables.append(table)
            losses.append(judge.losses(table))
            found.append((penalty * judge.unit, theta, way))
            best = losses[int(np.argmin([judge.mean(own) for own in losses]))]
            apart = losses[-1] - best
            rises = rises + 1 if judge.mean(apart) > judge.error(apart) else 0
            if rises >= RISES:
                break
    path = judge.path([p for p, _, _ in found], losses, [way for _, _, way in found])
    thetas = tuple(theta for _, theta, _ in found)
    return Walk(path, thetas, loss.origin, loss.inverse, tuple(tables))


@dataclass(eq=False)
class _Judge:
    """How rows are judged: their weights, and the folds once they are needed.

    judged   the rows whose class has another row
    unit     the weight of a row among so many: a path is the same in whatever units weights are
    """

    rows: FloatArray | SparseRows
    codes: IntArray
    size: int
    weights: FloatArray | None
    intercept: bool
    judged: NDArray[np.bool_]
    unit: float
    steps: bool
    folds: FoldFits | None = None

    @classmethod
    def of(
        cls,
        rows: FloatArray | SparseRows,
        codes: IntArray,
        size: int,
        weights: FloatArray | None,
        intercept: bool,
    ) -> Self:
        counts = np.bincount(codes, minlength=size)
        judged = counts[codes] > 1
        unit = 1.0
        if weights is not None:
            unit = float(np.square(weights).sum() / weights.sum())
        steps = bool(counts.min() >= FEWEST_OF_CLASS)
        return cls(rows, codes, size, weights, intercept, judged, unit, steps)

    def held_out(self, penalty: float, ended: Solution) -> tuple[FloatArray, str]:
        """Return log p(y | x) of every row without it, and how it was found."""
        if self.steps and ended.hessian is not None:
            left = left_out_rows(ended.inner, penalty, ended.within, ended.hessian, SAFE_LEVERAGE)
            if left.log_posterior is not None:
                return left.log_posterior, LEFT_OUT
        if self.folds is None:
            self.folds = FoldFits.of(self.rows, self.codes, self.size, self.weights, self.intercept)
        return self.folds.log_posterior(penalty, ended.theta), FOLDS

    def losses(self, table: FloatArray) -> FloatArray:
        """Return the losses of the judged rows."""
        return -table[self.judged, self.codes[self.judged]]

    @property
    def _weights(self) -> FloatArray:
        given = np.ones(len(self.codes)) if self.weights is None else self.weights
        return given[self.judged]

    def mean(self, losses: FloatArray) -> float:
        """Return the mean over judged rows; 0 of none."""
        weights = self._weights
        return float(weights @ losses / weights.sum()) if len(weights) else 0.0

    def error(self, losses: FloatArray) -> float:
        """Return the standard error of that mean."""
        weights = self._weights
        if not len(weights):
            return 0.0
        apart = np.square(weights) @ np.square(losses - self.mean(losses))
        return float(np.sqrt(apart) / weights.sum())

    def path(
        self, penalties: list[float], losses: list[FloatArray], ways: list[str]
    ) -> PenaltyPath:
        """Return what is known of the penalties."""
        means = np.array([self.mean(own) for own in losses])
        weights = self._weights
        many = float(weights.sum() ** 2 / np.square(weights).sum()) if len(weights) else 0.0
        shares = np.exp(-many * (means - means.min()))
        if not len(weights):  # nothing speaks for any of them: hardly a slope
            shares, ways = np.eye(len(means))[0], [NOTHING] * len(ways)
        return PenaltyPath(
            np.array(penalties),
            means,
            np.array([self.error(own) for own in losses]),
            tuple(ways),
            shares / shares.sum(),
            int(self.judged.sum()),
        )
