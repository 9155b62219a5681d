"""Normal classes whose columns are independent: a variance per class and column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.families.far import far_winners
from suffice.families.patterns import by_pattern
from suffice.linear_algebra import LOG_TAU
from suffice.rows import refuse_infinite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.families.summary import ClassSummary
    from suffice.rows import FloatArray, IntArray

BLOCK_CELLS = 60_000
"""Cells that are scored together: small enough to stay in the cache."""


@dataclass(frozen=True, eq=False)
class DiagonalNormals:
    """The densities p(x | class) of k normal classes with independent columns.

    In standardized columns z = (x - origin)/scale, class c has mean `means[c]` and standard
    deviations `deviations[c]`, kept once if all classes share them.
    """

    origin: FloatArray
    origin_low: FloatArray
    scale: FloatArray
    active: NDArray[np.bool_]
    means: FloatArray
    deviations: FloatArray

    @classmethod
    def of(cls, summary: ClassSummary, deviations: FloatArray) -> Self:
        """Put standard deviations together with the means of a summary."""
        return cls(
            summary.origin,
            summary.origin_low,
            summary.scale,
            summary.active,
            summary.means,
            deviations,
        )

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.means)

    @property
    def rank(self) -> int:
        """The number of columns that vary."""
        return int(self.active.sum())

    @property
    def is_shared(self) -> bool:
        """Whether all classes have the same variances, so that boundaries are flat."""
        return len(self.deviations) == 1

    @property
    def is_spherical(self) -> bool:
        """Whether each class has one variance for all its columns, in the user's units."""
        raw = (self.deviations * self.scale)[:, self.active]
        return not self.is_shared and bool(np.allclose(raw, raw[:, :1], rtol=1e-9, atol=0.0))

    # Parameters in the user's units

    @cached_property
    def class_means(self) -> FloatArray:
        """The mean of every class (k, d)."""
        return self.origin + (self.origin_low + self.means * self.scale)

    @cached_property
    def variances(self) -> FloatArray:
        """The variances that are used, (1, d) or (k, d); zero where nothing varies."""
        return np.where(self.active, np.square(self.deviations * self.scale), 0.0)

    @cached_property
    def covariances(self) -> FloatArray:
        """The same as matrices, (1, d, d) or (k, d, d)."""
        return self.variances[:, :, np.newaxis] * np.eye(len(self.origin))

    @cached_property
    def log_volumes(self) -> FloatArray:
        """½ log|2πΣ| of every class, over the active columns."""
        logs = (np.log(self.deviations) + np.log(self.scale))[:, self.active].sum(axis=1)
        return np.broadcast_to(logs + self.rank * LOG_TAU / 2.0, (self.size,)).copy()

    @cached_property
    def linear(self) -> tuple[FloatArray, FloatArray]:
        """For shared variances, (weights (k, d), offsets (k,)) about the origin.

        log p(x | c) = weights_c·(x - origin) + offsets_c + h(x), with h the same for all.
        """
        assert self.is_shared
        slopes = np.where(self.active, self.means / np.square(self.deviations), 0.0)
        middle = self.origin_low / self.scale + self.means / 2.0
        return slopes / self.scale, -(slopes * middle).sum(axis=1)

    @cached_property
    def contrast(self) -> tuple[FloatArray, float]:
        """For two classes of shared variances, the log odds of the second about the origin."""
        gap = np.where(self.active, self.means[1] - self.means[0], 0.0)
        slopes = gap / np.square(self.deviations[0])
        middle = self.origin_low / self.scale + (self.means[0] + self.means[1]) / 2.0
        return slopes / self.scale, float(-slopes @ middle)

    # Densities

    def log_densities(self, rows: FloatArray) -> FloatArray:
        """Return log p(x | c), one column a class; missing cells (NaN) are skipped."""
        return self._summed(rows, -self.log_volumes)

    def scores(self, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
        """Return numbers whose differences between classes are those of log p(x, c)."""
        out = self._summed(rows, log_priors - self.log_volumes)
        far = ~np.isfinite(out[:, log_priors > -np.inf]).all(axis=1)
        if far.any():
            out[far] = by_pattern(
                rows[far], lambda part, seen: self._far_scores(part, seen, log_priors)
            )
        return out

    def _far_scores(
        self, rows: FloatArray, seen: NDArray[np.bool_], log_priors: FloatArray
    ) -> FloatArray:
        inner = self if seen.all() else self.marginal(seen)
        return far_winners(inner, rows[:, seen], log_priors)

    def _summed(self, rows: FloatArray, constants: FloatArray) -> FloatArray:
        """Return constants - ½Σ((z - μ)/σ)², summed directly: expanding the square loses digits."""
        out = np.empty((len(rows), self.size))
        act = self.active
        log_terms = (np.log(self.deviations) + np.log(self.scale) + LOG_TAU / 2.0)[:, act]
        inverse = 1.0 / self.deviations[:, act]

        step = max(1, BLOCK_CELLS // max(1, len(act)))
        everything = bool(act.all())

        def work(part: slice) -> None:
            for start in range(part.start, part.stop, step):
                some(slice(start, min(start + step, part.stop)))

        def some(part: slice) -> None:
            block = rows[part] if everything else rows[part][:, act]
            z = block - self.origin[act]
            z -= self.origin_low[act]
            z /= self.scale[act]
            missing = np.isnan(z)
            gaps = bool(missing.any())
            for c in range(self.size):
                m = 0 if self.is_shared else c
                u = z - self.means[c, act]
                u *= inverse[m]
                np.square(u, out=u)
                if gaps:
                    u[missing] = 0.0
                out[part, c] = constants[c] - u.sum(axis=1) / 2.0
                if gaps:
                    out[part, c] += missing @ log_terms[m]

        with np.errstate(over="ignore"):
            for_blocks(work, len(rows), rows.shape[1])
        if not np.isfinite(out[:, constants > -np.inf]).all():
            refuse_infinite(rows, None)
        return out

    def squared_distances(self, rows: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return squared Mahalanobis distances (n, k) and over how many columns they run."""
        shifted = (rows - self.origin - self.origin_low) / self.scale
        out = np.empty((len(rows), self.size))
        for c in range(self.size):
            u = (shifted - self.means[c]) / self.deviations[0 if self.is_shared else c]
            with np.errstate(over="ignore"):
                out[:, c] = np.nansum(np.square(u[:, self.active]), axis=1)
        ranks = (~np.isnan(rows[:, self.active])).sum(axis=1)
        return out, ranks.astype(np.intp)

    def leading_terms(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the quadratic and linear parts of log p for standardized active columns."""
        act = self.active
        u = z[:, np.newaxis, :] / self.deviations[np.newaxis, :, act]
        quadratic = np.broadcast_to(-np.square(u).sum(axis=2), (len(z), self.size))
        linear = (u * (self.means / self.deviations)[np.newaxis, :, act]).sum(axis=2)
        return quadratic, linear

    # Other laws made from this one

    def marginal(self, seen: NDArray[np.bool_]) -> DiagonalNormals:
        """Return the law of some columns."""
        return DiagonalNormals(
            self.origin[seen],
            self.origin_low[seen],
            self.scale[seen],
            self.active[seen],
            self.means[:, seen],
            self.deviations[:, seen],
        )

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code."""
        z = rng.standard_normal((len(codes), len(self.origin)))
        spread = np.where(self.active, self.deviations, 0.0)
        chosen = spread[np.zeros_like(codes) if self.is_shared else codes]
        return self.origin + (self.origin_low + (self.means[codes] + z * chosen) * self.scale)
