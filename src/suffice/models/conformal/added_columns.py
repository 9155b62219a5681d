"""Normal columns by class, independent, with one row added and each of the others taken out.

Adding (x, c) changes means and variances of class c alone, and taking a row out those of its own
class: of all densities of rows, only those under class c are made anew for every x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.models.conformal.normal_rows import FLOOR, NormalRows
from suffice.models.gaussian.leave_one_out.downdates import DIGITS_LEFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class AddedColumns(NormalRows):
    """Training rows (n, d), standardized, and their log densities (n, k) by all rows.

    Of a row's own class the density is that of the class without it. Where cells are blank,
    `seen` (n, d) says which are not, and blank ones are zero.
    """

    seen: FloatArray | None
    own: tuple[NDArray[np.intp], ...]
    densities: FloatArray

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
        """Return training rows made ready; None where floors or few cells need more."""
        read = NormalRows.read(summary, divisor, notes, rows, family)
        if read is None:
            return None
        assert summary.scatters is not None
        z, act = read.rows, summary.active
        blank = np.isnan(z)
        seen = None
        if blank.any():
            z, seen = np.where(blank, 0.0, z), 1.0 - blank
        own = tuple(np.flatnonzero(codes == c) for c in range(summary.size))
        densities = np.empty((len(z), summary.size))
        found = cls(summary, read.less, z, family, seen, own, densities)
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
