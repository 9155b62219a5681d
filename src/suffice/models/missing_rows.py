"""Leave-one-out where cells are missing: EM again without the row, from where it had stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.linear_algebra import normalized
from suffice.models.learner import Fit, GaussianLearner
from suffice.models.leave_one_out import LeaveOneOut

if TYPE_CHECKING:
    from suffice.families.gaussian import Gaussian, GaussianStatistics
    from suffice.rows import FloatArray, IntArray

EXACT_BUDGET = 2e10
"""Operations below which EM runs to its end for every row; above, it takes one step."""
TYPICAL_STEPS = 20.0


def leave_one_out_missing(
    family: Gaussian,
    statistics: GaussianStatistics,
    fit: Fit,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None,
    log_priors: FloatArray | None,
) -> LeaveOneOut:
    """Return what each row gets from EM on the pattern statistics without it."""
    n, width = rows.shape
    held: Any = statistics
    cost = n * len(held.groups) * TYPICAL_STEPS * 4.0 * width**3
    exact = cost <= EXACT_BUDGET
    labels = fit.model.labels
    learner = GaussianLearner(family)
    w = np.ones(n) if weights is None else weights
    result = np.full((n, len(labels)), -np.inf)
    vanished = np.zeros(n, dtype=bool)
    places = {label: c for c, label in enumerate(labels)}
    for i in range(n):
        row = rows[i : i + 1].astype(np.float64)
        own = learner.summarize(row, np.zeros(1, dtype=np.intp), [labels[codes[i]]], w[i : i + 1])
        left = held - own
        kept = [places[label] for label in left.labels]
        vanished[i] = codes[i] not in kept
        start = None if vanished[i] else _start(fit)
        rest = learner.fit(left, start=start, most_steps=None if exact else 1)
        priors = rest.model.log_priors if log_priors is None else log_priors[kept]
        result[i, kept] = rest.model.densities.scores(row, priors)[0]
    said = "" if exact else "EM took one step for each row that was left out"
    return LeaveOneOut(normalized(result), codes, w, vanished, said)


def _start(fit: Fit) -> tuple[FloatArray, FloatArray] | None:
    """EM restarts from the fitted parameters; they are in units that hardly change."""
    return fit.parameters
