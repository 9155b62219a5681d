"""Stored cells of sparse rows that cannot be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import NotFinite
from suffice.rows.counts import refuse_counts

if TYPE_CHECKING:
    from suffice.rows.sparse import SparseRows


def refuse_stored(rows: SparseRows, smallest: float, threshold: float | None) -> None:
    """Refuse stored cells that cannot be meant, once a kernel has seen that there are some.

    `smallest` is NaN where a cell is not finite. Below a threshold any number counts as 0.
    """
    if smallest >= 0.0 or (threshold is not None and smallest < 0.0):
        return
    if threshold is None:
        refuse_counts(rows)
        return
    bad = ~np.isfinite(rows.cells)
    if bad.any():
        at = int(bad.argmax())
        row, value = int(rows.row_numbers()[at]), float(rows.cells[at])
        raise NotFinite(
            f"row {row}, column {int(rows.places[at])}: {value:g} is not a finite number "
            "(Input contains NaN or infinity)",
            hint="leave the cell out of the sparse rows, or drop the row; dense rows may have "
            "missing cells",
        )
