"""A model fitted to labelled rows, which may be more than memory holds."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from suffice.errors import OneClass
from suffice.training.judging import most_judged
from suffice.training.labelled_source import DrawnRows
from suffice.training.target_labels import check_classes
from suffice.training.training_rows import tell_unlabelled

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from suffice.columns.filled import FilledColumns
    from suffice.rows.tables import Table
    from suffice.training.hooks import Hooks
    from suffice.training.training_rows import TrainingRows


class RowsMet(NamedTuple):
    """What was seen of rows that were read again to learn from them.

    without   how many had no label
    drawn     some of the others, and their labels
    resumed   whether the first ones were learned by another process
    """

    without: int = 0
    drawn: tuple[Table, NDArray[Any]] | None = None
    resumed: bool = False


def fit_rows(
    model: Any,
    rows: TrainingRows,
    filled: FilledColumns | None,
    hooks: Hooks,
    checkpoint: str | Path | None = None,
    seed: int = 0,
) -> RowsMet:
    """Fit a model, and return which rows were met on the way.

    Of rows that are read again, some are drawn by the seed, from all over the source.
    """
    from suffice.estimators.pool import Pool
    from suffice.sources.sql.source import SqlSource

    summed = _adds_up(rows, filled) and not isinstance(model, Pool)  # which needs rows
    if rows.source is None or (rows.whole and checkpoint is None and not summed):
        held = rows.frame
        model.fit(held if filled is None else filled.transform(held), rows.labels)
        return RowsMet()
    how = {} if checkpoint is None else {"checkpoint": checkpoint}
    met = RowsMet()
    with warnings.catch_warnings():
        # A table that holds one class alone is refused below, where its place is known.
        warnings.simplefilter("ignore", OneClass)
        if isinstance(rows.source, SqlSource) and filled is None:
            rows.source.names = (*rows.names, str(rows.target))
            model.fit(rows.source, target=rows.target, **how)
        else:
            source = rows.labelled(filled)
            if not rows.whole and filled is None:
                source.drawn = DrawnRows(most_judged(rows.table.width), seed)
            with hooks.progress(f"learning from {rows.place}", source.share) as source.progress:
                model.fit(source, target=rows.target, **how)
            if not rows.whole:
                tell_unlabelled(source, hooks)
                drawn = None if source.drawn is None else source.drawn.rows()
                met = RowsMet(source.without, drawn, source.resumed)
    if len(model.classes_) == 1:
        check_classes(model.classes_, rows.place, rows.target)  # which refuses it
    return met


def _adds_up(rows: TrainingRows, filled: FilledColumns | None) -> bool:
    """Whether the rows are in a database that makes the sums itself."""
    from suffice.sources.sql.source import SqlSource

    return isinstance(rows.source, SqlSource) and rows.source.adds_up and filled is None
