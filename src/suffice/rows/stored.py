"""Stored cells of sparse rows that cannot be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import NotFinite
from suffice.rows.counts import refuse_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.rows.sparse import SparseRows

MOST_COUNT = 1e300
"""Counts above this are refused: sums and scores of them would leave the range of a double."""


def refuse_huge(cells: NDArray[Any], place: Callable[[int], str]) -> None:
    """Refuse the first cell that is too large to be counted; `place` names a cell by number."""
    bad = cells.ravel() > MOST_COUNT
    if bad.any():
        at = int(bad.argmax())
        raise NotFinite(
            f"{place(at)}: {cells.ravel()[at]:g} is too large to be counted",
            hint="divide the counts by a power of ten, or use another family",
        )


def refuse_huge_stored(rows: SparseRows) -> None:
    """Refuse a stored cell that is too large to be counted, once a sum has shown that one is."""
    numbers = rows.row_numbers()
    refuse_huge(rows.cells, lambda at: f"row {numbers[at]}, column {rows.places[at]}")


def refuse_stored(rows: SparseRows, smallest: float, *, signed: bool) -> None:
    """Refuse stored cells that cannot be meant, once a kernel has seen that there are some.

    `smallest` is NaN where a cell is not finite. Where cells are `signed`, negative ones are
    as good as any: they lie below the threshold.
    """
    if smallest >= 0.0 or (signed and smallest < 0.0):
        return
    if not signed:
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
