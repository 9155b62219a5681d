"""Laws on an interval or on whole numbers, with a given mean and variance.

Cutting a normal law off where a column ends moves its mean: that of an amount with mean 1,000 and
standard deviation 7,000, never negative, would become 5,600. Among all laws on the points that are
possible, the one of largest entropy with a given mean and variance is ∝ exp(αz + βz²). It is a
normal law cut off, with parameters that give the moments back; it falls like an exponential, or
rises towards both ends, where no normal law has such moments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.columns.shown import ColumnShown
    from suffice.rows import FloatArray

POINTS = 256
"""Points of a grid: whole numbers if they are as few, else cells of equal width."""
REACH = 6.0
"""Standard deviations on either side of the mean that a grid covers, if the bounds allow."""
MARGIN = 0.02
"""How far the variance stays from the least and the largest possible one, as a share of both."""
STEPS = 60
"""Newton's steps; ten do for laws that are nearly normal."""
HALVINGS = 30
"""How often a step is halved until it helps; one that never does is the last."""
RIDGE = 1e-6
"""What holds α and β where two points leave only one of them free."""
ROOM = 0.25
"""By how much more are not 0 than the variance needs."""
MOST_ZEROS = 0.9999
"""The largest share of zeros."""
ENOUGH = 1e-9
"""How near moments have to come, in standard deviations."""


@dataclass(frozen=True, slots=True)
class BoundedLaws:
    """Laws of m columns, each on its own grid.

    starts   the first point, or the lower end of the first cell (m,)
    steps    from one point to the next, or the width of a cell (m,)
    edges    the distribution function after each point (m, POINTS)
    smooth   whether points are cells, and values lie within them (m,)
    zeros    the share of zeros, which come by themselves (m,)

    >>> laws = BoundedLaws.of(np.array([0.3]), np.array([0.6]), np.zeros(1), np.full(1, 4.0),
    ...                       np.ones(1))
    >>> laws.at(0, np.array([0.1, 0.7, 0.8, 0.99]))
    array([0., 0., 1., 2.])
    """

    starts: FloatArray
    steps: FloatArray
    edges: FloatArray
    smooth: NDArray[np.bool_]
    zeros: FloatArray

    @classmethod
    def of_columns(
        cls, means: FloatArray, deviations: FloatArray, shown: Sequence[ColumnShown]
    ) -> Self:
        """Return the laws of columns that have shown this, with means and deviations of a class.

        Where an amount is often 0, zeros come by themselves; a class of half the mean has half the
        odds that it is not 0.
        """
        lows = np.array([one.low for one in shown])
        highs = np.array([one.high for one in shown])
        units = np.array([one.unit for one in shown])
        share = np.array([one.share_of_zeros for one in shown])
        usual = np.array([one.mean for one in shown])
        there = (share > 0.0) & (means > 0.0) & (usual > 0.0)
        odds = (1.0 - share) * np.where(there, means, 1.0) / np.where(there, usual, 1.0)
        zeros = np.where(there, share / np.where(there, share + odds, 1.0), 0.0)
        # What is not 0 must be able to vary: m²/(m² + σ²) of the numbers at least are not 0.
        second = np.square(means) + np.square(deviations)
        least = (1.0 + ROOM) * np.square(means) / np.where(second > 0.0, second, 1.0)
        least = np.maximum(least, np.where(there, means / _safe(highs), 1.0))
        zeros = np.clip(zeros, 0.0, np.clip(1.0 - least, 0.0, MOST_ZEROS))
        kept = 1.0 - zeros
        inner = np.where(there, means / kept, means)
        squares = second / kept - np.square(inner)
        inner_deviations = np.sqrt(np.maximum(squares, 0.0))
        found = cls.of(inner, inner_deviations, np.where(there, units, lows), highs, units)
        return replace(found, zeros=zeros)

    @classmethod
    def of(
        cls,
        means: FloatArray,
        deviations: FloatArray,
        lows: FloatArray,
        highs: FloatArray,
        units: FloatArray,
    ) -> Self:
        """Return laws with these means and standard deviations between bounds, all (m,).

        `units` are from one possible number to the next, 0 where all are possible. Where no law on
        these points has such a variance, the nearest one that some law has is taken; means outside
        of the bounds become the nearest bound.
        """
        means = np.clip(means, lows, highs)
        scale = np.where(deviations > 0.0, deviations, 1.0)
        below, above = (means - lows) / scale, (highs - means) / scale
        # A law with its mean near one bound needs room on the other side for its variance.
        with np.errstate(divide="ignore", over="ignore"):
            left = np.minimum(below, np.maximum(REACH, 2.0 / above))
            right = np.minimum(above, np.maximum(REACH, 2.0 / below))
        span = highs - lows
        whole = (units > 0.0) & (span <= units * (POINTS - 1) * 2.0**40)
        ends = np.minimum(means + right * scale, highs)
        first = np.floor((means - left * scale - lows) / _safe(units) + 1e-9)
        last = np.ceil((ends - lows) / _safe(units) - 1e-9)
        first = np.maximum(first, 0.0)
        counted = whole & (last - first < POINTS)
        width = (left + right) * scale / POINTS
        steps = np.where(counted, units, width)
        starts = np.where(counted, lows + first * units, means - left * scale)
        counts = np.where(counted, last - first + 1.0, float(POINTS))
        places = np.arange(POINTS) + np.where(counted, 0.0, 0.5)[:, np.newaxis]
        points = starts[:, np.newaxis] + places * steps[:, np.newaxis]
        z = (points - means[:, np.newaxis]) / scale[:, np.newaxis]
        there = np.arange(POINTS) < counts[:, np.newaxis]
        still = (deviations <= 0.0) | (below <= 0.0) | (above <= 0.0) | (steps <= 0.0)
        shares = np.zeros(z.shape)
        moving = np.flatnonzero(~still)
        if len(moving):
            shares[moving] = _largest_entropy(z[moving], there[moving])
        # What does not vary is one number, wherever its grid begins.
        shares[still, 0] = 1.0
        return cls(
            np.where(still, means, starts),
            np.where(still, 0.0, steps),
            np.cumsum(shares, axis=1),
            ~counted & ~still,
            np.zeros(len(means)),
        )

    def at(self, column: int, shares: FloatArray) -> FloatArray:
        """Return the numbers of one column below which the law has these shares (n,)."""
        edges, zeros = self.edges[column], self.zeros[column]
        wanted = np.clip((shares - zeros) / (1.0 - zeros), 0.0, 1.0) * edges[-1]
        places = np.minimum(np.searchsorted(edges, wanted, side="left"), POINTS - 1)
        inside = np.zeros(len(places))
        if self.smooth[column]:
            before = np.where(places > 0, edges[places - 1], 0.0)
            inside = np.clip(
                (wanted - before) / np.maximum(edges[places] - before, 1e-300), 0.0, 1.0
            )
        found = self.starts[column] + (places + inside) * self.steps[column]
        return np.where(shares < zeros, 0.0, found)


