"""Naive Bayes over the columns' scores: all with one exponent, or each with a weight of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.pool.averages import (
    at_temperatures,
    cross_fitted,
    log_softmax,
    softmax,
    tempered,
)
from suffice.models.pool.column_scores import log_shares
from suffice.models.pool.combined.exponents import column_weights
from suffice.models.pool.member import Judged

if TYPE_CHECKING:
    from suffice.models.pool.folded_rows import FoldedRows, NewRows
    from suffice.models.pool.member import Answer
    from suffice.rows import FloatArray

MOST_SCORES = 1 << 23
"""Numbers (rows × columns × classes) that column scores may hold, in each of up to six copies:
64 MB each."""
MOST_WORK = 3e8
"""Multiplications of one step of the weighted search, over all folds."""
DEVIATIONS = (0.07, 0.25, 0.8)
"""τ: how far weights of columns may lie from their mean; averaged over. From the trials."""


class NaiveBayesMember:
    """log π_c + β Σ_j L_jc, averaged over β."""

    name = "naive Bayes"

    def affordable(self, rows: FoldedRows) -> bool:
        """Whether the scores of all columns fit."""
        return len(rows) * rows.rows.width * rows.size <= MOST_SCORES

    def settings(self, rows: FoldedRows) -> int:  # noqa: ARG002
        """The temperatures."""
        from suffice.models.pool.averages import LOG_TEMPERATURES

        return len(LOG_TEMPERATURES)

    def judge(self, rows: FoldedRows) -> Judged:
        """Within each fold, find temperatures by left-out scores of its training rows."""
        posterior = np.empty((len(rows), rows.size))
        for fold, scores in enumerate(rows.column_scores):
            weights = rows.training_weights[fold]
            used = weights > 0.0
            members = rows.members * (weights > 0.0)[:, None]
            totals = members.sum(axis=0)
            sums = scores.training.sum(axis=1)
            grid, _ = tempered(
                sums[None, used],
                log_shares(totals, members[used]),
                rows.codes[used],
                weights[used],
                np.zeros(int(used.sum()), dtype=np.intp),
            )
            held = ~used
            if held.any():
                posterior[held] = at_temperatures(grid, sums[None, held], log_shares(totals))
        return Judged(posterior, grid)

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:
        """Learn the columns from all rows."""

        def answer(new: NewRows) -> FloatArray:
            return at_temperatures(grid, new.column_scores.sum(axis=1)[None], rows.log_priors)

        return answer


class WeightedNaiveBayesMember:
    """Softmax of b_c + Σ_j w_j L_jc with w_j ≥ 0 near a common weight: discriminative on top.

    The weights are found on left-out scores. These carry a trace of the label itself, which a free
    weight could read off, so the member is judged by folds around everything, and weights may not
    be negative.
    """

    name = "weighted naive Bayes"

    def affordable(self, rows: FoldedRows) -> bool:
        """Whether the scores fit, and the Hessian of the weights is small."""
        size = len(rows) * rows.size
        work = size * (rows.rows.width + rows.size) ** 2 * (rows.count + 1)
        return size * rows.rows.width <= MOST_SCORES and work <= MOST_WORK

    def settings(self, rows: FoldedRows) -> int:  # noqa: ARG002
        """The deviations."""
        return len(DEVIATIONS)

    def judge(self, rows: FoldedRows) -> Judged:
        """Find weights on the training rows of each fold, from those of all rows."""
        found = np.empty((len(DEVIATIONS), len(rows), rows.size))
        final = []
        for place, deviation in enumerate(DEVIATIONS):
            start = column_weights(
                rows.column_scores[-1].training, rows.codes, rows.weights, deviation
            )
            final.append(start)
            for fold in range(rows.count):
                begun = start[0][rows.parts[fold].kept]
                weights, intercepts = _fitted(rows, fold, deviation, begun)
                held = rows.folds == fold
                scores = rows.column_scores[fold].training[held].transpose(0, 2, 1)
                found[place, held] = log_softmax(scores @ weights + intercepts)
        grid, posterior = cross_fitted(found, rows.codes, rows.weights, rows.folds)
        return Judged(posterior, grid, _answer(final, grid))

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:
        """Find the weights on all rows."""
        scores, weights = rows.all_column_scores.training, rows.weights
        final = [column_weights(scores, rows.codes, weights, deviation) for deviation in DEVIATIONS]
        return _answer(final, grid)


def _fitted(
    rows: FoldedRows, fold: int, deviation: float, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    weights = rows.training_weights[fold]
    used = weights > 0.0
    scores = rows.column_scores[fold].training[used]
    return column_weights(scores, rows.codes[used], weights[used], deviation, start)


def _answer(final: list[tuple[FloatArray, FloatArray]], grid: FloatArray) -> Answer:
    def answer(new: NewRows) -> FloatArray:
        scores = new.column_scores.transpose(0, 2, 1)
        found = np.zeros(scores.shape[:2])
        for share, (weights, intercepts) in zip(grid, final, strict=True):
            found += share * softmax(scores @ weights + intercepts)
        return found

    return answer
