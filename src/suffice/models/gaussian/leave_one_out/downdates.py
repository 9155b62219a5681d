"""Densities of rows under moments from which they were taken out, all rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import pinned
from suffice.models.gaussian.floors import degrees_of_freedom
from suffice.models.gaussian.leave_one_out.shrunk_downdates import (
    LEVERAGE,
    Downdated,
    Removal,
    shrunk_log_densities,
)

if TYPE_CHECKING:
    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.full_normals import FullNormals
    from suffice.rows import FloatArray, IntArray


def full_log_densities(
    family: Gaussian,
    summary: ClassSummary,
    normals: FullNormals,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    exact_budget: float,
    *,
    hold_floors: bool = False,
) -> tuple[Downdated, list[str]]:
    """Return log densities under downdated full covariances, and what was approximated.

    Where a floor stands in for a direction, removing a row may move it, and rows are called
    unsafe, unless floors are to be held.
    """
    act = normals.active
    z = rows[:, act]
    removal = Removal.of(family, summary, z, codes, weights)
    with pinned():
        if family.covariance == "shared" and not family.shrink:
            return _shared(family, summary, normals, removal), []
        if not family.shrink:
            return _pooled(family, summary, normals, removal), []
        share = 1.0 if family.covariance == "shared" else (family.pool or 0.0)
        changed = summary.size if share > 0.0 or family.shrink_target == "scaled" else 1
        changed = 1 if family.covariance == "shared" else changed
        cost = float(len(z)) * changed * z.shape[1] ** 3
        exact = cost <= exact_budget
        said = [] if exact else ["the target of shrinking was corrected to second order"]
        budget = np.inf if exact and not hold_floors else exact_budget / changed
        return shrunk_log_densities(
            family, summary, normals, removal, share, budget, exact=exact
        ), said


def _shared(
    family: Gaussian, summary: ClassSummary, normals: FullNormals, removal: Removal
) -> Downdated:
    """One whitening for all classes: everything follows from D = L⁻¹(x - m_y) and the means."""
    _, divisor = family.divisors(summary)
    whitening = normals.whitenings[0] / np.sqrt(divisor)
    means = normals.means[:, normals.active] @ whitening.T
    own = removal.rows @ whitening.T - means[removal.codes]
    t = np.einsum("ij,ij->i", own, own)
    # Gaps between class means in white coordinates: G_cj = μ_c - μ_j.
    along = own @ means.T
    along = along[np.arange(len(own)), removal.codes][:, np.newaxis] - along
    gram = means @ means.T
    gaps = np.diag(gram)[:, np.newaxis] + np.diag(gram) - 2.0 * gram
    t_, a = t[:, np.newaxis], removal.downdate[:, np.newaxis]
    rest = 1.0 - a * t_
    straight = t_ + 2.0 * along + gaps[removal.codes]
    mixed = t_ + along
    q = straight + a * np.square(mixed) / rest
    rows = np.arange(len(own))
    q[rows, removal.codes] = np.square(removal.stretch) * t / rest[:, 0]
    f = removal.pooled_divisor
    unsafe = removal.unsafe | (rest[:, 0] < LEVERAGE) | (f <= 0.0)
    return Downdated(-f[:, np.newaxis] * q / 2.0, unsafe)


def _pooled(
    family: Gaussian, summary: ClassSummary, normals: FullNormals, removal: Removal
) -> Downdated:
    """Per-class scatters mixed with the pooled one: A_j = (1-λ)S_j + λS, all of rank one less."""
    share = family.pool or 0.0
    divisors, divisor = family.divisors(summary)
    n, size = len(removal.rows), summary.size
    out = np.empty((n, size))
    unsafe = removal.unsafe.copy()
    means = normals.means[:, normals.active]
    # Directions that say nothing keep their floor whatever is removed.
    effective = means.shape[1] - normals.silent
    for j in range(size):
        f = (1.0 - share) * divisors[j] + share * divisor
        whitening = normals.whitenings[j] / np.sqrt(f)
        volume = float(np.log(np.diagonal(normals.factors[j])).sum()) * 2.0 + effective * np.log(f)
        white = removal.rows @ whitening.T
        u = white - whitening @ means[j]
        delta = white - (means @ whitening.T)[removal.codes]
        own = removal.codes == j
        alpha = np.where(own, 1.0, share) * removal.downdate
        t = np.einsum("ij,ij->i", delta, delta)
        rest = 1.0 - alpha * t
        straight = np.einsum("ij,ij->i", u, u)
        mixed = np.einsum("ij,ij->i", u, delta)
        q = np.where(
            own,
            np.square(removal.stretch) * t / rest,
            straight + alpha * np.square(mixed) / rest,
        )
        f_new = (1.0 - share) * np.where(own, removal.own_divisor, divisors[j])
        f_new = f_new + share * removal.pooled_divisor
        unsafe |= (rest < LEVERAGE) | (f_new <= 0.0)
        out[:, j] = -0.5 * (volume + np.log1p(-alpha * t) - effective * np.log(f_new) + f_new * q)
    return Downdated(out, unsafe)


DIGITS_LEFT = 1e-5
"""Share of a scatter that has to be left for a downdate: of its sixteen digits, five or six are
then gone with the row, and ten are promised."""


def diagonal_log_densities(
    family: Gaussian,
    summary: ClassSummary,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray,
) -> Downdated:
    """Return log densities under downdated variances, column by column; missing cells skipped."""
    assert summary.scatters is not None
    less = 0.0 if family.divisor == "mle" else 1.0
    act = summary.active
    z, means = rows[:, act], summary.means[:, act]
    seen = ~np.isnan(z)
    held = summary.counts[:, act]
    scatters = summary.scatters[:, act]
    own_held = held[codes]
    w = weights[:, np.newaxis] * seen
    left = own_held - w
    delta = np.where(seen, z - means[codes], 0.0)
    lost = w * own_held / left * np.square(delta)
    stretch = own_held / left
    unsafe = np.any(seen & (left <= w * (1.0 + 1e-12) + less), axis=1)
    # A class that never showed a column has the mean of those that did, this row among them.
    unsafe |= np.any(seen & np.any(held <= 0.0, axis=0), axis=1)
    out = np.empty((len(z), summary.size))
    spherical = family.covariance == "spherical"
    unit = (
        np.square(summary.scale[act] / summary.scale[act].max(initial=0.0))
        if act.any()
        else np.ones(0)
    )
    # A cell that no row of a class shows takes no degree of freedom away.
    divisors, own_divisor, rest = held, left, scatters.sum(axis=0) - lost
    divisor = held.sum(axis=0) - w
    if less:
        divisors = np.maximum(degrees_of_freedom(held, less), 0.0)
        own_divisor = np.maximum(degrees_of_freedom(left, less), 0.0)
        divisor = divisors.sum(axis=0) - divisors[codes] + own_divisor
    pooled = rest / divisor
    if spherical:
        pooled = (rest @ unit / divisor.sum(axis=1))[:, np.newaxis] / unit
    unsafe |= np.any(seen & ~(pooled > 1e-19), axis=1)
    # A row that holds nearly all of a scatter leaves rounding of it behind, and little else.
    unsafe |= np.any(seen & (rest <= DIGITS_LEFT * scatters.sum(axis=0)), axis=1)
    unsafe |= np.any(seen & (scatters[codes] - lost <= DIGITS_LEFT * scatters[codes]), axis=1)
    for j in range(summary.size):
        own = (codes == j)[:, np.newaxis]
        u = np.where(own, delta * stretch, np.where(seen, z - means[j], 0.0))
        freedom = np.where(own, own_divisor, divisors[j])
        scatter = scatters[j] - np.where(own, lost, 0.0)
        if family.covariance == "shared-diagonal":
            variances = pooled
        elif spherical:
            variances = (scatter @ unit / freedom.sum(axis=1))[:, np.newaxis] / unit
        else:
            variances = scatter / freedom
        unsafe |= np.any(seen & ~(variances > 1e-8 * pooled), axis=1)
        terms = np.where(seen, np.log(variances) + np.square(u) / variances, 0.0)
        out[:, j] = -terms.sum(axis=1) / 2.0
    return Downdated(out, unsafe)
