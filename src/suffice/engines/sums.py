"""What may be asked of whoever can add up rows where they are: kinds of statistics, no models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Products:
    """Weight, mean and scatter of all columns together: `Moments` by class, or `PooledMoments`."""

    pooled: bool


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


Part: TypeAlias = Squares | Counts | Levels


@dataclass(frozen=True, slots=True)
class Parts:
    """Several kinds side by side, each of some columns: `ByColumn`."""

    parts: tuple[tuple[Part, tuple[int, ...]], ...]


Asked: TypeAlias = Products | Squares | Parts
