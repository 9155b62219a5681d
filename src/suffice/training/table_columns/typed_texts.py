"""Columns of text of typed tables (Parquet, Arrow, lazy frames), read as what people wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.errors import NotANumber
from suffice.rows.cells import CATEGORY
from suffice.tables.csv.cells import MANY, ColumnEvidence
from suffice.tables.csv.spelled_cells import ColumnSpelling, UsualMarks, spelling_as_declared
from suffice.tables.table_reading import AS_WRITTEN, DATES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.sources.local import LocalSource
    from suffice.tables.table_reading import TableReading

HEAD = 256
"""Rows whose types are looked at: which columns hold texts, and whether those may be anything
else."""


def typed_texts(
    source: LocalSource, names: Sequence[str], reading: TableReading, *, is_read: bool = True
) -> dict[str, ColumnSpelling]:
    """Return how columns of text are written that stand for numbers, dates or truths.

    Of a database texts are not `is_read`: they are what their types say. A declared date that is
    neither text nor a date by its type is refused. Columns of words are told by their first rows,
    and no more of them is read.
    """
    dates = {name for name in names if reading.columns.get(name) in DATES}
    if not is_read and not dates:
        return {}
    head = source.some(source.wanted(names=tuple(names)), HEAD)
    if head is None:
        return {}
    declared, table = reading.columns, head.table
    kinds = dict(zip(names, table.kinds, strict=True))
    for name, kind in kinds.items():
        typed = kind != CATEGORY or not is_read
        if name in dates and typed and name not in source.dates:
            raise NotANumber(
                f"{source.name}, {name}: it is declared a date, but its type has a {kind}",
                hint="give the column a type of dates, or leave the declaration out",
            )
    if not is_read:
        return {}
    texts = [n for n in names if kinds[n] == CATEGORY and declared.get(n) not in AS_WRITTEN]
    few = {name: ColumnEvidence() for name in texts}
    for name, seen in few.items():
        seen.see(_texts(table.column(names.index(name)).tolist()))
    asked = [name for name in texts if name in declared or _may_be_read(few[name])]
    if not asked:
        return {}
    found = _evidence_of(source, asked, declared)
    usual = UsualMarks.of(found.values(), {None})
    return {
        name: spelling_as_declared(seen, name, declared.get(name), reading.decimal, usual)
        for name, seen in found.items()
    }


def _evidence_of(
    source: LocalSource, names: Sequence[str], declared: Mapping[str, str]
) -> dict[str, ColumnEvidence]:
    """Look at all cells of some columns, until all are told to be words."""
    found = {name: ColumnEvidence() for name in names}
    done = 0
    for part in source.parts(source.wanted(names=tuple(names))):
        for chunk in part():

            def place(i: int, start: int = done) -> str:
                return f"{source.name}, row {start + i + 1}"

            for j, name in enumerate(names):
                found[name].see(_texts(chunk.table.column(j).tolist()), place)
            done += chunk.table.size
            if all(_are_words(seen) and n not in declared for n, seen in found.items()):
                return found
    return found


def _texts(cells: Sequence[object]) -> list[str]:
    return ["" if cell is None else str(cell) for cell in cells]


def _may_be_read(seen: ColumnEvidence) -> bool:
    """Whether most cells of a column can be read as something else than words."""
    return seen.spelled.count + seen.number_count > seen.odd_count or not seen.is_known


def _are_words(seen: ColumnEvidence) -> bool:
    """Whether a column is one of words, whatever else comes."""
    return seen.odd_count > MANY + 10 * (seen.spelled.count + seen.number_count)
