"""Refusals of cells, by the names and the row numbers that the caller knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from suffice.errors import NotFinite
from suffice.estimators.weightless import renumbered
from suffice.rows.blanks import refuse_blanks_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.estimators.batches import Batch


def naming(batch: Batch, learn: Callable[[], Any]) -> Any:
    """Learn; a cell that is not finite is refused by its column's name and the caller's row."""
    try:
        return learn()
    except NotFinite as error:
        names = batch.columns.names
        try:
            refuse_blanks_of(batch.rows, names)
            problem = re.sub(r"\bcolumn (\d+)", lambda at: names[int(at[1])], error.problem)
            told = NotFinite(problem, hint=error.hint)
        except NotFinite as named:
            told = named
        raise (told if batch.places is None else renumbered(told, batch.places)) from None
