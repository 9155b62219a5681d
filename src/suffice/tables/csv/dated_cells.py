"""What cells that are dates or times have in common: counted here, decided once all are seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from suffice.columns.spellings.spelling import CLOCK, SERIAL, Spelling
from suffice.columns.spellings.written_dates import ORDERS, date_text, written_date
from suffice.errors import NotANumber
from suffice.rows.cells import NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from suffice.columns.spellings.written_dates import WrittenDate

DATE = "date"
"""The mark of cells that are dates."""
ORDER_WORDS = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}
"""Orders in words."""


class DatedCells:
    """How many cells of a column are dates or times, and in which orders all of them can be read.

    dates, clocks   cells with a date, and times alone
    orders          the orders by which every date is one
    marks           what parts numbers that may be read in several orders
    """

    __slots__ = ("clocks", "dates", "marks", "orders", "timed", "zoned")

    def __init__(self) -> None:
        self.dates = self.clocks = self.timed = self.zoned = 0
        self.orders = frozenset(ORDERS)
        self.marks: set[str] = set()

    @property
    def count(self) -> int:
        """How many cells are one or the other."""
        return self.dates + self.clocks

    def see(self, found: WrittenDate, times: int) -> Iterator[str]:
        """Count a cell; yield what is to be remembered of where it stands first."""
        yield "spelt"
        if found.clock:
            self.clocks += times
            yield CLOCK
            return
        self.dates += times
        self.timed += times * found.timed
        self.zoned += times * found.zoned
        yield DATE
        if found.timed:
            yield "zoned" if found.zoned else "without zone"
        yield from (f"not {order}" for order in ORDERS if order not in found.orders)
        self.orders &= found.orders
        if found.mark and len(set(found.days) - {None}) > 1:
            self.marks.add(found.mark)
            yield "orders"

    def __or__(self, other: DatedCells) -> DatedCells:
        """Return what the cells of both have in common."""
        both = DatedCells()
        both.dates, both.clocks = self.dates + other.dates, self.clocks + other.clocks
        both.timed, both.zoned = self.timed + other.timed, self.zoned + other.zoned
        both.orders, both.marks = self.orders & other.orders, self.marks | other.marks
        return both

    @property
    def shown_order(self) -> str | None:
        """The order that cells show, day or month first; None where they leave it open."""
        possible = self.orders - {"ymd"}
        return next(iter(possible)) if self.dates and len(possible) == 1 else None


class DateFound(NamedTuple):
    """What was decided about a column of dates; as `ColumnSpelling` has it."""

    spelling: Spelling | None
    doubt: str = ""
    example: str = ""


def spelling_of_dates(
    held: DatedCells, first: Mapping[str, object], others: int, order: str | None, usual: str
) -> DateFound:
    """Return how a column of dates is written, by all its cells.

    first    the first cell of each sort, and where it stands
    others   how many cells are neither blank nor dates
    order    the one that somebody has named
    usual    the one to take where cells leave it open
    """
    if others:
        few = others <= held.count
        mark = next((m for m in ("odd", "number", "code", "truth") if m in first), "")
        said = (
            f"{_named(first, mark)} is not a date; {others:,} of {others + held.count:,} "
            f"cells that "
        )
        are = "is not a date" if others == 1 else "are not dates"
        return DateFound(None, f"{said}are not blank {are}" if few and mark else "")
    if held.clocks and held.dates:
        one, two = _named(first, CLOCK), _named(first, DATE)
        return DateFound(None, f"{one} is a time without a date, {two} is a date")
    if held.clocks:
        return DateFound(Spelling(NUMBER, date=CLOCK, timed=True), "", _cell(first, CLOCK))
    if order is not None and order not in held.orders:
        words = f"{_named(first, f'not {order}')} is not a date with the {ORDER_WORDS[order]}"
        return DateFound(None, words)
    if not held.orders:
        one, two = _named(first, "not dmy"), _named(first, "not mdy")
        return DateFound(
            None,
            f"{one} is not a date with the day first, and {two} is not one with the month first",
        )
    open_ones = [one for one in ORDERS if one in held.orders]
    chosen = order or (open_ones[0] if len(open_ones) == 1 else usual)
    if order is None and not held.marks and "ymd" in held.orders:
        chosen = "ymd"
    if chosen not in held.orders:
        chosen = open_ones[0]
    spelling = Spelling(NUMBER, date=chosen, timed=held.timed > 0)
    return DateFound(spelling, _doubt(held, first, chosen, order), _cell(first, "orders", DATE))


def _doubt(held: DatedCells, first: Mapping[str, Any], chosen: str, order: str | None) -> str:
    """Return which of several readings was taken; nothing where there is but one."""
    said = []
    if order is None and held.marks and len(held.orders) > 1:
        cell = first.get("orders")
        found = None if cell is None else written_date(cell.cell)
        if cell is not None and found is not None:
            days = {one: found.value(one) for one in ORDERS if one in held.orders}
            if len(set(days.values())) > 1:
                texts = {one: date_text(v) for one, v in days.items() if v is not None}
                said.append(
                    f"{_named(first, 'orders')} may be {' or '.join(dict.fromkeys(texts.values()))}"
                    f"; it is read as {texts[chosen]}, {ORDER_WORDS[chosen]}"
                )
    if 0 < held.zoned < held.timed:
        said.append(f"{_named(first, 'without zone')} has no time zone and is read as UTC")
    return "; ".join(said)


def declared_date(
    held: DatedCells, first: Mapping[str, object], numbers: int, others: int, name: str, kind: str,
    usual: str,
) -> DateFound:  # fmt: skip
    """Return how a column is written that somebody says holds dates; refuse one that does not.

    `numbers` are cells that are plain ones: they stand for dates where all cells do.
    """
    order = kind.partition("-")[2] or None
    if numbers and not held.count and not others and order is None:
        return DateFound(Spelling(NUMBER, date=SERIAL, timed=True), "", _cell(first, "number"))
    found = spelling_of_dates(held, first, others + numbers, order, usual)
    if found.spelling is None or not held.count:
        mark = next((m for m in ("odd", "code", "number", "truth", "spelt") if m in first), "")
        what = found.doubt or f"{_named(first, mark)} is not a date"
        raise NotANumber(
            f"{name} is declared a date: {what}",
            hint="correct the cell, or leave it empty if it is not known",
        )
    return found


def _cell(first: Mapping[str, Any], *marks: str) -> str:
    return next((first[mark].cell.strip() for mark in marks if mark in first), "")


def _named(first: Mapping[str, Any], mark: str) -> str:
    cell = first.get(mark)
    return "a cell" if cell is None else f"{cell.where}: {cell.cell!r:.60}"
