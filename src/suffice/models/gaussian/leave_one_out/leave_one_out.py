"""Exact leave-one-out: every row judged by the model that never saw it, without refitting.

Taking a row out of a class is a rank-one downdate of its scatter, and of the pooled one, so
one whitening of the rows answers for all of them. Where that breaks down (a row that holds
up a direction by itself, a class that loses its last rows, a floor that is in force) the
row is refitted from the downdated moments.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting
from suffice.linear_algebra import EPSILON, normalized
from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.forms import UNIT_FORMS, letters_of
from suffice.models.gaussian.leave_one_out.downdates import (
    diagonal_log_densities,
    full_log_densities,
)
from suffice.models.gaussian.leave_one_out.shrunk_downdates import LEVERAGE, Downdated
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.left_out import LeaveOneOut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.gaussian.family import Gaussian, NormalClasses
    from suffice.models.notes import Note
    from suffice.rows import FloatArray, IntArray

MOST_REFITS = 20_000
"""Refits for rows left out, where there is no formula. A choice: at one to a few milliseconds each,
about a minute."""
ROUNDING = 16.0 * EPSILON
"""What of a variance a removal may leave by rounding alone: a column that only one row moves is
constant without it."""
CELLS = 20_000_000
"""Rows times classes (or columns) that are judged at once (160 MB); more are judged in parts."""


def leave_one_out(
    family: Gaussian,
    summary: ClassSummary,
    normals: NormalClasses,
    notes: tuple[Note, ...],
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray | None,
    log_priors: FloatArray | None,
    *,
    chosen: IntArray | None = None,
    removed: FloatArray | None = None,
    refit_budget: float = 1e11,
    exact_budget: float = 2e11,
    complete: bool = True,
) -> LeaveOneOut:
    """Return what each row would get from a model of all the others.

    Parameters
    ----------
    family : Gaussian
        The settings of the fit.
    summary : ClassSummary
        The statistics by class.
    normals : NormalClasses
        The normal classes that were estimated.
    notes : tuple of Note
        What was noted by the estimate.
    rows : ndarray of float
        The rows that the summary was made from, or some of them if not `complete`.
    codes : ndarray of int
        The place (n,) of the label of each row.
    weights : ndarray of float or None
        Weights (n,) of the rows; None counts each once.
    log_priors : ndarray of float or None
        The priors (k,) that were given; None estimates them again.
    chosen : ndarray of int or None, default=None
        Which rows are judged; None judges all.
    removed : ndarray of float or None, default=None
        How much of each row's weight is taken out; None takes out all.
    refit_budget : float, default=100000000000.0
        Floating-point operations for refits: above it floors are held fixed.
    exact_budget : float, default=200000000000.0
        Floating-point operations for exactness: above it shrinking is corrected to second order.
    complete : bool, default=True
        Whether `rows` are all that the summary was made from.

    Returns
    -------
    LeaveOneOut
        Log posteriors of the rows left out.

    See Also
    --------
    suffice.GaussianDiscriminant.leave_one_out : The same for an estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice import GaussianDiscriminant
    >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["low", "low", "high", "high"]
    >>> GaussianDiscriminant().fit(X, y).leave_one_out(X, y).error
    0.0
    """
    chosen = np.arange(len(rows)) if chosen is None else chosen
    most = max(1, CELLS // max(summary.size, summary.width))
    if len(chosen) > most:
        share = most / len(chosen)
        parts = [
            leave_one_out(
                family,
                summary,
                normals,
                notes,
                rows,
                codes,
                weights,
                log_priors,
                chosen=chosen[start : start + most],
                removed=removed,
                refit_budget=refit_budget * share,
                exact_budget=exact_budget * share,
                complete=complete,
            )
            for start in range(0, len(chosen), most)
        ]
        return LeaveOneOut.joined(parts)
    z = summary.standardized(rows[chosen].astype(np.float64))
    y = codes[chosen]
    held = np.ones(len(rows)) if weights is None else weights
    w = held[chosen] if removed is None else removed[chosen]
    left = summary.weights[y] - w
    vanished = left <= 1e-12 * summary.weights[y]
    log_prior = left_out_priors(summary, y, w, log_priors, vanished)
    approximate = []
    with np.errstate(all="ignore"):
        if family.predictive is not None:
            # Who plugs estimates in need not load what averages over them.
            from suffice.models.gaussian.leave_one_out.predictive_downdates import (
                student_log_densities,
            )

            found, said = student_log_densities(family, summary, z, y, w, exact_budget)
            approximate += said
        elif family.is_refitted:
            found = _all_anew(family, summary, z)
        elif summary.is_diagonal:
            found = diagonal_log_densities(family, summary, z, y, w)
        else:
            found, said = full_log_densities(family, summary, normals, z, y, w, exact_budget)  # type: ignore[arg-type]
            approximate += said
        log_posterior = found.log_densities + log_prior
    refit = found.unsafe | ~np.isfinite(log_posterior).all(axis=1) | vanished
    # Only floors that the densities themselves stand on have to be laid anew without a row.
    own = family.covariance == "per-class" and not (
        family.predictive is not None or (family.shrink and family.shrink_target == "scaled")
    )
    floors = any(not note.silent and (bool(note.classes) or not own) for note in notes)
    width = int(summary.active.sum())
    cost = float(len(z)) * summary.size * (30.0 * width**3 if not summary.is_diagonal else width)
    if floors:
        if cost <= refit_budget:
            refit[:] = True
        else:
            approximate.append("floors of directions without variance were held fixed")
    # Without a row that all but carries a direction, a difference has no digits: sum again.
    heavy = found.unsafe & ~vanished & _may_be_heavy(family, summary, z, y, w)
    again = complete and float(heavy.sum()) * rows.size * width <= refit_budget
    summary, z = _in_one_unit(family, summary, z)
    for i in np.flatnonzero(refit):
        if heavy[i] and again:
            row = rows[chosen[i]].astype(np.float64)
            rest: ClassSummary | None
            gone = np.zeros(len(rows))
            gone[chosen[i]] = w[i]
            rest, there = summed_without(family, rows, codes, held, gone)
        else:
            rest, there = without_row(summary, z[i], int(y[i]), float(w[i]))
            row = z[i]
        log_posterior[i] = judged_by(family, rest, there, row, log_prior[i])
    return LeaveOneOut(normalized(log_posterior), y, held[chosen], vanished, "; ".join(approximate))


def _all_anew(family: Gaussian, summary: ClassSummary, z: FloatArray) -> Downdated:
    """Have every row judged by a refit: what classes share moves in no simple way without a row."""
    if len(z) > MOST_REFITS:
        what = "covariance" if family.factors is None else "factors"
        raise BadSetting(
            f'{what}="{getattr(family, what)}" has no leave-one-out formula: {len(z):,} rows '
            "would need as many refits",
            hint=f"ask about {MOST_REFITS:,} rows at most, or use cross-validation",
        )
    shape = len(z), summary.size
    return Downdated(np.zeros(shape), np.ones(len(z), dtype=bool))


def _may_be_heavy(
    family: Gaussian, summary: ClassSummary, z: FloatArray, codes: IntArray, weights: FloatArray
) -> NDArray[np.bool_] | bool:
    """Whether a direction all but loses its variance within classes without each row (n,).

    Formulas have found out by themselves; forms that are always refitted have not asked. A column
    that only one row moves is constant without it, and left out: what a difference of scatters
    leaves is rounding, which no form can tell from a variance.
    """
    if not family.is_refitted:
        return True
    act = summary.active
    held = summary.weights[codes]
    left = np.maximum(held - weights, 1e-12 * held)
    deltas = (z - summary.means[codes])[:, act]
    if summary.is_diagonal:
        scatter = summary.scatter[act]
        share = np.square(deltas) / np.where(scatter > 0.0, scatter, np.inf)
        most = share.max(axis=1, initial=0.0)
    else:
        scatter = summary.of_active(summary.scatter)
        roots = np.sqrt(np.diagonal(scatter))
        unit = np.where(roots > 0.0, roots, 1.0)
        values, vectors = np.linalg.eigh(scatter / np.multiply.outer(unit, unit))
        seen = values > len(values) * EPSILON
        along = (deltas / unit) @ vectors[:, seen] / np.sqrt(values[seen])
        most = np.square(along).sum(axis=1)
    return np.asarray(weights * held / left * most > 1.0 - LEVERAGE)


def left_out_priors(
    summary: ClassSummary,
    codes: IntArray,
    weights: FloatArray,
    given: FloatArray | None,
    vanished: NDArray[np.bool_],
) -> FloatArray:
    """Return the priors of each row's own model: without the row unless they were given."""
    n, rows = len(codes), np.arange(len(codes))
    if given is None:
        held = np.broadcast_to(summary.weights, (n, summary.size)).copy()
        held[rows, codes] -= weights
        held[rows[vanished], codes[vanished]] = 0.0
        with np.errstate(divide="ignore"):
            frequencies: FloatArray = np.log(held / held.sum(axis=1, keepdims=True))
        return frequencies
    priors = np.broadcast_to(given, (n, summary.size)).copy()
    priors[rows[vanished], codes[vanished]] = -np.inf
    return priors


