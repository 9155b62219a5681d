"""Whether a ratio of times is above a limit, or only seems to be.

Ratios multiply, so everything is done with their logarithms: the geometric mean, Student's interval
for it, and Welch's for the quotient of two means that were measured apart.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LIMIT = 1.03
"""How much slower something may become: with 15 rounds the same code twice stays within 2 %, so
this is seen, and a change in the order of the links of a library is not."""
STEPS = (5, 15, 25)
"""After how many rounds one looks. Most cases are plainly not slower after five."""
SURE = 15
"""Rounds without which nothing is called slower. The spread of five ratios is itself known to a
factor of two only, and with a dozen cases one of them is bound to look too good."""


@dataclass(frozen=True)
class Interval:
    """The geometric mean of ratios, and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:6.3f}  [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Measured:
    """The logarithms of so many ratios: their mean and their standard deviation.

    >>> Measured.of([0.5, 2.0]).mean
    0.0
    """

    rounds: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, ratios: Sequence[float]) -> Measured:
        """Return what is kept of some ratios, at least two."""
        logs = [math.log(ratio) for ratio in ratios]
        return cls(len(logs), statistics.fmean(logs), statistics.stdev(logs))

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / math.sqrt(self.rounds)

    def interval(self) -> Interval:
        """Return the geometric mean with Student's interval."""
        return _around(self.mean, self.error, self.rounds - 1)

    def against(self, before: Measured) -> Interval:
        """Return the quotient of two means that were measured apart, with Welch's interval."""
        error = math.hypot(self.error, before.error)
        freedom = float(self.rounds + before.rounds - 2)
        if error > 0.0:
            parts = self.error**4 / (self.rounds - 1) + before.error**4 / (before.rounds - 1)
            freedom = error**4 / parts
        return _around(self.mean - before.mean, error, freedom)


def _around(mean: float, error: float, freedom: float) -> Interval:
    from scipy.stats import t

    half = float(t.ppf(0.975, freedom)) * error
    return Interval(math.exp(mean), math.exp(mean - half), math.exp(mean + half))


def verdict(found: Interval, rounds: int, limit: float = LIMIT) -> str:
    """Return "fine", "slower", or "undecided" where more rounds may tell.

    Slower is only what is so beyond noise: the whole interval is above the limit, and it comes from
    enough rounds.
    """
    if found.high <= limit:
        return "fine"
    if found.low > limit and rounds >= SURE:
        return "slower"
    return "undecided"


def settled(
    ratio: Callable[[], float],
    judged: Callable[[Measured], Interval] = Measured.interval,
    steps: Sequence[int] = STEPS,
    limit: float = LIMIT,
) -> tuple[Measured, Interval, str]:
    """Measure ratios until the verdict is clear, or as many as there may be.

    Parameters
    ----------
    ratio : callable
        Measures once.
    judged : callable, optional
        Turns what is measured into the interval that is compared with the limit: its own, or
        that against an earlier measurement.
    steps : sequence of int, optional
        After how many rounds one looks.
    limit : float, optional
        What the ratio may be.

    """
    for found in _growing(ratio, steps):
        measured = Measured.of(found)
        seen = judged(measured)
        decision = verdict(seen, len(found), limit)
        if decision != "undecided":
            break
    return measured, seen, decision


def _growing(ratio: Callable[[], float], steps: Sequence[int]) -> Iterator[list[float]]:
    ratios: list[float] = []
    for size in steps:
        ratios += [ratio() for _ in range(size - len(ratios))]
        yield ratios
