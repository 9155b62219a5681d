"""Statistics of rows with missing cells, laid out for EM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.models.gaussian.class_moments import ClassSummary
from suffice.models.gaussian.missing.e_step import Patterns, Shown
from suffice.statistics import ByClass, DiagonalMoments, Moments, PooledMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.models.gaussian.family import Gaussian
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.statistics import ByPattern


@dataclass(frozen=True, slots=True, eq=False)
class Incomplete:
    """Pattern statistics laid out for EM, in units of the observed cells' total spread.

    `groups` has one entry for each covariance to be estimated: all classes together if it
    is shared, every class by itself if not.
    """

    observed: ClassSummary
    groups: tuple[tuple[IntArray, Patterns], ...]

    @classmethod
    def of(
        cls,
        statistics: ByPattern[PooledMoments] | ByPattern[ByClass[Moments]],
        labels: Sequence[Label],
    ) -> Incomplete:
        """Standardize by what was observed of each column, and stack the patterns."""
        observed = _observed(statistics, labels)
        shared = isinstance(next(iter(statistics.groups.values())), PooledMoments)
        members = (
            [np.arange(len(labels))] if shared else [np.array([c]) for c in range(len(labels))]
        )
        groups = tuple((m, _patterns(statistics, labels, m, observed)) for m in members)
        return cls(observed, groups)

    def start(self, family: Gaussian) -> tuple[FloatArray, FloatArray]:
        """Return means and covariances to begin with: columns independent, as observed."""
        o = self.observed
        seen = np.maximum(o.counts.sum(axis=0), 1.0)
        variances = np.where(o.active, np.maximum(o.scatter / seen, 1e-12), 1.0)
        count = 1 if family.covariance == "shared" else o.size
        return o.means.copy(), np.stack([np.diag(variances)] * count)

    def completed(self, means: FloatArray, covariances: FloatArray) -> ClassSummary:
        """Return the expected moments of the complete rows: the E-step."""
        o = self.observed
        size = o.size
        new_means = means.copy()
        # A column that never varies has nothing to expect: it keeps what it was given.
        scatters = (
            covariances
            * np.array([o.weights[members].sum() for members, _ in self.groups])[
                :, np.newaxis, np.newaxis
            ]
        )
        active = np.flatnonzero(o.active)
        act = np.ix_(active, active)
        for g, (members, patterns) in enumerate(self.groups):
            at = np.ix_(members, active)
            new_means[at], scatters[g][act] = patterns.expected(
                means[at], covariances[g][act], o.weights[members]
            )
        shared = len(self.groups) == 1 and size > 1
        return ClassSummary(
            o.weights,
            o.origin,
            o.origin_low,
            o.scale,
            o.active,
            new_means,
            scatters.sum(axis=0),
            None if shared else scatters,
            np.broadcast_to(o.weights[:, np.newaxis], new_means.shape),
        )


def _observed(
    statistics: ByPattern[PooledMoments] | ByPattern[ByClass[Moments]], labels: Sequence[Label]
) -> ClassSummary:
    """Return what was observed of each column by itself: scale, origin and starting values."""
    width = statistics.width
    merged: dict[Label, DiagonalMoments] = {c: DiagonalMoments.empty(width) for c in labels}
    pooled, error = np.zeros(width), np.zeros(width)
    for seen, group in statistics.items():
        for label in labels:
            part = _class_part(group, label)
            if part is None:
                continue
            weight, mean, low, scatter = part
            counts, means, lows, squares, bounds = (np.zeros(width) for _ in range(5))
            counts[seen], means[seen], lows[seen] = weight, mean, low
            if scatter is not None and isinstance(group, ByClass):
                squares[seen] = np.diagonal(scatter)
                bounds[seen] = group.groups[label].bound
            merged[label] = merged[label] + DiagonalMoments(
                weight, counts, means, lows, squares, bounds
            )
        if isinstance(group, PooledMoments):
            pooled[seen] += np.diagonal(group.scatter)
            error[seen] += group.bound
    summary_groups = ByClass(merged)
    summary = ClassSummary.of(summary_groups, labels)
    if not pooled.any():
        return summary
    # Pooled statistics know the scatter within classes only for all classes together.
    means = np.stack([merged[c].mean for c in labels])
    lows = np.stack([merged[c].low for c in labels])
    counts = np.stack([merged[c].counts for c in labels])
    from_means = np.stack([merged[c].scatter for c in labels]).sum(axis=0)
    weights = np.array([merged[c].weight for c in labels])
    return ClassSummary.standardizing(
        weights,
        _where_seen(means, counts),
        np.where(counts > 0.0, lows, 0.0),
        pooled + from_means,
        None,
        counts,
        error,
    )


def _where_seen(means: FloatArray, counts: FloatArray) -> FloatArray:
    """Give a class that never showed a column the mean of the classes that did."""
    seen = np.maximum(counts.sum(axis=0), np.finfo(np.float64).tiny)
    return np.where(counts > 0.0, means, (counts * means).sum(axis=0) / seen)


def _class_part(
    group: PooledMoments | ByClass[Moments], label: Label
) -> tuple[float, FloatArray, FloatArray, FloatArray | None] | None:
    if isinstance(group, PooledMoments):
        if label not in group.places:
            return None
        i = group.places[label]
        return float(group.weights[i]), group.means[i], group.lows[i], None
    if label not in group.groups:
        return None
    one = group.groups[label]
    return one.weight, one.mean, one.low, one.scatter


def _patterns(
    statistics: ByPattern[PooledMoments] | ByPattern[ByClass[Moments]],
    labels: Sequence[Label],
    members: IntArray,
    observed: ClassSummary,
) -> Patterns:
    """Return what some classes have shown, laid out for the E-step."""
    parts = shown_patterns(statistics, labels, members, observed)
    return Patterns.of(parts, int(observed.active.sum()), len(members))


def shown_patterns(
    statistics: ByPattern[PooledMoments] | ByPattern[ByClass[Moments]],
    labels: Sequence[Label],
    members: IntArray,
    observed: ClassSummary,
) -> list[Shown]:
    """Return what some classes have shown, pattern by pattern, counted in active columns."""
    active = np.flatnonzero(observed.active)
    parts = []
    for seen, group in statistics.items():
        places = np.flatnonzero(seen & observed.active)
        inner = observed.active[seen]
        weights = np.zeros(len(members))
        means = np.zeros((len(members), len(places)))
        scatter = np.zeros((len(places), len(places)))
        scale = observed.scale[places]
        for i, c in enumerate(members):
            part = _class_part(group, labels[c])
            if part is None:
                continue
            weight, mean, low, own = part
            weights[i] = weight
            shifted = (mean[inner] - observed.origin[places]) + (
                low[inner] - observed.origin_low[places]
            )
            means[i] = shifted / scale
            if own is not None:
                scatter += own[np.ix_(inner, inner)] / scale[:, np.newaxis] / scale
        if isinstance(group, PooledMoments):
            scatter = group.scatter[np.ix_(inner, inner)] / scale[:, np.newaxis] / scale
        if weights.any():
            parts.append(Shown(np.searchsorted(active, places), weights, means, scatter))
    return parts
