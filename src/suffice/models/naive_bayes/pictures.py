"""Laws of single columns as they are drawn: where, and how high, in every class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from suffice.errors import BadRows
from suffice.printing.level_order import level_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suffice.rows import FloatArray

WIDE = 4.0
"""Standard deviations of a class on either side of its mean."""
MOST_LEVELS = 12
"""Levels that are drawn, at most; the rarest are joined. A choice: more names have no room below
bars."""
REST = "other"
"""The bar of all levels that are not drawn by themselves."""
MOST_COUNTS = 2000
"""Whole numbers that are drawn, at most: of more, every second or third."""


@dataclass(frozen=True)
class Density:
    """A continuous column: where it is worth drawing, and p(x | c) there, (n, k)."""

    at: FloatArray
    heights: FloatArray


@dataclass(frozen=True)
class CountsLaw:
    """A column of whole numbers: 0 … and P(x | c) of each, (n, k)."""

    at: FloatArray
    heights: FloatArray


@dataclass(frozen=True)
class LevelsLaw:
    """A column of levels: their names and P(level | c), (n, k); `known` are the levels shown."""

    names: list[str]
    heights: FloatArray
    known: list[Any]


ColumnLaw: TypeAlias = Density | CountsLaw | LevelsLaw
"""What a column is drawn as: a curve, dots or bars."""


def parameters(found: Sequence[dict[object, float]], name: str) -> FloatArray:
    """Return one parameter of every class, out of what the law says of each."""
    return np.array([float(law[name]) for law in found])


# Continuous columns


def normal_density(means: FloatArray, variances: FloatArray, name: str) -> Density:
    """Return the normal densities of all classes, or refuse a column that does not vary."""
    if (variances <= 0.0).any() or not np.isfinite(variances).all():
        raise BadRows(
            f"{name} does not vary within classes: there is no density to draw",
            hint="choose a column that varies",
        )
    spread = np.sqrt(variances)
    at = _ticks(means, spread)
    z = (at[:, np.newaxis] - means) / spread
    return Density(at, np.exp(-0.5 * z * z) / (spread * math.sqrt(2.0 * math.pi)))


def student_density(at: FloatArray, spread: FloatArray, f: FloatArray, name: str) -> Density:
    """Return a Student t for each class, over the range where a normal of its scale would be."""
    from scipy.special import gammaln

    ticks = normal_density(at, np.square(spread), name).at
    u = (ticks[:, np.newaxis] - at) / spread
    level = gammaln((f + 1.0) / 2.0) - gammaln(f / 2.0) - 0.5 * np.log(f * np.pi)
    return Density(ticks, np.exp(level - (f + 1.0) / 2.0 * np.log1p(u * u / f)) / spread)


def log_normal_density(means: FloatArray, variances: FloatArray, name: str) -> Density:
    """Return the densities of columns whose logarithms are normal."""
    logs = normal_density(means, variances, name)
    at = np.exp(logs.at)
    # Long tails would squeeze all that is to be seen into a corner.
    shown = at <= np.exp(means + 2.5 * np.sqrt(variances)).max()
    return Density(at[shown], (logs.heights / at[:, np.newaxis])[shown])


def _ticks(means: FloatArray, spread: FloatArray) -> FloatArray:
    """Return positions over all classes, dense where any class is: a narrow one is no needle."""
    low, high = (means - WIDE * spread).min(), (means + WIDE * spread).max()
    own = means[:, np.newaxis] + spread[:, np.newaxis] * np.linspace(-WIDE, WIDE, 241)
    return np.unique(np.concatenate([np.linspace(low, high, 481), own.ravel()]))


def steps(found: Sequence[dict[Any, float]]) -> Density:
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


def counts_law(
    means: FloatArray, deviations: FloatArray, log_mass: Callable[[FloatArray], FloatArray]
) -> CountsLaw:
    """Return the masses of whole numbers where any class has some; `log_mass` gives (n, k)."""
    last = math.ceil(float((means + WIDE * deviations).max())) + 2
    first = max(0, math.floor(float((means - WIDE * deviations).min())) - 1)
    at = np.arange(first, last + 1, max(1, (last - first) // MOST_COUNTS), dtype=np.float64)
    return CountsLaw(at, np.exp(log_mass(at[:, np.newaxis])))


def shares_of_levels(found: Sequence[dict[object, float]], name: str) -> LevelsLaw:
    """Return the shares of levels; of very many only the likeliest, and the rest together."""
    known = level_order(found[0])
    if not known:
        raise BadRows(f"{name} has no level: it was blank in every row", hint="choose another")
    heights = np.array([[law.get(level, 0.0) for law in found] for level in known])
    names = ["blank" if level is None else str(level) for level in known]
    if len(known) <= MOST_LEVELS:
        return LevelsLaw(names, heights, known)
    kept = np.sort(np.argsort(-heights.max(axis=1), kind="stable")[: MOST_LEVELS - 1])
    rest = np.delete(heights, kept, axis=0)
    return LevelsLaw(
        [*(names[i] for i in kept), f"{REST} ({len(rest)})"],
        np.vstack([heights[kept], rest.sum(axis=0)]),
        [known[i] for i in kept],
    )