def _safe(units: FloatArray) -> FloatArray:
    return np.where(units > 0.0, units, 1.0)


def _largest_entropy(z: FloatArray, there: NDArray[np.bool_]) -> FloatArray:
    """Return shares ∝ exp(αz + βz²) of points (m, POINTS) with mean 0 and variance 1 or nearly.

    What is minimized, log Σ exp(αz + βz²) - βv, is convex: Newton's steps, halved until they help.
    """
    far = np.where(there, z, 0.0)
    low = far.min(axis=1)
    high = far.max(axis=1)
    largest = -low * high
    up = np.where(there & (z >= 0.0), z, np.inf).min(axis=1)
    down = np.where(there & (z <= 0.0), z, -np.inf).max(axis=1)
    least = np.where(np.isfinite(up) & np.isfinite(down), -up * down, 0.0)
    room = MARGIN * (largest - least)
    # Near the least variance a law has the two points beside its mean: room is in their distance.
    apart = np.square(z[:, 1] - z[:, 0])
    wanted = np.clip(1.0, least + np.minimum(room, MARGIN * apart), largest - room)
    squares = np.where(there, np.square(z), 0.0)
    blocked = np.where(there, 0.0, -np.inf)
    slope, bend = np.zeros(len(z)), np.full(len(z), -0.5)
    left = np.arange(len(z))
    for _ in range(STEPS):
        held = _Step(far[left], squares[left], blocked[left], wanted[left])
        slope[left], bend[left], moves = held.taken(slope[left], bend[left])
        left = left[moves]
        if not len(left):
            break
    return _Step(far, squares, blocked, wanted).law(slope, bend)[0]


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of Newton's for several columns at once.

    far, squares   z and z² of the points; 0 where there is none
    blocked        -∞ where there is none, else 0
    wanted         the variances
    """

    far: FloatArray
    squares: FloatArray
    blocked: FloatArray
    wanted: FloatArray

    def law(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the shares of the points, and what is minimized."""
        logs = a[:, np.newaxis] * self.far + b[:, np.newaxis] * self.squares + self.blocked
        top = logs.max(axis=1)
        shares = np.exp(logs - top[:, np.newaxis])
        total = shares.sum(axis=1)
        ridge = RIDGE / 2.0 * np.square(b + 0.5)
        return shares / total[:, np.newaxis], top + np.log(total) - b * self.wanted + ridge

    def taken(
        self, a: FloatArray, b: FloatArray
    ) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """Return where the step leads, and which columns are not there yet."""
        shares, value = self.law(a, b)
        mean = (shares * self.far).sum(axis=1)
        second = (shares * self.squares).sum(axis=1)
        first_gap, second_gap = mean, second - self.wanted + RIDGE * (b + 0.5)
        off, bent = self.far - mean[:, np.newaxis], self.squares - second[:, np.newaxis]
        vv = (shares * np.square(off)).sum(axis=1) + 1e-12
        vb = (shares * off * bent).sum(axis=1)
        bb = (shares * np.square(bent)).sum(axis=1) + RIDGE
        det = np.maximum(vv * bb - np.square(vb), 1e-12 * vv * bb)
        down = (bb * first_gap - vb * second_gap) / det
        turn = (vv * second_gap - vb * first_gap) / det
        size = np.ones(len(a))
        for _ in range(HALVINGS):
            worse = ~(self.law(a - size * down, b - size * turn)[1] <= value)
            if not worse.any():
                break
            size = np.where(worse, size / 2.0, size)
        size = np.where(worse, 0.0, size)
        near = np.maximum(np.abs(first_gap), np.abs(second_gap)) < ENOUGH
        return a - size * down, b - size * turn, ~near & (size > 0.0)
