"""Hessians that are near enough: of a sample, or as a product of two small matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.logistic_numpy import shares_of
from suffice.models.kronecker import Kronecker
from suffice.models.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.logistic_loss import LogisticLoss
    from suffice.models.newton import Factor
    from suffice.rows import FloatArray


def sampled_bend(objective: Objective, sample: LogisticLoss, at: FloatArray) -> FloatArray:
    """Return the Hessian of a sample, and of the share of the penalty that it has."""
    share = sample.weight / objective.loss.weight
    point = Objective(sample, objective.penalty * share, objective.basis).look(at, True)
    assert point.hessian is not None
    return point.hessian


def for_all_rows(small: Objective, hessian: FloatArray, share: float) -> FloatArray:
    """Return a sample's Hessian as one of all rows: no column may be flatter than it can be.

    A column that hardly varies in the sample (a rare level) varies in all rows: over these every
    column has the variance 1. Without this the first steps along it would be far too long.
    """
    found = hessian / share
    m, width = small.shape
    blocks = found.reshape(m, width, m, width)
    for c in range(m):
        block = blocks[c, :, c, :]
        lacking = 0.1 * block[0, 0] - np.diagonal(block)
        np.einsum("jj->j", block)[...] += np.maximum(lacking, 0.0)
    return found


def product_inverse(
    objective: Objective, few: LogisticLoss, columns: FloatArray, at: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Return the inverse of a Hessian in which classes and columns go separately."""
    spread = spread_of_classes(few, objective.theta(at)) * objective.loss.weight
    return Kronecker.of(objective.between, spread, columns, objective.penalty).solve


def spread_of_classes(loss: LogisticLoss, theta: FloatArray) -> FloatArray:
    """Return the mean of diag(p) - ppᵀ over rows (m, m): what the Hessian is of intercepts."""
    total = np.zeros((len(theta), len(theta)))
    for some in loss.parts or (slice(0, len(loss)),):
        shares, others = shares_of(loss.design(some) @ theta.T)
        weights = np.ones(len(shares)) if loss.weights is None else loss.weights[some]
        part = -(shares * weights[:, np.newaxis]).T @ shares
        np.fill_diagonal(part, weights @ (shares * others))
        total += part
    return total / loss.weight


def largest_pull(objective: Objective, factor: Factor, reach: float) -> float:
    """Return a bound of ρ: how far one row can pull, in the norm of H⁻¹.

    The longest row, whose square is `reach` at most, times the largest eigenvalue of H⁻¹, which
    is no more than its trace.
    """
    pairs = 2.0 if objective.shape[0] > 1 else 1.0
    return float(np.sqrt(pairs * reach * float(np.trace(factor.inverse()))))
