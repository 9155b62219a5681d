"""Expectation-maximization that never loses likelihood, and knows when it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.gaussian.missing.acceleration import Acceleration
from suffice.models.mixture.sums import Components, Expectation

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.mixture.coordinates import Coordinates, MixtureRows, RemoteRows
    from suffice.models.mixture.maximization import Maximization
    from suffice.models.mixture.sums import MixtureSums
    from suffice.rows import FloatArray

ROUNDING = 1e-12
"""By how much, relatively, a sum of log densities may fall by rounding alone."""
COARSE = 1e-8
"""The same where columns are sums of others: a variance that stands in for none has six digits."""
EAGER = 1e-4
"""Gain of a step, per row, below which steps are accelerated. Before that, where EM goes changes
from step to step: at 1e-3, leaps led to another, lower maximum in 2 of the searches in which R's
mclust is compared; at this, in none."""
SUDDEN = 1e-3
"""What a step gains, as a share of the one before, below which one estimate is enough: components
are far apart, and a pass over all rows is saved. A choice."""


@dataclass(frozen=True, eq=False)
class Climb:
    """Where EM has come to: components, their objective at every step, and whether it is the top.

    `objective` is the log-likelihood, and the log prior where there is one; `likelihood` the
    former alone. `sound` is False where a component has collapsed: the last sound ones are given.
    """

    components: Components
    likelihood: float
    history: tuple[float, ...]
    converged: bool
    sound: bool = True

    @property
    def objective(self) -> float:
        """What was maximised."""
        return self.history[-1]

    @property
    def steps(self) -> int:
        """How many steps it took."""
        return len(self.history)


def climb(
    rows: MixtureRows | RemoteRows,
    coordinates: Coordinates,
    maximization: Maximization,
    start: Components,
    *,
    tolerance: float,
    most_steps: int,
    watch: Callable[[Climb], None] | None = None,
) -> Climb:
    """Return the maximum of the likelihood that EM leads to.

    Every step is a pass over the rows. A leap that acceleration proposes is taken if it is no
    worse than the point before it; if it is, the plain step is taken, which never is. It ends when
    Aitken's estimate of what is still to be gained is below `tolerance` a row, twice running, or
    once where a plain step has gained less than `SUDDEN` of the one before.
    """
    prior = maximization.prior
    rounding = COARSE if coordinates.trifle.any() else ROUNDING

    def judged(components: Components) -> tuple[MixtureSums, float]:
        sums = rows.collect(Expectation(components, coordinates))
        added = 0.0 if prior is None else prior.log_density(components)
        return sums, sums.likelihood + added

    here, aid = start, Acceleration()
    sums, level = judged(here)
    weight = sums.weight
    history, near, gain = [level], 0, np.inf
    converged = False
    while len(history) < most_steps:
        image = maximization(sums, here)
        if not maximization.is_sound(image, weight):
            return Climb(here, sums.likelihood, tuple(history), converged=False, sound=False)
        following = image
        if gain < EAGER * weight:
            following = _leap(aid, here, image, maximization)
        there, reached = judged(following)
        if following is not image and not reached >= level:
            aid.forget()
            following = image
            there, reached = judged(image)
        before, gain = gain, reached - level
        here, sums, level = following, there, reached
        history.append(level)
        if watch is not None:
            watch(Climb(here, sums.likelihood, tuple(history), converged=False))
        rate = gain / before if 0.0 < before < np.inf else 1.0
        still = abs(gain) <= rounding * abs(level)
        left = gain * rate / (1.0 - rate) if 0.0 < rate < 1.0 else np.inf
        near = near + 1 if still or left < tolerance * weight else 0
        plain = before >= EAGER * weight  # what a leap has left says nothing about steps
        if near >= 2 or (near and plain and rate < SUDDEN):
            converged = True
            break
    return Climb(here, sums.likelihood, tuple(history), converged)


def _leap(
    aid: Acceleration, here: Components, image: Components, maximization: Maximization
) -> Components:
    """Return where the last steps lead to, a point of the same form; the plain step in doubt."""
    try:
        flat = aid.following(_coded(here), _coded(image))
        with np.errstate(over="ignore", invalid="ignore"):
            found = maximization.projected(_decoded(flat, image), image)
        weight = maximization.coordinates.weight
        if maximization.is_sound(found, weight):
            return found
    except np.linalg.LinAlgError:
        pass
    aid.forget()
    return image


def _coded(components: Components) -> FloatArray:
    """Return log shares, means, and logs of deviations or of Cholesky factors, in one row."""
    shares = np.append(components.shares, components.noise)
    logs = np.log(np.maximum(shares, np.finfo(np.float64).tiny))
    if components.is_diagonal:
        spread = np.log(components.covariances)
        return np.concatenate([logs, components.means.ravel(), spread.ravel()])
    factors = np.linalg.cholesky(components.covariances)
    width = factors.shape[1]
    places = np.arange(width)
    factors[:, places, places] = np.log(factors[:, places, places])
    below = np.tril_indices(width)
    return np.concatenate([logs, components.means.ravel(), factors[:, *below].ravel()])


def _decoded(flat: FloatArray, like: Components) -> Components:
    """Return the components that `_coded` gave."""
    size, width = like.means.shape
    shares = np.exp(np.minimum(flat[: size + 1], 0.0))
    if like.noise == 0.0:
        shares[-1] = 0.0
    shares = shares / shares.sum()
    means = flat[size + 1 : size + 1 + size * width].reshape(size, width)
    rest = flat[size + 1 + size * width :]
    if like.is_diagonal:
        covariances = np.exp(rest.reshape(size, width))
    else:
        factors = np.zeros((size, width, width))
        below = np.tril_indices(width)
        factors[:, *below] = rest.reshape(size, -1)
        places = np.arange(width)
        factors[:, places, places] = np.exp(factors[:, places, places])
        covariances = factors @ factors.transpose(0, 2, 1)
    return Components(shares[:-1], means, covariances, float(shares[-1]), like.log_volume)
