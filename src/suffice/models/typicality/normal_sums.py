"""Tails of Σ g_j over independent normal columns, each with a pivot of known law.

The pivot of a column is B = 1/(1 + t²/ν) ~ Beta(ν/2, ½), t Student's with ν degrees of freedom,
and g = -½(ν + 1) log B: Student's log density but for a constant. One column has Student's law
itself. Of more columns the law is convolved on a lattice as fine as the tail needs; where it is
smaller than rounding leaves of a Fourier transform, the saddlepoint's tail (Lugannani and Rice)
continues it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suffice.models.typicality.column_laws import Pivots
    from suffice.rows import FloatArray, IntArray

LATTICE = 1 << 14
"""Points of the lattice. With 2 ≤ D ≤ 100 columns, tails are right to about 1e-5 of themselves."""
JOINT = 1e-8
"""Tails below this are the saddlepoint's, made continuous here: a transform leaves about 1e-15."""
LARGE_FREEDOM = 100.0
"""Degrees of freedom above which the incomplete beta function is slow, and Hill's tail right
to 3e-6 of itself down to JOINT: less than the lattice leaves."""
MOST_LAWS = 4
"""Different laws of one answer that are made, at some milliseconds each."""

Columns = tuple[tuple[float, int], ...]
"""How many columns there are with each number of degrees of freedom."""


class Cumulants(NamedTuple):
    """K(θ) = log E exp(θ Σg), and its first two derivatives."""

    value: FloatArray
    slope: FloatArray
    curvature: FloatArray


def single_tail(freedom: ArrayLike, sums: ArrayLike) -> FloatArray:
    """Return P(g ≥ s) of one column: the two-sided tail of Student's law.

    >>> single_tail(4.0, [0.0, 2.5 * np.log1p(2.776445**2 / 4)]).round(6)  # t = 2.776: 5 %
    array([1.  , 0.05])
    """
    from scipy.special import betainc, betaincc

    nu, s = np.broadcast_arrays(np.asarray(freedom, dtype=np.float64), sums)
    logs = -2.0 * np.asarray(s, dtype=np.float64) / (nu + 1.0)
    # Of B and 1 - B only the smaller one has all its digits.
    near = logs > -0.5
    found: FloatArray = betaincc(0.5, nu / 2.0, -np.expm1(np.where(near, logs, 0.0)))
    if not near.all():
        found = np.where(near, found, betainc(nu / 2.0, 0.5, np.exp(logs)))
    return found


def cumulants(columns: Columns, thetas: FloatArray) -> Cumulants:
    """Return K, K′ and K″ at θ < min ν/(ν + 1)."""
    from scipy.special import gammaln, polygamma, psi

    parts = [np.zeros_like(thetas) for _ in range(3)]
    for nu, count in columns:
        half = (nu + 1.0) / 2.0
        a, low, high = thetas * half, nu / 2.0, half
        parts[0] += count * (gammaln(low - a) - gammaln(low) + gammaln(high) - gammaln(high - a))
        parts[1] += count * half * (psi(high - a) - psi(low - a))
        parts[2] += count * half * half * (polygamma(1, low - a) - polygamma(1, high - a))
    return Cumulants(*parts)


def steepest(columns: Columns) -> float:
    """Return min ν/(ν + 1): how fast the tail of the sum falls at the end."""
    return min(nu / (nu + 1.0) for nu, _ in columns)


def masses(freedom: float, step: float, size: int) -> FloatArray:
    """Return P(g nearest to k·step), k = 0 … size - 1; the last one has all that is beyond."""
    edges: FloatArray = (np.arange(size - 1, dtype=np.float64) + 0.5) * step
    tail = single_tail(freedom, edges) if freedom <= LARGE_FREEDOM else _large_tail(freedom, edges)
    return -np.diff(np.concatenate([[1.0], tail, [0.0]]))


def _large_tail(freedom: float, sums: FloatArray) -> FloatArray:
    """Return the tail of Student's law by Hill's expansion (1970), which is quick."""
    from scipy.special import erfc

    a = freedom - 0.5
    b = 48.0 * a * a
    z = np.sqrt(a * 2.0 * sums / (freedom + 1.0))
    cubes = z * z * z
    z = z + (cubes + 3.0 * z) / b
    found: FloatArray = erfc(z / np.sqrt(2.0))
    return found


def sum_tails(columns: Columns, sums: FloatArray) -> FloatArray:
    """Return P(Σg ≥ s) for columns that all rows have."""
    if not columns:
        return np.ones(len(sums))
    if len(columns) == 1 and columns[0][1] == 1:
        return single_tail(columns[0][0], sums)
    places, logs, slope = _table(columns)
    found: FloatArray = np.interp(sums, places, logs)
    beyond = sums > places[-1]
    if beyond.any():
        found[beyond] = logs[-1] - slope * (sums[beyond] - places[-1])
    return np.exp(found)


