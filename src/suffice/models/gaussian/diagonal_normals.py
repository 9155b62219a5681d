"""Normal classes whose columns are independent: a variance per class and column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.kernels.dense.scores import diagonal_odds, diagonal_scores, linear_scores
from suffice.linear_algebra import LOG_TAU
from suffice.models.gaussian.class_moments import CentredClasses
from suffice.models.gaussian.floors import (
    CLASS_FLOOR,
    VARIANCE_FLOOR,
    degrees_of_freedom,
    raised,
)
from suffice.models.gaussian.missing_patterns import by_pattern
from suffice.models.gaussian.overflow_rows import far_winners, hard_rows
from suffice.models.notes import STAND_IN, Note
from suffice.rows import refuse_infinite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.rows import FloatArray, IntArray


BLOCK_CELLS = 60_000
"""Cells that are scored together: small enough to stay in the cache."""
EXPANDABLE = 1e3
"""Up to which sum of squared distances of the class means from the origin, in standard deviations,
squares are expanded: rounding then adds less than 1e-12 to the log odds."""


@dataclass(frozen=True, eq=False)
class DiagonalNormals(CentredClasses):
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
        return np.broadcast_to(self._log_terms.sum(axis=1), (self.size,)).copy()

    @cached_property
    def _log_terms(self) -> FloatArray:
        """What each active column adds to the log volume, (1, a) or (k, a)."""
        logs = np.log(self.deviations) + np.log(self.scale) + LOG_TAU / 2.0
        return np.asarray(logs[:, self.active])

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

    @cached_property
    def quadratic(self) -> tuple[FloatArray, FloatArray]:
        """Scales (1, d) or (k, d) and shifts (k, d): u = scale·(x - origin) - shift is standard.

        The low half of the origin is folded into the shifts; zero where nothing varies.
        """
        scales = np.where(self.active, 1.0 / (self.deviations * self.scale), 0.0)
        middle = self.means + self.origin_low / self.scale
        return scales, np.where(self.active, middle / self.deviations, 0.0)

    @cached_property
    def curved(self) -> tuple[FloatArray, FloatArray, float] | None:
        """For two classes, curves, slopes and offset of the log odds of the second.

        They are Σ z(curve·z + slope) + offset, with z = x - origin. Expanding the squares costs
        digits where classes are narrow and far apart. Then, and where a square would leave the
        range of a double, there is None.
        """
        if self.size != 2 or self.is_shared:
            return None
        scales, shifts = self.quadratic
        used = scales[:, self.active]
        moderate = np.all((used > 1e-140) & (used < 1e140))
        if not moderate or not np.square(shifts).sum() <= EXPANDABLE:
            return None
        (a, b), (m, n) = scales, shifts
        widths = np.log(self.deviations[0] / self.deviations[1])[self.active].sum()
        offset = float((m - n) @ (m + n) / 2.0 + widths)
        return (a - b) * (a + b) / 2.0, b * n - a * m, offset

    # Densities

    def log_densities(self, rows: FloatArray) -> FloatArray:
        """Return log p(x | c), one column a class; missing cells (NaN) are skipped."""
        return self._summed(rows, -self.log_volumes)

    def scores(self, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
        """Return numbers whose differences between classes are those of log p(x, c)."""
        if self.is_shared:
            out = shared_lines(self, rows, log_priors)
        else:
            out = self._summed(rows, log_priors - self.log_volumes)
        with np.errstate(over="ignore", invalid="ignore"):
            far = hard_rows(out, log_priors > -np.inf)
        if far is not None:
            out[far] = by_pattern(
                rows[far], lambda part, seen: self._far_scores(part, seen, log_priors)
            )
        return out

    def block_scores(self, rows: FloatArray, log_priors: FloatArray, out: FloatArray) -> None:
        """Write `scores` of one block into `out` by the quickest way: linear if shared.

        A row with missing cells, or too far away for squares, comes out non-finite: it has to be
        scored again, by `scores`.
        """
        if self.is_shared:
            weights, offsets = self.linear
            linear_scores(rows, self.origin, weights, offsets + log_priors, out)
        else:
            constants = log_priors - self.log_volumes
            diagonal_scores(rows, self.origin, *self.quadratic, constants, out)

    @property
    def has_odds(self) -> bool:
        """Whether the log odds of two classes are one sum over the columns: `block_odds`."""
        return self.size == 2 and (self.is_shared or self.curved is not None)

    def block_odds(self, rows: FloatArray, log_odds: float, out: FloatArray) -> None:
        """Write the log odds of the second of two classes into `out` (n,), `log_odds` a priori.

        As in `block_scores`, what is not finite has to be scored again.
        """
        if self.is_shared:
            weights, offset = self.contrast
            intercept = np.array([offset + log_odds])
            linear_scores(rows, self.origin, weights[np.newaxis], intercept, out[:, np.newaxis])
        else:
            assert self.curved is not None
            curves, slopes, offset = self.curved
            diagonal_odds(rows, self.origin, curves, slopes, offset + log_odds, out)

    def _far_scores(
        self, rows: FloatArray, seen: NDArray[np.bool_], log_priors: FloatArray
    ) -> FloatArray:
        inner = self if seen.all() else self.marginal(seen)
        return far_winners(inner, rows[:, seen], log_priors)

    def _summed(self, rows: FloatArray, constants: FloatArray) -> FloatArray:
        """Return constants - ½Σ((z - μ)/σ)², summed directly: expanding the square loses digits."""
        out = np.empty((len(rows), self.size))
        possible = constants > -np.inf
        spoiled = []

        def work(part: slice) -> None:
            block, found = rows[part], out[part]
            diagonal_scores(block, self.origin, *self.quadratic, constants, found)
            hard = hard_rows(found, possible)
            if hard is not None:
                found[hard] = self._with_gaps(block[hard], constants)
                spoiled.append(hard_rows(found, possible) is not None)

        with np.errstate(over="ignore", invalid="ignore"):
            for_blocks(work, len(rows), rows.shape[1])
        if any(spoiled):
            refuse_infinite(rows, None)
        return out

    def _with_gaps(self, rows: FloatArray, constants: FloatArray) -> FloatArray:
        """Return the same for rows with missing cells, which add nothing: 0 of no cell at all.

        That is exact: the volume that `constants` are less by is the sum of the same terms.
        """
        out = np.empty((len(rows), self.size))
        act = self.active
        without = constants + self.log_volumes
        scales, shifts = (part[:, act] for part in self.quadratic)
        step = max(1, BLOCK_CELLS // max(1, len(act)))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            z = rows[part][:, act] - self.origin[act]
            missing = np.isnan(z)
            for c in range(self.size):
                m = 0 if self.is_shared else c
                u = z * scales[m]
                u -= shifts[c]
                np.square(u, out=u)
                u[missing] = 0.0
                out[part, c] = without[c] - u.sum(axis=1) / 2.0 - (~missing) @ self._log_terms[m]
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


def shared_lines(normals: DiagonalNormals, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
    """Return the linear part alone: of far cells, squares that are shared would drown it.

    What a missing cell would have added is left out.
    """
    out = np.empty((len(rows), normals.size))
    weights, _ = normals.linear
    slopes = weights * normals.scale
    offsets = slopes * (normals.origin_low / normals.scale + normals.means / 2.0)

    def work(part: slice) -> None:
        z = rows[part] - normals.origin
        seen = ~np.isnan(z)
        out[part] = np.where(seen, z, 0.0) @ weights.T - seen @ offsets.T + log_priors

    with np.errstate(over="ignore", invalid="ignore"):
        for_blocks(work, len(rows), rows.shape[1])
    if not np.isfinite(out[:, log_priors > -np.inf]).all():
        refuse_infinite(rows, None)
    return out


def diagonal_variances(family: Gaussian, summary: ClassSummary) -> tuple[FloatArray, list[Note]]:
    """Return the variances of every class, (k, d) or (1, d), and what was floored."""
    assert summary.scatters is not None
    less = 0.0 if family.divisor == "mle" else 1.0
    divisors = np.maximum(degrees_of_freedom(summary.counts, less), 0.0)
    scatters, scatter = summary.scatters, summary.scatter
    if scatter.ndim == 2:
        scatters = np.diagonal(scatters, axis1=1, axis2=2)
        scatter = np.diagonal(scatter)
    act = summary.active
    unit = np.where(act, 1.0, 0.0)
    if family.covariance == "spherical":
        # One variance for all columns has units: undo the scales, relative to the largest.
        unit = summary.scale / summary.scale[act].max(initial=0.0) if act.any() else unit
        unit = np.where(act, np.maximum(unit, 1e-150), 0.0)
        parts = np.square(unit)
        scatters = np.broadcast_to((scatters @ parts)[:, np.newaxis], scatters.shape)
        divisors = np.broadcast_to(
            (divisors @ act.astype(np.float64))[:, np.newaxis], divisors.shape
        )
        scatter = scatters.sum(axis=0)
    divisor = divisors.sum(axis=0)
    seen = np.maximum(summary.counts.sum(axis=0), np.finfo(np.float64).tiny)
    pooled = scatter / np.where(divisor > 0.0, divisor, seen)
    if family.covariance == "spherical":
        least = VARIANCE_FLOOR * float(np.square(unit[act]).mean()) if act.any() else 1.0
    else:
        least = VARIANCE_FLOOR
    lacking = act & (pooled < least)
    pooled = np.where(act, np.maximum(pooled, least), 1.0)
    notes = []
    if lacking.any():
        columns = tuple(int(j) for j in np.flatnonzero(lacking))
        notes.append(Note("columns that do not vary within classes", STAND_IN, columns))
    if family.covariance == "shared-diagonal":
        return pooled[np.newaxis], notes
    theta = np.where(divisors > 0.0, scatters / np.where(divisors > 0.0, divisors, 1.0), 0.0)
    held = summary.counts
    if family.covariance == "spherical":
        held = np.broadcast_to(summary.weights[:, np.newaxis], held.shape)
    theta = theta / pooled
    flat = (theta < CLASS_FLOOR) & act
    thin = np.flatnonzero(flat.any(axis=1))
    theta, _ = raised(theta, held)
    if len(thin):
        problem = f"{len(thin)} of {summary.size} classes do not vary in every column"
        columns = tuple(int(j) for j in np.flatnonzero(flat.any(axis=0)))
        notes.append(Note(problem, STAND_IN, columns, tuple(int(c) for c in thin)))
    variances = theta * pooled
    if family.covariance == "spherical":
        # Back to the standardized columns: σ² in the common unit, divided by each scale.
        with np.errstate(divide="ignore", over="ignore"):
            variances = np.where(act, variances / np.square(unit), 1.0)
    return np.where(act, variances, 1.0), notes
