"""What statistics say of every column, classes together: how many cells, their mean and spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.learning.conformal.unions import kept_rows_of_pool
from suffice.learning.learners.gaussian_answers import LearnedDiscriminant, held_of
from suffice.learning.learners.naive_bayes_answers import LearnedColumns
from suffice.models.naive_bayes.families.bernoulli import Bernoulli
from suffice.models.naive_bayes.families.lognormal import LogNormal
from suffice.rows import CATEGORY, NUMBER, read_table
from suffice.statistics import DiagonalMoments
from suffice.statistics.by_pattern import ByPattern
from suffice.statistics.folds import Folds
from suffice.statistics.tallies import Tallies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, Table

ROUNDING = 1e-9
"""Share of the rows that the means of indicators may miss together by rounding; one row of a
hundred million is ten times as much."""


class _NeverSeen:
    """Stands for all levels that the model does not know, and equals none."""

    def __str__(self) -> str:
        return "levels never seen"


NEVER_SEEN = _NeverSeen()
"""The level of cells that no training row had."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFact:
    """One column: weight of rows and of cells; mean and variance of numbers, or counts of levels.

    A share is a count of two levels. `variance` None: that of counts, which is the mean at least.
    `of_logs`: mean and variance are those of logarithms.
    """

    name: str
    rows: float
    cells: float
    mean: float = 0.0
    variance: float | None = None
    levels: Mapping[Any, float] | None = None
    of_logs: bool = False


def facts_of(learned: Any) -> list[ColumnFact]:
    """Return what a model's statistics say of its columns, or refuse a model without any."""
    if isinstance(learned, LearnedDiscriminant):
        return _of_normals(learned)
    if isinstance(learned, LearnedColumns):
        held = held_of(learned.statistics)
        whole = held.whole if isinstance(held, Folds) else held
        merged = list(whole.groups.values())
        parts = merged[0].parts
        for group in merged[1:]:
            parts = tuple(a + b for a, b in zip(parts, group.parts, strict=True))
        return _of_parts(learned, parts)
    kept = None if learned is None else kept_rows_of_pool(learned)
    if kept is not None:
        return _of_table(kept[0], learned.columns.names, kept[2])
    raise BadSetting(
        "this model keeps no statistics of its columns: there is nothing to compare new rows with",
        hint="gda, qda, naive-bayes and pools keep them",
    )


def facts_of_rows(learned: Any, X: Any) -> list[ColumnFact]:
    """Return the same of new rows, in the columns of the model."""
    if isinstance(learned, LearnedDiscriminant):
        table = read_table(X)
        rows = np.asarray(learned.rows(table), dtype=np.float64)
        held = DiagonalMoments.of(rows)
        spreads = held.scatter / np.maximum(held.counts, 1.0)
        found = [
            ColumnFact(name, float(len(rows)), float(cells), float(mean), float(spread))
            for name, cells, mean, spread in zip(
                learned.columns.coded_names, held.counts, held.mean, spreads, strict=True
            )
        ]
        return _categories_whole(learned, found, table)
    if isinstance(learned, LearnedColumns):
        blocks = learned.rows(X)
        codes = np.zeros(len(blocks), dtype=np.intp)
        product = learned.learner.chosen.product
        held = product.summarize(blocks, codes, [learned.labels[0]])
        (group,) = held.groups.values()
        return _of_parts(learned, group.parts)
    return _of_table(learned.rows(X), learned.columns.names)


def _of_normals(learned: LearnedDiscriminant) -> list[ColumnFact]:
    summary = learned.fit.summary
    weights = summary.weights
    total = float(weights.sum())
    held = summary.counts / np.maximum(summary.counts.sum(axis=0), 1e-300)
    centre = (held * summary.means).sum(axis=0)
    within = summary.scatter if summary.is_diagonal else np.diagonal(summary.scatter)
    counts = summary.counts.sum(axis=0)
    spread = within / np.maximum(counts, 1.0) + (held * np.square(summary.means - centre)).sum(0)
    means = summary.origin + summary.origin_low + summary.scale * centre
    spread = np.where(summary.active, spread * np.square(summary.scale), 0.0)
    cells = counts if summary.is_diagonal else np.full(summary.width, total)
    statistics = held_of(learned.statistics)
    if isinstance(statistics, ByPattern) and not statistics.is_complete:
        cells = np.zeros(summary.width)
        for pattern, group in statistics.groups.items():
            cells += np.frombuffer(pattern, dtype=np.uint8) * group.weight
    names = learned.columns.coded_names
    coded = [
        ColumnFact(name, total, float(cells[j]), float(means[j]), float(spread[j]))
        for j, name in enumerate(names)
    ]
    return _categories_whole(learned, coded)


