"""Cells that are text, and what they stand for: numbers, truths, categories or nothing.

| a column is | when its cells are                                          | blank are           |
|-------------|-------------------------------------------------------------|---------------------|
| numbers     | numbers, one at least                                       | empty cells, BLANKS |
| truths      | `true` or `false`, in small letters or not, one at least    | empty cells, BLANKS |
| categories  | anything else                                               | empty cells         |

A column without any cell is one of numbers, all of them blank. Words such as `NA` are blank only
beside numbers and truths: among words they may be a category like any other.
"""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import NotANumber, NotFinite
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Line = Callable[[int], str]

BLANKS = frozenset(
    {
        "NA", "N/A", "n/a", "#NA", "#N/A", "<NA>", "NaN", "nan", "NAN", "-NaN", "-nan",
        "null", "Null", "NULL", "None", "none", "?", "-", ".",
    }
)  # fmt: skip
"""Words that say, beside numbers and truths, that there is none."""
TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
FORMULA = "=+-@"
"""What a spreadsheet takes for the beginning of a formula, wide and small forms (＝) included."""
BREAKS = "\t\r\n"
"""What it takes for the beginning of another cell."""


UNSEEN = " \t\r\n\f\v\u00a0\u200b\ufeff"
"""Frequent characters that cannot be seen."""


class ColumnEvidence:
    """What the cells of a column have been so far; the order and the parts do not matter.

    >>> evidence = ColumnEvidence()
    >>> evidence.see(["1", "", "2.5"])
    >>> evidence.see(["NA", "-3e2"])
    >>> evidence.kind
    'number'
    >>> evidence.see(["red"])
    >>> evidence.kind
    'category'
    """

    __slots__ = ("_number", "_text", "_truth", "_word")

    def __init__(self) -> None:
        self._number = self._truth = self._word = self._text = False

    def see(self, cells: Iterable[str]) -> None:
        """Look at some cells."""
        if self._text:
            return
        cells = list(cells)
        numbers = _plain_numbers(cells)
        if numbers is not None:
            self._number = self._number or len(numbers) > 0
            return
        for cell in set(cells):
            if not cell or cell.isspace():
                continue
            if cell in TRUTHS:
                self._truth = True
            elif cell in BLANKS:
                self._word = True
            elif number_of(cell) is not None:
                self._number = True
            else:
                self._text = True
                return

    def see_kind(self, kind: str) -> None:
        """Know what a typed column holds."""
        self._number = self._number or kind == NUMBER
        self._truth = self._truth or kind == BOOLEAN
        self._text = self._text or kind == CATEGORY

    def __or__(self, other: ColumnEvidence) -> ColumnEvidence:
        """Return what the cells of both have been."""
        both = ColumnEvidence()
        both._number = self._number or other._number
        both._truth = self._truth or other._truth
        both._word = self._word or other._word
        both._text = self._text or other._text
        return both

    def see_numbers(self) -> None:
        """Know of some cells that they are numbers, or blank, and not all of them blank."""
        self._number = True

    @property
    def is_known(self) -> bool:
        """Whether there was any cell that is not blank."""
        return self._number or self._truth or self._word or self._text

    @property
    def is_text(self) -> bool:
        """Whether nothing can change any more: it is a column of categories."""
        return self._text

    @property
    def kind(self) -> str:
        """What the column is, as far as it was seen."""
        if self._text or (self._number and self._truth):
            return CATEGORY
        if self._number:
            return NUMBER
        if self._truth:
            return BOOLEAN
        return CATEGORY if self._word else NUMBER


def number_of(cell: str) -> float | None:
    """Return the number that a text is, or None; `1_000` is one in Python only.

    >>> number_of(" 1e3"), number_of("1_000"), number_of("1,5")
    (1000.0, None, None)
    """
    try:
        number = float(cell)
    except ValueError:
        return None
    return None if "_" in cell else number


def _plain_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Return cells as numbers, where every one of them is finite: the common case, and quick."""
    try:
        numbers = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    if not np.isfinite(numbers).all() or "_" in "".join(cells):
        return None
    return numbers


def typed_cells(cells: Sequence[str], kind: str, name: str, line: Line) -> NDArray[Any]:
    """Return text as cells of one kind; `line(i)` says where the i-th of them stands.

    Every distinct text is looked at once, and becomes one object.
    """
    if kind == CATEGORY:
        words = {cell: None if not cell or cell.isspace() else cell for cell in set(cells)}
        return np.fromiter(map(words.__getitem__, cells), dtype=object, count=len(cells))
    if kind == NUMBER:
        numbers = _plain_numbers(cells)
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
    if not cell or cell.isspace() or cell in BLANKS:
        return math.nan
    if cell in TRUTHS:
        return float(TRUTHS[cell])
    number = number_of(cell)
    if number is None or math.isinf(number) or (kind == BOOLEAN and number not in (0.0, 1.0)):
        return None
    return number


def _refusal(cell: str, kind: str, place: str) -> NotANumber | NotFinite:
    number = number_of(cell)
    if number is not None and math.isinf(number):
        return NotFinite(
            f"{place}: {cell.strip()} is not a finite number",
            hint="drop the row, or leave the cell empty: missing values are marginalised",
        )
    what = "a number" if kind == NUMBER else "true or false"
    return NotANumber(
        f"{place}: {cell!r:.60} is not {what}",
        hint="the column held nothing else so far; leave the cell empty if it is not known",
    )


def inert(text: str) -> str:
    """Return a text that a spreadsheet does not take for a formula; `plain_text` takes it back.

    Numbers and single signs are no formulas. What stands before a sign and cannot be seen, such as
    blanks, does not keep a spreadsheet from it.

    >>> inert("=cmd()"), inert("-1.5"), inert("+"), inert("'=x"), inert(" ＝x")
    ("'=cmd()", '-1.5', '+', "''=x", "' ＝x")
    """
    if text[:1].isalnum():  # nearly all are
        return text
    return "'" + text if _is_formula(text) or _is_inert(text) else text


def plain_text(cell: str) -> str:
    """Return what a cell was before it was made inert.

    >>> plain_text("'=cmd()"), plain_text("'tis")
    ('=cmd()', "'tis")
    """
    return cell[1:] if _is_inert(cell) else cell


def _is_inert(cell: str) -> bool:
    """Whether a text is one or more apostrophes before what would be a formula."""
    return cell[:1] == "'" and _is_formula(cell.lstrip("'"))


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet may take a text for a formula, or its beginning for another cell."""
    seen = text.lstrip(UNSEEN)
    while seen and unicodedata.category(seen[0])[0] in "ZC":  # blanks, marks of direction
        seen = seen[1:].lstrip(UNSEEN)
    if len(text) > 1 and text[0] in BREAKS:
        return number_of(text) is None
    sign = unicodedata.normalize("NFKC", seen[:1])
    return len(seen) > 1 and sign in FORMULA and sign != "" and number_of(text) is None
