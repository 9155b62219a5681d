"""Tails of Σ g_j over independent columns of any kind, on a lattice.

Each column of a row has a law of its own: the values g that the cell might have had, and how
probable each was. Any function of a row may be its statistic, so g is rounded to a lattice, and
the law of the sum is then exact: a product of transforms. Ties count against nobody: they are
part of the tail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadWeights
from suffice.models.typicality.normal_sums import cumulants, masses, steepest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray

    Complex = NDArray[np.complex128]

STEP = 1.0 / 32.0
"""How fine g is: a statistic that is coarser is as valid, and a little less sharp (3 % of p)."""
MOST_POINTS = 1 << 17
"""Points of the lattice. Only what reaches farther, of one or two rows a class, is coarser."""
MANY_LAWS = 1000
"""Different laws of whole rows above which frequencies that hardly count are left out first. A
choice: of fewer, that takes as long as it saves."""
DROPPED = 1e-6
"""What leaving out small transforms may change a p-value by."""
CELLS = 1 << 16
"""Numbers in one block of rows and frequencies: as many as a core's cache holds."""
NOTHING = -1
"""The law of a cell that is missing, or of which nothing is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Places 0, step, …, (points - 1)·step, and the frequencies that are worth keeping."""

    step: float
    points: int
    chosen: IntArray | None = None

    def kept(self, transforms: Complex) -> Complex:
        """Return the transforms at the frequencies chosen."""
        return transforms if self.chosen is None else transforms[..., self.chosen]

    @property
    def frequencies(self) -> IntArray:
        """The frequencies chosen, or all of them."""
        return np.arange(self.points // 2 + 1) if self.chosen is None else self.chosen


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Laws of a column with values apart from each other, and which law each row has.

    `values` and `shares` are (laws, atoms), shares of padding being 0; `own` (n,) is the value of
    each row itself, `laws` (n,) which law it has, or NOTHING.
    """

    values: FloatArray
    shares: FloatArray
    own: FloatArray
    laws: IntArray

    @property
    def reach(self) -> float:
        """The largest value that has a share."""
        return float(np.max(np.where(self.shares > 0.0, self.values, 0.0), initial=0.0))

    def log_moments(self, thetas: FloatArray) -> FloatArray:
        """Return the largest of log E exp(θg) over laws, for each θ."""
        grown = np.exp(thetas[:, np.newaxis, np.newaxis] * self.values) * self.shares
        found: FloatArray = np.log(np.max(grown.sum(axis=2), axis=1, initial=1.0))
        return found

    def places(self, step: float) -> IntArray:
        """Return the rows' own values on the lattice; far beyond its end for what is infinite."""
        return np.minimum(np.round(self.own / step), 1e12).astype(np.int64)

    def transforms(self, lattice: Lattice) -> Complex:
        """Return the transforms of all laws, and 1 for NOTHING as the last one."""
        count = len(self.values)
        points = lattice.points
        places = np.minimum(np.round(self.values / lattice.step), points - 1).astype(np.int64)
        places += points * np.arange(count)[:, np.newaxis]
        mass = np.bincount(places.ravel(), self.shares.ravel(), minlength=count * points)
        found = np.fft.rfft(mass.reshape(count, points), axis=1)
        found = np.concatenate([found, np.ones((1, found.shape[1]))])
        return lattice.kept(found)


@dataclass(frozen=True, slots=True, eq=False)
class Continuous:
    """Normal columns with the same ν: their g (n, columns), 0 where `there` is False."""

    freedom: float
    parts: FloatArray
    there: NDArray[np.bool_]

    @property
    def laws(self) -> IntArray:
        """How many of the columns each row has."""
        found: IntArray = self.there.sum(axis=1)
        return found

    def log_moments(self, thetas: FloatArray) -> FloatArray:
        """Return log E exp(θΣg) of all columns."""
        return cumulants(((self.freedom, self.parts.shape[1]),), thetas).value

    @property
    def sums(self) -> FloatArray:
        """The rows' own sums."""
        found: FloatArray = np.where(self.there, self.parts, 0.0).sum(axis=1)
        return found

    def places(self, step: float) -> IntArray:
        """Return the rows' own sums on the lattice, rounded column by column."""
        found = np.minimum(np.round(np.where(self.there, self.parts, 0.0) / step), 1e12)
        places: IntArray = found.astype(np.int64).sum(axis=1)
        return places

    def transforms(self, lattice: Lattice) -> Complex:
        """Return the transforms of the sums of 0, 1, … columns."""
        one = lattice.kept(np.fft.rfft(masses(self.freedom, lattice.step, lattice.points)))
        powers = np.arange(self.parts.shape[1] + 1)[:, np.newaxis]
        found: Complex = one**powers
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """p-values (n,) that are multiples of 1/`size`, found by ranks among draws: g = -log p."""

    p_values: FloatArray
    size: int

    @property
    def laws(self) -> IntArray:
        """One law for all rows."""
        return np.ones(len(self.p_values), dtype=np.intp)

    def _shares(self) -> FloatArray:
        return np.arange(1, self.size + 1) / self.size

    def log_moments(self, thetas: FloatArray) -> FloatArray:
        """Return log E exp(θg)."""
        found: FloatArray = np.log(np.mean(self._shares() ** -thetas[:, np.newaxis], axis=1))
        return found

    def places(self, step: float) -> IntArray:
        """Return the rows' own values on the lattice."""
        return np.round(-np.log(self.p_values) / step).astype(np.int64)

    def transforms(self, lattice: Lattice) -> Complex:
        """Return 1, and the transform of the law."""
        last = lattice.points - 1
        places = np.minimum(np.round(-np.log(self._shares()) / lattice.step), last)
        mass = np.bincount(places.astype(np.int64), minlength=last + 1) / self.size
        return lattice.kept(np.stack([np.ones(len(mass) // 2 + 1), np.fft.rfft(mass)]))


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """Columns that have the same laws: it matters how often a row has each, and not where."""

    parts: Sequence[Atoms]
    counts: IntArray
    """How often (kinds, laws) each law is had."""
    laws: IntArray

    @classmethod
    def of(cls, parts: Sequence[Atoms]) -> Repeated:
        """Count the laws of each row."""
        laws = np.stack([part.laws for part in parts], axis=1)
        many = np.stack([(laws == law).sum(axis=1) for law in range(len(parts[0].values))], axis=1)
        counts, inverse = np.unique(many, axis=0, return_inverse=True)
        return cls(parts, counts, inverse.ravel())

    @property
    def reach(self) -> float:
        """The largest sum."""
        return len(self.parts) * self.parts[0].reach

    def log_moments(self, thetas: FloatArray) -> FloatArray:
        """Return the largest of log E exp(θΣg) over laws, for each θ."""
        return len(self.parts) * self.parts[0].log_moments(thetas)

    def places(self, step: float) -> IntArray:
        """Return the rows' own sums on the lattice, rounded column by column."""
        found: IntArray = np.sum([part.places(step) for part in self.parts], axis=0)
        return found

    def transforms(self, lattice: Lattice) -> Complex:
        """Return the transforms of the sums, one for each kind of row."""
        single = self.parts[0].transforms(lattice)
        found = np.ones((len(self.counts), single.shape[1]), dtype=np.complex128)
        for law in range(self.counts.shape[1]):
            found *= single[law] ** self.counts[:, law, np.newaxis]
        return found


Part = Atoms | Continuous | Ranked | Repeated


def _put_together(parts: Sequence[Part]) -> list[Part]:
    """Return parts in which columns with the same laws are one: presences of words are many."""
    found: list[Part] = [part for part in parts if not isinstance(part, Atoms)]
    same: dict[tuple[bytes, bytes], list[Atoms]] = {}
    for part in parts:
        if isinstance(part, Atoms):
            key = part.values.tobytes(), part.shares.tobytes()
            same.setdefault(key, []).append(part)
    for alike in same.values():
        found += [Repeated.of(alike)] if len(alike) > 2 else alike
    return found


def lattice_tails(size: int, parts: Sequence[Part]) -> FloatArray:
    """Return P(Σg ≥ that of the row) for each of `size` rows."""
    parts = [p for p in parts if isinstance(p, Ranked) or (p.laws != _nothing(p)).any()]
    parts = _put_together(parts)
    if not parts:
        return np.ones(size)
    rates = [steepest(((p.freedom, 1),)) for p in parts if isinstance(p, Continuous)]
    thetas = min([1.0, *rates]) * np.array([0.1, 0.25, 0.5, 0.7, 0.85, 0.95])
    moments = np.sum([part.log_moments(thetas) for part in parts], axis=0)
    # Chernoff's bound: beyond `reach` there is no more than exp(-27) of any row's law.
    reach = float(np.min((moments + 27.0) / thetas))
    if not np.isfinite(reach):
        raise BadWeights(
            "the weights of a class are beyond what p-values can be worked out from",
            hint="multiply all weights by the same power of ten, so that a usual row counts once",
        )
    if all(isinstance(part, (Atoms, Repeated)) for part in parts):
        reaches = [part.reach for part in parts if isinstance(part, (Atoms, Repeated))]
        reach = min(reach, sum(reaches))
    kinds = Kinds.of(parts)
    # The step is the same for all: what else is asked must not change what a row is told.
    # Rounding may carry every column up by half a step.
    width = sum(len(part.parts) if isinstance(part, Repeated) else 1 for part in parts)
    step = max(STEP, reach / (MOST_POINTS // 2))
    points = 256 * (2 + int(reach / step + min(width, MOST_POINTS // 2)) // 256)
    lattice = _worth_keeping(parts, kinds, Lattice(step, points))
    tables = [part.transforms(lattice) for part in parts]
    if all(isinstance(part, Continuous) for part in parts):
        sums = np.sum([p.sums for p in parts if isinstance(p, Continuous)], axis=0)
        sums = np.minimum(sums / step, 1e12)
        low = np.floor(sums)
        near = kinds.tails(tables, low[:, np.newaxis].astype(np.int64) + np.arange(3), lattice)
        # Nothing is tied but by the lattice: half of what has a place lies beyond it.
        share = sums - low
        found = ((1.0 - share) * near[:, 0] + near[:, 1] + share * near[:, 2]) / 2.0
        own = sums
    else:
        own = np.sum([part.places(step) for part in parts], axis=0)
        found = kinds.tails(tables, own[:, np.newaxis], lattice)[:, 0]
    with np.errstate(over="ignore", under="ignore"):
        bound = np.full(size, np.inf)
        for moment, theta in zip(moments, thetas, strict=True):
            np.minimum(bound, moment - theta * (own * step), out=bound)
        # Where a transform has no digits left, or the lattice no places, the bound has.
        least: FloatArray = np.minimum(found, np.exp(np.minimum(bound, 0.0)))
    return least


def _nothing(part: Part) -> int:
    return NOTHING if isinstance(part, Atoms) else 0


def _worth_keeping(parts: Sequence[Part], kinds: Kinds, lattice: Lattice) -> Lattice:
    """Return the lattice with the frequencies at which some row's transform is not negligible."""
    if len(kinds.laws) <= MANY_LAWS:
        return lattice
    frequencies = lattice.frequencies
    largest = np.zeros(len(frequencies))
    with np.errstate(divide="ignore"):
        for part in parts:
            there = np.unique(part.laws)
            largest += np.log(np.abs(part.transforms(lattice)[there]).max(axis=0))
        # How much a frequency can move a tail.
        most = np.exp(np.minimum(largest, 0.0)) / np.sin(np.pi * frequencies / lattice.points)
    order = np.argsort(most)
    dropped = np.cumsum(most[order]) * 2.0 / lattice.points <= DROPPED
    return Lattice(lattice.step, lattice.points, np.sort(order[~dropped]))


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The different laws of whole rows: a law for each part (kinds, parts), and each row's kind."""

    laws: NDArray[np.int32]
    inverse: IntArray

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Kinds:
        """Tell rows of different laws apart."""
        laws = np.stack([part.laws for part in parts], axis=1).astype(np.int32)
        width = laws.dtype.itemsize * laws.shape[1]
        keys = laws.view(np.dtype((np.void, width)))[:, 0]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return cls(laws[first], inverse.ravel())

    def tails(self, tables: list[Complex], own: IntArray, lattice: Lattice) -> FloatArray:
        """Return the tails of the products of transforms from places (n, m) of each row on."""
        places = np.clip(own, 0, lattice.points - 1)
        whole = lattice.chosen is None
        weights = None if whole else _tail_weights(lattice)
        if weights is not None:
            tables = [table.astype(np.complex64) for table in tables]
        order = np.argsort(self.inverse, kind="stable")
        ends = np.searchsorted(self.inverse[order], np.arange(len(self.laws) + 1))
        out = np.empty(places.shape)
        step = max(1, CELLS // len(lattice.frequencies))
        for start in range(0, len(self.laws), step):
            stop = min(start + step, len(self.laws))
            laws = self.laws[start:stop]
            product = tables[0][laws[:, 0]]
            for j in range(1, len(tables)):
                product *= tables[j][laws[:, j]]
            rows = order[ends[start] : ends[stop]]
            kind = self.inverse[rows] - start
            if weights is None:
                mass = np.fft.irfft(product, lattice.points, axis=1)
                tails = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
                out[rows] = tails[kind[:, np.newaxis], places[rows]]
                continue
            for low in range(0, len(rows), step):
                some = rows[low : low + step]
                terms = product[kind[low : low + step]]
                for m in range(places.shape[1]):
                    found = np.einsum("ij,ij->i", terms, weights[places[some, m]])
                    out[some, m] = found.real
        # A transform rounds; the row itself is always part of its tail.
        return np.clip(out, 1e-15 if whole else DROPPED, 1.0)


def _tail_weights(lattice: Lattice) -> NDArray[np.complex64]:
    """Return (points, frequencies): by what a transform is multiplied for the tail from a place."""
    chosen, points = lattice.frequencies, lattice.points
    turns = np.exp(2j * np.pi * chosen / points)
    places = np.arange(points)[:, np.newaxis]
    powers = np.exp(2j * np.pi * ((places * chosen) % points) / points)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Complex = (powers - 1.0) / (1.0 - turns)
    found = found * np.where((chosen == 0) | (chosen == points // 2), 1.0, 2.0)
    found[:, chosen == 0] = points - places
    return (found / points).astype(np.complex64)
