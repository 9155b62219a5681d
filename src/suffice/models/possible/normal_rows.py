"""Rows of normal classes as their table could have held them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns.shown import ColumnShown
from suffice.models.possible.bounded_laws import BoundedLaws
from suffice.rows.cells import BOOLEAN, CATEGORY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.columns import Columns
    from suffice.rows import FloatArray, IntArray

ROUNDS = 80
"""How often offsets are corrected."""


def level_offsets(draws: FloatArray, shares: FloatArray) -> FloatArray:
    """Return what is added to the coded columns (n, k) of a category before the largest is taken.

    A normal class codes a category as zeros and ones; the largest of normal draws is a rare level
    far too often. With the right offsets, which exist for any draws without ties, each level comes
    by its share. Levels of share 0 never come.

    >>> rng = np.random.default_rng(0)
    >>> draws = rng.normal([0.9, 0.08, 0.02], [0.3, 0.27, 0.14], (4000, 3))
    >>> found = (draws + level_offsets(draws, np.array([0.9, 0.08, 0.02]))).argmax(axis=1)
    >>> (np.bincount(found) / 4000).round(2)
    array([0.9 , 0.08, 0.02])
    """
    size = len(draws)
    known = shares > 0.0
    offsets = np.where(known, 0.0, -np.inf)
    if known.sum() < 2:
        return offsets
    spread = float(draws[:, known].std(axis=0).max()) or 1.0
    best, least = offsets, np.inf
    for turn in range(ROUNDS):
        found = np.bincount((draws + offsets).argmax(axis=1), minlength=len(shares)) / size
        gap = float(np.abs(found - shares)[known].sum())
        if gap < least:
            best, least = offsets, gap
        change = np.log((shares[known] + 0.5 / size) / (found[known] + 0.5 / size))
        moved = offsets.copy()
        moved[known] += spread * 0.5 / (1.0 + turn / 8.0) * change
        offsets = moved
    return best


def chosen_levels(rows: FloatArray, offsets: FloatArray) -> IntArray:
    """Return which level each row of coded columns (n, k) has."""
    found: IntArray = (rows + offsets).argmax(axis=1)
    return found


TRUTH = ColumnShown(0, 0.0, 1.0)
"""What a column of truths shows: 0 and 1."""
TRIED = 2048
"""Draws of a class by which the offsets of its categories are found."""


@dataclass(frozen=True, slots=True)
class PossibleNormals:
    """What makes possible rows of the draws of normal classes, which go together as they did.

    A number keeps its place among the draws of its class, Φ((x - μ)/σ), and becomes the number at
    that place of the bounded law with the same mean and variance: a normal copula. The levels of a
    category come by their shares in the class.

    means, deviations   of every coded column (k, d)
    laws                of the numbers and truths, class by class
    places              coded columns of those
    shown               what each of them has shown
    categories          coded columns of each category, and its offsets by class
    """

    means: FloatArray
    deviations: FloatArray
    laws: tuple[BoundedLaws, ...]
    places: tuple[int, ...]
    shown: tuple[ColumnShown, ...]
    categories: tuple[tuple[slice, tuple[FloatArray, ...]], ...]

    @classmethod
    def of(cls, densities: Any, columns: Columns, shown: Mapping[str, ColumnShown]) -> Self:
        """Return it for the laws of classes; columns of which nothing is known stay as drawn."""
        means = np.asarray(densities.class_means, dtype=np.float64)
        size = len(means)
        deviations = _deviations(densities, size)
        starts = np.cumsum([0, *(column.width for column in columns.columns)])
        places: list[int] = []
        held: list[ColumnShown] = []
        coded: list[slice] = []
        for j, (name, column) in enumerate(zip(columns.names, columns.columns, strict=True)):
            at = int(starts[j])
            if column.kind == CATEGORY:
                coded += [slice(at, at + column.width)] * bool(column.width)
            elif column.kind == BOOLEAN or name in shown:
                places.append(at)
                held.append(TRUTH if column.kind == BOOLEAN else shown[name])
        laws = tuple(
            BoundedLaws.of_columns(means[c, places], deviations[c, places], held)
            for c in range(size)
        )
        categories = []
        if coded:
            rng = np.random.default_rng(0)  # the same offsets in every run
            tried = [densities.sample(np.full(TRIED, c), rng) for c in range(size)]
            for at_coded in coded:
                found = tuple(
                    level_offsets(tried[c][:, at_coded], _shares(means[c, at_coded]))
                    for c in range(size)
                )
                categories.append((at_coded, found))
        return cls(means, deviations, laws, tuple(places), tuple(held), tuple(categories))

    def rows(self, drawn: FloatArray, codes: IntArray) -> FloatArray:
        """Return drawn rows (n, d) of classes (n,) as the table could have held them."""
        from scipy.special import ndtr

        found = drawn.copy()
        for c in np.unique(codes):
            here = np.flatnonzero(codes == c)
            for i, j in enumerate(self.places):
                deviation = self.deviations[c, j]
                if deviation > 0.0:
                    shares = ndtr((drawn[here, j] - self.means[c, j]) / deviation)
                else:
                    shares = np.full(len(here), 0.5)
                found[here, j] = self.shown[i].kept(self.laws[c].at(i, shares))
            for places, offsets in self.categories:
                chosen = chosen_levels(drawn[here, places], offsets[c])
                found[here, places] = np.eye(places.stop - places.start)[chosen]
        return found


def _shares(means: FloatArray) -> FloatArray:
    """Return the shares of levels in a class: the means of their zeros and ones."""
    shares = np.where(means > 1e-9, means, 0.0)
    total = float(shares.sum())
    return shares / total if total > 0.0 else np.full(len(means), 1.0 / len(means))


def _deviations(densities: Any, size: int) -> FloatArray:
    """Return the standard deviations of every coded column, class by class (k, d)."""
    variances = getattr(densities, "variances", None)
    if variances is None:
        variances = np.diagonal(densities.covariances, axis1=-2, axis2=-1)
    found = np.sqrt(np.maximum(np.asarray(variances, dtype=np.float64), 0.0))
    found = np.where(np.isfinite(found), found, 0.0)
    return np.array(np.broadcast_to(found, (size, found.shape[-1])))
