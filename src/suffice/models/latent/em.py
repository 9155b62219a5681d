"""Expectation-maximization over hidden classes: it never falls, and knows when it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from suffice.models.gaussian.missing.acceleration import Acceleration
from suffice.models.latent.coordinates import StatisticsCoordinates
from suffice.models.latent.sums import LatentExpectation

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.latent.maximization import HiddenClasses
    from suffice.models.latent.rows import LatentRows
    from suffice.models.latent.sums import LatentSums
    from suffice.models.naive_bayes.learner import NaiveBayesFit
    from suffice.statistics import ByClass

ROUNDING = 1e-12
"""By how much, relatively, a sum of log probabilities may fall by rounding alone."""
EAGER = 1e-4
"""Gain of a step, per row, below which steps are accelerated: before, where EM goes still changes
from step to step, and a leap may lead to another, lower maximum. As for normal mixtures."""
LEAST_WEIGHT = 1e-6
"""Weight, in rows, below which a class is lost: it holds less than a millionth of a row."""


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
    fit, sums, level = judged(here)
    weight = sums.statistics.weight
    alone = len(start.labels) == 1
    history, near, gain = [level], 0, np.inf
    coordinates = StatisticsCoordinates(start)
    aid = Acceleration()
    converged = False
    while len(history) < most_steps:
        image = sums.statistics
        if not is_sound(image, start.labels):
            return LatentClimb(fit, here, sums, tuple(history), converged=False, sound=False)
        following = image
        if gain < EAGER * weight and not alone:
            following = _leap(aid, coordinates, here, image)
        found, there, reached = judged(following)
        if following is not image and not reached >= level:
            aid.forget()
            following = image
            found, there, reached = judged(image)
        before, gain = gain, reached - level
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
    return LatentClimb(fit, here, sums, tuple(history), converged, sound)


def is_sound(statistics: ByClass[Any], labels: tuple[Any, ...]) -> bool:
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
