"""Notations in any language's spreadsheet: errors, truths without accents, durations, degrees."""

from __future__ import annotations

import datetime as dt
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.columns.spellings.blank_cells import BLANKS, is_blank
from suffice.columns.spellings.written_dates import written_date
from suffice.columns.spellings.written_numbers import written_number
from suffice.columns.spellings.yes_and_no import PAIRS, yes_words

ERRORS = [
    "#SAKNAS!", "#PUUTTUU!", "#N/B", "#I/T", "#HIÁNYZIK", "#NENÍ_K_DISPOZICI", "#Δ/Υ", "#Н/Д",
    "#N/D!", "#GETAL!", "#VERW!", "#DIV/0!", "#ОБРАЩЕНИЕ!", "#数值!",
]  # fmt: skip
CELLS = ["#FF0000", "#1", "#12 x", "#a", "#tag", "# X", "#", "##", "#Xy", "C#", "R", "x"]


@pytest.mark.parametrize("cell", [*ERRORS, *(f" {error} " for error in ERRORS[:3])])
def test_errors_of_spreadsheets_of_any_language_are_blank(cell: str) -> None:
    assert is_blank(cell)


@pytest.mark.parametrize("cell", CELLS)
def test_other_cells_with_a_hash_are_none(cell: str) -> None:
    assert not is_blank(cell)


@given(st.sampled_from(sorted(word for word in BLANKS if len(word) > 4 and word[0].isalpha())))
def test_words_for_nothing_are_blank_in_small_and_capital_letters(word: str) -> None:
    assert is_blank(word.upper())
    assert is_blank(f" {word.lower()} ")
    assert not is_blank(f"{word}x")


@pytest.mark.parametrize("letter", ["a", "m", "z", "_"])
def test_missing_values_with_a_reason_are_blank(letter: str) -> None:
    assert is_blank(f".{letter}")
    assert not is_blank(f".{letter}b")


@given(st.sampled_from(PAIRS), st.data())
def test_yes_and_no_are_known_in_capitals_and_without_accents(pair: object, data: object) -> None:
    yes, no = (data.draw(st.sampled_from(sorted(words))) for words in pair)  # type: ignore[attr-defined]
    for change in (str.upper, str.capitalize, lambda word: unicodedata.normalize("NFD", word)):
        assert yes_words([change(yes), change(no)]) == frozenset([change(yes)])


@given(st.integers(0, 60), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_durations_in_letters_are_hours(days: int, hours: int, minutes: int, seconds: int) -> None:
    whole = days * 24 + hours + minutes / 60 + seconds / 3600
    for cell in (
        f"{days}d {hours}h {minutes}m {seconds}s",
        f"{days} days {hours} hours {minutes} min {seconds} sec",
        f"{days}d{hours}h{minutes:02}m{seconds:02}s",
    ):
        found = written_date(cell)
        assert found is not None
        assert found.clock
        assert found.days[0] == pytest.approx(whole)
    found = written_date(f"{hours} Std. {minutes} Min")
    assert found is not None
    assert found.days[0] == pytest.approx(hours + minutes / 60)


@pytest.mark.parametrize(
    "cell", ["12 m", "5h", "3 d", "90 min", "7s", "12 g", "5 j", "h m", "1h x"]
)
def test_one_part_alone_is_a_number_with_a_unit(cell: str) -> None:
    assert written_date(cell) is None


@given(st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2050, 1, 1)))  # noqa: DTZ001
def test_halves_of_the_day_have_other_words_than_am_and_pm(moment: dt.datetime) -> None:
    moment = moment.replace(second=0, microsecond=0)
    hour, late = (moment.hour - 1) % 12 + 1, moment.hour >= 12
    day, clock = f"{moment.year}-{moment.month:02}-{moment.day:02}", f"{hour}:{moment.minute:02}"
    wanted = written_date(moment.isoformat())
    assert wanted is not None
    for am, pm, first in (
        ("πμ", "μμ", False), ("π.μ.", "μ.μ.", False), ("오전", "오후", True),
        ("上午", "下午", True), ("午前", "午後", True), ("de.", "du.", True),
    ):  # fmt: skip
        half = pm if late else am
        cell = f"{day} {half} {clock}" if first else f"{day} {clock} {half}"
        found = written_date(cell)
        assert found is not None, cell
        assert found.days == pytest.approx(wanted.days)


@given(st.integers(0, 89), st.integers(0, 59), st.integers(0, 59), st.sampled_from("NSEW"))
def test_degrees_with_minutes_are_degrees(a: int, b: int, c: int, side: str) -> None:
    value = (a + b / 60 + c / 3600) * (-1 if side in "SW" else 1)
    for cell in (f"{a}°{b}'{c}\"{side}", f"{a}° {b}′ {c}″ {side}", f"{a}°{b:02}’{c:02}''{side}"):
        found = written_number(cell)
        assert found is not None, cell
        assert found.point == found.comma == pytest.approx(value)


@pytest.mark.parametrize(
    ("cell", "value"),
    [("R 1 234,56", 1234.56), ("R1,234.50", 1234.5), ("-Q 12.75", -12.75), ("S/ 10.00", 10.0),
     ("KSh 1,200.50", 1200.5), ("$1,234.56 MXN", 1234.56), ("1ʼ234.50", 1234.5)],
)  # fmt: skip
def test_more_ways_to_write_money(cell: str, value: float) -> None:
    found = written_number(cell)
    assert found is not None
    assert value in (found.point, found.comma)


@pytest.mark.parametrize(
    "cell", ["R 12", "Q1", "K 7", "L 300", "C12", "5 EUR USD", "EUR 5 USD", "P 1.234"]
)
def test_letters_before_whole_numbers_are_codes(cell: str) -> None:
    found = written_number(cell)
    assert found is None or found.currency == ""


def test_thai_months_count_years_as_there() -> None:
    for cell in ("31 ม.ค. 2567", "31 มกราคม 2567", "31 ม.ค. 2024"):
        found = written_date(cell)
        assert found is not None
        assert set(found.days) == {19753.0}
    assert written_date("31 Foo 2567") is None
