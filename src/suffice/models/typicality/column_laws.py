"""The law of one column given its class: pivots of normal cells, conditional laws of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.errors import (
    NoPValue,
    warn,
)
from suffice.models.typicality.lattice_sums import NOTHING, Atoms

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.models.gaussian.class_moments import ClassSummary
    from suffice.rows import FloatArray, IntArray


CONSTANT = 1e-20
"""Variances below this share of the column's own are those of a constant, as for every floor."""
MOST_FREEDOM = 1e9
"""Degrees of freedom beyond which nothing is to be seen of them: (1 + t²/ν)^-ν/2 is exp(-t²/2)
within t⁴/4ν, 3e-6 of a p-value at t = 10, while differences of ln Γ lose their digits."""
CANCELLED = 1e-13
"""What is left of a scatter, if it is no more than this share of it, is rounding."""


class Pivots(NamedTuple):
    """What the columns of a class say of rows, after each row has been taken out of them.

    `distances` are t²/ν (n, d), 0 where a column says nothing; `freedom` ν (n, d) or, the same for
    all rows, (1, d), 0 where a column says nothing: where the cell is missing, where fewer than
    two rows were seen, and where they were all the same. Of these last, `constant` marks those
    seen in the row, and `other` where the row differs from the constant. `weights` W are those of
    the class, by column. `known` (n,) or (1,) is whether any column of the class says something.
    """

    distances: FloatArray
    freedom: FloatArray
    weights: FloatArray
    constant: NDArray[np.bool_]
    other: NDArray[np.bool_]
    known: NDArray[np.bool_]

    @property
    def parts(self) -> FloatArray:
        """The part g = ½(ν + 1) log(1 + t²/ν) of each column in the sum."""
        found: FloatArray = (self.freedom + 1.0) * 0.5 * np.log1p(self.distances)
        return found


