"""Exponentials and logarithms that the compiler powers into vectors.

Calling the system's `exp` for one number after another takes longer than reading a row of fifty.
Nothing here branches: a loop over these functions becomes a loop over vectors. The polynomials
interpolate in Chebyshev's nodes, to 2e-19; what is left is rounding, of about one unit in the last
place. A NaN stays one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SMALLEST = -746.0
"""Where eˣ has become zero."""

PER_LOG_2 = 1.4426950408889634
"""1 / log 2: how many powers of two are in eˣ, for each unit of x."""

LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
"""log 2 in two parts, the first so short that its multiples are exact."""

WHOLE = 6755399441055744.0
"""1½ · 2⁵²: what is added to it is rounded to a whole number, found in the lowest bits."""

ABOVE, ABOVE_BITS = 4503599627370496.0, 0x4330000000000000
"""2⁵²: a whole number put into its lowest bits is added to it."""

ONE_BITS, FRACTION = 0x3FF0000000000000, 0x000FFFFFFFFFFFFF
"""The bits of 1, and those behind the point of any number."""


@njit(nogil=True, fastmath={"contract"})
def exponential(x: float) -> float:
    """Return eˣ for x ≤ 0, down to the smallest number there is."""
    x = max(x, SMALLEST)  # a NaN stays: it is not less
    powers = (x * PER_LOG_2 + WHOLE) - WHOLE
    r = (x - powers * LOG_2_HIGH) - powers * LOG_2_LOW
    p = 2.091467938417506e-09
    p = p * r + 2.510520638458724e-08
    p = p * r + 2.75572736613304e-07
    p = p * r + 2.7557255425720897e-06
    p = p * r + 2.4801587325533377e-05
    p = p * r + 0.00019841269874800512
    p = p * r + 0.0013888888888883752
    p = p * r + 0.008333333333326141
    p = p * r + 0.04166666666666667
    p = p * r + 0.1666666666666667
    p = p * r + 0.5
    p = (p * r) * r + r + 1.0
    # Two steps: 2⁻¹⁰⁷⁶ is not a number, and numbers below 2⁻¹⁰²² must be rounded once.
    near = max(powers, -1000.0)
    return (p * _power_of_two(near)) * _power_of_two(powers - near)


@njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def log_one_plus(t: float) -> float:
    """Return log(1 + t) for 0 ≤ t ≤ 1, as 2 artanh(t / (2 + t)): tiny t keep their digits."""
    s = (t + t) / (2.0 + t)
    u = 0.25 * s * s
    p = 0.07815288900461426
    p = p * u + 0.03746071897775383
    p = p * u + 0.05422589197440007
    p = p * u + 0.05867139530651599
    p = p * u + 0.06667589315724629
    p = p * u + 0.07692271982430275
    p = p * u + 0.09090909948981357
    p = p * u + 0.11111111099118386
    p = p * u + 0.1428571428580005
    p = p * u + 0.19999999999999762
    p = p * u + 0.3333333333333333
    return s + s * (u * p)


@njit(nogil=True)
def _power_of_two(whole: float) -> float:
    """Return 2 to a whole power between -1022 and 1023, put together from bits."""
    bits = np.float64(whole + WHOLE).view(np.int64)
    return np.int64((bits + 1023) << 52).view(np.float64)


@njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def log_one_plus_any(t: float) -> float:
    """Return log(1 + t) for t ≥ 0: beyond 1, a multiple of log 2 and the logarithm of the rest."""
    bits = np.float64(1.0 + t).view(np.int64)
    power = np.int64((bits >> 52) | ABOVE_BITS).view(np.float64) - (ABOVE + 1023.0)
    rest = np.int64((bits & FRACTION) | ONE_BITS).view(np.float64) - 1.0
    large = t > 1.0  # a NaN is not
    powers = power if large else 0.0
    return powers * LOG_2_HIGH + (log_one_plus(rest if large else t) + powers * LOG_2_LOW)
