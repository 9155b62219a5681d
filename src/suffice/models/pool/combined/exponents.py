"""Exponents of what columns or members say, none negative: softmax of b_c + Σ_j w_j L_jc."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.pool.averages import log_softmax
from suffice.models.pool.column_scores import log_shares

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

INTERCEPT_VARIANCE = 4.0
"""Of the intercepts' prior: N(0, 2²)."""
STEPS = 25
"""Newton steps, at most: a bound on the time, for the loss is convex."""
SETTLED = 1e-4
"""Nats over all rows that a step must gain for another to follow."""
HALVINGS = 15
"""How often a step is halved that does not lower the loss enough."""
SUFFICIENT = 1e-4
"""The share of the promised decrease that a step must keep (Armijo's rule); the usual number."""
MEAN_RIDGE = 1e-6
"""A penalty of the mean weight, which is free otherwise: rows that are all told apart would drive
it up for ever."""
HESSIAN_RIDGE = 1e-9
"""What keeps a Hessian without curvature solvable: far less than one doubtful row adds, about ¼."""
ZERO = 1e-12
"""Weights up to this are at their bound, 0, and stay there while the gradient says so."""


def column_weights(
    scores: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    deviation: float,
    start: FloatArray | None = None,
    *,
    intercepts: bool = True,
    total: tuple[float, float] | None = None,
    doubt: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Return the weights (d,) of columns, none negative, and intercepts (k,).

    They minimise Σ w loss + Σ (w_j - w̄)²/(2τ²) + Σ b_c²/8, the mean w̄ being free if nothing else is
    said, by Newton's method on the weights that are above zero.

    Parameters
    ----------
    scores : (n, d, k)
        What columns say, centred over classes.
    codes, weights : (n,)
        Classes, and weights of the rows.
    deviation : float
        τ.
    intercepts : bool
        Whether b is found. If not, intercepts are the log shares of the classes: a class is dear
        then only as a score, and not as one more parameter.
    total : (mean, deviation) or None
        What Σ w_j is beforehand; its mean is free else.
    doubt : float
        The share of every row that is of another class than its own: all others alike.
    """
    size, width, classes = scores.shape
    by_class = scores.transpose(0, 2, 1)
    rows = np.arange(size)
    tallies = np.bincount(codes, weights, minlength=classes).astype(np.float64)
    offsets = log_shares(tallies)
    penalty, pull = _prior(width, deviation, total)
    targets = np.full((size, classes), doubt / max(classes - 1, 1))
    targets[rows, codes] = 1.0 - doubt
    usual = np.full(width, 1.0 / np.sqrt(max(width, 1)))
    free_classes = classes if intercepts else 0
    theta = np.concatenate([usual if start is None else start, np.zeros(free_classes)])
    by_intercept = np.eye(classes)[:free_classes]
    design = np.concatenate(
        [scores, np.broadcast_to(by_intercept, (size, free_classes, classes))], axis=1
    )
    roots = np.sqrt(weights)[:, None]

    def value(theta: FloatArray) -> tuple[float, FloatArray]:
        w, b = theta[:width], theta[width:]
        log_posterior = log_softmax(by_class @ w + (offsets + b if intercepts else offsets))
        own = log_posterior[rows, codes]
        loss = -float(weights @ ((targets * log_posterior).sum(axis=1) if doubt else own))
        loss += 0.5 * float(w @ penalty @ w + b @ b / INTERCEPT_VARIANCE) - pull * float(w.sum())
        return loss, log_posterior

    loss, log_posterior = value(theta)
    for _ in range(STEPS):
        posterior = np.exp(log_posterior)
        residuals = (posterior - targets) * weights[:, None]
        gradient = np.einsum("nc,njc->j", residuals, design)
        gradient[:width] += penalty @ theta[:width] - pull
        gradient[width:] += theta[width:] / INTERCEPT_VARIANCE
        spread = (design * (np.sqrt(posterior) * roots)[:, None]).transpose(1, 0, 2)
        spread = spread.reshape(len(theta), -1)
        centre = np.einsum("njc,nc->nj", design, posterior) * roots
        hessian = spread @ spread.T - centre.T @ centre
        hessian[:width, :width] += penalty
        hessian[width:, width:] += np.eye(free_classes) / INTERCEPT_VARIANCE
        free = np.ones(len(theta), dtype=bool)
        free[:width] = (theta[:width] > ZERO) | (gradient[:width] <= 0.0)
        step = np.zeros(len(theta))
        part = hessian[np.ix_(free, free)] + HESSIAN_RIDGE * np.eye(int(free.sum()))
        step[free] = _solved(part, gradient[free])
        length = 1.0
        for _ in range(HALVINGS):
            moved = theta - length * step
            moved[:width] = np.maximum(moved[:width], 0.0)
            new, log_new = value(moved)
            if new <= loss - SUFFICIENT * float(gradient @ (theta - moved)):
                break
            length *= 0.5
        else:
            break
        gained = loss - new
        theta, loss, log_posterior = moved, new, log_new
        if gained < SETTLED:
            break
    return theta[:width], theta[width:] + offsets if intercepts else offsets


def _prior(
    width: int, deviation: float, total: tuple[float, float] | None
) -> tuple[FloatArray, float]:
    """Return the curvature (d, d) of what is known beforehand, and what it pulls weights by."""
    penalty = (np.eye(width) - 1.0 / max(width, 1)) / deviation**2 + MEAN_RIDGE * np.eye(width)
    if total is None:
        return penalty, 0.0
    mean, spread = total
    return penalty + 1.0 / spread**2, mean / spread**2


def _solved(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return a step of Newton's method: none beside a row that outweighs all others by far.

    No digits are left to go by there, and what the search began with stays.
    """
    found = np.zeros_like(gradient)
    with suppress(np.linalg.LinAlgError):
        found[:] = np.linalg.solve(hessian, gradient)
    return found
