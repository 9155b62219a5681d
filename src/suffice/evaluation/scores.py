"""The figures of one candidate: over folds, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.evaluation.metrics import accuracy, brier, calibration_error, log_loss

if TYPE_CHECKING:
    from suffice.evaluation.cross_validation import HeldOut
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.rows import FloatArray, IntArray

METRICS = ("accuracy", "log_loss", "brier")


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Accuracy, log-loss and Brier score in every fold; calibration error over all rows.

    The calibration error of a few rows is mostly chance. So it is computed once, of all held-out
    rows together, and its standard error by leaving out one fold after the other (jackknife).
    """

    accuracy: FloatArray
    log_loss: FloatArray | None
    brier: FloatArray | None
    calibration: float | None
    calibration_error: float | None
    seconds: float

    @classmethod
    def of(cls, held: HeldOut, rows: LabelledRows, folds: IntArray) -> Scores:
        """Judge held-out answers."""
        size = int(folds.max()) + 1
        parts = [np.flatnonzero(folds == f) for f in range(size)]
        w = rows.weights

        def own(places: IntArray) -> FloatArray | None:
            return None if w is None else w[places]

        right = [accuracy(held.predicted[p], rows.codes[p], own(p)) for p in parts]
        found = held.log_posterior
        if found is None:
            return cls(np.array(right), None, None, None, None, held.seconds)
        losses = [log_loss(found[p], rows.codes[p], own(p)) for p in parts]
        briers = [brier(found[p], rows.codes[p], own(p)) for p in parts]
        others = [np.flatnonzero(folds != f) for f in range(size)]
        left = np.array([calibration_error(found[p], rows.codes[p], own(p)) for p in others])
        spread = float(np.sqrt((size - 1.0) / size * np.square(left - left.mean()).sum()))
        whole = calibration_error(found, rows.codes, w)
        return cls(np.array(right), np.array(losses), np.array(briers), whole, spread, held.seconds)

    def cells(self) -> tuple[float | None, ...]:
        """Return means and standard errors by turns, then the seconds."""
        found: list[float | None] = []
        for values in (self.accuracy, self.log_loss, self.brier):
            found += [None, None] if values is None else [float(values.mean()), _error(values)]
        return (*found, self.calibration, self.calibration_error, self.seconds)


def _error(values: FloatArray) -> float:
    """Return the standard error of a mean over folds."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))
