"""Where EM begins: partitions of a sample, by agglomeration and by k-means, the same in any order.

Rows are taken in the order of their content's hash, each content once: neither their order nor how
often a row is repeated changes a start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.linear_algebra import EPSILON
from suffice.models.gaussian.floors import EIGENVALUE_FLOOR
from suffice.models.mixture.coordinates import MixtureRows
from suffice.models.mixture.em import Climb, climb
from suffice.models.mixture.maximization import ComponentPrior, Maximization

if TYPE_CHECKING:
    from suffice.models.mixture.coordinates import Coordinates
    from suffice.models.mixture.sums import Components
    from suffice.rows import FloatArray, IntArray

SAMPLE = 1000
"""Rows that are agglomerated: distances of all pairs take four megabytes. A choice."""
MOST_ROUNDS = 50
"""Rounds of k-means, at most: a start need not be a fixed point. A choice."""
SETTLED = 1e-3
"""Share of rows that may still change their part when k-means ends. A choice."""
START_ROWS = 5000
"""Rows that starts are partitions of, at most. A choice."""
NEIGHBOURS = 5
"""The neighbour to which a row's distance says whether it is alone. A choice."""
SCATTERED = 6
"""Partitions by rows that are drawn alone, for each view and number of components. Of k-means they
make EM independent: on iris, with three components of form VVV, none of its starts leads to the
highest maximum that is known, and a third of these do."""
DRAWS = 4
"""Draws of k-means++ for each number of components. A choice."""
FIRST_STEPS = 3
"""Steps of EM from every start, after which the better half goes on. A choice."""
MORE_STEPS = 12
"""Steps of these before the best of them go on: where one number and form is all that is asked
for. A choice."""
AGREED = 3
"""Starts that have to lead to one maximum, and none higher, for no others to be tried: of a
large table they are a tree's and k-means' in two views. A choice."""


class Starts:
    """Partitions of sampled rows into any number of parts."""

    def __init__(
        self, sample: FloatArray, coordinates: Coordinates, seed: int, *, noisy: bool
    ) -> None:
        z = coordinates.standardized(sample[:START_ROWS])
        z = np.where(np.isnan(z), 0.0, z)  # at the mean: for a start that will do
        self.size = len(z)
        self._kept = _near_others(z) if noisy else np.arange(len(z))
        z = z[self._kept]
        spread = z.std(axis=0)
        z = z / np.where(spread > 0.0, spread, 1.0)
        self.seed = seed
        self.z = z
        covariance = np.atleast_2d(np.cov(z.T, bias=True))
        values, basis = np.linalg.eigh(covariance)
        kept = values > EIGENVALUE_FLOOR * max(1.0, float(values.max(initial=0.0)))
        # Of few rows all are equally far from each other once they are white: rounding decides.
        white = [z @ basis[:, kept] / np.sqrt(values[kept])] if len(z) > 2 * z.shape[1] else []
        self._views = [*white, z]
        self._trees: dict[int, Any] = {}
        self._known: dict[tuple[int, bool], list[FloatArray]] = {}
        self._repeats: dict[int, list[int]] = {}

    def partitions(self, components: int, *, every: bool = False) -> list[FloatArray]:
        """Return partitions into so many parts as shares (m, k), none twice.

        Of each view the tree's and the tightest of k-means, unless `every` one is asked for.
        """
        if (components, every) not in self._known:
            found = self._partitions(components, every=every)
            self._known[components, every] = [self._of_all(codes, components) for codes in found]
        return self._known[components, every]

    def _of_all(self, codes: IntArray, components: int) -> FloatArray:
        """Return a partition of what is no noise as one of all rows: noise is of no part."""
        shares = np.zeros((self.size, components))
        shares[self._kept, codes] = 1.0
        return shares

    def _partitions(self, components: int, *, every: bool) -> list[IntArray]:
        if components == 1:
            return [np.zeros(len(self.z), dtype=np.intp)]
        found: list[IntArray] = []
        for view in range(len(self._views)):
            found.append(self._agglomerated(view, components))
            tightest = self._tightest(view, components)
            found += tightest if every else tightest[:1]
            if every:
                found += self._scattered(view, components)
        different = {_canonical(one).tobytes(): one for one in reversed(found)}
        kept = [one for one in reversed(different.values()) if len(np.unique(one)) == components]
        if not every:
            keys = [_canonical(one).tobytes() for one in found]
            self._repeats[components] = [keys.count(_canonical(one).tobytes()) for one in kept]
        return kept

    def repeats(self, components: int) -> list[int]:
        """Return how often each of the partitions (not of `every` one) was found."""
        return self._repeats.get(components, [1])

    def _agglomerated(self, view: int, components: int) -> IntArray:
        """Cut Ward's tree of the first rows; the others join the nearest mean."""
        from scipy.cluster.hierarchy import ward

        z = self._views[view]
        first = z[:SAMPLE]
        if view not in self._trees:
            self._trees[view] = ward(first)
        codes = _cut(self._trees[view], components)
        if len(first) == len(z):
            return codes
        centres = np.stack([first[codes == c].mean(axis=0) for c in range(components)])
        return _nearest(z, centres)[0]

    def _tightest(self, view: int, components: int) -> list[IntArray]:
        """Return several partitions by k-means from k-means++, the tightest first."""
        rng = np.random.default_rng([self.seed, components, view])
        found = [_k_means(self._views[view], components, rng) for _ in range(DRAWS)]
        return [codes for codes, _ in sorted(found, key=lambda pair: pair[1])]

    def _scattered(self, view: int, components: int) -> list[IntArray]:
        """Return several partitions by the nearest of some rows drawn, which EM mends itself."""
        rng = np.random.default_rng([self.seed, components, view, SCATTERED])
        z = self._views[view]
        draws = (rng.choice(len(z), components, replace=False) for _ in range(SCATTERED))
        return [_nearest(z, z[places])[0] for places in draws]


