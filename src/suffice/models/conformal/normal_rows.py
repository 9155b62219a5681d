"""Rows of independent normal columns as unions need them: in units, where no floor is near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.conformal.added_groups import Asked
    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.notes import Note
    from suffice.rows import FloatArray

FLOOR = 1e-6
"""Share of the pooled variance below which floors may be near: they begin at 1e-8."""
FEWEST = 3.0
"""Cells of a class and column: without one of two nothing varies, and a floor is laid."""


@dataclass(frozen=True, slots=True, eq=False)
class NormalRows:
    """Training rows (n, d) in units of the columns that vary.

    `less` is what the divisor of variances has less than rows; `family` says what of cells is
    normal, if it is not the cells themselves.
    """

    summary: ClassSummary
    less: float
    rows: FloatArray
    family: Any

    @staticmethod
    def read(
        summary: ClassSummary, divisor: str, notes: Sequence[Note], rows: FloatArray, family: Any
    ) -> NormalRows | None:
        """Return training rows, blank cells as NaN; None where floors or few cells need more."""
        act = summary.active
        if any(not note.silent for note in notes) or summary.scatters is None or not act.any():
            return None
        if summary.counts[:, act].min() < FEWEST:
            return None
        units = summary.standardized(rows.astype(np.float64))[:, act]
        return NormalRows(summary, 0.0 if divisor == "mle" else 1.0, units, family)

    def asked(self, block: Any) -> Asked:
        """Return asked rows in units, and which of them vary where nothing did before."""
        cells = block if self.family is None else self.family.transformed(block)
        z = self.summary.standardized(np.asarray(cells, dtype=np.float64))
        act = self.summary.active
        odd = (z[:, ~act] != 0.0) & ~np.isnan(z[:, ~act])
        return z[:, act], np.asarray(odd.any(axis=1) | np.isinf(z).any(axis=1))
