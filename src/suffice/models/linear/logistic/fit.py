"""Logistic and softmax regression: maximum likelihood, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.threads import pinned
from suffice.models.linear.logistic.certificate import Certificate, covariance_of
from suffice.models.linear.logistic.loss import LogisticLoss
from suffice.models.linear.logistic.newton import Minimum
from suffice.models.linear.logistic.objective import Objective
from suffice.models.linear.logistic.result import LogisticFit, estimable_columns, is_inside
from suffice.models.linear.logistic.search import MOST_PASSES, Search, objective_of, search
from suffice.models.linear.standardisation import Standardisation
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from suffice.models.linear.form import LinearForm
    from suffice.models.linear.logistic.separation.separation import Separation
    from suffice.rows import FloatArray, IntArray, Label

CHEAP = 1e10
"""(n + p)·p² up to which standard errors are computed unasked: some tenths of a second;"""
MOST_PARAMETERS = 1000
"""and up to how many parameters: a covariance of p is p³ multiplications, several times."""

FLOOR = 1e-6
"""Standard errors from the optimum that rounding may leave, and that still count as converged."""

NEARER = 0.03
"""How much nearer to the maximum a proof is looked for next: its share of the decrement. A
choice."""
SURE = 1e-8
"""The decrement that nearly always is a proof."""

EARLY_PASSES = 200
"""Passes after which a search that has not ended is asked whether it runs away. A choice."""

USUAL_POWERS = 10
"""Powers of two that the largest weight may be away from 1 and stay as it is. A choice."""

FILLED_SHARE = 0.5
"""The share of cells from which sparse rows are quicker, and more exact, as dense ones. A
choice."""

LARGEST_PROGRAM = 5e7
"""Cells of the filled rows up to which separation is looked for by linear programming (400 MB). A
choice."""


def fit_logistic(
    rows: FloatArray | SparseRows,
    codes: IntArray,
    labels: tuple[Label, ...],
    weights: FloatArray | None = None,
    penalty: float = 0.0,
    *,
    l1_ratio: float = 0.0,
    correction: str | None = None,
    intercept: bool = True,
    start: LinearForm | None = None,
    tolerance: float = 1e-8,
    standard_errors: bool | None = None,
    most: int = MOST_PASSES,
) -> LogisticFit:
    """Return the maximum of the likelihood: row i belongs to labels[codes[i]], each has rows.

    penalty          ½·penalty·Σ(s_jβ_j)² is added to the sum of losses; 0 is maximum likelihood
    l1_ratio         the share of the penalty that is penalty·Σ|s_jβ_j| instead
    correction       "firth" maximises ℓ + ½log|I|: finite estimates for separated classes too
    intercept        whether scores may differ at x = 0; without, columns are not centred, and s_j
                     is the root of their mean square
    start            where to begin; None is at the θ that GDA implies
    tolerance        λ, in standard errors, at which to stop
    standard_errors  None computes them where that costs little
    most             passes over the rows, at most; two are always made: a look, and a step

    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> fit_logistic(rows, codes, ("no", "yes")).estimate(1).round(6)
    array([-1.362276,  0.908184])
    """
    weights, penalty, factor = of_moderate_size(weights, penalty)
    with pinned():  # once for all that follows: BLAS threads would spin beside ours
        loss = standardised_loss(rows, codes, len(labels), weights, intercept)
        if correction is not None and len(labels) > 1:
            found = _corrected(objective_of(loss, 0.0), labels, tolerance, most)
        elif l1_ratio * penalty > 0.0 and len(labels) > 1:
            found = _thinned(loss, labels, penalty, l1_ratio, start, tolerance, most)
        else:
            found = fit_loss(loss, labels, penalty, start, tolerance, standard_errors, most)
    return found if factor == 0 else found.with_weights_scaled(factor)


def fit_loss(
    loss: LogisticLoss,
    labels: tuple[Label, ...],
    penalty: float,
    start: LinearForm | None,
    tolerance: float,
    standard_errors: bool | None,
    most: int,
) -> LogisticFit:
    """Return the minimum of a loss, wherever its rows are, with its certificate."""
    if len(labels) == 1:
        return _of_one_class(loss, labels)
    begin = None if start is None else _in_standard(start, labels, loss)
    most = max(most, 2)  # one to look where the search begins, and one to take a step
    p = loss.shape[0] * loss.shape[1]
    cheap = p <= MOST_PARAMETERS and (len(loss) + p) * float(p) ** 2 <= CHEAP
    with_hessian = cheap if standard_errors is None else standard_errors
    return _fit_of_ending(
        _ended(loss, penalty, begin, tolerance, with_hessian, most), labels, tolerance
    )


def standardised_loss(
    rows: FloatArray | SparseRows,
    codes: IntArray,
    size: int,
    weights: FloatArray | None,
    intercept: bool = True,
) -> LogisticLoss:
    """Return the loss over rows, in columns standardised by themselves."""
    if isinstance(rows, SparseRows) and rows.stored > FILLED_SHARE * rows.size * rows.width:
        rows = rows.toarray()
    scale = Standardisation.of(rows, weights)
    if not intercept:
        scale = scale.about_zero()
    kind: type[LogisticLoss] = LogisticLoss
    if isinstance(rows, SparseRows):
        from suffice.models.linear.logistic.sparse_loss import SparseLoss

        kind = SparseLoss
    given: Any = rows
    return kind(given, codes, size, weights, scale.origin, scale.inverse, intercept=intercept)


@dataclass(frozen=True, slots=True, eq=False)
class _Ending:
    """Where a search ended, and what is known about the maximum there."""

    search: Search
    proof: Certificate | None
    exists: bool
    separation: Separation | None = None
    undecided: str | None = None


def _ended(
    loss: LogisticLoss,
    penalty: float,
    begin: FloatArray | None,
    tolerance: float,
    with_hessian: bool,
    most: int,
) -> _Ending:
    """Search until there is a proof: that the maximum exists, or that it does not."""
    early = penalty == 0.0 and loss.is_here and loss.shape[0] > 1 and most > EARLY_PASSES
    found = search(loss, penalty, begin, tolerance, with_hessian, EARLY_PASSES if early else most)
    if early and found.found.passes >= EARLY_PASSES and found.found.decrement > tolerance:
        # Long ways are mostly those to no maximum: perhaps the search has shown so by now.
        if found.found.point.margin <= 0.0:
            from suffice.models.linear.logistic.separation.separation import shown_separation

            shown = shown_separation(loss, found.objective.theta(found.found.point.at))
            if shown is not None:
                return _Ending(found, None, exists=False, separation=shown)
        found = _continued(found, tolerance, with_hessian, most, patient=False)
    proof = Certificate.of(found)
    nearer = tolerance
    while (
        proof is not None
        and not proof.proves
        and nearer > SURE
        and found.found.decrement <= nearer
        and found.found.point.margin <= 0.0
    ):
        # Near enough for the caller, but not for a proof: a step or two are cheaper than a program.
        nearer = max(NEARER * nearer, SURE)
        found = _continued(found, nearer, with_hessian, most, patient=False)
        proof = Certificate.of(found)
    if penalty > 0.0:
        return _Ending(found, proof, exists=True)
    if proof is not None and proof.proves:
        return _Ending(found, proof, exists=True)
    theta, margin = found.objective.theta(found.found.point.at), found.found.point.margin
    if not loss.is_here:
        return _Ending(found, proof, exists=False)
    from suffice.models.linear.logistic.separation.programs import Undecided
    from suffice.models.linear.logistic.separation.separation import find_separation

    try:
        if margin <= 0.0 and len(loss) * float(loss.shape[1]) > LARGEST_PROGRAM:
            raise Undecided(f"{len(loss):,} rows are too many for linear programs")
        separation = find_separation(loss, theta, margin)
    except Undecided as problem:
        return _Ending(found, proof, exists=False, undecided=str(problem))
    if separation is not None:
        return _Ending(found, proof, exists=False, separation=separation)
    if found.found.decrement > tolerance and found.found.passes < most:
        found = _continued(found, tolerance, with_hessian, most, patient=True)
        proof = Certificate.of(found)
    return _Ending(found, proof, exists=True)


def _continued(
    found: Search, tolerance: float, with_hessian: bool, most: int, patient: bool
) -> Search:
    """Search on from where a search ended."""
    objective, passes = found.objective, found.found.passes
    theta = objective.theta(found.found.point.at)
    more = search(
        objective.loss,
        objective.penalty,
        theta,
        tolerance,
        with_hessian,
        max(most - passes, 1),
        patient,
    )
    total = Minimum(more.found.point, more.found.decrement, passes + more.found.passes)
    return replace(more, found=total)


def _fit_of_ending(ending: _Ending, labels: tuple[Label, ...], tolerance: float) -> LogisticFit:
    """Return an ending as a fit, with the proof, or with what there is instead."""
    found, proof = ending.search, ending.proof
    objective, decrement = found.objective, found.found.decrement
    theta, value = objective.theta(found.found.point.at), _without_penalty(found)
    if ending.separation is not None:
        from suffice.models.linear.logistic.separation.separation import AHEAD, finite_theta

        margin = found.found.point.margin
        theta = theta * min(AHEAD / margin, 1.0) if margin > 0.0 else theta
        theta = finite_theta(objective.loss, theta, ending.separation)
        value = objective.loss.curvature(theta, hessian=False).loss
    converged = ending.exists and decrement <= max(tolerance, FLOOR)
    bound = proof.bound if proof is not None else np.inf
    return _fit(
        objective,
        labels,
        theta=theta,
        covariance_=covariance_of(found) if converged else None,
        loss=value,
        decrement=decrement,
        bound=bound if converged else np.inf,
        converged=converged,
        passes=found.found.passes,
        separation=ending.separation,
        undecided=ending.undecided,
    )


def _corrected(
    objective: Objective, labels: tuple[Label, ...], tolerance: float, most: int
) -> LogisticFit:
    """Return Firth's estimates: they exist whether the classes are separated or not."""
    from suffice.models.linear.logistic.firth import fit_firth

    firth = fit_firth(objective, tolerance, most)
    return _fit(
        objective,
        labels,
        theta=firth.theta,
        covariance_=firth.covariance if firth.converged else None,
        loss=firth.loss,
        decrement=firth.decrement,
        bound=firth.decrement if firth.converged else np.inf,
        converged=firth.converged,
        passes=firth.passes,
        correction="firth",
    )