def _in_one_unit(
    family: Gaussian, summary: ClassSummary, z: FloatArray
) -> tuple[ClassSummary, FloatArray]:
    """Return moments and rows (n, d) in the unit of the widest column, the same for all columns.

    One variance for all columns has the columns' units: measured in standard deviations of its
    own, each column would weigh alike in it, and that is another model. Forms that do not depend
    on units leave things as they are.
    """
    may_depend = family.is_tied or family.covariance == "spherical"
    if not may_depend or letters_of(family.covariance) not in UNIT_FORMS:
        return summary, z
    act = summary.active
    widest = float(summary.scale[act].max(initial=0.0))
    # As in `diagonal_variances`: the square of a smaller unit would be no number.
    unit = np.where(act & (widest > 0.0), np.maximum(summary.scale / (widest or 1.0), 1e-150), 1.0)
    square = np.square(unit) if summary.is_diagonal else np.multiply.outer(unit, unit)
    scatters = None if summary.scatters is None else summary.scatters * square
    common = replace(
        summary,
        scale=summary.scale / unit,
        means=summary.means * unit,
        scatter=summary.scatter * square,
        scatters=scatters,
    )
    return common, z * unit


def without_row(
    summary: ClassSummary, z: FloatArray, code: int, weight: float
) -> tuple[ClassSummary | None, NDArray[np.bool_]]:
    """Return the summary of all other rows (None if there are none), and which classes remain."""
    weights = summary.weights.copy()
    means, scatter = summary.means.copy(), summary.scatter.copy()
    scatters = None if summary.scatters is None else summary.scatters.copy()
    counts = summary.counts.copy()
    seen = ~np.isnan(z)
    cell = np.where(seen, z, means[code])
    weights[code] -= weight
    counts[code] -= weight * seen
    counts[np.abs(counts) <= 1e-12 * summary.counts] = 0.0
    there = weights > 1e-12 * summary.weights
    if not there.any():
        return None, there
    delta = cell - means[code]
    if summary.is_diagonal:
        held = np.where(counts[code] > 0.0, counts[code], 1.0)
        stretch = np.where(seen, weight * summary.counts[code] / held, 0.0)
        lost = np.where(counts[code] > 0.0, stretch * np.square(delta), 0.0)
        gone = (summary.scatters[code] if scatters is not None else scatter).copy()  # type: ignore[index]
        lost = np.where(counts[code] > 0.0, lost, gone)
        means[code] -= np.where(seen & (counts[code] > 0.0), delta * weight / held, 0.0)
        absent = (counts == 0.0) & np.any(counts > 0.0, axis=0)
        shown = np.where(absent.any(axis=0), counts.sum(axis=0), 1.0)
        means = np.where(absent, (counts * means).sum(axis=0) / shown, means)
    elif there[code]:
        a = weight * summary.weights[code] / weights[code]
        lost = a * np.multiply.outer(delta, delta)
        means[code] -= delta * weight / weights[code]
    else:
        lost = np.zeros_like(scatter) if scatters is None else scatters[code].copy()
    scatter, before = scatter - lost, scatter
    befores = summary.scatters
    if scatters is not None:
        scatters[code] = scatters[code] - lost
        if weights[code] == 1.0 and not summary.is_diagonal:
            scatter = scatter - scatters[code]
            scatters[code] = 0.0
    scatter = _without_rounding(scatter, before)
    if scatters is not None and befores is not None:
        pairs = zip(scatters[there], befores[there], strict=True)
        scatters = np.stack([_without_rounding(*pair) for pair in pairs])
    same = np.ptp(means[there], axis=0) <= ROUNDING * np.abs(delta)
    means[:, same] = means[there][0, same]
    rest = ClassSummary.standardizing(
        weights[there],
        means[there],
        np.zeros_like(means[there]),
        scatter,
        scatters,
        counts[there] if summary.is_diagonal else None,
    )
    return rest, there


