"""How far to believe the scores of texts: one factor for each, and one shift for each class.

    log p(y | x) ∝ log π_y + Σ_m β_m s_my/√n_m + b_y

s_my is the score of class y by the m-th event model and n_m the terms, or bytes, that it adds up.
They are no more independent than words are, so a score grows with n where what it says does not:
the deviation of a sum of n terms is of the order of √n. A document of which nothing is known has no
score and no shift: its posterior is the prior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.engines.threads import pinned
from suffice.linear_algebra import log_sum_exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray

MOST_STEPS = 100
"""Newton's steps, at most. A choice: near the minimum every step doubles the digits, and `CLOSE`
ends the search."""
CLOSE = 1e-10
"""Relative gain of a step below which the search ends. A choice, far above ε."""
HALVINGS = 20
"""How often a step that would make it worse is halved, at most: 2⁻²⁰ = 1e-6 of it is left."""
USUAL, FACTORS = 0.3, 4.0
"""What is known of β beforehand, and the precision of its logarithm: give or take two thirds.
Messages of 80 bytes and mails of 3,000 have β from 0.1 to 0.8; √n, 9 and 55, would take their
scores at their word."""
SHIFTS = 0.1
"""Precision of what is known beforehand of the shifts: they are about 0, give or take 3."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The factors β (m,) and the shifts b (k,)."""

    factors: FloatArray
    shifts: FloatArray

    @classmethod
    def usual(cls, many: int, size: int) -> Self:
        """Return what is known before any document is: of so many event models and classes."""
        return cls(np.full(many, USUAL), np.zeros(size))

    def scores(
        self, log_priors: FloatArray, scores: Sequence[FloatArray], lengths: Sequence[FloatArray]
    ) -> FloatArray:
        """Return log π + Σ β s/√n + b, for documents (n, k)."""
        found = np.zeros_like(scores[0])
        said = np.zeros(len(found))
        for factor, s, n in zip(self.factors, scores, lengths, strict=True):
            found += factor * relative(s, n)
            said += n
        return log_priors + found + np.where(said > 0.0, 1.0, 0.0)[:, np.newaxis] * self.shifts


def relative(scores: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return scores against the mean of all classes, over the root of how many terms there are."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    found: FloatArray = centred / np.sqrt(np.maximum(lengths, 1.0))[:, np.newaxis]
    return found


def fitted(
    log_priors: FloatArray,
    scores: Sequence[FloatArray],
    lengths: Sequence[FloatArray],
    codes: IntArray,
    weights: FloatArray,
    *,
    usual: Sequence[float] | None = None,
    said: NDArray[np.bool_] | None = None,
) -> tuple[Calibration, float]:
    """Return the calibration of documents that the scores have not seen, and its mean log-loss.

    `log_priors` may be one row for all, or one for each; `usual` is what is known of each β
    beforehand, `said` which documents have shifts: those of any length, if nothing is said.

    Minimizes Σw log-loss + ½·FACTORS·Σ(log β/usual)² + ½·SHIFTS·Σb² in log β and b by damped
    Newton steps. What is known beforehand keeps β finite where every document is right, and modest
    where there are few.
    """
    held = _Documents.of(log_priors, scores, lengths, codes, weights)
    if said is not None:
        held = replace(held, said=said.astype(np.float64))
    known = np.full(len(scores), USUAL) if usual is None else np.asarray(usual, dtype=np.float64)
    with pinned():  # of few classes the matrices are small, and threads of BLAS would wait
        return _minimized(held, known)


def _minimized(held: _Documents, usual: FloatArray) -> tuple[Calibration, float]:
    size, many = held.parts.shape[1:]
    start = np.concatenate([np.log(usual), np.zeros(size)])
    precision = np.concatenate([np.full(many, FACTORS), np.full(size, SHIFTS)])

    def objective(at: FloatArray) -> tuple[float, float]:
        loss = held.loss(at)
        return loss + 0.5 * float(precision @ np.square(at - start)), loss

    at = start
    now, loss = objective(at)
    for _ in range(MOST_STEPS):
        gradient, curvature = held.slopes(at)
        gradient += precision * (at - start)
        step = np.linalg.solve(curvature + np.diag(precision), gradient)
        for _ in range(HALVINGS):
            then, new_loss = objective(at - step)
            if then <= now:
                break
            step = step / 2.0
        gain = now - then
        if gain > 0.0:
            at, now, loss = at - step, then, new_loss
        if gain <= CLOSE * abs(now):
            break
    shifts = at[many:] - at[many:].mean()
    return Calibration(np.exp(at[:many]), shifts), loss / float(held.weights.sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Documents:
    """Documents to calibrate by: a joint is log π + Σ_m exp(a_m) z_m + said·b, in a and b.

    parts  z (n, k, m); said (n,) is 1 where anything of a document is known
    """

    log_priors: FloatArray
    parts: FloatArray
    said: FloatArray
    codes: IntArray
    weights: FloatArray

    @classmethod
    def of(
        cls,
        log_priors: FloatArray,
        scores: Sequence[FloatArray],
        lengths: Sequence[FloatArray],
        codes: IntArray,
        weights: FloatArray,
    ) -> Self:
        parts = np.stack([relative(s, n) for s, n in zip(scores, lengths, strict=True)], axis=2)
        said = (np.sum(lengths, axis=0) > 0.0).astype(np.float64)
        return cls(log_priors, parts, said, codes, weights)

    def log_posterior(self, at: FloatArray) -> FloatArray:
        many = self.parts.shape[2]
        joint = self.log_priors + self.parts @ np.exp(at[:many])
        joint += self.said[:, np.newaxis] * at[many:]
        found: FloatArray = joint - log_sum_exp(joint)[:, np.newaxis]
        return found

    def loss(self, at: FloatArray) -> float:
        found = self.log_posterior(at)[np.arange(len(self.codes)), self.codes]
        return -float(self.weights @ found)

    def slopes(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient of the loss, and its curvature without the bend of exp."""
        p = np.exp(self.log_posterior(at))
        parts = self.parts * np.exp(at[: self.parts.shape[2]])
        w, u = self.weights, self.weights * self.said
        off = p.copy()
        off[np.arange(len(p)), self.codes] -= 1.0
        gradient = np.concatenate([np.einsum("n,nk,nkm->m", w, off, parts), u @ off])
        mean = np.einsum("nk,nkm->nm", p, parts)
        weighted = (w[:, np.newaxis] * p)[:, :, np.newaxis] * parts
        factors = np.einsum("nkm,nkl->ml", weighted, parts) - (mean.T * w) @ mean
        mixed = np.einsum("nkm,n->mk", weighted, self.said) - (mean.T * u) @ p
        shifts = np.diag(u @ p) - (p.T * u) @ p
        return gradient, np.block([[factors, mixed], [mixed.T, shifts]])
