"""Dates and times as people write them: what is written is what is read."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from suffice.columns.spellings.calendar_words import MONTH_NAMES, month_of
from suffice.columns.spellings.date_parts import LEVELS, part_cells
from suffice.columns.spellings.spelling import (
    CLOCK,
    DATES,
    PARTS,
    SERIAL,
    Spelling,
    spellings_from,
    spellings_to,
)
from suffice.columns.spellings.written_dates import (
    EPOCH,
    ORDERS,
    clock_text,
    date_text,
    serial_date,
    written_date,
)
from suffice.columns.spellings.written_numbers import written_number
from suffice.errors import BadFile
from suffice.tables.csv.cells import ColumnEvidence
from suffice.tables.csv.spelled_cells import UsualMarks, spelling_of_column
from tests.searches import examples

DAYS = st.dates(dt.date(1969, 1, 1), dt.date(2068, 12, 31))
FORMS = {
    "dmy": ["{d:02d}/{m:02d}/{y}", "{d}.{m}.{y}", "{d:02d}-{m:02d}-{y}", "{d:02d}.{m:02d}.{s:02d}"],
    "mdy": ["{m:02d}/{d:02d}/{y}", "{m}/{d}/{y}", "{m}/{d}/{s:02d}"],
    "ymd": ["{y}-{m:02d}-{d:02d}", "{y}/{m}/{d}", "{y}.{m:02d}.{d:02d}", "{y}. {m}. {d}.",
            "{y}年{m}月{d}日"],
}  # fmt: skip
TIMES = ["", " {H:02d}:{M:02d}", "T{H:02d}:{M:02d}:{S:02d}", " {H:02d}:{M:02d}:{S:02d}.250",
         ", {H:02d}:{M:02d}", " {h}:{M:02d} {half}"]  # fmt: skip
ZONES = {"": 0, "Z": 0, "+02:00": 120, "-0530": -330, " UTC": 0, " CET": 60}


def written(form: str, day: dt.date, time: dt.time = dt.time()) -> str:
    """Write a date in some form."""
    return form.format(
        y=day.year, s=day.year % 100, m=day.month, d=day.day, H=time.hour, M=time.minute,
        S=time.second, h=(time.hour - 1) % 12 + 1, half="PM" if time.hour > 11 else "AM",
    )  # fmt: skip


def evidence(cells: list[str]) -> ColumnEvidence:
    """Return what cells are, seen in two parts."""
    first, second = ColumnEvidence(), ColumnEvidence()
    half = len(cells) // 2
    first.see(["", *cells[:half], "n.a."], lambda i: f"line {i}")
    second.see(cells[half:], lambda i: f"line {half + i}")
    return first | second


@given(
    st.lists(DAYS, min_size=1, max_size=12),
    st.sampled_from([(order, form) for order, forms in FORMS.items() for form in forms]),
    st.sampled_from(TIMES),
    st.sampled_from(list(ZONES)),
    st.times(),
)
def test_a_column_of_dates_is_read_as_its_author_meant_or_said_to_be_open(
    days: list[dt.date], how: tuple[str, str], time_form: str, zone: str, time: dt.time
) -> None:
    order, form = how
    timed = bool(time_form)
    zone = zone if timed else ""
    cells = [written(form + time_form, day, time) + zone for day in days]
    found = spelling_of_column(evidence(cells), usual=UsualMarks(order=order))
    assert found.spelling is not None
    assert found.spelling.timed == timed
    clock = dt.timedelta(hours=time.hour, minutes=time.minute) if timed else dt.timedelta()
    if ":{S" in time_form:
        clock += dt.timedelta(seconds=time.second + (0.25 if "250" in time_form else 0))
    shift = clock.total_seconds() / 86_400 - ZONES[zone] / 1440
    meant = [day.toordinal() - EPOCH + shift for day in days]
    assert [found.spelling.value(cell) for cell in cells] == pytest.approx(meant, abs=1e-9)
    assert found.doubt == "" or "may be" in found.doubt
    again = [found.spelling.written(value) for value in meant]
    whole = [value if not timed else round(value * 86_400) / 86_400 for value in meant]
    assert [found.spelling.value(cell) for cell in again] == pytest.approx(whole, abs=1e-9)
    assert spellings_from(spellings_to({"a": found.spelling})) == {"a": found.spelling}


@given(st.lists(DAYS, min_size=2, max_size=8), st.sampled_from(["/", ".", "-"]))
def test_day_or_month_first_is_decided_by_the_whole_column(days: list[dt.date], mark: str) -> None:
    cells = [f"{day.day}{mark}{day.month}{mark}{day.year}" for day in days]
    for usual in ("dmy", "mdy"):
        found = spelling_of_column(evidence(cells), usual=UsualMarks(order=usual))
        assert found.spelling is not None
        known = any(day.day > 12 for day in days)
        same = all(day.day == day.month for day in days)
        assert found.spelling.date == ("dmy" if known else usual)
        assert bool(found.doubt) == (not known and not same)


@pytest.mark.parametrize("names", MONTH_NAMES)
@given(day=DAYS)
def test_names_of_months_are_read_in_every_language(names: str, day: dt.date) -> None:
    word = names.split()[day.month - 1]
    assert month_of(word.upper().replace("I\u0307", "I")) in (day.month, None)  # Turkish has two i
    for form in (f"{day.day}. {word} {day.year}", f"{word.title()} {day.day}, {day.year}",
                 f"{day.day:02d}-{word}-{day.year % 100:02d}", f"Xyz, {day.day} {word} {day.year}",
                 f"{day.day} de {word} de {day.year}"):  # fmt: skip
        found = written_date(form)
        assert found is not None, form
        assert set(found.days) == {float(day.toordinal() - EPOCH)}, form


@examples(200)
@given(st.text(st.sampled_from("0123456789./-: TZapmMJanFebuhr,年月"), max_size=24))
def test_any_text_is_a_date_or_none_and_never_an_error(text: str) -> None:
    found = written_date(text)
    assert found is None or any(days is not None for days in found.days)


@given(st.from_regex(r"[\d./:\- ]{4,20}", fullmatch=True))
def test_what_is_a_number_is_no_date_first(text: str) -> None:
    seen = ColumnEvidence()
    seen.see([text])
    if written_number(text) is not None:
        assert seen.spelled.dated.count == 0


@pytest.mark.parametrize(
    "cell",
    ["2024-13-01", "31.02.2024", "1.2.3", "v1.2.2024", "room 5 2024", "Q5 2024", "10:5", "25:99",
     "5/5", "2024-W54", "May be 3", "3 items", "192.168.1.1", "2024-01-05 25:00", "12:30 XYZ",
     "555-12-3456", "1/2/3/4", "Jan 24", "2024-01-05 10:00 CST"],
)  # fmt: skip
def test_what_is_no_date_is_none(cell: str) -> None:
    assert written_date(cell) is None


def test_a_column_of_two_orders_is_no_column_of_dates_and_names_both_cells() -> None:
    found = spelling_of_column(evidence(["13/5/2020", "1/1/2020", "5/13/2020"]))
    assert found.spelling is None
    assert "'5/13/2020' is not a date with the day first" in found.doubt
    assert "'13/5/2020' is not one with the month" in found.doubt


def test_one_strange_cell_among_dates_is_named() -> None:
    found = spelling_of_column(evidence(["2020-01-05", "2020-01-06", "soon", "2020-01-07"]))
    assert found.spelling is None
    assert "'soon' is not a date; 1 of 4 cells that are not blank is not a date" in found.doubt


@given(st.datetimes(dt.datetime(1901, 1, 1), dt.datetime(2200, 1, 1)))  # noqa: DTZ001
def test_numbers_that_stand_for_dates_are_told_by_their_size(moment: dt.datetime) -> None:
    day = moment.date()
    days = float(day.toordinal() - EPOCH)
    assert serial_date(float((day - dt.date(1899, 12, 30)).days)) == days
    assert serial_date(float(f"{day:%Y%m%d}")) == days
    assume(day.year > 1973)
    assert serial_date(days * 86_400) == pytest.approx(days)
    assert serial_date(days * 86_400_000) == pytest.approx(days)


@given(st.lists(st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(2400, 1, 1)), min_size=1))  # noqa: DTZ001
def test_parts_of_dates_are_those_of_the_calendar(moments: list[dt.datetime]) -> None:
    kept = [moment.replace(microsecond=0) for moment in moments]
    midnight = [dt.datetime.combine(m, dt.time()) for m in kept]
    times = [(m - day) / dt.timedelta(1) for m, day in zip(kept, midnight, strict=True)]
    days = np.array([m.toordinal() - EPOCH for m in kept]) + np.array(times)
    names = {
        "month": [LEVELS["month"][m.month - 1] for m in kept],
        "weekday": [LEVELS["weekday"][m.weekday()] for m in kept],
        "hour": [LEVELS["hour"][m.hour] for m in kept],
    }
    for part, meant in names.items():
        assert part_cells(days, part).tolist() == meant
    assert [date_text(value, timed=True) for value in days] == [m.isoformat() for m in kept]


@given(st.integers(0, 9998 * 3600))
def test_times_without_a_date_are_hours(seconds: int) -> None:
    spelling = Spelling("number", date="clock", timed=True)
    assert spelling.value(clock_text(seconds / 3600)) == pytest.approx(seconds / 3600)


@pytest.mark.parametrize(
    "held",
    [
        {"kind": "number", "date": "soon"},
        {"kind": "category", "date": "dmy"},
        {"kind": "number", "part": "month"},
        {"kind": "category", "part": "century", "of": "a"},
        {"kind": "number", "timed": "yes"},
    ],
)
def test_a_file_that_says_no_such_thing_is_refused(held: dict[str, object]) -> None:
    with pytest.raises(BadFile, match="record the notation of its table"):
        spellings_from({"a": held})


def test_files_know_the_orders_and_parts_that_are_read() -> None:
    assert ("", *ORDERS, CLOCK, SERIAL) == DATES
    assert ("", *LEVELS) == PARTS
