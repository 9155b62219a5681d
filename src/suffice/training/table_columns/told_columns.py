"""What columns are, by what they tell about the class: parts of dates, and codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.columns.spellings.spelled_tables import read_spelled
from suffice.training.table_columns.date_columns import parts_of_dates
from suffice.training.table_columns.left_out_losses import JudgedRows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling
    from suffice.rows.tables import Table
    from suffice.training.hooks import Hooks

SEED = 0
"""How rows are parted to judge columns: what a column is does not depend on any seed."""


def told_columns(
    table: Table,
    labels: NDArray[np.generic],
    spellings: Mapping[str, Spelling],
    declared: Mapping[str, str],
    hooks: Hooks,
) -> tuple[Table, dict[str, Spelling]]:
    """Return a table whose columns are what their rows tell, and how they are written."""
    place = {label: code for code, label in enumerate(dict.fromkeys(labels.tolist()))}
    codes = np.fromiter(map(place.__getitem__, labels.tolist()), np.intp, len(labels))
    rows = JudgedRows(codes, SEED)
    found = dict(spellings)
    stay = {name for name, kind in declared.items() if kind == "number"}
    found |= parts_of_dates(table, rows, found, stay, hooks)
    return read_spelled(table, found), found
