"""Month, weekday and hour of a date, as categories beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.rows.cells import CATEGORY, NUMBER
from suffice.rows.tables import table_of_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling
    from suffice.rows.cells import FloatArray
    from suffice.rows.tables import Table

LEVELS: dict[str, tuple[str, ...]] = {
    "month": ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    "weekday": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "hour": tuple(f"{hour:02d}h" for hour in range(24)),
}
"""What of a date may be a category, and the names of its levels in their order."""
FIRST = 3
"""The weekday of 1970-01-01, a Thursday, by its place in LEVELS."""


def part_places(days: FloatArray, part: str, *, clock: bool = False) -> NDArray[np.intp]:
    """Return the place of each date's level in LEVELS; -1 for a blank.

    `days` are days since 1970, or of a `clock` hours.

    >>> part_places(np.array([19727.75, np.nan]), "weekday")
    array([ 4, -1])
    >>> part_places(np.array([19727.75]), "hour")
    array([18])
    """
    there = np.isfinite(days)
    # Hours are kept to a second: a time that is a fraction of a day is not exact.
    seconds = np.rint(np.where(there, days, 0.0) * (3600.0 if clock else 86_400.0)).astype(np.int64)
    if part == "hour":
        found = seconds // 3600 % 24
    elif part == "weekday":
        found = (seconds // 86_400 + FIRST) % 7
    else:
        months = (seconds // 86_400).astype("datetime64[D]").astype("datetime64[M]")
        found = months.astype(np.int64) % 12
    return np.where(there, found, -1).astype(np.intp)


def part_cells(days: FloatArray, part: str, *, clock: bool = False) -> NDArray[np.generic]:
    """Return the level of each date, None for a blank one.

    >>> part_cells(np.array([19727.75, np.nan]), "month")
    array(['Jan', None], dtype=object)
    """
    names = np.array([*LEVELS[part], None], dtype=object)
    found: NDArray[np.generic] = names[part_places(days, part, clock=clock)]
    return found


def part_name(name: str, part: str) -> str:
    """Return how the column of a part is called."""
    return f"{name} ({part})"


def without_parts(names: tuple[str, ...], spellings: Mapping[str, Spelling]) -> tuple[str, ...]:
    """Return the columns that a table has, of those that a model knows."""
    if not any(one.part for one in spellings.values()):
        return names
    return tuple(n for n in names if n not in spellings or not spellings[n].part)


def with_date_parts(table: Table, spellings: Mapping[str, Spelling]) -> Table:
    """Return a table with the parts of its dates, as far as it does not have them yet."""
    names = table.names
    parts = {name: one for name, one in spellings.items() if one.part}
    if names is None or not parts:
        return table
    places = {name: j for j, name in enumerate(names)}
    added = {
        name: one
        for name, one in parts.items()
        if name not in places and one.of in places and table.kinds[places[one.of]] == NUMBER
    }
    if not added:
        return table
    columns: list[tuple[str, Any]] = [(kind, table.column(j)) for j, kind in enumerate(table.kinds)]
    for one in added.values():
        days = np.asarray(table.column(places[one.of]), dtype=np.float64)
        clock = one.of in spellings and spellings[one.of].is_clock
        columns.append((CATEGORY, part_cells(days, one.part, clock=clock)))
    levels = None if table.levels is None else (*table.levels, *(None for _ in added))
    whole = None if table.whole is None else (*table.whole, *(False for _ in added))
    return replace(table_of_columns(columns, (*names, *added), levels), whole=whole)
