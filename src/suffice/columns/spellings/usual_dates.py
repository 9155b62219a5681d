"""Dates in notations of their own, rewritten as `written_dates` reads them."""

from __future__ import annotations

import re

from suffice.columns.spellings.calendar_words import WEEKDAYS

# Numbers alone, as most dates are: for `usual_date`.
_NUMERIC = re.compile(r"[\d./,: +-]+")
# What a text has that is worth a look: for `usual_date`.
_ODD = re.compile(r"[年時时點点시]|^[^\W\d]|\d{4}:\d|^\d{14}|\d[ .]*[^\W\d]|^\d{4}\W?[A-Z]{2}")
# The day of the week before a date in numbers; before names of months it is passed over anyway.
_WEEKDAY = re.compile(
    r"([^\W\d_]+(?:-[fF][eE][iI][rR][aA])?)\.?,?\s+(?=\d{1,4}\s?[./-]\s?\d{1,2}\s?[./-])"
)
# An era of Japan, and its year.
_ERA = re.compile(r"(令和|平成|昭和)\s?(\d{1,2}|元)年")
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}  # the year before their first
# A time in Chinese, Japanese and Korean.
_HOURS = re.compile(r"\s?(\d{1,2})\s?[時时點点시]\s?(\d{1,2})\s?[分분](?:\s?(\d{1,2})\s?[秒초])?$")
# Weeks by a word, before the year.
_WEEK = re.compile(r"(?:KW|CW|Week|week|Woche|uge|Uge|vecka)\.?\s?(\d{1,2})[\s/.,-]{1,2}(\d{4})")
# The same behind the year.
_YEAR_WEEK = re.compile(r"(\d{4})[\s/-]?(?:KW|CW)\s?(\d{1,2})")
# Quarters by a word.
_QUARTER = re.compile(
    r"([1-4])(?:\.|st|nd|rd|th|er|e|º|°)?\s?(?:Q|quarter|quartal|kvartal|trimestre|kwartał|квартал)"
    r"\.?[\s/]{0,2}(\d{4})(?:\s?г\.?)?",
    re.IGNORECASE,
)
# The same before the number.
_QUARTER_NUMBER = re.compile(
    r"(?:quarter|quartal|trimestre)\s?([1-4])[\s/-]{1,2}(\d{4})", re.IGNORECASE
)
# A duration by ISO 8601.
_SPAN = re.compile(r"P(?:(\d{1,3})D)?T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,7})(\.\d{1,9})?S)?")


def usual_date(text: str) -> str:
    """Return a text whose date is written in the usual way; any other as it is.

    >>> usual_date("Mo, 05.01.2024"), usual_date("令和6年1月5日"), usual_date("10時30分")
    ('05.01.2024', '2024年1月5日', '10:30')
    >>> usual_date("KW 5/2024"), usual_date("1. Quartal 2024"), usual_date("PT1H5M")
    ('2024-W05', 'Q1 2024', '1:05:00')
    >>> usual_date("05/Jan/2024:10:30:00"), usual_date("20240105103000Z"), usual_date("Foo 5.1.24")
    ('05/Jan/2024 10:30:00', '20240105T103000Z', 'Foo 5.1.24')
    """
    if _NUMERIC.fullmatch(text) or _ODD.search(text) is None:
        return text
    if text[0].isalpha():
        text = _after_a_word(text)
    if "年" in text or text[-1] in "分분秒초":
        text = _HOURS.sub(_clock, text).strip()
    if found := _QUARTER.fullmatch(text) or _QUARTER_NUMBER.fullmatch(text):
        return f"Q{found[1]} {found[2]}"
    if found := _YEAR_WEEK.fullmatch(text):
        return f"{found[1]}-W{found[2]:0>2}"
    if text[:14].isdigit() and re.fullmatch(r"\d{14}(?:\.\d+)?Z", text):
        return f"{text[:8]}T{text[8:]}"
    return re.sub(r"(?<=[/ -]\d{4}):(?=\d\d:\d\d)", " ", text, count=1)


def _after_a_word(text: str) -> str:
    """Return a text that begins with a word: a weekday, an era, a week or a duration."""
    if (found := _WEEKDAY.match(text)) and found[1].lower() in WEEKDAYS:
        return text[found.end() :]
    if found := _ERA.match(text):
        year = _ERAS[found[1]] + (1 if found[2] == "元" else int(found[2]))
        return f"{year}年{text[found.end() :]}"
    if found := _WEEK.fullmatch(text):
        return f"{found[2]}-W{found[1]:0>2}"
    if (found := _SPAN.fullmatch(text)) and text[-1] != "T":
        days, hours, minutes, seconds = (int(found[place] or 0) for place in (1, 2, 3, 4))
        total = ((24 * days + hours) * 60 + minutes) * 60 + seconds
        return f"{total // 3600}:{total // 60 % 60:02}:{total % 60:02}{found[5] or ''}"
    return text


def _clock(found: re.Match[str]) -> str:
    seconds = "" if found[3] is None else f":{found[3]:0>2}"
    return f" {found[1]}:{found[2]:0>2}{seconds}"
