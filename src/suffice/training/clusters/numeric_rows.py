"""The rows of a table that are clustered: its columns of numbers, or of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.columns.spellings.spelled_tables import read_spelled
from suffice.errors import BadRows, listed
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.sources.samples import spread_rows
from suffice.sources.table_files import TableSource
from suffice.training.labelled_source import refuse_infinite
from suffice.training.table_columns.kept_columns import DroppedColumn, asked_to_drop, kept_columns
from suffice.training.table_columns.spelled_columns import check_numbers
from suffice.training.training_rows import IN_MEMORY, kinds_of, opened_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling
    from suffice.rows import FloatArray
    from suffice.rows.tables import Table
    from suffice.sources.local import LocalSource
    from suffice.tables.table_reading import TableReading
    from suffice.training.hooks import Hooks

NO_NUMBERS = {CATEGORY: "text", BOOLEAN: "true and false"}
"""What columns hold that are not clustered, as notes call it."""
COUNTED_ROWS = 10
"""Rows from which on 1, 2, 3, … down a column are taken for the numbers of the rows: so long a run
is no chance."""


@dataclass(frozen=True, slots=True, eq=False)
class NumericRows:
    """Rows to cluster.

    table       columns of numbers, or of every kind, of rows that have a cell in one of them
    place       what the table is called
    dropped     columns that were left out, and why
    blank       how many rows without a number were left out
    whole       whether these are all rows, or some that stand for them
    spellings   how the texts of columns are written that are numbers
    """

    table: Table
    place: str
    dropped: tuple[DroppedColumn, ...]
    blank: int
    whole: bool
    spellings: Mapping[str, Spelling]
    mixed: bool = False
    """Whether there are columns of other kinds than numbers."""

    @classmethod
    def read(
        cls,
        data: object,
        reading: TableReading,
        drop: Sequence[str],
        hooks: Hooks,
        *,
        seed: int = 0,
        others: bool | None = False,
    ) -> NumericRows:
        """Open a source, and hold its numbers; of too many rows some, drawn by the seed.

        `others` says whether columns of other kinds are held too; None: where there are any.
        """
        drop = tuple(dict.fromkeys((*drop, *reading.ignored)))
        source, _ = opened_source(data, None, reading, drop, hooks)
        names = [name for name in source.names if name not in drop]
        if not names:
            raise BadRows(
                f"{source.name}: no column is left", hint=f"{hooks.option('drop')} fewer columns"
            )
        _, spellings = kinds_of(source, names, None, hooks, reading)
        wanted, left = _numeric(source, names) if others is False else (tuple(names), ())
        size = max(1, IN_MEMORY // max(1, len(wanted)))
        found, whole = spread_rows(source, source.wanted(names=wanted or names), size, seed)
        if found is None or not found.table.size:
            raise BadRows(
                f"{source.name} has no rows", hint="there is a header, but no rows below it"
            )
        table = read_spelled(found.table, spellings) if spellings else found.table
        check_numbers(table, reading.columns, source.name)
        refuse_infinite(table, table.names or (), found.place)
        named: Sequence[DroppedColumn] = ()
        if others is not False:
            table, named, _ = kept_columns(table, source.name, None, hooks, texts=False)
        mixed = others is not False and any(kind != NUMBER for kind in table.kinds)
        kept, left_out = _kept(table, reading.columns, mixed=mixed)
        dropped = (*left, *left_out)
        _say_left_out(dropped, hooks)
        dropped = (*named, *dropped)
        if not kept:
            text = next((one.name for one in dropped if "text" in one.reason), None)
            units = "" if text is None else hooks.column(text, "number")
            raise BadRows(
                f"{source.name} has no numeric columns to cluster",
                hint=f"are numbers written with units? {units} reads the number alone"
                if units
                else "give a table with numeric columns that vary",
            )
        table = table.take(kept)
        there = with_a_cell(table)
        blank = int((~there).sum())
        if blank:
            what = "cell" if mixed else "number"
            many = f"row has no {what} and is" if blank == 1 else f"rows have no {what} and are"
            hooks.note(f"{blank:,} {many} left out")
            table = table.rows(there)
        if not whole:
            hooks.note(f"{table.size:,} rows, a random sample, are used: the table is large")
        dropped = (*asked_to_drop(drop), *dropped)
        return cls(table, source.name, dropped, blank, whole, spellings, mixed)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are clustered."""
        assert self.table.names is not None
        return self.table.names


