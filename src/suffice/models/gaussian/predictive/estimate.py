"""From moments to Student's t: what `Gaussian.estimate` does where a prior is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import check_finite, correlation_scaled, factored, inverse_factor
from suffice.models.gaussian.floors import EIGENVALUE_FLOOR
from suffice.models.gaussian.predictive.diagonal_students import DiagonalStudents
from suffice.models.gaussian.predictive.full_students import FullStudents
from suffice.models.gaussian.predictive.posterior import class_posterior, prior_variances
from suffice.models.notes import Note

if TYPE_CHECKING:
    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.rows import FloatArray

StudentClasses = FullStudents | DiagonalStudents


def predictive_classes(
    family: Gaussian, summary: ClassSummary
) -> tuple[StudentClasses, tuple[Note, ...]]:
    """Return the t law of every class, and reservations."""
    _, lacking = prior_variances(summary)
    found = class_posterior(family, summary)
    notes = []
    if lacking.any():
        columns = tuple(int(j) for j in np.flatnonzero(lacking))
        floor = "a floor far below every real variance is used instead"
        notes.append(Note("columns that do not vary within classes", floor, columns))
    if found.raised is not None:
        notes.append(
            Note(
                f"predictive={family.predictive:g} leaves a class without degrees of freedom",
                f"{found.raised:g} stands in",
            )
        )
    frame = summary.origin, summary.origin_low, summary.scale, summary.active
    if summary.is_diagonal:
        freedom = np.where(summary.active, found.freedom, 1.0)
        used = freedom[: len(found.scale)]
        deviations = np.sqrt(np.where(summary.active, found.scale / used, 1.0))
        check_finite(deviations, found.means[:, summary.active])
        stretches = 1.0 + 1.0 / found.rows
        joint = family.covariance == "spherical"
        return DiagonalStudents(*frame, found.means, deviations, freedom, stretches, joint), (
            *notes,
        )
    check_finite(found.scale, found.means[:, summary.active])
    pairs = [definite_factor(matrix) for matrix in found.scale]
    stretches = 1.0 + 1.0 / found.rows
    return FullStudents.of(frame, found.means, pairs, found.freedom, stretches), (*notes,)


def definite_factor(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (L, L⁻¹) of Ψ: the prior makes it definite, and a floor does where a is next to none.

    Factored on the correlation scale, where units do not count.
    """
    roots = np.sqrt(np.diagonal(matrix))
    correlation = correlation_scaled(matrix, roots)
    np.fill_diagonal(correlation, 1.0)
    pair = inverse_factor(correlation)
    if pair is None or float(np.square(np.diagonal(pair[0])).min(initial=1.0)) < EIGENVALUE_FLOOR:
        values, vectors = np.linalg.eigh(correlation)
        pair = factored(np.maximum(values, EIGENVALUE_FLOOR), vectors)
    return roots[:, np.newaxis] * pair[0], pair[1] / roots