def _categories_whole(
    learned: LearnedDiscriminant, coded: Sequence[ColumnFact], table: Table | None = None
) -> list[ColumnFact]:
    """Return one fact a column: indicators of its levels are the counts of one category.

    Cells of new rows (`table`) that are none of the levels have no indicator, and are what is left
    of the rows; so are blanks, where no training cell was blank.
    """
    if learned.columns.is_plain:
        return list(coded)
    if table is not None:
        table = learned.columns.matched(learned.as_learned(table), learned.learner.name)
    found: list[ColumnFact] = []
    place = 0
    pairs = zip(learned.columns.columns, learned.columns.names, strict=True)
    for j, (column, name) in enumerate(pairs):
        part = coded[place : place + column.width]
        place += column.width
        if column.kind != CATEGORY:
            found += part
            continue
        levels = {
            level: one.mean * one.cells for level, one in zip(column.levels, part, strict=True)
        }
        rows, blank = coded[0].rows, levels.pop(None, 0.0)
        if table is not None:
            blank = float(_blank(table, j).sum())
        rest = rows - blank - sum(levels.values())
        if rest > ROUNDING * rows:
            levels[NEVER_SEEN] = rest
        found.append(ColumnFact(name, rows, rows - blank, levels=levels))
    return found


def _blank(table: Table, column: int) -> NDArray[np.bool_]:
    """Return which cells of a column are blank (n,)."""
    cells = table.column(column)
    return np.asarray(cells == None if cells.dtype == object else np.isnan(cells))  # noqa: E711


def _of_parts(learned: LearnedColumns, parts: Any) -> list[ColumnFact]:
    product, names = learned.learner.chosen.product, learned.columns.names
    found: dict[int, ColumnFact] = {}
    for family, group, part in zip(product.families, product.columns, parts, strict=True):
        rows = float(part.weight)
        for place, j in enumerate(group):
            if isinstance(part, DiagonalMoments):
                cells = float(part.counts[place])
                spread = float(part.scatter[place]) / max(cells, 1.0)
                mean, logs = float(part.mean[place]), isinstance(family, LogNormal)
                found[j] = ColumnFact(names[j], rows, cells, mean, spread, of_logs=logs)
            elif isinstance(part, Tallies):
                start = sum(len(levels) for levels in part.levels[:place])
                levels = part.levels[place]
                held = part.held[start : start + len(levels)].tolist()
                counts = {v: w for v, w in zip(levels, held, strict=True) if w > 0.0}
                found[j] = ColumnFact(names[j], rows, float(sum(held)), levels=counts)
            elif hasattr(part, "sums"):
                gone = 0.0 if part.missing is None else float(part.missing[place])
                cells, total = rows - gone, float(part.sums[place])
                mean = total / max(cells, 1.0)
                if isinstance(family, Bernoulli):
                    counts = {True: total, False: cells - total}
                    found[j] = ColumnFact(names[j], rows, cells, levels=counts)
                else:
                    found[j] = ColumnFact(names[j], rows, cells, mean)
    return [found[j] for j in sorted(found)]


def _of_table(table: Any, names: Any, weights: FloatArray | None = None) -> list[ColumnFact]:
    w = np.ones(table.size) if weights is None else weights
    found = []
    for j, kind in enumerate(table.kinds):
        cells = table.column(j)
        if kind == NUMBER:
            numbers = np.asarray(cells, dtype=np.float64)
            seen = ~np.isnan(numbers)
            held = float(w[seen].sum())
            mean = float(w[seen] @ numbers[seen]) / max(held, 1.0)
            spread = float(w[seen] @ np.square(numbers[seen] - mean)) / max(held, 1.0)
            found.append(ColumnFact(names[j], float(w.sum()), held, mean, spread))
            continue
        counts: dict[Any, float] = {}
        for cell, weight in zip(cells.tolist(), w.tolist(), strict=True):
            if cell is not None:
                counts[cell] = counts.get(cell, 0.0) + weight
        found.append(ColumnFact(names[j], float(w.sum()), sum(counts.values()), levels=counts))
    return found
