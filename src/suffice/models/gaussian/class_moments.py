"""All classes' moments side by side, in units of the columns' own spread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from suffice.errors import NotFinite
from suffice.places import ColumnAt
from suffice.statistics import ByClass, ByPattern, DiagonalMoments, Moments, PooledMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, Label

TINY = float(np.finfo(np.float64).tiny)
"""The least normal double, by which weights of zero may be replaced as divisors."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassSummary:
    """Moments of k classes, standardized: column j is measured as (x - origin_j)/scale_j.

    The origin is the mean of the class means and the scale the root of the *total* variance
    (within and between classes), so that every number below is of order one whatever the
    units and offsets were. A column without any variance has scale 1 and `active` False.
    `scatters` is one matrix (or, for diagonal statistics, one row of variances) per class
    and None where only the pooled one was kept. `counts` are weights per class and column.
    """

    weights: FloatArray
    origin: FloatArray
    origin_low: FloatArray
    scale: FloatArray
    active: NDArray[np.bool_]
    means: FloatArray
    scatter: FloatArray
    scatters: FloatArray | None
    counts: FloatArray

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.weights)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.origin)

    @property
    def is_diagonal(self) -> bool:
        """Whether only variances, and no covariances, are known."""
        return self.scatter.ndim == 1

    @property
    def between(self) -> FloatArray:
        """The scatter of the class means about the mean of all rows, weighted by rows."""
        centre = self.weights @ self.means / self.weight
        reach = (self.means - centre) * np.sqrt(self.weights)[:, np.newaxis]
        return reach.T @ reach

    def of_active(self, matrix: FloatArray) -> FloatArray:
        """Return the part of a matrix (d, d) that belongs to columns that vary."""
        return matrix if self.active.all() else matrix[np.ix_(self.active, self.active)]

    def standardized(self, rows: FloatArray) -> FloatArray:
        """Return rows in the units of this summary."""
        centred = rows - self.origin
        centred -= self.origin_low
        centred /= self.scale
        return centred

    def of_columns(self, chosen: NDArray[np.bool_]) -> ClassSummary:
        """Return the moments of some columns (d,)."""
        places = np.flatnonzero(chosen)
        both = places if self.is_diagonal else np.ix_(places, places)
        scatters = self.scatters
        if scatters is not None:
            scatters = scatters[:, places]
            scatters = scatters if self.is_diagonal else scatters[:, :, places]
        return replace(
            self,
            origin=self.origin[places],
            origin_low=self.origin_low[places],
            scale=self.scale[places],
            active=self.active[places],
            means=self.means[:, places],
            scatter=self.scatter[both],
            scatters=scatters,
            counts=self.counts[:, places],
        )

    @classmethod
    def of(
        cls,
        statistics: ByPattern[PooledMoments]
        | ByPattern[ByClass[Moments]]
        | ByClass[DiagonalMoments],
        labels: Sequence[Label],
    ) -> Self:
        """Lay out statistics of complete rows, or diagonal ones, in the order of `labels`."""
        inner: object = statistics
        if isinstance(statistics, ByPattern):
            (inner,) = statistics.groups.values()
        if isinstance(inner, PooledMoments):
            order = [inner.places[label] for label in labels]
            return cls.standardizing(
                inner.weights[order],
                inner.means[order],
                inner.lows[order],
                inner.scatter,
                None,
                error=inner.bound,
            )
        assert isinstance(inner, ByClass)
        groups = [inner.groups[label] for label in labels]
        weights = np.array([g.weight for g in groups])
        means, lows = np.stack([g.mean for g in groups]), np.stack([g.low for g in groups])
        scatters = np.stack([g.scatter for g in groups])
        counts = None
        if isinstance(groups[0], DiagonalMoments):
            counts = np.stack([g.counts for g in groups])
            means, lows = _filled(means, lows, counts)
        error = np.sum([g.bound for g in groups], axis=0)
        pooled = scatters.sum(axis=0)
        return cls.standardizing(weights, means, lows, pooled, scatters, counts, error)

    @classmethod
    def standardizing(
        cls,
        weights: FloatArray,
        means: FloatArray,
        lows: FloatArray,
        scatter: FloatArray,
        scatters: FloatArray | None,
        counts: FloatArray | None = None,
        error: FloatArray | float = 0.0,
    ) -> Self:
        """Choose origin and scale, and express everything in them.

        `error` bounds what forgetting may have left in the scatter of a column: one that
        scatters no more than that does not vary.
        """
        # Relative to the first class, a column that never moves stays exactly where it is.
        with np.errstate(over="ignore", invalid="ignore"):
            gaps = (means - means[0]) + (lows - lows[0])
            shift = gaps.mean(axis=0)
            origin = means[0] + shift
            origin_low = ((means[0] - origin) + shift) + lows[0]
            places = (means - origin) + (lows - origin_low)
            held = (
                np.broadcast_to(weights[:, np.newaxis], means.shape) if counts is None else counts
            )
            seen = np.maximum(held.sum(axis=0), TINY)
            centre = (held * places).sum(axis=0) / seen
            variances = np.diagonal(scatter) if scatter.ndim == 2 else scatter
            within = variances / seen
            total = within + (held / seen * np.square(places - centre)).sum(axis=0)
        wide = ~np.isfinite(total)
        if wide.any():
            raise NotFinite.of_range(ColumnAt(int(j)) for j in np.flatnonzero(wide))
        active = total * seen > error
        scale = np.sqrt(np.where(active, total, 1.0))
        if scatter.ndim == 2:
            scatter = scatter / scale[:, np.newaxis] / scale
            if scatters is not None:
                scatters = scatters / scale[:, np.newaxis] / scale
        else:
            scatter = scatter / scale / scale
            scatters = None if scatters is None else scatters / scale / scale
        return cls(
            weights, origin, origin_low, scale, active, places / scale, scatter, scatters, held
        )


def _filled(
    means: FloatArray, lows: FloatArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Give a class that never showed a column the mean of the classes that did."""
    if counts.all():
        return means, lows
    seen = np.maximum(counts.sum(axis=0), TINY)
    common = (counts * means).sum(axis=0) / seen
    absent = counts == 0.0
    return np.where(absent, common, means), np.where(absent, 0.0, lows)


class CentredClasses:
    """Classes whose centres are origin + (origin_low + means * scale): the base of their laws."""

    if TYPE_CHECKING:  # fields of each law; here they would come before all others in files

        @property
        def origin(self) -> FloatArray: ...  # noqa: D102
        @property
        def origin_low(self) -> FloatArray: ...  # noqa: D102
        @property
        def scale(self) -> FloatArray: ...  # noqa: D102
        @property
        def means(self) -> FloatArray: ...  # noqa: D102

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.means)

    @cached_property
    def class_means(self) -> FloatArray:
        """The centre of every class (k, d), in the user's units."""
        return self.origin + (self.origin_low + self.means * self.scale)
