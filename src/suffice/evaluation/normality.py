"""Tests of what Gaussian discriminant analysis assumes: normal classes, and one covariance.

Mardia, Measures of multivariate skewness and kurtosis with applications (Biometrika 57, 1970), and
Applications of some measures ... (Sankhyā B 36, 1974), which has the moments for few rows.
Box, A general distribution theory for a class of likelihood criteria (Biometrika 36, 1949).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray

FEWEST = 2.0
"""Rows for each column and the mean below which nothing can be said of a class's shape."""
RANK_TOLERANCE = 1e-8
"""Directions with less of the standardised variance than this are counted as absent."""
WORK = 2e9
"""Operations that the skewness of one class may cost; beyond, evenly chosen rows are looked at."""


@dataclass(frozen=True, slots=True)
class Mardia:
    """Skewness and kurtosis of one class about its own mean and covariance, with p-values.

    Parameters
    ----------
    skewness : float
        Near 0 for normal rows.
    skewness_p : float
        Its p-value.
    kurtosis : float
        Near d(d + 2) for normal rows.
    kurtosis_p : float
        Its p-value.
    rank : int
        The number of columns d, less directions without variance.
    rows : float
        How many rows, by weight, were used.

    See Also
    --------
    mardia : Makes it.
    """

    skewness: float
    skewness_p: float
    kurtosis: float
    kurtosis_p: float
    rank: int
    rows: float


@dataclass(frozen=True, slots=True)
class BoxM:
    """Box's test that classes share one covariance.

    It is sensitive: with many rows it rejects differences that do not matter, and tails that are
    not normal make it reject as well.

    Parameters
    ----------
    statistic : float
        Box's M.
    chi_square : float
        M, scaled so that it can be compared with χ².
    degrees_of_freedom : int
        Those of χ².
    p_value : float
        Small where the covariances differ.
    rank : int
        In how many directions rows vary within classes.
    groups : int
        How many classes were large enough.

    See Also
    --------
    box_m : Makes it.
    """

    statistic: float
    chi_square: float
    degrees_of_freedom: int
    p_value: float
    rank: int
    groups: int


def mardia(rows: FloatArray, weights: FloatArray | None = None) -> Mardia | None:
    """Return Mardia's skewness and kurtosis of complete rows, or None if they are too few.

    With z whitened (divisor n): b₁ = Σᵢⱼ wᵢwⱼ (zᵢ·zⱼ)³/W², b₂ = Σᵢ wᵢ‖zᵢ‖⁴/W. W·b₁/6 times
    Mardia's factor for few rows is compared with χ² of d(d + 1)(d + 2)/6 degrees of freedom; b₂
    with a normal law of its exact mean and variance under normality. Both are affine
    invariants: directions without variance are left out, and units do not matter. Weights are
    repetitions.

    Parameters
    ----------
    rows : ndarray of float
        Complete rows (n, d) of one class.
    weights : ndarray of float or None, default=None
        Repetitions (n,) of the rows; None counts each once.

    Returns
    -------
    Mardia or None
        Skewness and kurtosis with p-values; None where rows are too few.

    See Also
    --------
    box_m : Whether classes share a covariance.

    Examples
    --------
    >>> found = mardia(np.random.default_rng(0).normal(size=(200, 3)))
    >>> round(found.skewness, 2), round(found.kurtosis, 1), found.skewness_p > 0.05
    (0.31, 15.3, True)
    """
    from scipy.special import chdtrc, ndtr  # what scipy.stats calls, without its start

    rows, weights = _evenly(rows, weights)
    w = np.ones(len(rows)) if weights is None else weights
    n = float(w.sum())
    z = whitened(rows, w)
    d = z.shape[1]
    if d == 0 or n < FEWEST * (d + 1.0):
        return None
    skewness = _third(z, w) / n**2
    distances = np.square(z).sum(axis=1)
    kurtosis = float(w @ np.square(distances)) / n
    small = (d + 1.0) * (n + 1.0) * (n + 3.0) / (n * ((n + 1.0) * (d + 1.0) - 6.0))
    freedom = d * (d + 1) * (d + 2) / 6.0
    skewness_p = float(chdtrc(freedom, n * skewness * small / 6.0))
    mean = d * (d + 2.0) * (n - 1.0) / (n + 1.0)
    variance = (
        8.0 * d * (d + 2.0) * (n - 3.0) * (n - d - 1.0) * (n - d + 1.0)
        / ((n + 1.0) ** 2 * (n + 3.0) * (n + 5.0))
    )  # fmt: skip
    if not variance > 0.0:
        return None
    kurtosis_p = float(2.0 * ndtr(-abs(kurtosis - mean) / np.sqrt(variance)))
    return Mardia(skewness, skewness_p, kurtosis, kurtosis_p, d, n)


