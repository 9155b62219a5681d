"""Expectation-maximization over hidden classes: it never falls, and knows when it is there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from suffice.models.gaussian.missing.acceleration import Acceleration
from suffice.models.latent.coordinates import StatisticsCoordinates
from suffice.models.latent.sums import LatentExpectation
from suffice.statistics import ByClass

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.latent.maximization import HiddenClasses
    from suffice.models.latent.rows import LatentRows
    from suffice.models.latent.sums import LatentSums
    from suffice.models.naive_bayes.learner import NaiveBayesFit
    from suffice.models.naive_bayes.product import Product

ROUNDING = 1e-12
"""By how much, relatively, a sum of log probabilities may fall by rounding alone."""
EAGER = 1e-4
"""Gain of a step, per row, below which steps are accelerated: before, where EM goes still changes
from step to step, and a leap may lead to another, lower maximum. As for normal mixtures."""
SHAKEN = 0.02
"""Share of all rows that is mixed into every class to see whether EM has ended on a saddle, from
which a level that a class has all but lost leads higher. A choice."""
NOISE = 0.1
"""By how much, relatively, weights are changed at random then: classes that are alike must part."""
SHAKEN_STEPS = 40
"""Plain steps after which what was shaken has to be higher. A choice: saddles where it took R's and
StepMix's tolerances of 1e-13 a hundred steps to leave were left after twenty."""
MOST_SHAKES = 3
"""How often EM may leave where it has ended. A choice."""
LEAST_WEIGHT = 1e-100
"""Weight, in rows, below which a class is lost. One that nothing speaks for, under a prior, shrinks
to nearly nothing and is kept; far below, there is nothing to estimate its laws from."""


class CollectsRows(Protocol):
    """Rows, wherever they are: what some come to adds up."""

    def collect(self, summarize: Callable[[LatentRows], LatentSums]) -> LatentSums:
        """Return what all rows come to."""
        ...


@dataclass(frozen=True, eq=False)
class LatentClimb:
    """Where EM has come to.

    fit         the model, and the statistics that it was estimated from
    sums        what rows come to under it
    history     what was maximised at every step: the log-likelihood, and the log prior if there is
    converged   whether it is the top
    sound       False where a class has lost all its rows
    """

    fit: NaiveBayesFit
    held: ByClass[Any]
    sums: LatentSums
    history: tuple[float, ...]
    converged: bool
    sound: bool = True

    @property
    def objective(self) -> float:
        """What was maximised."""
        return self.history[-1]


def climb(
    rows: CollectsRows,
    hidden: HiddenClasses,
    start: ByClass[Any],
    *,
    tolerance: float,
    most_steps: int,
    eager: float = EAGER,
) -> LatentClimb:
    """Return the maximum that EM leads to from the statistics of some classes.

    Every step is one pass over the rows. A leap that acceleration proposes is taken if it is no
    worse than the point before it; if it is, the plain step is taken, which never is. It ends when
    Aitken's estimate of what is still to be gained is below `tolerance` a row, twice running.
    """

    def judged(held: ByClass[Any]) -> tuple[NaiveBayesFit, LatentSums, float]:
        fit = hidden.fit(held)
        sums = rows.collect(LatentExpectation(fit.model))
        return fit, sums, sums.likelihood + hidden.log_prior(fit)

    here = start
    fit = hidden.fit(start)
    sums = rows.collect(LatentExpectation(fit.model))
    hidden = hidden.knowing(sums.statistics)
    level = sums.likelihood + hidden.log_prior(fit)
    weight = sums.statistics.weight
    alone = len(start.labels) == 1
    history, near, gain = [level], 0, np.inf
    coordinates = StatisticsCoordinates(sums.statistics, hidden.product)
    made_up = False
    aid = Acceleration()
    converged = False
    while len(history) < most_steps:
        image = sums.statistics
        if not is_sound(image, start.labels):
            return LatentClimb(fit, here, sums, tuple(history), converged=False, sound=False)
        following = image
        if gain < eager * weight and not alone:
            following = _leap(aid, coordinates, here, image)
        found, there, reached = judged(following)
        if following is not image and not reached >= level:
            aid.forget()
            following = image
            found, there, reached = judged(image)
        before, gain = gain, reached - level
        made_up = following is not image
        here, fit, sums, level = following, found, there, reached
        history.append(level)
        rate = gain / before if 0.0 < before < np.inf else 1.0
        still = abs(gain) <= ROUNDING * abs(level)
        left = gain * rate / (1.0 - rate) if 0.0 < rate < 1.0 else np.inf
        near = near + 1 if still or left < tolerance * weight else 0
        if near >= 2:
            converged = True
            break
    sound = is_sound(sums.statistics, start.labels)
    if made_up and sound:  # what is kept is what rows come to
        here = sums.statistics
        fit, sums, level = judged(here)
        history.append(level)
        sound = is_sound(sums.statistics, start.labels)
    return LatentClimb(fit, here, sums, tuple(history), converged, sound)


