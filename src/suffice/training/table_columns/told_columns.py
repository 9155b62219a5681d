"""What columns are, by what they tell about the class: parts of dates, and codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.columns.spellings.spelled_tables import read_spelled
from suffice.columns.spellings.spelling import Spelling
from suffice.rows.cells import CATEGORY, NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.rows.tables import Table
    from suffice.tables.table_reading import TableReading
    from suffice.training.hooks import Hooks

FEW = 100
"""Cells of a column that are looked at to see whether it may hold whole numbers alone."""
SEED = 0
"""How rows are parted to judge columns: what a column is does not depend on any seed."""


def told_columns(
    table: Table,
    labels: NDArray[np.generic],
    spellings: Mapping[str, Spelling],
    reading: TableReading,
    hooks: Hooks,
    *,
    typed: bool = False,
) -> tuple[Table, dict[str, Spelling]]:
    """Return a table whose columns are what their rows tell, and how they are written.

    Columns of a database are `typed`: they stay what they are there.
    """
    found = dict(spellings)
    if typed or not _may_tell(table, found):
        return table, found
    from suffice.training.table_columns.code_columns import code_columns
    from suffice.training.table_columns.date_columns import parts_of_dates
    from suffice.training.table_columns.left_out_losses import JudgedRows

    rows = JudgedRows(labels, SEED)
    stay = {name for name, kind in reading.columns.items() if kind == "number"}
    found |= parts_of_dates(table, rows, found, stay, hooks)
    codes = code_columns(table, rows, {*reading.columns, *found}, hooks)
    found |= dict.fromkeys(codes, Spelling(CATEGORY))
    return read_spelled(table, found), found


def _may_tell(table: Table, spellings: Mapping[str, Spelling]) -> bool:
    """Whether any column may be one of codes, or holds dates: for others nothing is judged."""
    if any(one.date for one in spellings.values()):
        return True
    for j, kind in enumerate(table.kinds):
        if kind != NUMBER:
            continue
        some = np.asarray(table.column(j)[:FEW], dtype=np.float64)
        if len(some) and bool((np.isnan(some) | (some == np.floor(some))).all()):
            return True
    return False