def _thinned(
    loss: LogisticLoss,
    labels: tuple[Label, ...],
    penalty: float,
    l1_ratio: float,
    start: LinearForm | None,
    tolerance: float,
    most: int,
) -> LogisticFit:
    """Return the estimates under a penalty that makes some of them zero: there is a minimum."""
    from suffice.models.linear.logistic.l1 import fit_l1

    begin = None if start is None else _in_standard(start, labels, loss)
    first, second = penalty * l1_ratio, penalty * (1.0 - l1_ratio)
    found = fit_l1(loss, first, second, begin, tolerance, max(most, 2))
    return _fit(
        Objective(loss, penalty),
        labels,
        theta=found.theta,
        covariance_=None,
        loss=found.loss,
        decrement=found.residual,
        bound=np.inf,
        converged=found.residual <= max(tolerance, FLOOR),
        passes=found.passes,
        l1_ratio=l1_ratio,
    )


def of_moderate_size(
    weights: FloatArray | None, penalty: float
) -> tuple[FloatArray | None, float, int]:
    """Return weights near 1, by a power of two, the penalty with them, and that power.

    Standard errors, and with them tolerances, depend on how heavy rows are; θ does not.
    """
    if weights is None:
        return None, penalty, 0
    mean = float(np.frexp(weights.max())[1])
    if abs(mean) <= USUAL_POWERS:
        return weights, penalty, 0
    factor = int(mean)
    return np.ldexp(weights, -factor), float(np.ldexp(penalty, -factor)), factor