def _cut(tree: FloatArray, components: int) -> IntArray:
    """Return the parts into which a tree of merges falls without its last ones.

    >>> _cut(np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 9.0, 4]]), 2)
    array([0, 0, 1, 1])
    """
    size = len(tree) + 1
    owner = np.arange(2 * size - 1)
    for place in range(size - 2, -1, -1):  # from the root down: whom a node belongs to
        if place < size - components:
            owner[tree[place, :2].astype(np.intp)] = owner[size + place]
    return _canonical(owner[:size])


def _near_others(z: FloatArray) -> IntArray:
    """Return the places of rows that are not far from their neighbours, as noise is."""
    from scipy.spatial import KDTree

    places = np.arange(len(z), dtype=np.intp)
    if len(z) <= NEIGHBOURS + 1:
        return places
    reach = KDTree(z).query(z, NEIGHBOURS + 1)[0][:, -1]
    quarter, most = np.quantile(reach, [0.25, 0.75])
    near: IntArray = places[reach <= most + 3.0 * (most - quarter)]
    return near


def _canonical(codes: IntArray) -> IntArray:
    """Return codes numbered in the order in which they appear."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.ravel()])


def _k_means(z: FloatArray, components: int, rng: np.random.Generator) -> tuple[IntArray, float]:
    """Return a partition of rows by k-means from k-means++, and how far rows are from its means."""
    lengths = np.einsum("ij,ij->i", z, z)
    centres = z[[rng.integers(len(z))]]
    squares = _squares(z, lengths, centres)[:, 0]
    while len(centres) < components:
        total = float(squares.sum())
        place = rng.choice(len(z), p=squares / total) if total > 0.0 else rng.integers(len(z))
        centres = np.vstack([centres, z[place]])
        squares = np.minimum(squares, _squares(z, lengths, centres[-1:])[:, 0])
    codes, squares = _nearest(z, centres, lengths)
    for _ in range(MOST_ROUNDS):
        held = np.bincount(codes, minlength=components)
        member = np.zeros((components, len(z)))
        member[codes, np.arange(len(z))] = 1.0
        means = member @ z / np.maximum(held, 1)[:, np.newaxis]
        centres = np.where(held[:, np.newaxis] > 0, means, centres)
        before = codes
        codes, squares = _nearest(z, centres, lengths)
        if np.count_nonzero(codes != before) <= SETTLED * len(z):
            break
    return codes, float(squares.sum())


def _nearest(
    z: FloatArray, centres: FloatArray, lengths: FloatArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the nearest centre of every row, and the square of its distance."""
    own = np.einsum("ij,ij->i", z, z) if lengths is None else lengths
    squares = _squares(z, own, centres)
    codes = squares.argmin(axis=1)
    return codes, squares[np.arange(len(z)), codes]


def _squares(z: FloatArray, lengths: FloatArray, centres: FloatArray) -> FloatArray:
    """Return squared distances (n, k): columns are standardized, so that no digits are lost."""
    found = z @ (-2.0 * centres.T)
    found += lengths[:, np.newaxis]
    found += np.einsum("ij,ij->i", centres, centres)
    return np.maximum(found, 0.0)


