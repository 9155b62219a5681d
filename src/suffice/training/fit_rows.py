"""A model fitted to labelled rows, which may be more than memory holds."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from suffice.errors import OneClass
from suffice.training.target_labels import check_classes
from suffice.training.training_rows import tell_unlabelled

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.columns.filled import FilledColumns
    from suffice.training.hooks import Hooks
    from suffice.training.training_rows import TrainingRows


def fit_rows(
    model: Any,
    rows: TrainingRows,
    filled: FilledColumns | None,
    hooks: Hooks,
    checkpoint: str | Path | None = None,
) -> int:
    """Fit a model, and return how many more rows without a label were met on the way."""
    from suffice.sources.sql.source import SqlSource

    if rows.source is None or (rows.whole and checkpoint is None and not _adds_up(rows, filled)):
        held = rows.frame
        model.fit(held if filled is None else filled.transform(held), rows.labels)
        return 0
    how = {} if checkpoint is None else {"checkpoint": checkpoint}
    without = 0
    with warnings.catch_warnings():
        # A table that holds one class alone is refused below, where its place is known.
        warnings.simplefilter("ignore", OneClass)
        if isinstance(rows.source, SqlSource) and filled is None:
            rows.source.names = (*rows.names, str(rows.target))
            model.fit(rows.source, target=rows.target, **how)
        else:
            source = rows.labelled(filled)
            with hooks.progress(f"learning from {rows.place}", source.share) as source.progress:
                model.fit(source, target=rows.target, **how)
            if not rows.whole:
                tell_unlabelled(source, hooks)
                without = source.without
    if len(model.classes_) == 1:
        check_classes(model.classes_, rows.place, rows.target)  # which refuses it
    return without


def _adds_up(rows: TrainingRows, filled: FilledColumns | None) -> bool:
    """Whether the rows are in a database that makes the sums itself."""
    from suffice.sources.sql.source import SqlSource

    return isinstance(rows.source, SqlSource) and rows.source.adds_up and filled is None
