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

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.columns.spellings.blank_cells import TRUTHS, is_blank
from suffice.columns.spellings.written_numbers import shows_point
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray


DIGITS = 15
"""Digits of a whole number that a double holds for certain; one with more is a code."""
LOOK, FEW = 256, 64
"""Cells that are looked at first; and of every chunk, where no cell has been a number yet."""
MANY = 1000
"""Cells that are not numbers from which on a column is one of words, whatever else is in it."""


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
        """Why it is not a number."""
        if is_code(self.cell):
            short = self.cell.strip().lstrip("+-").startswith("0")
            return "begins with 0, like a code" if short else f"has more than {DIGITS} digits"
        return "is not a number"


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

    __slots__ = ("_decimal", "_number", "_text", "_truth", "_word", "code_count", "first",
                 "may_be_thousands", "number_count", "odd_count", "shows_point", "spelled",
                 "truth_count")  # fmt: skip

    def __init__(self) -> None:
        from suffice.tables.csv.spelled_cells import SpelledCells  # models know their kinds

        self._number = self._truth = self._word = self._text = self._decimal = False
        self.number_count = self.truth_count = self.odd_count = self.code_count = 0
        self.shows_point = False
        """Whether a plain number can only be written with a decimal point."""
        self.may_be_thousands = False
        """Whether plain numbers have points, and all may be thousands in a table with commas."""
        self.first: dict[str, OddCell] = {}
        self.spelled = SpelledCells()

    def see(self, cells: Sequence[str], place: Callable[[int], str | int] | None = None) -> None:
        """Look at some cells; `place(i)` says where the i-th stands."""
        numbers = plain_numbers(cells) if self.may_be_numbers else None
        if numbers is not None:
            self.see_numbers(len(numbers), decimal=not self._decimal and _has_decimals(cells))
            self.see_points(cells)
        elif not self.are_words(cells[:LOOK], cells, len(cells)):
            first = None if place is None else lambda cell: place(cells.index(cell))
            self.see_counts(Counter(cells), first)

    def are_words(self, head: Sequence[str], some: Sequence[str], size: int) -> bool:
        """Whether a column is told to be one of words by its `head`, and by `some` of more cells.

        So it is where there are many of them, and no number among them yet; or where it was so
        before. Then nobody has to look at all `size` cells.
        """
        others = self.number_count + self.truth_count + self.code_count + self._spelled_count
        if self.odd_count > MANY + 10 * others:
            self.odd_count += size
            return True
        if others:
            return False
        from suffice.tables.csv.spelled_cells import may_be_spelled

        few = _spread(some) if self._text else head
        known = self._text or len(set(head)) > FEW
        if not known or any(
            number_of(cell) is not None or cell in TRUTHS or may_be_spelled(cell) for cell in few
        ):
            return False
        self._text = True
        self.odd_count += size
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
                self.truth_count += times
                self._note("truth", cell, place)
            elif is_blank(cell):
                self._word = True
            elif is_code(cell):
                self._text = True
                self.code_count += times
                self._note("code", cell, place)
            elif number_of(cell) is not None:
                self.see_numbers(times, decimal=not self._decimal and _has_decimals((cell,)))
                self.see_points((cell,))
                self._note("number", cell, place)
            else:
                self._text = True
                marks = self.spelled.see(cell, times)
                self.odd_count += 0 if marks else times
                for mark in marks or ("odd",):
                    self._note(mark, cell, place)

    def _note(self, kind: str, cell: str, place: Callable[[str], str | int] | None) -> None:
        if place is not None and kind not in self.first:
            self.first[kind] = OddCell(cell, place(cell))

    def located(self, find: Callable[[int], str]) -> None:
        """Know how to say where rows stand that only have a number."""
        self.first = {kind: replace(odd, find=find) for kind, odd in self.first.items()}

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
        both.number_count = self.number_count + other.number_count
        both.truth_count = self.truth_count + other.truth_count
        both.odd_count = self.odd_count + other.odd_count
        both.code_count = self.code_count + other.code_count
        both.first = other.first | self.first
        both.shows_point = self.shows_point or other.shows_point
        both.may_be_thousands = not both.shows_point and (
            self.may_be_thousands or other.may_be_thousands
        )
        both.spelled = self.spelled | other.spelled
        return both

    def see_points(self, cells: Sequence[str]) -> None:
        """Look for a plain number that can only be written with a decimal point, unless known."""
        if not self.shows_point:
            joined = "\n".join(cells)
            self.may_be_thousands = self.may_be_thousands or "." in joined
            self.shows_point = shows_point(joined)
            self.may_be_thousands = self.may_be_thousands and not self.shows_point

    @property
    def _spelled_count(self) -> int:
        return self.spelled.count

    def see_numbers(self, times: int, *, decimal: bool = True) -> None:
        """Know of some cells that they are numbers, and whether one is written as a fraction."""
        self._number = self._number or times > 0
        self._decimal = self._decimal or decimal
        self.number_count += times

    @property
    def may_be_numbers(self) -> bool:
        """Whether the next cells may all be numbers, as far as one can tell."""
        return not self._text or self.number_count > self.odd_count + self.code_count

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are written as whole ones."""
        return self._number and not self._decimal

    @property
    def is_whole_yet(self) -> bool:
        """Whether no number has been written as a fraction yet."""
        return not self._decimal

    @property
    def odd(self) -> tuple[OddCell, int, int] | None:
        """The first of a few cells that made it a column of categories, how many, and of how many.

        None where they are not few: a column of words holds some numbers, too.
        """
        if self.kind != CATEGORY or not (self.number_count or self.truth_count):
            return None
        others = self.odd_count + self._spelled_count
        total = self.number_count + self.truth_count + others + self.code_count
        if self.number_count >= self.truth_count:
            odd, kinds = others + self.truth_count, ("odd", "spelt", "code", "truth")
            many = self.number_count
        else:
            odd, kinds = others + self.number_count, ("odd", "spelt", "code", "number")
            many = self.truth_count
        first = next((self.first[kind] for kind in kinds if kind in self.first), None)
        return None if first is None or odd > many else (first, odd + self.code_count, total)

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


def plain_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
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
    if not any(start in joined for start in ("\n0", "\n-0", "\n+0")):
        return False
    return re.search(r"\n[+-]?0\d", joined) is not None