@dataclass(frozen=True, eq=False)
class Race:
    """Some steps of EM from every start, under a prior so that none collapses, and the best."""

    starts: Starts
    sample: FloatArray
    maximization: Maximization
    noise: float
    log_volume: float
    tolerance: float

    def run(self, components: int, *, every: bool, large: bool) -> list[Climb]:
        """Return where starts have led, the best first; those of a `large` table may be few."""
        held = MixtureRows(self.sample[: self.starts.size], None)
        form, coordinates = self.maximization.form, self.maximization.coordinates
        prior = ComponentPrior.of(form, components, coordinates)
        careful = Maximization(form, coordinates, prior)

        def some_steps(begin: Components, steps: int) -> Climb:
            return climb(
                held, coordinates, careful, begin, tolerance=self.tolerance, most_steps=steps
            )

        def first_steps(partitions: list[FloatArray]) -> list[Climb]:
            begun = (
                started(one, held.rows, None, careful, self.noise, self.log_volume)
                for one in partitions
            )
            return [some_steps(one, FIRST_STEPS) for one in begun]

        if every and large:
            found = first_steps(self.starts.partitions(components))
            repeats = self.starts.repeats(components)
            best = max(found, key=lambda one: one.objective, default=None)
            level = np.inf if best is None else best.objective - self.tolerance * held.size
            pairs = zip(found, repeats, strict=True)
            agreed = sum(many for one, many in pairs if one.objective >= level)
            if best is not None and agreed >= AGREED:
                return [best]
        found = first_steps(self.starts.partitions(components, every=every))
        found.sort(key=lambda one: -one.objective)
        most = 1 if large else 2
        if every and len(found) > most:
            half = found[: max(most, (len(found) + 1) // 2)]
            found = [some_steps(one.components, MORE_STEPS) for one in half]
            found.sort(key=lambda one: -one.objective)
        return found


def started(
    responsibilities: FloatArray,
    rows: FloatArray,
    weights: FloatArray | None,
    maximization: Maximization,
    noise: float,
    log_volume: float,
) -> Components:
    """Return the components of rows that are given to classes, wholly (n, k) or by shares.

    Cells that are blank are taken at the mean of the others, for a start. A column that is blank in
    all rows of a component is taken to be there as it is in all rows: its mean and its variance.
    """
    z = maximization.coordinates.standardized(rows)
    shares = responsibilities if weights is None else responsibilities * weights[:, np.newaxis]
    seen = ~np.isnan(z)
    cells = np.where(seen, z, 0.0)
    held = shares.sum(axis=0)
    if not (held > 0.0).all():
        c = int(np.argmin(held))
        raise BadSetting(
            f"no row belongs to component {c} of the start", hint="give each of them some rows"
        )
    counts = shares.T @ seen
    known = counts > EPSILON * held[:, np.newaxis]
    counts = np.where(known, counts, held[:, np.newaxis])
    means = np.where(known, (shares.T @ cells) / counts, 0.0)
    variances = np.diagonal(maximization.coordinates.total)
    size, width = means.shape
    scatters = np.zeros((size, width) if maximization.diagonal else (size, width, width))
    for c in range(size):
        gaps = np.where(seen & known[c], z - means[c], 0.0)
        absent = np.where(known[c], 0.0, held[c] * variances)
        if maximization.diagonal:
            scatters[c] = shares[:, c] @ np.square(gaps) * (held[c] / counts[c]) + absent
        else:
            stretch = np.sqrt(held[c] / counts[c])
            scatters[c] = (gaps * shares[:, [c]]).T @ gaps * np.multiply.outer(stretch, stretch)
            scatters[c] += np.diag(absent)
    parts = held / held.sum() * (1.0 - noise)
    return maximization.of_moments(held, means, scatters, parts, noise, log_volume)


def read_start(start: object, size: int, components: int | None) -> FloatArray:
    """Return a start as responsibilities (n, k): a partition (n,) or shares (n, k) of rows."""
    given = np.asarray(start)
    if given.ndim == 1 and len(given) == size:
        _, codes = np.unique(given, return_inverse=True)
        given = np.eye(int(codes.max(initial=0)) + 1)[codes.ravel()]
    fits = given.ndim == 2 and len(given) == size and given.dtype.kind in "fiub"
    if not fits:
        raise BadSetting(
            f"start has shape {given.shape}, and there are {size} rows",
            hint="give a class for each row, or responsibilities, with a column for each component",
        )
    shares = given.astype(np.float64)
    sums = shares.sum(axis=1)
    if not (np.isfinite(shares).all() and (shares >= 0.0).all() and np.allclose(sums, 1.0)):
        raise BadSetting(
            "responsibilities in start are not at least 0, with a sum of 1 in every row",
            hint="divide every row by its sum",
        )
    if components is not None and shares.shape[1] != components:
        raise BadSetting(
            f"start has {shares.shape[1]} components, and components={components}",
            hint="leave components out, or give as many",
        )
    return shares


def different_rows(count: int) -> str:
    """Say how many different rows there are.

    >>> different_rows(1)
    'there is 1 different row, blank ones left out'
    >>> different_rows(3)
    'there are 3 different rows, blank ones left out'
    """
    if count == 1:
        return "there is 1 different row, blank ones left out"
    return f"there are {count} different rows, blank ones left out"
