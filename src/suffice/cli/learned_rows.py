"""A model of labelled rows: of those that are held, or of all that a source has."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from suffice.cli.remarks import Progress
from suffice.cli.target_labels import check_classes
from suffice.cli.training_rows import tell_unlabelled
from suffice.errors import OneClass
from suffice.sources.sql.source import SqlSource
from suffice.sources.arrow_frames import frame_of

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.cli.training_rows import TrainingRows
    from suffice.columns.filled import FilledColumns


def learn(
    model: Any, rows: TrainingRows, filled: FilledColumns | None, checkpoint: Path | None
) -> None:
    """Fit a model; what it is learned from may be larger than memory."""
    if rows.whole and checkpoint is None and not _adds_up(rows, filled):
        held = frame_of(rows.table)
        model.fit(held if filled is None else filled.transform(held), rows.labels)
        return
    how = {} if checkpoint is None else {"checkpoint": checkpoint}
    with warnings.catch_warnings():
        # A table that holds one class alone is refused below, where its place is known.
        warnings.simplefilter("ignore", OneClass)
        if isinstance(rows.source, SqlSource) and filled is None:
            rows.source.names = (*rows.names, rows.target)
            model.fit(rows.source, target=rows.target, **how)
        else:
            source = rows.labelled(filled)
            with Progress(f"learning from {rows.place}", source.share) as source.progress:
                model.fit(source, target=rows.target, **how)
            if not rows.whole:
                tell_unlabelled(source)
    if len(model.classes_) == 1:
        check_classes(model.classes_, rows.place, rows.target)  # which refuses it


def _adds_up(rows: TrainingRows, filled: FilledColumns | None) -> bool:
    """Whether the rows are in a database that makes the sums itself."""
    return isinstance(rows.source, SqlSource) and rows.source.adds_up and filled is None
