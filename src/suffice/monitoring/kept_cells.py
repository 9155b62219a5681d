"""Rows that a model keeps: their numbers, and how right the model is about them without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from suffice.learning.conformal.unions import keeps_rows, kept_rows_of_pool
from suffice.learning.learners.gaussian_answers import LearnedDiscriminant, held_of
from suffice.learning.learners.naive_bayes_answers import LearnedColumns
from suffice.models.gaussian.averages.row_samples import array_of
from suffice.models.naive_bayes.row_samples import blocks_of
from suffice.rows import NUMBER
from suffice.statistics.row_sample import END

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

LeftOut: TypeAlias = "tuple[FloatArray, IntArray, FloatArray]"
"""Posteriors (n, k) of rows by models without them, their classes (n,), and their weights (n,)."""


class NumberColumns(NamedTuple):
    """Columns of numbers: their names, and cells (n, d); blanks are NaN."""

    names: tuple[str, ...]
    cells: FloatArray


def kept_numbers(learned: Any) -> NumberColumns | None:
    """Return the numbers of the rows that a model keeps; None where it keeps none."""
    if not keeps_rows(learned):
        return None
    sample = learned.statistics.sample
    repeats = np.array([max(1, round(sample.rows[h].weight)) for h in sorted(sample.rows)])
    if isinstance(learned, LearnedDiscriminant):
        rows, _, _ = array_of(sample, learned.labels)
        found = NumberColumns(tuple(learned.columns.coded_names), rows)
    elif isinstance(learned, LearnedColumns):
        held = [sample.rows[h] for h in sorted(sample.rows)]
        blocks = blocks_of(held, learned.learner.chosen.product, learned.fit.groups)
        found = _of_blocks(learned, blocks)
    else:
        kept = kept_rows_of_pool(learned)
        if kept is None:
            return None
        found = _of_table(kept[0], learned.columns.names)
    return NumberColumns(found.names, np.repeat(found.cells, repeats, axis=0))


def kept_labels(learned: Any) -> list[Any]:
    """Return the labels of the rows that a model keeps, as often as `kept_numbers` has them."""
    sample = learned.statistics.sample
    held = [sample.rows[h] for h in sorted(sample.rows)]
    known = dict(zip(learned.labels, learned.classes.tolist(), strict=True))
    return [known[row.label] for row in held for _ in range(max(1, round(row.weight)))]


def new_numbers(learned: Any, X: Any) -> NumberColumns:
    """Return the numbers of new rows, in the same columns."""
    rows = learned.rows(X)
    if isinstance(learned, LearnedDiscriminant):
        return NumberColumns(tuple(learned.columns.coded_names), np.asarray(rows, dtype=np.float64))
    if isinstance(learned, LearnedColumns):
        return _of_blocks(learned, rows)
    return _of_table(rows, learned.columns.names)


def _of_blocks(learned: LearnedColumns, blocks: Any) -> NumberColumns:
    product, names = learned.learner.chosen.product, learned.columns.names
    found: list[tuple[str, Any]] = []
    for group, part in zip(product.columns, blocks.parts, strict=True):
        if isinstance(part, np.ndarray):
            found += [(names[j], part[:, place]) for place, j in enumerate(group)]
    cells = [np.asarray(cell, dtype=np.float64) for _, cell in found]
    size = len(blocks)
    return NumberColumns(
        tuple(name for name, _ in found), np.column_stack(cells) if cells else np.empty((size, 0))
    )


def _of_table(table: Any, names: Any) -> NumberColumns:
    chosen = [j for j, kind in enumerate(table.kinds) if kind == NUMBER]
    cells = [np.asarray(table.column(j), dtype=np.float64) for j in chosen]
    return NumberColumns(
        tuple(names[j] for j in chosen),
        np.column_stack(cells) if cells else np.empty((table.size, 0)),
    )


def left_out_posteriors(learned: Any) -> LeftOut | None:
    """Return posteriors (n, k) of kept rows left out, their classes, and their weights.

    None where no rows are kept, or cannot be left out of what was learned.
    """
    if not keeps_rows(learned):
        return None
    rows: Any
    if isinstance(learned, LearnedDiscriminant):
        if not getattr(held_of(learned.statistics), "is_complete", True):
            return None
        rows, codes, weights = array_of(learned.statistics.sample, learned.labels)
    elif isinstance(learned, LearnedColumns):
        sample = learned.statistics.sample
        held = [sample.rows[h] for h in sorted(sample.rows)]
        known = {label: c for c, label in enumerate(learned.labels)}
        codes = np.array([known[row.label] for row in held], dtype=np.intp)
        weights = np.array([row.weight for row in held])
        rows = blocks_of(held, learned.learner.chosen.product, learned.fit.groups)
    else:
        fit = learned.fit
        if getattr(fit, "judged", None) is None:
            fit = learned.learner.estimate(learned)
        kept = kept_rows_of_pool(learned)
        assert kept is not None
        known = {label: c for c, label in enumerate(learned.classes.tolist())}
        codes = np.array([known[label] for label in kept[1].tolist()], dtype=np.intp)
        return np.asarray(fit.judged), codes, np.asarray(kept[2])
    complete = learned.statistics.sample.limit == END
    repeated = any(row.weight != 1.0 for row in learned.statistics.sample.rows.values())
    told = learned.left_out(rows, codes, complete=complete and not repeated)
    return np.exp(told.log_posterior), codes, np.asarray(weights)