class ColumnMoments(NamedTuple):
    """Weights, means, scatters and ν of a class by column, (n, d), or (1, d) if for all rows."""

    weights: FloatArray
    means: FloatArray
    scatters: FloatArray
    freedom: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ClassColumns:
    """Mean, scatter and weight of the columns of k classes (k, d), in standardized columns.

    `shared` scatters are pooled over classes, and have the degrees of freedom of all of them.
    """

    summary: ClassSummary
    weights: FloatArray
    means: FloatArray
    scatters: FloatArray
    shared: bool

    @classmethod
    def of(cls, summary: ClassSummary, *, shared: bool) -> ClassColumns:
        """Take the columns one by one out of a summary, full or diagonal."""
        found = summary.scatter if shared or summary.scatters is None else summary.scatters
        if not summary.is_diagonal:
            found = np.diagonal(found, axis1=-2, axis2=-1)
        scatters = np.broadcast_to(found, summary.means.shape)
        return cls(summary, summary.counts, summary.means, scatters, shared)

    def standardized(self, rows: FloatArray) -> FloatArray:
        """Return rows in standardized columns; a cell beyond the range of a double is infinite."""
        with np.errstate(over="ignore"):
            return self.summary.standardized(rows.astype(np.float64))

    def moments(
        self, z: FloatArray, code: int, codes: IntArray | None, gone: FloatArray
    ) -> ColumnMoments:
        """Return the moments of a class; without each row of class `codes` and weight `gone`."""
        held, means, scatters = self.weights[code], self.means[code], self.scatters[code]
        freedom = np.maximum(held - 1.0, 0.0)
        if self.shared:
            freedom = np.maximum(self.weights - 1.0, 0.0).sum(axis=0)
        line = np.newaxis
        if codes is None:
            return ColumnMoments(held[line], means[line], scatters[line], freedom[line])
        whole = ColumnMoments(
            *(np.broadcast_to(part, z.shape).copy() for part in (held, means, scatters, freedom))
        )
        rows = np.arange(len(z)) if self.shared else np.flatnonzero(codes == code)
        if not len(rows):
            return whole
        cells, y = z[rows], codes[rows]
        seen = ~np.isnan(cells)
        w = np.where(seen, gone[rows, line], 0.0)
        before = self.weights[y]
        rest = np.where(before - w > 1e-12 * before, before - w, 0.0)
        safe = np.where(rest > 0.0, rest, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            delta = np.where(seen, cells - self.means[y], 0.0)
            lost = np.where(rest > 0.0, w * (before / safe) * np.square(delta), 0.0)
            left = scatters - lost
        whole.scatters[rows] = np.where(left > CANCELLED * scatters, left, 0.0)
        whole.freedom[rows] += np.maximum(rest - 1.0, 0.0) - np.maximum(before - 1.0, 0.0)
        own = y == code
        whole.weights[rows[own]] = rest[own]
        whole.means[rows[own]] -= np.where(rest > 0.0, delta * w / safe, 0.0)[own]
        return whole

    def pivots(self, z: FloatArray, code: int, codes: IntArray | None, gone: FloatArray) -> Pivots:
        """Return the pivots of rows under a class; `codes` are those of rows to be taken out."""
        weights, means, scatters, freedom = self.moments(z, code, codes, gone)
        seen = ~np.isnan(z)
        known = (weights > 0.0) & (freedom > 0.0)
        constant = known & (scatters <= CONSTANT * np.maximum(weights, 1.0))
        varies = known & ~constant
        with np.errstate(over="ignore", invalid="ignore"):
            gap = np.abs(z - means)
            spread = np.where(varies, scatters * (1.0 + 1.0 / np.where(known, weights, 1.0)), 1.0)
            found = np.square(gap / np.sqrt(spread))
        # Student's law of more degrees of freedom is as good as the same.
        with np.errstate(over="ignore"):
            found *= np.maximum(1.0, freedom / MOST_FREEDOM)
        freedom = np.minimum(freedom, MOST_FREEDOM)
        there = seen & varies
        distances = np.where(there, np.where(np.isnan(found), np.inf, found), 0.0)
        other = np.zeros(z.shape, dtype=bool)
        if constant.any():
            other = seen & constant & ~(gap <= self._near)
        constant = seen & constant
        shown = varies if seen.all() else there
        # A row beside a single one can't be the odd one out: either may be.
        told: NDArray[np.bool_] = np.asarray((varies | (known & (weights > 1.0))).any(axis=1))
        return Pivots(distances, np.where(shown, freedom, 0.0), weights, constant, other, told)

    @property
    def _near(self) -> FloatArray:
        """How near a mean of equal numbers is to each of them, also in columns far from zero."""
        summary = self.summary
        least = np.where(summary.active, 1e-9, 0.0)
        found: FloatArray = least + 1e-14 * np.abs(summary.origin) / summary.scale
        return found


def unknown_classes(
    known: NDArray[np.bool_], held: FloatArray, codes: IntArray | None, gone: FloatArray
) -> tuple[NDArray[np.bool_], int, int]:
    """Return of what nothing is known, as `say_unknown` takes it.

    `known` (n, k) is whether a class can say anything against a row, `held` (k,) its weight;
    `codes` and `gone` (n,) are class and weight of rows that were taken out.
    """
    if codes is None:
        return ~np.asarray(known.any(axis=0)), 0, 0
    others = codes[:, np.newaxis] != np.arange(len(held))
    few = others.any(axis=0) & ~(known & others).any(axis=0)
    mine = np.arange(len(codes)), codes
    without = held[codes] - gone <= 1e-12 * held[codes]
    alone = ~known[mine] & ~few[codes] & without
    lost = (~known & ~few).any(axis=1) & ~alone
    return few, int(alone.sum()), int(lost.sum())


def say_unknown(few: NDArray[np.bool_], alone: int, paired: int) -> None:
    """Warn of classes of which nothing is known, and of rows that are all that is known of theirs.

    `few` (k,) are such classes; `alone` rows are the only ones of their class, and without `paired`
    others there is no variance in theirs.
    """
    said = []
    if few.any():
        said.append(f"{int(few.sum())} of {len(few)} classes have one row: their spread is unknown")
    if alone:
        said.append(f"{alone} row(s) are alone in their class")
    if paired:
        said.append(f"without {paired} row(s) the spread of the others is unknown")
    if said:
        text = "; ".join(said) + ". Every row counts as typical there (p = 1)"
        warn(text, NoPValue)


LARGE_VARIANCE = 400.0
"""Variance of a count above which sums that differ by less than a percent share one law: nearly
normal, it depends on them no more."""
MOST_SUM = 1e12
"""Larger sums have the law of this one: -log p is a square of a normal number, halved."""
WINDOW = 12.0
"""Counts farther from their mean than so many standard deviations have no share worth a number."""
MOST_ATOMS = 2000
"""Atoms of one count's law, at most: where there are more, neighbours are put together. A choice:
24 standard deviations (twice `WINDOW`) in steps of about a hundredth."""
STIRLING = 1e9
"""From here on Stirling's formula is right to rounding, and differences of gammas are not."""


def _unique_pairs(first: FloatArray, second: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return different pairs (m, 2), and which one each row has."""
    if not second.any():
        values, inverse = np.unique(first, return_inverse=True)
        return np.stack([values, np.zeros_like(values)], axis=1), inverse.ravel()
    pairs, inverse = np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)
    return pairs, inverse.ravel()


def _atoms(
    values: FloatArray,
    shares: FloatArray,
    own: FloatArray,
    known: NDArray[np.bool_],
    keys: IntArray,
) -> Atoms:
    """Return laws whose values begin at zero, with `own` the values by key."""
    least = np.min(np.where(shares > 0.0, values, np.inf), axis=1)
    laws = np.full(len(known), NOTHING, dtype=np.intp)
    laws[known] = keys
    each = np.zeros(len(known))
    each[known] = np.maximum(own - least, 0.0)[keys]
    values = np.where(shares > 0.0, values - least[:, np.newaxis], 0.0)
    return Atoms(values, shares, each, laws)


def nothing_known(size: int) -> Atoms:
    """Return the law of a column of which a class knows nothing."""
    one = np.ones((1, 1))
    return Atoms(0.0 * one, one, np.zeros(size), np.full(size, NOTHING, dtype=np.intp))


def tally_atoms(
    counts: FloatArray, places: IntArray, gone: FloatArray, log_widths: FloatArray | None = None
) -> Atoms:
    """Return the laws of one column's levels: -log of a level's share in class and row together.

    `counts` (levels,) are the class's, `places` (n,) the rows' levels, -1 where a cell is missing
    and len(counts) where the class cannot have seen it; `gone` (n,) is the weight with which a row
    is part of the counts. Where levels are bins, shares are divided by their widths.
    """
    total = float(counts.sum())
    known = (places >= 0) & (total - gone > 1e-12 * total)
    if not known.any():
        return nothing_known(len(places))
    if log_widths is not None:
        keys, inverse = _unique_pairs(places[known].astype(np.float64), gone[known])
        place, rows = keys[:, 0].astype(np.intp), np.arange(len(keys))
        each = np.broadcast_to(counts, (len(keys), len(counts))).copy()
        each[rows, place] = np.maximum(each[rows, place] - keys[:, 1], 0.0) + 1.0
        shares = each / (total - keys[:, 1:] + 1.0)
        with np.errstate(divide="ignore"):
            values = log_widths - np.log(shares)
        return _atoms(values, shares, values[rows, place], known, inverse)
    held = np.append(counts, 0.0)[places]
    keys, inverse = _unique_pairs(held[known], gone[known])
    if len(counts) == 2 and not gone.any() and places.max() < 2:
        # Both laws, whether rows have both or not: columns of the same counts are then alike.
        keys = np.stack([np.unique(counts), np.zeros(len(np.unique(counts)))], axis=1)
        inverse = np.searchsorted(keys[:, 0], held[known])
    # Levels of equal weight are one atom: a column may have thousands of them.
    weights, repeats = np.unique(counts[counts > 0.0], return_counts=True)
    many = repeats - (weights == keys[:, :1])
    mine = np.maximum(keys[:, :1] - keys[:, 1:], 0.0) + 1.0
    whole = total - keys[:, 1:] + 1.0
    shares = np.concatenate([many * weights, mine], axis=1) / whole
    values = -np.log(np.concatenate([np.broadcast_to(weights, many.shape), mine], axis=1) / whole)
    return _atoms(values, shares, values[:, -1], known, inverse)


def constant_atoms(weights: FloatArray, other: NDArray[np.bool_]) -> Atoms:
    """Return the laws of a column that is constant in the class: the constant, or another value.

    `weights` (n,) are those of the class without the row. A row that has the constant is as like
    the others as can be; one that has not is the odd one among W + 1, if W is more than one.
    """
    other = other & (weights > 1.0)
    if not other.any():
        return nothing_known(len(other))
    keys, inverse = np.unique(weights[other], return_inverse=True)
    shares = np.stack([keys, np.ones_like(keys)], axis=1) / (keys + 1.0)[:, np.newaxis]
    values = -np.log(shares)
    return _atoms(values, shares, values[:, 1], other, inverse.ravel())


def count_atoms(total: float, weight: float, cells: FloatArray, gone: FloatArray) -> Atoms:
    """Return the laws of one column of Poisson counts: binomial, given the sum with the row.

    Given that class and row together counted τ, the row's part is Binomial(τ, 1/(W + 1)).
    """
    known = ~np.isnan(cells) & (weight - gone > 1e-12 * weight)
    if not known.any():
        return nothing_known(len(cells))
    keys, inverse = _unique_pairs(cells[known].astype(np.float64), gone[known])
    counts, w = keys[:, 0], keys[:, 1]
    sums = np.maximum(np.round(total - counts * w), 0.0) + counts
    chances = 1.0 / (weight - w + 1.0)
    mode = np.minimum(np.floor((sums + 1.0) * chances), sums)
    own = _log_binomial(mode, sums, chances) - _log_binomial(counts, sums, chances)
    logs = np.round(np.log(np.maximum(sums, 1.0)) * 100.0) / 100.0
    large = sums * chances * (1.0 - chances) > LARGE_VARIANCE
    near = np.where(large, np.minimum(np.round(np.exp(logs)), MOST_SUM), sums)
    pairs, kinds = _unique_pairs(near, chances)
    made = [_binomial(float(n), float(q)) for n, q in pairs]
    width = max(len(values) for values, _ in made)
    values, shares = np.zeros((len(made), width)), np.zeros((len(made), width))
    for i, (value, share) in enumerate(made):
        values[i, : len(value)], shares[i, : len(share)] = value, share
    laws = np.full(len(cells), NOTHING, dtype=np.intp)
    laws[known] = kinds[inverse]
    each = np.zeros(len(cells))
    each[known] = np.maximum(own, 0.0)[inverse]
    return Atoms(values, shares, each, laws)


def mass_atoms(
    total: float,
    weight: float,
    cells: FloatArray,
    gone: FloatArray,
    log_masses: Callable[[FloatArray, float, float], FloatArray],
) -> Atoms:
    """Return the laws of one column of counts: `log_masses(x, τ, W)`, given the sum with the row.

    τ is what class and row together counted, W the weight of the class without the row.
    """
    known = ~np.isnan(cells) & (weight - gone > 1e-12 * weight)
    if not known.any():
        return nothing_known(len(cells))
    keys, inverse = _unique_pairs(cells[known].astype(np.float64), gone[known])
    made = []
    for count, w in keys.tolist():
        whole = max(round(total - count * w), 0.0) + count
        edges = np.unique(np.floor(np.linspace(0.0, whole + 1.0, MOST_ATOMS + 1)))
        counts, widths = edges[:-1], np.diff(edges)
        logs = log_masses(counts, whole, weight - w)
        shares = np.exp(logs - logs.max()) * widths
        own = float(log_masses(np.array([count]), whole, weight - w)[0])
        made.append((logs.max() - logs, shares / shares.sum(), max(float(logs.max()) - own, 0.0)))
    width = max(len(values) for values, _, _ in made)
    values, shares = np.zeros((len(made), width)), np.zeros((len(made), width))
    for i, (value, share, _) in enumerate(made):
        values[i, : len(value)], shares[i, : len(share)] = value, share
    laws = np.full(len(cells), NOTHING, dtype=np.intp)
    laws[known] = inverse
    each = np.zeros(len(cells))
    each[known] = np.array([own for _, _, own in made])[inverse]
    return Atoms(values, shares, each, laws)


def _log_binomial(counts: FloatArray, sums: FloatArray, chances: FloatArray) -> FloatArray:
    """Return logs of binomial masses; of large sums by Stirling, whose digits do not cancel."""
    from scipy.special import gammaln, xlog1py, xlogy

    with np.errstate(over="ignore", invalid="ignore"):
        small = (
            gammaln(sums + 1.0) - gammaln(counts + 1.0) - gammaln(sums - counts + 1.0)
            + xlogy(counts, chances) + xlog1py(sums - counts, -chances)
        )  # fmt: skip
        # log p ≈ -½ log(2πnq̂(1 - q̂)) - n KL(q̂ ‖ q)
        share = counts / np.maximum(sums, 1.0)
        apart = xlogy(counts, share / chances)
        apart = apart + xlogy(sums - counts, (1.0 - share) / (1.0 - chances))
        spread = np.maximum(counts * (1.0 - share), 0.5)
        large = -np.maximum(apart, 0.0) - 0.5 * np.log(2.0 * np.pi * spread)
    found: FloatArray = np.where(sums < STIRLING, small, large)
    return found


def _binomial(size: float, chance: float) -> tuple[FloatArray, FloatArray]:
    """Return log p(mode) - log p and p of the counts that have a share worth a number."""
    mean = size * chance
    reach = WINDOW * np.sqrt(mean * (1.0 - chance)) + 30.0
    low, high = max(0.0, np.floor(mean - reach)), min(size, np.ceil(mean + reach))
    counts, cells = np.arange(0.0), np.ones(1)
    if high - low < MOST_ATOMS:
        counts = np.arange(low, high + 1.0)
    else:
        edges = np.linspace(low, high, MOST_ATOMS + 1)
        counts, cells = np.floor((edges[1:] + edges[:-1]) / 2.0), np.diff(edges)
    logs = _log_binomial(counts, np.full_like(counts, size), np.full_like(counts, chance))
    shares = np.exp(logs) * cells
    return logs.max() - logs, shares / shares.sum()
