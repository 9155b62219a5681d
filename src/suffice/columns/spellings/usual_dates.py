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
# A duration in letters, of two parts at least: one alone is a number with a unit.
_LETTERS = re.compile(
    r"(?:(\d{1,3})\s?(?:d|days?|Tage?n?|jours?|j|días?|g)\.?,?\s?)?"
    r"(?:(\d{1,4})\s?(?:h|hrs?|hours?|Std|Stunden?|heures?|horas?|ore|ч)\.?,?\s?)?"
    r"(?:(\d{1,3})\s?(?:m|mins?|minutes?|Min|Minuten?|minutos?|minuti|мин)\.?,?\s?)?"
    r"(?:(\d{1,3})\s?(?:s|secs?|seconds?|Sek|Sekunden?|secondes?|segundos?|secondi|с)\.?)?"
)
# Halves of the day by other words than am and pm, before a time or behind it.
_HALVES = {
    "πμ": "am", "π.μ.": "am", "μμ": "pm", "μ.μ.": "pm", "오전": "am", "오후": "pm", "上午": "am",
    "下午": "pm", "午前": "am", "午後": "pm", "SA": "am", "CH": "pm", "ص": "am", "م": "pm",
    "de.": "am", "du.": "pm",
}  # fmt: skip
# How they stand before a time or behind it: for `usual_date`.
_HALF = re.compile(
    r"(?<=\d)\s?(πμ|π\.μ\.|μμ|μ\.μ\.|SA|CH|ص|م)$|"
    r"(오전|오후|上午|下午|午前|午後|de\.|du\.)\s?(\d{1,2}:\d\d(?::\d\d)?)"
)
# Thai months, short and long, and years since the death of the Buddha.
_THAI = (
    [
        "ม.ค.", "ก.พ.", "มี.ค.", "เม.ย.", "พ.ค.", "มิ.ย.", "ก.ค.", "ส.ค.", "ก.ย.", "ต.ค.", "พ.ย.",
        "ธ.ค.",
    ],
    [
        "มกราคม", "กุมภาพันธ์", "มีนาคม", "เมษายน", "พฤษภาคม", "มิถุนายน", "กรกฎาคม", "สิงหาคม",
        "กันยายน", "ตุลาคม", "พฤศจิกายน", "ธันวาคม",
    ],
)  # fmt: skip
_BUDDHIST, _YEARS_BEFORE = 2400, 543  # years from here on are counted so
# A date with such a month, and what follows: for `usual_date`.
_THAI_DATE = re.compile(r"(\d{1,2})\s?([\u0e00-\u0e7f.]+)\s?(\d{4})(.*)")


def usual_date(text: str) -> str:
    """Return a text whose date is written in the usual way; any other as it is.

    >>> usual_date("Mo, 05.01.2024"), usual_date("令和6年1月5日"), usual_date("10時30分")
    ('05.01.2024', '2024年1月5日', '10:30')
    >>> usual_date("KW 5/2024"), usual_date("1. Quartal 2024"), usual_date("PT1H5M")
    ('2024-W05', 'Q1 2024', '1:05:00')
    >>> usual_date("05/Jan/2024:10:30:00"), usual_date("20240105103000Z"), usual_date("Foo 5.1.24")
    ('05/Jan/2024 10:30:00', '20240105T103000Z', 'Foo 5.1.24')
    >>> usual_date("1h 05m"), usual_date("5.1.2024 오후 1:30"), usual_date("31 ม.ค. 2567")
    ('1:05:00', '5.1.2024 1:30 pm', '2024-1-31')
    """
    if _NUMERIC.fullmatch(text) or _ODD.search(text) is None:
        return text
    if text[0].isalpha():
        text = _after_a_word(text)
    if text[0].isdigit() and (found := _LETTERS.fullmatch(text)):
        return _span(found) or text
    if not text.isascii() or text[-1] in "AH" or "d" in text:
        text = _HALF.sub(_half, text)
        if found := _THAI_DATE.fullmatch(text):
            text = _thai(found) or text
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
        return _span(found, 1) + (found[5] or "")
    return text


def _span(found: re.Match[str], least: int = 2) -> str:
    """Return a duration of days, hours, minutes and seconds as a time; "" for too few of them."""
    given = [found[place] for place in (1, 2, 3, 4)]
    if sum(one is not None for one in given) < least:
        return ""
    days, hours, minutes, seconds = (int(one or 0) for one in given)
    total = ((24 * days + hours) * 60 + minutes) * 60 + seconds
    return f"{total // 3600}:{total // 60 % 60:02}:{total % 60:02}"


def _half(found: re.Match[str]) -> str:
    """Return a half of the day as am or pm, behind the time."""
    if found[1]:
        return f" {_HALVES[found[1]]}"
    return f"{found[3]} {_HALVES[found[2]]}"


def _thai(found: re.Match[str]) -> str:
    """Return a date with a Thai month as ISO has it; "" where the month is none."""
    month = next((names.index(found[2]) + 1 for names in _THAI if found[2] in names), 0)
    year = int(found[3]) - (_YEARS_BEFORE if int(found[3]) >= _BUDDHIST else 0)
    return f"{year}-{month}-{found[1]}{found[4]}" if month else ""


def _clock(found: re.Match[str]) -> str:
    seconds = "" if found[3] is None else f":{found[3]:0>2}"
    return f" {found[1]}:{found[2]:0>2}{seconds}"
