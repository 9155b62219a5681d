"""Normal classes whose columns follow a few factors: Σ = ΛΛᵀ + Ψ, never written out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.kernels.dense.scores import linear_scores
from suffice.linear_algebra import LOG_TAU, lower_factor, lower_inverse
from suffice.models.gaussian.class_moments import CentredClasses
from suffice.models.gaussian.full_normals import FullNormals
from suffice.models.gaussian.missing_patterns import by_pattern
from suffice.models.gaussian.overflow_rows import far_winners

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray

BLOCK_CELLS = 60_000
"""Cells that are scored together: small enough to stay in the cache. A choice."""


@dataclass(frozen=True, eq=False)
class FactorNormals(CentredClasses):
    """The densities p(x | class) of k normal classes of q factors.

    In standardized columns z = (x - origin)/scale, class c has mean `means[c]` and covariance
    ΛΛᵀ + Ψ; `loadings` (m, a, q) and `noise` (m, a) hold Λ and the diagonal of Ψ over the active
    columns, once if all classes share them and k times if not.

    Densities are by Woodbury: with u = Ψ^-½(z - μ) and A = Ψ^-½Λ,

        (z - μ)ᵀΣ⁻¹(z - μ) = ‖u‖² - ‖G⁻¹Aᵀu‖²,   log|Σ| = log|Ψ| + log|M|,   M = I + AᵀA = GGᵀ
    """

    origin: FloatArray
    origin_low: FloatArray
    scale: FloatArray
    active: NDArray[np.bool_]
    means: FloatArray
    loadings: FloatArray
    noise: FloatArray

    silent = 0
    """Every column that varies has a variance of its own: no direction is without."""

    @property
    def rank(self) -> int:
        """The number of columns that vary."""
        return int(self.active.sum())

    @property
    def is_shared(self) -> bool:
        """Whether all classes have the same covariance, so that boundaries are flat."""
        return len(self.noise) == 1

    @cached_property
    def full(self) -> FullNormals:
        """The same law with its covariances written out, for whoever needs the matrices."""
        width = self.rank
        factors = np.empty((len(self.noise), width, width))
        for m, (loadings, noise) in enumerate(zip(self.loadings, self.noise, strict=True)):
            factors[m] = lower_factor(np.hstack([loadings, np.diag(np.sqrt(noise))]))
        place = self.origin, self.origin_low, self.scale, self.active, self.means
        return FullNormals(*place, factors, lower_inverse(factors), width)

    # Parameters in the user's units

    @property
    def own_loadings(self) -> FloatArray:
        """Λ in the user's units, (1, d, q) or (k, d, q); zero where nothing varies."""
        found = np.zeros((len(self.loadings), len(self.origin), self.loadings.shape[2]))
        found[:, self.active] = self.loadings * self.scale[self.active][:, np.newaxis]
        return found

    @property
    def covariances(self) -> FloatArray:
        """The covariances that are used, (1, d, d) or (k, d, d); zero where nothing varies."""
        d, act = len(self.origin), np.flatnonzero(self.active)
        rooted = self.loadings * self.scale[act][:, np.newaxis]
        result = np.zeros((len(self.noise), d, d))
        inner = rooted @ rooted.transpose(0, 2, 1)
        places = np.arange(len(act))
        inner[:, places, places] += self.noise * np.square(self.scale[act])
        result[:, act[:, np.newaxis], act] = inner
        return result

    # What rows are scored by

    @cached_property
    def _inner(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Ψ^-½ (m, a), the projections T = G⁻¹Aᵀ (m, q, a), and log|M| (m,)."""
        ends = 1.0 / np.sqrt(self.noise)
        turned = self.loadings * ends[:, :, np.newaxis]
        count = turned.shape[2]
        grams = np.eye(count) + turned.transpose(0, 2, 1) @ turned
        roots = np.linalg.cholesky(grams)
        logs = 2.0 * np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        return ends, np.linalg.solve(roots, turned.transpose(0, 2, 1)), logs

    @cached_property
    def log_volumes(self) -> FloatArray:
        """½ log|2πΣ| of every class, over the active columns."""
        logs = 0.5 * (np.log(self.noise).sum(axis=1) + self._inner[2])
        volumes = logs + np.log(self.scale[self.active]).sum() + self.rank * LOG_TAU / 2.0
        return np.broadcast_to(volumes, (self.size,)).copy()

    def _precise(self, gaps: FloatArray, m: int) -> FloatArray:
        """Return Σ⁻¹ times each of the standardized gaps (n, a)."""
        ends, turns, _ = self._inner
        u = gaps * ends[m]
        found: FloatArray = (u - (u @ turns[m].T) @ turns[m]) * ends[m]
        return found

    @cached_property
    def linear(self) -> tuple[FloatArray, FloatArray]:
        """For a shared covariance, (weights (k, d), offsets (k,)) about the origin.

        log p(x | c) = weights_c·(x - origin) + offsets_c + h(x), with h the same for all.
        """
        assert self.is_shared
        act = np.flatnonzero(self.active)
        means = self.means[:, act]
        slopes = self._precise(means, 0)
        middle = self.origin_low[act] / self.scale[act] + means / 2.0
        weights = np.zeros((self.size, len(self.origin)))
        weights[:, act] = slopes / self.scale[act]
        return weights, -(slopes * middle).sum(axis=1)

    @cached_property
    def contrast(self) -> tuple[FloatArray, float]:
        """For two classes of shared covariance, the log odds of the second about the origin."""
        act = np.flatnonzero(self.active)
        one, two = self.means[:, act]
        slopes = self._precise((two - one)[np.newaxis], 0)[0]
        weights = np.zeros(len(self.origin))
        weights[act] = slopes / self.scale[act]
        return weights, float(-slopes @ (self.origin_low[act] / self.scale[act] + (one + two) / 2))

    def _squares(self, rows: FloatArray) -> FloatArray:
        """Return squared Mahalanobis distances (n, k) of complete rows."""
        act = self.active
        z = (rows[:, act] - self.origin[act] - self.origin_low[act]) / self.scale[act]
        ends, turns, _ = self._inner
        out = np.empty((len(rows), self.size))
        for c in range(self.size):
            m = 0 if self.is_shared else c
            u = (z - self.means[c, act]) * ends[m]
            along = u @ turns[m].T
            # In two parts neither of which cancels: along the factors, and across them.
            out[:, c] = np.einsum("ij,ij->i", u, u) - np.einsum("ij,ij->i", along, along)
        return out

    # Densities

    def log_densities(self, rows: FloatArray) -> FloatArray:
        """Return log p(x | c), one column a class; missing cells (NaN) are marginalised."""
        out = np.empty((len(rows), self.size))
        with np.errstate(all="ignore"):
            for_blocks(lambda part: self._write(rows, part, out), len(rows), rows.shape[1])
        hard = ~np.isfinite(out).all(axis=1)
        if hard.any():
            out[hard] = by_pattern(rows[hard], self._pattern_densities)
        return out

    def _write(self, rows: FloatArray, part: slice, out: FloatArray) -> None:
        step = max(1, BLOCK_CELLS // max(1, rows.shape[1]))
        for start in range(part.start, part.stop, step):
            some = slice(start, min(start + step, part.stop))
            out[some] = -0.5 * self._squares(rows[some]) - self.log_volumes

    def _pattern_densities(self, rows: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
        if seen.all():
            return np.full((len(rows), self.size), -np.inf)  # complete, and out of range
        return self.marginal(seen).log_densities(rows[:, seen])

    def scores(self, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
        """Return numbers whose differences between classes are those of log p(x, c)."""
        out = np.empty((len(rows), self.size))
        with np.errstate(all="ignore"):
            for_blocks(
                lambda part: self.block_scores(rows[part], log_priors, out[part]),
                len(rows),
                rows.shape[1],
            )
        hard = ~np.isfinite(out[:, log_priors > -np.inf]).all(axis=1)
        if hard.any():
            out[hard] = by_pattern(
                rows[hard], lambda part, seen: self._hard_scores(part, seen, log_priors)
            )
        return out

    def _hard_scores(
        self, rows: FloatArray, seen: NDArray[np.bool_], log_priors: FloatArray
    ) -> FloatArray:
        if seen.all():
            return far_winners(self.full, rows, log_priors)
        if not seen.any():
            return np.broadcast_to(log_priors, (len(rows), self.size)).copy()
        return self.marginal(seen).scores(rows[:, seen], log_priors)

    def block_scores(self, rows: FloatArray, log_priors: FloatArray, out: FloatArray) -> None:
        """Write `scores` of one block into `out`; what is not finite has to be scored again."""
        if self.is_shared:
            weights, offsets = self.linear
            linear_scores(rows, self.origin, weights, offsets + log_priors, out)
        else:
            self._write(rows, slice(0, len(rows)), out)
            out += log_priors

    @property
    def has_odds(self) -> bool:
        """Whether the log odds of two classes are one sum over the columns: `block_odds`."""
        return self.size == 2 and self.is_shared

    def block_odds(self, rows: FloatArray, log_odds: float, out: FloatArray) -> None:
        """Write the log odds of the second of two classes into `out` (n,), `log_odds` a priori."""
        weights, offset = self.contrast
        intercept = np.array([offset + log_odds])
        linear_scores(rows, self.origin, weights[np.newaxis], intercept, out[:, np.newaxis])

    def squared_distances(self, rows: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return squared Mahalanobis distances (n, k) and over how many columns they run."""
        out = np.empty((len(rows), self.size + 1))

        def work(part: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
            law = self if seen.all() else self.marginal(seen)
            squares = law._squares(part[:, seen])
            ranks = np.full((len(part), 1), float(law.rank))
            return np.hstack([np.where(np.isnan(squares), np.inf, squares), ranks])

        with np.errstate(over="ignore", invalid="ignore"):
            out = by_pattern(rows, work)
        return out[:, :-1], out[:, -1].astype(np.intp)

    # Other laws made from this one

    def marginal(self, seen: NDArray[np.bool_]) -> FactorNormals:
        """Return the law of some columns: their loadings and their noise."""
        inner = seen[self.active]
        return FactorNormals(
            self.origin[seen],
            self.origin_low[seen],
            self.scale[seen],
            self.active[seen],
            self.means[:, seen],
            self.loadings[:, inner],
            self.noise[:, inner],
        )

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code: origin + scale·(mean + Λf + Ψ^½e), f and e standard."""
        factors = rng.standard_normal((len(codes), self.loadings.shape[2]))
        own = rng.standard_normal((len(codes), self.noise.shape[1]))
        standard = self.means[codes].copy()
        for m in range(len(self.noise)):
            chosen = np.arange(len(codes)) if self.is_shared else np.flatnonzero(codes == m)
            moved = factors[chosen] @ self.loadings[m].T + own[chosen] * np.sqrt(self.noise[m])
            standard[np.ix_(chosen, self.active)] += moved
        return self.origin + (self.origin_low + standard * self.scale)