def _fit(objective: Objective, labels: tuple[Label, ...], **measured: Any) -> LogisticFit:
    loss = objective.loss
    return LogisticFit(
        labels=labels,
        origin=loss.origin,
        inverse=loss.inverse,
        estimable=estimable_columns(objective.basis, loss.inverse, objective.penalty),
        has_intercept=loss.intercept and is_inside(objective.basis, loss.origin * loss.inverse),
        null_loss=loss.null_loss,
        weight=loss.weight,
        rank=objective.shape[1] - loss.intercept,
        penalty=objective.penalty,
        intercept=loss.intercept,
        **measured,
    )


def _without_penalty(found: Search) -> float:
    objective, point = found.objective, found.found.point
    pull = (
        0.5 * float(objective.penalty_gradient(point.at) @ point.at) if objective.penalty else 0.0
    )
    return point.value - pull


def _in_standard(start: LinearForm, labels: tuple[Label, ...], loss: LogisticLoss) -> FloatArray:
    """Return a form's θ in standardised columns, against the first class; new classes are flat."""
    m, width = loss.shape
    every = np.zeros((m + 1, width))
    deviations = np.divide(1.0, loss.inverse, out=np.zeros(width - 1), where=loss.inverse > 0.0)
    for c, label in enumerate(labels):
        if label in start.labels:
            place = start.labels.index(label)
            every[c, 1:] = start.weights[place] * deviations
            every[c, 0] = start.offsets[place] + start.weights[place] @ (loss.origin - start.origin)
    found: FloatArray = every[1:] - every[0]
    return found


def _of_one_class(loss: LogisticLoss, labels: tuple[Label, ...]) -> LogisticFit:
    width = loss.shape[1]
    return LogisticFit(
        labels=labels,
        theta=np.zeros((0, width)),
        origin=loss.origin,
        inverse=loss.inverse,
        estimable=np.zeros(width - 1, dtype=bool),
        has_intercept=True,
        covariance_=np.zeros((0, 0)),
        loss=0.0,
        null_loss=0.0,
        weight=loss.weight,
        rank=0,
        penalty=0.0,
        decrement=0.0,
        bound=0.0,
        converged=True,
        passes=0,
        intercept=loss.intercept,
    )
