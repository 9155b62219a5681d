"""Cells that cannot be meant: blanks, infinities, and counts that are none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from suffice.errors import BadRows, NotFinite
from suffice.rows.cells import column_at
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.places import ColumnAt
    from suffice.rows.cells import FloatArray


def refuse_blanks(matrix: NDArray[np.floating], names: Sequence[str] | None = None) -> None:
    """Find the first cell that is not finite and refuse it by name; return when there is none.

    For models of p(y | x): they say nothing about x, so they cannot do without a part of it.

    >>> refuse_blanks(np.array([[1.0], [2.0]]))
    """
    for start in range(0, len(matrix), 4096):
        bad = ~np.isfinite(matrix[start : start + 4096])
        if bad.any():
            row, column = divmod(int(bad.argmax()), matrix.shape[1])
            value = float(matrix[start + row, column])
            raise _refusal(start + row, column_at(column, names), value)


def refuse_blanks_of(
    rows: NDArray[np.floating] | SparseRows, names: Sequence[str] | None = None
) -> None:
    """Do the same for dense or sparse rows."""
    if not isinstance(rows, SparseRows):
        refuse_blanks(rows, names)
        return
    bad = ~np.isfinite(rows.cells)
    if bad.any():
        first = int(bad.argmax())
        row = int(np.searchsorted(rows.indptr - rows.indptr[0], first, side="right")) - 1
        raise _refusal(row, column_at(int(rows.places[first]), names), float(rows.cells[first]))


def _refusal(row: int, column: ColumnAt, value: float) -> NotFinite:
    blank = bool(np.isnan(value))
    return NotFinite.of_cell(
        row,
        column,
        f"{value:g} is not a finite number (input contains {'NaN' if blank else 'infinity'})",
        value=value,
        hint='fill the cell or drop the row; LogisticRegression(missing="indicator") fills blank '
        "cells, GaussianDiscriminant and NaiveBayes take them as they are"
        if blank
        else "correct the cell or drop the row",
    )


BLOCK = 1 << 20
"""Cells looked at in one go."""


def refuse_counts(
    rows: SparseRows | NDArray[np.generic],
    names: Sequence[str] | None = None,
    *,
    whole: bool = False,
    missing: bool = False,
    weights: FloatArray | None = None,
) -> None:
    """Find the first cell that is not a count and refuse it by name; return when there is none.

    Counts are finite and ≥ 0, and with `whole` whole numbers; with `missing` they may be NaN.
    Rows of weight 0 are not looked at. Called only after a sum or the smallest cell has raised a
    suspicion, so it may take its time, but not memory.

    >>> refuse_counts(np.array([[1.0, 0.0], [2.0, -3.0]]), ["up", "down"])
    Traceback (most recent call last):
    ...
    suffice.errors.BadRows: row 1, down: -3 is negative (Negative values in data)
    Hint: counts are 0, 1, 2 or any number above; use a family that takes any real number
    """
    step = _step(rows)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        bad = _no_counts(part, whole, missing)
        if not bad.any():
            continue
        if weights is not None:
            ignored = weights[start : start + step] == 0
            if isinstance(part, SparseRows):
                bad &= ~np.repeat(ignored, np.diff(part.indptr))
            else:
                bad &= ~ignored[:, None]
        if bad.any():
            _refuse(part, int(bad.argmax()), start, names)


def _no_counts(part: SparseRows | NDArray[Any], whole: bool, missing: bool) -> NDArray[np.bool_]:
    """Tell the cells that count nothing, stored ones only where rows are sparse."""
    cells = part.cells if isinstance(part, SparseRows) else part
    bad: NDArray[np.bool_] = ~(np.isfinite(cells) & (cells >= 0))
    if whole:
        bad |= cells != np.floor(cells)
    if missing:
        bad &= ~np.isnan(cells)
    return bad


def _step(rows: SparseRows | NDArray[np.generic]) -> int:
    """Return how many rows make a block, if they are alike."""
    cells = rows.stored if isinstance(rows, SparseRows) else rows.size
    return max(BLOCK * len(rows) // max(cells, 1), 1)


def _refuse(
    part: SparseRows | NDArray[np.generic], cell: int, start: int, names: Sequence[str] | None
) -> NoReturn:
    if isinstance(part, SparseRows):
        first = int(part.indptr[0])
        row = int(np.searchsorted(part.indptr, first + cell, side="right")) - 1
        column, value = int(part.places[cell]), float(part.cells[cell])
    else:
        row, column = divmod(cell, part.shape[1])
        value = float(part[row, column])
    kind, what, hint = _about_count(value)
    raise kind.of_cell(start + row, column_at(column, names), what, value=value, hint=hint)


def _about_count(value: float) -> tuple[type[BadRows], str, str]:
    """Return how a cell that counts nothing is refused: the class, the words and the hint."""
    if np.isnan(value):
        return (
            NotFinite,
            "a count is missing (Input contains NaN)",
            "leave a word out by a count of 0; drop rows whose counts are not known",
        )
    if np.isinf(value):
        return (
            NotFinite,
            f"{value:g} is not a finite number (input contains infinity)",
            "drop the row: a count has to be known",
        )
    if value < 0:
        return (
            BadRows,
            f"{value:g} is negative (Negative values in data)",
            "counts are 0, 1, 2 or any number above; use a family that takes any real number",
        )
    return (
        BadRows,
        f"{value:g} is not a whole number",
        "round the counts, or use a family that takes any real number",
    )
