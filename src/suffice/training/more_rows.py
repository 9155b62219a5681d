"""More rows for a model that exists already: learned or forgotten, chunk by chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from suffice.columns.shown import shown_by, shown_by_both
from suffice.errors import BadLabels, BadSetting, ForgettingUnseen, SufficeError, listed
from suffice.learning.left_out import StatisticsLeftOut
from suffice.learning.table_recipe import filled_table
from suffice.rows.labels import similar_labels
from suffice.sources.arrow_frames import some_rows
from suffice.training.decimals import counted
from suffice.training.model_rows import ModelRows
from suffice.training.table_columns.typical_rows import rates_of_new
from suffice.training.target_labels import label_kind_of, labels_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from suffice.rows.tables import Table
    from suffice.tables.table_reading import TableReading
    from suffice.training.hooks import Hooks
    from suffice.training.saved_models import Saved


class MoreLearned(NamedTuple):
    """How many rows were learned, and which classes and categories were met for the first time."""

    rows: int
    classes: list[Any]
    levels: list[str]


def learn_more(
    saved: Saved, tables: Sequence[str], target: str | None, reading: TableReading, hooks: Hooks
) -> MoreLearned:
    """Let a model learn from the rows of tables as well."""
    before, levels = set(saved.classes.tolist()), _levels(saved)
    size = 0
    chunks = labelled_chunks(saved, tables, target, reading, hooks, gone=False)
    for table, labels in counted(chunks, saved.decimals):
        _notice(saved, table)
        saved.learn(table, labels)
        size += len(labels)
    _refuse_nothing(size, tables)
    new = [label for label in saved.classes.tolist() if label not in before]
    for said in similar_labels(saved.classes.tolist()) if new else ():
        hooks.note(said)
    return MoreLearned(size, new, [level for level in _levels(saved) if level not in levels])


def _notice(saved: Saved, table: Table) -> None:
    """Count how far out new rows lie, before they are learned, and note what columns show."""
    rates, shown, bins = saved.notes.rates, saved.notes.shown, saved.notes.bins
    if isinstance(saved.model.statistics, StatisticsLeftOut):
        return  # nothing will be learned: it is refused when that is tried
    if rates is not None and saved.offers("typicality"):
        rates = rates + rates_of_new(saved.model, table)
    if shown is not None:
        shown = shown_by_both(shown, shown_by(table))
    saved.notes = saved.notes.knowing(rates=rates, shown=shown, bins=bins)


def _tallied(saved: Saved, table: Table, *, gone: bool, hooks: Hooks) -> None:
    """Tally rows, before blanks are filled, in the bins of their columns; or take them back."""
    bins = saved.notes.bins
    if bins is None or isinstance(saved.model.statistics, StatisticsLeftOut):
        return
    rows = bins.tallied(table)
    try:
        left = bins - rows if gone else bins + rows
    except ForgettingUnseen:  # tallied were some of the rows only: in a database, or since a stop
        hooks.note(
            "the spread of columns is no longer known: not all of these rows had been counted. "
            "suffice fit on the remaining rows counts them again"
        )
        left = None
    saved.notes = saved.notes.knowing(rates=saved.notes.rates, shown=saved.notes.shown, bins=left)


def _levels(saved: Saved) -> list[str]:
    """Return the categories that a model knows, each with its column."""
    return [
        f"{column.name}={'blank' if level is None else level}"
        for column in saved.columns.columns
        for level in getattr(column, "levels", ())
    ]


class Forgotten(NamedTuple):
    """How many rows were taken back, and of which classes none are left."""

    rows: int
    classes: list[Any]


def forget_rows(
    saved: Saved,
    model: Path,
    tables: Sequence[str],
    target: str | None,
    reading: TableReading,
    hooks: Hooks,
) -> Forgotten:
    """Take the rows of tables back out of a model, which is in the file `model`."""
    if not saved.offers("gone_with"):
        raise BadSetting(
            f"{model} is a {saved.name}, which cannot forget: it does not keep "
            "sums that rows could be added to or subtracted from",
            hint="fit again without the rows; gda, qda and naive-bayes can forget",
        )
    before = saved.classes.tolist()
    size = 0
    for rows, labels in labelled_chunks(saved, tables, target, reading, hooks, gone=True):
        try:
            saved.forget(rows, labels)
        except ForgettingUnseen as error:
            raise _unseen(error, model, tables) from None
        size += len(labels)
    _refuse_nothing(size, tables)
    if not len(saved.classes):
        raise ForgettingUnseen(
            f"these are all the rows that {model} has learned: nothing would remain",
            hint="delete the file instead; it is unchanged",
        )
    left = set(saved.classes.tolist())
    return Forgotten(size, [label for label in before if label not in left])


def _unseen(error: SufficeError, model: Path, tables: Sequence[str]) -> SufficeError:
    """Return the refusal of rows that are not in a model, with its name and theirs."""
    return ForgettingUnseen(
        f"{model} cannot forget the rows of {listed(tables)}: {error.problem}",
        hint="it has not learned all of them, or has forgotten them before; the model is "
        f"unchanged. suffice inspect {model} shows how many rows of each class it has",
    )


def labelled_chunks(
    saved: Saved,
    tables: Sequence[str],
    target: str | None,
    reading: TableReading,
    hooks: Hooks,
    *,
    gone: bool,
) -> Iterator[tuple[Table, NDArray[Any]]]:
    """Yield the rows of tables as a model knows them, with their labels.

    How their columns are spread is noted on the way; of rows that are to be forgotten, it is taken
    back.
    """
    column = target or saved.notes.target
    if column is None:
        raise BadSetting(
            "the model file does not record which column has the labels",
            hint=f"name it: {hooks.option('target', 'COLUMN')}",
        )
    known = saved.classes.tolist()
    rows = ModelRows.open(tables, saved.columns, saved.notes, reading, hooks.note, others=(column,))
    without = 0
    with hooks.progress(f"reading {rows.table.name}") as progress:
        for table, ((kind, cells),) in rows.chunks((column,), (label_kind_of(known),)):
            progress.more(table.size)
            labels, there = labels_of(cells, kind, known)
            kept = table
            if not there.all():
                without += int((~there).sum())
                kept = some_rows(table, there)
            if len(labels):
                filled = saved.notes.filled
                yield (kept if filled is None else filled_table(filled, kept)), labels
                _tallied(saved, kept, gone=gone, hooks=hooks)  # nobody has refused them
    if without:
        hooks.note(f"{without} row{'s' * (without > 1)} without a label left out")


def _refuse_nothing(size: int, tables: Sequence[str]) -> None:
    """Refuse tables that held no labelled row."""
    if not size:
        from suffice.sources.opening import is_address

        named = listed(
            [one.partition("://")[0] + "://…" if is_address(one) else one for one in tables]
        )
        raise BadLabels(f"no row of {named} has a label", hint="the model is unchanged")
