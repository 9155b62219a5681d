"""Texts as cells of a kind that is known; what is of another kind is refused by its line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns.spellings.blank_cells import TRUTHS, is_blank
from suffice.columns.spellings.spelling import read_cells, spelling_of
from suffice.errors import NotANumber, NotFinite
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.tables.csv.cells import OddCell, is_code, number_of, plain_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling

    Line = Callable[[int], str]


def typed_cells(cells: Sequence[str], kind: str, name: str, line: Line) -> NDArray[Any]:
    """Return text as cells of one kind; `line(i)` says where the i-th of them stands.

    Every distinct text is looked at once, and becomes one object.
    """
    spelling = spelling_of(kind)
    if spelling is not None:
        return read_cells(
            cells, spelling, lambda i: _spelled_refusal(cells[i], spelling, f"{line(i)}, {name}")
        )
    if kind == CATEGORY:
        words = {cell: None if not cell or cell.isspace() else cell for cell in set(cells)}
        return np.fromiter(map(words.__getitem__, cells), dtype=object, count=len(cells))
    if kind == NUMBER:
        numbers = plain_numbers(cells)
        if numbers is not None:
            return numbers
    known: dict[str, Any] = {}
    wrong = set()
    for cell in set(cells):
        value = _value(cell, kind)
        if value is None:
            wrong.add(cell)
        known[cell] = value
    if wrong:
        place = next(i for i, cell in enumerate(cells) if cell in wrong)
        raise _refusal(cells[place], kind, f"{line(place)}, {name}")
    if kind == BOOLEAN:
        truths = {cell: None if math.isnan(v) else bool(v) for cell, v in known.items()}
        return np.fromiter(map(truths.__getitem__, cells), dtype=object, count=len(cells))
    return np.fromiter(map(known.__getitem__, cells), dtype=np.float64, count=len(cells))


def _value(cell: str, kind: str) -> float | None:
    """Return the number or truth that a text is, NaN for a blank one; None if it is neither."""
    if is_blank(cell):
        return math.nan
    if cell in TRUTHS:
        return float(TRUTHS[cell])
    number = None if is_code(cell) else number_of(cell)
    if number is None or math.isinf(number) or (kind == BOOLEAN and number not in (0.0, 1.0)):
        return None
    return number


def _spelled_refusal(cell: str, spelling: Spelling, place: str) -> NotANumber:
    return NotANumber(
        f"{place}: {cell!r:.60} does not match the notation of its column: {spelling.words}",
        hint="write it like the others, or leave the cell empty if it is not known",
    )


def _refusal(cell: str, kind: str, place: str) -> NotANumber | NotFinite:
    number = number_of(cell)
    if number is not None and math.isinf(number):
        return NotFinite(
            f"{place}: {cell.strip()} is not a finite number",
            hint="drop the row, or leave the cell empty: missing values are marginalised",
        )
    if kind == NUMBER and is_code(cell):
        return NotANumber(
            f"{place}: {cell!r:.60} {OddCell(cell, place).what}: a code, and not a number",
            hint="the column has had only numbers so far; remove the leading zeros if it is one",
        )
    what = "a number" if kind == NUMBER else "true or false"
    return NotANumber(
        f"{place}: {cell!r:.60} is not {what}",
        hint="all other cells of the column are; leave the cell empty if it is not known",
    )
