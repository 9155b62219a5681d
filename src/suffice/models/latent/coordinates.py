"""Statistics of hidden classes as one row of numbers, in which a step of EM is nearly linear.

Weights, tallies and sums are taken by their square roots, of which a variance does not depend on
how large they are; means and spreads in units of their column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.latent.maximization import total_variances
from suffice.statistics import ByClass, ByColumn, DiagonalMoments, Tallies, Totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.rows import FloatArray

SHRINKS = 0.1
"""A leap leaves at least this share of what a step left of a weight or a spread: none becomes zero,
from which EM never comes back."""


class StatisticsCoordinates:
    """From statistics to a row of numbers and back; units are those of the first statistics."""

    def __init__(self, statistics: ByClass[Any]) -> None:
        self.labels = statistics.labels
        self.weight = float(statistics.weight)
        held = [statistics.groups[label].parts for label in self.labels]
        self._units = [_units([parts[g] for parts in held]) for g in range(len(held[0]))]

    def coded(self, statistics: ByClass[Any]) -> FloatArray:
        """Return statistics as one row of numbers."""
        found = []
        for label in self.labels:
            own = statistics.groups[label]
            found.append(np.array([np.sqrt(own.weight / self.weight)]))
            for part, unit in zip(own.parts, self._units, strict=True):
                found += [np.ravel(one) for one in self._coded_part(part, unit)]
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
            for part, unit in zip(own.parts, self._units, strict=True):
                coded = self._coded_part(part, unit)
                ends = np.cumsum([at, *(one.size for one in coded)])
                pieces = [flat[ends[i] : ends[i + 1]] for i in range(len(coded))]
                at = int(ends[-1])
                parts.append(self._decoded_part(part, unit, pieces, coded, float(weight)))
            groups[label] = ByColumn(float(weight), tuple(parts))
        return ByClass(groups)

    def _positive(self, root: Any, reached: Any) -> Any:
        return np.square(np.maximum(root, SHRINKS * reached)) * self.weight

    def _coded_part(self, part: Any, unit: Any) -> list[FloatArray]:
        total = self.weight
        if isinstance(part, Tallies):
            return [np.sqrt(part.held / total)]
        if isinstance(part, Totals):
            missing = np.zeros(part.width) if part.missing is None else part.missing
            return [np.sqrt(part.sums / unit), np.sqrt(missing / total)]
        centre, scale = unit
        seen = part.counts > 0.0
        means = np.where(seen, ((part.mean - centre) + part.low) / scale, 0.0)
        spreads = np.sqrt(np.maximum(part.scatter, 0.0) / total) / scale
        return [np.sqrt(part.counts / total), means, spreads]

    def _decoded_part(
        self,
        part: Any,
        unit: Any,
        pieces: Sequence[FloatArray],
        coded: Sequence[FloatArray],
        weight: float,
    ) -> Any:
        if isinstance(part, Tallies):
            return Tallies(weight, part.levels, self._positive(pieces[0], coded[0]))
        if isinstance(part, Totals):
            sums = np.square(np.maximum(pieces[0], SHRINKS * coded[0])) * unit
            if part.missing is None:
                return Totals(weight, sums)
            missing = np.minimum(self._positive(pieces[1], coded[1]), weight * (1.0 - 1e-12))
            return Totals(weight, sums, missing)
        centre, scale = unit
        counts = self._positive(pieces[0], coded[0])
        mean = np.where(part.counts > 0.0, pieces[1] * scale + centre, part.mean)
        scatter = self._positive(pieces[2], coded[2]) * np.square(scale)
        zero = np.zeros(part.width)
        return DiagonalMoments(weight, counts, mean, zero, scatter, zero)


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
