"""What cells that are no plain numbers may be: numbers as people write them, dates, yes and no.

Cells are only counted here, in any order and in parts; what the column is, is decided once all of
them have been seen (`spelling_of_column`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from suffice.columns.spellings.spelling import Spelling
from suffice.columns.spellings.written_dates import written_date
from suffice.columns.spellings.written_numbers import (
    COMMA,
    CREDIT_DEBIT,
    POINT,
    WrittenNumber,
    side_of,
    written_number,
)
from suffice.columns.spellings.yes_and_no import KNOWN, are_ticks, plain_word, yes_words
from suffice.errors import NotANumber
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.tables.csv.dated_cells import (
    DatedCells,
    DateFound,
    declared_date,
    spelling_of_dates,
)
from suffice.tables.table_reading import AS_WRITTEN, DATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from suffice.tables.csv.cells import ColumnEvidence

MOST_WORDS = 12
"""Ways to write yes and no that one column may have: more are other words."""
UNSAID = "unsaid"
"""A reason that goes without saying."""
EITHER = "either"
"""The mark of cells that are numbers by both decimal marks, and different ones."""
MOST_AFFIXES = 4
"""Currencies, and units, that are told apart: more than one is too many already."""


class SpelledCells:
    """How many cells of a column can be read in some way, and in which.

    numbers   cells that are numbers in one reading or in two
    dated     cells that are dates or times
    words     how often each word for yes or no came; None where there are too many
    """

    __slots__ = ("affixes", "dated", "fractions", "marks", "numbers", "percents", "truths", "words")

    def __init__(self) -> None:
        self.dated = DatedCells()
        self.numbers = self.percents = self.truths = 0
        self.affixes: dict[str, Counter[str]] = {"currency": Counter(), "unit": Counter()}
        self.fractions: set[str] = set()  # decimal marks by which some number has decimals
        self.marks: set[str] = set()  # decimal marks that cells have, or EITHER
        self.words: Counter[str] | None = Counter()

    def see(self, cell: str, times: int) -> tuple[str, ...]:
        """Count a cell; return what is to be remembered of where it stands first, if anything."""
        found = written_number(cell)
        if found is not None:
            self.numbers += times
            self.percents += times * found.percent
            self.fractions.update(_fractions(found))
            return tuple(self._number_marks(found, times))
        if len(cell) < 20 and plain_word(cell) in KNOWN:
            self.truths += times
            if self.words is not None:
                self.words[cell] += times
                self.words = self.words if len(self.words) <= MOST_WORDS else None
            return ("spelt",)
        date = written_date(cell)
        return () if date is None else tuple(self.dated.see(date, times))

    @property
    def count(self) -> int:
        """How many cells can be read in some way."""
        return self.numbers + self.truths + self.dated.count

    def _number_marks(self, found: WrittenNumber, times: int) -> Iterator[str]:
        yield "spelt"
        if found.point != found.comma:
            mark = POINT if found.comma is None else COMMA if found.point is None else EITHER
            self.marks.add(mark)
            yield mark
        if found.percent:
            yield "percent"
        for what, text in (("currency", found.currency), ("unit", found.unit)):
            counted = self.affixes[what]
            if text and (text in counted or len(counted) < MOST_AFFIXES):
                counted[text] += times
                yield f"{what} {text}"

    def __or__(self, other: SpelledCells) -> SpelledCells:
        """Return what the cells of both may be."""
        both = SpelledCells()
        both.numbers = self.numbers + other.numbers
        both.percents = self.percents + other.percents
        both.truths = self.truths + other.truths
        both.dated = self.dated | other.dated
        both.fractions = self.fractions | other.fractions
        both.marks = self.marks | other.marks
        for what in both.affixes:
            both.affixes[what] = self.affixes[what] + other.affixes[what]
        if self.words is None or other.words is None:
            both.words = None
        else:
            joined = self.words + other.words
            both.words = joined if len(joined) <= MOST_WORDS else None
        return both


def _fractions(found: WrittenNumber) -> Iterator[str]:
    for mark, value in ((POINT, found.point), (COMMA, found.comma)):
        if value is not None and not value.is_integer():
            yield mark


def may_be_spelled(cell: str) -> bool:
    """Whether a cell is worth a look: a number in some way, a date, or a word for yes or no."""
    return (
        written_number(cell) is not None
        or (len(cell) < 20 and plain_word(cell) in KNOWN)
        or written_date(cell) is not None
    )


class ColumnSpelling(NamedTuple):
    """What was decided about a column.

    spelling   how it is written; None for plain columns and for categories
    whole      whether all of its numbers are whole
    example    a cell that is no plain one; empty where all are
    asks       whether it would be one of numbers, if somebody said that units may be passed over
    doubt      why it is not read as what most of its cells are, or which of two readings was
               taken; a sentence that goes on after the name of the column
    """

    spelling: Spelling | None
    whole: bool = False
    doubt: str = ""
    example: str = ""
    asks: bool = False


class UsualMarks(NamedTuple):
    """The decimal mark to take where a column leaves it open.

    odd     of columns whose cells are no plain numbers: 1,234
    plain   of columns whose cells are plain numbers: 1.234
    order   of dates that may be read with the day or the month first: 3/4/2024
    """

    odd: str = POINT
    plain: str = POINT
    order: str = "dmy"

    @classmethod
    def of(cls, columns: Iterable[ColumnEvidence], delimiters: set[str | None]) -> UsualMarks:
        """Return what other columns of a table show, and what its delimiter makes likely.

        Semicolons are for tables whose decimals have commas; but plain numbers are plain, unless
        another column shows the opposite. Dates have the month first as in others of the table;
        else where slashes part them, and nothing speaks for a country of decimal commas.
        """
        shown = set()
        orders, slashes = set(), False
        for seen in columns:
            orders |= {seen.spelled.dated.shown_order} - {None}
            slashes = slashes or "/" in seen.spelled.dated.marks
            shown |= seen.spelled.marks & {POINT, COMMA}
            shown |= {POINT} if seen.shows_point else set()
        comma = shown == {COMMA}
        odd = COMMA if comma or (not shown and delimiters == {";"}) else POINT
        american = orders == {"mdy"} or (
            not orders and slashes and odd == POINT and ";" not in delimiters
        )
        return cls(odd, COMMA if comma else POINT, "mdy" if american else "dmy")


def spelling_of_column(
    seen: ColumnEvidence,
    *,
    decimal: str | None = None,
    usual: UsualMarks | None = None,
    units: bool = False,
) -> ColumnSpelling:
    """Return how a column is written, by all its cells.

    decimal   the mark that somebody has named
    usual     those to take where the column itself leaves it open
    units     whether units after numbers may be passed over: somebody has said that these are
              numbers

    >>> from suffice.tables.csv.cells import ColumnEvidence
    >>> seen = ColumnEvidence()
    >>> seen.see(["1.234", "12,5", ""])
    >>> spelling_of_column(seen).spelling.words
    'numbers, with decimal commas'
    """
    held = seen.spelled
    usual = usual or UsualMarks()
    if held.dated.count:
        others = _others(seen) + held.numbers + seen.number_count
        found = spelling_of_dates(held.dated, seen.first, others, None, usual.order)
        if found.spelling is not None or found.doubt:
            return _dated(found)
    if seen.odd_count or seen.code_count or held.dated.count:
        return ColumnSpelling(None, doubt=_odd(seen))
    if held.truths:
        return _truths(seen)
    total = held.numbers + seen.number_count
    if seen.truth_count or not total:
        return ColumnSpelling(None)
    why = _not_one_thing(seen, units=units)
    if why:
        return ColumnSpelling(
            None, doubt=why.removeprefix(UNSAID), asks=len(held.affixes["unit"]) == 1 and not units
        )
    marks = (held.marks - {EITHER}) | ({POINT} if seen.shows_point else set())
    if len(marks) > 1:
        return ColumnSpelling(None, doubt=_two_marks(seen))
    is_open = not marks and (EITHER in held.marks or seen.may_be_thousands)
    likely = usual.odd if EITHER in held.marks else usual.plain
    mark = marks.pop() if marks else (decimal or likely) if is_open else POINT
    if not held.numbers and mark == POINT:
        return ColumnSpelling(None)
    currency, unit = (next(iter(held.affixes[what]), "") for what in ("currency", "unit"))
    unit = CREDIT_DEBIT if _are_sides(held.affixes["unit"]) else unit
    percent = held.percents > 0
    doubt = ""
    if is_open and decimal is None and EITHER in held.marks:
        doubt = _either(seen, mark)
    elif is_open and decimal is None and mark == COMMA:
        doubt = (
            "its points are read as thousands separators, because other columns have decimal commas"
        )
    spelling = Spelling(NUMBER, mark, currency, percent, unit)
    whole = not percent and mark not in held.fractions and (mark == COMMA or seen.is_whole_yet)
    return ColumnSpelling(spelling, whole, doubt, _example(seen))


def spelling_as_declared(
    seen: ColumnEvidence, name: str, declared: str | None, decimal: str | None, usual: UsualMarks
) -> ColumnSpelling:
    """Return how a column is written, given what somebody says it is, if anybody does."""
    if declared in AS_WRITTEN:
        return ColumnSpelling(Spelling(CATEGORY))
    if declared is None:
        return spelling_of_column(seen, decimal=decimal, usual=usual)
    if declared in DATES:
        numbers, others = seen.number_count, _others(seen) + seen.spelled.numbers
        held = seen.spelled.dated
        return _dated(declared_date(held, seen.first, numbers, others, name, declared, usual.order))
    found = spelling_of_column(seen, decimal=decimal, usual=usual, units=True)
    kind = seen.kind if found.spelling is None else found.spelling.kind
    if kind != NUMBER:
        marks = ("odd", "code", "truth", "spelt")
        mark = next((mark for mark in marks if mark in seen.first), "")
        what = found.doubt or f"{_named(seen, mark)} is not a number"
        raise NotANumber(
            f"{name} is declared a number: {what}",
            hint="correct the cell, or leave it empty if it is not known",
        )
    return found


def _others(seen: ColumnEvidence) -> int:
    """Return how many cells are neither numbers nor dates."""
    return seen.odd_count + seen.code_count + seen.truth_count + seen.spelled.truths


def _dated(found: DateFound) -> ColumnSpelling:
    return ColumnSpelling(found.spelling, doubt=found.doubt, example=found.example)


def _truths(seen: ColumnEvidence) -> ColumnSpelling:
    """Return a column of yes and no, if it is one."""
    held = seen.spelled
    if held.numbers or seen.number_count or seen.truth_count or held.words is None:
        return ColumnSpelling(None)
    yes = yes_words(held.words)
    often = [word for word, _ in held.words.most_common()]
    if yes is None and are_ticks(often):
        return ColumnSpelling(Spelling(BOOLEAN, yes=often[0].strip()), example=_example(seen))
    if yes is None:
        return ColumnSpelling(None)
    words = [next(word for word in often if (word in yes) == truth) for truth in (True, False)]
    return ColumnSpelling(
        Spelling(BOOLEAN, yes=words[0].strip(), no=words[1].strip()), example=_example(seen)
    )


def _example(seen: ColumnEvidence) -> str:
    marks = (COMMA, POINT, EITHER, "spelt")
    return next((seen.first[mark].cell.strip() for mark in marks if mark in seen.first), "")


def _odd(seen: ColumnEvidence) -> str:
    """Return which cell keeps a column that is nearly all numbers from being one, if it is."""
    numbers = seen.spelled.numbers + seen.number_count
    odd = _others(seen) + seen.spelled.dated.count
    marks = ("odd", "code", "date", "clock")
    mark = next((mark for mark in marks if mark in seen.first), None)
    if odd > numbers or not seen.spelled.numbers or mark is None:
        return ""
    are = "is" if odd == 1 else "are"
    return (
        f"{_named(seen, mark)} {seen.first[mark].what}; {odd:,} of {odd + numbers:,} cells that "
        f"are not blank {are} not numeric"
    )


def _not_one_thing(seen: ColumnEvidence, *, units: bool) -> str:
    """Return why the numbers of a column are not numbers of one thing; nothing if they are."""
    held, total = seen.spelled, seen.spelled.numbers + seen.number_count
    if 0 < held.percents < total:
        return (
            f"{_named(seen, 'percent')} is a percentage, and {total - held.percents:,} of "
            f"{total:,} cells that are not blank are not"
        )
    currencies, found = (list(held.affixes[what]) for what in ("currency", "unit"))
    if len(currencies) > 1:
        one, two = (_named(seen, f"currency {text}") for text in currencies[:2])
        return f"{one} and {two} are two currencies"
    if len(found) > 1 and not _are_sides(found):
        one, two = (_named(seen, f"unit {text}") for text in found[:2])
        ordinals = {"st", "nd", "rd", "th"}  # 1st, 2nd, 3rd are words, and nobody asks
        return UNSAID if ordinals.issuperset(found) else f"{one} and {two} are two units"
    if len(found) == 1 and not units:
        return f"{_named(seen, f'unit {found[0]}')} has a unit"
    return ""


def _are_sides(units: Iterable[str]) -> bool:
    """Whether units are credit and debit, both of them: one alone may be crores."""
    return {side_of(unit) for unit in units} == {1.0, -1.0}


def _named(seen: ColumnEvidence, mark: str) -> str:
    """Return where the first cell of some sort stands, and what it says."""
    cell = seen.first.get(mark)
    return "a cell" if cell is None else f"{cell.where}: {cell.cell!r:.60}"


def _two_marks(seen: ColumnEvidence) -> str:
    other = _named(seen, POINT) if POINT in seen.spelled.marks else "another cell"
    return f"{_named(seen, COMMA)} has a decimal comma, {other} has a decimal point"


def _either(seen: ColumnEvidence, mark: str) -> str:
    cell = seen.first.get(EITHER)
    found = None if cell is None else written_number(cell.cell)
    if found is None:
        return "its commas may be decimal or thousands separators"
    return (
        f"{_named(seen, EITHER)} may be {found.point:g} or {found.comma:g}, and is read as "
        f"{found.value(mark):g}"
    )
