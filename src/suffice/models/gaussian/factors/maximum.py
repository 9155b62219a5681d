"""Maximum likelihood of Σ = ΛΛᵀ + Ψ from a covariance alone.

Given Ψ, the best Λ is known: of Ψ^-½RΨ^-½ it takes the q largest eigenvalues above 1. What is left
to be found is Ψ, and its gradient is no more than the diagonal of Σ - R. Everything is done on the
scale of correlations, so that units do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, log
from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import LOG_TAU

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

LEAST_NOISE = 0.005
"""The least part of its variance that a column keeps for itself (Heywood cases end there): that of
Jöreskog and of R's `factanal`, so that likelihoods can be compared."""
RANK = 1e-10
"""What a pivot of the correlations may be at most where a direction is missing: rounding of sums of
squares is some 1e-13 of them, and a direction this thin moves no likelihood that is printed."""
NARROW = 64
"""Columns up to which nobody looks for a low rank: their eigenvectors take a millisecond."""
SLOPE = 1e-7
"""The search ends where no part of the gradient, in units of a column's variance, is larger. The
log-likelihood is flat there to second order: some 1e-14 of a row."""
MOST_STEPS = 2000
"""Steps of the search, at most; ordinary tables take 10 to 60. A choice."""
MEMORY = 20
"""Steps that the search remembers. Twice the usual: a step costs more than remembering one."""


