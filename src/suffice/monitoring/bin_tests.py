"""Spread and shape of columns, by the bins that a model file keeps: no rows are needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.monitoring.column_facts import ColumnFact
from suffice.monitoring.drift_tests import DriftTest, blank_tests, chi_square

if TYPE_CHECKING:
    from suffice.rows import FloatArray, Table
    from suffice.statistics.quantile_bins import ColumnBins

EXPECTED = 8.0
"""Cells that each bin is expected to hold in either table, at least: bins with fewer are joined
with their neighbours. The law of χ² is for counts that are not small."""
FEWEST = 20.0
"""Cells of a column in either table below which its shape is not compared."""


def bins_of(learned: Any) -> ColumnBins | None:
    """Return the bins that came with a model's file, or from training; None for other models."""
    notes = learned.notes
    return None if notes is None else notes.bins


def bins_of_rows(learned: Any, bins: ColumnBins, table: Table) -> ColumnBins:
    """Return new rows in the bins of a model, with their blanks."""
    return bins.tallied(replace(learned.notes, filled=None).rows(table))


def bin_tests(old: ColumnBins, new: ColumnBins, *, blanks: bool = False) -> list[DriftTest]:
    """Return tests of spread and shape of the columns that both have, and of blanks if asked.

    Each is a χ² of the weights in the bins that both have, with the share of the bin that differs
    most: so it holds for any law, however heavy its tails. Where edges differ, there are fewer.
    """
    was, now = old.both(new)
    one, two = was.bins.alike(now.bins)
    found = []
    for j, name in enumerate(was.names):
        edges, held = one.column(j)
        cells = np.stack([held, two.column(j)[1]])
        if blanks:
            facts = [
                ColumnFact(name, float(bins.weight), float(part.sum()))
                for bins, part in zip((one, two), cells, strict=True)
            ]
            found += blank_tests(*facts)
        if cells.sum(axis=1).min() < FEWEST:
            continue
        bounds, table = _joined(edges, cells)
        if table.shape[1] < 2:
            continue
        p, z, worst = chi_square(table)
        shares = table[:, worst] / table.sum(axis=1)
        what = _between(bounds[worst], bounds[worst + 1])
        found.append(DriftTest(name, what, float(shares[0]), float(shares[1]), z, p))
    return found


def coarse_columns(old: ColumnBins, new: ColumnBins, fewest: int = 8) -> list[str]:
    """Return columns that lose bins, to fewer than this, where two summaries are compared."""
    was, now = old.both(new)
    both = was.bins.alike(now.bins)[0].sizes
    least = np.minimum(was.bins.sizes, now.bins.sizes)
    return [
        name
        for name, left, had in zip(was.names, both, least, strict=True)
        if left < had and left + 1 < fewest
    ]


def _joined(edges: FloatArray, cells: FloatArray) -> tuple[list[float], FloatArray]:
    """Return the bounds of bins, and their cells (2, bins), none of them nearly empty."""
    totals = cells.sum(axis=1)
    least = EXPECTED * totals.sum() / totals.min()  # of both together
    bounds, parts = [-np.inf], [np.zeros(2)]
    for place, pair in enumerate(cells.T):
        parts[-1] = parts[-1] + pair
        if parts[-1].sum() >= least and place < len(edges):
            bounds.append(float(edges[place]))
            parts.append(np.zeros(2))
    if len(parts) > 1 and parts[-1].sum() < least:
        parts[-2:] = [parts[-2] + parts[-1]]
        bounds.pop()
    return [*bounds, np.inf], np.stack(parts, axis=1)


def _between(low: float, high: float) -> str:
    """Return in words which cells are in a bin."""
    if np.isinf(low):
        return f"share below {high:.6g}"
    return f"share from {low:.6g} on" if np.isinf(high) else f"share from {low:.6g} to {high:.6g}"
