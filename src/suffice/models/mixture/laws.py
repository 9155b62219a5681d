"""Classes that are mixtures: the law of each is that of its own components, in their shares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import log_average, lower_inverse
from suffice.models.gaussian.full_normals import FullNormals
from suffice.models.gaussian.missing_patterns import by_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.gaussian.diagonal_normals import DiagonalNormals
    from suffice.rows import FloatArray, IntArray

    ComponentLaws = FullNormals | DiagonalNormals

FAR = 1e150
"""Rows whose squared distances leave the range of a double are brought this much nearer: which
component is the nearest does not change, for their means are as good as zero from there."""


@dataclass(frozen=True, eq=False)
class MixtureLaws:
    """p(x | y) = Σ_j mixing_yj·N(x; m_j, Σ_j), where every component j belongs to one class.

    `components` are c normal laws, `mixing` (k, c) their shares in each of k classes: a row adds
    up to one, and a column has one entry that is not zero.
    """

    components: ComponentLaws
    mixing: FloatArray

    has_odds = False
    """The log odds of two classes are no one sum over the columns."""
    is_shared = False
    """Boundaries are not flat, whatever covariances have in common."""
    not_flat = (
        "between mixtures, and not flat",
        'use GaussianDiscriminant(covariance="shared"), which has a linear form',
    )
    """Why boundaries are not flat, and what has flat ones."""

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.mixing)

    @property
    def owners(self) -> IntArray:
        """The class that each component belongs to, (c,)."""
        return np.asarray(self.mixing.argmax(axis=0), dtype=np.intp)

    @property
    def components_by_class(self) -> list[int]:
        """How many components each class has."""
        return [int(n) for n in np.bincount(self.owners, minlength=self.size)]

    @property
    def rank(self) -> int:
        """The number of directions that vary."""
        return int(self.components.rank)

    @property
    def silent(self) -> int:
        """The number of directions that do not vary at all."""
        return int(getattr(self.components, "silent", 0))

    @property
    def origin(self) -> FloatArray:
        """Where the standardized columns have their zero, (d,)."""
        return self.components.origin

    @property
    def origin_low(self) -> FloatArray:
        """The second double of the origin."""
        return self.components.origin_low

    @property
    def scale(self) -> FloatArray:
        """The units of the standardized columns, (d,)."""
        return self.components.scale

    @property
    def active(self) -> NDArray[np.bool_]:
        """Which columns vary."""
        return self.components.active

    @property
    def class_means(self) -> FloatArray:
        """The means of the classes (k, d)."""
        return np.asarray(self.mixing @ self.components.class_means)

    @property
    def covariances(self) -> FloatArray:
        """The covariances of the classes (k, d, d): within their components, and between them."""
        c = self.mixing.shape[1]
        inner = self.components.covariances
        inner = np.broadcast_to(inner, (c, *inner.shape[1:]))
        gaps = self.components.class_means - self.class_means[self.owners]
        outer = gaps[:, :, np.newaxis] * gaps[:, np.newaxis]
        return np.asarray(np.einsum("kc,cij->kij", self.mixing, inner + outer))

    # Densities

    @cached_property
    def _directions(self) -> FloatArray | None:
        """The directions that no row of the fit varies along, (a, silent); None if there are none.

        Along these every component has the same variance, one that stands in for none. How far a
        row is off there is the same for all classes, but for rounding, which would decide.
        """
        if not isinstance(self.components, FullNormals) or not self.silent:
            return None
        factor = self.components.factors[0]
        return np.asarray(np.linalg.svd(factor)[0][:, factor.shape[1] - self.silent :])

    def _settled(self, rows: FloatArray) -> FloatArray:
        """Return complete rows at the components' place along directions without variance."""
        directions = self._directions
        if directions is None:
            return rows
        law = self.components
        whole = ~np.isnan(rows).any(axis=1)
        z = (rows[whole][:, law.active] - law.origin[law.active]) / law.scale[law.active]
        gaps = (z - law.means[0, law.active]) @ directions @ directions.T
        out = rows.copy()
        out[np.ix_(whole, law.active)] -= gaps * law.scale[law.active]
        return out

    @property
    def _log_shares(self) -> FloatArray:
        """The log of the share of each component in its own class, (c,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.mixing.max(axis=0)))

    def _component_densities(self, rows: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            return self.components.log_densities(self._settled(rows))

    def component_scores(self, rows: FloatArray) -> FloatArray:
        """Return log mixing_yj + log N(x; m_j, Σ_j) of every component in its own class (n, c)."""
        return self._component_densities(rows) + self._log_shares

    def log_densities(self, rows: FloatArray) -> FloatArray:
        """Return log p(x | y), one column a class; blank cells are marginalised."""
        parts, shares, owners = self._component_densities(rows), self._log_shares, self.owners
        out = np.empty((len(rows), self.size))
        for k in range(self.size):
            own = owners == k
            out[:, k] = log_average(parts[:, own], shares[own])
        return out

    def scores(self, rows: FloatArray, log_priors: FloatArray) -> FloatArray:
        """Return log p(x, y); of rows beyond all squares, how near their class is."""
        found = self.log_densities(rows)
        lost = ~np.isfinite(found).any(axis=1)
        if lost.any():
            found[lost] = self._nearness(rows[lost])
        with np.errstate(divide="ignore"):
            return found + log_priors

    def block_scores(self, rows: FloatArray, log_priors: FloatArray, out: FloatArray) -> None:
        """Write log p(x, y) of one block into `out`."""
        out[:] = self.log_densities(rows) + log_priors

    def _nearness(self, rows: FloatArray) -> FloatArray:
        """Return scores by which the nearest component's class wins, however far rows are."""
        near = self.origin + (rows - self.origin) / FAR
        distances = self.components.squared_distances(near)[0]
        owners = self.owners
        return np.stack(
            [-0.5 * distances[:, owners == k].min(axis=1) for k in range(self.size)], axis=1
        )

    # Other laws made from these

    def marginal(self, seen: NDArray[np.bool_]) -> MixtureLaws:
        """Return the laws of some columns."""
        return MixtureLaws(self.components.marginal(seen), self.mixing)

    def sample(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw for each code: first its component, then the row."""
        return self.components.sample(self.drawn_components(codes, rng), rng)

    def drawn_components(self, codes: IntArray, rng: np.random.Generator) -> IntArray:
        """Return one component for each class, drawn by its share."""
        drawn = np.empty(len(codes), dtype=np.intp)
        for k in np.unique(codes):
            chosen = np.flatnonzero(codes == k)
            shares = self.mixing[k]
            drawn[chosen] = rng.choice(len(shares), size=len(chosen), p=shares / shares.sum())
        return drawn

    def typicality(self, rows: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return P(a draw of the class is no more likely than the row), (n, k), by `draws` draws.

        A row with blanks is compared with draws of the columns that it has.
        """
        made = [self.sample(np.full(draws, k, dtype=np.intp), rng) for k in range(self.size)]

        def work(part: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
            if not seen.any():
                return np.ones((len(part), self.size))
            law = self if seen.all() else self.marginal(seen)
            own = law.log_densities(part[:, seen])
            out = np.empty_like(own)
            for k, rows_of_class in enumerate(made):
                levels = np.sort(law.log_densities(rows_of_class[:, seen])[:, k])
                below = np.searchsorted(levels, own[:, k], side="right")
                out[:, k] = (1.0 + below) / (1.0 + draws)
            return out

        return by_pattern(rows, work)


def joined_laws(laws: Sequence[ComponentLaws], shares: Sequence[FloatArray]) -> MixtureLaws:
    """Return the mixtures of several classes as one, in the coordinates of the first.

    All have the same origin and the same columns that vary, if in other units.
    """
    first = laws[0]
    units = [law.scale / first.scale for law in laws]
    means = np.concatenate([law.means * unit for law, unit in zip(laws, units, strict=True)])
    place = first.origin, first.origin_low, first.scale, first.active, means
    sizes = [law.size for law in laws]
    mixing = np.zeros((len(laws), sum(sizes)))
    start = 0
    for k, part in enumerate(shares):
        mixing[k, start : start + len(part)] = part / part.sum()
        start += len(part)
    active = first.active
    factors = []
    for law, unit in zip(laws, units, strict=True):
        if isinstance(law, FullNormals):
            own = np.broadcast_to(law.factors, (law.size, *law.factors.shape[1:]))
            factors.append(own * unit[active][:, np.newaxis])
        else:
            deviations = np.broadcast_to(law.deviations, (law.size, law.deviations.shape[1]))
            spread = (deviations * unit)[:, active]
            factors.append(spread[:, :, np.newaxis] * np.eye(spread.shape[1]))
    stacked = np.concatenate(factors)
    whole = [law for law in laws if isinstance(law, FullNormals)]
    rank = min((law.rank for law in whole), default=int(active.sum()))
    silent = max((law.silent for law in whole), default=0)
    components = FullNormals(*place, stacked, lower_inverse(stacked), rank, silent)
    return MixtureLaws(components, mixing)
