"""Rows of files for a watch, read as the model's own table was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows
from suffice.learning.table_recipe import TableNotes
from suffice.rows.tables import table_of_columns
from suffice.storage.model_file import is_model_file
from suffice.training.model_rows import ModelRows
from suffice.training.saved_models import Saved
from suffice.training.target_labels import label_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from suffice.learning.learned import Learned
    from suffice.rows import Table
    from suffice.tables.table_reading import TableReading

MOST_ROWS = 1_000_000
"""Rows of a table that are looked at: of more, the first."""


def names_model(given: object) -> bool:
    """Whether this is the place of a model file; of other files the rows are read."""
    if not isinstance(given, (str, Path)):
        return False
    place = Path(given)
    return place.is_file() and is_model_file(place)


def rows_of_tables(
    learned: Learned,
    tables: Sequence[str],
    reading: TableReading,
    note: Callable[[str], object],
    target: str | None = None,
) -> tuple[Table, list[str | None] | None]:
    """Return rows of tables as the model knows them, and their labels where all rows have one.

    `note` hears of columns that are not used, and of rows that are not looked at.
    """
    notes = learned.notes or TableNotes()
    opened = ModelRows.open(
        tables, Saved(learned, notes).columns, notes, reading, note,
        others=() if target is None else (target,),
    )  # fmt: skip
    named = target or notes.target
    named = named if target or named in opened.table.names else None
    chunks, labels, size = [], [], 0
    for chunk, beside in opened.chunks(() if named is None else (named,)):
        chunks.append(chunk)
        size += chunk.size
        if named is not None:
            labels += _texts(beside[0][1].tolist())
        if size >= MOST_ROWS:
            note(f"the first {size:,} rows are used")
            break
    if not size:
        raise BadRows(f"{opened.table.name} has no rows", hint="there is nothing to check")
    first = chunks[0]
    table = first
    if len(chunks) > 1:
        columns = [
            (first.kinds[j], np.concatenate([chunk.exact(j) for chunk in chunks]))
            for j in range(first.width)
        ]
        table = table_of_columns(columns, first.names, None)
    known = bool(labels) and all(label is not None for label in labels)
    return table, (labels if known else None)


def _texts(cells: Iterable[Any]) -> list[str | None]:
    """Return labels as the texts that stand for them; each is thought about once."""
    known: dict[tuple[type, Any], str | None] = {}
    found = []
    for cell in cells:
        key = type(cell), cell
        if key not in known:
            known[key] = label_text(cell)
        found.append(known[key])
    return found
