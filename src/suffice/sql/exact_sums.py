"""Exact sums by class in a database: counts, sums, squares and products of scaled cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows, NotFinite
from suffice.linear_algebra import two_sum
from suffice.sql.dialects import any_of
from suffice.sql.group_sums import (
    FINE,
    check_weight,
    diagonal_sums,
    full_sums,
    heaviest_weight,
    linear_sums,
    rows_changed,
    sums_query,
    weight_of,
)
from suffice.sql.windows import BITS, COLUMNS, BeyondWindows, extents, guessed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from suffice.rows import FloatArray
    from suffice.sql.dialects import Cell, SqlRows
    from suffice.sql.group_sums import Groups
    from suffice.sql.windows import Extents, Windows


# ruff: noqa: S608  every name and every text in these queries is quoted by the dialect


@dataclass(frozen=True, slots=True, eq=False)
class ClassSums:
    """Sums by class as numbers.

    labels   an Arrow array; rows how many rows each class has, blank how many had a missing cell
    weights  (k,) of rows; held (k, d) of cells
    mean + low are the means (k, d); scatter is (k, d, d) or (k, d), None where it was not asked for
    totals   (k, d): Σ w·x
    """

    labels: Any
    rows: NDArray[np.int64]
    weights: FloatArray
    held: FloatArray
    mean: FloatArray
    low: FloatArray
    scatter: FloatArray | None
    totals: FloatArray
    blank: int


def class_products(rows: SqlRows, cells: Sequence[Cell]) -> ClassSums:
    """Return weights, means and scatters of the rows without missing cells, class by class."""
    return _collected(rows, cells, full_sums)


def class_squares(rows: SqlRows, cells: Sequence[Cell]) -> ClassSums:
    """Return weights, means and squares of every column by itself; missing cells are skipped."""
    return _in_parts(rows, cells, diagonal_sums)


def class_totals(rows: SqlRows, cells: Sequence[Cell]) -> ClassSums:
    """Return the sums of every column; missing cells are skipped."""
    return _in_parts(rows, cells, linear_sums)


def level_weights(
    rows: SqlRows, level: str | None = None
) -> tuple[Any, list[Any], FloatArray, list[int]]:
    """Return labels, levels, weights and numbers of rows of all that were seen together."""
    heaviest = heaviest_weight(rows)
    base = f"{rows.label} AS y, {'NULL' if level is None else level} AS v"
    base += "" if rows.weight is None else f", {rows.weight} AS w"
    inner = f"SELECT {base} FROM {rows.rows}{rows.filter()}"
    by = "y" if level is None else "y, v"
    found = rows.run(sums_query(rows, inner, by, [], [], heaviest, counted=False))
    columns = {name: found.column(name).to_pylist() for name in found.column_names if name != "y"}
    size = found.num_rows
    weights = [weight_of(columns, "w", "n", place) for place in range(size)]
    for weight, count in zip(weights, columns["n"], strict=True):
        check_weight(weight, count)
    labels = found.column("y").combine_chunks()
    return (
        labels,
        columns.get("v", [None] * size),
        np.array([_ldexp(weight, 1 << 2 * BITS, heaviest) for weight in weights]),
        columns["n"],
    )


def _in_parts(rows: SqlRows, cells: Sequence[Cell], ask: object) -> ClassSums:
    """Ask about some columns at a time: they have nothing to do with each other."""
    parts = [
        _collected(rows, cells[start : start + COLUMNS], ask)
        for start in range(0, len(cells), COLUMNS)
    ]
    first = parts[0]
    if len(parts) == 1:
        return first
    for part in parts[1:]:
        if not part.labels.equals(first.labels) or (part.rows != first.rows).any():
            raise rows_changed()

    def joined(name: str) -> FloatArray:
        return np.concatenate([getattr(part, name) for part in parts], axis=1)

    return replace(
        first,
        held=joined("held"),
        mean=joined("mean"),
        low=joined("low"),
        scatter=None if first.scatter is None else joined("scatter"),
        totals=joined("totals"),
    )


def _collected(rows: SqlRows, cells: Sequence[Cell], ask: Any) -> ClassSums:
    """Ask, and ask once more about better windows where the first ones were poor."""
    heaviest = heaviest_weight(rows)
    if rows.weight is not None:
        cells = [replace(cell, exact=False) for cell in cells]  # times its weight none is whole
    windows = guessed(rows, cells)
    found = ask(rows, cells, windows, heaviest)
    if found.outside == 0 and not are_poor(found, windows, cells):
        return in_range(_numbers(found, windows, heaviest, len(cells)))
    if found.outside:
        _refuse_cells(rows, cells)
    complete, blank = rows, found.blank
    if blank:
        # The windows are those of complete rows: cells of others may lie far outside of them.
        gap = any_of([f"({cell.value}) IS NULL" for cell in cells])
        complete = rows.narrowed(f"NOT ({gap})")
    reach = extents(complete, cells)
    if not (np.isfinite(reach.low).all() and np.isfinite(reach.high).all()):
        raise BadRows("a number is not finite", hint="leave such cells empty")
    if found.outside or are_poor(found, windows, cells, constant_columns(found, reach)):
        windows = reach.windows(cells)
        found = ask(complete, cells, windows, heaviest)
        if found.outside or found.blank:
            raise rows_changed()
        found.blank = blank
        if found.have_products and are_poor(
            found, windows, cells, constant_columns(found, reach), independent=True
        ):
            raise BeyondWindows
    numbers = _numbers(found, windows, heaviest, len(cells))
    constant = constant_columns(found, reach)
    return in_range(settled(numbers, constant, found, reach), constant)


def _refuse_cells(rows: SqlRows, cells: Sequence[Cell]) -> None:
    """Refuse the first row with a cell that is infinite, or that its column may not hold."""
    most = rows.dialect.number(float(np.finfo(np.float64).max))
    wrong = []
    for cell in cells:
        wrong.append(f"abs({cell.value}) > {most}")
        if cell.allowed is not None:
            wrong.append(f"NOT ({cell.allowed.format(v=f'({cell.value})')})")
    rows.refuse(any_of(wrong))


# From integers to numbers


def _numbers(groups: Groups, windows: Windows, heaviest: int, width: int) -> ClassSums:
    import pyarrow as pa

    size = len(groups.keys)
    centres, powers = windows.of(groups.keys)
    weights = np.array([_ldexp(w, 1 << 2 * BITS, heaviest) for w in groups.weights])
    held, mean, low, totals = (np.zeros((size, width)) for _ in range(4))
    for c, key in enumerate(groups.keys):
        for j in range(width):
            total, weight = groups.sums[key, j], groups.held.get((key, j), groups.weights[c])
            if weight == 0:
                continue
            held[c, j] = _ldexp(weight, 1 << 2 * BITS, heaviest)
            # Σ u·z = total/2**31 and Σ u = weight/2**62: their quotient is the mean of z.
            gap = _ldexp(total << BITS, weight, -powers[c, j])
            mean[c, j], low[c, j] = two_sum(centres[c, j], np.float64(gap))  # type: ignore[arg-type]
            moved = _ldexp(total, 1 << BITS, heaviest - powers[c, j])
            totals[c, j] = centres[c, j] * held[c, j] + moved
    return ClassSums(
        _labels(pa, groups),
        np.array(groups.rows, dtype=np.int64),
        weights,
        held,
        mean,
        low,
        _scatter(groups, powers, heaviest, width),
        totals,
        groups.blank,
    )


def _scatter(
    groups: Groups, powers: NDArray[np.int64], heaviest: int, width: int
) -> FloatArray | None:
    """Return P - Z·Z'/W, in whole numbers until the last step: nothing cancels."""
    if not any(groups.products.values()):
        return None
    size, full = len(groups.keys), not groups.held
    scatter = np.zeros((size, width, width) if full else (size, width))
    for c, key in enumerate(groups.keys):
        for (i, j), product in groups.products[key].items():
            weight = groups.weights[c] if full else groups.held[key, j]
            if weight == 0 or groups.counts.get((key, j), groups.rows[c]) <= 1:
                continue  # a single cell has no scatter
            about = product * weight - groups.sums[key, i] * groups.sums[key, j]
            value = _ldexp(about, weight, heaviest - powers[c, i] - powers[c, j])
            if full:
                scatter[c, i, j] = scatter[c, j, i] = value
            else:
                scatter[c, j] = max(value, 0.0)
    if not np.isfinite(scatter).all():
        raise NotFinite.of_range(["a column"])
    if full:
        still = np.diagonal(scatter, axis1=1, axis2=2) == 0.0
        scatter[still] = 0.0  # products with what does not move are rounding alone
        scatter.transpose(0, 2, 1)[still] = 0.0
    return scatter


