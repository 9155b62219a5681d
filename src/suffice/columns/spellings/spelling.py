"""How one column is written: what its texts stand for, and how to write them again."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns.spellings.blank_cells import TRUTHS, is_blank
from suffice.columns.spellings.written_numbers import (
    COMMA,
    CREDIT_DEBIT,
    POINT,
    side_of,
    written_number,
)
from suffice.errors import BadFile
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

LONGEST = 40
"""Characters of a text that a spelling may hold: a currency, a unit, a word for yes."""


CLOCK, SERIAL = "clock", "number"
"""What dates may be besides an order: times of day alone, and numbers that stand for dates."""
DATES = ("", "dmy", "mdy", "ymd", CLOCK, SERIAL)
"""How the dates of a column may be written: `written_dates` has what reads them, and is loaded
where there are any."""
PARTS = ("", "month", "weekday", "hour")
"""What of a date may be a category of its own."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the cells of a column are written, and what they stand for.

    kind       "number", "boolean", or "category": numbers whose digits are names
    decimal    what sets decimals off; the other mark, blanks and apostrophes part thousands
    currency   what may stand before or after a number
    percent    whether numbers are followed by a percent sign: 31% is 0.31
    unit       what has to follow a number
    yes, no    the words that are written for truths; others of the same language are read, too.
               Without a word for no, blank cells mean it: yes is a tick
    date       the order of a date, "dmy", "mdy" or "ymd"; "clock" for times without a date, and
               "number" for numbers that stand for dates. Numbers are days since 1970, or hours
    timed      whether dates have a time
    part, of   of a category that is made of a date: which part of it, and of which column

    >>> Spelling("number", currency="€", decimal=",").value("1.234,50 €")
    1234.5
    >>> Spelling("boolean", yes="ja", no="nein").value("JA")
    1.0
    >>> Spelling("number", unit="Cr/Dr").value("12.50 Dr")
    -12.5
    """

    kind: str
    decimal: str = POINT
    currency: str = ""
    percent: bool = False
    unit: str = ""
    yes: str = ""
    no: str = ""
    date: str = ""
    timed: bool = False
    part: str = ""
    of: str = ""

    @property
    def is_ticked(self) -> bool:
        """Whether cells are ticks or blank: then a blank one means no."""
        return self.kind == BOOLEAN and not self.no

    @property
    def is_clock(self) -> bool:
        """Whether it is written as times without a date."""
        return self.date == CLOCK

    def value(self, cell: str) -> float | None:
        """Return the number that a cell stands for; None if it is written in another way."""
        if self.kind == BOOLEAN:
            return self._truth(cell)
        if self.date:
            return self._date(cell)
        found = written_number(cell)
        if found is None or found.percent != self.percent:
            # Typed numbers among others are written with an exponent: they mean what they are.
            plain = found is not None and self.percent and "e" in cell
            return found.point if plain and found is not None else None
        unit, sign = found.unit, 1.0
        if self.unit == CREDIT_DEBIT and (side := side_of(unit)):
            unit, sign = "", side
        same = found.currency in ("", self.currency) and unit in ("", self.unit)
        value = found.value(self.decimal) if same else None
        return value if value is None else sign * value

    @property
    def is_serial(self) -> bool:
        """Whether dates are written as numbers."""
        return self.date == SERIAL

    def number(self, value: float) -> float | None:
        """Return what a typed number stands for; None for one that is no date, among dates.

        >>> Spelling("number", date="number").number(45296.0), Spelling("number").number(2.5)
        (19727.0, 2.5)
        """
        if not self.is_serial or not math.isfinite(value):
            return value
        from suffice.columns.spellings.written_dates import serial_date

        return serial_date(value)

    def _truth(self, cell: str) -> float | None:
        if cell in TRUTHS:
            return float(TRUTHS[cell])
        from suffice.columns.spellings.yes_and_no import PAIRS, are_ticks, plain_word

        if self.is_ticked:
            return 1.0 if are_ticks([cell]) else None
        word, ours = plain_word(cell), (plain_word(self.yes), plain_word(self.no))
        for yes, no in (*PAIRS, (frozenset(ours[:1]), frozenset(ours[1:]))):
            if ours[0] in yes and ours[1] in no and word in yes | no:
                return float(word in yes)
        return None

    def _date(self, cell: str) -> float | None:
        from suffice.columns.spellings.written_dates import serial_date, written_date

        found = written_date(cell)
        if self.is_serial:
            if found is not None:  # what nobody can read in two ways
                return found.days[0] if len(set(found.days)) == 1 and not found.clock else None
            number = written_number(cell)
            return None if number is None or number.point is None else serial_date(number.point)
        if found is None or found.clock != self.is_clock:
            return None
        return found.days[0] if found.clock else found.value(self.date)

    def written(self, value: object, digits: int | None = None) -> object:
        """Return a cell as the column has it; what is blank, or is not a number, as it is.

        Decimals by their mark and percent signs, without currencies, units and separators of
        thousands: those may be left out when it is read again.

        >>> Spelling("number", decimal=",", currency="€").written(1234.5)
        '1234,5'
        >>> Spelling("number", percent=True).written(0.31, 2)
        '31%'
        >>> Spelling("number", date="dmy").written(19727.0)
        '2024-01-05'
        """
        if self.kind == BOOLEAN:
            return value if value is None else (self.yes if value else self.no)
        if self.kind == CATEGORY:
            return value
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            return value
        if self.date:
            from suffice.columns.spellings.written_dates import clock_text, date_text

            return clock_text(value) if self.is_clock else date_text(value, timed=self.timed)
        if not self.percent and self.decimal == POINT:
            return value
        if self.percent:
            value = round(value * 100.0, 12 if digits is None else max(0, digits - 2))
        text = np.format_float_positional(value + 0.0, trim="-")
        return text.replace(POINT, self.decimal) + "%" * self.percent

    @property
    def typed(self) -> str:
        """What a database should have in the column, in words."""
        if self.kind == BOOLEAN:
            return "a boolean"
        if self.kind == CATEGORY:
            return "text"
        if self.date:
            return "a number of hours" if self.is_clock else "a number of days since 1970-01-01"
        return "a number, 0.31 for 31%" if self.percent else "a number"

    @property
    def words(self) -> str:
        """What it is, in words.

        >>> Spelling("number", decimal=",", currency="€").words
        'numbers, in €, with decimal commas'
        """
        if self.kind == BOOLEAN:
            return f"yes and no ({self.yes}, {self.no or 'blank'})"
        if self.kind == CATEGORY:
            return f"the {self.part} of {self.of}" if self.part else "categories"
        if self.date:
            how = {"dmy": "day first", "mdy": "month first", SERIAL: "written as numbers"}
            more = f" ({how[self.date]})" if self.date in how else ""
            return "times, in hours" if self.is_clock else f"dates{more}, in days since 1970"
        parts = ["percentages (31% is 0.31)" if self.percent else "numbers"]
        parts += [f"in {text}" for text in (self.currency, self.unit) if text]
        parts += ["with decimal commas"] if self.decimal == COMMA else []
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values: what is not as usual."""
        held = {field.name: getattr(self, field.name) for field in fields(self)}
        usual = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in held.items() if value != usual[name]}

    @classmethod
    def from_dict(cls, content: object) -> Self:
        """Return what `to_dict` wrote; anything else is refused."""
        known = {field.name: field for field in fields(cls)}
        if not isinstance(content, dict) or not content.keys() <= known.keys():
            raise _damaged()
        for name, value in content.items():
            kind = bool if name in ("percent", "timed") else str
            long = isinstance(value, str) and len(value) > LONGEST and name != "of"
            if type(value) is not kind or long:
                raise _damaged()
        try:
            found = cls(**content)
        except TypeError:
            raise _damaged() from None
        truths = found.kind == BOOLEAN
        if (
            found.kind not in (NUMBER, BOOLEAN, CATEGORY)
            or found.decimal not in (POINT, COMMA)
            or truths != bool(found.yes)
            or (found.no and not truths)
            or (found.is_ticked and not _is_tick(found.yes))
            or found.date not in DATES
            or (found.date and found.kind != NUMBER)
            or found.part not in PARTS
            or (found.part and found.kind != CATEGORY)
        ):
            raise _damaged()
        return found


