"""Normal columns by class, independent, with one row added and each of the others taken out.

Adding (x, c) changes means and variances of class c alone, and taking a row out those of its own
class: of all densities of rows, only those under class c are made anew for every x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from suffice.linear_algebra import log_sum_exp
from suffice.models.gaussian.leave_one_out.downdates import DIGITS_LEFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray

FLOOR = 1e-6
"""Share of the pooled variance below which floors may be near: they begin at 1e-8."""


@dataclass(frozen=True, slots=True, eq=False)
class AddedColumns:
    """Training rows (n, d), standardized, and their log densities (n, k) by all rows.

    Of a row's own class the density is that of the class without it.
    """

    summary: ClassSummary
    less: float
    rows: FloatArray
    codes: IntArray
    densities: FloatArray
    own: tuple[NDArray[np.intp], ...]
    log_priors: FloatArray | None

    step: ClassVar[int] = 16
    """How many rows are asked about at a time: their scores are held. A choice."""

    @classmethod
    def of(
        cls,
        summary: ClassSummary,
        divisor: str,
        notes: Sequence[Note],
        rows: FloatArray,
        codes: IntArray,
        log_priors: FloatArray | None,
    ) -> Self | None:
        """Return training rows made ready; None where floors, blanks or few rows need more."""
        if any(not note.silent for note in notes) or summary.weights.min() < 3.0:
            return None
        if summary.scatters is None or np.isnan(rows).any():
            return None
        act = summary.active
        if not act.any() or not (summary.counts == summary.weights[:, np.newaxis]).all():
            return None
        z = summary.standardized(rows.astype(np.float64))[:, act]
        less = 0.0 if divisor == "mle" else 1.0
        own = tuple(np.flatnonzero(codes == c) for c in range(summary.size))
        found = cls(summary, less, z, codes, np.empty((len(z), summary.size)), own, log_priors)
        for j in range(summary.size):
            held = summary.weights[j], summary.means[j, act], summary.scatters[j, act]
            found.densities[:, j], safe = found._under(j, *held)
            if not safe:
                return None
        return found

    def _under(
        self, j: int, weight: float, means: FloatArray, scatter: FloatArray
    ) -> tuple[FloatArray, bool]:
        """Return log densities of rows (n,) under a class of these moments, without themselves."""
        free = weight - self.less
        gaps = self.rows - means
        np.square(gaps, out=gaps)
        variances = scatter / free
        with np.errstate(all="ignore"):
            found = gaps @ (1.0 / variances) + np.log(variances).sum()
            own = gaps[self.own[j]]
            share = weight / (weight - 1.0)
            left = scatter - share * own
            rest = free - 1.0
            far = own / left
            found[self.own[j]] = (
                np.log(left).sum(axis=1) - left.shape[1] * np.log(rest)
                + rest * share * share * far.sum(axis=1)
            )  # fmt: skip
        safe = rest > 0.0 and bool((left > DIGITS_LEFT * scatter).all())
        return -0.5 * found, safe and bool(np.isfinite(found).all())

    def scores(self, asked: FloatArray, c: int) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return -log posterior of training rows' labels (m, n), each left out of the union.

        The union is that of all training rows and one asked row with label c. The second array
        (m,) marks asked rows for which floors may be in force.
        """
        summary, act = self.summary, self.summary.active
        assert summary.scatters is not None
        every = summary.standardized(asked.astype(np.float64))
        unsafe = np.any(every[:, ~act] != 0.0, axis=1)
        held = summary.weights.copy()
        held[c] += 1.0
        n = len(self.codes)
        priors = self._log_priors(held)
        found = np.empty((len(asked), n))
        for i, x in enumerate(every[:, act]):
            d = x - summary.means[c, act]
            grown = np.square(d) * summary.weights[c] / held[c]
            scatter = summary.scatters[c, act] + grown
            total = (summary.scatter[act] + grown) / held.sum()
            least = np.min(summary.scatters[:, act] / summary.weights[:, np.newaxis], axis=0)
            joint = self.densities.copy()
            means = summary.means[c, act] + d / held[c]
            joint[:, c], safe = self._under(c, held[c], means, scatter)
            unsafe[i] |= not safe or bool((least <= FLOOR * total).any())
            joint += priors
            found[i] = log_sum_exp(joint) - joint[np.arange(n), self.codes]
        unsafe |= ~np.isfinite(found).all(axis=1)
        return np.maximum(found, 0.0), unsafe

    def _log_priors(self, held: FloatArray) -> FloatArray:
        """Return the log priors (n, k) of the models without each row."""
        if self.log_priors is not None:
            return self.log_priors
        found = np.broadcast_to(held, (len(self.codes), len(held))).copy()
        found[np.arange(len(self.codes)), self.codes] -= 1.0
        return np.asarray(np.log(found / (held.sum() - 1.0)))
