"""Where EM begins: shares that are drawn, and partitions by k-means; the same in any order of rows.

For k-means, columns of every kind become numbers that vary alike: measurements in their standard
deviations, counts by their roots, levels as indicators. Rows come each content once, in the order
of its hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.naive_bayes.families.lognormal import LogNormal
from suffice.models.naive_bayes.families.multinomial import Multinomial
from suffice.models.naive_bayes.families.poisson import Poisson
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.rows.category_codes import CodedColumns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.models.latent.rows import LatentRows
    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.models.naive_bayes.product import Product
    from suffice.rows import FloatArray, IntArray

MOST_INDICATORS = 20
"""Levels of a column that have an indicator of their own, the most frequent first. A choice."""
MOST_CELLS = 4_000_000
"""Numbers that rows become for a start: 32 MB. A choice."""
MOST_ROUNDS = 20
"""Rounds of k-means, at most: a start need not be a fixed point. A choice."""
OWN_SHARE = 0.8
"""How surely a row begins in its part: with 1, a level that a part does not show would stay
impossible there, for EM never leaves a zero."""


class LatentStarts:
    """Shares (m, k) of some rows in any number of classes."""

    def __init__(self, product: Product, rows: LatentRows, seed: int) -> None:
        parts = zip(product.families, rows.blocks.parts, strict=True)
        columns = [one for family, part in parts for one in _numbers(family, part)]
        width = sum(one.shape[1] for one in columns)
        self.size = min(len(rows), max(100, MOST_CELLS // max(1, width)))
        some = [one[: self.size] for one in columns]
        self._z = np.concatenate(some, axis=1) if some else np.zeros((self.size, 0))
        self.seed = seed

    def shares(self, components: int, count: int) -> Iterator[FloatArray]:
        """Return so many starts: in turn drawn, by k-means, drawn, and by k-means++ alone.

        From shares that are drawn EM finds its own way, and among levels often the higher one;
        among measurements k-means does.
        """
        if components == 1:
            yield np.ones((self.size, 1))
            return
        for draw in range(count):
            rng = np.random.default_rng([self.seed, components, draw])
            if draw % 2 == 0:
                yield rng.dirichlet(np.ones(components), self.size)
                continue
            codes = _partition(self._z, components, rng, MOST_ROUNDS if draw % 4 == 1 else 0)
            own = np.full((self.size, components), (1.0 - OWN_SHARE) / components)
            own[np.arange(self.size), codes] += OWN_SHARE
            yield own


def _numbers(family: ColumnFamily, part: Any) -> Iterator[FloatArray]:
    """Return the columns of a block as numbers about 0, which vary by 1; blanks are 0."""
    if isinstance(part, CodedColumns):
        for j in range(part.codes.shape[1]):
            found = _indicators(part.codes[:, j])
            if found.shape[1]:
                yield found
        return
    inner = family.family if isinstance(family, Common) else family
    cells: NDArray[np.generic] = part if isinstance(part, np.ndarray) else part.toarray()
    cells = cells.astype(np.float64)
    if isinstance(inner, Poisson | Multinomial):
        cells = np.sqrt(cells)
    elif isinstance(inner, LogNormal):
        cells = np.log(cells)
    seen = ~np.isnan(cells)
    held = np.maximum(seen.sum(axis=0), 1)
    with np.errstate(over="ignore"):
        gaps = np.where(seen, cells - np.where(seen, cells, 0.0).sum(axis=0) / held, 0.0)
        largest = np.abs(gaps).max(axis=0, initial=0.0)
        gaps = gaps / np.where(largest > 0.0, largest, 1.0)
    spread = np.sqrt(np.square(gaps).sum(axis=0) / held)
    yield gaps / np.where(spread > 0.0, spread, 1.0)


def _indicators(codes: NDArray[Any]) -> FloatArray:
    """Return an indicator for each of the most frequent levels, together of variance 1."""
    seen = codes >= 0
    if not seen.any():
        return np.zeros((len(codes), 0))
    counts = np.bincount(codes[seen])
    shares = counts / counts.sum()
    spread = 1.0 - float(shares @ shares)
    if spread <= 0.0:
        return np.zeros((len(codes), 0))
    chosen = np.argsort(-counts, kind="stable")[:MOST_INDICATORS]
    chosen = chosen[counts[chosen] > 0]
    found = (codes[:, np.newaxis] == chosen) - shares[chosen]
    found[~seen] = 0.0
    return np.asarray(found / np.sqrt(spread))


def _partition(z: FloatArray, size: int, rng: np.random.Generator, rounds: int) -> IntArray:
    """Return the parts of rows by k-means from k-means++; each part has a row."""
    first = int(rng.integers(len(z)))
    chosen = [first]
    squares = np.square(z - z[first]).sum(axis=1)
    while len(chosen) < size:
        total = float(squares.sum())
        if total > 0.0:
            place = int(rng.choice(len(z), p=squares / total))
        else:  # rows that differ only in levels that are rare: any that is not taken
            place = next(i for i in range(len(z)) if i not in chosen)
        chosen.append(place)
        squares = np.minimum(squares, np.square(z - z[place]).sum(axis=1))
    centres = z[chosen]
    codes = _nearest(z, centres)
    for _ in range(rounds):
        held = np.bincount(codes, minlength=size)
        sums = np.zeros_like(centres)
        np.add.at(sums, codes, z)
        there = held[:, np.newaxis] > 0
        centres = np.where(there, sums / np.maximum(held, 1)[:, np.newaxis], centres)
        before = codes
        codes = _nearest(z, centres)
        if np.array_equal(codes, before):
            break
    for c, place in enumerate(chosen):
        if not (codes == c).any():
            codes[place] = c
    return codes


def _nearest(z: FloatArray, centres: FloatArray) -> IntArray:
    """Return the nearest centre of each row, the first of several."""
    squares = np.square(centres).sum(axis=1) - 2.0 * (z @ centres.T)
    return np.asarray(squares.argmin(axis=1))
