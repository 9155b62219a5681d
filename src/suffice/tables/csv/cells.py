"""Cells that are text, and what they stand for: numbers, truths, categories or nothing.

| a column is | when its cells are                                          | blank are           |
|-------------|-------------------------------------------------------------|---------------------|
| numbers     | numbers, one at least                                       | empty cells, BLANKS |
| truths      | `true` or `false`, in small letters or not, one at least    | empty cells, BLANKS |
| categories  | anything else                                               | empty cells         |

A column without any cell is one of numbers, all of them blank. Words such as `NA` are blank only
beside numbers and truths: among words they may be a category like any other. Whole numbers that
begin with a zero, as `007` does, or have more than fifteen digits are codes and no numbers: `01`
and `1` are two, and so are two account numbers that differ in their last digit alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import NotANumber, NotFinite
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
"""Cells that are truths; `yes` and `1` are not, since they are words and numbers elsewhere."""
DIGITS = 15
"""Digits of a whole number that a double holds for certain; one with more is a code."""
LOOK, FEW = 256, 64
"""Cells that are looked at first; and of every chunk, where no cell has been a number yet."""
MANY = 1000
"""Cells that are no numbers from which on a column is one of words, whatever else is in it."""
ZEROS = str.maketrans("123456789", "000000000")
"""Makes every digit a zero, so that one search finds any of them."""


@dataclass(frozen=True, slots=True)
class OddCell:
    """The first cell that is of another kind than most of its column.

    cell   what it says
    place  where it stands, in words; or the number of its row, from 1 on
    find   says where a row with such a number stands
    """

    cell: str
    place: str | int
    find: Callable[[int], str] = str

    @property
    def where(self) -> str:
        """Where it stands, in words."""
        return self.find(self.place) if isinstance(self.place, int) else self.place

    @property
    def what(self) -> str:
        """Why it is no number."""
        if is_code(self.cell):
            short = self.cell.strip().lstrip("+-").startswith("0")
            return "begins with 0, as codes do" if short else f"has more than {DIGITS} digits"
        return "is no number"


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

    __slots__ = ("_codes", "_decimal", "_first", "_number", "_numbers", "_odd", "_text", "_truth",
                 "_truths", "_word")  # fmt: skip

    def __init__(self) -> None:
        self._number = self._truth = self._word = self._text = self._decimal = False
        self._numbers = self._truths = self._odd = self._codes = 0
        self._first: dict[str, OddCell] = {}

    def see(self, cells: Sequence[str], place: Callable[[int], str | int] | None = None) -> None:
        """Look at some cells; `place(i)` says where the i-th stands."""
        numbers = _plain_numbers(cells) if self.may_be_numbers else None
        if numbers is not None:
            self.see_numbers(len(numbers), decimal=not self._decimal and _has_decimals(cells))
        elif not self.are_words(cells[:LOOK], cells, len(cells)):
            first = None if place is None else lambda cell: place(cells.index(cell))
            self.see_counts(Counter(cells), first)

    def are_words(self, head: Sequence[str], some: Sequence[str], size: int) -> bool:
        """Whether a column is told to be one of words by its `head`, and by `some` of more cells.

        So it is where there are many of them, and no number among them yet; or where it was so
        before. Then nobody has to look at all `size` cells.
        """
        if self._odd > MANY + 10 * (self._numbers + self._truths + self._codes):
            self._odd += size
            return True
        if self._numbers or self._truths or self._codes:
            return False
        few = _spread(some) if self._text else head
        known = self._text or len(set(head)) > FEW
        if not known or any(number_of(cell) is not None or cell in TRUTHS for cell in few):
            return False
        self._text = True
        self._odd += size
        return True

    def see_counts(
        self, counts: Mapping[str, int], place: Callable[[str], str | int] | None = None
    ) -> None:
        """Look at distinct cells; `place(cell)` says where one stands first."""
        for cell, times in counts.items():
            if not cell or cell.isspace():
                continue
            if cell in TRUTHS:
                self._truth = True
                self._truths += times
                self._note("truth", cell, place)
            elif cell in BLANKS:
                self._word = True
            elif is_code(cell):
                self._text = True
                self._codes += times
                self._note("code", cell, place)
            elif number_of(cell) is not None:
                self.see_numbers(times, decimal=not self._decimal and _has_decimals((cell,)))
                self._note("number", cell, place)
            else:
                self._text = True
                self._odd += times
                self._note("odd", cell, place)

    def _note(self, kind: str, cell: str, place: Callable[[str], str | int] | None) -> None:
        if place is not None and kind not in self._first:
            self._first[kind] = OddCell(cell, place(cell))

    def located(self, find: Callable[[int], str]) -> None:
        """Know how to say where rows stand that only have a number."""
        self._first = {kind: replace(odd, find=find) for kind, odd in self._first.items()}

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
        both._decimal = self._decimal or other._decimal
        both._numbers = self._numbers + other._numbers
        both._truths = self._truths + other._truths
        both._odd = self._odd + other._odd
        both._codes = self._codes + other._codes
        both._first = other._first | self._first
        return both

    def see_numbers(self, times: int, *, decimal: bool = True) -> None:
        """Know of some cells that they are numbers, and whether one is written as a fraction."""
        self._number = self._number or times > 0
        self._decimal = self._decimal or decimal
        self._numbers += times

    @property
    def may_be_numbers(self) -> bool:
        """Whether the next cells may all be numbers, as far as one can tell."""
        return not self._text or self._numbers > self._odd + self._codes

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are written as whole ones."""
        return self._number and not self._decimal

    @property
    def odd(self) -> tuple[OddCell, int, int] | None:
        """The first of a few cells that made it a column of categories, how many, and of how many.

        None where they are not few: a column of words holds some numbers, too.
        """
        if self.kind != CATEGORY or not (self._numbers or self._truths):
            return None
        total = self._numbers + self._truths + self._odd + self._codes
        if self._numbers >= self._truths:
            odd, kinds = self._odd + self._truths, ("odd", "code", "truth")
            many = self._numbers
        else:
            odd, kinds = self._odd + self._numbers, ("odd", "code", "number")
            many = self._truths
        first = next((self._first[kind] for kind in kinds if kind in self._first), None)
        return None if first is None or odd > many else (first, odd + self._codes, total)

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


