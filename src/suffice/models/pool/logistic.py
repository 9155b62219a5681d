"""Ridge softmax over a path of penalties: on columns, on normal scores, and on kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.pool.averages import cross_fitted, most_of, softmax
from suffice.models.pool.folded_rows import RANKS
from suffice.models.pool.member import Judged
from suffice.models.pool.softmax_path import softmax_path

if TYPE_CHECKING:
    from suffice.models.pool.folded_rows import FoldedRows, NewRows
    from suffice.models.pool.member import Answer
    from suffice.models.pool.softmax_path import SoftmaxPath
    from suffice.rows import FloatArray, IntArray

PENALTIES = tuple(1000.0 * 10.0 ** (-0.5 * step) for step in range(11))
"""λ from 1,000 to .01 on the sum of losses, two in each power of ten."""
KERNEL_PENALTIES = tuple(1.0 / c for c in (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0))
"""λ for kernels, whose features are at most 1."""
SCALES = (0.3, 1.0)
"""Squared length scales of the kernels, in median squared distances between rows."""
MOST_DIRECTIONS = 150
"""Directions of a kernel matrix that are kept: those of the largest eigenvalues."""
LEAST_EIGENVALUE = 1e-3
"""Directions with a smaller share of the largest eigenvalue are left out."""
MOST_WORK = 4e8
"""Multiplications of one step over all folds, beyond which the member is left out."""


def _judged(path: SoftmaxPath, features: FloatArray, folds: IntArray) -> FloatArray:
    """Return log posteriors (L, n, k) of each row, by the fold that has not seen it."""
    size = path.intercepts.shape[-1]
    found = np.empty((len(path.weights), len(features), size))
    for fold in range(int(folds.max()) + 1):
        held = folds == fold
        found[:, held] = path.log_posteriors(features[held], fold)
    return found


def _average(path: SoftmaxPath, features: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the average posterior (m, k) over penalties, of what was learned from all rows."""
    found = np.zeros((len(features), path.intercepts.shape[-1]))
    for place in np.flatnonzero(shares):
        scores = features @ path.weights[place, -1] + path.intercepts[place, -1]
        found += shares[place] * softmax(scores)
    return found


class LogisticMember:
    """Softmax on columns, averaged over penalties."""

    def __init__(self, which: str, name: str) -> None:
        self.which = which
        self.name = name

    def affordable(self, rows: FoldedRows) -> bool:
        """Whether a step is cheap, and a basis can be found."""
        width = int(rows.features[self.which].shape[1])
        rank = min(width, len(rows))
        return width > 0 and len(rows) * rank * rows.size * (rows.count + 1) <= MOST_WORK

    def settings(self, rows: FoldedRows) -> int:  # noqa: ARG002
        """The penalties."""
        return len(PENALTIES)

    def _basis(self, rows: FoldedRows) -> FloatArray:
        """Return the directions in which the features' squares are diagonal."""
        features = rows.features[self.which]
        if features.shape[1] > len(features):
            return np.linalg.svd(features, full_matrices=False)[2].T
        return np.linalg.eigh(features.T @ features)[1]

    def judge(self, rows: FoldedRows) -> Judged:
        """Fit all folds at once, and all rows beside them."""
        basis = self._basis(rows)
        features = rows.features[self.which] @ basis
        path = softmax_path(features, _truth(rows), rows.training_weights, PENALTIES)
        found = _judged(path, features, rows.folds)
        grid, posterior = cross_fitted(found, rows.codes, rows.weights, rows.folds)
        return Judged(posterior, grid, self._answer(path, basis, grid))

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:
        """Fit all rows."""
        basis = self._basis(rows)
        features = rows.features[self.which] @ basis
        path = softmax_path(features, _truth(rows), rows.weights[None], PENALTIES)
        return self._answer(path, basis, grid)

    def _answer(self, path: SoftmaxPath, basis: FloatArray, grid: FloatArray) -> Answer:
        shares = most_of(grid)
        return lambda new: _average(path, new.features[self.which] @ basis, shares)


