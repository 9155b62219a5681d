"""Down a path of penalties, from the strongest on, until weaker ones are clearly worse.

The rows choose one of them, or average over them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import pinned
from suffice.models.linear.averaged_form import AveragedForm
from suffice.models.linear.form import LinearForm
from suffice.models.linear.logistic.fit import standardised_loss
from suffice.models.linear.penalty_path.fold_fits import FoldFits
from suffice.models.linear.penalty_path.left_out_rows import left_out_rows
from suffice.models.linear.penalty_path.path import FOLDS, LEFT_OUT, NOTHING, PenaltyPath
from suffice.models.linear.penalty_path.solutions import PenalisedLoss, Solution
from suffice.rows.row_hashes import content_hashes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.rows.sparse_rows import SparseRows

    Fit = Callable[[float, LinearForm], LogisticFit]


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


MOST_JUDGED = 2048
"""Rows that a path is judged by: of more, those of smallest hash. A penalty is the precision of a
prior, and stays what it is when there are more rows; the more there are, the less it matters."""
LEAST_SHARE = 1e-4
"""The share in an average below which a penalty is left out: it moves no probability by more."""


@dataclass(frozen=True, slots=True, eq=False)
class ChosenPath:
    """A path, and the form that each of its penalties has found on the rows it was judged by."""

    path: PenaltyPath
    forms: tuple[LinearForm, ...]

    def chosen(self, fit: Fit) -> LogisticFit:
        """Return the fit of the penalty of least loss; `fit` begins at what the path has found."""
        return fit(self.path.penalty, self.forms[self.path.chosen])

    def averaged(self, fit: Fit) -> tuple[AveragedForm, LogisticFit]:
        """Return the average over the path, and the fit of the penalty of least loss in it."""
        path = self.path
        kept = np.flatnonzero(path.shares >= LEAST_SHARE)
        fits = {g: fit(float(path.penalties[g]), self.forms[g]) for g in kept.tolist()}
        shares = path.shares[kept] / path.shares[kept].sum()
        members = tuple(found.form for found in fits.values())
        best = fits[path.chosen]
        return AveragedForm(best.labels, shares, members), best


def chosen_path(
    rows: FloatArray | SparseRows,
    codes: IntArray,
    labels: tuple[Label, ...],
    weights: FloatArray | None = None,
    *,
    intercept: bool = True,
    size: int | None = None,
) -> ChosenPath:
    """Return the path of rows, or of some of them; `size` is how many there are in all.

    >>> rng = np.random.default_rng(0)
    >>> codes = np.arange(60) % 2
    >>> rows = rng.normal(size=(60, 2)) + codes[:, np.newaxis]
    >>> found = chosen_path(rows, codes, ("no", "yes"))
    >>> found.path.rows, len(found.forms) == len(found.path.penalties)
    (60, True)
    """
    many = len(codes) if size is None else size
    some = some_rows(rows, codes)
    if some is not None:
        rows, codes = rows[some], codes[some]
        weights = None if weights is None else weights[some]
    present, own = np.unique(codes, return_inverse=True)
    factor = 0
    if weights is not None:  # tolerances depend on how heavy rows are: a path does not
        factor = int(np.frexp(weights.max())[1]) - 1
        weights = np.ldexp(weights, -factor)
    walk = walked(rows, own.astype(np.intp), len(present), weights, intercept)
    path = replace(
        walk.path,
        penalties=np.ldexp(walk.path.penalties, factor),
        sampled=None if many == len(codes) else many,
    )
    known = tuple(labels[c] for c in present)
    forms = (_form(theta, known, walk.origin, walk.inverse) for theta in walk.thetas)
    return ChosenPath(path, tuple(forms))


def some_rows(rows: FloatArray | SparseRows, codes: IntArray) -> IntArray | None:
    """Return which rows a path is judged by, in their order: all of them is None.

    A few rows of every class are among them.

    >>> some_rows(np.zeros((3, 1)), np.array([0, 1, 0])) is None
    True
    """
    if len(codes) <= MOST_JUDGED:
        return None
    hashes = content_hashes(rows, range(rows.shape[1]))
    order = np.lexsort((hashes, codes))
    starts = np.searchsorted(codes[order], codes[order])  # where the class of each begins
    first = order[np.arange(len(order)) - starts < FEWEST_OF_CLASS]
    smallest = np.argpartition(hashes, MOST_JUDGED - 1)[:MOST_JUDGED]
    return np.union1d(smallest, first)


def _form(
    theta: FloatArray, labels: tuple[Label, ...], origin: FloatArray, inverse: FloatArray
) -> LinearForm:
    """Return θ of standardised columns as a form in the user's units."""
    weights, offsets = np.zeros((len(labels), len(origin))), np.zeros(len(labels))
    weights[1:], offsets[1:] = theta[:, 1:] * inverse, theta[:, 0]
    return LinearForm(labels, weights, offsets, origin)
