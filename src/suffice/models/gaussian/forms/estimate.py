"""Tied covariances as normal classes: units, directions without variance, and notes on both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import UnitsMatter
from suffice.models.gaussian.floors import (
    CLASS_FLOOR,
    EIGENVALUE_FLOOR,
    VARIANCE_FLOOR,
    class_covariance,
)
from suffice.models.gaussian.forms import UNIT_FORMS, letters_of
from suffice.models.gaussian.forms.covariances import tied_covariances
from suffice.models.gaussian.full_normals import FullNormals
from suffice.models.notes import STAND_IN, Note

if TYPE_CHECKING:
    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.floors import Pooled
    from suffice.rows import FloatArray

WIDE_UNITS = 10.0
"""From this ratio of standard deviations on it is said that a form depends on units. A choice."""


def common_units(form: str, summary: ClassSummary) -> FloatArray:
    """Return what standardized active columns are multiplied with before a form is estimated.

    The eight forms that do not depend on units see every column in its own standard deviation; the
    other six see them in the unit of the widest, as the user has them.
    """
    scale = summary.scale[summary.active]
    if form not in UNIT_FORMS or not len(scale):
        return np.ones(len(scale))
    return np.asarray(np.maximum(scale / scale.max(), 1e-150))


def units_notes(form: str, summary: ClassSummary) -> tuple[Note, ...]:
    """Say so where a form depends on units, and these are far apart."""
    scale = summary.scale[summary.active]
    if letters_of(form) not in UNIT_FORMS or not len(scale):
        return ()
    if scale.max() <= WIDE_UNITS * scale.min():
        return ()
    widest, narrowest = (
        np.flatnonzero(summary.active)[i] for i in (scale.argmax(), scale.argmin())
    )
    problem = (
        f'covariance="{form}" depends on the units of columns, and their standard deviations are '
        f"{scale.max() / scale.min():.2g} times apart"
    )
    done = "bring columns to one unit, or standardize them, if they have none in common"
    return (Note(problem, done, (int(widest), int(narrowest)), silent=True, category=UnitsMatter),)


def unfloored_covariances(form: str, summary: ClassSummary) -> FloatArray:
    """Return covariances of the active columns (k, a, a), in standardized columns, no floors."""
    assert summary.scatters is not None
    act = np.flatnonzero(summary.active)
    scatters = summary.scatters[:, act[:, np.newaxis], act]
    return _of_scatters(form, summary, scatters)


def _of_scatters(form: str, summary: ClassSummary, scatters: FloatArray) -> FloatArray:
    if not scatters.shape[1]:
        return scatters
    unit = common_units(form, summary)
    square = unit[:, np.newaxis] * unit
    # Rounding leaves a class without variance with a volume of nothing over nothing.
    covariances = tied_covariances(form, summary.weights, scatters * square).covariances
    return np.nan_to_num(covariances, nan=0.0, posinf=0.0, neginf=0.0) / square


def _floor(pooled: Pooled) -> FloatArray:
    """Return the variance that stands where classes have none, the same for all: (a, a)."""
    if pooled.basis is None:
        return np.zeros_like(pooled.factor)
    assert pooled.constant is not None
    absent = pooled.deviations[:, np.newaxis] * pooled.basis[:, pooled.missing]
    found: FloatArray = EIGENVALUE_FLOOR * (absent @ absent.T)
    found[np.diag_indices(len(found))] += np.where(pooled.constant, VARIANCE_FLOOR, 0.0)
    return found


def tied_normals(
    form: str, summary: ClassSummary, pooled: Pooled
) -> tuple[FullNormals, list[Note]]:
    """Return normal classes of tied covariances, and which classes lack a direction.

    A class of too few rows has no shape of its own, and one of a single row no volume: where a form
    asks for it, its scatter is raised as that of a per-class covariance is, and then enters.
    """
    assert summary.scatters is not None
    act = np.flatnonzero(summary.active)
    scatters = summary.scatters[:, act[:, np.newaxis], act].copy()
    scatters += summary.weights[:, np.newaxis, np.newaxis] * _floor(pooled)
    size = 1 if form == "EII" else summary.size
    thin: set[int] = set()
    for c, weight in enumerate(summary.weights if form != "EII" and len(act) else ()):
        own = scatters[c] / weight
        white = np.einsum("ij,jk,ik->", pooled.whitening, own, pooled.whitening) / len(act)
        lacks = white < CLASS_FLOOR
        if form[1] == "V" or (lacks and form[0] == "V"):
            factor, _, acted = class_covariance(own, float(weight), pooled)
            if acted:
                scatters[c] = weight * (factor @ factor.T)
                thin.add(c)
    covariances = _of_scatters(form, summary, scatters)
    factors = np.empty((size, len(act), len(act)))
    whitenings = np.empty_like(factors)
    for c in range(size):
        factors[c], whitenings[c], acted = class_covariance(
            covariances[c], float(summary.weights[c]), pooled
        )
        if acted:
            thin.add(c)
    notes = []
    if thin:
        problem = f"{len(thin)} of {summary.size} classes have no variance in some directions"
        notes.append(Note(problem, STAND_IN, classes=tuple(sorted(thin))))
    return FullNormals.of(summary, factors, whitenings, pooled), notes
