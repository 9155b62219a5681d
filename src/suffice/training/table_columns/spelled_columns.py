"""What is said about how columns are written, and frames whose texts are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.columns.spellings.spelled_tables import read_spelled
from suffice.columns.spellings.written_numbers import COMMA, POINT
from suffice.errors import listed
from suffice.rows.cells import BOOLEAN, CATEGORY
from suffice.tables.csv.cells import ColumnEvidence
from suffice.tables.csv.spelled_cells import UsualMarks, spelling_of_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.columns.spellings.spelling import Spelling
    from suffice.rows.tables import Table
    from suffice.tables.csv.spelled_cells import ColumnSpelling
    from suffice.training.hooks import Hooks


def say_spellings(
    decided: Mapping[str, ColumnSpelling], hooks: Hooks, decimal: str | None = None
) -> None:
    """Say which columns are read as what, which of two readings was taken, and what is not read."""
    alike: dict[Spelling, list[str]] = {}
    for name, found in decided.items():
        if found.spelling is not None:
            alike.setdefault(found.spelling, []).append(name)
    for spelling, names in alike.items():
        are = "is" if len(names) == 1 else "are"
        hooks.note(f"{listed(names)} {are} read as {spelling.words}{_shown(decided[names[0]])}")
    for name, found in decided.items():
        if found.doubt and found.spelling is None:
            hooks.note(f"{name} is read as categories: {found.doubt}")
        elif found.doubt and found.spelling is not None:
            other = COMMA if found.spelling.decimal == POINT else POINT
            change = hooks.option("decimal", other)
            hooks.note(f"{name}: {found.doubt}; {change} reads it the other way")
    if decimal == COMMA and not any(s.decimal == COMMA for s in alike if s.kind == "number"):
        hooks.note(f"{hooks.option('decimal', COMMA)}: no column has decimal commas")


def _shown(found: ColumnSpelling) -> str:
    """Return a cell and what it is read as, in words."""
    spelling, cell = found.spelling, found.example
    value = spelling.value(cell) if spelling is not None and cell else None
    if spelling is None or value is None or spelling.kind == BOOLEAN:
        return ""
    return f": {cell!r:.40} is {value:.12g}"


def spelled_frame(
    table: Table, names: Sequence[str], hooks: Hooks, decimal: str | None
) -> tuple[Table, dict[str, Spelling]]:
    """Return a frame's table with texts read as what they stand for, and how they are written."""
    seen = {}
    for j, name in enumerate(names):
        if table.kinds[j] != CATEGORY or (table.levels is not None and table.levels[j] is not None):
            continue
        cells = table.column(j).tolist()
        if all(cell is None or isinstance(cell, str) for cell in cells):
            seen[name] = ColumnEvidence()
            seen[name].see([cell or "" for cell in cells], lambda i: f"row {i + 1}")
    usual = UsualMarks.of(seen.values(), {None})
    decided = {
        name: spelling_of_column(one, decimal=decimal, usual=usual) for name, one in seen.items()
    }
    say_spellings(decided, hooks, decimal)
    found = {name: one.spelling for name, one in decided.items() if one.spelling is not None}
    return read_spelled(table, found), found