class KernelLogisticMember:
    """Softmax on Gaussian kernels of the normal scores, averaged over scales and penalties."""

    name = "kernel logistic"

    def affordable(self, rows: FoldedRows) -> bool:
        """Whether a step is cheap."""
        rank = min(MOST_DIRECTIONS, len(rows))
        return (
            rows.features[RANKS].shape[1] > 0
            and len(rows) * rank * rows.size * (rows.count + 1) <= MOST_WORK
        )

    def settings(self, rows: FoldedRows) -> int:  # noqa: ARG002
        """Scales and penalties."""
        return len(SCALES) * len(KERNEL_PENALTIES)

    def judge(self, rows: FoldedRows) -> Judged:
        """Fit all folds at once for each scale."""
        paths, found = [], []
        for scale in SCALES:
            kernel = _Kernel(rows.features[RANKS], scale)
            features = kernel.features(rows.features[RANKS])
            path = softmax_path(features, _truth(rows), rows.training_weights, KERNEL_PENALTIES)
            paths.append((kernel, path))
            found.append(_judged(path, features, rows.folds))
        log_posteriors = np.concatenate(found)
        grid, posterior = cross_fitted(log_posteriors, rows.codes, rows.weights, rows.folds)
        return Judged(posterior, grid, _kernel_answer(paths, grid))

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:
        """Fit all rows for each scale."""
        paths = []
        for scale in SCALES:
            kernel = _Kernel(rows.features[RANKS], scale)
            features = kernel.features(rows.features[RANKS])
            weights = rows.weights[None]
            paths.append((kernel, softmax_path(features, _truth(rows), weights, KERNEL_PENALTIES)))
        return _kernel_answer(paths, grid)


def _kernel_answer(paths: list[tuple[_Kernel, SoftmaxPath]], grid: FloatArray) -> Answer:
    shares = most_of(grid).reshape(len(paths), -1)

    def answer(new: NewRows) -> FloatArray:
        found = np.zeros((len(new.rows), paths[0][1].intercepts.shape[-1]))
        distances = squared_distances(new.features[RANKS], paths[0][0].rows)
        for (kernel, path), part in zip(paths, shares, strict=True):
            if part.any():
                found += _average(path, kernel.features_at(distances), part)
        return found

    return answer


class _Kernel:
    """The leading directions of exp(-d²/2s²) between training rows, as features of any row."""

    def __init__(self, rows: FloatArray, scale: float) -> None:
        distances = squared_distances(rows, rows)
        apart = distances[distances > 1e-9]
        self.rows = rows
        self.width = 2.0 * scale * float(np.median(apart) if len(apart) else 1.0)
        values, vectors = np.linalg.eigh(np.exp(-distances / self.width))
        used = values > LEAST_EIGENVALUE * values[-1]
        used[:-MOST_DIRECTIONS] = False
        self.directions = vectors[:, used] / np.sqrt(values[used])

    def features(self, rows: FloatArray) -> FloatArray:
        """Return features (m, r) of rows (m, p)."""
        return self.features_at(squared_distances(rows, self.rows))

    def features_at(self, distances: FloatArray) -> FloatArray:
        """Return features (m, r) of rows at squared distances (m, n) from the training rows."""
        found: FloatArray = np.exp(distances * (-1.0 / self.width)) @ self.directions
        return found


def squared_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return squared distances (n, m) between rows."""
    lengths = np.square(left).sum(axis=1)[:, None] + np.square(right).sum(axis=1)
    found: FloatArray = np.maximum(lengths - 2.0 * (left @ right.T), 0.0)
    return found


def _truth(rows: FoldedRows) -> FloatArray:
    """Return the classes of rows (n, k): 1 for the own, 0 for others."""
    return np.eye(rows.size)[rows.codes]
