"""Blank and infinite cells, refused where a model has no answer to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import NotFinite
from suffice.rows.cells import place_of
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def refuse_blanks(matrix: NDArray[np.floating[Any]], names: Sequence[str] | None = None) -> None:
    """Find the first cell that is not finite and refuse it by name; return when there is none.

    For models of p(y | x): they say nothing about x, so they cannot do without a part of it.

    >>> refuse_blanks(np.array([[1.0], [2.0]]))
    """
    for start in range(0, len(matrix), 4096):
        bad = ~np.isfinite(matrix[start : start + 4096])
        if bad.any():
            row, column = divmod(int(bad.argmax()), matrix.shape[1])
            value = float(matrix[start + row, column])
            raise _refusal(start + row, place_of(column, names), value)


def refuse_blanks_of(
    rows: NDArray[np.floating[Any]] | SparseRows, names: Sequence[str] | None = None
) -> None:
    """Do the same for dense or sparse rows."""
    if not isinstance(rows, SparseRows):
        refuse_blanks(rows, names)
        return
    bad = ~np.isfinite(rows.cells)
    if bad.any():
        first = int(bad.argmax())
        row = int(np.searchsorted(rows.indptr - rows.indptr[0], first, side="right")) - 1
        raise _refusal(row, place_of(int(rows.places[first]), names), float(rows.cells[first]))


def _refusal(row: int, place: str, value: float) -> NotFinite:
    what = "NaN" if np.isnan(value) else "infinity"
    return NotFinite(
        f"row {row}, {place}: {value:g} is not a finite number (input contains {what})",
        hint="fill the cell or drop the row; GaussianDiscriminant and NaiveBayes take missing "
        "cells as they are: they marginalise",
    )
