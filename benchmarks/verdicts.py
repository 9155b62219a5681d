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
    from collections.abc import Callable, Mapping, Sequence

LIMIT = 1.03
"""How much slower something may become. Chosen, not measured: a loss that is not worth a word.
Where a machine is too busy to tell 3 %, cases stay undecided, and the intervals say so."""
DRIFT = 1.10
"""How much a ratio may differ from one that was stored on another day. Chosen: what else
a machine does shifts ratios of CPU times by some percent, and several days of it are not noise that
an interval knows of."""
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


@dataclass(frozen=True)
class Verdict:
    """What came of a case: all that was measured, what was compared, and the decision."""

    measured: Measured
    seen: Interval
    decision: str

    def __str__(self) -> str:
        return f"{self.seen}  {self.measured.rounds:2} rounds  {self.decision}"


def settled(
    names: Sequence[str],
    ratios: Callable[[list[str]], Mapping[str, float]],
    judged: Callable[[str, Measured], Interval] = lambda _, measured: measured.interval(),
    steps: Sequence[int] = STEPS,
    limit: float = LIMIT,
) -> dict[str, Verdict]:
    """Measure cases round by round until each is decided, or as often as there may be.

    Parameters
    ----------
    names : sequence of str
        The cases.
    ratios : callable
        Measures once: the ratio of each case that it is asked about.
    judged : callable, optional
        Turns what is measured into the interval that is compared with the limit: its own, or
        that against an earlier measurement.
    steps : sequence of int, optional
        After how many rounds one looks; cases that are decided then are not measured any more.
    limit : float, optional
        The ratio above which a case is slower.

    """
    found: dict[str, list[float]] = {name: [] for name in names}
    verdicts: dict[str, Verdict] = {}
    open_ = list(names)
    done = 0
    for size in steps:
        for _ in range(size - done if open_ else 0):
            for name, ratio in ratios(open_).items():
                found[name].append(ratio)
        done = size
        for name in open_:
            measured = Measured.of(found[name])
            seen = judged(name, measured)
            verdicts[name] = Verdict(measured, seen, verdict(seen, measured.rounds, limit))
        open_ = [name for name in open_ if verdicts[name].decision == "undecided"]
    return verdicts
