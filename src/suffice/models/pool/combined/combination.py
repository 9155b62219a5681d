"""A sum of what members say, and up to half a product: p = (1 - u) Σ v_m p_m + u · ∝ e^b Π p_m^a_m.

A sum forgives a member that is wrong and sure, but where members that have different reasons agree,
it is no surer than they are on the average. A product is, and trusts one that says "impossible".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.models.pool.averages import softmax
from suffice.models.pool.column_scores import log_shares
from suffice.models.pool.combined.exponents import column_weights
from suffice.models.pool.combined.shares import pool_shares, prior_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray, IntArray

LEAST_SHARE = 0.01
"""Members of a smaller share do not answer: the others' shares are raised instead. It moves no
probability by more than .01 for each, and saves most of the time of an answer."""
PRODUCT = 0.5
"""The part of the product, where there are many rows. Of .35, .5 and .65 the best mean log-loss at
50 and 200 rows on one half of the tables; the other half agrees (docs/pool.md)."""
PRODUCT_ROWS = 6.0
"""Rows outside the largest class by which the part of the product has half of its full size: nine
exponents are found on them. At 25 rows the mean log-loss of one half of the tables falls by .0013
beside a full part, and the worst draws by more; at 200 it rises by .0002."""
DEVIATION = 0.5
"""How far exponents may lie from their mean. Between .4 and 4 the mean log-loss of the tables moves
by .001; with .1 a third of the gain is lost."""
MOST_WORK = 3e8
"""Multiplications of one step of the search, beyond which the product has no intercepts of its own:
with hundreds of classes there are more of them than of anything else."""
LEAST_FACTOR = 1e-6
"""The least probability that goes into a product: a member that is surer than one in a million has
said enough. Between 1e-4 and 1e-9 the mean log-loss is the same to .001."""


@dataclass(frozen=True, slots=True, eq=False)
class Combination:
    """How members are put together.

    shares     (M,) v, of the sum
    exponents  (M,) a, of the product; 0 where a share is below LEAST_SHARE, and of the class shares
    offsets    (k,) b, of the product; None, as the exponents, where there is the sum alone
    product    u, the part of the product
    """

    shares: FloatArray
    exponents: FloatArray | None = None
    offsets: FloatArray | None = None
    product: float = 0.0

    @classmethod
    def of(cls, judged: FloatArray, codes: IntArray, weights: FloatArray, fallback: int) -> Self:
        """Look at what members say of rows that they have not seen: (M, n, k).

        `fallback` is the place of the class shares among the members.
        """
        true = judged[:, np.arange(len(codes)), codes]
        shares = pool_shares(true, weights, prior_rows(len(judged), fallback, codes, weights))
        used = shares >= LEAST_SHARE
        used[fallback] = False
        if not used.any():
            return cls(shares)
        counted = weights > 0.0
        tallies = np.bincount(codes, weights, minlength=judged.shape[2]).astype(np.float64)
        log_prior = log_shares(tallies)
        said = np.log(np.maximum(judged[np.ix_(used, counted)], LEAST_FACTOR)) - log_prior
        said -= said.mean(axis=2, keepdims=True)
        size, classes = said.shape[1:]
        found, offsets = column_weights(
            said.transpose(1, 0, 2),
            codes[counted],
            weights[counted],
            DEVIATION,
            start=np.full(len(said), 1.0 / len(said)),
            intercepts=size * classes * (len(said) + classes) ** 2 <= MOST_WORK,
        )
        exponents = np.zeros(len(shares))
        exponents[used] = found
        outside = float(tallies.sum() - tallies.max())
        product = PRODUCT * outside / (outside + PRODUCT_ROWS)
        return cls(shares, exponents, offsets - found.sum() * log_prior, product)

    @property
    def answering(self) -> IntArray:
        """The places of the members that answer."""
        found: IntArray = np.flatnonzero(self.shares >= LEAST_SHARE)
        return found

    def posterior(self, said: Sequence[FloatArray]) -> FloatArray:
        """Return the posterior (n, k) from those of the members that answer, in their order."""
        places = self.answering
        total = float(self.shares[places].sum())
        found: FloatArray = np.zeros(said[0].shape)
        for place, one in zip(places, said, strict=True):
            found += self.shares[place] / total * one
        if self.exponents is None or self.offsets is None:
            return found
        scores = np.tile(self.offsets, (len(found), 1))
        for place, one in zip(places, said, strict=True):
            if self.exponents[place] > 0.0:
                scores += self.exponents[place] * np.log(np.maximum(one, LEAST_FACTOR))
        return (1.0 - self.product) * found + self.product * softmax(scores)


def cross_fitted_pool(
    judged: FloatArray, codes: IntArray, weights: FloatArray, folds: IntArray, fallback: int
) -> tuple[Combination, FloatArray]:
    """Return how members are combined, and what the pool says, judged (n, k): theirs is (M, n, k).

    The combination that judges a fold is found on the other folds.
    """
    found = np.empty(judged.shape[1:])
    for fold in range(int(folds.max()) + 1):
        held = folds == fold
        others = Combination.of(judged, codes, np.where(held, 0.0, weights), fallback)
        found[held] = others.posterior(list(judged[others.answering][:, held]))
    return Combination.of(judged, codes, weights, fallback), found
