"""Integers added up by class in a database: the queries, and what their answers hold."""

# ruff: noqa: S608  every name and every text in these queries is quoted by the dialect
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows
from suffice.sql.dialects import any_of
from suffice.sql.windows import BITS, BeyondWindows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suffice.sql.dialects import Cell, SqlRows
    from suffice.sql.windows import Windows

ANSWERS = 1_000
"""Sums that one query asks for, at most: PostgreSQL answers with 1,664 columns and no more."""
TILE = 30
"""Columns whose products with as many others are asked for together."""
FINE = 2.0**40
"""What a number that is rounded to a whole one should be at least, on average over the rows: it is
wrong by a half then, which is 5e-13 of this."""
COMPLETE, INSIDE_NOT, BLANK = 0, 1, 2
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

    @property
    def have_products(self) -> bool:
        """Whether squares or products were asked for, besides sums."""
        return any(self.products.values())


def full_sums(rows: SqlRows, cells: Sequence[Cell], windows: Windows, heaviest: int) -> Groups:
    """Add up products of all pairs over rows without a missing cell."""
    width = len(cells)
    wrong = any_of([f"(z{j} IS NULL AND v{j} IS NOT NULL)" for j in range(width)])
    blank = any_of([f"v{j} IS NULL" for j in range(width)])
    # A row with a gap is not a row of these sums, wherever its other cells are.
    state = f"CASE WHEN {blank} THEN {BLANK} WHEN {wrong} THEN {INSIDE_NOT} ELSE {COMPLETE} END"
    inner = f"SELECT b.*, {state} AS state FROM ({windows.select(rows, cells)}) AS b"
    inner += rows.dialect.fence
    groups = Groups()
    tiles = [range(start, min(start + TILE, width)) for start in range(0, width, TILE)]
    for a, one in enumerate(tiles):
        for other in tiles[a:]:
            pairs = [(i, j) for i in one for j in other if i <= j]
            alone = list(one) if one == other else []
            query = sums_query(rows, inner, "y, k, state", alone, pairs, heaviest, counted=False)
            _read(groups, rows.run(query), alone, pairs, first=a == 0 and other == one)
    return groups


def diagonal_sums(rows: SqlRows, cells: Sequence[Cell], windows: Windows, heaviest: int) -> Groups:
    """Add up every column by itself, and its squares."""
    return _by_column(rows, windows.select(rows, cells), len(cells), heaviest, squares=True)


def linear_sums(rows: SqlRows, cells: Sequence[Cell], windows: Windows, heaviest: int) -> Groups:
    """Add up every column by itself."""
    return _by_column(rows, windows.select(rows, cells), len(cells), heaviest, squares=False)


def _by_column(rows: SqlRows, inner: str, width: int, heaviest: int, *, squares: bool) -> Groups:
    groups = Groups()
    step = ANSWERS // 5
    for start in range(0, width, step):
        alone = list(range(start, min(start + step, width)))
        pairs = [(j, j) for j in alone] if squares else []
        query = sums_query(rows, inner, "y, k", alone, pairs, heaviest, counted=True)
        _read(groups, rows.run(query), alone, pairs, first=start == 0, counted=True)
    return groups


def sums_query(
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
        state = columns["state"][place] if "state" in columns else COMPLETE
        outside += rows if state == INSIDE_NOT else 0
        blank += rows if state == BLANK else 0
        fine += [place] if state == COMPLETE else []
    fine.sort(key=lambda place: columns["k"][place])
    keys = [columns["k"][place] for place in fine]
    if first:
        groups.outside, groups.blank = outside, blank
        groups.labels = [labels[place].as_py() for place in fine]
        groups.keys = keys
        groups.rows = [columns["n"][place] for place in fine]
        groups.weights = [weight_of(columns, "w", "n", place) for place in fine]
        for weight, count in zip(groups.weights, groups.rows, strict=True):
            check_weight(weight, count)
    elif dict(zip(keys, (columns["n"][p] for p in fine), strict=True)) != dict(
        zip(groups.keys, groups.rows, strict=True)
    ):
        raise rows_changed()
    for key, place in zip(keys, fine, strict=True):
        for j in alone:
            groups.sums[key, j] = int(columns[f"s{j}"][place] or 0)
            if counted:
                groups.outside += columns[f"v{j}"][place] - columns[f"c{j}"][place]
                groups.held[key, j] = weight_of(columns, f"u{j}", f"c{j}", place)
                groups.counts[key, j] = columns[f"c{j}"][place]
                check_weight(groups.held[key, j], groups.counts[key, j])
        held = groups.products.setdefault(key, {})
        for i, j in pairs:
            held[i, j] = int(columns[f"p{i}_{j}"][place] or 0)


def weight_of(columns: dict[str, list[Any]], weight: str, count: str, place: int) -> int:
    """Return a weight in units of 2**-62: given, or how many rows there are."""
    if weight in columns:
        return int(columns[weight][place] or 0)
    return int(columns[count][place]) << (2 * BITS)


def check_weight(weight: int, rows: int) -> None:
    """Stop where weights are so much smaller than the heaviest that rounding is felt in them."""
    if weight < FINE * rows:
        raise BeyondWindows("weights of very different sizes")


def heaviest_weight(rows: SqlRows) -> int:
    """Return the exponent of a power of two that no weight exceeds."""
    if rows.weight is None:
        return 0
    found = rows.run(f"SELECT max({rows.weight}) AS m FROM {rows.rows}{rows.filter()}")
    largest = found.column("m").to_pylist()[0]
    return 0 if largest is None else int(np.frexp(float(largest))[1])


def rows_changed() -> BadRows:
    """Return the refusal of rows that were not the same in two queries."""
    return BadRows(
        "the rows changed while they were read", hint="read a snapshot, or within a transaction"
    )
