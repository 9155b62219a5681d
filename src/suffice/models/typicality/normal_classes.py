"""How typical a row is of each normal class: a p-value, so that "none of these" has an answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.gaussian.full_normals import FullNormals
from suffice.models.gaussian.missing_patterns import by_pattern
from suffice.models.gaussian.normal_fit import predictive_p_values
from suffice.models.gaussian.predictive.averaged_laws import AveragedLaws
from suffice.models.typicality.column_laws import (
    CONSTANT,
    ClassColumns,
    say_unknown,
    unknown_classes,
)
from suffice.models.typicality.normal_sums import (
    beside_constants,
    odd_one_out,
    smallest_of_columns,
)
from suffice.rows import refuse_infinite

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.models.gaussian.family import Gaussian
    from suffice.models.gaussian.learner import Fit
    from suffice.models.gaussian.predictive.full_students import FullStudents
    from suffice.rows import FloatArray, IntArray

CELLS = 4_000_000
"""Cells that are judged at once (32 MB); more are judged in parts. A choice."""
LEVERAGE = 1e-10
"""A row of more leverage than 1 - this carries a direction by itself."""


def typicality(
    family: Gaussian,
    fit: Fit,
    rows: FloatArray,
    codes: IntArray | None = None,
    gone: FloatArray | None = None,
) -> FloatArray:
    """Return, per class, the probability that a row of that class lies at least as far out.

    `codes` are the classes of rows that were in the fit: each is taken out first, with the weight
    `gone` (n,), and then judged like any new row. Exact under normality and ignorable missingness
    for every form; approximate with pooling, and where full covariances were estimated from rows
    with missing cells. Shrinking plays no part, nor does what a form ties together: distances are
    in the class's own scatter.

    | form                      | law                                                          |
    |---------------------------|--------------------------------------------------------------|
    | shared, per-class, tied   | F, of the Mahalanobis distance                               |
    | diagonal, shared-diagonal | sum over columns of Student's log densities                  |
    | spherical                 | F, of the Euclidean distance                                 |
    | too few rows for a matrix | the smallest of the columns' p-values, times their number;   |
    |                           | with t laws F, of their distance: under the prior            |
    """
    weights = np.ones(len(rows)) if gone is None else gone
    found, known = normal_p_values(family, fit, rows, codes, weights)
    say_unknown(*unknown_classes(known, fit.summary.weights, codes, weights))
    return found


def normal_p_values(
    family: Gaussian, fit: Fit, rows: FloatArray, codes: IntArray | None, weights: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the p-values of `typicality` (n, k), and where a class can say anything at all."""
    refuse_infinite(rows, None)
    if fit.summary.is_diagonal:
        work = _spherical if family.covariance == "spherical" else _independent
    else:
        work = _full
        students: Any = fit.normals if family.predictive is not None else None
        if family.shrink or family.is_tied or not isinstance(fit.normals, FullNormals):
            form = "per-class" if family.is_tied else family.covariance
            family = replace(
                family, covariance=form, shrink=None, predictive=None, prior_rows=0.0, factors=None
            )
            normals, notes = family.estimate(fit.summary)
            model = replace(fit.model, densities=normals)
            fit = replace(fit, model=model, notes=notes)
        if students is not None:
            work = partial(_full, students=students)
    step = max(1, CELLS // max(1, rows.shape[1]))
    found = [
        work(
            family,
            fit,
            rows[start : start + step],
            None if codes is None else codes[start : start + step],
            weights[start : start + step],
        )
        for start in range(0, len(rows), step)
    ]
    if not found:
        return np.ones((0, fit.summary.size)), np.ones((0, fit.summary.size), dtype=bool)
    return np.concatenate([p for p, _ in found]), np.concatenate([known for _, known in found])


# Independent columns


def _independent(
    family: Gaussian, fit: Fit, rows: FloatArray, codes: IntArray | None, gone: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Add up the columns' Student log densities, and compare with the law of such sums."""
    from suffice.models.typicality.naive_bayes import constant_columns, summed_tails

    columns = ClassColumns.of(fit.summary, shared=family.covariance == "shared-diagonal")
    z = columns.standardized(rows)
    out = np.empty((len(rows), fit.summary.size))
    known = np.empty(out.shape, dtype=bool)
    for c in range(out.shape[1]):
        pivots = columns.pivots(z, c, codes, gone)
        out[:, c] = summed_tails([pivots], constant_columns(pivots), len(rows))
        known[:, c] = pivots.known
    return out, known


def _spherical(
    family: Gaussian,  # noqa: ARG001
    fit: Fit,
    rows: FloatArray,
    codes: IntArray | None,
    gone: FloatArray,
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Compare Σ(x - m)²/(1 + 1/W) with the mean of all columns' variances: F(D, Σν)."""
    summary = fit.summary
    columns = ClassColumns.of(summary, shared=False)
    z = columns.standardized(rows)
    # One variance for all columns is one in the user's units, relative to the largest of them.
    unit = np.where(summary.active, summary.scale, 0.0)
    unit = unit / max(float(unit.max(initial=0.0)), np.finfo(np.float64).tiny)
    still = np.flatnonzero(~summary.active)
    out = np.empty((len(rows), summary.size))
    known = np.empty(out.shape, dtype=bool)
    for c in range(summary.size):
        left = columns.moments(z, c, codes, gone)
        seen = ~np.isnan(z) & (left.weights > 0.0)
        spread = np.where(left.weights > 0.0, left.scatters, 0.0) * np.square(unit)
        freedom = np.where(unit > 0.0, left.freedom, 0.0).sum(axis=1)
        with np.errstate(all="ignore"):
            gap = np.where(seen, (z - left.means) * unit, 0.0)
            squares = np.square(gap) / (1.0 + 1.0 / np.where(seen, left.weights, 1.0))
            q = squares.sum(axis=1) / spread.sum(axis=1)
        # 0/0 where the class has one place only; what overflows is far from anywhere.
        away = ~(np.abs(gap).max(axis=1, initial=0.0) <= 1e-9)
        q = np.where(np.isnan(q), np.where(away, np.inf, 0.0), q)
        ranks = (seen & (unit > 0.0)).sum(axis=1)
        # F(D, f) of q·f/D is the law below with ν = f + D - 1 and no leverage left.
        p = predictive_p_values(q, ranks, freedom + ranks - 1.0, 0.0)
        constant = (freedom > 0.0) & (spread.sum(axis=1) <= 0.0)
        least = left.weights.min(axis=1)
        p = np.where(constant, np.where(q > 0.0, 1.0 / (least + 1.0), 1.0), p)
        p = np.where(freedom > 0.0, p, 1.0)
        known[:, c] = (freedom > 0.0) & (~constant | (least > 1.0))
        if len(still):
            pivots = columns.pivots(z, c, codes, gone)
            said = p if summary.active.any() else np.full(len(rows), np.inf)
            p = beside_constants(said, pivots.other[:, still], pivots.weights[:, still])
            known[:, c] |= pivots.known
        out[:, c] = p
    return out, known


# Full covariances


def _full(
    family: Gaussian,
    fit: Fit,
    rows: FloatArray,
    codes: IntArray | None,
    gone: FloatArray,
    students: FullStudents | AveragedLaws | None = None,
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Compare Mahalanobis distances with F; columns that are the same in all rows apart."""
    summary = fit.summary
    columns = ClassColumns.of(summary, shared=True)
    still = columns.scatters[0] <= CONSTANT * max(summary.weight, 1.0)
    under_prior = None if students is None else partial(student_p_values, students, rows)
    held = summary.weights
    left = np.broadcast_to(held, (len(rows), len(held))).copy()
    if codes is not None:
        left[np.arange(len(codes)), codes] -= gone
        left[left <= 1e-12 * held] = 0.0
    p = np.full(left.shape, np.inf)  # no word of any column yet
    odd = np.zeros(left.shape, dtype=bool)
    if not still.all():
        part = fit
        if still.any():
            inner = summary.of_columns(~still)
            normals, notes = family.estimate(inner)
            model = replace(fit.model, densities=normals)
            part = replace(fit, model=model, summary=inner, notes=notes)
        p, odd = _varying(family, part, rows[:, ~still], codes, gone, under_prior)
        p = np.where(odd, odd_one_out(left), p)
    shared = family.covariance == "shared" or bool(family.pool)
    apart = np.maximum(left - 1.0, 0.0)
    if shared and not still.all():
        apart = np.where(odd | (left <= 0.0), apart, apart.sum(axis=1, keepdims=True))
    if still.any():
        z = columns.standardized(rows)
        for c in range(summary.size):
            other = columns.pivots(z, c, codes, gone).other[:, still]
            p[:, c] = beside_constants(p[:, c], other, left[:, [c]])
    return p, apart > 0.0


def _varying(
    family: Gaussian,
    fit: Fit,
    rows: FloatArray,
    codes: IntArray | None,
    gone: FloatArray,
    under_prior: Callable[[], FloatArray] | None,
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Compare Mahalanobis distances with F; column by column where there is no matrix.

    With t laws, where there is none, by these: under the prior. Rows of the fit under their own
    class are not: they are in the law. The second (n, k) is which rows are the odd one out there:
    they carry a direction alone, along which nothing varies without them.
    """
    normals: FullNormals = fit.normals  # type: ignore[assignment]
    shared = family.covariance == "shared"
    distances, ranks = normals.squared_distances(rows)
    freedom = degrees_of_freedom(family, fit)
    divisors, divisor = family.divisors(fit.summary)
    share = 1.0 if shared else (family.pool or 0.0)
    held = fit.summary.weights
    d = ranks[:, np.newaxis]
    with np.errstate(all="ignore"):
        q = distances / ((1.0 - share) * divisors + share * divisor)  # (x - m)ᵀS⁻¹(x - m)
    # Where nothing varies every row is typical; a square that is not a number has overflowed.
    q = np.where(d == 0, 0.0, np.where(np.isnan(q), np.inf, q))
    spare = np.broadcast_to(freedom - d + 1.0, q.shape).copy()
    nu = np.broadcast_to(freedom, q.shape).copy()
    if codes is not None and shared:
        q, lost = _without_rows(normals, rows, codes, gone, q, held, divisor)
        nu -= lost[:, np.newaxis]
        spare -= lost[:, np.newaxis]
    p = predictive_p_values(q, d, nu, 1.0 / held)
    if codes is not None:
        own = np.arange(len(rows)), codes
        p[own], spare[own], carried = _own(fit, family, distances[own], ranks, codes, gone, share)
    lacking = (d > 0) & ((spare <= 0.0) | np.isnan(p) | _starved(family, fit, rows, ranks))
    if under_prior is not None and lacking.any():
        mine = np.zeros(lacking.shape, dtype=bool)
        if codes is not None:
            mine[np.arange(len(rows)), codes] = True
        under = lacking & ~mine
        p = np.where(under, under_prior(), p)
        lacking &= mine
    if lacking.any():
        columns = ClassColumns.of(fit.summary, shared=shared)
        z = columns.standardized(rows)
        for c in np.flatnonzero(lacking.any(axis=0)):
            here = lacking[:, c]
            part = None if codes is None else codes[here]
            p[here, c] = smallest_of_columns(columns.pivots(z[here], int(c), part, gone[here]))
    odd = np.zeros(p.shape, dtype=bool)
    if codes is not None:
        alone = held[codes] - gone <= 1e-12 * held[codes]
        p[alone, codes[alone]] = 1.0
        odd[own] = carried & ~alone
        if shared:
            odd |= odd[own][:, np.newaxis]
    return p, odd


def _own(
    fit: Fit,
    family: Gaussian,
    distances: FloatArray,
    ranks: IntArray,
    codes: IntArray,
    gone: FloatArray,
    share: float,
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return p-values of rows under their own class without them, and degrees of freedom to spare.

    With a = wW/(W - w), the downdated distance is q(W/(W - w))²/(1 - aq), relative to S - aδδᵀ.
    The third is which rows carry a direction alone.
    """
    held = fit.summary.weights[codes]
    divisors, divisor = family.divisors(fit.summary)
    rest = held - gone
    safe = np.where(rest > 1e-12 * held, rest, 1.0)
    with np.errstate(all="ignore"):
        q = distances / ((1.0 - share) * divisors[codes] + share * divisor)
        room = 1.0 - gone * (held / safe) * q
        # A row cannot carry more of a scatter than all of it: the rest is rounding.
        carried = (ranks > 0) & ~(room > LEVERAGE)
        q = np.where(carried, np.inf, q * np.square(held / safe) / room)
    q = np.where(ranks == 0, 0.0, np.where(np.isnan(q), np.inf, q))
    nu = degrees_of_freedom(family, fit)[codes] - gone
    spare = nu - ranks + 1.0
    # Of a pooled covariance the row is not all there is: its distance is approximate.
    carried &= (spare > 0.0) & (share in (0.0, 1.0))
    return predictive_p_values(q, ranks, nu, 1.0 / safe), spare, carried


def _without_rows(
    normals: FullNormals,
    rows: FloatArray,
    codes: IntArray,
    gone: FloatArray,
    q: FloatArray,
    held: FloatArray,
    divisor: float,
) -> tuple[FloatArray, FloatArray]:
    """Return q of all classes in the shared scatter without each row, and what ν has lost.

    S' = S - aδδᵀ with δ = x - m_y, so q' = q + a(δᵀS⁻¹(x - m_c))²/(1 - aδᵀS⁻¹δ).
    """
    rest = held[codes] - gone
    alone = rest <= 1e-12 * held[codes]
    a = np.where(alone, 0.0, gone * (held[codes] / np.where(alone, 1.0, rest)))
    table = np.column_stack([np.arange(len(rows), dtype=np.float64), rows])

    def products(part: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
        places = part[:, 0].astype(np.intp)
        law = normals if seen[1:].all() else normals.marginal(seen[1:])
        z = (part[:, 1:][:, seen[1:]] - law.origin - law.origin_low) / law.scale
        white = z[:, law.active] @ law.whitenings[0].T
        centres = law.means[:, law.active] @ law.whitenings[0].T
        own = white - centres[codes[places]]
        along: FloatArray = np.einsum("ij,ij->i", own, white)[:, np.newaxis] - own @ centres.T
        return along

    with np.errstate(all="ignore"):
        along = by_pattern(table, products) / divisor
        t = q[np.arange(len(rows)), codes]
        room = np.maximum(1.0 - a * t, LEVERAGE)[:, np.newaxis]
        found = q + a[:, np.newaxis] * np.square(along) / room
    found = np.where(np.isnan(found), np.inf, found)
    return found, np.where(alone, np.maximum(gone - 1.0, 0.0), gone)


def _starved(family: Gaussian, fit: Fit, rows: FloatArray, ranks: IntArray) -> NDArray[np.bool_]:
    """Say for which rows and classes the covariance could not be estimated.

    Fewer directions than columns may be a fact about the rows' law or about their number. It is
    the law's only if there were rows enough to show more.
    """
    summary = fit.summary
    freedom = degrees_of_freedom(family, fit)
    seen = (~np.isnan(rows) & summary.active).sum(axis=1)
    starved: NDArray[np.bool_] = (ranks < seen)[:, np.newaxis] & (ranks[:, np.newaxis] >= freedom)
    for note in fit.notes:
        if note.classes and not note.silent:
            starved[:, list(note.classes)] = True
    return starved


def degrees_of_freedom(family: Gaussian, fit: Fit) -> FloatArray:
    """Return ν of every class's scatter: W_c - 1, or W - k when it is shared, or between."""
    weights = fit.summary.weights
    pooled = fit.summary.weight - fit.summary.size
    if family.covariance == "shared":
        return np.full(len(weights), pooled)
    share = family.pool or 0.0
    return (1.0 - share) * (weights - 1.0) + share * pooled


def student_p_values(laws: Any, rows: FloatArray) -> FloatArray:
    """Return P(a row of the t law lies at least as far out), (n, k): q/D ~ F(D, f).

    Averaged laws are averaged by their shares.
    """
    if isinstance(laws, AveragedLaws):
        pairs = zip(laws.law_shares, laws.laws, strict=True)
        return np.asarray(sum(share * student_p_values(law, rows) for share, law in pairs))

    def work(part: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
        law = laws if seen.all() else laws.marginal(seen)
        with np.errstate(over="ignore", invalid="ignore"):
            q = law.squares(part[:, seen])
        q = np.where(np.isnan(q), np.inf, q)
        # F(D, f) of q/D is the law below with ν = f + D - 1 and no leverage left.
        nu = law.freedom + law.rank - 1.0
        return predictive_p_values(q / law.freedom, law.rank, nu, 0.0)

    return by_pattern(rows, work) if len(rows) else np.ones((0, laws.size))
