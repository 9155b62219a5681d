"""Exact sums by class in a database: counts, sums, squares and products of scaled cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.engines.sql_windows import BITS, extents, guessed
from suffice.errors import BadRows, NotFinite
from suffice.linear_algebra import two_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.engines.sql_rows import Cell, SqlRows
    from suffice.engines.sql_windows import Extents, Windows
    from suffice.rows import FloatArray

ANSWERS = 1_000
"""Sums that one query asks for, at most: PostgreSQL answers with 1,664 columns and no more."""
TILE = 30
"""Columns whose products with as many others are asked for together."""
POOR = 1_000.0
"""A centre is poor when the mean of a class is more than √1000 standard deviations away."""
COARSE = 4_096.0
"""A window is too wide when it is this many standard deviations of a class."""
FINE, INSIDE_NOT, BLANK = 0, 1, 2
"""Rows whose cells are all in their windows, with one that is not, with one that is missing."""


@dataclass(slots=True, eq=False)
class Groups:
    """What was added up, by class: rows, weights, sums and products, all of them integers.

    Sums are in units of 2**-31 scaled cells and weights in units of 2**-62, so that
    P - Z·Z'/W is the scatter about the mean in scaled cells.
    """

    labels: list[Any] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    sums: dict[tuple[str, int], int] = field(default_factory=dict)
    products: dict[str, dict[tuple[int, int], int]] = field(default_factory=dict)
    held: dict[tuple[str, int], int] = field(default_factory=dict)
    counts: dict[tuple[str, int], int] = field(default_factory=dict)
    outside: int = 0
    blank: int = 0
    type: Any = None


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
    return _collected(rows, cells, _full)


def class_squares(rows: SqlRows, cells: Sequence[Cell]) -> ClassSums:
    """Return weights, means and squares of every column by itself; missing cells are skipped."""
    return _collected(rows, cells, _diagonal)


def class_totals(rows: SqlRows, cells: Sequence[Cell]) -> ClassSums:
    """Return the sums of every column; missing cells are skipped."""
    return _collected(rows, cells, _linear)


def level_weights(rows: SqlRows, level: str | None = None) -> tuple[Any, list[Any], FloatArray, list[int]]:
    """Return labels, levels, weights and numbers of rows of all that were seen together."""
    heaviest = _heaviest(rows)
    base = f"{rows.label} AS y, {'NULL' if level is None else level} AS v"
    base += "" if rows.weight is None else f", {rows.weight} AS w"
    inner = f"SELECT {base} FROM {rows.rows}{rows.filter()}"
    by = "y" if level is None else "y, v"
    found = rows.run(_query(rows, inner, by, [], [], heaviest, counted=False))
    columns = {name: found.column(name).to_pylist() for name in found.column_names if name != "y"}
    size = found.num_rows
    weights = [_weight(columns, "w", "n", place) for place in range(size)]
    labels = found.column("y").combine_chunks()
    return (
        labels,
        columns.get("v", [None] * size),
        np.array([_ldexp(weight, 1 << 2 * BITS, heaviest) for weight in weights]),
        columns["n"],
    )


def _collected(rows: SqlRows, cells: Sequence[Cell], ask: Any) -> ClassSums:
    """Ask, and ask once more about better windows where the first ones were poor."""
    heaviest = _heaviest(rows)
    windows = guessed(rows, cells)
    found = ask(rows, cells, windows, heaviest)
    numbers = _numbers(found, windows, heaviest, len(cells))
    if found.outside == 0 and not _poor(numbers, found, windows, cells):
        return numbers
    if found.outside:
        _refuse_cells(rows, cells)
    complete = " AND ".join(f"{cell.value} IS NOT NULL" for cell in cells)
    reach = extents(rows.narrowed(complete) if found.blank else rows, cells)
    if not (np.isfinite(reach.low).all() and np.isfinite(reach.high).all()):
        raise BadRows("a number is not finite", hint="leave such cells empty")
    constant = _constant(numbers, found, reach) if found.outside == 0 else None
    if constant is not None and not _poor(numbers, found, windows, cells, constant):
        return _settled(numbers, constant, found, reach)
    windows = reach.windows(cells)
    found = ask(rows, cells, windows, heaviest)
    if found.outside:
        raise _changed()
    numbers = _numbers(found, windows, heaviest, len(cells))
    return _settled(numbers, _constant(numbers, found, reach), found, reach)


# Queries


def _full(rows: SqlRows, cells: Sequence[Cell], windows: Windows, heaviest: int) -> Groups:
    """Add up products of all pairs over rows without a missing cell."""
    width = len(cells)
    wrong = " OR ".join(f"(z{j} IS NULL AND v{j} IS NOT NULL)" for j in range(width))
    blank = " OR ".join(f"v{j} IS NULL" for j in range(width))
    state = f"CASE WHEN {wrong} THEN {INSIDE_NOT} WHEN {blank} THEN {BLANK} ELSE {FINE} END"
    inner = f"SELECT b.*, {state} AS state FROM ({windows.select(rows, cells)}) AS b"
    groups = Groups()
    tiles = [range(start, min(start + TILE, width)) for start in range(0, width, TILE)]
    for a, one in enumerate(tiles):
        for other in tiles[a:]:
            pairs = [(i, j) for i in one for j in other if i <= j]
            alone = list(one) if one == other else []
            query = _query(rows, inner, "y, k, state", alone, pairs, heaviest, counted=False)
            _read(groups, rows.run(query), alone, pairs, first=a == 0 and other == one)
    return groups


def _diagonal(rows: SqlRows, cells: Sequence[Cell], windows: Windows, heaviest: int) -> Groups:
    """Add up every column by itself, and its squares."""
    return _by_column(rows, windows.select(rows, cells), len(cells), heaviest, squares=True)


def _linear(rows: SqlRows, cells: Sequence[Cell], windows: Windows, heaviest: int) -> Groups:
    """Add up every column by itself."""
    return _by_column(rows, windows.select(rows, cells), len(cells), heaviest, squares=False)


def _by_column(rows: SqlRows, inner: str, width: int, heaviest: int, *, squares: bool) -> Groups:
    groups = Groups()
    step = ANSWERS // 5
    for start in range(0, width, step):
        alone = list(range(start, min(start + step, width)))
        pairs = [(j, j) for j in alone] if squares else []
        query = _query(rows, inner, "y, k", alone, pairs, heaviest, counted=True)
        _read(groups, rows.run(query), alone, pairs, first=start == 0, counted=True)
    return groups


def _query(
    rows: SqlRows,
    inner: str,
    by: str,
    alone: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    heaviest: int,
    *,
    counted: bool,
) -> str:
    """Return a query of sums; integers come as text, which no driver turns into doubles."""
    dialect = rows.dialect
    unit, top = dialect.number(2.0**BITS), dialect.number(2.0 ** (2 * BITS))
    weight = "" if rows.weight is None else f"w * {dialect.number(2.0**-heaviest)} * "

    def total(expression: str) -> str:
        return f"CAST(sum(CAST({expression} AS {dialect.integer})) AS {dialect.text})"

    asked = ["count(*) AS n"]
    if rows.weight is not None:
        asked.append(f"{total(f'{weight}{top}')} AS w")
    for j in alone:
        asked.append(f"{total(f'{weight}z{j} * {unit}')} AS s{j}")
        if counted:
            asked += [f"count(v{j}) AS v{j}", f"count(z{j}) AS c{j}"]
            if rows.weight is not None:
                one = f"CASE WHEN z{j} IS NOT NULL THEN {weight}{top} END"
                asked.append(f"{total(one)} AS u{j}")
    asked += [f"{total(f'{weight}z{i} * z{j}')} AS p{i}_{j}" for i, j in pairs]
    return f"SELECT {by}, {', '.join(asked)} FROM ({inner}) AS b GROUP BY {by}"


def _read(
    groups: Groups,
    table: Any,
    alone: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    *,
    first: bool,
    counted: bool = False,
) -> None:
    """Take the answer of one query in."""
    columns = {name: table.column(name).to_pylist() for name in table.column_names if name != "y"}
    labels = table.column("y")
    groups.type = labels.type
    fine: list[int] = []
    outside = blank = 0
    for place, rows in enumerate(columns["n"]):
        state = columns["state"][place] if "state" in columns else FINE
        outside += rows if state == INSIDE_NOT else 0
        blank += rows if state == BLANK else 0
        fine += [place] if state == FINE else []
    keys = [columns["k"][place] for place in fine]
    if first:
        groups.outside, groups.blank = outside, blank
        groups.labels = [labels[place].as_py() for place in fine]
        groups.keys = keys
        groups.rows = [columns["n"][place] for place in fine]
        groups.weights = [_weight(columns, "w", "n", place) for place in fine]
    elif dict(zip(keys, (columns["n"][p] for p in fine), strict=True)) != dict(
        zip(groups.keys, groups.rows, strict=True)
    ):
        raise _changed()
    for key, place in zip(keys, fine, strict=True):
        for j in alone:
            groups.sums[key, j] = int(columns[f"s{j}"][place] or 0)
            if counted:
                groups.outside += columns[f"v{j}"][place] - columns[f"c{j}"][place]
                groups.held[key, j] = _weight(columns, f"u{j}", f"c{j}", place)
                groups.counts[key, j] = columns[f"c{j}"][place]
        held = groups.products.setdefault(key, {})
        for i, j in pairs:
            held[i, j] = int(columns[f"p{i}_{j}"][place] or 0)


def _weight(columns: dict[str, list[Any]], weight: str, count: str, place: int) -> int:
    if weight in columns:
        return int(columns[weight][place] or 0)
    return int(columns[count][place]) << (2 * BITS)


def _heaviest(rows: SqlRows) -> int:
    """Return the exponent of a power of two that no weight exceeds."""
    if rows.weight is None:
        return 0
    found = rows.run(f"SELECT max({rows.weight}) AS m FROM {rows.rows}{rows.filter()}")
    largest = found.column("m").to_pylist()[0]
    return 0 if largest is None else int(np.frexp(float(largest))[1])


def _refuse_cells(rows: SqlRows, cells: Sequence[Cell]) -> None:
    """Refuse the first row with a cell that is infinite, or that its column may not hold."""
    most = rows.dialect.number(float(np.finfo(np.float64).max))
    wrong = []
    for cell in cells:
        wrong.append(f"abs({cell.value}) > {most}")
        if cell.allowed is not None:
            wrong.append(f"NOT ({cell.allowed.format(v=f'({cell.value})')})")
    rows.refuse(" OR ".join(wrong))


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
            mean[c, j], low[c, j] = two_sum(centres[c, j], gap)
            moved = _ldexp(total, 1 << BITS, heaviest - powers[c, j])
            totals[c, j] = centres[c, j] * held[c, j] + moved
    return ClassSums(
        pa.array(groups.labels, groups.type),
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
    return scatter


def _ldexp(above: int, below: int, exponent: int | np.int64) -> float:
    """Return above/below·2**exponent, rounded once."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(above / below, int(exponent)))


