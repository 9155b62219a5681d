"""Rows judged by fits of other rows: parts made once, columns standardised by the others alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.linear_algebra import normalized
from suffice.models.linear.logistic.fit import standardised_loss
from suffice.models.linear.penalty_path.solutions import PenalisedLoss
from suffice.rows.row_hashes import content_hashes
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray

MANY_FOLDS, FEW_FOLDS = 10, 5
"""Parts of the rows where these are few, and where they are many. The usual numbers: with ten a fit
has nine tenths of the rows, and with five the cost is half;"""
MANY_ROWS = 100
"""and from how many rows on five will do."""
MOST_RANKED = 10_000_000
"""Cells up to which parts are made by their ranks, which do not depend on units: 80 MB. Beyond, by
the cells themselves. A choice."""
ENOUGH = 1e-4
"""Standard errors from the minimum at which a fit of a part ends: no loss changes by as much."""


def fold_places(rows: FloatArray | SparseRows, codes: IntArray, size: int) -> IntArray:
    """Return the part of every row: by what the rows say, class by class.

    Neither the order of rows nor the units of columns matter.

    >>> rows, codes = np.arange(6.0)[:, np.newaxis], np.array([0, 0, 0, 1, 1, 1])
    >>> np.bincount(fold_places(rows, codes, 3)).tolist()
    [2, 2, 2]
    """
    held = _ranks(rows) if len(rows) * rows.shape[1] <= MOST_RANKED else rows
    order = np.lexsort((content_hashes(held, range(rows.shape[1])), codes))
    places = np.empty(len(codes), dtype=np.intp)
    places[order] = np.arange(len(codes)) % size  # the next class goes on where the last one ended
    return places


def _ranks(rows: FloatArray | SparseRows) -> FloatArray:
    """Return the rank of every cell in its column, of equal cells the same."""
    dense = rows.toarray() if isinstance(rows, SparseRows) else rows
    order = np.argsort(dense, axis=0, kind="stable")
    ordered = np.take_along_axis(dense, order, axis=0)
    steps = np.zeros(dense.shape)
    np.cumsum(ordered[1:] > ordered[:-1], axis=0, out=steps[1:])
    found = np.empty(dense.shape)
    np.put_along_axis(found, order, steps, axis=0)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class FoldFit:
    """One part of the rows, and the loss over all others.

    held     where the rows of the part stand
    fit      the loss over the others
    present  the classes that they have
    """

    held: IntArray
    fit: PenalisedLoss
    present: IntArray

    @classmethod
    def of(
        cls,
        rows: FloatArray | SparseRows,
        codes: IntArray,
        weights: FloatArray | None,
        held: NDArray[np.bool_],
        intercept: bool,
    ) -> Self:
        """Return the part of the rows that is `held`."""
        kept = np.flatnonzero(~held)
        present, own = np.unique(codes[kept], return_inverse=True)
        loss = standardised_loss(
            rows[kept],
            own.astype(np.intp),
            len(present),
            None if weights is None else weights[kept],
            intercept,
        )
        return cls(np.flatnonzero(held), PenalisedLoss(loss), present)

    def log_posterior(
        self, rows: FloatArray | SparseRows, size: int, penalty: float, theta: FloatArray
    ) -> FloatArray:
        """Return log p(y | x) of the held rows under a penalty; a search begins near `theta`."""
        found = np.full((len(self.held), size), -np.inf)
        if len(self.present) == 1:
            found[:, self.present] = 0.0
            return found
        every = np.concatenate((np.zeros((1, theta.shape[1])), theta))[self.present]
        loss = self.fit.loss
        fitted = self.fit.minimum(penalty, every[1:] - every[0], ENOUGH).theta
        held = rows[self.held]
        dense = held.toarray() if isinstance(held, SparseRows) else held
        standard = (dense - loss.origin) * loss.inverse
        scores = np.zeros((len(dense), len(self.present)))
        scores[:, 1:] = standard @ fitted[:, 1:].T + fitted[:, 0]
        found[:, self.present] = normalized(scores)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class FoldFits:
    """All parts of the rows, each with the loss over the others."""

    rows: FloatArray | SparseRows
    size: int
    folds: tuple[FoldFit, ...]

    @classmethod
    def of(
        cls,
        rows: FloatArray | SparseRows,
        codes: IntArray,
        size: int,
        weights: FloatArray | None,
        intercept: bool,
    ) -> Self:
        """Part rows of `size` classes, once."""
        many = min(MANY_FOLDS if len(codes) <= MANY_ROWS else FEW_FOLDS, len(codes))
        places = fold_places(rows, codes, many)
        folds = (FoldFit.of(rows, codes, weights, places == f, intercept) for f in range(many))
        return cls(rows, size, tuple(folds))

    def log_posterior(self, penalty: float, theta: FloatArray) -> FloatArray:
        """Return log p(y | x) of every row (n, k) by a fit without its part, from near `theta`."""
        found = np.empty((len(self.rows), self.size))
        for fold in self.folds:
            found[fold.held] = fold.log_posterior(self.rows, self.size, penalty, theta)
        return found