def summed_without(
    family: Gaussian,
    rows: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    gone: FloatArray,
) -> tuple[ClassSummary, NDArray[np.bool_]]:
    """Return the summary of all weight that is not `gone` (n,), and which classes remain."""
    rest = weights - gone
    kept = rest > 1e-12 * weights
    size = int(codes.max()) + 1
    statistics = family.summarize(rows[kept], codes[kept], range(size), rest[kept])
    labels = statistics.labels
    there = np.array([c in labels for c in range(size)])
    return ClassSummary.of(statistics, labels), there


def _without_rounding(scatter: FloatArray, before: FloatArray) -> FloatArray:
    """Return a scatter without variances that are only the rounding of a removal."""
    if scatter.ndim == 1:
        return np.where(scatter > ROUNDING * before, scatter, 0.0)
    gone = np.diagonal(scatter) <= ROUNDING * np.diagonal(before)
    if gone.any():
        scatter = np.where(gone[:, np.newaxis] | gone, 0.0, scatter)
    return scatter


def judged_by(
    family: Gaussian,
    rest: ClassSummary | None,
    there: NDArray[np.bool_],
    row: FloatArray,
    log_priors: FloatArray,
) -> FloatArray:
    """Return the log posterior (k,) of one row under the model of all the others.

    The model answers as it answers anyone: near a floor, odds taken from two scores would have
    fewer digits than its own.
    """
    if rest is None:
        return log_priors.copy()
    result = np.full(len(there), -np.inf)
    normals, _ = family.estimate(rest)
    labels = tuple(range(rest.size))
    model = GenerativeModel(labels, log_priors[there], normals, rest.weights)
    result[there] = model.posterior(row[np.newaxis], log=True)[0]
    return result