def _is_tick(word: str) -> bool:
    from suffice.columns.spellings.yes_and_no import are_ticks

    return are_ticks([word])


def _damaged() -> BadFile:
    return BadFile(
        "the model file does not record the notation of its table", hint="it is damaged: fit again"
    )


class SpelledKind(str):
    """The kind of a column whose cells are written in a way of their own.

    It is the kind, for everyone who asks what a column holds; whoever turns its texts into cells
    reads them by `spelling`.

    >>> kind = SpelledKind(Spelling("number", percent=True))
    >>> kind == "number", spelling_of(kind).percent, spelling_of("number")
    (True, True, None)
    """

    __slots__ = ("spelling",)
    spelling: Spelling

    def __new__(cls, spelling: Spelling) -> Self:
        """Return the kind of what a spelling stands for."""
        found = super().__new__(cls, spelling.kind)
        found.spelling = spelling
        return found


def spelling_of(kind: str) -> Spelling | None:
    """Return how the cells of a kind are written; None for plain ones."""
    return kind.spelling if isinstance(kind, SpelledKind) else None


_WHOLE = re.compile(r"(-?(?:0|[1-9]\d{0,14}))\.0*")  # a whole number that has a point


def level_of(cell: Any) -> str | None:
    """Return the name of a category that may be written as a number; None for a blank cell.

    A table of text, a typed one and a frame have to name it alike.

    >>> [level_of(cell) for cell in (3, 3.0, "3", "3.0", "03", 2.5, " ", None)]
    ['3', '3', '3', '3', '03', '2.5', None, None]
    """
    if isinstance(cell, str):
        whole = _WHOLE.fullmatch(cell)
        return cell if whole is None and cell and not cell.isspace() else whole and whole[1]
    if cell is None or cell != cell:  # noqa: PLR0124  NaN is blank
        return None
    is_whole = isinstance(cell, Real) and float(cell).is_integer()
    return str(int(cell)) if is_whole else str(cell)


