"""Normal columns by class, independent, with one row added and each of the others taken out.

Adding (x, c) changes means and variances of class c alone, and taking a row out those of its own
class: of all densities of rows, only those under class c are made anew for every x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.models.gaussian.leave_one_out.downdates import DIGITS_LEFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.conformal.added_groups import Asked
    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray

FLOOR = 1e-6
"""Share of the pooled variance below which floors may be near: they begin at 1e-8."""
FEWEST = 3.0
"""Cells of a class and column: without one of two nothing varies, and a floor is laid."""


@dataclass(frozen=True, slots=True, eq=False)
class AddedColumns:
    """Training rows (n, d), standardized, and their log densities (n, k) by all rows.

    Of a row's own class the density is that of the class without it. Where cells are blank,
    `seen` (n, d) says which are not, and blank ones are zero.
    """

    summary: ClassSummary
    less: float
    rows: FloatArray
    seen: FloatArray | None
    own: tuple[NDArray[np.intp], ...]
    densities: FloatArray
    family: Any

    @classmethod
    def of(
        cls,
        summary: ClassSummary,
        divisor: str,
        notes: Sequence[Note],
        rows: FloatArray,
        codes: IntArray,
        family: Any = None,
    ) -> Self | None:
        """Return training rows made ready; None where floors or few cells need more.

        `family` says what of asked cells is normal, if it is not the cells themselves.
        """
        act = summary.active
        if any(not note.silent for note in notes) or summary.scatters is None or not act.any():
            return None
        if summary.counts[:, act].min() < FEWEST:
            return None
        z = summary.standardized(rows.astype(np.float64))[:, act]
        blank = np.isnan(z)
        seen = None
        if blank.any():
            z, seen = np.where(blank, 0.0, z), 1.0 - blank
        less = 0.0 if divisor == "mle" else 1.0
        own = tuple(np.flatnonzero(codes == c) for c in range(summary.size))
        found = cls(summary, less, z, seen, own, np.empty((len(z), summary.size)), family)
        for j in range(summary.size):
            held = summary.counts[j, act], summary.means[j, act], summary.scatters[j, act]
            found.densities[:, j], safe = found._under(j, *held)
            if not safe:
                return None
        return found

    def _under(
        self, j: int, counts: FloatArray, means: FloatArray, scatter: FloatArray
    ) -> tuple[FloatArray, bool]:
        """Return log densities of rows (n,) under a class of these moments, without themselves."""
        free = counts - self.less
        gaps = self.rows - means
        np.square(gaps, out=gaps)
        variances = scatter / free
        logs = np.log(variances)
        own = self.own[j]
        share, rest = counts / (counts - 1.0), free - 1.0
        with np.errstate(all="ignore"):
            gap = gaps[own]
            left = scatter - share * gap
            far = rest * share * share * gap / left + np.log(left) - np.log(rest)
            enough = left > DIGITS_LEFT * scatter
            if self.seen is None:
                found = gaps @ (1.0 / variances) + logs.sum()
            else:
                seen = self.seen
                found = (gaps * seen) @ (1.0 / variances) + seen @ logs
                far, enough = np.where(seen[own] > 0.0, far, 0.0), enough | (seen[own] == 0.0)
            found[own] = far.sum(axis=1)
        safe = bool(rest.min() > 0.0) and bool(enough.all())
        return -0.5 * found, safe and bool(np.isfinite(found).all())

    def asked(self, block: Any) -> Asked:
        """Return asked rows, standardized, and which of them vary where nothing did before."""
        cells = block if self.family is None else self.family.transformed(block)
        z = self.summary.standardized(np.asarray(cells, dtype=np.float64))
        act = self.summary.active
        odd = (z[:, ~act] != 0.0) & ~np.isnan(z[:, ~act])
        return z[:, act], np.asarray(odd.any(axis=1) | np.isinf(z).any(axis=1))

    def added(self, row: FloatArray, c: int) -> tuple[FloatArray, bool]:
        """Return densities of rows (n, k) in the union with one asked row.

        They are not safe where floors may be in force.
        """
        summary, act = self.summary, self.summary.active
        assert summary.scatters is not None
        seen = ~np.isnan(row)
        counts = summary.counts[c, act]
        held = counts + seen
        d = np.where(seen, row - summary.means[c, act], 0.0)
        grown = np.square(d) * counts / held
        scatter = summary.scatters[c, act] + grown
        total = (summary.scatter[act] + grown) / (summary.counts[:, act].sum(axis=0) + seen)
        least = np.min(summary.scatters[:, act] / summary.counts[:, act], axis=0)
        found = self.densities.copy()
        found[:, c], safe = self._under(c, held, summary.means[c, act] + d / held, scatter)
        return found, safe and not bool((least <= FLOOR * total).any())
