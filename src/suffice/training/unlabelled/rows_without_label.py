"""Rows without a label beside those that have one: of the same table, and of another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows, BadSetting, listed
from suffice.learning.unlabelled.record import AUTO, IGNORE
from suffice.rows import read_table
from suffice.rows.tables import Table
from suffice.training.labelled_source import LabelledSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.tables.table_reading import TableReading
    from suffice.training.training_rows import TrainingRows


def parted(given: object) -> tuple[float | str, Any]:
    """Return what is to be done with rows without a label, and where more of them are.

    >>> parted("auto"), parted(0.3), parted("more.csv")
    (('auto', None), (0.3, None), ('auto', 'more.csv'))
    """
    if given is None:
        return IGNORE, None
    if isinstance(given, (int, float, np.number)):
        return float(given), None  # which is checked where settings are
    if isinstance(given, str):
        if given in (AUTO, IGNORE):
            return given, None
        try:
            return float(given), None
        except ValueError:
            pass
    return AUTO, given


def with_rows_without_label(
    rows: TrainingRows, more: object, reading: TableReading, how: float | str
) -> TrainingRows:
    """Return rows with those that have no label: the blank ones of the table, and `more`."""
    if how == IGNORE:
        return rows if rows.without is None else replace(rows, without=None)
    if not rows.whole:
        raise BadSetting(
            f"{rows.place} is not held in memory, and EM goes through rows without a label again "
            "and again",
            hint='draw some rows first, or use unlabelled="ignore"',
        )
    found = [] if rows.without is None else [rows.without]
    if rows.source is not None and rows.unlabelled:
        found.append(_blank_rows(rows))
    if more is not None:
        found.append(_rows_of(more, rows, reading))
    if not found:
        return rows
    return replace(rows, without=joined(found, rows.place))


def _blank_rows(rows: TrainingRows) -> Table:
    """Read the rows of the same source whose label is blank."""
    assert rows.source is not None
    assert rows.target is not None
    source = LabelledSource(rows.source, rows.names, rows.target, spellings=rows.spellings)
    source.blank = {}
    wanted = source.wanted(rows.target)
    for part in source.parts(wanted):
        for _ in part():
            pass
    return joined([source.blank[place] for place in sorted(source.blank)], rows.place)


def _rows_of(more: object, rows: TrainingRows, reading: TableReading) -> Table:
    """Read a table of rows without a label; a column of labels, if it has one, is not looked at."""
    from suffice.sources import open_source
    from suffice.sources.local import LocalSource

    names = rows.names
    if hasattr(more, "columns") or isinstance(more, np.ndarray):
        table = read_table(more)
    else:
        source = open_source(
            more, delimiter=reading.delimiter, header=reading.header, encoding=reading.encoding,
            sheet=reading.sheet,
        )  # fmt: skip
        if not isinstance(source, LocalSource):
            raise BadSetting(f"{source.name} is on a cluster", hint="bring some rows here first")
        lacking = [name for name in names if name not in source.names]
        if lacking:
            raise BadRows(
                f"{source.name} has no column {listed(lacking)}",
                hint="rows without a label have the same columns as the others",
            )
        chunk = source.some(source.wanted(names=names), MOST)
        if chunk is None:
            raise BadRows(f"{source.name} has no rows", hint="there is nothing to learn from")
        # Nobody has read its texts yet: numbers are what the file has. In databases they are days.
        typed = source.in_database
        bare = tuple(not typed and name not in source.dates for name in names)
        table = replace(chunk.table, bare=bare)
    held = table.names or tuple(f"x{j}" for j in range(table.width))
    lacking = [name for name in names if name not in held]
    if lacking:
        raise BadRows(
            f"the rows without a label have no column {listed(lacking)}",
            hint="they have the same columns as the others",
        )
    table = table.take([held.index(name) for name in names])
    if rows.spellings:
        from suffice.columns.spellings.spelled_tables import read_spelled

        table = read_spelled(table, rows.spellings)
    return table


MOST = 1 << 22
"""Rows without a label of another table, at most; of more, some are drawn. A choice."""


def joined(tables: Sequence[Table], place: str) -> Table:
    """Return the rows of all tables, which have the same columns."""
    first = tables[0]
    if len(tables) == 1:
        return first
    for other in tables[1:]:
        unlike = [
            name
            for name, ours, theirs in zip(first.names or (), first.kinds, other.kinds, strict=False)
            if ours != theirs
        ]
        if unlike:
            raise BadRows(
                f"{place}: {listed(unlike)} holds cells of another kind in rows without a label",
                hint="columns hold numbers in all rows, or words in all of them",
            )
    cells = [np.concatenate([table.column(j) for table in tables]) for j in range(first.width)]
    return Table(None, tuple(cells), first.kinds, first.names, first.levels)


def with_blank_labels(
    held: object, labels: NDArray[np.generic], rows: TrainingRows
) -> tuple[Any, NDArray[Any]]:
    """Return the rows of both kinds, and labels of which some are blank."""
    assert rows.without is not None
    table = held if isinstance(held, Table) else rows.table
    every = np.concatenate(
        [np.asarray(labels, dtype=object), np.full(rows.without.size, None, dtype=object)]
    )
    return joined([table, rows.without], rows.place), every
