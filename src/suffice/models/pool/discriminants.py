"""Gaussian discriminants as Student-t predictives, over a grid of pooling and shrinking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.models.pool.averages import LOG_TEMPERATURES, at_temperatures, tempered
from suffice.models.pool.member import Judged
from suffice.special_functions import log_gamma_rise

if TYPE_CHECKING:
    from suffice.models.pool.folded_rows import FoldedRows, NewRows
    from suffice.models.pool.member import Answer
    from suffice.rows import FloatArray, IntArray

POOLS = (1.0, 0.7, 0.3, 0.1)
"""How far classes share one covariance: wholly, or partly as in Friedman's discriminants."""
SHRINKS = (0.02, 0.1, 0.3, 0.6, 0.95)
"""How far correlations are drawn to zero."""
FEWEST_ROWS = 3.0
"""Rows of every class, in every fold, from which on classes may have covariances of their own."""
PRIOR_ROWS = 2.0
"""Rows that the whole variance of a column is worth beside those within classes: a column that is
constant within classes of few rows would otherwise decide alone (vote, 50 rows: 1.8 nats)."""
FEWEST_FREEDOM = 4.0
"""Degrees of freedom of the t, at least: n - p + 1 is below one where columns are many."""
MOST_WORK = 2e9
"""Multiplications of all factorisations, p³ each, for covariances of classes to be tried."""
MOST_SHARED_WORK = 2e10
"""The same for the shared covariance alone; beyond it the member is left out."""