@lru_cache(maxsize=256)
def _table(columns: Columns) -> tuple[FloatArray, FloatArray, float]:
    """Return places, the logs of tails there, and how fast they fall beyond the last one."""
    rate = steepest(columns)
    thetas = rate * np.linspace(0.05, 0.95, 19)
    # Chernoff's bound: beyond `reach` there is less than a transform's rounding.
    reach = float(np.min((cumulants(columns, thetas).value + 34.0) / thetas))
    step = reach / LATTICE
    transform = np.ones(LATTICE // 2 + 1, dtype=np.complex128)
    for nu, count in columns:
        transform *= np.fft.rfft(masses(nu, step, LATTICE)) ** count
    mass = np.maximum(np.fft.irfft(transform, LATTICE), 0.0)
    # A cell lies about its place: half of it is beyond.
    tails = np.cumsum(mass[::-1])[::-1] - mass / 2.0
    tails[0] = 1.0
    kept = int(np.argmax(tails < JOINT)) if (tails < JOINT).any() else LATTICE
    places: FloatArray = np.arange(kept, dtype=np.float64) * step
    logs: FloatArray = np.log(tails[:kept])
    far, far_logs, last = _saddlepoint(columns, rate)
    start = float(np.interp(places[-1], far, far_logs))
    chosen = far > places[-1]
    places = np.concatenate([places, far[chosen]])
    logs = np.concatenate([logs, far_logs[chosen] + (logs[-1] - start)])
    return places, logs, last


def _saddlepoint(columns: Columns, rate: float) -> tuple[FloatArray, FloatArray, float]:
    """Return places, log tails there by Lugannani and Rice, and the largest θ."""
    from scipy.special import erfcx

    thetas = rate * -np.expm1(-np.linspace(0.05, 16.0, 600))
    k = cumulants(columns, thetas)
    w = np.sqrt(2.0 * np.maximum(thetas * k.slope - k.value, 1e-300))
    mills = np.sqrt(np.pi / 2.0) * erfcx(w / np.sqrt(2.0))
    ratio = np.maximum(mills + 1.0 / (thetas * np.sqrt(k.curvature)) - 1.0 / w, 1e-300)
    logs = -w * w / 2.0 - np.log(2.0 * np.pi) / 2.0 + np.log(ratio)
    return k.slope, logs, float(thetas[-1])


def tails_of_rows(freedom: FloatArray, parts: FloatArray) -> FloatArray | None:
    """Return P(Σg ≥ Σ of the row) for rows (n, d) of g; ν (n, d) or (1, d), 0 where nothing is.

    Rows with the same degrees of freedom have the same law, and it is made once. None, if there
    are too many laws to make.
    """
    sums = np.where(freedom > 0.0, parts, 0.0).sum(axis=1)
    if len(freedom) == 1 or (freedom == freedom[0]).all():
        return sum_tails(_columns(freedom[0]), sums)
    ordered = np.sort(freedom, axis=1)
    keys, inverse = np.unique(ordered, axis=0, return_inverse=True)
    if len(keys) > MOST_LAWS:
        return None
    out = np.empty(len(parts))
    for i, key in enumerate(keys):
        chosen = inverse.ravel() == i
        out[chosen] = sum_tails(_columns(key), sums[chosen])
    return out


def _columns(freedom: FloatArray) -> Columns:
    values, counts = np.unique(freedom[freedom > 0.0], return_counts=True)
    return tuple((float(v), int(c)) for v, c in zip(values, counts, strict=True))


def bonferroni(freedom: FloatArray, parts: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the smallest p-value of single columns, and of how many; ν as in `tails_of_rows`."""
    there = np.broadcast_to(freedom > 0.0, parts.shape)
    if len(freedom) == 1 and (freedom == freedom.max(initial=0.0)).all():
        # Of columns with the same law the one farthest out has the smallest p-value.
        farthest = parts.max(axis=1, initial=0.0)
        nu = float(freedom.max(initial=0.0))
        least = single_tail(nu, farthest) if nu > 0.0 else np.ones(len(parts))
        return least, there.sum(axis=1)
    single = single_tail(np.where(freedom > 0.0, freedom, 1.0), parts)
    return np.where(there, single, 1.0).min(axis=1, initial=1.0), there.sum(axis=1)


def odd_one_out(weights: FloatArray) -> FloatArray:
    """Return the p-value of the one row that differs from W others, which are all the same.

    Beside a single other either may be the odd one: nothing can be said.

    >>> odd_one_out(np.array([1.0, 3.0]))
    array([1.  , 0.25])
    """
    return np.where(weights > 1.0, 1.0 / (weights + 1.0), 1.0)


def smallest_of_columns(pivots: Pivots) -> FloatArray:
    """Return the smallest of the columns' p-values times their number: right for any covariance."""
    least, many = bonferroni(pivots.freedom, pivots.parts)
    odd = np.where(pivots.other, odd_one_out(pivots.weights), 1.0).min(axis=1, initial=1.0)
    many = many + pivots.constant.sum(axis=1)
    found: FloatArray = np.minimum(np.minimum(least, odd) * np.maximum(many, 1), 1.0)
    return found


def beside_constants(p: FloatArray, other: NDArray[np.bool_], weights: FloatArray) -> FloatArray:
    """Return p-values (n,) of rows some cells of which differ from what was always the same.

    The one of W + 1 rows that differs is the odd one out. It is that or lies far out in the other
    columns: the smaller p-value of both, doubled, is right however they depend on each other.
    Where there are no other columns, `p` is infinite.
    """
    odd = np.where(other, odd_one_out(weights), 1.0).min(axis=1, initial=1.0)
    odd = odd * np.maximum(other.sum(axis=1), 1)
    both = np.where(np.isinf(p), odd, 2.0 * np.minimum(p, odd))
    return np.minimum(np.where(other.any(axis=1), both, p), 1.0)
