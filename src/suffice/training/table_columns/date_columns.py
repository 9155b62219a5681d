"""Which parts of a date become categories: those that tell more of the class than the date does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.columns.spellings.date_parts import LEVELS, part_name, part_places
from suffice.columns.spellings.spelling import Spelling
from suffice.errors import listed
from suffice.rows.cells import CATEGORY, NUMBER
from suffice.training.table_columns.left_out_losses import equal_bins

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from suffice.rows.tables import Table
    from suffice.training.hooks import Hooks
    from suffice.training.table_columns.left_out_losses import JudgedRows

BINS = 10
"""Bins of as many rows into which dates are cut, to see what they tell by themselves."""
ERRORS = 3.0
"""Standard errors by which the log-loss of a part has to be lower: of thirty columns of dates that
tell nothing, about one has a part that is taken by chance."""
LEAST_ROWS = 60
"""Rows below which no part is tried: five a month."""


def parts_of_dates(
    table: Table, rows: JudgedRows, spellings: Mapping[str, Spelling], kept: Collection[str],
    hooks: Hooks,
) -> dict[str, Spelling]:  # fmt: skip
    """Return the parts of dates that are to be columns, by their names.

    A part is one where log-loss on rows left out is lower by it than by class shares, and than by
    the date in ten bins, each by more than three standard errors. `kept` are columns that stay what
    somebody said they are.
    """
    found: dict[str, Spelling] = {}
    names = table.names or ()
    if len(rows.codes) < LEAST_ROWS or len(rows.classes) < 2:
        return found
    base = None
    for j, name in enumerate(names):
        spelling = spellings.get(name)
        if spelling is None or not spelling.date or table.kinds[j] != NUMBER or name in kept:
            continue
        days = np.asarray(table.column(j), dtype=np.float64)[rows.kept]
        base = rows.shares() if base is None else base
        alone = rows.by_value(equal_bins(days, BINS))
        taken = []
        for part in LEVELS:
            if part_name(name, part) in names or (part != "hour" if spelling.is_clock else False):
                continue
            if part == "hour" and not spelling.timed:
                continue
            places = part_places(days, part, clock=spelling.is_clock)
            told = rows.by_value(np.where(places < 0, len(LEVELS[part]), places))
            if min(rows.gain(base, told).errors, rows.gain(alone, told).errors) > ERRORS:
                taken.append(part)
                found[part_name(name, part)] = Spelling(CATEGORY, part=part, of=name)
        if taken:
            change = hooks.column(name, "number")
            hooks.note(
                f"{listed([f'the {part}' for part in taken])} of {name} "
                f"{'is a category' if len(taken) == 1 else 'are categories'} beside it; {change} "
                "takes the date alone"
            )
    return found