@dataclass(frozen=True, slots=True, eq=False)
class RankedCorrelations:
    """Correlations R (d, d) of d columns, or, where their rank r is low, B (r, d) with R = BᵀB.

    Exactly one of the two is there. The second is what makes two thousand columns of sixty rows
    quick: nothing of d x d is ever factored.
    """

    whole: FloatArray | None
    root: FloatArray | None

    @classmethod
    def of(cls, correlations: FloatArray) -> RankedCorrelations:
        """Look for a low rank by a Cholesky factor whose pivots are the largest that are left."""
        width = len(correlations)
        root = None if width <= NARROW else low_rank_root(correlations, width // 2)
        return cls(correlations if root is None else None, root)

    @property
    def width(self) -> int:
        """The number of columns."""
        held = self.root if self.whole is None else self.whole
        assert held is not None
        return int(held.shape[1])

    @property
    def most(self) -> int:
        """How many factors there can be."""
        return self.width - 1 if self.root is None else min(self.width - 1, len(self.root))

    def leading(self, noise: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
        """Return the largest eigenvalues (q,) of Ψ^-½RΨ^-½, and their vectors (d, q)."""
        from scipy.linalg import eigh  # heavy, and only needed here

        ends = np.sqrt(noise)
        if self.whole is not None:
            inner = self.whole / ends[:, np.newaxis] / ends
            first = len(inner) - count
            values, vectors = eigh(
                inner, subset_by_index=(first, len(inner) - 1), check_finite=False
            )
            return values[::-1], vectors[:, ::-1]
        assert self.root is not None
        scaled = self.root / ends
        size = len(scaled)
        values, turns = eigh(
            scaled @ scaled.T, subset_by_index=(size - count, size - 1), check_finite=False
        )
        values, turns = np.maximum(values[::-1], 0.0), turns[:, ::-1]
        vectors = scaled.T @ turns
        return values, vectors / np.sqrt(np.maximum(values, np.finfo(np.float64).tiny))


def low_rank_root(matrix: FloatArray, most: int) -> FloatArray | None:
    """Return B (r, d) with BᵀB the matrix (d, d), or None if its rank r is more than `most`."""
    left = np.diagonal(matrix).copy()
    root = np.empty((min(most, 16), len(left)))
    rank = 0
    while True:
        pivot = int(np.argmax(left))
        if left[pivot] <= RANK:
            return root[:rank]
        if rank == most:
            return None
        if rank == len(root):
            root = np.concatenate([root, np.empty((min(rank, most - rank), len(left)))])
        line = matrix[pivot] - root[:rank, pivot] @ root[:rank]
        line /= np.sqrt(left[pivot])
        root[rank] = line
        left -= np.square(line)
        left[pivot] = 0.0
        rank += 1


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """Λ (d, q) and Ψ (d,) of correlations, and what they are worth.

    `deviance` is log|Σ| + tr(Σ⁻¹R): the log-likelihood of a row is -½(d·log 2π + deviance), in
    standardized columns. `history` has it after each step of the search; it never rises.
    """

    loadings: FloatArray
    noise: FloatArray
    deviance: float
    history: tuple[float, ...]

    @property
    def count(self) -> int:
        """The number of factors q."""
        return int(self.loadings.shape[1])

    @property
    def floored(self) -> IntArray:
        """Which columns keep no more of their variance than the floor: Heywood cases."""
        return np.flatnonzero(self.noise <= LEAST_NOISE * (1.0 + 1e-6))

    def log_likelihood(self, weight: float) -> float:
        """Return that of rows of so much weight, in standardized columns."""
        return -0.5 * weight * (len(self.noise) * LOG_TAU + self.deviance)


def parameters(width: int, count: int) -> int:
    """Return how many free parameters a covariance of q factors has: dq + d - q(q - 1)/2.

    >>> parameters(10, 2), parameters(10, 0)
    (29, 10)
    """
    return width * count + width - count * (count - 1) // 2


def identified(width: int) -> int:
    """Return how many factors d columns can tell apart: q ≤ d + ½ - ½√(8d + 1) (Ledermann).

    >>> [identified(width) for width in (1, 2, 3, 4, 6, 10)]
    [0, 0, 1, 1, 3, 6]
    """
    return (2 * width + 1 - isqrt(8 * width) - (isqrt(8 * width) ** 2 < 8 * width + 1)) // 2


def most_likely(
    correlations: RankedCorrelations,
    count: int,
    start: FloatArray | None = None,
    most_steps: int = MOST_STEPS,
) -> Factors:
    """Return the most likely q factors of correlations.

    The log of Ψ is searched by L-BFGS between the floor and 1, from `start` (d,) if it is given.
    A line search lets no step lose likelihood; after `most_steps` it ends where it is.
    """
    from scipy.optimize import minimize  # heavy, and only needed here

    width, count = correlations.width, min(count, correlations.most)
    if count < 1:
        return Factors(np.zeros((width, 0)), np.ones(width), float(width), (float(width),))
    noise = first_noise(correlations, count) if start is None else start
    low = log(LEAST_NOISE)
    history = [_profile(correlations, count, noise)[0]]

    def objective(logs: FloatArray) -> tuple[float, FloatArray]:
        here = np.exp(logs)
        found, loadings = _profile(correlations, count, here)
        shared = np.square(loadings).sum(axis=1)
        return found, (shared + here - 1.0) / here

    def remember(intermediate_result: object) -> None:
        history.append(float(intermediate_result.fun))  # type: ignore[attr-defined]

    found = minimize(
        objective,
        np.clip(np.log(noise), low, 0.0),
        jac=True,
        method="L-BFGS-B",
        bounds=[(low, 0.0)] * width,
        callback=remember,
        options={
            "maxiter": most_steps,
            "maxfun": 2 * most_steps,
            "maxcor": MEMORY,
            "gtol": SLOPE,
            "ftol": 0.0,
        },
    )
    noise = np.exp(found.x)
    deviance, loadings = _profile(correlations, count, noise)
    return Factors(_signed(loadings), noise, deviance, tuple(history))


def first_noise(correlations: RankedCorrelations, count: int) -> FloatArray:
    """Return where the search for Ψ (d,) begins: Jöreskog's (1 - q/2d)/diag R⁻¹, or one half."""
    width = correlations.width
    half = np.full(width, 0.5)
    if correlations.whole is None:
        return half
    try:
        inverse = np.diagonal(np.linalg.inv(correlations.whole))
    except np.linalg.LinAlgError:
        return half
    if not (np.isfinite(inverse).all() and (inverse >= 1.0 - RANK).all()):
        return half
    return np.clip((1.0 - 0.5 * count / width) / inverse, LEAST_NOISE, 1.0)


def _profile(
    correlations: RankedCorrelations, count: int, noise: FloatArray
) -> tuple[float, FloatArray]:
    """Return log|Σ| + tr(Σ⁻¹R) at the best Λ for Ψ, and that Λ (d, q)."""
    values, vectors = correlations.leading(noise, count)
    tall = np.maximum(values, 1.0)
    deviance = np.log(noise).sum() + (1.0 / noise).sum() + (np.log(tall) - (tall - 1.0)).sum()
    loadings = np.sqrt(noise)[:, np.newaxis] * vectors * np.sqrt(tall - 1.0)
    return float(deviance), loadings


def _signed(loadings: FloatArray) -> FloatArray:
    """Return loadings whose largest is positive in each factor: signs are arbitrary."""
    tops = np.take_along_axis(loadings, np.abs(loadings).argmax(axis=0)[np.newaxis], axis=0)
    return loadings * np.where(tops < 0.0, -1.0, 1.0)