def _ldexp(above: int, below: int, exponent: int | np.int64) -> float:
    """Return above/below·2**exponent, rounded once."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(above / below, int(exponent)))


def _labels(pa: ModuleType, groups: Groups) -> object:
    """Return labels as an Arrow array; DuckDB's largest integers are longer than their type."""
    kind = groups.type
    if pa.types.is_decimal(kind) and kind.scale == 0:
        kind = pa.decimal256(76, 0)
    return pa.array(groups.labels, kind)


POOR = 1_000.0
"""A centre is poor when the mean of a class is more than √1000 standard deviations away."""
SMALLEST = 2.0**-960
"""Squares that are smaller have lost digits in any sum of doubles."""


def in_range(numbers: ClassSums, constant: NDArray[np.bool_] | None = None) -> ClassSums:
    """Return the same, unless squares were so small that they are no full doubles any more."""
    if numbers.scatter is not None:
        full = numbers.scatter.ndim == 3
        squares = np.diagonal(numbers.scatter, axis1=1, axis2=2) if full else numbers.scatter
        small = squares < SMALLEST
        # Without extents only what has an exact zero by its type is left at zero.
        small &= squares > 0.0 if constant is None else ~constant & (numbers.held > 0.0)
        if small.any():
            raise BeyondWindows
    return numbers


