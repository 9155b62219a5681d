"""p-values of rows under a normal law that was itself estimated from rows.

A fitted law is not a given one: with few rows its covariance is too small where it matters, and
the χ² of a given law would call too many rows strange. The exact tails are those of F, for new
rows, and of Beta, for rows that took part in the fit.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import NoPValue

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suffice.families.distances import Distances
    from suffice.rows import FloatArray


def predictive_p_values(
    squares: ArrayLike,
    ranks: ArrayLike,
    freedom: ArrayLike,
    leverage: ArrayLike,
    *,
    training: bool = False,
) -> FloatArray:
    """Return P(a row of the same law lies at least as far out), all arguments broadcast.

    `squares` are q = (x - m)ᵀS⁻¹(x - m), S the scatter with ν = `freedom` degrees of freedom, in
    D = `ranks` directions; h = `leverage` is the variance of m in units of the law's, 1/W. Then

        new rows        q/(1 + h)·(ν - D + 1)/D ~ F(D, ν - D + 1)
        training rows   q/(1 - h) ~ Beta(D/2, (ν - D)/2), and at ν = D all are at the edge: p = 1

    Where the law's covariance is known, ν is infinite, `squares` are Mahalanobis distances squared,
    and q/(1 + h) of new rows and q/(1 - h) of training rows are χ²(D).

    Where D = 0 only q = 0 can happen. NaN where the second parameter would be negative, or for F
    zero: there were too few rows to say.

    >>> predictive_p_values([0.0, 0.5, np.inf], 2, 9.0, 0.1).round(4)
    array([1.    , 0.2234, 0.    ])
    >>> predictive_p_values(0.5, 2, [1.0, 0.5], 0.5)
    array([nan, nan])
    """
    from scipy.special import betainc, betaincc, gammaincc  # heavy, and only needed here

    q, rank, freedom, h = np.broadcast_arrays(squares, ranks, freedom, leverage)
    known = np.isposinf(freedom)
    size = np.where(rank == 0, 1, rank) / 2.0
    spare = (freedom - rank + (0.0 if training else 1.0)) / 2.0
    counts = np.where((spare > 0.0) & ~known, spare, 1.0)
    if training:
        # A row that took part in m and S cannot be far out: q ≤ 1 - h.
        edge = np.maximum(1.0 - h, 0.0)
        inside = np.minimum(q, edge) / np.where(edge > 0.0, edge, 1.0)
        tail = np.where(spare > 0.0, betaincc(size, counts, inside), 1.0)
        tail = np.where(np.isinf(q), 0.0, tail)
        lacking = spare < 0.0
    else:
        with np.errstate(over="ignore"):
            tail = betainc(counts, size, 1.0 / (1.0 + q / (1.0 + h)))
        lacking = spare <= 0.0
    if known.any():
        spread = np.maximum(1.0 - h, 0.0) if training else 1.0 + h
        with np.errstate(over="ignore"):
            away = q / np.where(spread > 0.0, spread, 1.0)
        # A training row alone is its own mean: it cannot be anywhere else.
        sure = np.where((spread > 0.0) | np.isinf(q), gammaincc(size, away / 2.0), 1.0)
        tail = np.where(known, sure, tail)
    p = np.where(rank == 0, np.where(q == 0.0, 1.0, 0.0), tail)
    return np.where(lacking & (rank > 0), np.nan, p)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of how one law was estimated: enough for exact p-values.

    >>> Evidence.of_rows(10.0, divisor=10.0)
    Evidence(weight=10.0, divisor=10.0, degrees=9.0, leverage=0.1)
    """

    weight: float
    """W; 0 for a conditional law, which has no training rows of its own."""
    divisor: float
    """By what the scatter was divided."""
    degrees: float
    """ν, the degrees of freedom of the scatter."""
    leverage: float
    """h, the variance of the mean in units of the law's."""

    @classmethod
    def of_rows(cls, weight: float, *, divisor: float) -> Evidence:
        """Return the evidence of rows of total weight W: ν = W - 1, h = 1/W."""
        return cls(weight, divisor, weight - 1.0, 1.0 / weight)

    @classmethod
    def of_known_mean(cls, weight: float) -> Evidence:
        """Return the evidence where only the covariance was estimated: ν = W, h = 0."""
        return cls(weight, weight, weight, 0.0)

    @classmethod
    def of_known_covariance(cls, weight: float) -> Evidence:
        """Return the evidence where only the mean was estimated: ν = ∞, h = 1/W."""
        return cls(weight, 1.0, np.inf, 1.0 / weight)

    def given(self, distance: float, rank: int) -> Evidence:
        """Return the evidence for the law of the other columns, some of rank `rank` being known.

        It is a regression's: every known direction costs a degree of freedom, and far from the
        mean the prediction is less certain, h + (x_g - m_g)ᵀS_gg⁻¹(x_g - m_g).
        """
        if self.degrees == np.inf:
            # The mean moves with the cells that are known, by regression: it is no less certain.
            return Evidence(0.0, self.divisor, self.degrees, self.leverage)
        away = min(distance * distance / self.divisor, 1e300)  # inf / inf would be no number
        return Evidence(0.0, self.divisor, self.degrees - rank, self.leverage + away)

    def p_values(self, found: Distances, *, training: bool) -> FloatArray:
        """Return P(a row of the same law is at least as far out); NaN where rows were too few."""
        unknown = self._unknown(found)
        with np.errstate(over="ignore"):
            q = np.square(found.distance) / self.divisor
        # Off the support is farther out than every square that overflows.
        p = predictive_p_values(q, found.rank, self.degrees, self.leverage, training=training)
        return np.where(unknown, np.nan, p)

    def _unknown(self, found: Distances) -> NDArray[np.bool_]:
        """Say for which rows there is no p-value, and warn.

        Fewer directions than columns may be a fact about the law or about the number of
        rows. It is the law's only if there were rows enough to show more.
        """
        starved = (found.rank < found.observed) & (found.rank >= self.degrees)
        short = (found.observed > 0) & (found.rank > self.degrees)
        unknown: NDArray[np.bool_] = starved | short
        if unknown.any():
            most = int(found.observed[unknown].max())
            warnings.warn(
                f"{int(unknown.sum())} row(s) have no p-value: {most} columns were estimated "
                f"with {max(self.degrees, 0.0):g} degrees of freedom",
                NoPValue,
                stacklevel=4,
            )
        return unknown
