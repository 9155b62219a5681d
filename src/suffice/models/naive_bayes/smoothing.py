"""Laplace's rule: what a count says about a probability, also when it is zero."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting
from suffice.statistics.algebra import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.rows import FloatArray, IntArray

HELD_OUT = "held-out"
LEFT_OUT = "left-out"
LEAST_ALPHA, MOST_ALPHA = 1e-8, 1e4
"""The smoothings α that are compared: from one that hardly differs from none to one that makes all
but the largest counts alike. A choice, twelve powers of ten."""
LARGEST = 1e100
"""Smoothing above this makes all classes alike, and sums of it too large."""
FIRST_POINTS, MORE_POINTS = 49, 25
"""Points of the first grid, four in each power of ten, and of the finer ones, each twelve times as
fine: log α is known to 0.58, 0.048 and 0.004, which is below `FINE`."""
FINE = 0.01
"""Spacing of the last grid of log α."""
TIES = 1e-12
"""Relative difference of log-likelihoods that only rounding can have made."""


@dataclass(frozen=True, slots=True, eq=False)
class LogShares:
    """Log probabilities of events, and how often each is impossible where nothing is smoothed.

    Without smoothing an event never seen has probability α/N with α → 0: its `orders` say to
    which power α appears, its `logs` what stands beside it. Comparing orders first and logs
    second gives the limit of the posterior, and never a NaN. `orders` is None if all are 0.
    """

    logs: FloatArray
    orders: FloatArray | None


def log_shares(
    events: FloatArray, totals: FloatArray, alpha: float, choices: FloatArray | float
) -> LogShares:
    """Return log (N_e + α)/(N + αK), or its limit for α = 0.

    `events` are weights of events, `totals` those of all events they compete with and
    `choices` (K) how many these are; arrays broadcast.
    """
    if alpha > 0.0:
        return LogShares(np.log(events + alpha) - np.log(totals + alpha * choices), None)
    nothing = np.broadcast_to(totals <= 0.0, events.shape)
    never = (events <= 0.0) & ~nothing
    held = np.where(nothing, 1.0, totals)
    logs = np.log(np.where(events > 0.0, events, 1.0)) - np.log(held)
    logs = np.where(nothing, -np.log(choices), logs)
    return LogShares(logs, never.astype(np.float64) if never.any() else None)


def checked_smoothing(smoothing: object) -> float | str:
    """Return a smoothing that has a meaning, or refuse it."""
    if isinstance(smoothing, str) and smoothing == HELD_OUT:
        return smoothing
    number = isinstance(smoothing, Real) and not isinstance(smoothing, bool)
    if not number or not 0.0 <= float(smoothing) <= LARGEST:  # type: ignore[arg-type]
        raise BadSetting(
            f"smoothing={smoothing!r} is not valid",
            hint='use a number from 0 to 1e100 (1 is Laplace\'s rule), or "held-out"',
        )
    return float(smoothing)  # type: ignore[arg-type]


def best_smoothing(log_likelihood: Callable[[float], float]) -> float:
    """Return the α of the largest held-out log-likelihood, by finer and finer grids of log α.

    The grids are fixed and a parabola has the last word, so that statistics that differ by
    rounding, merged in another order, give the same α to many digits. Of several that are as
    good, but for rounding, the nearest to 1 is taken.
    """
    low, high, points = np.log(LEAST_ALPHA), np.log(MOST_ALPHA), FIRST_POINTS
    while True:
        grid = np.linspace(low, high, points)
        values = np.array([log_likelihood(float(np.exp(x))) for x in grid])
        if not np.isfinite(values).any():
            return 1.0
        ties = np.flatnonzero(values >= values.max() - TIES * abs(values.max()))
        if len(ties) == points:
            return 1.0  # nothing was held out: Laplace's rule is as good as any
        top = int(ties[np.argmin(np.abs(grid[ties]))])
        step = float(grid[1] - grid[0])
        if top in (0, points - 1):
            return float(np.exp(grid[top]))
        if step < FINE:
            break
        low, high, points = grid[top - 1], grid[top + 1], MORE_POINTS
    left, middle, right = values[top - 1 : top + 2]
    curvature = (middle - left) + (middle - right)
    shift = (right - left) / (2.0 * curvature) if curvature > 0.0 else 0.0
    return float(np.exp(grid[top] + step * shift))


def left_out_shares(
    events: FloatArray, starts: IntArray, choices: FloatArray
) -> Callable[[float], float]:
    """Return the leave-one-out log-likelihood of tallies as a function of α.

    Where a row holds one event of each column, leaving it out takes one from the event and one
    from the column: Σ N_ce log[(N_ce - 1 + α)/(N_c - 1 + αK)] needs the counts alone, and rows
    that say the same are still left out one at a time. `events` is (classes, events); `starts`
    tells where the events of each column begin, `choices` how many compete in each.
    """
    totals = np.add.reduceat(events, starts, axis=1)
    there, some = events > 0.0, totals > 0.0
    weights, masses = events[there], totals[some]
    # Of a weight below one there is no whole row to take away: all of it goes.
    counts, sizes = (_without_dust(part - 1.0, part) for part in (weights, masses))
    many = np.broadcast_to(choices, totals.shape)[some]

    def log_likelihood(alpha: float) -> float:
        return float(weights @ np.log(counts + alpha) - masses @ np.log(sizes + alpha * many))

    return log_likelihood


def held_out_shares(
    folds: FloatArray,
) -> Callable[[float], float]:
    """Return the held-out log-likelihood of counts of words as a function of α.

    `folds` is (folds, classes, words). What a fold holds is judged by the counts of the others:
    Σ N_fcj log[(N_cj - N_fcj + α)/(N_c - N_fc + αd)]. Words of one row come together, so leaving
    out one word at a time would make α too small.
    """
    whole = folds.sum(axis=0)
    rest = _without_dust(whole - folds, whole)
    there = folds > 0.0
    weights, counts = folds[there], rest[there]
    masses, sizes = folds.sum(axis=2), rest.sum(axis=2)
    many = float(folds.shape[2])

    def log_likelihood(alpha: float) -> float:
        found = weights @ np.log(counts + alpha) - np.sum(masses * np.log(sizes + alpha * many))
        return float(found)

    return log_likelihood


def _without_dust(left: FloatArray, held: FloatArray) -> FloatArray:
    """Return differences of weights, zero where only rounding can have left something."""
    found: FloatArray = np.where(left > ROUNDING * held, left, 0.0)
    return found
