"""A model fitted to labelled rows, which may be more than memory holds."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from suffice.errors import OneClass
from suffice.learning.collect import learned_from
from suffice.learning.table_recipe import filled_table
from suffice.statistics.quantile_bins import ColumnBins
from suffice.training.judging import most_judged
from suffice.training.labelled_source import BinnedRows, DrawnRows
from suffice.training.model_choice import LIBRARY
from suffice.training.target_labels import check_classes
from suffice.training.training_rows import tell_unlabelled
from suffice.training.unlabelled.rows_without_label import with_blank_labels

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from suffice.columns.filled import FilledColumns
    from suffice.learning.learned import Learned
    from suffice.learning.learner import Learner
    from suffice.rows.tables import Table
    from suffice.sources import Source
    from suffice.training.hooks import Hooks
    from suffice.training.training_rows import TrainingRows


class RowsMet(NamedTuple):
    """What was seen of rows that were read again to learn from them.

    without   how many had no label
    drawn     some of the others, and their labels
    resumed   whether the first ones were learned by another process
    bins      how their columns of numbers are spread
    """

    without: int = 0
    drawn: tuple[Table, NDArray[Any]] | None = None
    resumed: bool = False
    bins: ColumnBins | None = None


def fit_rows(
    model: Learner,
    rows: TrainingRows,
    filled: FilledColumns | None,
    hooks: Hooks,
    checkpoint: str | Path | None = None,
    seed: int = 0,
) -> tuple[Learned, RowsMet]:
    """Return what a learner has learned, and which rows were met.

    Of rows that are read again, some are drawn by the seed, from all over the source.
    """
    from suffice.sources.sql.source import SqlSource

    needs_rows = model.name == "Pool" or rows.without is not None
    summed = _adds_up(rows, filled) and not needs_rows
    if rows.source is None or (rows.whole and checkpoint is None and not summed):
        return _fitted_here(model, rows, filled), RowsMet()
    met = RowsMet()
    with warnings.catch_warnings():
        # A table that holds one class alone is refused below, where its place is known.
        warnings.simplefilter("ignore", OneClass)
        if isinstance(rows.source, SqlSource) and filled is None:
            rows.source.names = (*rows.names, str(rows.target))
            found = _fitted_there(model, rows.source, rows, checkpoint)
        else:
            source = rows.labelled(filled)
            if not rows.whole and filled is None:
                source.drawn = DrawnRows(most_judged(rows.table.width), seed)
            bins = None if rows.whole else ColumnBins.cut(rows.table)
            source.binned = None if bins is None else BinnedRows(bins)
            with hooks.progress(f"learning from {rows.place}", source.share) as source.progress:
                found = _fitted_there(model, source, rows, checkpoint)
            if not rows.whole:
                tell_unlabelled(source, hooks)
                drawn = None if source.drawn is None else source.drawn.rows()
                tallied = None if source.binned is None else source.binned.bins
                met = RowsMet(source.without, drawn, source.resumed, tallied)
    if len(found.classes) == 1:
        check_classes(found.classes, rows.place, rows.target)  # which refuses it
    return found, met


def _fitted_here(model: Learner, rows: TrainingRows, filled: FilledColumns | None) -> Learned:
    """Learn from rows that are here."""
    held = rows.table if rows.given is None else rows.given
    if filled is not None:
        held = filled.transform(held) if rows.given is not None else filled_table(filled, held)
    labels: Any = rows.labels
    if rows.without is not None and filled is None:
        held, labels = with_blank_labels(held, labels, rows)
    batch = model.read(held, labels)
    if rows.given is None and rows.table.names is not None:
        batch = replace(batch, frame=LIBRARY)
    return _with_warnings(model.first(batch))


def _fitted_there(
    model: Learner, source: Source, rows: TrainingRows, checkpoint: str | Path | None
) -> Learned:
    """Learn from rows that are read again."""
    return _with_warnings(learned_from(model, source, rows.target, None, None, checkpoint))


def _with_warnings(learned: Learned) -> Learned:
    """Estimate, and tell what was degenerate."""
    learned.fit  # noqa: B018  a refusal comes before any warning
    learned.warn()
    learned.warn_of_one_class()
    return learned


def _adds_up(rows: TrainingRows, filled: FilledColumns | None) -> bool:
    """Whether the rows are in a database that makes the sums itself."""
    from suffice.sources.sql.source import SqlSource

    return isinstance(rows.source, SqlSource) and rows.source.adds_up and filled is None
