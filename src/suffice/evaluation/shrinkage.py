"""Many shrinkages of a shared covariance, cross-validated from one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.columns import Columns
from suffice.evaluation.merged_folds import checked_folds, stratified_folds
from suffice.evaluation.metrics import CLIP
from suffice.models.gaussian.auto_covariance import shrinkage_path
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.learner import GaussianLearner
from suffice.rows import read_table
from suffice.rows.bad_cells import refuse_blanks
from suffice.statistics import leave_one_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ShrinkageLosses:
    """Held-out log-loss of every shrinkage in every fold: (shrinkages, folds)."""

    shrinks: FloatArray
    losses: FloatArray

    @property
    def best(self) -> float:
        """The shrinkage of least mean log-loss; of equals the strongest, which is the simplest."""
        means = self.losses.mean(axis=1)
        return float(self.shrinks[np.flatnonzero(means <= means.min() + 1e-12)].max())


def shrinkage_losses(
    rows: LabelledRows,
    shrinks: Sequence[float] | FloatArray,
    *,
    folds: int = 10,
    random_state: int = 0,
) -> ShrinkageLosses:
    """Cross-validate GaussianDiscriminant(shrink=γ) for many γ, without a single refit.

    One statistic for each fold, training sets by merging, and one eigendecomposition for each
    training set, which serves all γ. Blank cells are refused.

    >>> from sklearn.datasets import load_iris
    >>> from suffice.evaluation import LabelledRows
    >>> rows = LabelledRows.read(*load_iris(return_X_y=True))
    >>> found = shrinkage_losses(rows, [0.0, 0.1, 0.5, 1.0])
    >>> found.losses.mean(axis=1).round(3).tolist(), found.best
    ([0.059, 0.059, 0.077, 0.15], 0.1)
    """
    k = checked_folds(folds, len(rows))
    split = stratified_folds(rows.codes, k, random_state)
    table = read_table(rows.X)
    columns = Columns.infer(table)
    matrix = np.ascontiguousarray(columns.encode(table), dtype=np.float64)
    refuse_blanks(matrix, columns.coded_names)
    labels = range(len(rows.classes))
    learner = GaussianLearner(Gaussian("shared"))
    places = [np.flatnonzero(split == f) for f in range(k)]
    w = rows.weights

    def own(p: IntArray) -> FloatArray | None:
        return None if w is None else w[p]

    parts = [learner.summarize(matrix[p], rows.codes[p], list(labels), own(p)) for p in places]
    grid = np.asarray(shrinks, dtype=np.float64)
    losses = np.empty((len(grid), k))
    for f, statistics in enumerate(leave_one_out(parts)):
        p = places[f]
        path = shrinkage_path(statistics, grid)  # type: ignore[arg-type]
        found = path.log_posteriors(matrix[p])
        known = np.full(len(rows.classes), -1)
        known[np.array(path.labels, dtype=np.intp)] = np.arange(len(path.labels))
        at = known[rows.codes[p]]
        lost = -np.maximum(found[:, np.arange(len(p)), at], np.log(CLIP))
        lost[:, at < 0] = -np.log(CLIP)  # a class that the training rows did not hold
        losses[:, f] = np.average(lost, axis=1, weights=own(p))
    return ShrinkageLosses(grid, losses)
