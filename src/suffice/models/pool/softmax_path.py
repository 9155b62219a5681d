"""Ridge softmax for several penalties and several sets of weights at once: folds share the work.

All problems have the same features and differ in the weights of the rows, so each step of L-BFGS
is one product for all of them. Features come from a basis in which XᵀX is diagonal: then the
diagonal of the Hessian is a good preconditioner for every class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.pool.averages import log_softmax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray

MEMORY = 8
"""Pairs of steps and gradients that L-BFGS remembers; the usual number."""
STEPS = 60
"""Steps for one penalty, at most: a bound on the time. Each search starts at the solution for the
stronger penalty."""
SETTLED = 1e-4
"""The decrease that a full step promises, in nats over all rows, below which a search ends. Losses
of different penalties are compared to about 0.1 nats, so that more digits would decide nothing."""
ROUGHLY = 1e-2
"""The same, where a loss only has a part in the weights of settings: with a hundredth the judged
losses of seven tables are the same to .001. Searches must start at stronger penalties: begun at the
solution for all rows, they end before they have forgotten the rows that they are to judge."""
HALVINGS = 12
"""How often a step is halved that does not lower the loss enough (Armijo's rule)."""
SUFFICIENT = 1e-4
"""The share of the promised decrease that a step must keep; the usual number."""
CURVATURE = 0.25
"""Largest variance of a 0/1 label: p(1 - p) ≤ ¼."""


@dataclass(frozen=True, slots=True, eq=False)
class SoftmaxPath:
    """Solutions: weights (L, m, r, k) and intercepts (L, m, k) for L penalties and m problems."""

    weights: FloatArray
    intercepts: FloatArray

    def log_posteriors(self, features: FloatArray, problem: int = -1) -> FloatArray:
        """Return log posteriors (L, n, k) under one of the problems."""
        scores = features @ self.weights[:, problem] + self.intercepts[:, problem][:, None]
        return log_softmax(scores)


class _Search:
    """Losses and gradients of all problems at one penalty."""

    def __init__(self, features: FloatArray, members: FloatArray, weights: FloatArray) -> None:
        self.features = features
        self.transposed = np.ascontiguousarray(np.swapaxes(features, -1, -2))
        self.labels = members
        self.weights = weights[..., None]
        self.weighted = self.weights * members
        self.totals = weights.sum(axis=1)
        self.curvature = CURVATURE * _each(weights, np.square(features))

    def value(self, theta: FloatArray, penalty: float) -> tuple[FloatArray, FloatArray]:
        """Return losses (m,) and gradients (m, r + 1, k); the last row is the intercept's."""
        scores = self.features @ theta[:, :-1] + theta[:, -1:]
        log_posterior = log_softmax(scores)
        losses = 0.5 * penalty * _dot(theta[:, :-1], theta[:, :-1])
        losses -= _dot(log_posterior, self.weighted)
        residuals = (np.exp(log_posterior) - self.labels) * self.weights
        gradient = np.empty_like(theta)
        gradient[:, :-1] = self.transposed @ residuals + penalty * theta[:, :-1]
        gradient[:, -1] = residuals.sum(axis=1)
        return losses, gradient

    def solve(self, theta: FloatArray, penalty: float, settled: float) -> FloatArray:
        """Return the minima (m, r + 1, k), searched from theta.

        A problem that has settled stays where it is, so that what is found for it does not depend
        on the problems beside it.
        """
        diagonal = np.empty((len(theta), theta.shape[1], 1))
        diagonal[:, :-1, 0] = self.curvature + penalty
        diagonal[:, -1, 0] = CURVATURE * self.totals
        losses, gradient = self.value(theta, penalty)
        pairs: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        unsettled = np.ones(len(theta), dtype=bool)
        for _ in range(STEPS):
            direction = _two_loop_recursion(gradient, pairs, diagonal)
            promised = _dot(direction, gradient)
            unsettled &= promised >= settled
            if not unsettled.any():
                break
            length = unsettled.astype(np.float64)
            for _ in range(HALVINGS):
                moved = theta - length[:, None, None] * direction
                new, slope = self.value(moved, penalty)
                short = unsettled & (new > losses - SUFFICIENT * length * promised)
                if not short.any():
                    break
                length = np.where(short, 0.5 * length, length)
            step, change = moved - theta, slope - gradient
            product = _dot(step, change)
            inverse = np.where(product > 1e-12, 1.0 / np.maximum(product, 1e-12), 0.0)
            pairs = [*pairs[1 - MEMORY :], (step, change, inverse)]
            theta, losses, gradient = moved, new, slope
        return theta


def _two_loop_recursion(
    gradient: FloatArray,
    pairs: Sequence[tuple[FloatArray, FloatArray, FloatArray]],
    diagonal: FloatArray,
) -> FloatArray:
    """Return the inverse Hessian's approximation times the gradient."""
    found = gradient.copy()
    factors = []
    for step, change, inverse in reversed(pairs):
        factor = inverse * _dot(step, found)
        factors.append(factor)
        found -= factor[:, None, None] * change
    found /= diagonal
    for (step, change, inverse), factor in zip(pairs, reversed(factors), strict=True):
        back = inverse * _dot(change, found)
        found += (factor - back)[:, None, None] * step
    return found


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return Σ left·right of each problem (m,): a sum of its own, whatever stands beside it."""
    found: FloatArray = np.einsum("mrk,mrk->m", left, right)
    return found


def _each(weights: FloatArray, cells: FloatArray) -> FloatArray:
    """Return weights @ cells, row by row: a product of all may round each in another way.

    Cells are (n, r), or (m, n, r) where each of the m rows of weights has its own.
    """
    every = cells if cells.ndim == 3 else [cells] * len(weights)
    return np.stack([row @ own for row, own in zip(weights, every, strict=True)])


def softmax_path(
    features: FloatArray,
    members: FloatArray,
    weights: FloatArray,
    penalties: Sequence[float],
    settled: float = SETTLED,
) -> SoftmaxPath:
    """Return the minima of Σ w loss + ½ λ‖θ‖², intercepts free, from the strongest penalty on.

    Parameters
    ----------
    features : (n, r) or (m, n, r)
        In a basis where their squares are diagonal; the same for all problems, or one of each.
    members : (n, k)
        Which class each row is of: 1 there, 0 elsewhere.
    weights : (m, n)
        Of the rows, in each of m problems.
    penalties : falling
        λ on the sum of losses.
    settled : float
        The promised decrease below which a search ends.

    >>> x = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    >>> path = softmax_path(x, np.eye(2)[[0, 1, 0, 1]], np.ones((1, 4)), [1.0])
    >>> np.exp(path.log_posteriors(x)[0]).round(2).tolist()
    [[0.79, 0.21], [0.21, 0.79], [0.94, 0.06], [0.06, 0.94]]
    """
    search = _Search(features, members, weights)
    theta = np.zeros((len(weights), features.shape[-1] + 1, members.shape[1]))
    tallies = _each(weights, members) + 0.1  # finite where a fold has no row of a class
    theta[:, -1] = np.log(tallies / tallies.sum(axis=1, keepdims=True))
    found = []
    for penalty in penalties:
        theta = search.solve(theta, penalty, settled)
        found.append(theta)
    stacked = np.stack(found)
    return SoftmaxPath(stacked[:, :, :-1], stacked[:, :, -1])
