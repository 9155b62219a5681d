"""More rows for a model that exists already: learned or forgotten, chunk by chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.cli.rows.model_rows import ModelRows
from suffice.cli.rows.target_labels import label_kind_of, labels_of
from suffice.cli.terminal.messages import ProgressLine, note
from suffice.errors import BadLabels, BadSetting, listed
from suffice.estimators.shared.table_recipe import filled_table
from suffice.sources.arrow_frames import frame_of, some_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.cli.rows.model_files import Saved
    from suffice.cli.terminal.options import TableReading
    from suffice.rows.tables import Table


def learn_all(model: Any, chunks: Iterable[tuple[Table, NDArray[Any]]]) -> int:
    """Learn from chunks of labelled rows, and return how many rows there were."""
    size = 0
    for table, labels in chunks:
        model.partial_fit(frame_of(table), labels)
        size += len(labels)
    return size


def labelled_chunks(
    saved: Saved, tables: Sequence[str], target: str | None, reading: TableReading
) -> Iterator[tuple[Table, NDArray[Any]]]:
    """Yield the rows of tables as a model knows them, with their labels."""
    column = target or saved.notes.target
    if column is None:
        raise BadSetting(
            "the model file does not say which column holds the labels",
            hint="name it: --target COLUMN",
        )
    known = saved.estimator.classes_.tolist()
    rows = ModelRows.open(tables, saved.columns, saved.notes, reading, others=(column,))
    without = 0
    with ProgressLine(f"reading {rows.table.name}") as progress:
        for table, ((kind, cells),) in rows.chunks((column,), (label_kind_of(known),)):
            progress.more(table.size)
            labels, there = labels_of(cells, kind, known)
            kept = table
            if not there.all():
                without += int((~there).sum())
                kept = some_rows(table, there)
            if saved.notes.filled is not None:
                kept = filled_table(saved.notes.filled, kept)
            if len(labels):
                yield kept, labels
    if without:
        note(f"{without} row{'s' * (without > 1)} without a label left out")


def refuse_nothing(size: int, tables: Sequence[str]) -> None:
    """Refuse tables that held no labelled row."""
    if not size:
        from suffice.sources.opening import is_address

        named = listed(
            [one.partition("://")[0] + "://…" if is_address(one) else one for one in tables]
        )
        raise BadLabels(f"no row of {named} has a label", hint="the model is as it was")
