"""Laws of counted cells given the counts of the class and the row together.

Under the class all of its rows and the row asked about are alike: which of them is the new one is
anybody's guess. Given all of them together, a cell is therefore a draw from their common tally,
and a count is binomial, whatever the class's parameters are. No estimate enters, so none can be
wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.models.lattice_sums import NOTHING, Atoms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray

LARGE = 400.0
"""A count of larger variance has the law of a near one: within a percent they do not differ."""
MOST_SUM = 1e12
"""Larger sums have the law of this one: -log p is a square of a normal number, halved."""
WINDOW = 12.0
"""Counts farther from their mean than so many standard deviations have no share worth a number."""
FEW = 2000
"""Atoms of one count: more are put together."""
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
    the others as can be; one that has not is the odd one among W + 1.
    """
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
    large = sums * chances * (1.0 - chances) > LARGE
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
    if high - low < FEW:
        counts = np.arange(low, high + 1.0)
    else:
        edges = np.linspace(low, high, FEW + 1)
        counts, cells = np.floor((edges[1:] + edges[:-1]) / 2.0), np.diff(edges)
    logs = _log_binomial(counts, np.full_like(counts, size), np.full_like(counts, chance))
    shares = np.exp(logs) * cells
    return logs.max() - logs, shares / shares.sum()
