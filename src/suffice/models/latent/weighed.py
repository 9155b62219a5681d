"""Statistics of columns under shares: the sums of every class at once, as products of matrices.

They are those that `summarize` makes of rows with these weights, class by class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.linear_algebra import EPSILON
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.binned import Binned
from suffice.models.naive_bayes.families.gaussian import GaussianColumns
from suffice.models.naive_bayes.families.multinomial import Multinomial
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.statistics import DiagonalMoments, Tallies, Totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.rows import FloatArray


def weighed_statistics(
    family: ColumnFamily, block: Any, shares: FloatArray, held: FloatArray
) -> list[Any]:
    """Return the statistics of each class, whose rows count by `shares` (n, k); `held` (k,)."""
    inner = family.family if isinstance(family, Common) else family
    if isinstance(inner, GaussianColumns):
        cells = inner.transformed(block).astype(np.float64, copy=False)
        return _moments(cells, shares, held)
    if isinstance(inner, Binned):
        coded = inner.coded(block)
        return _tallies(coded.codes, coded.levels, shares, held)
    threshold = inner.threshold if isinstance(inner, Bernoulli | Multinomial) else None
    return _totals(block, threshold, shares, held)


def _moments(cells: FloatArray, shares: FloatArray, held: FloatArray) -> list[DiagonalMoments]:
    """Return means and scatters, taken about the means: none of their digits is lost."""
    seen = ~np.isnan(cells)
    complete = bool(seen.all())
    anchor = np.where(seen, cells, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    gaps = np.where(seen, cells - anchor, 0.0)
    mask = None if complete else seen.astype(np.float64)
    counts = np.repeat(held[:, np.newaxis], cells.shape[1], 1) if mask is None else shares.T @ mask
    safe = np.where(counts > 0.0, counts, 1.0)
    moves = (shares.T @ gaps) / safe
    found = []
    for c in range(len(held)):
        away = gaps - moves[c]
        if mask is not None:
            away *= mask
        scatter = shares[:, c] @ np.square(away)
        mean = anchor + moves[c]
        low = moves[c] - (mean - anchor)
        error = EPSILON * np.sqrt(len(cells)) * scatter
        found.append(DiagonalMoments(float(held[c]), counts[c], mean, low, scatter, error))
    return found


def _tallies(
    codes: NDArray[Any], levels: Any, shares: FloatArray, held: FloatArray
) -> list[Tallies]:
    tables = []
    for j, column in enumerate(levels):
        places, size = codes[:, j] + 1, len(column) + 1
        table = [np.bincount(places, shares[:, c], minlength=size)[1:] for c in range(len(held))]
        tables.append(np.stack(table))
    joined = np.concatenate(tables, axis=1)
    return [Tallies(float(held[c]), levels, joined[c]) for c in range(len(held))]


def _totals(
    block: Any, threshold: float | None, shares: FloatArray, held: FloatArray
) -> list[Totals]:
    cells = block.toarray() if hasattr(block, "toarray") else block
    blank = np.isnan(cells)
    counted = cells if threshold is None else cells > threshold
    sums = shares.T @ np.where(blank, 0.0, counted)
    missing = shares.T @ blank.astype(np.float64) if blank.any() else None
    return [
        Totals(
            float(held[c]), sums[c], None if missing is None else np.minimum(missing[c], held[c])
        )
        for c in range(len(held))
    ]
