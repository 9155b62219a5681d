"""Reliability: how often that happened which was given a probability of p."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from suffice.evaluation.metrics import BINS, bin_of, confidences

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """One entry for each bin that holds a row.

    predicted   the mean probability that was given
    observed    the share of rows in which it came true
    low, high   ends of Wilson's interval for that share, at `level`
    rows        how many rows there are, each counted with its weight
    of          whose probability: that of one class, or of the likeliest one
    """

    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    rows: FloatArray
    of: str
    level: float = 0.95

    @property
    def error(self) -> float:
        """The gaps between predicted and observed, averaged by the rows behind them."""
        gaps = np.abs(self.predicted - self.observed)
        return float(np.average(gaps, weights=self.rows))


def reliability(
    log_posterior: FloatArray,
    codes: IntArray,
    weights: FloatArray | None = None,
    *,
    of: int | None = None,
    bins: int = BINS,
    level: float = 0.95,
) -> Reliability:
    """Return predicted probabilities beside observed shares, in bins of equal width.

    `of` is the class whose probability is looked at; None looks at the likeliest class of
    each row, whichever that is. Weights are repetitions.

    >>> found = reliability(np.log([[0.2, 0.8]] * 4), np.array([1, 1, 1, 0]), of=1)
    >>> found.predicted.round(3), found.observed, found.low.round(3), found.high.round(3)
    (array([0.8]), array([0.75]), array([0.301]), array([0.954]))
    """
    if of is None:
        given, true = confidences(log_posterior, codes)
    else:
        given, true = np.exp(log_posterior[:, of]), (codes == of).astype(np.float64)
    w = np.ones(len(codes)) if weights is None else weights
    place = bin_of(given, bins)
    held = np.bincount(place, weights=w, minlength=bins).astype(np.float64)
    kept = held > 0.0
    rows = held[kept]
    predicted = np.bincount(place, weights=w * given, minlength=bins)[kept] / rows
    observed = np.bincount(place, weights=w * true, minlength=bins)[kept] / rows
    low, high = wilson(observed, rows, level)
    named = "the likeliest class" if of is None else f"class {of}"
    return Reliability(predicted, observed, low, high, rows, named, level)


def wilson(
    share: FloatArray, rows: FloatArray, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's interval for a share: inside [0, 1], and not empty at its ends.

    >>> [end.round(3).tolist() for end in wilson(np.array([0.0]), np.array([10.0]))]
    [[0.0], [0.278]]
    """
    z = NormalDist().inv_cdf(0.5 + level / 2.0)
    z2 = z * z / rows
    middle = (share + z2 / 2.0) / (1.0 + z2)
    half = z * np.sqrt((share * (1.0 - share) + z2 / 4.0) / rows) / (1.0 + z2)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
