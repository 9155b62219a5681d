"""Ridge softmax over a path of penalties: on columns, on normal scores, and on kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.pool.averages import cross_fitted, most_of, softmax
from suffice.models.pool.folded_rows import RANKS, SMALL
from suffice.models.pool.member import Judged, when_asked
from suffice.models.pool.softmax_path import ROUGHLY, softmax_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.pool.folded_rows import FoldedRows, NewRows
    from suffice.models.pool.member import Answer
    from suffice.models.pool.softmax_path import SoftmaxPath
    from suffice.rows import FloatArray, IntArray

    BoolArray = NDArray[np.bool_]

PENALTIES = tuple(1000.0 * 10.0 ** (-0.5 * step) for step in range(11))
"""λ from 1,000 to .01 on the sum of losses, two in each power of ten."""
KERNEL_PENALTIES = tuple(1.0 / c for c in (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0))
"""λ for kernels, whose features are at most 1."""
SCALES = (0.3, 1.0)
"""Squared length scales of the kernels, in median squared distances between rows."""
MOST_DIRECTIONS = 150
"""Directions of a kernel matrix that are kept: those of the largest eigenvalues."""
MANY_ROWS = 800
"""Rows from which a part of the eigenvectors takes less time than all of them: half of it at 1,600
rows, three times as much at 300, where loading SciPy takes longer than all that is left."""
LEAST_EIGENVALUE = 1e-3
"""Directions with a smaller share of the largest eigenvalue are left out."""
MOST_WORK = 4e8
"""Multiplications of one step over all folds, beyond which the member is left out."""
MOST_PAIR_WORK = 2e6
"""Multiplications of one step over all pairs of folds, beyond which the settings that judge a fold
are weighed by models that have seen it: about half a second."""
SOFTMAX = 10
"""Multiplications that an exponential and a logarithm are worth."""


def _judged(path: SoftmaxPath, features: FloatArray, folds: IntArray) -> FloatArray:
    """Return log posteriors (L, n, k) of each row, by the fold that has not seen it.

    Features (folds, n, r) are prepared by the rows of the other folds.
    """
    size = path.intercepts.shape[-1]
    found = np.empty((len(path.weights), len(folds), size))
    for fold in range(int(folds.max()) + 1):
        held = folds == fold
        found[:, held] = path.log_posteriors(features[fold][held], fold)
    return found


def _padded(features: Sequence[FloatArray]) -> FloatArray:
    """Return features (m, n, r) from m of (n, r) with different r, filled up with zeros.

    Zeros change sums in their last digits, for these are added up in other groups. What answers is
    therefore never learned beside others: a file would not give it back.
    """
    found = np.zeros((len(features), len(features[0]), max(one.shape[1] for one in features)))
    for place, one in enumerate(features):
        found[place, :, : one.shape[1]] = one
    return found


def _average(path: SoftmaxPath, features: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the average posterior (m, k) over penalties, of what was learned from all rows."""
    found = np.zeros((len(features), path.intercepts.shape[-1]))
    for place in np.flatnonzero(shares):
        scores = features @ path.weights[place, -1] + path.intercepts[place, -1]
        found += shares[place] * softmax(scores)
    return found


def _without(
    rows: FoldedRows, features: FloatArray, penalties: Sequence[float]
) -> FloatArray | None:
    """Return losses (folds, L) over all other folds, by models that have not seen the fold.

    A model without folds f and g judges g for f, and f for g. Features (n, r) are prepared by all
    rows: what is found here only weighs settings. None where there are too many rows or classes.
    """
    size, rank = features.shape
    work = size * (rank + SOFTMAX) * rows.size * rows.count * (rows.count - 1) / 2
    if size > SMALL or rows.count < 3 or work > MOST_PAIR_WORK:
        return None
    pairs = [(f, g) for f in range(rows.count) for g in range(f)]
    weights = np.stack([np.where(np.isin(rows.folds, pair), 0.0, rows.weights) for pair in pairs])
    path = softmax_path(features, _truth(rows), weights, penalties, ROUGHLY)
    found = np.zeros((rows.count, len(penalties)))
    for place, pair in enumerate(pairs):
        for seen, judged in (pair, pair[::-1]):
            held = np.flatnonzero(rows.folds == judged)
            log_posteriors = path.log_posteriors(features[held], place)
            true = log_posteriors[:, np.arange(len(held)), rows.codes[held]]
            found[seen] -= true @ rows.weights[held]
    return found


