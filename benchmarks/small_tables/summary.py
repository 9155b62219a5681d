"""What cells add up to: normalised log-loss, wins, gains and the worst that happened.

Everything is paired. A contender is judged on the repeats on which it gave an answer, and what it
is compared with, the class shares and the best of the list, is taken on the same repeats; of others
that answered on some of these only, the mean difference on those is taken for that on all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.small_tables.cells import Cell

LIST = (
    "pool", "catboost", "catboost-one-hot", "forest", "extra-trees", "lightgbm", "hist",
    "hist-small", "logistic-cv", "ebm", "old-auto", "gda", "naive-bayes", "logistic", "prior",
)  # fmt: skip
"""The contenders that `nl` is measured by. The list is fixed: with another, every nl is another."""
LEAST_TO_LEARN = 0.005
"""Nats by which the best contender must be better than the class shares. With less there is nothing
to learn from so few rows, and nl would be noise divided by noise."""
RESAMPLES = 4000
"""Bootstrap samples of tables behind an interval: its ends are then settled to about 0.001."""


class Place(NamedTuple):
    """A table and a number of training rows."""

    table: str
    n: int


class Gain(NamedTuple):
    """How much one contender is better than another: wins in places, and nl with an interval."""

    wins: float
    places: int
    nl: float
    low: float
    high: float


@dataclass
class Results:
    """The cells of the contenders in a list, by place.

    names      the list, in order
    cells      place → contender → repeat → cell, of cells with a result
    priors     place → repeat → log-loss of the class shares
    refusals   contender → cells without a result
    """

    names: tuple[str, ...]
    cells: dict[Place, dict[str, dict[int, Cell]]] = field(default_factory=dict)
    priors: dict[Place, dict[int, float]] = field(default_factory=dict)
    refusals: dict[str, list[Cell]] = field(default_factory=dict)

    @classmethod
    def of(cls, cells: Iterable[Cell], names: tuple[str, ...] = LIST) -> Results:
        """Sort cells; those of contenders that are not in the list are left out."""
        found = cls(names)
        for cell in cells:
            if cell.contender not in names:
                continue
            if cell.log_loss is None:
                found.refusals.setdefault(cell.contender, []).append(cell)
                continue
            place = Place(cell.table, cell.n)
            found.cells.setdefault(place, {}).setdefault(cell.contender, {})[cell.repeat] = cell
            if cell.prior_log_loss is not None:
                found.priors.setdefault(place, {})[cell.repeat] = cell.prior_log_loss
        return found

    @property
    def sizes(self) -> tuple[int, ...]:
        """Every number of training rows, in order."""
        return tuple(sorted({place.n for place in self.cells}))

    @property
    def present(self) -> tuple[str, ...]:
        """The contenders that have a result anywhere, in the order of the list."""
        seen = {name for by_name in self.cells.values() for name in by_name}
        return tuple(name for name in self.names if name in seen)

    def repeats(self, place: Place, *names: str) -> frozenset[int]:
        """Return the repeats on which all of these contenders gave an answer."""
        by_name = self.cells.get(place, {})
        return frozenset.intersection(*(frozenset(by_name.get(name, ())) for name in names))

    def mean(self, place: Place, name: str, repeats: frozenset[int], score: str) -> float:
        """Return the mean of a score over repeats."""
        some = self.cells[place][name]
        return float(np.mean([getattr(some[r], score) for r in sorted(repeats)]))

    def prior(self, place: Place, repeats: frozenset[int]) -> float:
        """Return the mean log-loss of the class shares over repeats."""
        return float(np.mean([self.priors[place][r] for r in sorted(repeats)]))

    def losses(self, place: Place, name: str, repeats: frozenset[int]) -> dict[str, float]:
        """Return the mean log-loss of a contender on repeats, and of all who answered on any.

        Others' are the contender's plus the mean difference on the repeats that both answered.
        """
        own = self.mean(place, name, repeats, "log_loss")
        found = {}
        for other in self.cells[place]:
            both = self.repeats(place, name, other) & repeats
            if both:
                pair = [self.mean(place, one, both, "log_loss") for one in (other, name)]
                found[other] = pair[0] if both == repeats else own + pair[0] - pair[1]
        return found

    @cached_property
    def too_hard(self) -> tuple[Place, ...]:
        """Return the places where nobody is better than the class shares by enough."""
        found = []
        for place, by_name in self.cells.items():
            best = min(
                np.mean([cell.log_loss - self.priors[place][r] for r, cell in some.items()])  # type: ignore[operator]
                for some in by_name.values()
            )
            if best > -LEAST_TO_LEARN:
                found.append(place)
        return tuple(sorted(found))

    def nl(self, place: Place, name: str, repeats: frozenset[int]) -> float | None:
        """Return (log-loss - best) / (class shares - best); None where nothing can be learned."""
        span = self.span(place, name, repeats)
        if span is None:
            return None
        losses = self.losses(place, name, repeats)
        return (losses[name] - min(losses.values())) / span

    def span(self, place: Place, name: str, repeats: frozenset[int]) -> float | None:
        """Return by how much the best is better than the class shares; None where by too little."""
        best = min(self.losses(place, name, repeats).values())
        found = self.prior(place, repeats) - best
        return None if found < LEAST_TO_LEARN else found

    def nls(self, name: str, sizes: Iterable[int]) -> dict[Place, float]:
        """Return nl of a contender by place."""
        hard, wanted = set(self.too_hard), set(sizes)
        found = {}
        for place in sorted(self.cells):
            repeats = self.repeats(place, name)
            if place.n in wanted and repeats and place not in hard:
                value = self.nl(place, name, repeats)
                if value is not None:
                    found[place] = value
        return found

    def scores(self, name: str, n: int, score: str) -> dict[str, float]:
        """Return the mean of a score over repeats, by table."""
        return {
            place.table: self.mean(place, name, repeats, score)
            for place in sorted(self.cells)
            if place.n == n and (repeats := self.repeats(place, name))
        }

    def ranks(self, name: str, n: int) -> list[float]:
        """Return the rank by log-loss at each place, 1 the best; equal losses share their ranks."""
        found = []
        for place in self.cells:
            repeats = self.repeats(place, name)
            if place.n == n and repeats:
                losses = self.losses(place, name, repeats)
                own = losses.pop(name)
                less = sum(other < own for other in losses.values())
                same = sum(other == own for other in losses.values())
                found.append(1 + less + same / 2)
        return found

    def wins(self, name: str, other: str, sizes: Iterable[int]) -> dict[Place, float]:
        """Return by place 1 for a lower mean log-loss than another's, ½ for an equal one, or 0."""
        wanted, found = set(sizes), {}
        for place in sorted(self.cells):
            repeats = self.repeats(place, name, other)
            if place.n in wanted and repeats:
                own, their = (self.mean(place, one, repeats, "log_loss") for one in (name, other))
                found[place] = 1.0 if own < their else 0.5 if own == their else 0.0
        return found

    def gain(self, name: str, other: str, sizes: Iterable[int]) -> Gain | None:
        """Return wins over another, and how much lower nl is, with a 95 % interval over tables.

        Tables are drawn with replacement, all their places together; None where both met nowhere.
        """
        sizes = tuple(sizes)
        wins = self.wins(name, other, sizes)
        hard = set(self.too_hard)
        by_table: dict[str, list[float]] = {}
        for place in wins:
            repeats = self.repeats(place, name, other)
            span = self.span(place, name, repeats)
            own, their = (self.mean(place, one, repeats, "log_loss") for one in (name, other))
            if span is not None and place not in hard:
                by_table.setdefault(place.table, []).append((their - own) / span)
        if not by_table:
            return None
        low, high = interval(list(by_table.values()))
        return Gain(
            float(np.mean(list(wins.values()))),
            len(wins),
            float(np.mean([value for values in by_table.values() for value in values])),
            low,
            high,
        )

    def worse_than_shares(self, name: str, n: int) -> tuple[int, int, int, int]:
        """Return places worse than the class shares, all places, and the same of single repeats."""
        means, singles = [], []
        for place in self.cells:
            repeats = self.repeats(place, name)
            if place.n == n and repeats:
                means.append(self.excess(place, name, repeats) > 0)
                singles += [self.excess(place, name, frozenset([r])) > 0 for r in repeats]
        return sum(means), len(means), sum(singles), len(singles)

    def excess(self, place: Place, name: str, repeats: frozenset[int]) -> float:
        """Return log-loss beyond that of the class shares."""
        return self.mean(place, name, repeats, "log_loss") - self.prior(place, repeats)


def interval(groups: list[list[float]], seed: int = 0) -> tuple[float, float]:
    """Return a 95 % interval of the mean of all values, by a bootstrap of whole groups.

    >>> interval([[1.0, 1.0], [1.0]])
    (1.0, 1.0)
    """
    sums = np.array([sum(values) for values in groups])
    counts = np.array([len(values) for values in groups])
    drawn = np.random.default_rng(seed).integers(len(groups), size=(RESAMPLES, len(groups)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
