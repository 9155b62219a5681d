"""What clusters that are known say about a table: those of a file that `suffice cluster` wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.errors import BadRows, BadSetting
from suffice.places import Place
from suffice.rows.cells import NUMBER
from suffice.sources.local import joined_chunks
from suffice.sources.source import Chunk
from suffice.training.clusters.latent_clusters import described_classes
from suffice.training.clusters.normal_clusters import described_mixture
from suffice.training.clusters.numeric_rows import NumericRows, with_a_cell
from suffice.training.model_rows import ModelRows
from suffice.training.saved_models import MIXTURE, load_saved
from suffice.training.training_rows import IN_MEMORY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from suffice.tables.table_reading import TableReading
    from suffice.training.clusters.found_clusters import FoundClusters
    from suffice.training.hooks import Hooks


def clusters_of(
    model: Path, tables: Sequence[str], reading: TableReading, hooks: Hooks
) -> FoundClusters:
    """Read a table as a file of clusters needs it, and say how its rows fall into them.

    Of a table that is larger than memory, the first rows are looked at, and that is said.
    """
    saved = load_saved(model, hidden=True)
    if not saved.is_hidden:
        raise BadSetting(
            f"{model} is a {saved.name}: its classes have names, and it has no clusters",
            hint="suffice cluster writes clusters; about named classes, give --target",
        )
    rows = ModelRows.open(tables, saved.columns, saved.notes, reading, hooks.note)
    most = max(1, IN_MEMORY // max(1, len(rows.names)))
    held, size, whole = [], 0, True
    for chunk, _ in rows.chunks():
        held.append(Chunk(chunk, None, None, Place(rows.table.name)))
        size += chunk.size
        if size > most:
            whole = False
            break
    found = joined_chunks(held)
    there = None if found is None else with_a_cell(found.table)
    if found is None or there is None or not there.any():
        raise BadRows(
            f"{rows.table.name}: all rows are blank in the columns of {model}",
            hint="give a table with rows that the clusters are about",
        )
    blank = int((~there).sum())
    if blank:
        many = "blank row is" if blank == 1 else "blank rows are"
        hooks.note(f"{blank:,} {many} left out")
    if not whole:
        hooks.note(f"the first {size:,} rows are used: the table is large")
    table = found.table.rows(there) if blank else found.table
    mixed = any(kind != NUMBER for kind in table.kinds)
    own = NumericRows(table, rows.table.name, (), blank, whole, saved.notes.spellings, mixed)
    describe = described_mixture if saved.name == MIXTURE else described_classes
    return describe(own, saved)
