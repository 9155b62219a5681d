"""What one column tells about the class, by rows that were left out: log-losses of simple laws."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows.cells import FloatArray

FOLDS = 5
"""Parts into which rows are cut; each is judged by what the others show."""
PRIOR_ROWS = 2.0
"""Rows of the table's own shares that are added to what a value shows. A choice: a value that was
seen twice counts for as much as all others together."""
MOST_ROWS = 20_000
"""Rows that a column is judged by: log-losses are then known to about a hundredth."""
LEAST_VARIANCE = 1e-6
"""The least variance of a class, as a share of the column's: a class of one value has some."""


class Gain(NamedTuple):
    """By how much one log-loss is lower than another, on average, and its standard error."""

    mean: float
    error: float

    @property
    def errors(self) -> float:
        """How many standard errors it is above nothing."""
        return self.mean / self.error if self.error > 0.0 else 0.0


class JudgedRows:
    """Labels of rows, cut into folds: what columns are judged by.

    >>> rows = JudgedRows(np.array(list("aabb") * 50), seed=0)
    >>> told = rows.by_value(np.array([0, 0, 1, 1] * 50))
    >>> rows.gain(rows.shares(), told).errors > 10
    True
    """

    def __init__(self, labels: NDArray[np.generic], seed: int) -> None:
        size = len(labels)
        rng = np.random.default_rng(seed)
        many = size > MOST_ROWS
        self.kept = np.sort(rng.choice(size, MOST_ROWS, replace=False)) if many else np.arange(size)
        """Which rows are judged."""
        self.classes, self.codes = np.unique(labels[self.kept], return_inverse=True)
        self.folds = rng.permutation(len(self.kept)) % FOLDS

    def shares(self) -> FloatArray:
        """Return the log-loss of each row where nothing is known but how frequent classes are."""
        return self.by_value(np.zeros(len(self.codes), dtype=np.intp))

    def tallies(self, values: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how often each class came with each value, in each fold: (folds, values, k)."""
        many, k = int(values.max(initial=0)) + 1, len(self.classes)
        flat = (self.folds * many + values) * k + self.codes
        counted = np.bincount(flat, minlength=FOLDS * many * k)
        return counted.reshape(FOLDS, many, k).astype(np.float64)

    def by_value(self, values: NDArray[np.intp]) -> FloatArray:
        """Return the log-loss of each row by the rows of other folds that have its value."""
        counted = self.tallies(values)
        return self._losses(counted.sum(axis=0) - counted, values)

    def _prior(self, others: NDArray[np.float64]) -> NDArray[np.float64]:
        shares = others.sum(axis=1, keepdims=True) + 1.0 / others.shape[-1]
        found: NDArray[np.float64] = PRIOR_ROWS * shares / shares.sum(-1, keepdims=True)
        return found

    def _losses(self, others: NDArray[np.float64], values: NDArray[np.intp]) -> FloatArray:
        shown = (others + self._prior(others)) / (others.sum(-1, keepdims=True) + PRIOR_ROWS)
        found: FloatArray = -np.log(shown[self.folds, values, self.codes])
        return found

    def by_normal(self, numbers: FloatArray) -> FloatArray:
        """Return the log-loss of each row where the column is normal in each class."""
        k = len(self.classes)
        centred = numbers - numbers.mean()
        spread = float(centred.var()) or 1.0
        sums = np.zeros((3, FOLDS, k))
        for power in range(3):
            np.add.at(sums[power], (self.folds, self.codes), centred**power)
        weight, first, second = sums.sum(axis=1, keepdims=True) - sums
        mean = first / np.maximum(weight, 1.0)
        variance = second / np.maximum(weight, 1.0) - mean**2
        # Drawn to the variance of the column by two rows: a class of one row has one, too.
        variance = (weight * variance + PRIOR_ROWS * spread) / (weight + PRIOR_ROWS)
        variance = np.maximum(variance, LEAST_VARIANCE * spread)
        prior = np.log((weight + 1.0 / k) / (weight + 1.0 / k).sum(-1, keepdims=True))
        fold = self.folds
        distance = (centred[:, None] - mean[fold]) ** 2 / variance[fold]
        scores = prior[fold] - 0.5 * (distance + np.log(variance[fold]))
        top = scores.max(axis=1)
        total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        found: FloatArray = total - scores[np.arange(len(fold)), self.codes]
        return found

    def gain(self, before: FloatArray, after: FloatArray) -> Gain:
        """Return by how much the second loss is lower."""
        lower = before - after
        return Gain(float(lower.mean()), float(lower.std()) / max(1.0, len(lower) ** 0.5))


def equal_bins(numbers: FloatArray, bins: int) -> NDArray[np.intp]:
    """Return in which of some bins of as many rows each number is; blanks in one of their own.

    >>> equal_bins(np.array([1.0, 2.0, 3.0, 4.0, np.nan]), 2)
    array([0, 0, 1, 1, 2])
    """
    there = np.isfinite(numbers)
    inner = np.arange(1, bins) / bins
    edges = np.unique(np.quantile(numbers[there], inner)) if there.any() else np.zeros(0)
    found = np.searchsorted(edges, numbers, side="left")
    return np.where(there, found, len(edges) + 1).astype(np.intp)