def summit(
    rows: CollectsRows,
    hidden: HiddenClasses,
    top: LatentClimb,
    *,
    tolerance: float,
    most_steps: int,
) -> LatentClimb:
    """Return where EM has ended, or what is higher if it leaves there when shaken: no saddle.

    What is found is never lower than where EM had ended before, and its history does not fall.
    """

    def higher(begin: ByClass[Any], steps: int, eager: float = EAGER) -> LatentClimb:
        left = max(1, min(steps, most_steps - len(top.history)))
        return climb(rows, hidden, begin, tolerance=tolerance, most_steps=left, eager=eager)

    room = max(tolerance * top.sums.statistics.weight, ROUNDING * abs(top.objective))
    for _ in range(MOST_SHAKES):
        if not (top.converged and top.sound) or len(top.held.labels) == 1:
            break
        again = higher(_shaken(top.sums.statistics, hidden.product), SHAKEN_STEPS, 0.0)
        if not again.sound or again.objective <= top.objective + max(room, tolerance):
            break
        end = higher(again.held, most_steps)
        if not end.sound:
            break
        risen = tuple(one for one in again.history[:-1] if one > top.objective)
        history = (*top.history, *risen, *end.history)
        top = LatentClimb(end.fit, end.held, end.sums, history, end.converged)
    return top


def _shaken(statistics: ByClass[Any], product: Product) -> ByClass[Any]:
    """Return the statistics of classes with a little of all rows in each, and a little noise."""
    rng = np.random.default_rng(0)
    whole = reduce(add, statistics.groups.values())
    groups = {}
    for label, own in statistics.groups.items():
        factor = SHAKEN * own.weight / whole.weight
        groups[label] = own.scaled(1.0 - SHAKEN) + whole.scaled(factor)
    mixed = ByClass(groups)
    coordinates = StatisticsCoordinates(mixed, product)
    flat = coordinates.coded(mixed)
    return coordinates.decoded(flat * np.exp(NOISE * rng.standard_normal(len(flat))), mixed)


def is_sound(statistics: ByClass[Any], labels: tuple[object, ...]) -> bool:
    """Whether every class still has rows."""
    groups = statistics.groups
    return all(label in groups and groups[label].weight > LEAST_WEIGHT for label in labels)


def _leap(
    aid: Acceleration, coordinates: StatisticsCoordinates, here: ByClass[Any], image: ByClass[Any]
) -> ByClass[Any]:
    """Return where the last steps lead to; the plain step in doubt."""
    before, after = coordinates.coded(here), coordinates.coded(image)
    if before.shape != after.shape:  # levels that the start had not seen
        aid.forget()
        return image
    try:
        flat = aid.following(before, after)
    except np.linalg.LinAlgError:
        aid.forget()
        return image
    if flat is after or not np.isfinite(flat).all():
        return image
    return coordinates.decoded(flat, image)
