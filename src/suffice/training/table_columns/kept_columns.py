"""Which columns are learned from: not those that name single rows, nor texts for other models."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from suffice.errors import BadRows, listed
from suffice.rows.cells import CATEGORY
from suffice.training.table_columns.row_names import row_names
from suffice.training.table_columns.text_columns import FREE_TEXT, say_texts, text_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from suffice.rows.tables import Table
    from suffice.training.hooks import Hooks

MOST_LEVELS = 1000
"""Texts of one column that are coded; a column with more is left out."""
FEW = 20
"""Columns with fewer different texts than this are never left out."""


class DroppedColumn(NamedTuple):
    """A column that is not learned from, and why."""

    name: str
    reason: str


def asked_to_drop(names: Sequence[str]) -> tuple[DroppedColumn, ...]:
    """Return columns that somebody named, with that as the reason."""
    return tuple(DroppedColumn(name, "it was asked for") for name in names)


def kept_columns(
    table: Table,
    place: str,
    target: str | None,
    hooks: Hooks,
    *,
    texts: bool,
    declared: Mapping[str, str] | None = None,
    beside: bool = False,
) -> tuple[Table, list[DroppedColumn], tuple[str, ...]]:
    """Return a table without the columns that nothing is to be learned from, those, and texts.

    Texts that are different in nearly every row name rows, and so do numbers that count them; where
    columns of text are documents, others have no place. `declared` are columns of which somebody
    has said what they are. Where the model reads texts `beside` other columns, those stay.
    """
    declared = declared or {}
    names = table.names or tuple(f"x{j}" for j in range(table.width))
    worded = text_columns(table, declared) if CATEGORY in table.kinds and not texts else ()
    read = worded if beside else ()
    useless = {} if texts else _useless(table, read)
    useless |= {names.index(name): FREE_TEXT for name in worded if name not in read}
    counting = {} if texts else row_names(table, declared)
    if len(useless) + len(counting) < table.width:
        useless |= counting
    numbers = [j for j, kind in enumerate(table.kinds) if texts and kind != CATEGORY]
    kept = [j for j in range(table.width) if j not in useless and j not in numbers]
    besides = "" if target is None else f" besides the target {target!r}"
    if numbers:
        hooks.note(f"left out, because it has no text: {listed(names[j] for j in numbers)}")
    if not kept and texts:
        raise BadRows(
            f"{place} has no column of text{besides}",
            hint=f"{hooks.option('model', 'auto')} is for numeric columns and categories",
        )
    if not kept:
        raise BadRows(
            f"{place}: every column is different in almost every row",
            hint=_about_texts(table, hooks.option("model", "text")),
        )
    dropped = []
    for j, why in useless.items():
        change = f"; {hooks.column(names[j], 'number')} keeps it" if j in counting else ""
        if why == FREE_TEXT:
            change = f"; {hooks.option('model', 'naive-bayes')} and auto read it"
        hooks.note(f"{names[j]} is left out: {why}{change}")
        dropped.append(DroppedColumn(names[j], why))
    dropped += [DroppedColumn(names[j], "there is no text in it") for j in numbers]
    if read:
        say_texts(read, hooks)
    return table.take(kept), dropped, read


def _useless(table: Table, read: Collection[str] = ()) -> dict[int, str]:
    """Return columns of text that name single rows, and why; those that are `read` do not."""
    found = {}
    for j, kind in enumerate(table.kinds):
        if kind != CATEGORY or (table.names is not None and table.names[j] in read):
            continue
        cells = table.column(j)
        levels = len(set(cells.tolist()) - {None})
        if levels > MOST_LEVELS or levels > max(FEW, table.size // 2):
            found[j] = (
                f"{levels} different values in {table.size} rows: an ID, a date or free text?"
            )
    return found


def _about_texts(table: Table, reads_texts: str) -> str:
    """Return what may be the matter with a table of nothing but different texts."""
    comma = re.compile(r"\s*[+-]?\d+,\d+\s*")
    for j, kind in enumerate(table.kinds):
        cells = [cell for cell in table.column(j).tolist() if isinstance(cell, str)]
        if kind == CATEGORY and cells and all(map(comma.fullmatch, cells)):
            return f"are these numbers with decimal commas, such as {cells[0]!r:.40}? Write points"
    return (
        f"are these sentences? Fit with {reads_texts}; other models need numeric or categorical "
        "columns"
    )
