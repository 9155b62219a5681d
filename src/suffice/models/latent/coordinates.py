"""Statistics of hidden classes as one row of numbers, in which a step of EM is nearly linear.

Weights, tallies and sums are taken by their square roots, of which a variance does not depend on
how large they are; means and spreads in units of their column.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.latent.maximization import total_variances
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.poisson import Poisson
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.statistics import ByClass, ByColumn, DiagonalMoments, Tallies, Totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.models.naive_bayes.product import Product
    from suffice.rows import FloatArray

SHRINKS = 0.1
"""A leap leaves at least this share of what a step left of a weight or a spread: none becomes zero,
from which EM never comes back."""


class StatisticsCoordinates:
    """From statistics to a row of numbers and back; units are those of the first statistics."""

    def __init__(self, statistics: ByClass[Any], product: Product) -> None:
        self._truths = [is_truths(family) for family in product.families]
        self.labels = statistics.labels
        self.weight = float(statistics.weight)
        held = [statistics.groups[label].parts for label in self.labels]
        self._means = [
            _means([parts[g] for parts in held]) if is_rates(family) else None
            for g, family in enumerate(product.families)
        ]
        self._units = [_units([parts[g] for parts in held]) for g in range(len(held[0]))]

    def coded(self, statistics: ByClass[Any]) -> FloatArray:
        """Return statistics as one row of numbers."""
        found = []
        for label in self.labels:
            own = statistics.groups[label]
            found.append(np.array([np.sqrt(own.weight / self.weight)]))
            for place, part in enumerate(own.parts):
                found += self._coded_part(part, place)
        return np.concatenate(found)

    def decoded(self, flat: FloatArray, like: ByClass[Any]) -> ByClass[Any]:
        """Return the statistics of a row of numbers; `like` are those that a step led to."""
        groups = {}
        at = 0
        for label in self.labels:
            own = like.groups[label]
            weight = self._positive(flat[at], np.sqrt(own.weight / self.weight))
            at += 1
            parts: list[Any] = []
            for place, part in enumerate(own.parts):
                coded = self._coded_part(part, place)
                ends = np.cumsum([at, *(one.size for one in coded)])
                pieces = [flat[ends[i] : ends[i + 1]] for i in range(len(coded))]
                at = int(ends[-1])
                parts.append(self._decoded_part(part, place, pieces, coded, float(weight)))
            groups[label] = ByColumn(float(weight), tuple(parts))
        return ByClass(self._as_in_all(groups))

    def _as_in_all(self, groups: dict[Any, ByColumn]) -> dict[Any, ByColumn]:
        """Return counts of events whose mean over all classes is what it is in all rows.

        What a prior says of rates is about that mean, which no step of EM changes.
        """
        for place, means in enumerate(self._means):
            if means is None:
                continue
            own: list[Any] = [group.parts[place] for group in groups.values()]
            held = sum(part.counts for part in own)
            sums = sum(part.sums for part in own)
            factors = means * held / np.where(sums > 0.0, sums, 1.0)
            for label, group in groups.items():
                parts: list[Any] = list(group.parts)
                parts[place] = replace(parts[place], sums=parts[place].sums * factors)
                groups[label] = ByColumn(group.weight, tuple(parts))
        return groups

    def _positive(self, root: Any, reached: Any) -> Any:
        return np.square(np.maximum(root, SHRINKS * reached)) * self.weight

    def _coded_part(self, part: Any, place: int) -> list[FloatArray]:
        total, unit = self.weight, self._units[place]
        if isinstance(part, Tallies):
            return [np.sqrt(part.held / total)]
        if isinstance(part, Totals):
            if self._truths[place]:  # ones and zeros: there are never more ones than cells
                zeros = np.maximum(part.counts - part.sums, 0.0)
                return [np.sqrt(part.sums / total), np.sqrt(zeros / total)]
            return [np.sqrt(part.sums / unit), np.sqrt(part.counts / total)]
        centre, scale = unit
        seen = part.counts > 0.0
        means = np.where(seen, ((part.mean - centre) + part.low) / scale, 0.0)
        spreads = np.sqrt(np.maximum(part.scatter, 0.0) / total) / scale
        return [np.sqrt(part.counts / total), means, spreads]

    def _decoded_part(
        self,
        part: Any,
        place: int,
        pieces: Sequence[FloatArray],
        coded: Sequence[FloatArray],
        weight: float,
    ) -> Any:
        if isinstance(part, Tallies):
            return Tallies(weight, part.levels, self._positive(pieces[0], coded[0]))
        if isinstance(part, Totals):
            counts = self._positive(pieces[1], coded[1])
            sums = self._positive(pieces[0], coded[0])
            if self._truths[place]:
                counts = counts + sums
            else:
                sums = sums / self.weight * self._units[place]
            most = float(counts.max(initial=0.0))
            return Totals(most, sums, most - counts)
        centre, scale = self._units[place]
        counts = self._positive(pieces[0], coded[0])
        mean = np.where(part.counts > 0.0, pieces[1] * scale + centre, part.mean)
        scatter = self._positive(pieces[2], coded[2]) * np.square(scale)
        zero = np.zeros(part.width)
        return DiagonalMoments(weight, counts, mean, zero, scatter, zero)


def is_truths(family: ColumnFamily) -> bool:
    """Whether columns are yes and no."""
    return isinstance(family.family if isinstance(family, Common) else family, Bernoulli)


def is_rates(family: ColumnFamily) -> bool:
    """Whether columns count events, each class at a rate of its own."""
    return isinstance(family, Poisson)


def _means(parts: Sequence[Any]) -> FloatArray:
    """Return the mean of each column over all classes."""
    held = np.sum([part.counts for part in parts], axis=0)
    sums = np.sum([part.sums for part in parts], axis=0)
    found: FloatArray = sums / np.where(held > 0.0, held, 1.0)
    return found


def _units(parts: Sequence[Any]) -> Any:
    """Return what sums, means and spreads of columns are measured in."""
    if isinstance(parts[0], Tallies):
        return None
    if isinstance(parts[0], Totals):
        sums = np.sum([part.sums for part in parts], axis=0)
        return np.where(sums > 0.0, sums, 1.0)
    scale = np.sqrt(total_variances(parts))
    first = max(parts, key=lambda part: float(part.counts.sum()))
    return first.mean, np.where(scale > 0.0, scale, 1.0)
