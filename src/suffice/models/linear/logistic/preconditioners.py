"""Hessians that are near enough: of a sample, or as a product of two small matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.kernels.logistic.dense import shares_of
from suffice.models.linear.logistic.newton import Factor
from suffice.models.linear.logistic.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.rows import FloatArray


FLATTEST, RIDGE = 1e-6, 1e-6
"""Doubt per row, p(1 - p), below which a block counts as no flatter, and what is added to its
diagonal, relatively: a preconditioner need not be exact, but must not be singular."""

BLOCK_ROWS = 4096
"""Rows that are multiplied at a time. A choice."""


def sampled_hessian(objective: Objective, sample: LogisticLoss, at: FloatArray) -> FloatArray:
    """Return the Hessian of a sample, and of the share of the penalty that it has."""
    share = sample.weight / objective.loss.weight
    point = Objective(sample, objective.penalty * share, objective.basis).evaluate(at, True)
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


def bound_inverse(objective: Objective, columns: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return the inverse of a bound that no Hessian exceeds (Böhning 1992), wherever θ is.

    diag(p) - ppᵀ ≼ ½(I - 11ᵀ/k): steps are short rather than long, and one factor of the columns'
    correlations serves for any number of classes.
    """
    spread = 0.5 * objective.loss.weight * objective.between
    return Kronecker.of(objective.between, spread, columns, objective.penalty).solve


