"""Logistic and softmax regression: maximum likelihood, with a certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import BadSetting, listed
from suffice.models.certificate import Certificate, covariance_of
from suffice.models.logistic_fit import LogisticFit, estimable_columns, is_inside
from suffice.models.logistic_loss import LogisticLoss
from suffice.models.logistic_search import MOST, Search, objective_of, search
from suffice.models.newton import Found
from suffice.models.sparse_loss import SparseLoss
from suffice.models.standardisation import Standardisation
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from suffice.models.linear import LinearForm
    from suffice.models.objective import Objective
    from suffice.models.separation import Separation
    from suffice.rows import FloatArray, IntArray, Label

CHEAP = 1e10
"""(n + p)·p² up to which standard errors are computed unasked: some tenths of a second."""

FLOOR = 1e-6
"""Standard errors from the optimum that rounding may leave, and that still count as converged."""

LARGEST_PROGRAM = 5e7
"""Cells of the filled rows up to which separation is looked for by linear programming."""


def fit_logistic(
    rows: FloatArray | SparseRows,
    codes: IntArray,
    labels: tuple[Label, ...],
    weights: FloatArray | None = None,
    penalty: float = 0.0,
    *,
    correction: str | None = None,
    start: LinearForm | None = None,
    tolerance: float = 1e-8,
    standard_errors: bool | None = None,
    most: int = MOST,
) -> LogisticFit:
    """Return the maximum of the likelihood: row i belongs to labels[codes[i]], each has rows.

    penalty          ½·penalty·Σ(s_jβ_j)² is added to the sum of losses; 0 is maximum likelihood
    correction       "firth" maximises ℓ + ½log|I|: finite estimates for separated classes too
    start            where to begin; None is at the θ that GDA implies
    tolerance        λ, in standard errors, at which to stop
    standard_errors  None computes them where that costs little
    most             passes over the rows, at most

    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> fit_logistic(rows, codes, ("no", "yes")).estimate(1).round(6)
    array([-1.362276,  0.908184])
    """
    with pinned():  # once for all that follows: BLAS threads would spin beside ours
        loss = standardised_loss(rows, codes, len(labels), weights)
        if len(labels) == 1:
            return _of_one_class(loss, labels)
        begin = None if start is None else _in_standard(start, labels, loss)
        p = loss.shape[0] * loss.shape[1]
        cheap = (len(loss) + p) * float(p) ** 2 <= CHEAP
        bends = cheap if standard_errors is None else standard_errors
        found = search(loss, penalty, begin, tolerance, bends, most)
        if correction is not None:
            return _corrected(found, labels)
        return _told(found, labels, tolerance)


def refitted(
    fit: LogisticFit,
    rows: FloatArray | SparseRows,
    codes: IntArray,
    labels: tuple[Label, ...],
    weights: FloatArray | None,
) -> tuple[LogisticFit, Objective]:
    """Return a fit with its standard errors, and its objective, from the rows of the fit.

    Rows that are not those of the fit are refused: θ would not be their maximum.
    """
    if labels != fit.labels:
        raise BadSetting(
            f"these rows have the classes {listed(labels)}, the fit had {listed(fit.labels)}",
            hint="give the rows of the fit, all of them",
        )
    loss = standardised_loss(rows, codes, len(labels), weights)
    same = np.array_equal(loss.inverse > 0.0, fit.inverse > 0.0) and np.allclose(
        [loss.weight, *loss.inverse], [fit.weight, *fit.inverse], rtol=1e-6
    )
    objective = objective_of(loss, fit.penalty)
    if same:
        loss = replace(loss, origin=fit.origin, inverse=fit.inverse)
        objective = replace(objective, loss=loss)
        here = objective.look(objective.place(fit.theta), True)
        found = Search(objective, Found(here, fit.decrement, fit.passes), here.hessian, None)
        proof = Certificate.of(found)
        same = proof is None or not fit.converged or proof.decrement <= max(1e-3, 100 * fit.bound)
    if not same or fit.correction is not None:
        raise BadSetting(
            "these are not the rows of the fit: θ is not their maximum"
            if not same
            else "Firth's estimates have no profile of the likelihood here",
            hint="give the same rows, labels and weights, all of them, in any order",
        )
    covariance = covariance_of(found) if fit.converged else None
    return replace(fit, covariance_=covariance), objective


def standardised_loss(
    rows: FloatArray | SparseRows, codes: IntArray, size: int, weights: FloatArray | None
) -> LogisticLoss:
    """Return the loss over rows, in columns standardised by themselves."""
    scale = Standardisation.of(rows, weights)
    kind = SparseLoss if isinstance(rows, SparseRows) else LogisticLoss
    return kind(rows, codes, size, weights, scale.origin, scale.inverse)  # type: ignore[arg-type]


def _told(found: Search, labels: tuple[Label, ...], tolerance: float) -> LogisticFit:
    """Return where a search ended as a fit, with the proof, or with what there is instead."""
    objective, loss = found.objective, found.objective.loss
    proof = Certificate.of(found)
    decrement = found.found.decrement
    proved = objective.penalty > 0.0 if proof is None else proof.proves
    theta, separation = objective.theta(found.found.point.at), None
    if not proved and objective.penalty == 0.0:
        separation, theta, proved = _separated(loss, theta, found.found.point.margin)
    near = decrement <= max(tolerance, FLOOR)
    converged = proved and near and separation is None
    bound = decrement if proof is None or not proof.proves else proof.bound
    return _fit(
        found,
        labels,
        theta=theta,
        covariance_=covariance_of(found) if converged else None,
        loss=loss.curvature(theta, hessian=False).loss
        if separation is not None
        else _without_penalty(found),
        decrement=decrement,
        bound=bound if converged else np.inf,
        converged=converged,
        separation=separation,
    )


def _separated(
    loss: LogisticLoss, theta: FloatArray, margin: float
) -> tuple[Separation | None, FloatArray, bool]:
    """Return the separation if there is one, a finite θ, and whether a maximum exists surely."""
    from suffice.models.separation import find_separation, finite_theta

    if margin <= 0.0 and len(loss) * float(loss.shape[1]) > LARGEST_PROGRAM:
        return None, theta, False
    separation = find_separation(loss, theta, margin)
    if separation is None:
        return None, theta, True
    return separation, finite_theta(loss, theta, separation), False


def _corrected(found: Search, labels: tuple[Label, ...]) -> LogisticFit:
    """Return Firth's estimates, from where the maximum of the likelihood was looked for."""
    from suffice.models.firth import fit_firth

    objective = found.objective
    firth = fit_firth(objective.loss, None, objective.basis)
    return _fit(
        found,
        labels,
        theta=firth.theta,
        covariance_=firth.covariance if firth.converged else None,
        loss=firth.loss,
        decrement=firth.decrement,
        bound=firth.decrement if firth.converged else np.inf,
        converged=firth.converged,
        correction="firth",
    )


def _fit(found: Search, labels: tuple[Label, ...], **told: Any) -> LogisticFit:
    objective, loss = found.objective, found.objective.loss
    return LogisticFit(
        labels=labels,
        origin=loss.origin,
        inverse=loss.inverse,
        estimable=estimable_columns(objective.basis, loss.inverse, objective.penalty),
        has_intercept=is_inside(objective.basis, loss.origin * loss.inverse),
        null_loss=_null_loss(loss),
        weight=loss.weight,
        rank=objective.shape[1] - 1,
        penalty=objective.penalty,
        passes=found.found.passes,
        **told,
    )


def _null_loss(loss: LogisticLoss) -> float:
    """Return the loss of the class frequencies."""
    weights = loss.class_weights
    return -float(weights @ np.log(weights / weights.sum()))


def _without_penalty(found: Search) -> float:
    objective, point = found.objective, found.found.point
    pull = 0.5 * float(objective.pulled(point.at) @ point.at) if objective.penalty else 0.0
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
    )
