"""Missing cells: EM on the moments of each pattern, without reading rows again."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.threads import pinned
from suffice.errors import DidNotConverge
from suffice.families.floors import CLASS_FLOOR, VARIANCE_FLOOR
from suffice.families.summary import ClassSummary
from suffice.statistics import ByClass, DiagonalMoments, Moments, PooledMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.families.gaussian import Gaussian
    from suffice.rows import FloatArray, IntArray, Label
    from suffice.statistics import ByPattern

TOLERANCE = 1e-10
"""EM stops when no mean moves by more (in standard deviations), and no covariance either."""
MOST_STEPS = 1000
STILL = 1e-6
"""Parameters that move by no more have converged, as far as rounding allows."""
PATIENCE = 40
"""Steps without progress after which rounding is taken to be all that moves."""
LACKING = 1e-9
"""Below this eigenvalue of the pooled correlations nothing varies along a direction."""
TRIFLE = 1e-8
"""The variance that stands there instead while EM runs, as a share of the columns' own."""
BATCH_CELLS = 4_000_000
"""How many cells a batch of pattern matrices may have."""


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Patterns with equally many observed columns, stacked: all arrays start with patterns."""

    places: IntArray  # (p, o) which columns are observed
    weights: FloatArray  # (p, k)
    means: FloatArray  # (p, k, o)
    scatters: FloatArray  # (p, o, o), summed over the classes that share a covariance


@dataclass(frozen=True, slots=True, eq=False)
class Incomplete:
    """Pattern statistics laid out for EM, in units of the observed cells' total spread.

    `groups` has one entry for each covariance to be estimated: all classes together if it
    is shared, every class by itself if not.
    """

    observed: ClassSummary
    groups: tuple[tuple[IntArray, tuple[_Batch, ...]], ...]

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
        groups = tuple((m, _batches(statistics, labels, m, observed)) for m in members)
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
        size, width = o.means.shape
        new_means = np.zeros((size, width))
        scatters = np.zeros((len(self.groups), width, width))
        for g, (members, batches) in enumerate(self.groups):
            new_means[members], scatters[g] = _expected(
                batches, means[members], covariances[g], o.weights[members]
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


def expectation_maximization(
    family: Gaussian,
    data: Incomplete,
    start: tuple[FloatArray, FloatArray] | None = None,
    *,
    most_steps: int = MOST_STEPS,
    tolerance: float = TOLERANCE,
) -> tuple[ClassSummary, tuple[FloatArray, FloatArray], int]:
    """Return completed moments at the maximum of the observed likelihood, parameters, steps.

    Two plain steps give a direction along which the third may leap (SQUAREM, Varadhan and
    Roland 2008): EM alone creeps when much is missing. A leap that leaves the positive
    definite matrices is not taken; every leap is followed by a plain step.

    Floors would come and go inside EM: a variance that tends to zero would be lifted, and
    tend to zero again. A class that does not vary in every direction is given a constant
    there instead, 1/W of the pooled variance, and keeps it.
    """
    here = data.start(family) if start is None else start
    aid = _Aid(
        data.observed.weights, len(data.observed.scale), shared=family.covariance == "shared"
    )
    steps, least, since = 0, np.inf, 0
    with pinned():
        while True:
            one, summary = _step(family, data, here, aid)
            steps += 1
            first = _difference(one, here)
            moved = _size(first)
            # Where a direction is missing, rounding alone may move parameters by more than asked.
            least, since = (moved, steps) if moved < 0.5 * least else (least, since)
            stuck = least < STILL and steps - since > PATIENCE
            if moved <= tolerance or stuck or steps >= most_steps:
                break
            two, summary = _step(family, data, one, aid)
            steps += 1
            second = _difference(two, one)
            if _size(second) <= tolerance or steps >= most_steps:
                one = two
                break
            here = _leap(here, first, second, aid) or two
    if moved > STILL and most_steps > 1:
        warnings.warn(
            f"EM stopped after {steps} steps while parameters still moved by {moved:.1g} "
            "standard deviations",
            DidNotConverge,
            stacklevel=2,
        )
    return aid.kept(summary), (one[0], aid(one[1])), steps


class _Aid:
    """What covariances are given where they lack a direction: constant, unlike a floor.

    A class gets 1/W of the pooled variance along directions in which it does not vary, as
    soon as that is seen and from then on; where nothing varies, all classes get a trifle.
    """

    def __init__(self, weights: FloatArray, width: int, *, shared: bool) -> None:
        self.weights, self.shared = weights, shared
        self.given = np.zeros((1 if shared else len(weights), width, width))
        self.trifle = np.zeros((width, width))
        self.looks = 0

    def __call__(self, covariances: FloatArray) -> FloatArray:
        """Return covariances that can be inverted."""
        return covariances + self.given + self.trifle

    def look(self, covariances: FloatArray) -> None:
        """Look, at first and then now and again, for directions that have vanished.

        Only after a step: a leap leaves traces of where it came from.
        """
        self.looks += 1
        if self.looks > 3 and self.looks % 5:
            return
        shares = np.ones(1) if self.shared else self.weights / self.weights.sum()
        pooled = np.tensordot(shares, covariances, axes=1)
        spread = np.sqrt(np.maximum(np.diagonal(pooled), TRIFLE))
        values, basis = np.linalg.eigh(pooled / spread[:, np.newaxis] / spread)
        silent = values < LACKING
        blank = spread[:, np.newaxis] * basis[:, silent]
        if silent.any():
            self.trifle = TRIFLE * (blank @ blank.T)
        if self.shared:
            return
        lengths, kept = np.sqrt(values[~silent]), basis[:, ~silent]
        root = spread[:, np.newaxis] * kept * lengths
        whitening = (kept / spread[:, np.newaxis] / lengths).T
        for c, covariance in enumerate(covariances):
            relative = whitening @ (covariance + self.given[c]) @ whitening.T
            theta, turns = np.linalg.eigh((relative + relative.T) / 2.0)
            lost = root @ turns[:, theta < CLASS_FLOOR]
            self.given[c] += lost @ lost.T / max(1.0, float(self.weights[c]))

    def kept(self, summary: ClassSummary) -> ClassSummary:
        """Return moments in which classes hold what they were given."""
        if self.shared or summary.scatters is None or not self.given.any():
            return summary
        held = self.weights[:, np.newaxis, np.newaxis] * self.given
        return replace(summary, scatters=summary.scatters + held)


def _step(
    family: Gaussian, data: Incomplete, here: tuple[FloatArray, FloatArray], aid: _Aid
) -> tuple[tuple[FloatArray, FloatArray], ClassSummary]:
    summary = data.completed(here[0], aid(here[1]))
    covariances = _covariances(family, summary)
    aid.look(covariances)
    return (summary.means, covariances), summary


def _covariances(family: Gaussian, summary: ClassSummary) -> FloatArray:
    """Return pooled and shrunk covariances without floors; columns that never vary get 1."""
    act, width = np.flatnonzero(summary.active), len(summary.scale)
    pooled = family.pooled(summary)
    variances = np.maximum(np.diagonal(pooled), VARIANCE_FLOOR)
    shared = family.covariance == "shared"
    matrices = [pooled] if shared else [family.mixed(summary, c) for c in range(summary.size)]
    result = np.broadcast_to(np.eye(width), (len(matrices), width, width)).copy()
    for c, matrix in enumerate(matrices):
        result[c][np.ix_(act, act)] = family.shrunk(matrix, variances)
    return result


def _difference(
    new: tuple[FloatArray, FloatArray], old: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    return new[0] - old[0], new[1] - old[1]


def _size(change: tuple[FloatArray, FloatArray]) -> float:
    return float(max(np.abs(part).max(initial=0.0) for part in change))


def _leap(
    here: tuple[FloatArray, FloatArray],
    first: tuple[FloatArray, FloatArray],
    second: tuple[FloatArray, FloatArray],
    aid: _Aid,
) -> tuple[FloatArray, FloatArray] | None:
    """Return θ - 2αr + α²v with α = -‖r‖/‖v‖, or None if that is no covariance."""
    bend = _difference(second, first)
    length = sum(float(np.square(part).sum()) for part in first)
    curve = sum(float(np.square(part).sum()) for part in bend)
    if curve == 0.0:
        return None
    a = -max(1.0, float(np.sqrt(length / curve)))
    means, covariances = (
        x - 2.0 * a * r + a * a * v for x, r, v in zip(here, first, bend, strict=True)
    )
    try:
        np.linalg.cholesky(aid(covariances))
    except np.linalg.LinAlgError:
        return None
    return means, covariances


def _expected(
    batches: tuple[_Batch, ...], means: FloatArray, covariance: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return new class means and the pooled scatter about them, missing cells expected.

    With B = Σ_{:O} Σ_OO⁻¹ a pattern's rows are completed to m + B(x_O - m_O), and what
    remains uncertain is Σ - BΣ_{O:}; both enter through B(S - WΣ_OO)Bᵀ + WΣ.
    """
    size, width = means.shape
    sums = np.zeros((size, width))
    scatter = weights.sum() * covariance
    shifts, held = [], []
    for batch in batches:
        o = batch.places
        block = covariance[o[:, :, np.newaxis], o[:, np.newaxis, :]]
        across = covariance[o]  # (p, o, d)
        regress = np.linalg.solve(block, across).transpose(0, 2, 1)  # (p, d, o)
        total = batch.weights.sum(axis=1)
        inner = batch.scatters - total[:, np.newaxis, np.newaxis] * block
        left = (regress @ inner).transpose(1, 0, 2).reshape(width, -1)
        scatter += left @ regress.transpose(0, 2, 1).reshape(-1, width)
        gaps = batch.means - means[:, o].transpose(1, 0, 2)  # (p, k, o)
        moved = gaps @ regress.transpose(0, 2, 1)  # (p, k, d): completed mean minus m
        sums += np.einsum("pk,pkd->kd", batch.weights, moved)
        shifts.append(moved)
        held.append(batch.weights)
    change = sums / weights[:, np.newaxis]
    for moved, weight in zip(shifts, held, strict=True):
        reach = (moved - change) * np.sqrt(weight)[:, :, np.newaxis]
        flat = reach.reshape(-1, width)
        scatter += flat.T @ flat
    return means + change, (scatter + scatter.T) / 2.0


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
                bounds[seen] = group.groups[label].error
            merged[label] = merged[label] + DiagonalMoments(
                weight, counts, means, lows, squares, bounds
            )
        if isinstance(group, PooledMoments):
            pooled[seen] += np.diagonal(group.scatter)
            error[seen] += group.error
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


def _batches(
    statistics: ByPattern[PooledMoments] | ByPattern[ByClass[Moments]],
    labels: Sequence[Label],
    members: IntArray,
    observed: ClassSummary,
) -> tuple[_Batch, ...]:
    """Stack the patterns of some classes by how many of their columns are observed."""
    stacks: dict[int, list[tuple[IntArray, FloatArray, FloatArray, FloatArray]]] = {}
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
        if weights.any() and len(places):
            stacks.setdefault(len(places), []).append((places, weights, means, scatter))
    batches = []
    width = len(observed.origin)
    for count, parts in stacks.items():
        most = max(1, BATCH_CELLS // (count * width))
        for start in range(0, len(parts), most):
            p, w, m, s = zip(*parts[start : start + most], strict=True)
            batches.append(_Batch(np.stack(p), np.stack(w), np.stack(m), np.stack(s)))
    return tuple(batches)
