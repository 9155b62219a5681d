"""Classes that are normal with one covariance, and classes that are not, for the bridge's test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.families import Gaussian
from suffice.models import GaussianLearner
from suffice.models.bridge import bridge_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEARNER = GaussianLearner(Gaussian())
KINDS = ("normal", "unequal covariances", "poisson", "exponential")


def drawn(
    kind: str,
    size: int,
    distance: float,
    rng: np.random.Generator,
    *,
    width: int = 3,
    count: int = 2,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return rows and labels.

    normal                class c has its mean at `distance` along column c - 1, covariance I
    unequal covariances   the same, the second class 1.5 times as wide
    poisson               rates 1 and 4 in every column: the posterior is logistic all the same
    exponential           scales 1 and 3 in every column: and here, too
    """
    labels = rng.integers(0, count, size)
    shape = (size, width)
    if kind == "poisson":
        return rng.poisson(np.where(labels == 1, 4.0, 1.0)[:, None], shape).astype(float), labels
    if kind == "exponential":
        return rng.exponential(np.where(labels == 1, 3.0, 1.0)[:, None], shape), labels
    means = np.zeros((count, width))
    for c in range(1, count):
        means[c, (c - 1) % width] = distance
    spread = np.where(labels == 1, 1.5, 1.0) if kind == "unequal covariances" else np.ones(size)
    return rng.standard_normal(shape) * spread[:, None] + means[labels], labels


def p_values(
    kind: str,
    size: int,
    distance: float,
    draws: int,
    *,
    width: int = 3,
    count: int = 2,
    bootstrap: int = 0,
    seed: int = 1975,
) -> NDArray[np.float64]:
    """Return the test's p-values of so many samples."""
    rng = np.random.default_rng([seed, size, round(10 * distance), KINDS.index(kind), width, count])
    names = tuple(range(count))
    found = np.empty(draws)
    for i in range(draws):
        rows, labels = drawn(kind, size, distance, rng, width=width, count=count)
        fit = LEARNER.fit(LEARNER.summarize(rows, labels, names))
        found[i] = bridge_of(fit, rows, labels, bootstrap=bootstrap, rng=rng).test.p_value
    return found