def _variances(numbers: ClassSums) -> FloatArray:
    assert numbers.scatter is not None
    if numbers.scatter.ndim == 2:
        return numbers.scatter
    found: FloatArray = np.diagonal(numbers.scatter, axis1=1, axis2=2)
    return found


def _poor(
    numbers: ClassSums,
    groups: Groups,
    windows: Windows,
    cells: Sequence[Cell],
    constant: NDArray[np.bool_] | None = None,
) -> bool:
    """Whether a window was too far from a class, or too wide for it, to keep its digits."""
    if numbers.scatter is None:
        return False
    centres, powers = windows.of(groups.keys)
    variances = _variances(numbers)
    single = numbers.rows[:, np.newaxis] <= 1
    with np.errstate(all="ignore"):
        shift = np.square((numbers.mean - centres) + numbers.low) * numbers.held
        bounds = np.ldexp(1.0, BITS - powers)
        coarse = np.square(bounds / COARSE) * numbers.held > variances
    far = shift > POOR * variances
    exact = np.array([cell.exact for cell in cells]) & (powers >= BITS - 26)
    bad = (far | (coarse & (shift > 0.0))) & ~single & ~exact
    if constant is not None:
        bad &= ~constant
    return bool(bad.any())


def _constant(numbers: ClassSums, groups: Groups, reach: Extents) -> NDArray[np.bool_] | None:
    """Return which columns do not move within which class."""
    at = {key: place for place, key in enumerate(reach.keys)}
    if any(key not in at for key in groups.keys):
        raise _changed()
    places = [at[key] for key in groups.keys]
    return (reach.low[places] == reach.high[places]) & (numbers.held > 0.0)


def _settled(
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
    return ClassSums(
        numbers.labels, numbers.rows, numbers.weights, numbers.held, mean, low, scatter,
        numbers.totals, numbers.blank,
    )  # fmt: skip


def _changed() -> BadRows:
    return BadRows(
        "the rows changed while they were read", hint="read a snapshot, or within a transaction"
    )
