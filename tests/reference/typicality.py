"""How often p-values of rows are small under their own class, by simulation."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice import NaiveBayes
from suffice.errors import SufficeWarning
from suffice.families import Binned, Common, GaussianColumns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Rows = NDArray[np.float64]

FORMS = ["shared", "per-class", "diagonal", "shared-diagonal", "spherical"]
FAMILIES = {
    "gaussian": ("normal", "gaussian"),
    "shared-gaussian": ("normal", "shared-gaussian"),
    "lognormal": ("lognormal", "lognormal"),
    "bernoulli": ("bernoulli", "bernoulli"),
    "categorical": ("categorical", "categorical"),
    "poisson": ("poisson", "poisson"),
    "binned": ("normal", Binned(edges=(-3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0))),
}
EXACT = ("gaussian", "shared-gaussian", "lognormal")
"""Families of which 5 % of new rows have p < 0.05, and not only no more."""
MIXED = ["gaussian", "categorical", "poisson", "bernoulli", Common(GaussianColumns())]
KINDS = ["normal", "categorical", "poisson", "bernoulli", "normal"]


def drawn(kind: str, rng: np.random.Generator, n: int, d: int) -> Rows:
    """Return n rows of d columns of one kind, the same law for every class."""
    if kind == "bernoulli":
        return (rng.random((n, d)) < np.linspace(0.1, 0.6, d)).astype(float)
    if kind == "categorical":
        return rng.choice(4, p=[0.5, 0.3, 0.15, 0.05], size=(n, d)).astype(float)
    if kind == "poisson":
        return rng.poisson(np.linspace(0.5, 6.0, d), size=(n, d)).astype(float)
    found = rng.normal(size=(n, d))
    return np.exp(found) if kind == "lognormal" else found


def mixed_rows(rng: np.random.Generator, n: int) -> Rows:
    """Return rows of two columns of each kind."""
    return np.concatenate([drawn(kind, rng, n, 2) for kind in KINDS], axis=1)


def mixed_model() -> NaiveBayes:
    """Return the model of such rows."""
    return NaiveBayes({j: MIXED[j // 2] for j in range(2 * len(MIXED))})


def shares_below(
    model: Callable[[], Any],
    draw: Callable[[np.random.Generator, int], Rows],
    rng: np.random.Generator,
    level: float | tuple[float, ...],
    *,
    n: int,
    k: int,
    fits: int,
    asked: int = 20,
    gaps: float = 0.0,
    training: bool = False,
) -> Rows:
    """Return, for k small classes of n rows in each of some fits, the share of p < level.

    Of more than one level there is a column for each.
    """
    found = []
    for _ in range(fits):
        y = np.repeat(np.arange(k), n)
        X = draw(rng, n * k)
        X[rng.random(X.shape) < gaps] = np.nan
        truth = y if training else np.repeat(np.arange(k), asked)
        new = X if training else draw(rng, len(truth))
        if not training:
            new[rng.random(new.shape) < gaps] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            fitted = model().fit(X, y)
            p = fitted.typicality(new, y if training else None)[np.arange(len(truth)), truth]
        assert not np.isnan(p).any()
        below = p[:, np.newaxis] < np.atleast_1d(level)
        found.append(below.reshape(k, -1, below.shape[1]).mean(axis=1))
    shares = np.concatenate(found)
    return shares[:, 0] if isinstance(level, float) else shares


def within(shares: Rows, level: float, *, exact: bool) -> bool:
    """Whether the mean share is the level, within four of its standard errors.

    Rows judged by one class go up and down together, so errors are counted by class. A false alarm
    comes in about one of 16,000 tests.
    """
    reach = 4.0 * max(shares.std(ddof=1), level / 4.0) / np.sqrt(len(shares))
    share = shares.mean()
    return bool(share <= level + reach and (share >= level - reach or not exact))
