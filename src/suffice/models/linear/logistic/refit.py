"""A fit and its rows again: standard errors that were not computed, and profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting, listed
from suffice.models.linear.logistic.certificate import Certificate, covariance_of
from suffice.models.linear.logistic.firth import FirthObjective
from suffice.models.linear.logistic.fit import of_moderate_size, standardised_loss
from suffice.models.linear.logistic.newton import Minimum
from suffice.models.linear.logistic.search import Search, objective_of

if TYPE_CHECKING:
    from suffice.models.linear.logistic.objective import Objective
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.rows.sparse_rows import SparseRows


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
    weights, penalty, factor = of_moderate_size(weights, fit.penalty)
    fit = fit.with_weights_scaled(-factor)
    loss = standardised_loss(rows, codes, len(labels), weights, fit.intercept)
    same = np.array_equal(loss.inverse > 0.0, fit.inverse > 0.0) and np.allclose(
        [loss.weight, *loss.inverse], [fit.weight, *fit.inverse], rtol=1e-6
    )
    objective = objective_of(loss, penalty)
    decrement = np.inf
    if same:
        objective = replace(objective, loss=replace(loss, origin=fit.origin, inverse=fit.inverse))
        if fit.correction is not None:
            objective = FirthObjective.of(objective)
        here = objective.evaluate(objective.place(fit.theta), True)
        found = Search(objective, Minimum(here, fit.decrement, fit.passes), here.hessian, None)
        proof = Certificate.of(found)
        decrement = 0.0 if proof is None or not fit.converged else proof.decrement
    if decrement > max(1e-3, 100 * fit.bound):
        raise BadSetting(
            "these are not the rows of the fit: θ is not their maximum",
            hint="give the same rows, labels and weights, all of them, in any order",
        )
    covariance = covariance_of(found) if fit.converged else None
    return replace(fit, covariance_=covariance).with_weights_scaled(factor), objective
