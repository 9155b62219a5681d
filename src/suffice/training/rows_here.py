"""Rows that are in memory already: frames that name their target, arrays beside their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadLabels, BadRows
from suffice.places import Place
from suffice.rows import check_lengths, read_table
from suffice.rows.frames import is_from_frame_library
from suffice.sources.arrow_frames import some_rows
from suffice.tables.table_file import missing_columns
from suffice.training.labelled_source import refuse_infinite
from suffice.training.table_columns.kept_columns import asked_to_drop, kept_columns
from suffice.training.table_columns.label_bins import LabelBins
from suffice.training.table_columns.spelled_columns import say_orders, spelled_frame
from suffice.training.table_columns.told_columns import told_columns
from suffice.training.target_labels import labels_of
from suffice.training.training_rows import TrainingRows, check_labels, unlabelled_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling
    from suffice.rows.tables import Table
    from suffice.tables.table_reading import TableReading
    from suffice.training.hooks import Hooks


def rows_of_frame(
    frame: object,
    target: str,
    drop: Sequence[str],
    hooks: Hooks,
    reading: TableReading,
    *,
    texts: bool,
    beside: bool = False,
) -> TrainingRows:
    """Return the rows of a frame that have a label in one of its columns."""
    table = read_table(frame)
    names = table.names or ()
    lacking = [name for name in (target, *drop, *reading.columns) if name not in names]
    if lacking:
        raise missing_columns("the frame", lacking, names)
    at = names.index(target)
    labels, there = labels_of(table.exact(at), table.kinds[at])
    return _decided(table, labels, there, target, drop, hooks, reading, frame=frame, texts=texts,
                    beside=beside)  # fmt: skip


def rows_beside_labels(
    X: object,
    y: object,
    drop: Sequence[str],
    hooks: Hooks,
    reading: TableReading,
    *,
    texts: bool,
    beside: bool = False,
) -> TrainingRows:
    """Return the rows whose label, among those beside them, is not blank."""
    table = read_table(X)
    names = table.names or tuple(f"x{j}" for j in range(table.width))
    lacking = [name for name in (*drop, *reading.columns) if name not in names]
    if lacking:
        raise missing_columns("X", lacking, names)
    cells = y if isinstance(y, np.ndarray) else _cells(y)
    if cells.ndim != 1:
        raise BadLabels(
            f"y should be a 1d array, got an array of shape {cells.shape} instead",
            hint="give each row one label",
        )
    check_lengths(table.size, len(cells))
    column = read_table(np.asarray(cells, dtype=object).reshape(-1, 1))
    labels, there = labels_of(column.exact(0), column.kinds[0])
    frame = X if is_from_frame_library(X) else None
    return _decided(table, labels, there, None, drop, hooks, reading, frame=frame, texts=texts,
                    beside=beside)  # fmt: skip


def _cells(y: Any) -> NDArray[Any]:
    """Return labels of any kind as an array of objects: numbers stay what they are."""
    held = y.to_list() if hasattr(y, "to_list") else y.tolist() if hasattr(y, "tolist") else y
    found = np.empty(len(held), dtype=object)
    found[:] = held
    return found


def _decided(
    table: Table,
    labels: NDArray[np.generic],
    there: NDArray[np.bool_],
    target: str | None,
    drop: Sequence[str],
    hooks: Hooks,
    reading: TableReading,
    *,
    frame: object,
    texts: bool,
    beside: bool,
) -> TrainingRows:
    """Return what is to be learned from rows that are here."""
    place = "the rows" if frame is None else "the frame"
    names = table.names or tuple(f"x{j}" for j in range(table.width))
    if not labels.size:
        raise BadRows(
            f"{place}: none of {table.size:,} rows has a label",
            hint="is it the right column? Blank cells are not labels",
        )
    kept = [j for j, name in enumerate(names) if name != target and name not in drop]
    if not kept:
        raise BadRows(f"{place}: there is no column besides the target", hint="drop fewer columns")
    table = table.take(kept)
    spellings: dict[str, Spelling] = {}
    if table.names is not None and not texts:
        table, spellings = spelled_frame(table, table.names, hooks, reading, frame)
        say_orders(table, reading.columns, place, hooks)
    refuse_infinite(table, [names[j] for j in kept], Place(place))
    without = int((~there).sum())
    blank = some_rows(table, ~there) if without else None
    if without:
        table = some_rows(table, there)
    called = f"{place}, target {target!r}" if target is not None else f"{place}, y"
    bins = None
    if reading.bins is not None:
        bins = LabelBins.of(labels, reading.bins, None, called)
        labels = bins.cut(labels)
        hooks.note(f"{'y' if target is None else target} {bins.said}")
    check_labels(labels, place, target, hooks, declared=reading.columns)
    if without:
        hooks.note_unlabelled(unlabelled_rows(without))
    table, dropped, worded = kept_columns(
        table, place, target, hooks, texts=texts, declared=reading.columns, beside=beside
    )
    if table.names is not None and not texts:
        table, spellings = told_columns(table, labels, spellings, reading, hooks)
    if blank is not None and table.names is not None:
        held = blank.names or ()
        blank = blank.take([held.index(name) for name in table.names if name in held])
    given = None if frame is None or spellings else _selected(frame, table, there)
    return TrainingRows(
        table, labels, True, place, target, (*asked_to_drop(drop), *dropped), without, texts,
        given=given, spellings=spellings, text_columns=worded, without=blank, bins=bins,
    )  # fmt: skip


def _selected(frame: Any, table: Table, there: NDArray[np.bool_]) -> object:
    """Return the columns and rows of a frame that are learned from, as a frame of its library."""
    import narwhals as nw

    held = nw.from_native(frame, eager_only=True)
    held = held.select(list(table.names or ()))
    return (held if there.all() else held.filter(there.tolist())).to_native()
