"""Student's t of independent columns, and of classes of one variance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import for_blocks
from suffice.models.gaussian.class_moments import CentredClasses
from suffice.models.gaussian.predictive.full_students import (
    BLOCK_CELLS,
    FullStudents,
    log_normalizer,
)
from suffice.rows import refuse_infinite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray

FAR = 1e150
"""Standard deviations from which squares are taken by their logarithms: a choice below
√1.8e308 = 1.3e154, from which on they leave the range of a double."""


@dataclass(frozen=True, eq=False)
class DiagonalStudents(CentredClasses):
    """The densities p(x | class, rows seen) of k normal classes with independent columns.

    In standardized columns z = (x - origin)/scale, column j of class c has the centre
    `means[c, j]`, the scale `deviations[c, j]`·√`stretches[c, j]` and `freedom[c, j]` degrees of
    freedom. Columns are multiplied, each with a t of its own; `joint` classes have one variance
    for all columns, which is not known either: then all columns together are one t.
    """

    origin: FloatArray
    origin_low: FloatArray
    scale: FloatArray
    active: NDArray[np.bool_]
    means: FloatArray
    deviations: FloatArray
    freedom: FloatArray
    stretches: FloatArray
    joint: bool = False

    is_shared = False
    """Boundaries are not flat, even where all classes share their variances."""
    not_flat = FullStudents.not_flat
    """Why boundaries are not flat, and what has flat ones."""
    has_odds = False
    """The log odds of two classes are not written as one sum."""
    silent = 0
    """There are no directions here but columns."""

    @property
    def rank(self) -> int:
        """The number of columns that vary."""
        return int(self.active.sum())

    # Parameters in the user's units

    @cached_property
    def variances(self) -> FloatArray:
        """The posterior means of the variances, (1, d) or (k, d); the squared scales if f ≤ 2."""
        freedom = self.freedom[: len(self.deviations)]
        widened = np.where(freedom > 2.0, freedom / np.maximum(freedom - 2.0, 1e-300), 1.0)
        return np.where(self.active, widened * np.square(self.deviations * self.scale), 0.0)

    @cached_property
    def covariances(self) -> FloatArray:
        """The same as matrices, (1, d, d) or (k, d, d)."""
        return self.variances[:, :, np.newaxis] * np.eye(len(self.origin))

    # Densities

    @cached_property
    def spreads(self) -> FloatArray:
        """The scale of every class and column, (k, d), the stretch in it."""
        return np.asarray(self.deviations * np.sqrt(self.stretches))

    @cached_property
    def _log_units(self) -> FloatArray:
        return np.log(self.spreads) + np.log(self.scale)

    def away(self, rows: FloatArray, c: int) -> FloatArray:
        """Return log((x - m)²/s²) of every active cell, NaN where it is missing: none overflows."""
        act = self.active
        with np.errstate(all="ignore"):
            u = (rows[:, act] - self.origin[act] - self.origin_low[act]) / self.scale[act]
            u = (u - self.means[c, act]) / self.spreads[c, act]
            logs: FloatArray = 2.0 * np.log(np.abs(u))
            far = ~(np.abs(u) < FAR) & ~np.isnan(rows[:, act])
            if far.any():
                half = np.abs(rows[:, act] / 2.0 - self.origin[act] / 2.0)
                beyond = 2.0 * (np.log(half) + np.log(2.0) - self._log_units[c, act])
                logs = np.where(far, beyond, logs)
        return logs

    def _class_logs(self, rows: FloatArray, c: int) -> FloatArray:
        act = self.active
        squares = self.away(rows, c)
        seen = ~np.isnan(squares)
        f, units = self.freedom[c, act], self._log_units[c, act]
        if self.joint:
            freedom = f[:1] if len(f) else np.ones(1)
            top = np.where(seen, squares, -np.inf).max(axis=1, initial=-np.inf, keepdims=True)
            top = np.where(np.isfinite(top), top, 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                inside = np.where(seen, np.exp(squares - top), 0.0).sum(axis=1)
                logs = np.log(inside) + top[:, 0]
            width = seen.sum(axis=1)
            power = (freedom + width) / 2.0
            found: FloatArray = log_normalizer(freedom, width) - seen @ units
            found -= power * np.logaddexp(0.0, logs - np.log(freedom))
            return found
        constants = log_normalizer(f, 1) - units
        with np.errstate(invalid="ignore"):
            terms = constants - (f + 1.0) / 2.0 * np.logaddexp(0.0, squares - np.log(f))
        return np.asarray(np.where(seen, terms, 0.0).sum(axis=1))

    def log_densities(self, rows: FloatArray) -> FloatArray:
        """Return log p(x | c), one column a class; missing cells (NaN) are skipped."""
        refuse_infinite(rows, None)
        out = np.empty((len(rows), self.size))
        step = max(1, BLOCK_CELLS // max(1, rows.shape[1]))

        def work(part: slice) -> None:
            for start in range(part.start, part.stop, step):
                some = slice(start, min(start + step, part.stop))
                block = rows[some].astype(np.float64)
                for c in range(self.size):
                    out[some, c] = self._class_logs(block, c)

        for_blocks(work, len(rows), rows.shape[1])
        return out

    def scores(self, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
        """Return log p(x, c): the same as log densities with priors."""
        return self.log_densities(rows) + log_priors

    def block_scores(self, rows: FloatArray, log_priors: FloatArray, out: FloatArray) -> None:
        """Write `scores` of one block into `out`."""
        out[:] = self.log_densities(rows) + log_priors

    # Other laws made from this one

    def marginal(self, seen: NDArray[np.bool_]) -> DiagonalStudents:
        """Return the law of some columns: t again, of the same degrees of freedom."""
        return DiagonalStudents(
            self.origin[seen],
            self.origin_low[seen],
            self.scale[seen],
            self.active[seen],
            self.means[:, seen],
            self.deviations[:, seen],
            self.freedom[:, seen],
            self.stretches[:, seen],
            self.joint,
        )

    def drawn_cells(
        self, c: int, rows: FloatArray, seen: NDArray[np.bool_], rng: np.random.Generator
    ) -> FloatArray:
        """Return standardized draws of the cells that are not `seen`, about their centres.

        Cells of one variance tell of each other how wide it is; independent columns do not.
        """
        gone = ~seen
        z = rng.standard_normal((len(rows), int(gone.sum())))
        freedom = self.freedom[c, gone]
        spread = np.where(self.active, self.spreads[c], 0.0)[gone]
        if not self.joint:
            found: FloatArray = z * spread * np.sqrt(freedom / rng.chisquare(freedom, z.shape))
            return found
        squares = np.exp(self.away(rows, c)[:, seen[self.active]]).sum(axis=1)
        f = float(freedom[0]) if len(freedom) else 1.0
        chi = rng.chisquare(f + int((seen & self.active).sum()), size=len(rows))
        return np.asarray(z * spread * np.sqrt((f + squares) / chi)[:, np.newaxis])

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code."""
        z = rng.standard_normal((len(codes), len(self.origin)))
        freedom = self.freedom[codes]
        if self.joint:
            chi = np.repeat(rng.chisquare(freedom[:, :1]), z.shape[1], axis=1)
        else:
            chi = rng.chisquare(freedom)
        spread = np.where(self.active, self.spreads, 0.0)[codes]
        standard = self.means[codes] + z * spread * np.sqrt(freedom / chi)
        return self.origin + (self.origin_low + standard * self.scale)
