"""What a fitted model believes of one column: a density, the chances of counts, or of levels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from suffice.errors import BadRows, BadSetting, NotADensity, listed
from suffice.models.naive_bayes.families.registry import COMMON

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray: TypeAlias = NDArray[np.float64]

WIDE = 4.0
"""Standard deviations of a class on either side of its mean."""
MOST_LEVELS = 12
REST = "other"


@dataclass(frozen=True)
class Density:
    """A continuous column: where it is worth drawing, and p(x | c) there, (n, k)."""

    at: FloatArray
    heights: FloatArray


@dataclass(frozen=True)
class Counts:
    """A column of whole numbers: 0 … and P(x | c) of each, (n, k)."""

    at: FloatArray
    heights: FloatArray


@dataclass(frozen=True)
class Levels:
    """A column of levels: their names and P(level | c), (n, k); `known` are the levels shown."""

    names: list[str]
    heights: FloatArray
    known: list[Any]


ColumnLaw: TypeAlias = Density | Counts | Levels


def column_law(model: Any, column: str | int) -> tuple[str, int, ColumnLaw]:
    """Return a column's name, its place, and its law in every class of a fitted model."""
    if hasattr(model, "families_"):
        names = list(model.families_)
        j = _place(column, names)
        return names[j], j, _of_family(model, j, names[j])
    if hasattr(model, "covariances_"):
        names = list(model._require().columns.coded_names)
        j = _place(column, names)
        means, variances = model.means_[:, j], model.covariances_[:, j, j]
        return names[j], j, _normal(means, variances, names[j])
    raise BadSetting(
        f"{type(model).__name__} has no densities of columns",
        hint="give a fitted GaussianDiscriminant or NaiveBayes",
    )


def _place(column: str | int, names: list[str]) -> int:
    """Return the position of a column that is given by name or position."""
    if column in names:
        return names.index(str(column))
    number = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
    if number and -len(names) <= int(column) < len(names):
        return int(column) % len(names)
    raise BadSetting(f"there is no column {column!r}", hint=f"they are {listed(names)}")


def _of_family(model: Any, j: int, name: str) -> ColumnLaw:
    """Return the law of a column of naive Bayes, by its family."""
    learned = model.model_
    group, place = learned.product.family_of(j)
    family = learned.product.families[group]
    kind = family.name.removeprefix(COMMON).removeprefix("shared-")
    found = [learned.laws[group].described(place, c) for c in range(len(learned.labels))]
    if kind == "gaussian":
        return _normal(_numbers(found, "mean"), _numbers(found, "variance"), name)
    if kind == "lognormal":
        return _log_normal(_numbers(found, "log_mean"), _numbers(found, "log_variance"), name)
    if kind == "binned":
        return _steps(found)
    if kind == "poisson":
        return _poisson(_numbers(found, "rate"))
    if kind == "bernoulli":
        ones = _numbers(found, "probability")
        return Levels(["0", "1"], np.array([1.0 - ones, ones]), [0, 1])
    if kind == "categorical":
        return _levels(found, name)
    if kind == "multinomial":
        raise NotADensity(
            f"{name} is one of {len(learned.product.columns[group])} counts that are drawn "
            "together: alone it has no law",
            hint=f"parameters_[{name!r}] has its share in every class",
        )
    raise NotADensity.of("densities of columns")


def _numbers(found: list[dict[Any, float]], name: str) -> FloatArray:
    return np.array([float(law[name]) for law in found])


# Continuous columns


def _normal(means: FloatArray, variances: FloatArray, name: str) -> Density:
    if (variances <= 0.0).any() or not np.isfinite(variances).all():
        raise BadRows(
            f"{name} does not vary within classes: there is no density to draw",
            hint="choose a column that varies",
        )
    spread = np.sqrt(variances)
    at = _ticks(means, spread)
    z = (at[:, np.newaxis] - means) / spread
    return Density(at, np.exp(-0.5 * z * z) / (spread * math.sqrt(2.0 * math.pi)))


def _log_normal(means: FloatArray, variances: FloatArray, name: str) -> Density:
    logs = _normal(means, variances, name)
    at = np.exp(logs.at)
    # Long tails would squeeze all that is to be seen into a corner.
    shown = at <= np.exp(means + 2.5 * np.sqrt(variances)).max()
    return Density(at[shown], (logs.heights / at[:, np.newaxis])[shown])


def _ticks(means: FloatArray, spread: FloatArray) -> FloatArray:
    """Return positions over all classes, dense where any class is: a narrow one is no needle."""
    low, high = (means - WIDE * spread).min(), (means + WIDE * spread).max()
    own = means[:, np.newaxis] + spread[:, np.newaxis] * np.linspace(-WIDE, WIDE, 241)
    return np.unique(np.concatenate([np.linspace(low, high, 481), own.ravel()]))


def _steps(found: list[dict[Any, float]]) -> Density:
    """Return the histogram of a binned column, the two ends of every bin in turn."""
    bins = [(low, high) for low, high in found[0] if low < high and math.isfinite(high - low)]
    at = np.array(bins).ravel()
    heights = np.array([[law[pair] / (pair[1] - pair[0]) for law in found] for pair in bins])
    edge = np.zeros((1, len(found)))
    return Density(
        np.concatenate([at[:1], at, at[-1:]]),
        np.concatenate([edge, np.repeat(heights, 2, axis=0), edge]),
    )


# Discrete columns


def _poisson(rates: FloatArray) -> Counts:
    from scipy.special import gammaln, xlogy

    last = math.ceil(float((rates + 4.0 * np.sqrt(rates)).max())) + 2
    first = max(0, math.floor(float((rates - 4.0 * np.sqrt(rates)).min())) - 1)
    at = np.arange(first, last + 1, max(1, (last - first) // 2000), dtype=np.float64)
    logs = xlogy(at[:, np.newaxis], rates) - rates - gammaln(at + 1.0)[:, np.newaxis]
    return Counts(at, np.exp(logs))


def _levels(found: list[dict[Any, float]], name: str) -> Levels:
    """Return the shares of levels; of very many only the likeliest, and the rest together."""
    known = list(found[0])
    if not known:
        raise BadRows(f"{name} has no level: it was blank in every row", hint="choose another")
    heights = np.array([[law.get(level, 0.0) for law in found] for level in known])
    names = ["blank" if level is None else str(level) for level in known]
    if len(known) <= MOST_LEVELS:
        return Levels(names, heights, known)
    kept = np.sort(np.argsort(-heights.max(axis=1), kind="stable")[: MOST_LEVELS - 1])
    rest = np.delete(heights, kept, axis=0)
    return Levels(
        [*(names[i] for i in kept), f"{REST} ({len(rest)})"],
        np.vstack([heights[kept], rest.sum(axis=0)]),
        [known[i] for i in kept],
    )
