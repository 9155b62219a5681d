"""p-values of means and of small tables, by SciPy's special functions.

Importing `scipy.stats` takes half a second, which is longer than most watches take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc, gammaln, ndtr, stdtr

if TYPE_CHECKING:
    from suffice.rows import FloatArray

FAR = 40.0
"""Standard deviations from the mean beyond which counts have no chance that a double could hold."""
SPREAD = 1e4
"""Standard deviation of a count from which it is taken for normal: the chances of a million counts
would be looked at, and say the same to three digits."""
SAME = 1e-7
"""Relative gap of chances that are taken for equal: differences of log Γ have as many digits."""


def of_t(t: float, free: float) -> float:
    """Return the two-sided p-value of Student's t.

    >>> round(of_t(2.0, 10.0), 6)
    0.073388
    """
    return float(2.0 * stdtr(free, -abs(t)))


def of_chi_square(found: float, free: float) -> float:
    """Return the p-value of a χ².

    >>> round(of_chi_square(3.841459, 1.0), 6)
    0.05
    """
    return float(chdtrc(free, found))


def of_two_means(means: FloatArray, variances: FloatArray, rows: FloatArray) -> float:
    """Return Welch's p-value of two means (2,) of this many rows being the same.

    >>> round(of_two_means(np.array([0.0, 1.0]), np.array([1.0, 4.0]), np.array([10.0, 20.0])), 6)
    0.07858
    """
    errors = variances / rows
    error = float(errors.sum())
    if error <= 0.0:
        return 1.0 if means[0] == means[1] else 0.0
    free = error**2 / float((np.square(errors) / (rows - 1.0)).sum())
    return of_t(float(means[1] - means[0]) / np.sqrt(error), free)


def of_counts(table: FloatArray, *, more: bool = False) -> float:
    """Return Fisher's exact p-value of counts (2, 2); with `more`, that the first cell is not more.

    >>> round(of_counts(np.array([[8.0, 2.0], [1.0, 5.0]])), 6)
    0.034965
    >>> round(of_counts(np.array([[8.0, 2.0], [1.0, 5.0]]), more=True), 6)
    0.024476
    """
    (a, b), (c, d) = np.round(table)
    first, column, total = a + b, a + c, a + b + c + d
    if min(first, c + d, column, b + d) <= 0.0:
        return 1.0
    least, most = max(0.0, column - (c + d)), min(first, column)
    middle = first * column / total
    spread = np.sqrt(middle * (1.0 - column / total) * (c + d) / max(total - 1.0, 1.0))
    if spread > SPREAD:
        far = (middle - a) / spread
        return float(ndtr(far)) if more else float(2.0 * ndtr(-abs(far)))
    reach = FAR * (spread + 1.0)
    if abs(a - middle) > reach:
        return 1.0 if more and a < middle else 0.0
    low, high = max(least, np.floor(middle - reach)), min(most, np.ceil(middle + reach))
    k = np.arange(low, high + 1.0)
    rest = (gammaln(cells + 1.0) for cells in (k, first - k, column - k, c + d - column + k))
    logs = -sum(rest)
    chances = np.exp(logs - logs.max())
    own = chances[int(a - low)]
    chosen = k >= a if more else chances <= own * (1.0 + SAME)
    return min(1.0, float(chances[chosen].sum() / chances.sum()))
