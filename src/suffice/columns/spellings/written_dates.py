"""Dates and times as people write them: numbers in three orders, names of months, zones."""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from suffice.columns.spellings.calendar_words import month_of
from suffice.columns.spellings.usual_dates import usual_date
from suffice.columns.spellings.written_numbers import plain_digits

ORDERS = ("dmy", "mdy", "ymd")
"""In which order a day, a month and a year may stand."""
EPOCH = date(1970, 1, 1).toordinal()
"""The day that is 0, as in databases and frames."""
PIVOT = 69
"""Two digits from here on are a year of the last century, those below one of this: as in POSIX."""
LONGEST_DATE = 80
"""Characters of a date: `Wed Sep 25 2024 10:15:30 GMT+0200 (Central European Summer Time)` has
fewer."""
_OFFSETS = {
    "z": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 60, "cet": 60, "mez": 60, "cest": 120,
    "mesz": 120, "eet": 120, "eest": 180, "est": -300, "edt": -240, "cdt": -300, "mst": -420,
    "mdt": -360, "pst": -480, "pdt": -420, "jst": 540,
}  # fmt: skip  # zones that mean one thing, in minutes; CST, IST and BST mean several
# A time of day, with a zone or without: for `_time`.
_TIME = re.compile(
    r"""(?P<hour>\d{1,4})(?:[:.]|\s?[hH]\s?)(?P<minute>\d{2})
    (?:[:.m](?P<second>\d{2})s?(?:[.,](?P<part>\d{1,9}))?)?
    \s*(?P<half>[aApP]\.?\s?[mM]\.?)?\s*(?:Uhr|uhr|h|hrs?)?
    \s*(?P<zone>[zZ]|[+\-\u2212]\d{2}:?(?:\d{2})?|[A-Za-z]{3,4}(?:[+-]\d{1,2}(?::?\d\d)?)?)?
    \s*(?:\[[\w/+\-]{1,40}\]|\([\w\s/+\-]{1,40}\))?""",
    re.VERBOSE,
)
# What may stand between a date and its time: for `written_date`.
_SPLIT = re.compile(
    r"(?<=[\d.日일])[tT](?=\d\d?[:.]?\d\d)|"
    r",?\s+(?:at|um|à|a las|alle|om|klo|kl\.?|godz\.?|às|o|в|saat)?\s*"
)
# How a time begins that is not a date with dots: for `written_date`.
_TIMED = re.compile(r"\d{1,2}(?:[:.]|\s?[hH]\s?)\d{2}(?!\.\d{2,4}(?:\s|$)|\d)")
# Day, month and year in numbers, in any order: for `_days`.
_NUMERIC = re.compile(
    r"(\d{1,2})\s?([./\-\u2010\u2011])\s?(\d{1,2})\s?\2\s?(\d{4}|\d{2})\.?(?:\s?[гр]\.?)?"
)
# The year first: for `_days`.
_YEAR_FIRST = re.compile(r"(\d{4})\s?([./\-\u2010\u2011])\s?(\d{1,2})(?:\s?\2\s?(\d{1,2})\.?)?")
# A month alone: for `_days`.
_MONTH_YEAR = re.compile(r"(\d{1,2})[/\-](\d{4})")
# As in Chinese, Japanese and Korean: for `_days`.
_EAST = re.compile(r"(\d{4})[年년]\s?(\d{1,2})[月월]\s?(?:(\d{1,2})[日일])?")
# A week, and the day of the week from Monday on: for `_days`.
_WEEK = re.compile(r"(\d{4})[- ]?[wW](\d{2})(?:-?([1-7]))?")
# A quarter, before the year or behind it: for `_days`.
_QUARTER = re.compile(r"(?:(\d{4})[-/ ]?[qQ]([1-4])|[qQ]([1-4])[-/ ]?(\d{4}))")
# Digits alone, before a time: for `_days`.
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)")
# Digits alone: for `_compact_time`.
_COMPACT_TIME = re.compile(r"(\d\d)(\d\d)(\d\d)?(\.\d{1,9})?([zZ]|[+-]\d\d:?(?:\d\d)?)?")
# What a date with words is made of: for `_named`.
_NAMED = re.compile(r"[\w\s.,\-/'’]+")
# Its words and numbers: for `_named`.
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_BETWEEN = frozenset(
    {
        "de", "del", "of", "the", "den", "der", "le", "st", "nd", "rd", "th", "er", "di", "do",
        "el", "dne", "d", "г", "року", "à", "ª", "º", "en", "la",
    }
)  # fmt: skip  # words that stand between a day, a month and a year