@dataclass(frozen=True, slots=True, eq=False)
class _Scatter:
    """Whitened training rows: what the log densities of any setting are made from.

    means       (k, p), in standard deviations
    deviations  (p,) by which features are divided
    residuals   (n, r) in a basis (p, r), where that is shorter than p
    basis       None: the features themselves
    """

    means: FloatArray
    deviations: FloatArray
    residuals: FloatArray
    basis: FloatArray | None
    codes: IntArray
    weights: FloatArray
    freedom: float

    @classmethod
    def of(cls, features: FloatArray, codes: IntArray, weights: FloatArray, size: int) -> Self:
        """Learn from features (n, p) with weights (n,)."""
        used = weights > 0.0
        x, codes, w = features[used], codes[used], weights[used]
        members = np.zeros((len(x), size))
        members[np.arange(len(x)), codes] = w
        totals = members.sum(axis=0)
        centre = w @ x / w.sum()
        means = members.T @ x / np.maximum(totals, 1e-300)[:, None]
        means = np.where(totals[:, None] > 0.0, means, centre)
        residuals = (x - means[codes]) * np.sqrt(w)[:, None]
        freedom = max(float(w.sum() - (totals > 0.0).sum()), 1.0)
        whole = w @ np.square(x - centre) / w.sum()
        within = np.square(residuals).sum(axis=0) + PRIOR_ROWS * whole
        deviations = np.sqrt(np.maximum(within / (freedom + PRIOR_ROWS), 1e-9))
        residuals = residuals / deviations
        basis = None
        if residuals.shape[1] > len(residuals):
            left, values, right = np.linalg.svd(residuals, full_matrices=False)
            some = values > 1e-8 * max(float(values[0]), 1e-300)
            basis, residuals = right[some].T, left[:, some] * values[some]
        return cls(means / deviations, deviations, residuals, basis, codes, totals, freedom)

    def log_densities(self, features: FloatArray, pools: tuple[float, ...]) -> FloatArray:
        """Return log t densities (G, m, k) for all pools and, within each, SHRINKS."""
        x = features / self.deviations
        width = x.shape[1]
        centres = self.means if self.basis is None else self.means @ self.basis
        inside = x if self.basis is None else x @ self.basis
        rest = self._outside(x, inside, centres)
        whole = self.residuals.T @ self.residuals
        freedoms, spreads, gammas = self._laws(pools, width)
        found = []
        for i, pool in enumerate(pools):
            values, vectors = self._eigen(whole, pool)
            for c in range(len(centres)):
                away = inside - centres[c]
                squares = np.square(away @ vectors[min(c, len(vectors) - 1)])
                variances = values[min(c, len(values) - 1)]
                for j, shrink in enumerate(SHRINKS):
                    scale = (1.0 - shrink) * np.maximum(variances, 0.0) + shrink
                    distance = squares @ (1.0 / scale) + rest[:, c] / shrink
                    # Outside the basis a variance is `shrink` in every class: it cancels.
                    volume = float(np.log(scale).sum())
                    half = 0.5 * (freedoms[i, c, j] + width)
                    spread = spreads[i, c, j]
                    constant = gammas[i, c, j] - (0.5 * width * np.log(spread) + 0.5 * volume)
                    found.append(constant - half * np.log1p(distance / spread))
        grid = np.array(found).reshape(len(pools), len(centres), len(SHRINKS), len(x))
        return grid.transpose(0, 2, 3, 1).reshape(-1, len(x), len(centres))

    def _outside(self, x: FloatArray, inside: FloatArray, centres: FloatArray) -> FloatArray:
        """Return squared distances (m, k) in directions that no training row has."""
        found = np.zeros((len(x), len(centres)))
        if self.basis is None:
            return found
        for c in range(len(centres)):
            whole = np.square(x - self.means[c]).sum(axis=1)
            found[:, c] = whole - np.square(inside - centres[c]).sum(axis=1)
        return np.maximum(found, 0.0)

    def _eigen(self, whole: FloatArray, pool: float) -> tuple[FloatArray, FloatArray]:
        """Return eigenvalues and vectors of the covariances: of one, or of one a class."""
        if pool == 1.0:
            values, vectors = np.linalg.eigh(whole / self.freedom)
            return values[None], vectors[None]
        covariances = []
        for c, weight in enumerate(self.weights):
            own = self.residuals[self.codes == c]
            mixed = (1.0 - pool) * (own.T @ own) + pool * whole
            covariances.append(mixed / self._freedom(weight, pool))
        return np.linalg.eigh(np.stack(covariances))

    def _freedom(self, weight: float, pool: float) -> float:
        return float((1.0 - pool) * max(weight - 1.0, 0.0) + pool * self.freedom)

    def _laws(
        self, pools: tuple[float, ...], width: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return freedom, spread and ratio of log gammas (pools, k, SHRINKS) of each t.

        Shrinking is worth rows, as a prior of its strength is.
        """
        rows = np.array([[self._freedom(own, pool) for own in self.weights] for pool in pools])
        freedoms = np.maximum(
            rows[..., None] / (1.0 - np.array(SHRINKS)) - width + 1.0, FEWEST_FREEDOM
        )
        spreads = freedoms * (1.0 + 1.0 / (self.weights[:, None] + 1.0))
        return freedoms, spreads, log_gamma_rise(0.5 * freedoms, 0.5 * width)


class DiscriminantMember:
    """GDA on values or on normal scores: every setting tempered, all averaged."""

    def __init__(self, which: str, name: str) -> None:
        self.which = which
        self.name = name

    def _work(self, rows: FoldedRows) -> float:
        side = min(rows.features[self.which].shape[1], len(rows))
        return float(side) ** 3 * (rows.count + 1)

    def _pools(self, rows: FoldedRows) -> tuple[float, ...]:
        """Return the pools that these rows allow, in every fold."""
        fewest = (rows.training_weights @ (rows.members > 0.0)).min()
        dear = self._work(rows) * rows.size * (len(POOLS) - 1) > MOST_WORK
        return POOLS[:1] if fewest < FEWEST_ROWS or dear else POOLS

    def affordable(self, rows: FoldedRows) -> bool:
        """Whether the shared covariance can be factorised for every fold."""
        return rows.features[self.which].shape[1] > 0 and self._work(rows) <= MOST_SHARED_WORK

    def settings(self, rows: FoldedRows) -> int:
        """Pools, shrinks and temperatures."""
        return len(self._pools(rows)) * len(SHRINKS) * len(LOG_TEMPERATURES)

    def judge(self, rows: FoldedRows) -> Judged:
        """Judge each fold by the covariances of the others."""
        pools = self._pools(rows)
        found = np.empty((len(pools) * len(SHRINKS), len(rows), rows.size))
        for fold in range(rows.count):
            held, features = rows.folds == fold, rows.fold_features[self.which][fold]
            scatter = _Scatter.of(features, rows.codes, rows.training_weights[fold], rows.size)
            found[:, held] = scatter.log_densities(features[held], pools)
        grid, posterior = tempered(
            found, rows.judged_log_priors, rows.codes, rows.weights, rows.folds
        )
        return Judged(posterior, grid)

    def ready(self, rows: FoldedRows, grid: FloatArray) -> Answer:
        """Learn means and covariances from all rows."""
        pools = self._pools(rows)
        scatter = _Scatter.of(rows.features[self.which], rows.codes, rows.weights, rows.size)

        def answer(new: NewRows) -> FloatArray:
            densities = scatter.log_densities(new.features[self.which], pools)
            return at_temperatures(grid, densities, rows.log_priors)

        return answer
