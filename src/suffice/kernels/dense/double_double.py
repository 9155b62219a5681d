"""Numbers in two doubles, hi + lo: 106 bits for the few operations of a merge.

Every function works on floats and on arrays alike. With u = ε/2, what one of them loses is said in
multiples of u²: Knuth's sum and Dekker's product lose nothing at all (but to underflow), and what
is built of them a few u², relative to what is named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.kernels.compilation import numba_is_here, ready, worth_compiling
from suffice.linear_algebra import two_sum

if TYPE_CHECKING:
    from types import ModuleType

Pair = tuple[Any, Any]
"""A number, or an array of numbers, as hi and lo."""

WORTH_COMPILING = 2_000
"""Merges and subtractions in one process from which they are compiled: half a second of them in
NumPy, as long as loading the compiler takes."""

WORTH_A_PAUSE = 10
"""As many times more are needed where the loops are not on disk, and compiling takes 5 s."""

SPLITTER = 2.0**27 + 1.0
"""Veltkamp's: it cuts 53 bits into 26 and 26, and a sign."""
SLICE = 2.0**23
"""A slice holds 23 bits: 128 products of two of them add up to less than 2⁵³, exactly."""
SLICES = 4
"""Slices of a cell: 92 bits, and what is beyond them is GRAM_ERROR."""
MOST_ROWS = 32
"""Rows whose products are added up exactly: SLICES times as many are 128 products."""
GRAM_ERROR = 2.0**-82
"""What `gram` leaves out of Σ xᵢxⱼ, relative to √(Σxᵢ² Σxⱼ²).

Each column is cut in units of a power of two s that is at most twice its largest entry, s² ≤ 4 Σx².
Beyond four slices 2⁻⁹² s is left of an entry, and 2·32 such products 2⁻⁸⁶ s²; of the products of
slices 32·(3 + 2 + 1) of at most 2⁻⁹² s², 2⁻⁸⁴ s² in all."""


SHORT_SUM = 8
"""NumPy adds up fewer numbers than these one after another, and more by halves."""

_operations = 0
"""How many there were in this process."""


def compiled_twin() -> ModuleType | None:
    """Return `double_double_numba` if there is enough to do for it, else None; count one more."""
    global _operations  # noqa: PLW0603  a count that is lost between two threads does no harm
    if not _enough():
        _operations += 1
        return None
    return import_module("suffice.kernels.dense.double_double_numba")


def worth_a_twin() -> bool:
    """Return whether merges are compiled: in a stream that is long, or in a fit of many rows."""
    return worth_compiling(0) or _enough()


def _enough() -> bool:
    if _operations < WORTH_COMPILING or not numba_is_here():
        return False
    return _operations >= WORTH_A_PAUSE * WORTH_COMPILING or ready()


def quick_two_sum(a: Any, b: Any) -> Pair:
    """Return a + b exactly, as hi and lo, if |a| ≥ |b| (Dekker)."""
    s = a + b
    return s, b - (s - a)


def two_product(a: Any, b: Any) -> Pair:
    """Return a·b exactly, as hi and lo (Dekker)."""
    p = a * b
    t = SPLITTER * a
    a1 = t - (t - a)
    a2 = a - a1
    t = SPLITTER * b
    b1 = t - (t - b)
    b2 = b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def plus(a: Pair, b: Pair) -> Pair:
    """Return a + b within 3u²(|a| + |b|)."""
    s, e = two_sum(a[0], b[0])
    return quick_two_sum(s, e + (a[1] + b[1]))


def minus(a: Pair, b: Pair) -> Pair:
    """Return a - b within 3u²|a - b|: for differences of what is nearly the same."""
    s, e = two_sum(a[0], -b[0])
    t, f = two_sum(a[1], -b[1])
    s, e = quick_two_sum(s, e + t)
    return quick_two_sum(s, e + f)


def times(a: Pair, b: Pair) -> Pair:
    """Return a·b within 7u²|ab|."""
    p, e = two_product(a[0], b[0])
    return quick_two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


def over(a: Pair, b: Pair) -> Pair:
    """Return a/b within 10u²|a/b|."""
    q = a[0] / b[0]
    p, e = two_product(q, b[0])
    rest = ((a[0] - p) - e) + (a[1] - q * b[1])
    return quick_two_sum(q, rest / b[0])


def root(a: Pair) -> Pair:
    """Return √a within 4u²√a; the root of nothing is nothing."""
    r = np.sqrt(a[0])
    p, e = two_product(r, r)
    rest = ((a[0] - p) - e) + a[1]
    return quick_two_sum(r, rest / np.where(r > 0.0, 2.0 * r, 1.0))


def squared(a: Pair) -> Pair:
    """Return a² within 7u²a²."""
    p, e = two_product(a[0], a[0])
    return quick_two_sum(p, e + 2.0 * (a[0] * a[1]))


def outer_square(a: Pair) -> Pair:
    """Return aaᵀ (d, d) of a vector, each entry within 7u²|aᵢaⱼ|; exactly symmetric, both parts."""
    high, low = a
    t = SPLITTER * high
    top = t - (t - high)
    rest = high - top
    product = np.multiply.outer(high, high)
    error = np.multiply.outer(top, top)
    error -= product
    cross = np.multiply.outer(top, rest)
    # Every sum here is exact (Dekker), so that it does not matter which of the two comes first.
    error += cross
    error += cross.T
    error += np.multiply.outer(rest, rest)
    np.multiply.outer(high, low, out=cross)
    error += cross + cross.T
    return product, error


def gram(rows: Pair) -> Pair:
    """Return Σ xxᵀ (d, d) over at most 32 rows (n, d), within GRAM_ERROR; exactly symmetric.

    Columns are cut into slices of 23 bits, whose products BLAS adds up without any rounding, in
    whatever order it likes (Ozaki).
    """
    high, low = rows
    exponent = np.frexp(np.abs(high).max(axis=0, initial=0.0))[1]
    rest, low = np.ldexp(high, -exponent), np.ldexp(low, -exponent)
    slices = []
    for place in range(SLICES):
        if place == 2:  # what is left of the upper part is no larger than 2⁻⁴⁷: it has room
            rest = rest + low
        unit = SLICE ** (place + 1)
        whole = np.rint(rest * unit)
        slices.append(whole)
        rest = rest - whole / unit
    levels = []
    for level in range(SLICES):
        ours, theirs = slices[0], slices[0]
        if level:
            ours = np.concatenate(slices[: level + 1])
            theirs = np.concatenate(slices[level::-1])
        levels.append((ours.T @ theirs) / SLICE ** (level + 2))
    # The last two are so small that plain doubles are enough to add them.
    top, error = two_sum(levels[0], levels[1])
    total = two_sum(top, error + (levels[2] + levels[3]))
    back = exponent[:, np.newaxis] + exponent
    return np.ldexp(total[0], back), np.ldexp(total[1], back)


def column_sums(rows: Pair) -> Pair:
    """Return the sums (d,) of rows (n, d), within 3u² log₂(2n) Σ|x|: halves are added to halves."""
    high, low = rows
    while len(high) > 1:
        half = len(high) // 2
        odd = high[2 * half :], low[2 * half :]
        high, low = plus((high[:half], low[:half]), (high[half : 2 * half], low[half : 2 * half]))
        high, low = np.concatenate([high, odd[0]]), np.concatenate([low, odd[1]])
    return high[0], low[0]