class WrittenDate(NamedTuple):
    """A cell that is a date, in one reading or in up to three.

    days    days since 1970-01-01 in UTC, by each of ORDERS; None where it cannot be read so.
            Of a time without a date, hours
    timed   whether it has a time of day
    zoned   whether it says how far that is from UTC
    clock   whether it is a time without a date
    mark    what parts the numbers of a date that may be read in several ways
    """

    days: tuple[float | None, float | None, float | None]
    timed: bool = False
    zoned: bool = False
    clock: bool = False
    mark: str = ""

    def value(self, order: str) -> float | None:
        """Return the number that it is, by one order."""
        return self.days[ORDERS.index(order)] if order in ORDERS else None

    @property
    def orders(self) -> frozenset[str]:
        """The orders by which it is a date."""
        pairs = zip(ORDERS, self.days, strict=True)
        return frozenset(order for order, found in pairs if found is not None)


def written_date(cell: str) -> WrittenDate | None:
    """Return what date or time a cell is, or None.

    >>> written_date("2024-01-05").days
    (19727.0, 19727.0, 19727.0)
    >>> written_date("5/1/2024 6:00 PM").days
    (19727.75, 19844.75, None)
    >>> written_date("5. März 2024").value("dmy"), written_date("14:30").days[0]
    (19787.0, 14.5)
    >>> written_date("2024-01-05T07:00:00+01:00").days[0], written_date("May be")
    (19727.25, None)
    """
    text = plain_digits(cell).strip()
    if not 4 <= len(text) <= LONGEST_DATE or not any(map(str.isdigit, text)):
        return None
    text = usual_date(text)
    found = _days(text)
    if found is not None:
        return WrittenDate(found[0], mark=found[1])
    clock = _time(text)
    if clock is not None:
        hours = clock[0]
        return None if clock[1] is not None else WrittenDate((hours,) * 3, True, False, True)
    for part in _SPLIT.finditer(text):
        before, after = text[: part.start()], text[part.end() :]
        time = _time(after) if _TIMED.match(after) else _compact_time(part[0], after)
        found = None if time is None or time[0] > 24.0 else _days(before, compact=True)
        if found is not None and time is not None:
            hours, offset = time
            shift = hours / 24.0 - (offset or 0) / 1440.0
            dates = tuple(None if one is None else one + shift for one in found[0])
            return WrittenDate(dates, True, offset is not None, False, found[1])  # type: ignore[arg-type]
    return None


