"""Moments of classes to normal classes of factors: how many, from what, and what was floored."""

from __future__ import annotations

from math import log
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.linear_algebra import correlation_scaled
from suffice.models.gaussian.factors.maximum import (
    Factors,
    RankedCorrelations,
    identified,
    most_likely,
    parameters,
)
from suffice.models.gaussian.factors.normals import FactorNormals
from suffice.models.gaussian.floors import CLASS_FLOOR, VARIANCE_FLOOR, raised
from suffice.models.notes import STAND_IN, Note

if TYPE_CHECKING:
    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.rows import FloatArray

AUTO = "auto"
"""The word for as many factors as BIC finds worth their parameters."""
PATIENCE = 2
"""Numbers of factors in a row of no better BIC, after which larger ones are not tried. A choice:
each further factor explains less than those before."""
MOST_FACTORS = 40
"""The largest number that "auto" tries. A choice: of more, sums of squares tell little."""


def check_factors(family: Gaussian) -> None:
    """Refuse numbers of factors that are none, and settings that have no meaning beside them."""
    given: Any = family.factors
    whole = isinstance(given, Integral) and not isinstance(given, bool)
    if given != AUTO and not (whole and given >= 1):
        diagonal = "shared-diagonal" if family.covariance == "shared" else "diagonal"
        raise BadSetting(
            f"factors={given!r} is not a number of factors",
            hint=f'use a whole number from 1, or "auto"; without factors columns are '
            f'independent: covariance="{diagonal}"',
        )
    if family.covariance not in ("shared", "per-class"):
        raise BadSetting(
            f'factors={given!r} does not apply to covariance="{family.covariance}"',
            hint='factors work with covariance="shared" and "per-class"',
        )
    for name, usual in (("pool", None), ("shrink", None), ("predictive", None), ("divisor", "mle")):
        if getattr(family, name) != usual:
            raise BadSetting(
                f"{name}={getattr(family, name)!r} does not apply to factors: their covariance "
                "is the maximum-likelihood one",
                hint=f"leave {name} out, or factors",
            )


def factor_normals(family: Gaussian, summary: ClassSummary) -> tuple[FactorNormals, list[Note]]:
    """Return normal classes of factors, and which columns and classes had to be helped."""
    covariances, notes = _with_variances(family, summary)
    found = [
        _of_covariance(family, covariance, weight, summary)
        for covariance, weight in zip(covariances, _weights(family, summary), strict=True)
    ]
    deviations = [np.sqrt(np.diagonal(covariance)) for covariance in covariances]
    most = max(each.count for each in found)
    width = int(summary.active.sum())
    loadings, noise = np.zeros((len(found), width, most)), np.empty((len(found), width))
    heywood = np.zeros(width, dtype=bool)
    for m, (each, deviation) in enumerate(zip(found, deviations, strict=True)):
        loadings[m, :, : each.count] = deviation[:, np.newaxis] * each.loadings
        noise[m] = np.square(deviation) * each.noise
        heywood[each.floored] = True
    if heywood.any():
        places = np.flatnonzero(summary.active)[heywood]
        notes.append(
            Note(
                "factors explain all variance of these columns",
                "0.5 % of a column's variance is kept as its own",
                tuple(int(j) for j in places),
                silent=True,
            )
        )
    place = summary.origin, summary.origin_low, summary.scale, summary.active, summary.means
    return FactorNormals(*place, loadings, noise), notes


def factor_covariances(family: Gaussian, summary: ClassSummary) -> list[FloatArray]:
    """Return the covariances of the active columns (m, a, a), standardized, for a step of EM."""
    law, _ = factor_normals(family, summary)
    found = law.loadings @ law.loadings.transpose(0, 2, 1)
    places = np.arange(found.shape[1])
    found[:, places, places] += law.noise
    return list(found)


def chosen_factors(law: FactorNormals) -> tuple[int, ...]:
    """Return how many factors each covariance has."""
    return tuple(int(n) for n in np.any(law.loadings != 0.0, axis=1).sum(axis=1))


def _weights(family: Gaussian, summary: ClassSummary) -> list[float]:
    if family.covariance == "shared":
        return [summary.weight]
    return [float(weight) for weight in summary.weights]


def _with_variances(family: Gaussian, summary: ClassSummary) -> tuple[list[FloatArray], list[Note]]:
    """Return covariances in which every active column varies, as diagonal classes have it.

    A column that does not vary in a class gets 1/W of the pooled variance there: a class of one row
    has the pooled variances, and no factors.
    """
    pooled = family.pooled(summary)
    variances = np.diagonal(pooled)
    active = np.flatnonzero(summary.active)
    notes = []
    flat = variances < VARIANCE_FLOOR
    if flat.any():
        columns = tuple(int(j) for j in active[flat])
        notes.append(Note("columns that do not vary within classes", STAND_IN, columns))
    least = np.maximum(variances, VARIANCE_FLOOR)
    if family.covariance == "shared":
        return [_with_diagonal(pooled, least)], notes
    found, thin, columns_of = [], [], np.zeros(len(active), dtype=bool)
    for c, weight in enumerate(summary.weights):
        own = family.mixed(summary, c)
        theta = np.diagonal(own) / least
        lifted, acted = raised(np.maximum(theta, 0.0), float(weight))
        if acted:
            thin.append(c)
            columns_of |= theta < CLASS_FLOOR
        found.append(_with_diagonal(own, lifted * least))
    if thin:
        problem = f"{len(thin)} of {summary.size} classes do not vary in every column"
        columns = tuple(int(j) for j in active[columns_of])
        notes.append(Note(problem, STAND_IN, columns, tuple(thin)))
    return found, notes


def _with_diagonal(covariance: FloatArray, variances: FloatArray) -> FloatArray:
    if np.array_equal(np.diagonal(covariance), variances):
        return covariance
    covariance = covariance.copy()
    np.fill_diagonal(covariance, variances)
    return covariance


def _of_covariance(
    family: Gaussian, covariance: FloatArray, weight: float, summary: ClassSummary
) -> Factors:
    """Return the most likely factors of one covariance; as many as asked for, or as BIC finds."""
    width, asked = len(covariance), family.factors
    if asked != AUTO and int(asked or 0) >= summary.width:
        raise BadSetting(
            f"factors={asked} of {summary.width} columns are too many: as many factors as "
            "columns describe any covariance",
            hint=f"use fewer than {summary.width} factors, or leave factors out",
        )
    if width < 2:
        return Factors(np.zeros((width, 0)), np.ones(width), float(width), (float(width),))
    scaled = correlation_scaled(covariance, np.sqrt(np.diagonal(covariance)))
    np.fill_diagonal(scaled, 1.0)
    held = RankedCorrelations.of(scaled)
    if asked != AUTO:
        return most_likely(held, int(asked or 0))
    best, least, worse = most_likely(held, 0), np.inf, 0
    start: FloatArray | None = None
    for count in range(min(identified(width), held.most, MOST_FACTORS) + 1):
        found = most_likely(held, count, start)
        cost = -2.0 * found.log_likelihood(weight) + parameters(width, count) * log(
            max(summary.weight, 2.0)
        )
        if cost < least:
            best, least, worse = found, cost, 0
        else:
            worse += 1
            if worse >= PATIENCE:
                break
        start = found.noise if count else None
    return best
