"""log Γ and the quantiles of the normal law, without SciPy: importing it costs more than a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import LOG_TAU

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from suffice.rows import FloatArray

FAR_ENOUGH = 8
"""From here on Stirling's series with seven terms is exact to 1e-15; below, Γ(x + 1) = x·Γ(x) leads
there. The next term is 3617/122400/x¹⁵."""
STIRLING = (1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
"""Coefficients of 1/x¹³, …, 1/x³, 1/x: Bernoulli numbers B₂ₖ/(2k(2k - 1)), DLMF 5.11.1."""

CENTRAL, MIDDLE = 0.425, 5.0
"""Where the three approximations of AS 241 meet: |p - ½|, and √(-log p)."""
NEAR = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
     4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
     1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
     2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
     4.2313330701600911252e1, 1.0),
)  # fmt: skip
"""Numerator and denominator for |p - ½| ≤ 0.425: Wichura (1988), Applied Statistics 37, AS 241."""
TAIL = (
    (7.7454501427834140764e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
     4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
     2.05319162663775882187e0, 1.0),
)  # fmt: skip
"""The same in √(-log p) - 1.6, up to √(-log p) = 5."""
FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
     2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
     5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0),
)  # fmt: skip
"""The same in √(-log p) - 5, beyond."""


FAR_ALONG = 1e8
"""Arguments from which log Γ(h + a) - log Γ(h) is taken from its series in 1/h: the third term is
of the order of a³/h², while a difference of two logarithms of Γ has seven digits left."""


def log_gamma(x: ArrayLike) -> FloatArray:
    """Return log Γ(x) for x > 0, elementwise.

    >>> log_gamma([1.0, 5.0, 0.5]).round(12).tolist()  # log 1, log 24, log √π
    [0.0, 3.178053830348, 0.572364942925]
    """
    given = np.asarray(x, dtype=np.float64)
    small = given < FAR_ENOUGH
    z = np.where(small, given + FAR_ENOUGH, given)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: FloatArray = (z - 0.5) * np.log(z) - z + 0.5 * LOG_TAU
        found += _polynomial(STIRLING, 1.0 / np.square(z)) / z
        if small.any():
            product = np.where(small, given, 1.0)
            for k in range(1, FAR_ENOUGH):
                product = product * np.where(small, given + k, 1.0)
            found -= np.log(product)
    return np.where(given == np.inf, np.inf, found)


def log_gamma_rise(h: ArrayLike, a: ArrayLike) -> FloatArray:
    """Return log Γ(h + a) - log Γ(h) for h > 0, elementwise, with all its digits also for large h.

    >>> log_gamma_rise([3.0, 1e300], 2.0).round(6).tolist()  # log 3·4, and 2 log h
    [2.484907, 1381.551056]
    """
    half, more = np.asarray(h, dtype=np.float64), np.asarray(a, dtype=np.float64)
    near = np.minimum(half, FAR_ALONG)
    found: FloatArray = log_gamma(near + more) - log_gamma(near)
    beyond = more * (np.log(half) + (more - 1.0) / (2.0 * half))
    return np.where(half <= FAR_ALONG, found, beyond)


def normal_quantile(p: ArrayLike) -> FloatArray:
    """Return z with Φ(z) = p, elementwise; infinite at 0 and 1, NaN outside.

    >>> normal_quantile([0.5, 0.975, 1e-12]).round(6).tolist()
    [0.0, 1.959964, -7.034484]
    """
    given = np.asarray(p, dtype=np.float64)
    away = given - 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(-np.log(np.minimum(given, 1.0 - given)))
        near = away * _ratio(NEAR, CENTRAL**2 - np.square(away))
        tail = np.where(root <= MIDDLE, _ratio(TAIL, root - 1.6), _ratio(FAR_TAIL, root - 5.0))
        tail = np.where(np.isinf(root), np.inf, tail)
    return np.where(np.abs(away) <= CENTRAL, near, np.copysign(tail, away))


def _ratio(parts: tuple[tuple[float, ...], tuple[float, ...]], x: FloatArray) -> FloatArray:
    return _polynomial(parts[0], x) / _polynomial(parts[1], x)


def _polynomial(coefficients: tuple[float, ...], x: FloatArray) -> FloatArray:
    """Return a polynomial by Horner's rule, the highest power first."""
    found = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        found = found * x + coefficient
    return found