def _time(text: str) -> tuple[float, int | None] | None:
    """Return hours, and minutes by which the zone is ahead of UTC; None for no time."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    half = (found["half"] or "").lower()
    if minute > 59 or second > 60 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + 12 * half.startswith("p")
    zone = (found["zone"] or "").lower().replace("\u2212", "-")
    offset = _offset(zone) if zone else None
    if zone and offset is None:
        return None
    return hour + minute / 60 + (second + float(f"0.{found['part'] or 0}")) / 3600, offset


def _compact_time(parted: str, text: str) -> tuple[float, int | None] | None:
    """Return the time of `20240105T103000Z`, whose digits stand together."""
    found = _COMPACT_TIME.fullmatch(text) if parted in ("T", "t") else None
    if found is None:
        return None
    hour, minute, second = (int(found[place] or 0) for place in (1, 2, 3))
    if minute > 59 or second > 60:
        return None
    hours = hour + minute / 60 + (second + float(found[4] or 0.0)) / 3600
    return hours, _offset(found[5].lower()) if found[5] else None


def _offset(zone: str) -> int | None:
    name = zone.rstrip("+-0123456789:")
    rest = zone[len(name) :]
    base = 0 if not name else _OFFSETS.get(name)
    if base is None or (rest and name not in ("", "utc", "gmt")):
        return None
    if not rest:
        return base
    digits = rest[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    if hours > 14 or minutes > 59:
        return None
    return (-1 if rest[0] == "-" else 1) * (60 * hours + minutes)


# By each of ORDERS.
_Days = tuple[float | None, float | None, float | None]


@lru_cache(maxsize=1 << 15)
def _days(text: str, *, compact: bool = False) -> tuple[_Days, str] | None:
    """Return a date by each of the orders, and what parts its numbers, if that leaves it open."""
    if found := _YEAR_FIRST.fullmatch(text):
        return _same(int(found[1]), int(found[3]), int(found[4] or 1))
    if found := _NUMERIC.fullmatch(text):
        one, two, last = int(found[1]), int(found[3]), int(found[4])
        year = last if len(found[4]) == 4 else _century(last)
        first = _day(_century(one), two, last) if len(found[4]) == 2 == len(found[1]) else None
        dates = (_day(year, two, one), _day(year, one, two), first)
        return None if dates == (None, None, None) else (dates, found[2])
    if found := _MONTH_YEAR.fullmatch(text):
        return _same(int(found[2]), int(found[1]), 1)
    if found := _EAST.fullmatch(text):
        return _same(int(found[1]), int(found[2]), int(found[3] or 1))
    if compact and (found := _COMPACT.fullmatch(text)):
        return _same(int(found[1]), int(found[2]), int(found[3]))
    if found := _WEEK.fullmatch(text):
        return _week(int(found[1]), int(found[2]), int(found[3] or 1))
    if found := _QUARTER.fullmatch(text):
        return _same(int(found[1] or found[4]), 3 * int(found[2] or found[3]) - 2, 1)
    return _named(text)


def _week(year: int, week: int, day: int) -> tuple[_Days, str] | None:
    """Return the day of a week of ISO 8601; its Monday if none is said."""
    try:
        found = date.fromisocalendar(year, week, day)
    except ValueError:
        return None
    return _same(found.year, found.month, found.day)


def _named(text: str) -> tuple[_Days, str] | None:
    """Return a date whose month is a word."""
    if _NAMED.fullmatch(text) is None:
        return None
    parts = [part for part in _WORDS.findall(text) if part.lower() not in _BETWEEN]
    months = [month_of(part) for part in parts]
    if (
        parts
        and not parts[0].isdigit()
        and len([m for m in months if m]) < len([part for part in parts if not part.isdigit()])
    ):
        parts, months = parts[1:], months[1:]  # the day of the week
    if len(months) not in (2, 3) or sum(month is not None for month in months) != 1:
        return None
    place = next(place for place, month in enumerate(months) if month is not None)
    month, numbers = months[place], parts[:place] + parts[place + 1 :]
    if not all(one.isdigit() for one in numbers) or month is None:
        return None
    if len(numbers) == 1:
        (only,) = numbers
        short = len(only) == 2 and place == 0 and re.fullmatch(r"\w+[-'’ ]?[-'’]\d\d", text)
        if len(only) != 4 and not short:
            return None
        return _same(int(only) if len(only) == 4 else _century(int(only)), month, 1)
    day, year = numbers if len(numbers[0]) <= 2 else reversed(numbers)
    if len(day) > 2 or len(year) not in (2, 4):
        return None
    return _same(int(year) if len(year) == 4 else _century(int(year)), month, int(day))


def _century(year: int) -> int:
    return year + (1900 if year >= PIVOT else 2000)


def _day(year: int, month: int, day: int) -> float | None:
    try:
        return float(date(year, month, day).toordinal() - EPOCH)
    except ValueError:
        return None


def _same(year: int, month: int, day: int) -> tuple[_Days, str] | None:
    found = _day(year, month, day)
    return None if found is None else ((found, found, found), "")


def serial_date(number: float) -> float | None:
    """Return the days since 1970 that a number stands for, by its size; None if it is not a date.

    A day of a spreadsheet (1900 system), a date written as 20240105, or seconds or milliseconds
    since 1970: none of them can be taken for another.

    >>> serial_date(45296), serial_date(20240105), serial_date(1704412800), serial_date(-3)
    (19727.0, 19727.0, 19727.0, None)
    """
    if 61.0 <= number < 200_000.0:  # before that the spreadsheet's February of 1900 has 29 days
        return number - 25_569.0
    if number == int(number) and 10_000_101 <= number <= 99_991_231:
        whole = int(number)
        return _day(whole // 10_000, whole // 100 % 100, whole % 100)
    if 1e8 <= number < 1e11:
        return number / 86_400.0
    return number / 86_400_000.0 if 1e11 <= number < 1e14 else None


def date_text(days: float, *, timed: bool = False) -> str:
    """Return a date as ISO 8601 has it.

    >>> date_text(19727.0), date_text(19727.75, timed=True)
    ('2024-01-05', '2024-01-05T18:00:00')
    """
    seconds = round(days * 86_400.0) if timed else 86_400 * round(days)
    seconds = min(
        max(seconds, (1 - EPOCH) * 86_400), (date.max.toordinal() - EPOCH + 1) * 86_400 - 1
    )
    day, rest = divmod(seconds, 86_400)
    text = date.fromordinal(EPOCH + day).isoformat()
    return f"{text}T{timedelta(seconds=rest)!s:0>8}" if timed else text


def clock_text(hours: float) -> str:
    """Return hours as a time.

    >>> clock_text(14.5), clock_text(26.25)
    ('14:30:00', '26:15:00')
    """
    seconds = max(0, min(round(hours * 3600.0), 9999 * 3600))
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
