"""Student's t with full scale matrices: one for all classes, or one for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.linear_algebra import lower_factor, lower_inverse
from suffice.models.gaussian.class_moments import CentredClasses
from suffice.models.gaussian.missing_patterns import by_pattern
from suffice.models.gaussian.overflow_rows import tamed_rows
from suffice.special_functions import log_gamma_rise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray

BLOCK_CELLS = 60_000
"""Cells that are scored together: small enough to stay in the cache. A choice."""


def log_normalizer(freedom: FloatArray, width: int | IntArray) -> FloatArray:
    """Return lnΓ((f + D)/2) - lnΓ(f/2) - (D/2)·ln(fπ)."""
    more = np.asarray(width) / 2.0
    found: FloatArray = log_gamma_rise(freedom / 2.0, more) - more * np.log(freedom * np.pi)
    return found


@dataclass(frozen=True, eq=False)
class FullStudents(CentredClasses):
    """The densities p(x | class, rows seen) of k normal classes whose parameters are averaged over.

    In standardized columns z = (x - origin)/scale, class c is Student's t about `means[c]` with
    `freedom[c]` degrees f and the scale matrix `stretches[c]`·LLᵀ; `factors` and `whitenings`
    hold L and L⁻¹ over the active columns, once if all classes share them. The stretch 1 + 1/κ_c
    is what it costs not to know the mean. Cells that are missing leave the other columns of the
    same law, with the same f.
    """

    origin: FloatArray
    origin_low: FloatArray
    scale: FloatArray
    active: NDArray[np.bool_]
    means: FloatArray
    factors: FloatArray
    whitenings: FloatArray
    freedom: FloatArray
    stretches: FloatArray

    is_shared = False
    """Boundaries are not flat, even where all classes share a scale matrix."""
    not_flat = (
        "not flat: Student's t is wider for a class of fewer rows, and has no linear log odds",
        'without predictive, covariance="shared" has a linear form',
    )
    """Why boundaries are not flat, and what has flat ones."""
    has_odds = False
    """The log odds of two classes are no one sum over the columns."""
    silent = 0
    """Directions that say nothing have the prior's variance."""

    @property
    def rank(self) -> int:
        """The number of columns that vary."""
        return int(self.active.sum())

    # Parameters in the user's units

    @cached_property
    def covariances(self) -> FloatArray:
        """The posterior means of the covariances, (1, d, d) or (k, d, d).

        They exist where f > 2; elsewhere these are the scale matrices.
        """
        d, act = len(self.origin), np.flatnonzero(self.active)
        rooted = self.factors * self.scale[act][:, np.newaxis]
        freedom = self.freedom[: len(self.factors)]
        widened = np.where(freedom > 2.0, freedom / np.maximum(freedom - 2.0, 1e-300), 1.0)
        result = np.zeros((len(self.factors), d, d))
        inner = rooted @ rooted.transpose(0, 2, 1)
        result[:, act[:, np.newaxis], act] = widened[:, np.newaxis, np.newaxis] * inner
        return result

    # Densities

    @cached_property
    def constants(self) -> FloatArray:
        """The logs of what the densities are divided by, (k,), negated."""
        width = self.rank
        logs = np.log(np.diagonal(self.factors, axis1=1, axis2=2)).sum(axis=1)
        logs = logs + np.log(self.scale[self.active]).sum()
        stretched = width / 2.0 * np.log(self.stretches)
        found: FloatArray = log_normalizer(self.freedom, width) - stretched - logs
        return found

    def squares(self, rows: FloatArray) -> FloatArray:
        """Return q = (x - m)ᵀT⁻¹(x - m), (n, k), of complete rows; T has the stretch in it."""
        act = self.active
        z = (rows[:, act] - self.origin[act] - self.origin_low[act]) / self.scale[act]
        out = np.empty((len(rows), self.size))
        for m, whitening in enumerate(self.whitenings):
            white = z @ whitening.T
            classes = range(self.size) if len(self.whitenings) == 1 else (m,)
            for c in classes:
                u = white - whitening @ self.means[c, act]
                np.einsum("ij,ij->i", u, u, out=out[:, c])
        out /= self.stretches
        return out

    def _logs(self, squares: FloatArray) -> FloatArray:
        power = (self.freedom + self.rank) / 2.0
        return self.constants - power * np.log1p(squares / self.freedom)

    def log_densities(self, rows: FloatArray) -> FloatArray:
        """Return log p(x | c), one column a class; missing cells (NaN) are marginalised."""
        out = np.empty((len(rows), self.size))
        step = max(1, BLOCK_CELLS // max(1, rows.shape[1]))

        def work(part: slice) -> None:
            for start in range(part.start, part.stop, step):
                some = slice(start, min(start + step, part.stop))
                out[some] = self._logs(self.squares(rows[some]))

        with np.errstate(all="ignore"):
            for_blocks(work, len(rows), rows.shape[1])
        hard = ~np.isfinite(out).all(axis=1)
        if hard.any():
            out[hard] = by_pattern(rows[hard], self._pattern_densities)
        return out

    def _pattern_densities(self, rows: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
        if not seen.all():
            return self.marginal(seen).log_densities(rows[:, seen])
        # So far out that a square leaves the range of a double: its logarithm does not.
        tamed, powers = tamed_rows(rows, self.origin, self.scale)
        act = self.active
        out = np.empty((len(rows), self.size))
        for c in range(self.size):
            whitening = self.whitenings[0 if len(self.whitenings) == 1 else c]
            gap = tamed[:, act] - np.ldexp(self.means[c, act], -powers[:, np.newaxis])
            white = gap @ whitening.T
            with np.errstate(divide="ignore"):
                top = np.abs(white).max(axis=1, initial=0.0, keepdims=True)
                inside = np.square(white / np.where(top > 0.0, top, 1.0)).sum(axis=1)
                logs = np.log(inside) + 2.0 * (np.log(top[:, 0]) + powers * np.log(2.0))
            f, stretch = self.freedom[c], self.stretches[c]
            power = (f + self.rank) / 2.0
            out[:, c] = self.constants[c] - power * np.logaddexp(0.0, logs - np.log(f * stretch))
        return out

    def scores(self, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
        """Return log p(x, c): the same as log densities with priors."""
        return self.log_densities(rows) + log_priors

    def block_scores(self, rows: FloatArray, log_priors: FloatArray, out: FloatArray) -> None:
        """Write `scores` of one block into `out`; rows with missing cells come out as NaN."""
        step = max(1, BLOCK_CELLS // max(1, rows.shape[1]))
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            out[some] = self._logs(self.squares(rows[some])) + log_priors

    # Other laws made from this one

    def marginal(self, seen: NDArray[np.bool_]) -> FullStudents:
        """Return the law of some columns: t again, of the same degrees of freedom."""
        factors = lower_factor(self.factors[:, seen[self.active], :])
        return FullStudents(
            self.origin[seen],
            self.origin_low[seen],
            self.scale[seen],
            self.active[seen],
            self.means[:, seen],
            factors,
            lower_inverse(factors),
            self.freedom,
            self.stretches,
        )

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code: a normal one, stretched by √(f/χ²_f)."""
        z = rng.standard_normal((len(codes), self.factors.shape[-1]))
        wide = np.sqrt(self.freedom[codes] / rng.chisquare(self.freedom[codes]))
        z *= (wide * np.sqrt(self.stretches[codes]))[:, np.newaxis]
        standard = self.means[codes].copy()
        for c in np.unique(codes):
            chosen = np.flatnonzero(codes == c)
            factor = self.factors[0 if len(self.factors) == 1 else c]
            standard[np.ix_(chosen, self.active)] += z[chosen] @ factor.T
        return self.origin + (self.origin_low + standard * self.scale)

    def widths_given(
        self, c: int, squares: FloatArray, count: int, rng: np.random.Generator
    ) -> FloatArray:
        """Return by what normal draws of some cells are stretched, given `count` other ones.

        Given these, t is t again, with f + O degrees and its scale times (f + q)/(f + O), where q
        is their distance. `squares` (n,) are these distances before the stretch of the class.
        """
        f, stretch = self.freedom[c], self.stretches[c]
        chi = rng.chisquare(f + count, size=len(squares))
        found: FloatArray = np.sqrt(stretch * (f + squares / stretch) / chi)
        return found

    @classmethod
    def of(
        cls,
        frame: tuple[FloatArray, FloatArray, FloatArray, NDArray[np.bool_]],
        means: FloatArray,
        pairs: list[tuple[FloatArray, FloatArray]],
        freedom: FloatArray,
        stretches: FloatArray,
    ) -> Self:
        """Put factors (L, L⁻¹) of Ψ together; the law's own are divided by the root of f."""
        roots = np.sqrt(freedom[: len(pairs)])[:, np.newaxis, np.newaxis]
        factors = np.stack([pair[0] for pair in pairs]) / roots
        whitenings = np.stack([pair[1] for pair in pairs]) * roots
        return cls(*frame, means, factors, whitenings, freedom, stretches)
