"""Normal classes with full covariance matrices: one for all classes, or one for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.kernels.dense.scores import linear_scores, quadratic_scores
from suffice.linear_algebra import LOG_TAU, lower_factor, lower_inverse
from suffice.models.gaussian.class_moments import CentredClasses
from suffice.models.gaussian.missing_patterns import by_pattern
from suffice.models.gaussian.overflow_rows import far_winners

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.floors import Pooled
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class FullNormals(CentredClasses):
    """The densities p(x | class) of k normal classes, kept as means and factors.

    In standardized columns z = (x - origin)/scale, class c has mean `means[c]` and covariance
    LLᵀ; `factors` and `whitenings` hold L and L⁻¹ over the active columns, once if all
    classes share them and k times if not. `rank` is the number of directions that vary within
    classes, `silent` of those that do not vary at all.
    """

    origin: FloatArray
    origin_low: FloatArray
    scale: FloatArray
    active: NDArray[np.bool_]
    means: FloatArray
    factors: FloatArray
    whitenings: FloatArray
    rank: int
    silent: int = 0

    @classmethod
    def of(
        cls, summary: ClassSummary, factors: FloatArray, whitenings: FloatArray, pooled: Pooled
    ) -> Self:
        """Put factors of the active columns together with the means of a summary."""
        return cls(
            summary.origin,
            summary.origin_low,
            summary.scale,
            summary.active,
            summary.means,
            factors,
            whitenings,
            int(summary.active.sum()) - pooled.lacking,
            0 if pooled.silent is None else pooled.silent.shape[1],
        )

    @property
    def is_shared(self) -> bool:
        """Whether all classes have the same covariance, so that boundaries are flat."""
        return len(self.whitenings) == 1

    # Parameters in the user's units

    @cached_property
    def covariances(self) -> FloatArray:
        """The covariances that are used, (1, d, d) or (k, d, d); zero where nothing varies."""
        d, act = len(self.origin), np.flatnonzero(self.active)
        rooted = self.factors * self.scale[act][:, np.newaxis]
        result = np.zeros((len(self.factors), d, d))
        result[:, act[:, np.newaxis], act] = rooted @ rooted.transpose(0, 2, 1)
        return result

    # The two forms in which rows are scored

    @cached_property
    def _whitened_means(self) -> FloatArray:
        white: FloatArray = np.einsum(
            "cij,cj->ci", self._spread_whitenings, self.means[:, self.active]
        )
        return white

    @property
    def _spread_whitenings(self) -> FloatArray:
        a = self.whitenings.shape[-1]
        return np.broadcast_to(self.whitenings, (self.size, a, a))

    @cached_property
    def log_volumes(self) -> FloatArray:
        """½ log|2πΣ| of every class, over the active columns."""
        logs = np.log(np.diagonal(self.factors, axis1=1, axis2=2)).sum(axis=1)
        active_scale = np.log(self.scale[self.active]).sum()
        volumes = logs + active_scale + self.factors.shape[-1] * LOG_TAU / 2.0
        return np.broadcast_to(volumes, (self.size,)).copy()

    @cached_property
    def quadratic(self) -> tuple[FloatArray, FloatArray]:
        """Whitenings and shifts in the user's units: u = W(x - origin) - shift is white.

        The low half of the origin is folded into the shifts; one matrix if shared, with the
        shift that centres on the origin.
        """
        d, act = len(self.origin), np.flatnonzero(self.active)
        matrices = np.zeros((len(self.whitenings), d, d))
        matrices[:, act[:, np.newaxis], act] = self.whitenings / self.scale[act]
        low = self.origin_low[act] / self.scale[act]
        centres = low + (np.zeros((1, len(act))) if self.is_shared else self.means[:, act])
        shifts = np.zeros((len(matrices), d))
        shifts[:, act] = np.einsum("cij,cj->ci", self.whitenings, centres)
        return matrices, shifts

    @cached_property
    def linear(self) -> tuple[FloatArray, FloatArray]:
        """For a shared covariance, (weights (k, d), offsets (k,)) about the origin.

        log p(x | c) = weights_c·(x - origin) + offsets_c + h(x), with h the same for all.
        """
        assert self.is_shared
        matrices, shifts = self.quadratic
        act, white = np.flatnonzero(self.active), self._whitened_means
        weights = np.zeros((self.size, len(self.origin)))
        weights[:, act] = white @ matrices[0][np.ix_(act, act)]
        offsets = -(white @ shifts[0][act]) - np.square(white).sum(axis=1) / 2.0
        return weights, offsets

    @cached_property
    def contrast(self) -> tuple[FloatArray, float]:
        """For two classes of shared covariance, the log odds of the second about the origin."""
        matrices, shifts = self.quadratic
        act, white = np.flatnonzero(self.active), self._whitened_means
        gap, middle = white[1] - white[0], (white[0] + white[1]) / 2.0
        weights = np.zeros(len(self.origin))
        weights[act] = gap @ matrices[0][np.ix_(act, act)]
        return weights, float(-gap @ (shifts[0][act] + middle))

    # Densities

    def log_densities(self, rows: FloatArray) -> FloatArray:
        """Return log p(x | c), one column a class; missing cells (NaN) are marginalised."""
        out = np.empty((len(rows), self.size))
        matrices, shifts = self.quadratic

        def work(part: slice) -> None:
            block = rows[part]
            if self.is_shared:
                common = np.empty((len(block), 1))
                constant = -self.log_volumes[:1]
                quadratic_scores(block, self.origin, matrices, shifts, constant, common)
                linear_scores(block, self.origin, *self.linear, out[part])
                out[part] += common
            else:
                quadratic_scores(block, self.origin, matrices, shifts, -self.log_volumes, out[part])

        with np.errstate(all="ignore"):
            for_blocks(work, len(rows), rows.shape[1])
        hard = ~np.isfinite(out).all(axis=1)
        if hard.any():
            out[hard] = by_pattern(rows[hard], self._pattern_densities)
        return out

    def _pattern_densities(self, rows: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
        if seen.all():
            return np.full((len(rows), self.size), -np.inf)  # complete, and out of range
        return self.marginal(seen).log_densities(rows[:, seen])

    def scores(self, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
        """Return numbers whose differences between classes are those of log p(x, c)."""
        out = np.empty((len(rows), self.size))

        def work(part: slice) -> None:
            if self.is_shared:
                weights, offsets = self.linear
                linear_scores(rows[part], self.origin, weights, offsets + log_priors, out[part])
            else:
                constants = log_priors - self.log_volumes
                quadratic_scores(rows[part], self.origin, *self.quadratic, constants, out[part])

        with np.errstate(all="ignore"):
            for_blocks(work, len(rows), rows.shape[1])
        # A class of prior zero has -inf everywhere, and that is right.
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
            return far_winners(self, rows, log_priors)
        if not seen.any():
            return np.broadcast_to(log_priors, (len(rows), self.size)).copy()
        return self.marginal(seen).scores(rows[:, seen], log_priors)

    def squared_distances(self, rows: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return squared Mahalanobis distances (n, k) and how many directions they run over."""
        out = np.empty((len(rows), self.size))
        ranks = np.full(len(rows), self.rank, dtype=np.intp)
        missing = np.isnan(rows).any(axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            z = (rows[~missing] - self.origin - self.origin_low) / self.scale
            for c in range(self.size):
                white = (z - self.means[c])[:, self.active] @ self._spread_whitenings[c].T
                squares = np.square(white).sum(axis=1)
                out[~missing, c] = np.where(np.isnan(squares), np.inf, squares)
        if missing.any():
            places = np.flatnonzero(missing)

            def marginal(part: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
                inner = self.marginal(seen)
                distances, rank = inner.squared_distances(part[:, seen])
                return np.column_stack([distances, rank])

            found = by_pattern(rows[places], marginal)
            out[places], ranks[places] = found[:, :-1], found[:, -1].astype(np.intp)
        return out, ranks

    def leading_terms(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the quadratic and linear parts of log p for standardized active columns."""
        white = np.einsum("cij,nj->nci", self.whitenings, z)
        spread = np.broadcast_to(white, (len(z), self.size, z.shape[1]))
        linear = np.einsum("nci,ci->nc", spread, self._whitened_means)
        quadratic = np.broadcast_to(-np.square(white).sum(axis=2), (len(z), self.size))
        return quadratic, linear

    # Other laws made from this one

    def marginal(self, seen: NDArray[np.bool_]) -> FullNormals:
        """Return the law of some columns: rows of the factor, made triangular again by QR."""
        inner = seen[self.active]
        factors = lower_factor(self.factors[:, inner, :])
        lacking = self.factors.shape[-1] - self.rank
        return FullNormals(
            self.origin[seen],
            self.origin_low[seen],
            self.scale[seen],
            self.active[seen],
            self.means[:, seen],
            factors,
            lower_inverse(factors),
            max(0, min(int(inner.sum()), int(inner.sum()) - lacking + int((~inner).sum()))),
        )

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code: origin + scale·(mean + Lz)."""
        z = rng.standard_normal((len(codes), self.factors.shape[-1]))
        standard = self.means[codes].copy()
        if self.is_shared:
            standard[:, self.active] += z @ self.factors[0].T
        else:
            for c in np.unique(codes):
                chosen = np.flatnonzero(codes == c)
                standard[np.ix_(chosen, self.active)] += z[chosen] @ self.factors[c].T
        return self.origin + (self.origin_low + standard * self.scale)


def written_out(law: object) -> Any:
    """Return a law of factors as one of full covariances; any other law as it is."""
    return getattr(law, "full", law)