def are_poor(
    groups: Groups,
    windows: Windows,
    cells: Sequence[Cell],
    constant: NDArray[np.bool_] | None = None,
    *,
    independent: bool = False,
) -> bool:
    """Whether a window was too far from a class, or too wide for it, to keep its digits.

    All is looked at in scaled cells, whose squares neither overflow nor underflow. Single
    roundings might all go one way; where the windows are as narrow as can be they are taken as
    `independent`, which is what they are in rows that differ.
    """
    size, width = len(groups.keys), len(cells)
    shift, spread, rows, seen = (np.zeros((size, width)) for _ in range(4))
    full = not groups.held
    for c, key in enumerate(groups.keys):
        for j in range(width):
            weight = groups.weights[c] if full else groups.held[key, j]
            rows[c, j] = groups.rows[c] if full else groups.counts[key, j]
            if weight == 0:
                continue
            seen[c, j] = 1.0
            total = groups.sums[key, j]
            shift[c, j] = total * total / weight
            if not groups.have_products:
                spread[c, j] = abs(total)
            elif rows[c, j] > 1:
                product = groups.products[key][j, j]
                spread[c, j] = max((product * weight - total * total) / weight, 0.0)
    powers = windows.of(groups.keys)[1]
    exact = np.array([cell.exact for cell in cells]) & (powers >= BITS - 26)
    looked_at = seen > 0.0
    if constant is not None:
        looked_at &= ~constant
    roundings = np.sqrt(rows) if independent else rows
    if not groups.have_products:
        return bool((looked_at & ~exact & (spread < FINE * roundings)).any())
    far = (shift > POOR * spread) & ~(exact & (spread == 0.0))
    if not full:
        bad = (far | (spread < FINE * roundings)) & ~exact
        return bool((bad & looked_at).any())
    if (far & looked_at).any():
        return True
    # Products of whole numbers are whole; those of others are rounded, whatever they are with.
    fine = np.sqrt(spread / np.maximum(roundings, 1.0))
    least = np.where(looked_at & ~exact, fine, np.inf).min(axis=1, initial=np.inf)
    whole = np.where(looked_at & exact & (spread > 0.0), fine, np.inf).min(axis=1, initial=np.inf)
    return bool((least * np.minimum(least, whole) < FINE).any())


def constant_columns(groups: Groups, reach: Extents) -> NDArray[np.bool_]:
    """Return which columns do not move within which class."""
    at = {key: place for place, key in enumerate(reach.keys)}
    if any(key not in at for key in groups.keys):
        raise rows_changed()
    places = [at[key] for key in groups.keys]
    found: NDArray[np.bool_] = reach.low[places] == reach.high[places]
    # What does not move has no squares about its mean; sums it has, unless it is zero.
    return found if groups.have_products else found & (reach.low[places] == 0.0)


def settled(
    numbers: ClassSums, constant: NDArray[np.bool_] | None, groups: Groups, reach: Extents
) -> ClassSums:
    """Return the same with exact zeros where nothing moves: rounding is no variance."""
    if constant is None or numbers.scatter is None:
        return numbers
    places = [reach.keys.index(key) for key in groups.keys]
    mean, low = numbers.mean.copy(), numbers.low.copy()
    mean[constant], low[constant] = reach.low[places][constant], 0.0
    scatter = numbers.scatter.copy()
    if scatter.ndim == 2:
        scatter[constant] = 0.0
    else:
        scatter[constant] = 0.0
        scatter.transpose(0, 2, 1)[constant] = 0.0
    return replace(numbers, mean=mean, low=low, scatter=scatter)
