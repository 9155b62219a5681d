"""What is said about how columns are written, and frames whose texts are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.columns.spellings.spelled_tables import read_spelled
from suffice.columns.spellings.spelling import CLOCK, Spelling
from suffice.columns.spellings.written_numbers import COMMA, POINT
from suffice.errors import BadSetting, NotANumber, listed
from suffice.printing.level_order import own_order
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.tables.csv.cells import ColumnEvidence
from suffice.tables.csv.spelled_cells import ColumnSpelling, UsualMarks, spelling_as_declared
from suffice.tables.table_reading import AS_WRITTEN, DATES, ORDERED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.rows.tables import Table
    from suffice.tables.table_reading import TableReading
    from suffice.training.hooks import Hooks


def say_spellings(
    decided: Mapping[str, ColumnSpelling], hooks: Hooks, decimal: str | None = None
) -> None:
    """Say which columns are read as what, which of two readings was taken, and what is not read."""
    alike: dict[Spelling, list[str]] = {}
    for name, found in decided.items():
        if found.spelling is not None and found.spelling.kind != CATEGORY:
            alike.setdefault(found.spelling, []).append(name)
    for spelling, names in alike.items():
        are = "is" if len(names) == 1 else "are"
        hooks.note(f"{listed(names)} {are} read as {spelling.words}{_shown(decided[names[0]])}")
    for name, found in decided.items():
        if found.doubt and found.spelling is None:
            alone = f"; {hooks.column(name, 'number')} reads the number alone"
            asked = alone if found.asks else ""
            hooks.note(f"{name} is read as categories: {found.doubt}{asked}")
        elif found.doubt and found.spelling is not None and found.spelling.date:
            other = "mdy" if found.spelling.date == "dmy" else "dmy"
            change = f"; {hooks.column(name, f'date-{other}')} reads it differently"
            hooks.note(f"{name}: {found.doubt}{change if 'may be' in found.doubt else ''}")
        elif found.doubt and found.spelling is not None:
            other = COMMA if found.spelling.decimal == POINT else POINT
            change = hooks.option("decimal", other)
            hooks.note(f"{name}: {found.doubt}; {change} reads it differently")
    if decimal == COMMA and not any(s.decimal == COMMA for s in alike if s.kind == "number"):
        hooks.note(f"{hooks.option('decimal', COMMA)}: no column has decimal commas")


def _shown(found: ColumnSpelling) -> str:
    """Return a cell and what it is read as, in words."""
    spelling, cell = found.spelling, found.example
    value = spelling.value(cell) if spelling is not None and cell else None
    if spelling is None or value is None or spelling.kind == BOOLEAN:
        return ""
    is_day = spelling.date and not spelling.is_clock
    said = str(spelling.written(value)) if is_day else f"{value:.12g}"
    return f": {cell!r:.40} is {said}" if said != cell else ""


def spelled_frame(
    table: Table, names: Sequence[str], hooks: Hooks, reading: TableReading, frame: object = None
) -> tuple[Table, dict[str, Spelling]]:
    """Return a frame's table with texts read as what they stand for, and how they are written.

    Columns of the `frame` that are dates by their type are numbers in the table already.
    """
    seen, dates = {}, _dates(frame, reading)
    for j, name in enumerate(names):
        declared = reading.columns.get(name)
        if declared in DATES and table.kinds[j] != CATEGORY and name not in dates:
            raise NotANumber(
                f"{name} is declared a date, but its frame column is of type {table.kinds[j]}",
                hint="convert the column to the frame library's own type of dates",
            )
        if declared in AS_WRITTEN:
            seen[name] = ColumnEvidence()
            continue
        if declared == NUMBER and table.kinds[j] == BOOLEAN:
            raise NotANumber(
                f"{name} is declared a number: it contains true and false",
                hint="declare another type",
            )
        if table.kinds[j] != CATEGORY or (table.levels is not None and table.levels[j] is not None):
            continue
        cells = table.column(j).tolist()
        if all(cell is None or isinstance(cell, str) for cell in cells):
            seen[name] = ColumnEvidence()
            seen[name].see([cell or "" for cell in cells], lambda i: f"row {i + 1}")
    usual = UsualMarks.of(seen.values(), {None})
    decided = {
        name: spelling_as_declared(one, name, reading.columns.get(name), reading.decimal, usual)
        for name, one in seen.items()
    }
    decided |= {name: dates[name] for name in names if name in dates}
    say_spellings(decided, hooks, reading.decimal)
    found = {name: one.spelling for name, one in decided.items() if one.spelling is not None}
    return read_spelled(table, found), found


def _dates(frame: object, reading: TableReading) -> dict[str, ColumnSpelling]:
    """Return which columns of a frame are dates or times by their type, as if they were written."""
    from suffice.rows.typed_dates import typed_dates

    return {
        name: ColumnSpelling(Spelling(NUMBER, date=CLOCK if one.clock else "ymd", timed=one.timed))
        for name, one in (typed_dates(frame) if frame is not None else {}).items()
        if reading.columns.get(name) not in AS_WRITTEN
    }


def say_dates(
    dates: Mapping[str, Spelling], names: Sequence[str], reading: TableReading, hooks: Hooks
) -> dict[str, Spelling]:
    """Say which columns are dates by their type, and return how such are written."""
    found = {
        name: dates[name]
        for name in names
        if name in dates and reading.columns.get(name) not in AS_WRITTEN
    }
    say_spellings({name: ColumnSpelling(one) for name, one in found.items()}, hooks)
    return found


def declared_categories(declared: Mapping[str, str], names: Sequence[str]) -> dict[str, Spelling]:
    """Return how columns of a typed table are read that somebody says are categories."""
    return {name: Spelling(CATEGORY) for name in names if declared.get(name) in AS_WRITTEN}


def check_numbers(table: Table, declared: Mapping[str, str], place: str) -> None:
    """Refuse a declared number whose type holds something else: there is nothing to find out."""
    for name, kind in zip(table.names or (), table.kinds, strict=True):
        if declared.get(name) == NUMBER and kind != NUMBER:
            raise NotANumber(
                f"{place}, {name}: it is declared a number, but its type has a {kind}",
                hint="give the column a numeric type, or leave the declaration out",
            )


def say_orders(table: Table, declared: Mapping[str, str], place: str, hooks: Hooks) -> None:
    """Say in which order declared categories stand; refuse those that have none of their own."""
    for j, name in enumerate(table.names or ()):
        if declared.get(name) != ORDERED:
            continue
        levels = [level for level in dict.fromkeys(table.column(j).tolist()) if level is not None]
        order = own_order(levels)
        if order is None:
            raise BadSetting(
                f"{place}, {name}: {listed(map(repr, levels))} have no known order",
                hint=f"{hooks.column(name, 'category')} treats them as unordered; common scales, "
                "and levels that contain numbers, have a known order",
            )
        hooks.note(f"{name} is ordered: {' < '.join(map(str, order[:8]))}{' …' * (len(order) > 8)}")


def check_declared(declared: Mapping[str, str], target: str | None) -> None:
    """Refuse to declare the target: its cells are the names of classes, and may be said to be."""
    if target is not None and declared.get(target, CATEGORY) != CATEGORY:
        raise BadSetting(
            f"{target!r:.60} is the target: its values are class names",
            hint="declare other columns; labels are used as written",
        )
