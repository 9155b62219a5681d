"""Refusals of cells, by the names and the row numbers that the caller knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from suffice.errors import NotFinite
from suffice.estimators.weightless import as_given
from suffice.rows.bad_cells import refuse_blanks_of

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
        except NotFinite as named:
            if batch.places is None:
                raise named from None
            raise as_given(
                named, batch.places, lambda index: refuse_blanks_of(batch.rows[index], names)
            ) from None
        problem = re.sub(r"\bcolumn (\d+)", lambda at: names[int(at[1])], error.problem)
        raise NotFinite(problem, hint=error.hint) from None