def read_cells(
    cells: Sequence[object], spelling: Spelling, refusal: Callable[[int], Exception]
) -> NDArray[np.generic]:
    """Return texts as the cells they stand for; `refusal(i)` is for the first that stands for none.

    Every distinct text is looked at once; numbers among them are what they are.
    """
    if spelling.kind == CATEGORY:
        names = {cell: level_of(cell) for cell in set(cells)}
        return np.fromiter(map(names.__getitem__, cells), dtype=object, count=len(cells))
    known: dict[Any, Any] = {
        cell: math.nan
        if cell is None or (isinstance(cell, str) and is_blank(cell))
        else spelling.value(cell)
        if isinstance(cell, str)
        else spelling.number(float(cell))
        if isinstance(cell, Real)
        else None
        for cell in set(cells)
    }
    if spelling.is_ticked:
        known = {cell: 0.0 if value is not None and math.isnan(value) else value
                 for cell, value in known.items()}  # fmt: skip
    wrong = {cell for cell, value in known.items() if value is None}
    if wrong:
        raise refusal(next(i for i, cell in enumerate(cells) if cell in wrong))
    if spelling.kind == BOOLEAN:
        truths = {cell: None if math.isnan(v) else bool(v) for cell, v in known.items()}
        return np.fromiter(map(truths.__getitem__, cells), dtype=object, count=len(cells))
    return np.fromiter(map(known.__getitem__, cells), dtype=np.float64, count=len(cells))


def spellings_from(content: object) -> dict[str, Spelling]:
    """Return the spellings of columns that a model file holds."""
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise _damaged()
    return {name: Spelling.from_dict(held) for name, held in content.items()}


def spellings_to(spellings: Mapping[str, Spelling]) -> dict[str, object]:
    """Return spellings as a model file holds them."""
    return {name: spelling.to_dict() for name, spelling in spellings.items()}
