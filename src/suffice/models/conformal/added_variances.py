"""Normal columns whose variances are tied, with one row added and each of the others taken out.

Variances that classes share move with every row, but they are the same for all classes, so that
their logarithms cancel; a class with one variance for all columns needs squared distances alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.models.conformal.normal_rows import FLOOR, NormalRows
from suffice.models.gaussian.leave_one_out.downdates import DIGITS_LEFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.conformal.added_groups import Asked
    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class _WholeRows(NormalRows):
    """Training rows without blanks, and their classes (n,)."""

    codes: IntArray

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
        """Return training rows made ready; None where floors, blanks or few rows need more."""
        read = NormalRows.read(summary, divisor, notes, rows, family)
        whole = (summary.counts == summary.weights[:, np.newaxis]).all()
        if read is None or not whole or np.isnan(rows).any():
            return None
        return cls(summary, read.less, read.rows, family, codes)

    def asked(self, block: Any) -> Asked:
        """Return asked rows, and which have blanks, or vary where nothing did before."""
        z, odd = NormalRows.asked(self, block)
        return z, odd | np.isnan(z).any(axis=1)


class AddedSharedVariances(_WholeRows):
    """Independent columns whose variances are those of all classes together."""

    __slots__ = ()

    def added(self, row: FloatArray, c: int) -> tuple[FloatArray, bool]:
        """Return densities of rows (n, k), up to what classes share, in the union with a row."""
        summary, codes, act = self.summary, self.codes, self.summary.active
        held = summary.weights.copy()
        held[c] += 1.0
        d = row - summary.means[c, act]
        means = summary.means[:, act].copy()
        means[c] += d / held[c]
        scatter = summary.scatter[act] + np.square(d) * summary.weights[c] / held[c]
        free = held.sum() - self.less * summary.size - 1.0
        share = (held / (held - 1.0))[codes]
        gaps = self.rows - means[codes]
        np.square(gaps, out=gaps)
        left = scatter - share[:, np.newaxis] * gaps
        safe = free > 0.0 and bool((left > DIGITS_LEFT * scatter).all())
        with np.errstate(all="ignore"):
            each = free / left
            squares = (each * self.rows) @ (-2.0 * means.T)
            squares += each @ np.square(means).T
            squares += np.einsum("nd,nd->n", each, np.square(self.rows))[:, np.newaxis]
            own = np.einsum("nd,nd->n", each, gaps)
        squares[np.arange(len(codes)), codes] = np.square(share) * own
        return -0.5 * squares, safe and bool(np.isfinite(squares).all())


class AddedSpheres(_WholeRows):
    """Classes with one variance for all columns, measured in the largest unit of them."""

    __slots__ = ()

    def added(self, row: FloatArray, c: int) -> tuple[FloatArray, bool]:
        """Return densities of rows (n, k), up to what classes share, in the union with a row."""
        found = np.empty((len(self.codes), self.summary.size))
        safe, totals = True, []
        for j in range(self.summary.size):
            some = row if j == c else None
            found[:, j], total, sound = self._under(j, some)
            totals.append(total)
            safe &= sound
        return found, safe and min(totals) > FLOOR * max(totals)

    def _under(self, j: int, row: FloatArray | None) -> tuple[FloatArray, float, bool]:
        """Return log densities (n,) of rows under a class without themselves, and its variance.

        `row` is the asked row, if it is of this class.
        """
        summary, act = self.summary, self.summary.active
        assert summary.scatters is not None
        unit = np.square(summary.scale[act] / summary.scale[act].max())
        held, mean = summary.weights[j], summary.means[j, act]
        total = float(summary.scatters[j, act] @ unit)
        if row is not None:
            d = row - mean
            total += float(np.square(d) @ unit) * held / (held + 1.0)
            held += 1.0
            mean = mean + d / held
        width = int(act.sum())
        squares = np.square(self.rows - mean) @ unit
        free = held - self.less
        variance = total / (free * width)
        own = self.codes == j
        share = held / (held - 1.0)
        left = total - share * squares[own]
        safe = free > 1.0 and bool((left > DIGITS_LEFT * total).all())
        with np.errstate(all="ignore"):
            found = width * np.log(variance) + squares / variance
            without = left / ((free - 1.0) * width)
            found[own] = width * np.log(without) + share * share * squares[own] / without
        return -0.5 * found, variance, safe and bool(np.isfinite(found).all())
