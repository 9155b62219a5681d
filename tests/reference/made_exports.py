"""Exports made column by column: what their author meant, and how somebody's program wrote it.

`exported_tables` has the same rows in many dialects; these have rows of their own, each export what
its kind of program writes. `read_right` says which columns `suffice fit` reads as they were meant.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import zlib
from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import SufficeError
from suffice.tables.table_reading import TableReading
from suffice.training.hooks import Hooks
from suffice.training.training_rows import TrainingRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.random import Generator

SIZE = 72
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  the day that is 0
BLANK = None
MEANINGS = {"number": "number", "date": "number", "truth": "boolean", "text": "category"}
"""What columns are read as, by what they mean; others are left out, or asked about in a note."""


@dataclass(frozen=True)
class Column:
    """One column.

    kind    "number", "date", "truth", "text", "left out" (an ID), or "asked": one of categories,
            with a note that names a cell of it
    meant   what each cell says; None is blank
    cells   how it is written
    """

    name: str
    kind: str
    meant: list[Any]
    cells: list[Any]


@dataclass(frozen=True)
class Export:
    """One file, with the columns that somebody meant.

    above, below   lines around the table
    escaped        whether the csv module writes cells, or they are joined as they are
    write          what writes the file in another way
    refused        words of the refusal that it should be met with
    more           columns that say nothing
    """

    name: str
    columns: Callable[[Generator], list[Column]]
    delimiter: str = ","
    encoding: str = "utf-8"
    ending: str = "\n"
    quoting: int = csv.QUOTE_MINIMAL
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    escaped: bool = True
    write: Callable[[Path, list[Column]], Path] | None = None
    refused: str = ""
    target: str = "y"
    more: tuple[str, ...] = ()
    declared: dict[str, str] = field(default_factory=dict)

    def made(self) -> list[Column]:
        """Return the columns, the target at the end."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        found = self.columns(rng)
        labels = [("left", "right")[int(v)] for v in rng.integers(0, 2, len(found[0].meant))]
        return [*found, Column(self.target, "target", labels, labels)]

    def written(self, folder: Path) -> Path:
        """Write it, and return where it is."""
        columns = self.made()
        place = folder / f"{self.name.replace(' ', '-').replace(',', '')}.csv"
        if self.write is not None:
            return self.write(place, columns)
        rows = [[one.name for one in columns], *zip(*(one.cells for one in columns), strict=True)]
        held = io.StringIO(newline="")
        if self.escaped:
            csv.writer(
                held, delimiter=self.delimiter, lineterminator=self.ending, quoting=self.quoting
            ).writerows([["" if cell is None else cell for cell in row] for row in rows])
        else:
            held.writelines(
                self.delimiter.join("" if cell is None else cell for cell in row) + self.ending
                for row in rows
            )
        around = (
            [line + self.ending for line in self.above],
            [one + self.ending for one in self.below],
        )
        text = "".join([*around[0], held.getvalue(), *around[1]])
        mark = "\ufeff" if self.encoding == "utf-16-be" else ""
        place.write_bytes((mark + text).encode(self.encoding))
        return place


def column(
    name: str,
    kind: str,
    meant: Sequence[Any],
    write: Callable[[Any], Any],
    blank: str = "",
    gaps: bool = True,
) -> Column:
    """Return a column whose cells are written by one rule; a few of them are blank."""
    held = list(meant)
    if gaps:
        for place in (4, len(held) // 2):
            held[place] = None
    return Column(name, kind, held, [blank if one is None else write(one) for one in held])


def as_days(meant: Any) -> Any:
    """Return dates as days since 1970, times as hours; other cells as they are."""
    if isinstance(meant, dt.datetime):
        if meant.tzinfo is not None:
            meant = meant.astimezone(dt.UTC).replace(tzinfo=None)
        return (meant - EPOCH) / dt.timedelta(days=1)
    if isinstance(meant, dt.date):
        return float((meant - EPOCH.date()).days)
    if isinstance(meant, dt.time):
        return meant.hour + meant.minute / 60 + meant.second / 3600
    return meant / dt.timedelta(hours=1) if isinstance(meant, dt.timedelta) else meant


def read_right(place: Path, export: Export) -> dict[str, str]:
    """Return what is wrong, by column; the words of a refusal beside "all" where one comes."""
    hooks = Hooks()
    reading = TableReading(columns=export.declared)
    try:
        found = TrainingRows.read(
            str(place), export.target, reading, (), hooks, seed=0, beside=True
        )
    except SufficeError as error:
        said = str(error)
        return {} if export.refused and export.refused in said else {"all": said}
    if export.refused:
        return {"all": "it was not refused"}
    wrong = {}
    names = found.table.names or ()
    columns = export.made()[:-1]
    called = [one.name or f"column {j + 1}" for j, one in enumerate(columns)]
    for one, name in zip(columns, called, strict=True):
        at = names.index(name) if name in names else None
        said = _wrong(one, None if at is None else found.table, at, hooks.notes)
        if said:
            wrong[one.name] = said
    more = set(names) - set(called) - set(export.more)
    return wrong | ({"all": f"more columns: {more}"} if more else {})


def _wrong(one: Column, table: Any, at: int | None, notes: list[str]) -> str:
    told = [note for note in notes if note.startswith(f"{one.name} ") or f"{one.name}: " in note]
    if one.kind == "asked" and any("read as categories: " in note for note in told):
        return "" if at is None or table.kinds[at] == "category" else f"a {table.kinds[at]}: {told}"
    if one.kind == "left out":
        return "" if at is None else f"it is kept as a {table.kinds[at]}"
    if at is None:
        return f"it is left out: {told}"
    cells = [
        None if cell is None or (isinstance(cell, float) and isnan(cell)) else cell
        for cell in table.column(at).tolist()
    ]
    if one.kind == "asked":
        return f"no note asks: {told}"
    if table.kinds[at] != MEANINGS[one.kind]:
        return f"it is a {table.kinds[at]}: {cells[:3]} {told}"
    meant = [as_days(cell) for cell in one.meant]
    if len(cells) != len(meant):
        return f"{len(cells)} rows of {len(meant)}"
    for i, (cell, expected) in enumerate(zip(cells, meant, strict=True)):
        if (cell is None) != (expected is None) or (
            cell is not None
            and (
                abs(cell - expected) > 1e-6 * max(1.0, abs(expected))
                if MEANINGS[one.kind] == "number"
                else cell != expected
            )
        ):
            return f"{one.cells[i]!r} is {cell!r}, not {expected!r} {told}"
    return ""
