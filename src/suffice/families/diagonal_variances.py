"""Variances column by column: per class, shared, or one for all columns of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.families.floors import CLASS_FLOOR, VARIANCE_FLOOR, raised
from suffice.families.notes import STAND_IN, Note

if TYPE_CHECKING:
    from suffice.families.gaussian import Gaussian
    from suffice.families.summary import ClassSummary
    from suffice.rows import FloatArray


def diagonal_variances(family: Gaussian, summary: ClassSummary) -> tuple[FloatArray, list[Note]]:
    """Return the variances of every class, (k, d) or (1, d), and what was floored."""
    assert summary.scatters is not None
    less = 0.0 if family.divisor == "mle" else 1.0
    divisors = np.maximum(summary.counts - less, 0.0)
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