def is_code(cell: str) -> bool:
    """Whether a text is made of digits, and yet no number: as one it would not be itself any more.

    >>> [is_code(cell) for cell in ("007", "1234567890123456", "0", "0.5", "-12")]
    [True, True, False, False, False]
    """
    digits = cell.strip()
    digits = digits[1:] if digits[:1] in ("-", "+") else digits
    return digits.isdigit() and (len(digits) > DIGITS or (digits[0] == "0" and len(digits) > 1))


def _spread(cells: Sequence[str]) -> Sequence[str]:
    """Return a few cells from all over."""
    return cells[:: max(1, len(cells) // FEW)]


def _has_decimals(cells: Sequence[str]) -> bool:
    """Whether a number is written with a point or an exponent."""
    joined = "\n".join(cells)
    return "." in joined or "e" in joined or "E" in joined


def _plain_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Return cells as numbers, where every one of them is finite: the common case, and quick."""
    try:
        numbers = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    joined = "\n" + "\n".join(cells) + "\n"
    if not np.isfinite(numbers).all() or "_" in joined:
        return None
    if np.abs(numbers).max(initial=0.0) >= 10.0**DIGITS and any(map(is_code, cells)):
        return None
    return None if _may_hold_codes(joined) and any(map(is_code, cells)) else numbers


def _may_hold_codes(joined: str) -> bool:
    """Whether a line of a text may begin with a zero and another digit."""
    if " " in joined or "\t" in joined:
        return re.search(r"\s[+-]?0\d+\s", joined) is not None
    starts = [start for start in ("\n0", "\n-0", "\n+0") if start in joined]
    if not starts:
        return False
    zeros = joined.translate(ZEROS)
    return any(f"{start}0" in zeros for start in starts)


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
    number = None if is_code(cell) else number_of(cell)
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
    if kind == NUMBER and is_code(cell):
        return NotANumber(
            f"{place}: {cell!r:.60} {OddCell(cell, place).what}: a code, and not a number",
            hint="the column held numbers so far; write it without the zeros if it is one",
        )
    what = "a number" if kind == NUMBER else "true or false"
    return NotANumber(
        f"{place}: {cell!r:.60} is not {what}",
        hint="the column held nothing else so far; leave the cell empty if it is not known",
    )
