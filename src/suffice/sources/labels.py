"""Labels and weights out of the cells of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadLabels, BadWeights
from suffice.rows.cells import BOOLEAN, NUMBER

if TYPE_CHECKING:
    from numpy.typing import NDArray


def labels_of_cells(cells: NDArray[Any], kind: str, name: str, place: str) -> NDArray[Any]:
    """Return labels in their own type: whole numbers are integers; blanks are refused."""
    if kind == NUMBER and cells.dtype.kind in "iu":
        return cells
    if kind == NUMBER and cells.dtype.kind == "f":
        blank = np.isnan(cells)
    else:
        blank = np.array([cell is None for cell in cells], dtype=bool)
    if blank.any():
        raise BadLabels(
            f"{place}: row {int(blank.argmax()) + 1} of these has no {name}",
            hint="leave out rows without a label: nothing can be learned from them here",
        )
    if kind == NUMBER and cells.dtype.kind == "f":
        whole = bool((cells == np.floor(cells)).all() and (np.abs(cells) < 2.0**53).all())
        return cells.astype(np.int64) if whole else cells
    if kind == BOOLEAN:
        return cells.astype(np.bool_)
    return cells


def weights_of_cells(cells: NDArray[Any], kind: str, name: str, place: str) -> NDArray[Any]:
    """Return weights, which must be numbers."""
    if kind != NUMBER:
        raise BadWeights(f"{place}: {name} holds no numbers", hint="name another column of weights")
    return np.asarray(cells, dtype=np.float64)
