"""The rows of a source that candidates are compared on: all of them, or some from all over it."""

from __future__ import annotations

from typing import Any, NamedTuple

from suffice.errors import BadLabels, BadRows
from suffice.estimators.shared.collect import frame_here, is_elsewhere, opened, spooled
from suffice.sources.samples import spread_rows
from suffice.sources.arrow_frames import frame_of

MOST_CELLS = 1 << 25
"""Cells that are held; of a larger source, rows are drawn."""


class RowsHere(NamedTuple):
    """Rows as `fit` takes them, and what is to be said of where they come from."""

    X: Any
    y: Any
    weights: Any
    notes: list[str]


def rows_here(X: object, y: object, target: str | None, weight: object, seed: int) -> RowsHere:
    """Return rows and labels that are in memory, wherever they were.

    Of a source with more than `MOST_CELLS` cells, rows are drawn from all over it, and a note says
    how many.
    """
    if y is not None and target is not None:
        raise BadLabels(
            "labels are given twice: as y, and by the name of a column",
            hint='leave one out: compare(X, y), or compare(source, target="y")',
        )
    here = frame_here(X, target, weight)
    if here is not None:
        return RowsHere(*here, [])
    if target is None and not is_elsewhere(X, y):
        return RowsHere(X, y, weight, [])
    source, wanted = opened(X, target, weight)
    if source.once:
        source = spooled(source, wanted)
    found, whole = spread_rows(source, wanted, max(1, MOST_CELLS // len(wanted.all)), seed)
    if found is None or not found.table.size:
        raise BadRows(f"{source.name} has no rows", hint="there is nothing to compare models on")
    notes = []
    if not whole:
        size = source.size
        of = "" if size is None else f" of {size:,}"
        notes.append(
            f"{found.table.size:,}{of} rows of {source.name} were compared, drawn from all over it"
        )
    return RowsHere(frame_of(found.table), found.labels, found.weights, notes)