def blocks_inverse(
    objective: Objective, few: LogisticLoss, at: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Return the inverse of a Hessian without what couples the classes: one small factor for each.

    Of θ_c for all k classes the Hessian has the blocks Σ w p_c(1 - p_c) z̃z̃ᵀ + penalty on its
    diagonal: k matrices of (r + 1)², not one of (mr + m)². They know what the product of two
    matrices does not: where a class is hardly in doubt any more, and the loss is nearly flat. The
    reference is treated like the others: steps of θ_c are against its step.
    """
    m, width = objective.shape
    scale = objective.loss.weight / few.weight
    blocks = _class_blocks(objective, few, at) * scale
    slopes = np.arange(1, width)
    blocks[:, slopes, slopes] += objective.penalty
    # No column is flatter than so many doubtful rows would leave it: steps stay finite.
    diagonals = np.einsum("cjj->cj", blocks)
    floor = FLATTEST * objective.loss.weight
    diagonals[...] = np.maximum(diagonals * (1.0 + RIDGE), floor)
    # Written down, so that a step is one product and not a call for each class.
    inverses = np.stack([Factor(block).inverse() for block in blocks])

    def solve(vector: FloatArray) -> FloatArray:
        given = np.empty((m + 1, width))
        given[1:] = vector.reshape(m, width)
        given[0] = -given[1:].sum(axis=0)
        found: FloatArray = np.matmul(inverses, given[:, :, np.newaxis])[:, :, 0]
        step: FloatArray = (found[1:] - found[0]).ravel()
        return step

    return solve


def _class_blocks(objective: Objective, loss: LogisticLoss, at: FloatArray) -> FloatArray:
    """Return Σ w p_c(1 - p_c) z̃z̃ᵀ of every class, in free coordinates (k, r + 1, r + 1)."""
    theta, basis = objective.theta(at), objective.basis
    m, width = objective.shape
    total = np.zeros((m + 1, width, width))
    for some in loss.parts or _short(len(loss)):
        design = loss.design(some)
        shares, others = shares_of(design @ theta.T)
        doubt = np.empty((len(design), m + 1))
        np.multiply(shares, others, out=doubt[:, 1:])
        rest = shares.sum(axis=1)
        doubt[:, 0] = np.maximum(rest * (1.0 - rest), 0.0)
        if loss.weights is not None:
            doubt *= loss.weights[some, np.newaxis]
        if basis is not None:
            design = np.column_stack([design[:, :1], design[:, 1:] @ basis])
        for c in range(m + 1):
            total[c] += (design * doubt[:, c : c + 1]).T @ design
    return total


def _short(size: int) -> list[slice]:
    return [slice(start, min(start + BLOCK_ROWS, size)) for start in range(0, size, BLOCK_ROWS)]


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


def row_norm_lower_bound(objective: Objective, loss: LogisticLoss, at: FloatArray) -> float:
    """Return what `row_norm_upper_bound` of a sample is at least, by its diagonal alone.

    The trace of an inverse is no less than the sum of one over each entry of the diagonal.
    """
    theta = objective.theta(at)
    diagonal = np.zeros(loss.shape)
    for some in loss.parts or _short(len(loss)):
        design = loss.design(some)
        shares, others = shares_of(design @ theta.T)
        weights = 1.0 if loss.weights is None else loss.weights[some, np.newaxis]
        diagonal += (shares * others * weights).T @ np.square(design)
    varies = np.concatenate(([True], loss.inverse > 0.0))
    with np.errstate(divide="ignore"):
        trace = float((1.0 / diagonal[:, varies]).sum())
    pairs = 2.0 if objective.shape[0] > 1 else 1.0
    return float(np.sqrt(pairs * loss.reach * trace))


def row_norm_upper_bound(objective: Objective, factor: Factor, reach: float) -> float:
    """Return a bound of ρ: how far one row can pull, in the norm of H⁻¹.

    The longest row, whose square is `reach` at most, times the largest eigenvalue of H⁻¹, which
    is no more than its trace.
    """
    pairs = 2.0 if objective.shape[0] > 1 else 1.0
    return float(np.sqrt(pairs * reach * factor.trace_of_inverse()))


@dataclass(frozen=True, slots=True, eq=False)
class Kronecker:
    """(A ⊗ S + penalty·M ⊗ I)⁻¹, for centred columns with correlations S and free intercepts.

    The Hessian of softmax regression is Σ w (diag(p) - ppᵀ) ⊗ z̃z̃ᵀ. Where p and z̃ were
    independent it would be A ⊗ S, A the sum of w (diag(p) - ppᵀ): near enough to start from, for
    the price of k² + d² numbers.
    """

    classes: FloatArray
    """U with UᵀMU = 1 and UᵀAU diagonal (m, m)."""
    columns: FloatArray
    """The eigenvectors of S (d, d)."""
    strengths: FloatArray
    """a_i·s_j + penalty (m, d)."""
    intercepts: FloatArray
    """A⁻¹ (m, m)."""

    @classmethod
    def of(
        cls, between: FloatArray, spread: FloatArray, columns: FloatArray, penalty: float
    ) -> Self:
        """Return it from M, A, S and the penalty."""
        return cls.of_axes(between, spread, *np.linalg.eigh(columns), penalty)

    @classmethod
    def of_axes(
        cls,
        between: FloatArray,
        spread: FloatArray,
        strengths: FloatArray,
        axes: FloatArray,
        penalty: float,
    ) -> Self:
        """Return it from M, A, the eigenvalues and eigenvectors of S, and the penalty."""
        from scipy.linalg import eigh

        values, vectors = eigh(spread, between)
        floor = 1e-10 * float(values.max(initial=0.0)) or 1.0
        values = np.maximum(values, floor)
        strengths = np.maximum(strengths, 1e-10)
        steepness = values[:, np.newaxis] * strengths + penalty
        inverse = (vectors / values) @ vectors.T
        return cls(vectors, axes, steepness, inverse)

    def solve(self, vector: FloatArray) -> FloatArray:
        """Return the inverse times a vector, flat, intercepts first in each class."""
        m, width = self.strengths.shape
        table = vector.reshape(m, width + 1)
        found = np.empty_like(table)
        found[:, 0] = self.intercepts @ table[:, 0]
        turned = (self.classes.T @ table[:, 1:] @ self.columns) / self.strengths
        found[:, 1:] = self.classes @ turned @ self.columns.T
        return found.ravel()
