"""What others ask of a family of columns and of its laws, as plain data.

A family knows nothing of databases, model files, pictures or p-values. It says which sums suffice
for it, what its score of a cell is, how it is drawn, and what is known of a row given its class;
those who write SQL, draw, or judge rows know how.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.models.gaussian.diagonal_normals import DiagonalNormals
    from suffice.rows import FloatArray, Label

# Which sums suffice


@dataclass(frozen=True, slots=True)
class Squares:
    """Weight, mean and squares of every column by itself: `DiagonalMoments`.

    logarithm  of the logarithms of the cells, which are positive then
    """

    logarithm: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """The sum of every column: `Totals`.

    threshold  cells above it count as 1, others as 0; None adds up the cells themselves
    whole      whether cells have to be whole numbers
    most       the largest number that a cell may be, None where there is no bound
    least      the smallest one
    blank      whether cells may be missing
    """

    threshold: float | None = None
    whole: bool = False
    most: float | None = None
    least: float | None = 0.0
    blank: bool = True


@dataclass(frozen=True, slots=True)
class Levels:
    """How often every level of every column was seen: `Tallies`.

    edges  levels are bins of numbers, cut here; None takes cells as they are
    """

    edges: tuple[float, ...] | None = None


SumsOfColumns: TypeAlias = Squares | Counts | Levels
"""The sums that suffice for columns, and which cells are refused."""


# What a cell adds to the scores of the classes

ANY, POSITIVE, COUNTS, WHOLE, TRUTHS = "any", "positive", "counts", "whole", "truths"
"""Which numbers may stand in a cell: all, those from 0 on, the whole ones among them, 0 and 1."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearCell:
    """x·slopes + offsets of k classes; the same for the number of impossible events.

    threshold  x counts as 1 above it, and as 0 else
    allowed    the cells that have an answer
    blank      whether a cell may be missing
    """

    slopes: FloatArray
    offsets: FloatArray | None
    order_slopes: FloatArray | None = None
    order_offsets: FloatArray | None = None
    threshold: float | None = None
    allowed: str = ANY
    blank: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class NormalCell:
    """A normal column, or one whose logarithm is normal."""

    normals: DiagonalNormals
    logarithm: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class StudentCell:
    """Student's t in (x - origin - origin_low)/scale; None: the column says nothing."""

    origin: float
    origin_low: float
    scale: float
    locations: FloatArray
    spreads: FloatArray
    degrees: FloatArray
    levels: FloatArray
    """log t at the location, with -log of the spread."""


@dataclass(frozen=True, slots=True, eq=False)
class LevelsCell:
    """A table of levels (levels + 2, k): the last two are for one never seen, and for a blank."""

    levels: tuple[Label, ...]
    table: FloatArray
    orders: FloatArray | None


@dataclass(frozen=True, slots=True, eq=False)
class BinsCell:
    """A table of bins, cut at the edges."""

    edges: tuple[float, ...]
    table: FloatArray
    orders: FloatArray | None


ScoredCell: TypeAlias = LinearCell | NormalCell | StudentCell | LevelsCell | BinsCell
"""What one column adds to the scores of all classes, without what they share."""


# What is known of rows, given their class


@dataclass(frozen=True, slots=True, eq=False)
class NormalEvidence:
    """Normal columns: moments of the classes, the cells, and which rows are impossible."""

    summary: ClassSummary
    cells: NDArray[Any]
    shared: bool
    outside: NDArray[np.bool_] | bool = False


@dataclass(frozen=True, slots=True, eq=False)
class SumEvidence:
    """Counts whose law, given the sum over class and row together, has no unknowns.

    sums, held  of every class and column (k, d); cells (n, d)
    log_masses  log P(x | τ, W): of a row's part x in the sum τ of W + 1 rows; None: binomial,
                which is that of Poisson counts
    """

    sums: FloatArray
    held: FloatArray
    cells: FloatArray
    log_masses: Callable[[FloatArray, float, float], FloatArray] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LevelEvidence:
    """Levels: of every column their weights (k, levels), and the places of the cells (n, d)."""

    tables: Sequence[FloatArray]
    places: Any
    log_widths: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class WordEvidence:
    """Counts of one list of draws."""

    law: Any
    groups: Sequence[Any]
    alpha: float
    block: Any


@dataclass(frozen=True, slots=True, eq=False)
class CommonEvidence:
    """A column with one law for all classes."""

    inner: Evidence


Evidence: TypeAlias = NormalEvidence | SumEvidence | LevelEvidence | WordEvidence | CommonEvidence
"""What p-values of a group of columns are made of."""


# What was estimated

MEAN, PROBABILITY, RATE = "mean", "probability", "rate"
"""Kinds of estimates."""


class EstimatedColumns(NamedTuple):
    """Estimates (k, p) of p quantities in k classes, without smoothing.

    places     what is estimated, by name
    kind       "mean", "probability", "rate", or what the family calls it
    values     the estimates; counts the weight behind each; variances of one row, all (k, p)
    """

    places: Sequence[str]
    kind: str
    values: FloatArray
    counts: FloatArray
    variances: FloatArray


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return above/below; NaN where nothing is left below."""
    found: FloatArray = np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), np.nan)
    return found


def estimated_means(own: Sequence[object], places: Sequence[str]) -> list[EstimatedColumns]:
    """Return means out of `DiagonalMoments`."""
    counts, means, scatters = (
        np.array([getattr(part, name) for part in own]) for name in ("counts", "mean", "scatter")
    )
    return [EstimatedColumns(places, MEAN, means, counts, ratio(scatters, counts - 1.0))]


def estimated_levels(
    own: Sequence[Any], names: Sequence[str], edges: tuple[float, ...] | None = None
) -> list[EstimatedColumns]:
    """Return the shares of levels out of `Tallies`; levels are bins where there are edges."""
    levels = reduce(add, own).levels
    held = np.array([part.in_levels(levels) for part in own])
    found, start = [], 0
    for name, column in zip(names, levels, strict=True):
        weights = held[:, start : start + len(column)]
        start += len(column)
        counts = np.repeat(weights.sum(axis=1, keepdims=True), len(column), axis=1)
        shares = ratio(weights, counts)
        places = [
            f"{name}={level}"
            if edges is None
            else f"{name} {edges[level]:g} to {edges[level + 1]:g}"
            for level in column
        ]
        spread = shares * (1.0 - shares)
        found.append(EstimatedColumns(places, PROBABILITY, shares, counts, spread))
    return found


def estimated_shares(
    own: Sequence[Any], names: Sequence[str], *, of_words: bool = False
) -> list[EstimatedColumns]:
    """Return sums over what they are shares of, out of `Totals`: rows, or all words together."""
    sums = np.array([part.sums for part in own])
    counts = np.array([part.counts for part in own])
    if of_words:
        counts = np.repeat(sums.sum(axis=1, keepdims=True), sums.shape[1], axis=1)
    shares = ratio(sums, counts)
    return [EstimatedColumns(list(names), PROBABILITY, shares, counts, shares * (1.0 - shares))]
