"""Statistics out of a database: sums become what `summarize` would have made of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows
from suffice.models.naive_bayes.asked_of_families import Counts, Levels, Squares
from suffice.rows import read_labels
from suffice.rows.category_codes import MOST_LEVELS
from suffice.rows.cells import object_array
from suffice.rows.labels import sorted_levels
from suffice.sql.dialects import Cell, any_of
from suffice.sql.exact_sums import (
    ClassSums,
    class_products,
    class_squares,
    class_totals,
    level_weights,
)
from suffice.statistics import (
    ByClass,
    ByColumn,
    DiagonalMoments,
    Moments,
    PooledMoments,
    Tallies,
    Totals,
)
from suffice.statistics.moments.centres import relative_rounding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, Label
    from suffice.sql.asked import Parts
    from suffice.sql.dialects import SqlRows


def products_of(
    rows: SqlRows, cells: Sequence[Cell], *, pooled: bool
) -> tuple[NDArray[np.generic] | None, Any, int]:
    """Return the classes, `PooledMoments` or `Moments` by class, and how many rows had a blank.

    The classes are None where every row has a blank.
    """
    found = class_products(rows, cells)
    if not len(found.labels):
        return None, PooledMoments.empty(len(cells)) if pooled else ByClass({}), found.blank
    classes, labels = classes_of(found.labels)
    assert found.scatter is not None
    if pooled:
        scatter = found.scatter.sum(axis=0)
        error = relative_rounding(float(found.rows.sum())) * np.diagonal(scatter)
        order = np.argsort([classes.tolist().index(label) for label in labels])
        kept = tuple(labels[place] for place in order)
        weights, means, lows = found.weights[order], found.mean[order], found.low[order]
        return classes, PooledMoments(kept, weights, means, lows, scatter, error), found.blank
    groups = {
        label: Moments(
            float(found.weights[c]),
            found.mean[c],
            found.low[c],
            found.scatter[c],
            relative_rounding(float(found.rows[c])) * np.diagonal(found.scatter[c]),
        )
        for c, label in enumerate(labels)
    }
    return classes, ByClass(groups), found.blank


def squares_of(rows: SqlRows, cells: Sequence[Cell]) -> tuple[NDArray[np.generic], object]:
    """Return the classes, and `DiagonalMoments` by class."""
    found = class_squares(rows, cells)
    classes, labels = classes_of(found.labels)
    return classes, ByClass(dict(zip(labels, _diagonals(found), strict=True)))


def parts_of(
    rows: SqlRows, asked: Parts, cells: Sequence[Cell], texts: Sequence[str | None]
) -> tuple[NDArray[np.generic], object]:
    """Return the classes, and `ByColumn` by class.

    `cells` are all columns as numbers, `texts` those that hold text as they are, else None.
    """
    given, _, weights, counts = level_weights(rows)
    classes, labels = classes_of(given)
    places = {label: c for c, label in enumerate(labels)}
    held: list[list[Any]] = [[] for _ in labels]
    for kind, columns in asked.parts:
        if isinstance(kind, Levels):
            own = [(cells[j], texts[j]) for j in columns]
            found = dict(enumerate(_tallies(rows, kind, own, weights, labels)))
        else:
            sums, ours = _summed(rows, kind, [cells[j] for j in columns])
            theirs = classes_of(sums.labels)[1]
            if dict(zip(theirs, sums.rows.tolist(), strict=True)) != dict(
                zip(labels, counts, strict=True)
            ):
                raise BadRows(
                    "the rows changed while they were read",
                    hint="read a snapshot, or within a transaction",
                )
            found = {places[label]: part for label, part in zip(theirs, ours, strict=True)}
        for c, parts in enumerate(held):
            parts.append(found[c])
    return classes, ByClass(
        {label: ByColumn(float(weights[c]), tuple(held[c])) for c, label in enumerate(labels)}
    )


def classes_of(labels: Any) -> tuple[NDArray[np.generic], list[Label]]:
    """Return the classes in order and in their own type, and the label of every group."""
    if str(getattr(labels, "type", "")).startswith("decimal"):  # whole ones are integers
        given = labels.to_pylist()
        labels = object_array(int(label) if label == label // 1 else label for label in given)
    found = read_labels(labels)
    plain = [v.item() if isinstance(v, np.generic) else v for v in found.classes.tolist()]
    return found.classes, [plain[code] for code in found.codes.tolist()]


def _diagonals(found: ClassSums) -> list[DiagonalMoments]:
    assert found.scatter is not None
    return [
        DiagonalMoments(
            float(found.weights[c]),
            found.held[c],
            found.mean[c],
            found.low[c],
            found.scatter[c],
            relative_rounding(float(found.rows[c])) * found.scatter[c],
        )
        for c in range(len(found.weights))
    ]


def _summed(
    rows: SqlRows, kind: Squares | Counts, cells: Sequence[Cell]
) -> tuple[ClassSums, list[Any]]:
    number = rows.dialect.number
    if isinstance(kind, Squares):
        if not kind.logarithm:
            found = class_squares(rows, cells)
            return found, _diagonals(found)
        positive = f"{{v}} > {number(0.0)}"
        # What is not positive is refused before any logarithm is taken of it.
        rows.refuse(any_of([f"NOT ({positive.format(v=f'({c.value})')})" for c in cells]))
        logs = [Cell(f"ln({cell.value})") for cell in cells]
        found = class_squares(rows, logs)
        return found, _diagonals(found)
    conditions = _conditions(kind, number)
    if not kind.blank:
        rows.refuse(any_of([f"({cell.value}) IS NULL" for cell in cells]))
    counted = []
    for cell in cells:
        value, fixed = cell.value, 0.0
        if kind.threshold is not None:
            conditions = None
            limit = number(kind.threshold)
            value = (
                f"CASE WHEN ({value}) > {limit} THEN {number(1.0)} "
                f"WHEN ({value}) <= {limit} THEN {number(0.0)} END"
            )
        exact = cell.exact or kind.whole or kind.threshold is not None
        counted.append(Cell(value, conditions, exact, fixed))
    if kind.threshold is not None:
        most = number(float(np.finfo(np.float64).max))
        least = "" if kind.least is None else f" OR ({{v}}) < {number(kind.least)}"
        rows.refuse(any_of([f"(abs({c.value}) > {most}{least.format(v=c.value)})" for c in cells]))
    found = class_totals(rows, counted)
    return found, [_totals(found, c) for c in range(len(found.weights))]


def _conditions(kind: Counts, number: Any) -> str | None:
    """Return what must hold of a cell {v} that is counted."""
    held = []
    if kind.least is not None:
        held.append(f"{{v}} >= {number(kind.least)}")
    if kind.most is not None:
        held.append(f"{{v}} <= {number(kind.most)}")
    if kind.whole:
        held.append("{v} = floor({v})")
    return " AND ".join(held) or None


def _totals(found: ClassSums, c: int) -> Totals:
    missing = found.weights[c] - found.held[c]
    return Totals(float(found.weights[c]), found.totals[c], missing if missing.any() else None)


def _tallies(
    rows: SqlRows,
    kind: Levels,
    columns: Sequence[tuple[Cell, str | None]],
    weights: FloatArray,
    labels: Sequence[Label],
) -> list[Tallies]:
    """Return the tallies of every class, in the order of `labels`."""
    levels: list[tuple[Label, ...]] = []
    tables = []
    for cell, text in columns:
        seen = _levels(rows, kind, cell, text)
        every = list(dict.fromkeys(level for level, _ in seen))
        if len(every) > MOST_LEVELS:
            raise BadRows(
                f"a column has more than {MOST_LEVELS:,} different levels",
                hint="put its levels into fewer groups, or drop the column",
            )
        known = tuple(every[place] for place in sorted_levels(every))
        if kind.edges is not None:
            known = tuple(range(len(kind.edges) - 1))
        at = {level: place for place, level in enumerate(known)}
        table = np.zeros((len(labels), len(known)))
        for (level, label), weight in seen.items():
            table[labels.index(label), at[level]] = weight
        levels.append(known)
        tables.append(table)
    held = np.concatenate(tables, axis=1)
    return [Tallies(float(weights[c]), tuple(levels), held[c]) for c in range(len(labels))]


def _levels(
    rows: SqlRows, kind: Levels, cell: Cell, text: str | None
) -> dict[tuple[Label, Label], float]:
    """Return the weight of every level and label that were seen together."""
    number = rows.dialect.number
    most = number(float(np.finfo(np.float64).max))
    if text is not None:
        level = text
    elif kind.edges is not None:
        rows.refuse(f"abs({cell.value}) > {most}")
        cuts = [
            f"WHEN ({cell.value}) < {number(edge)} THEN {place}"
            for place, edge in enumerate(kind.edges[1:-1])
        ]
        last = len(kind.edges) - 2
        level = f"CASE {' '.join(cuts)} WHEN ({cell.value}) IS NOT NULL THEN {last} END"
    else:
        rows.refuse(f"NOT (({cell.value}) = floor({cell.value})) OR abs({cell.value}) > {most}")
        level = cell.value
    given, values, weights, _ = level_weights(rows, level)
    labels = classes_of(given)[1] if len(given) else []
    return {
        (value if text is not None else int(value), label): weight
        for value, label, weight in zip(values, labels, weights.tolist(), strict=True)
        if value is not None
    }
