"""Which columns have moved, by how many standard errors, corrected for how many are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.monitoring.p_values import of_chi_square, of_counts, of_t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.monitoring.column_facts import ColumnFact
    from suffice.rows import FloatArray

LEVEL = 0.05
"""The chance that anything is called moved though nothing has, over all columns together."""
FEW = 5.0
"""Expected rows of a level below which levels are taken together: χ² is no law of fewer."""
EXACT = 2000.0
"""Cells below which shares of blanks are compared exactly: χ² is good enough for more."""
BINS = 10
"""Quantile bins for spread and shape."""


class DriftTest(NamedTuple):
    """One test: what of a column, then and now, by how many standard errors, and its p-value.

    `adjusted` is Holm's p-value, over all tests.
    """

    column: str
    what: str
    old: float
    new: float
    z: float
    p_value: float
    adjusted: float = 1.0


def column_tests(old: Sequence[ColumnFact], new: Sequence[ColumnFact]) -> list[DriftTest]:
    """Return tests of means, levels and blanks of all columns that both have."""
    known = {fact.name: fact for fact in new}
    found = []
    for was in old:
        now = known.get(was.name)
        if now is None or was.rows < 2 or now.rows < 2:
            continue
        found += blank_tests(was, now)
        if min(was.cells, now.cells) < 2:
            continue
        if was.levels is not None and now.levels is not None:
            found += _levels(was, now)
        elif was.levels is None and now.levels is None and was.of_logs == now.of_logs:
            found += _means(was, now)  # two models may have a column in other units
    return found


def _means(was: ColumnFact, now: ColumnFact) -> list[DriftTest]:
    spreads = []
    for fact in (was, now):
        pooled = (was.mean * was.cells + now.mean * now.cells) / (was.cells + now.cells)
        spreads.append(max(pooled, 0.0) if fact.variance is None else fact.variance)
    error = np.sqrt(spreads[0] / was.cells + spreads[1] / now.cells)
    gap, what = now.mean - was.mean, "mean of logarithms" if was.of_logs else "mean"
    scale = np.finfo(np.float64).eps * max(abs(was.mean), abs(now.mean)) * 8.0
    if error <= scale:
        if abs(gap) <= scale:
            return []
        return [DriftTest(was.name, what, was.mean, now.mean, float("inf"), 0.0)]
    z = float(gap / error)
    free = max(1.0, min(was.cells, now.cells) - 1.0)
    p = of_t(z, free)
    return [DriftTest(was.name, what, was.mean, now.mean, z, p)]


def _levels(was: ColumnFact, now: ColumnFact) -> list[DriftTest]:
    assert was.levels is not None
    assert now.levels is not None
    names = sorted({*was.levels, *now.levels}, key=str)
    table = np.array([[f.levels.get(v, 0.0) for v in names] for f in (was, now)])  # type: ignore[union-attr]
    expected = table.sum(axis=0) * (table.sum(axis=1) / table.sum())[:, np.newaxis]
    few = expected.min(axis=0) < FEW
    if few.sum() > 1:
        table = np.column_stack([table[:, ~few], table[:, few].sum(axis=1)])
    if table.shape[1] < 2:
        return []
    p, z, worst = chi_square(table)
    kept = [v for v, rare in zip(names, few, strict=True) if not rare] if few.sum() > 1 else names
    shares = table / table.sum(axis=1, keepdims=True)
    what = f"share of {kept[worst]}" if worst < len(kept) else "share of rare levels"
    return [DriftTest(was.name, what, float(shares[0, worst]), float(shares[1, worst]), z, p)]


def chi_square(table: FloatArray) -> tuple[float, float, int]:
    """Return the p-value of two rows of counts, the largest deviation in errors, and its place."""
    total = table.sum()
    share = table.sum(axis=0) / total
    expected = np.multiply.outer(table.sum(axis=1), share)
    found = float((np.square(table - expected) / np.maximum(expected, 1e-300)).sum())
    p = of_chi_square(found, table.shape[1] - 1)
    rows = table.sum(axis=1)
    gaps = table[1] / rows[1] - table[0] / rows[0]
    errors = np.sqrt(share * (1.0 - share) * (1.0 / rows[0] + 1.0 / rows[1]))
    z = gaps / np.maximum(errors, 1e-300)
    worst = int(np.argmax(np.abs(z)))
    return p, float(z[worst]), worst


def blank_tests(was: ColumnFact, now: ColumnFact) -> list[DriftTest]:
    """Return the test of how many cells of a column are blank; none where none ever were."""
    gone = was.rows - was.cells, now.rows - now.cells
    if max(gone) <= 1e-9 * was.rows:
        return []
    table = np.array([[gone[0], was.cells], [gone[1], now.cells]])
    p, z, _ = chi_square(table)
    if table.sum() < EXACT:
        p = of_counts(table)
    return [DriftTest(was.name, "blanks", gone[0] / was.rows, gone[1] / now.rows, z, p)]


def shape_tests(names: Sequence[str], old: FloatArray, new: FloatArray) -> list[DriftTest]:
    """Return tests of spread and shape, by counts in the old rows' own quantile bins."""
    found = []
    for j, name in enumerate(names):
        a, b = old[:, j], new[:, j]
        a, b = a[~np.isnan(a)], b[~np.isnan(b)]
        if min(len(a), len(b)) < 2 * BINS:
            continue
        # Edges of both together: those of the old alone would hold exactly a tenth each.
        edges = np.unique(np.quantile(np.concatenate([a, b]), np.linspace(0, 1, BINS + 1)[1:-1]))
        table = np.stack([
            np.bincount(np.searchsorted(edges, x, side="right"), minlength=len(edges) + 1)
            for x in (a, b)
        ]).astype(np.float64)  # fmt: skip
        table = table[:, table.sum(axis=0) > 0]
        if table.shape[1] < 2:
            continue
        p, z, _ = chi_square(table)
        found.append(DriftTest(name, "shape", float(a.std()), float(b.std()), z, p))
    return found


def holm(tests: Sequence[DriftTest]) -> list[DriftTest]:
    """Return tests with p-values corrected for how many there are, the smallest first.

    >>> tests = [DriftTest("a", "mean", 0, 1, 2.6, 0.01), DriftTest("b", "mean", 0, 1, 2.1, 0.04)]
    >>> [round(test.adjusted, 3) for test in holm(tests)]
    [0.02, 0.04]
    """
    ordered = sorted(tests, key=lambda test: test.p_value)
    found, largest = [], 0.0
    for place, test in enumerate(ordered):
        largest = max(largest, min(1.0, test.p_value * (len(ordered) - place)))
        found.append(test._replace(adjusted=largest))
    return found


def wilson(right: float, size: float, z: float = 1.96) -> tuple[float, float]:
    """Return an interval of a share: Wilson's."""
    p, free = right / size, z * z / size
    middle = (p + free / 2.0) / (1.0 + free)
    half = z * np.sqrt(p * (1.0 - p) / size + free / (4.0 * size)) / (1.0 + free)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))
