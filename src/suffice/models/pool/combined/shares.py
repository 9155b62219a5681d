"""The shares of members in a sum, Σ_m v_m p_m: a linear pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.pool.averages import LEAST

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

PRIOR_ROWS = 1.0
"""Rows that the members of a pool share beforehand. With 5, as in the first trials, members that
help nobody keep a tenth of a pool of 50 rows: log-loss .456, with 1 .446 (135 draws, 45 tables)."""
FALLBACK_ROWS = 6.0
"""What the class shares have beforehand besides: this many rows, over the square of the weight
outside the largest class. One row of a class among 25 cannot judge anybody (churn: .663, .469 with
it, the class shares .462); from eight rows on it is worth less than PRIOR_ROWS over the members.
Of 0, 6, 12, 24 the best on one half of the tables with 25 rows (.566 to .565), and on the other
(.512 to .505); at 50 and 200 rows the means move by less than .001."""
STEPS = 500
"""Steps of EM for the shares, at most: a bound on the time, for EM may creep."""
SETTLED = 1e-8
"""Shares that move by less have settled."""


def prior_rows(count: int, fallback: int, codes: IntArray, weights: FloatArray) -> FloatArray:
    """Return the rows (M,) that members have beforehand; `fallback` is where the class shares are.

    >>> prior_rows(2, 1, np.array([0, 0, 0, 1]), np.ones(4)).tolist()
    [0.5, 6.5]
    """
    totals = np.bincount(codes, weights)
    found = np.full(count, PRIOR_ROWS / count)
    found[fallback] += FALLBACK_ROWS / max(float(totals.sum() - totals.max()), 1.0) ** 2
    return found


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