def box_m(groups: Sequence[FloatArray], weights: Sequence[FloatArray] | None = None) -> BoxM | None:
    """Return Box's M for the rows of several classes, or None if too few of them are large enough.

    M = ν log|S| - Σ ν_c log|S_c| with unbiased covariances, in the directions that vary within
    classes; classes in which these do not all vary are left out. M(1 - c) is compared with χ².

    Parameters
    ----------
    groups : sequence of ndarray of float
        The rows (n, d) of each class.
    weights : sequence of ndarray of float or None, default=None
        Repetitions of the rows of each class; None counts each once.

    Returns
    -------
    BoxM or None
        The test; None if too few classes are large enough.

    See Also
    --------
    mardia : Whether a class is normal.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = box_m([X[y == c] for c in range(3)])
    >>> round(found.chi_square, 2), found.degrees_of_freedom
    (140.94, 20)
    """
    from scipy.special import chdtrc

    given = [np.ones(len(g)) for g in groups] if weights is None else list(weights)
    pairs = list(zip(groups, given, strict=True))
    # Whitened by the pooled covariance, so that determinants neither overflow nor depend on units.
    centred = [g - np.average(g, axis=0, weights=w) for g, w in pairs if len(g) and w.sum() > 1.0]
    kept = [w for g, w in pairs if len(g) and w.sum() > 1.0]
    if len(kept) < 2:
        return None
    z = whitened(np.concatenate(centred), np.concatenate(kept))
    d = z.shape[1]
    parts = np.split(z, np.cumsum([len(w) for w in kept])[:-1])
    scatters, freedoms = [], []
    for part, w in zip(parts, kept, strict=True):
        scatter = (part * w[:, np.newaxis]).T @ part
        freedom = float(w.sum()) - 1.0
        eigenvalues = np.linalg.eigvalsh(scatter / freedom) if d else np.zeros(0)
        if d and freedom > d and eigenvalues[0] > RANK_TOLERANCE:
            scatters.append(scatter)
            freedoms.append(freedom)
    if len(scatters) < 2:
        return None
    nu = np.array(freedoms)
    pooled = np.sum(scatters, axis=0) / nu.sum()
    logs = [np.linalg.slogdet(s / f)[1] for s, f in zip(scatters, nu, strict=True)]
    k = len(scatters)
    m = float(nu.sum() * np.linalg.slogdet(pooled)[1] - nu @ np.array(logs))
    c = (
        (np.sum(1.0 / nu) - 1.0 / nu.sum())
        * (2.0 * d * d + 3.0 * d - 1.0) / (6.0 * (d + 1.0) * (k - 1.0))
    )  # fmt: skip
    if not c < 1.0:
        return None  # the approximation has no meaning for so few rows
    freedom = d * (d + 1) * (k - 1) // 2
    statistic = m * (1.0 - float(c))
    return BoxM(m, statistic, freedom, float(chdtrc(freedom, statistic)), d, k)


def whitened(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return rows about their mean, with unit covariance (divisor n), in directions that vary."""
    gaps = rows - np.average(rows, axis=0, weights=weights)
    # The largest gap first: squares of columns in any unit neither overflow nor vanish.
    largest = np.abs(gaps).max(axis=0, initial=0.0)
    scale = np.abs(rows).max(axis=0, initial=0.0)
    varies = largest > 1e-12 * scale
    gaps = gaps[:, varies] / largest[varies]
    gaps /= np.sqrt(np.average(np.square(gaps), axis=0, weights=weights))
    correlation = (gaps * weights[:, np.newaxis]).T @ gaps / weights.sum()
    values, vectors = np.linalg.eigh(correlation)
    kept = values > RANK_TOLERANCE
    found: FloatArray = gaps @ (vectors[:, kept] / np.sqrt(values[kept]))
    return found


def _third(z: FloatArray, w: FloatArray) -> float:
    """Return Σᵢⱼ wᵢwⱼ (zᵢ·zⱼ)³, by third moments or by pairs of rows, whichever is less work."""
    n, d = z.shape
    if d * d < n:
        moments = np.zeros((d, d * d))
        for start in range(0, n, 1024):
            part = z[start : start + 1024]
            both = (part[:, :, np.newaxis] * part[:, np.newaxis, :]).reshape(len(part), d * d)
            moments += (part * w[start : start + 1024, np.newaxis]).T @ both
        return float(np.square(moments).sum())
    total = 0.0
    for start in range(0, n, 1024):
        products = z[start : start + 1024] @ z.T
        total += float(w[start : start + 1024] @ (products**3 @ w))
    return total


def _evenly(rows: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
    """Return all rows, or as many, evenly chosen, as can be looked at."""
    n, d = rows.shape
    most = max(2000, int(np.sqrt(WORK / max(d, 1))))
    if n <= most or d * d < n <= WORK / max(d, 1) ** 3:
        return rows, weights
    places = np.linspace(0, n - 1, most).round().astype(np.intp)
    return rows[places], None if weights is None else weights[places]
