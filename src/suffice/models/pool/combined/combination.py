"""A sum of what members say, and in part a product: p = (1 - u) Σ v_m p_m + u · ∝ e^b Π p_m^a_m.

A sum forgives a member that is wrong and sure, but where members that have different reasons agree,
it is no surer than they are on the average. A product is, and trusts one that says "impossible".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.models.pool.averages import LEAST, softmax
from suffice.models.pool.column_scores import log_shares
from suffice.models.pool.combined.exponents import column_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray, IntArray

PRIOR_ROWS = 1.0
"""Rows that the members of a pool share beforehand, where there are many rows."""
FEW_PRIOR_ROWS = 25.0
"""How many more they share, over the rows outside the largest class: three in all where 12 are. Of
ten members that 25 rows judge, one looks far better than it is; their plain mean is often better
than what the rows make of them (promoters at 50 rows: .32 for .36). Of 15, 25 and 50 the best mean
log-loss at 25 and 50 rows on one half of the tables, by .0002 to .0007."""
FALLBACK_ROWS = 6.0
"""What the class shares have beforehand besides: this many rows, over the square of the weight
outside the largest class. One row of a class among 25 cannot judge anybody (churn: .663, .469 with
it, the class shares .462); from eight rows on it is worth less than PRIOR_ROWS over the members.
Of 0, 6, 12, 24 the best on one half of the tables with 25 rows (.566 to .565), and on the other
(.512 to .505); at 50 and 200 rows the means move by less than .001."""
DOUBT = 0.25
"""Rows that are of another class than they say. Members that are right about all of few rows may
be as sure as they like; with a quarter of a row that is not so, they may not (vote at 50 rows: the
judged loss of GDA is .000, that of new rows .52). From 0 to .25 the mean log-loss of one half of
the tables falls by .001 at 50 rows; more helps a few tables, and the sure ones pay for it."""
LOG_ODDS_OF_NOTHING = -1.5
"""Log odds, beforehand, that columns say nothing: about one table in five. Where judged rows do not
speak against it, the answer is drawn to the class shares. At 25 rows that costs .001 of the mean
log-loss, and no table is worse than its class shares by more than .03 in the mean of five draws."""
STEPS = 500
"""Steps of EM for the shares, at most: a bound on the time, for EM may creep."""
SETTLED = 1e-8
"""Shares that move by less have settled."""
LEAST_SHARE = 0.01
"""Members of a smaller share do not answer: the others' shares are raised instead. It moves no
probability by more than .01 for each, and saves most of the time of an answer."""
PRODUCT = 0.65
"""The part of the product, where there are many rows. By the mean log-loss of one half of the
tables .65 is better than .5 at 25, 50 and 200 rows; .75 gains .0005 more at most, and is worse at
25 rows on the table with least to learn (docs/pool.md)."""
PRODUCT_ROWS = 6.0
"""Rows outside the largest class by which the part of the product has half of its full size: nine
exponents are found on them. At 25 rows the mean log-loss of one half of the tables falls by .0013
beside a full part, and the worst draws by more; at 200 it rises by .0002."""
DEVIATION = 0.5
"""How far exponents may lie from their mean, where there are many rows. Between .4 and 4 the mean
log-loss of the tables moves by .001; with .1 a third of the gain is lost."""
DEVIATION_ROWS = 30.0
"""Rows outside the largest class by which the square of that has half of its full size: few rows
leave exponents nearly alike. Of 0, 15, 30 and 60 the middle ones are alike on one half of the
tables; with 30 the worst draws at 25 rows are better."""
TOTAL = (1.35, 0.2)
"""What exponents add up to beforehand, and give or take what. Members say much the same: one of
them would have 1, and where their reasons differ, more is right. Left free, 50 rows that are all
told apart drive the sum to 46 (vote), and rows that are not to .02 (bupa). Of 1, 1.2, 1.35 and 1.5
the last two are alike on one half of the tables at 25, 50 and 200 rows, and of .2, .3, .5 and 1 the
first is best."""
MOST_WORK = 3e8
"""Multiplications of one step of the search, beyond which the product has no intercepts of its own:
with hundreds of classes there are more of them than of anything else."""
LEAST_FACTOR = 1e-6
"""The least probability that goes into a product: a member that is surer than one in a million has
said enough. Between 1e-4 and 1e-9 the mean log-loss is the same to .001."""


def prior_rows(count: int, fallback: int, codes: IntArray, weights: FloatArray) -> FloatArray:
    """Return the rows (M,) that members have beforehand; `fallback` is where the class shares are.

    >>> prior_rows(2, 1, np.repeat([0, 1], 50), np.ones(100)).round(4).tolist()
    [0.75, 0.7524]
    """
    outside = max(_outside(codes, weights), 1.0)
    found = np.full(count, (PRIOR_ROWS + FEW_PRIOR_ROWS / outside) / count)
    found[fallback] += FALLBACK_ROWS / outside**2
    return found


def _outside(codes: IntArray, weights: FloatArray) -> float:
    """Return the weight outside the largest class."""
    totals = np.bincount(codes, weights)
    return float(totals.sum() - totals.max())


def pool_shares(judged: FloatArray, weights: FloatArray, prior: FloatArray) -> FloatArray:
    """Return the shares of members (M,) from judged probabilities of the true class (M, n).

    They maximise Σ w log Σ_m v_m p_m, with `prior` rows (M,) that each member has beforehand, by
    EM; the maximum is the only one.

    >>> pool_shares(np.array([[0.9, 0.8], [0.1, 0.2]]), np.ones(2), np.full(2, 0.5)).round(2)
    array([0.81, 0.19])
    """
    likely = np.maximum(judged, LEAST)
    shares = np.full(len(likely), 1.0 / len(likely))
    total = weights.sum() + prior.sum()
    for _ in range(STEPS):
        joint = shares[:, None] * likely
        responsibilities = (joint / joint.sum(axis=0)) @ weights
        new = (responsibilities + prior) / total
        moved = np.abs(new - shares).max()
        shares = new
        if moved < SETTLED:
            break
    found: FloatArray = shares / shares.sum()
    return found


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
        doubt = DOUBT / (float(weights.sum()) + 1.0)
        shares = pool_shares(
            np.hstack([true, 1.0 - true]),
            np.concatenate([(1.0 - doubt) * weights, doubt * weights]),
            prior_rows(len(judged), fallback, codes, weights),
        )
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
        outside = _outside(codes, weights)
        found, offsets = column_weights(
            said.transpose(1, 0, 2),
            codes[counted],
            weights[counted],
            DEVIATION * np.sqrt(max(outside, 1.0) / (max(outside, 1.0) + DEVIATION_ROWS)),
            start=np.full(len(said), 1.0 / len(said)),
            intercepts=size * classes * (len(said) + classes) ** 2 <= MOST_WORK,
            total=TOTAL,
            doubt=doubt,
        )
        exponents = np.zeros(len(shares))
        exponents[used] = found
        product = PRODUCT * outside / (outside + PRODUCT_ROWS)
        whole = cls(shares, exponents, offsets - found.sum() * log_prior, product)
        return whole._drawn(judged[:, counted], codes[counted], weights[counted], fallback)

    def _drawn(
        self, judged: FloatArray, codes: IntArray, weights: FloatArray, fallback: int
    ) -> Self:
        """Return what is left beside the chance that columns say nothing, which the shares have."""
        at = np.arange(len(codes))
        found = self.posterior(list(judged[self.answering]))[at, codes]
        ratios = np.log(np.maximum(found, LEAST) / np.maximum(judged[fallback, at, codes], LEAST))
        gain = float(weights @ ratios)
        nothing = float(np.exp(-np.logaddexp(0.0, gain - LOG_ODDS_OF_NOTHING)))
        product = (1.0 - nothing) * self.product
        shares = (1.0 - nothing) * (1.0 - self.product) * self.shares
        shares[fallback] += nothing
        return replace(self, shares=shares / shares.sum(), product=product)

    @property
    def answering(self) -> IntArray:
        """The places of the members that answer."""
        answers = self.shares >= LEAST_SHARE
        if self.exponents is not None:
            answers |= self.exponents > 0.0
        found: IntArray = np.flatnonzero(answers)
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
