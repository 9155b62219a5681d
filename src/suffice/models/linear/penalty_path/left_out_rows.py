"""What a penalised fit would say about each of its rows without it: a step or two, no refit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.linear_algebra import normalized
from suffice.models.linear.logistic.newton import Factor
from suffice.models.linear.logistic.objective import Objective

if TYPE_CHECKING:
    from suffice.models.linear.logistic.loss import LogisticLoss
    from suffice.rows import FloatArray, IntArray

BLOCK_CELLS = 2_000_000
"""Numbers that are held at a time on the way: 16 MB. A choice."""
SECOND_STEPS = 1e6
"""n²k up to which a second step is made: as many exponentials take about 20 ms. The error of the
first is of the order 1/n²: below .01 of a loss where rows are so many that this is exceeded."""

TINY_LEVERAGE = 0.05
"""The largest leverage up to which one step will do: its error is of the order of the square."""


@dataclass(frozen=True, slots=True, eq=False)
class LeftOutRows:
    """log p(y | x) of every row by a fit without it (n, k), and the largest leverage of any row.

    The smaller the leverage the better the steps; at 1 a row decides its own score alone, and they
    have no meaning. None where the leverage was above what was asked for.
    """

    log_posterior: FloatArray | None
    leverage: float


def left_out_rows(
    loss: LogisticLoss,
    penalty: float,
    theta: FloatArray,
    hessian: FloatArray,
    most: float = 1.0,
) -> LeftOutRows:
    """Return what fits without each row say about it, from a minimum and its penalised Hessian.

    `most` is the leverage from which on nothing is said.

    With scores η = θx̃, M = (x̃ᵀ ⊗ I)H⁻¹(x̃ ⊗ I), A = w(diag p - ppᵀ) and the gradient r = w(p - e_y)
    of a row of weight w, a Newton step away from it moves its scores by M(I - AM)⁻¹r (approximate
    leave-one-out); the leverage is the largest eigenvalue of AM. A second step, by the same
    Hessian, looks at the gradient of the other rows where the first has led. Means and deviations
    of the columns stay those of all rows.

    >>> from suffice.models.linear.logistic.fit import standardised_loss
    >>> from suffice.models.linear.penalty_path.solutions import PenalisedLoss
    >>> rows, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> fit = PenalisedLoss(standardised_loss(rows, codes, 2, None))
    >>> found = fit.minimum(10.0, fit.first, 1e-8)
    >>> judged = left_out_rows(found.inner, 10.0, found.within, found.hessian)
    >>> np.exp(judged.log_posterior).round(2).tolist()
    [[0.33, 0.67], [0.68, 0.32], [0.32, 0.68], [0.67, 0.33]]
    """
    m, width = loss.shape
    inverse = _inverse(hessian, m, width)
    n = len(loss.codes)
    small = float(n) ** 2 * (m + 1) <= SECOND_STEPS
    step = max(BLOCK_CELLS // (m * max(m, width, n if small else 0)), 1)
    parts = [slice(start, min(start + step, n)) for start in range(0, n, step)]
    found = np.zeros((n, m + 1))
    held = [_Rows.of(loss, some, theta, inverse) for some in parts]
    largest = max(rows.leverage() for rows in held)
    if largest >= most:
        return LeftOutRows(None, largest)
    for some, rows in zip(parts, held, strict=True):
        found[some, 1:] = rows.scores + rows.first_step()
        if small and largest > TINY_LEVERAGE:
            found[some, 1:] -= rows.second_step(loss, penalty, theta, some)
    return LeftOutRows(normalized(found), largest)


def _inverse(hessian: FloatArray, m: int, width: int) -> FloatArray:
    """Return H⁻¹ over θ (m, d + 1, m, d + 1); without an intercept, nothing for its place."""
    inverse = Factor(hessian).inverse()
    slopes = len(hessian) // m
    found = np.zeros((m, width, m, width))
    first = width - slopes
    found[:, first:, :, first:] = inverse.reshape(m, slopes, m, slopes)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Some rows at a minimum: x̃, η, r, A and M of each, and H⁻¹."""

    design: FloatArray
    scores: FloatArray
    pull: FloatArray
    bends: FloatArray
    spreads: FloatArray
    inverse: FloatArray

    @classmethod
    def of(cls, loss: LogisticLoss, some: slice, theta: FloatArray, inverse: FloatArray) -> Self:
        design = loss.design(some)
        scores = design @ theta.T
        weights = np.ones(len(design)) if loss.weights is None else loss.weights[some]
        shares = _shares(scores)
        pull = _apart(shares.copy(), loss.codes[some]) * weights[:, np.newaxis]
        bends = -shares[:, :, np.newaxis] * shares[:, np.newaxis]
        np.einsum("iaa->ia", bends)[...] += shares
        bends *= weights[:, np.newaxis, np.newaxis]
        return cls(design, scores, pull, bends, _spreads(design, inverse), inverse)

    def leverage(self) -> float:
        """Return the largest eigenvalue of AM over rows; traces bound it."""
        traces = np.einsum("iab,iba->i", self.bends, self.spreads)
        if self.bends.shape[1] == 1:
            return float(traces.max(initial=0.0))
        order = np.argsort(-traces)
        largest, step = 0.0, 64
        for start in range(0, len(order), step):
            some = order[start : start + step]
            if traces[some[0]] <= largest:
                break
            values, vectors = np.linalg.eigh(self.bends[some])
            roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, np.newaxis]
            inner = np.swapaxes(roots, 1, 2) @ self.spreads[some] @ roots
            largest = max(largest, float(np.linalg.eigvalsh(inner)[:, -1].max(initial=0.0)))
        return largest

    def _push(self) -> FloatArray:
        """Return (I - AM)⁻¹r (n, m)."""
        left = np.eye(self.bends.shape[1]) - self.bends @ self.spreads
        return np.asarray(np.linalg.solve(left, self.pull[:, :, np.newaxis])[:, :, 0], np.float64)

    def first_step(self) -> FloatArray:
        """Return how far the scores of each row move by a step away from it (n, m)."""
        return np.asarray(np.einsum("iab,ib->ia", self.spreads, self._push()), np.float64)

    def second_step(
        self, loss: LogisticLoss, penalty: float, theta: FloatArray, some: slice
    ) -> FloatArray:
        """Return how far they move back, by the gradient of the other rows after the first."""
        n, (m, width) = len(self.design), theta.shape
        flat = self.inverse.reshape(m * width, m * width)
        moved = (self._push()[:, :, np.newaxis] * self.design[:, np.newaxis]).reshape(n, -1) @ flat
        thetas = theta + moved.reshape(n, m, width)
        slopes = self._gradients(loss, thetas, np.arange(len(loss.codes))[some])
        slopes += penalty * (Objective(loss).between @ thetas) * (np.arange(width) > 0)
        turned = (slopes.reshape(n, -1) @ flat).reshape(n, m, width)
        along = np.einsum("iaj,ij->ia", turned, self.design)
        left = np.eye(m) - self.spreads @ self.bends
        return np.asarray(np.linalg.solve(left, along[:, :, np.newaxis])[:, :, 0], np.float64)

    @staticmethod
    def _gradients(loss: LogisticLoss, thetas: FloatArray, places: IntArray) -> FloatArray:
        """Return the gradient of all rows but one, each at its own θ (n, m, d + 1)."""
        every = loss.design(slice(0, len(loss.codes)))
        n, m, width = thetas.shape
        scores = (thetas.reshape(n * m, width) @ every.T).reshape(n, m, len(every))
        shares = _shares(np.swapaxes(scores, 1, 2).reshape(-1, m)).reshape(n, len(every), m)
        known = np.flatnonzero(loss.codes > 0)
        shares[:, known, loss.codes[known] - 1] -= 1.0
        if loss.weights is not None:
            shares *= loss.weights[:, np.newaxis]
        shares[np.arange(n), places] = 0.0
        return np.swapaxes(shares, 1, 2) @ every


def _shares(scores: FloatArray) -> FloatArray:
    """Return the probabilities of all classes but the first (n, m)."""
    top = np.maximum(scores.max(axis=1, keepdims=True), 0.0)
    found: FloatArray = np.exp(scores - top)
    found /= found.sum(axis=1, keepdims=True) + np.exp(-top)
    return found


def _apart(shares: FloatArray, codes: IntArray) -> FloatArray:
    """Return p - e_y, of all classes but the first."""
    known = np.flatnonzero(codes > 0)
    shares[known, codes[known] - 1] -= 1.0
    return shares


def _spreads(design: FloatArray, inverse: FloatArray) -> FloatArray:
    """Return (x̃ᵀ ⊗ I)H⁻¹(x̃ ⊗ I) of every row (n, m, m)."""
    m, width = inverse.shape[:2]
    found = np.empty((len(design), m, m))
    for a in range(m):
        half = (design @ inverse[a].reshape(width, m * width)).reshape(len(design), m, width)
        np.einsum("ibj,ij->ib", half, design, out=found[:, a])
    return found