def cells_of(table: Table) -> FloatArray:
    """Return the cells of columns of numbers (n, d), NaN where one is blank."""
    columns = [np.asarray(table.column(j), dtype=np.float64) for j in range(table.width)]
    return np.column_stack(columns)


def _numeric(
    source: LocalSource, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[DroppedColumn, ...]]:
    """Return the columns to read, and those of which it is known before that they have no numbers.

    Of a text file all cells have been looked at; what others hold is known when they are read.
    """
    if not isinstance(source, TableSource):
        return tuple(names), ()
    kinds = source.kinds()
    wanted = tuple(name for name in names if kinds[name] == NUMBER)
    others = tuple(
        DroppedColumn(name, f"it holds {NO_NUMBERS.get(str(kinds[name]), 'no numbers')}")
        for name in names
        if name not in wanted
    )
    return (wanted, others) if wanted else (tuple(names), ())


def with_a_cell(table: Table) -> NDArray[np.bool_]:
    """Return which rows have any cell."""
    there = np.zeros(table.size, dtype=bool)
    for j, kind in enumerate(table.kinds):
        cells = table.column(j)
        if kind == NUMBER:
            there |= ~np.isnan(np.asarray(cells, dtype=np.float64))
        else:
            there |= np.array([cell is not None for cell in cells.tolist()], dtype=bool)
    return there


def _kept(
    table: Table, declared: Mapping[str, str], *, mixed: bool
) -> tuple[list[int], list[DroppedColumn]]:
    """Return the places of columns to cluster, and the others, each with a reason."""
    kept, constant, dropped = [], [], []
    for j, (name, kind) in enumerate(zip(table.names or (), table.kinds, strict=True)):
        if kind != NUMBER and mixed:
            levels = len(set(table.column(j).tolist()) - {None})
            if levels > 1:
                kept.append(j)
            elif levels == 1:
                constant.append(j)
            else:
                dropped.append(DroppedColumn(name, "it is blank"))
            continue
        if kind != NUMBER:
            dropped.append(DroppedColumn(name, f"it holds {NO_NUMBERS.get(kind, 'no numbers')}"))
            continue
        cells = np.asarray(table.column(j), dtype=np.float64)
        if np.isnan(cells).all():
            dropped.append(DroppedColumn(name, "it is blank"))
        elif np.nanmin(cells) == np.nanmax(cells):
            constant.append(j)
        elif declared.get(name) != NUMBER and _counts_rows(cells):
            dropped.append(DroppedColumn(name, "it numbers the rows"))
        else:
            kept.append(j)
    if not kept:  # all rows are equal: that is another refusal
        return constant, dropped
    dropped += [DroppedColumn((table.names or ())[j], "it never varies") for j in constant]
    return kept, dropped


def _counts_rows(cells: FloatArray) -> bool:
    """Whether a column is 0, 1, 2, … or 1, 2, 3, … from the first row to the last."""
    if len(cells) < COUNTED_ROWS or cells[0] not in (0.0, 1.0):
        return False
    return bool((np.diff(cells) == 1.0).all())


def _say_left_out(dropped: Sequence[DroppedColumn], hooks: Hooks) -> None:
    """Say which columns are left out, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for one in dropped:
        by_reason.setdefault(one.reason, []).append(one.name)
    for reason, names in by_reason.items():
        why = reason if len(names) == 1 else reason.replace("it ", "they ", 1)
        why = why.replace("they holds", "they hold").replace("they is", "they are")
        why = why.replace("they numbers", "they number")
        why = why.replace("they never varies", "they never vary")
        more = ""
        if "numbers the rows" in reason:
            more = f"; {hooks.column(names[0], 'number')} keeps it"
        are = "is" if len(names) == 1 else "are"
        hooks.note(f"{listed(names)} {are} left out: {why}{more}")