def _directions(features: FloatArray) -> FloatArray:
    """Return the directions (p, r) in which the squares of features (n, p) are diagonal."""
    if features.shape[1] > len(features):
        return np.linalg.svd(features, full_matrices=False)[2].T
    return np.linalg.eigh(features.T @ features)[1]


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

    def judge(self, rows: FoldedRows) -> Judged:
        """Fit all folds at once."""
        prepared = rows.fold_features[self.which]
        features = _padded([one @ _directions(one) for one in prepared])
        path = softmax_path(features, _truth(rows), rows.training_weights[:-1], PENALTIES)
        found = _judged(path, features, rows.folds)
        basis = _directions(rows.features[self.which])
        without = _without(rows, rows.features[self.which] @ basis, PENALTIES)
        grid, posterior = cross_fitted(found, rows.codes, rows.weights, rows.folds, without=without)
        return Judged(posterior, grid)

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:
        """Fit all rows."""
        basis = _directions(rows.features[self.which])
        features = rows.features[self.which] @ basis
        path = softmax_path(features, _truth(rows), rows.weights[None], PENALTIES)
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
        found, without = [], []
        training_weights = rows.training_weights[:-1]
        by_fold = [
            _kernel_features(one, weights > 0.0)
            for one, weights in zip(rows.fold_features[RANKS], training_weights, strict=True)
        ]
        kernels = _kernels(rows.features[RANKS])
        for place, kernel in enumerate(kernels):
            features = _padded([by_scale[place] for by_scale in by_fold])
            path = softmax_path(features, _truth(rows), training_weights, KERNEL_PENALTIES)
            found.append(_judged(path, features, rows.folds))
            without.append(_without(rows, kernel.features(kernel.rows), KERNEL_PENALTIES))
        inner = [part for part in without if part is not None]
        grid, posterior = cross_fitted(
            np.concatenate(found),
            rows.codes,
            rows.weights,
            rows.folds,
            without=np.concatenate(inner, axis=1) if len(inner) == len(SCALES) else None,
        )
        # Its eigenvectors are kept: they take longer than all else where rows are many.
        return Judged(posterior, grid, when_asked(lambda: _kernel_answer(rows, kernels, grid)))

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:
        """Fit all rows for each scale."""
        return _kernel_answer(rows, _kernels(rows.features[RANKS]), grid)


def _kernel_answer(rows: FoldedRows, kernels: list[_Kernel], grid: FloatArray) -> Answer:
    """Fit all rows by each kernel of them."""
    truth, weights = _truth(rows), rows.weights[None]
    paths = [
        (kernel, softmax_path(kernel.features(kernel.rows), truth, weights, KERNEL_PENALTIES))
        for kernel in kernels
    ]
    shares = most_of(grid).reshape(len(paths), -1)

    def answer(new: NewRows) -> FloatArray:
        found = np.zeros((len(new.rows), paths[0][1].intercepts.shape[-1]))
        distances = squared_distances(new.features[RANKS], paths[0][0].rows)
        for (kernel, path), part in zip(paths, shares, strict=True):
            if part.any():
                found += _average(path, kernel.features_at(distances), part)
        return found

    return answer


@dataclass(frozen=True, slots=True, eq=False)
class _Kernel:
    """The leading directions of exp(-d²/2s²) between training rows, as features of any row.

    rows        (n, p), between which distances are
    width       2s²
    directions  (n, r)
    """

    rows: FloatArray
    width: float
    directions: FloatArray

    def features(self, rows: FloatArray) -> FloatArray:
        """Return features (m, r) of rows (m, p)."""
        return self.features_at(squared_distances(rows, self.rows))

    def features_at(self, distances: FloatArray) -> FloatArray:
        """Return features (m, r) of rows at squared distances (m, n) from the training rows."""
        found: FloatArray = np.exp(distances * (-1.0 / self.width)) @ self.directions
        return found


def _median(distances: FloatArray) -> float:
    """Return the median squared distance between rows that differ; 1 where all are alike."""
    apart = distances[distances > 1e-9]
    return float(np.median(apart)) if len(apart) else 1.0


def _kernels(rows: FloatArray) -> list[_Kernel]:
    """Return the kernel of each scale between rows (n, p)."""
    distances = squared_distances(rows, rows)
    median, found = _median(distances), []
    for scale in SCALES:
        width = 2.0 * scale * median
        found.append(_Kernel(rows, width, _leading(np.exp(-distances / width))))
    return found


def _kernel_features(rows: FloatArray, learned: BoolArray) -> list[FloatArray]:
    """Return features (n, r) of rows (n, p) for each scale, by kernels between some of them (n,).

    The same as those of `_kernels`, which have all distances and exponentials twice.
    """
    distances = squared_distances(rows, rows[learned])
    median, found = _median(distances[learned]), []
    for scale in SCALES:
        raised = np.exp(distances * (-1.0 / (2.0 * scale * median)))
        found.append(raised @ _leading(raised[learned]))
    return found


def _leading(kernel: FloatArray) -> FloatArray:
    """Return the directions (n, r) in which features of a kernel matrix (n, n) are told apart."""
    size = len(kernel)
    if size > MANY_ROWS:
        from scipy.linalg import eigh  # fewer rows do without, and start sooner

        # A part of the eigenvectors takes half of the time of all of them.
        wanted = [size - MOST_DIRECTIONS, size - 1]
        values, vectors = eigh(kernel, subset_by_index=wanted, check_finite=False)
    else:
        values, vectors = np.linalg.eigh(kernel)
        values, vectors = values[-MOST_DIRECTIONS:], vectors[:, -MOST_DIRECTIONS:]
    used = values > LEAST_EIGENVALUE * values[-1]
    directions: FloatArray = vectors[:, used] / np.sqrt(values[used])
    return directions


def squared_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return squared distances (n, m) between rows."""
    lengths = np.square(left).sum(axis=1)[:, None] + np.square(right).sum(axis=1)
    found: FloatArray = np.maximum(lengths - 2.0 * (left @ right.T), 0.0)
    return found


def _truth(rows: FoldedRows) -> FloatArray:
    """Return the classes of rows (n, k): 1 for the own, 0 for others."""
    return np.eye(rows.size)[rows.codes]
