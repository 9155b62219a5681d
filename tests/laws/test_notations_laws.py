"""Notations of their own: weekdays, eras, durations, powers of ten, ticks, credit and debit."""

from __future__ import annotations

import csv
import datetime as dt
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.columns.spellings.calendar_words import MONTH_NAMES, WEEKDAYS, month_of
from suffice.columns.spellings.spelling import Spelling, read_cells
from suffice.columns.spellings.written_dates import written_date
from suffice.columns.spellings.written_numbers import written_number
from suffice.columns.spellings.yes_and_no import TICKS
from suffice.errors import BadFile, BadRows, GuessedTable
from suffice.tables.csv.cells import ColumnEvidence
from suffice.tables.csv.inert_cells import plain_text
from suffice.tables.csv.spelled_cells import spelling_of_column
from suffice.tables.table_file import open_table
from suffice.tables.table_reading import TableReading
from suffice.training.hooks import Hooks
from suffice.training.training_rows import TrainingRows
from tests.reference.workbooks import made, rows
from tests.searches import examples

FOLDER = tempfile.TemporaryDirectory()  # goes when the tests end
DAYS = st.dates(dt.date(1969, 1, 1), dt.date(2068, 12, 31))
NUMERIC = st.sampled_from(["%d.%m.%Y", "%d/%m/%Y", "%Y-%m-%d", "%d.%m.%y", "%m/%d/%Y %H:%M"])


def spelled(cells: list[str]) -> Spelling | None:
    """Return how a column of these cells is written."""
    seen = ColumnEvidence()
    seen.see(cells)
    return spelling_of_column(seen).spelling


@given(DAYS, NUMERIC, st.sampled_from(sorted(WEEKDAYS)), st.sampled_from(["", ".", ",", ".,"]))
def test_a_weekday_before_a_date_says_no_more_than_the_date(
    day: dt.date, form: str, weekday: str, mark: str
) -> None:
    text = dt.datetime.combine(day, dt.time()).strftime(form)
    for word in (weekday, weekday.capitalize(), weekday.upper()):
        if word.lower() == weekday:
            assert written_date(f"{word}{mark} {text}") == written_date(text)


@pytest.mark.parametrize("word", ["vor", "bis", "ca", "ab", "before", "x", "approx"])
def test_another_word_before_a_date_is_not_passed_over(word: str) -> None:
    assert "vor" not in WEEKDAYS
    assert written_date(f"{word} 05.01.2024") is None


@given(DAYS)
def test_a_name_of_a_month_is_that_month_in_every_language(day: dt.date) -> None:
    for names in MONTH_NAMES:
        name = names.split()[day.month - 1]
        assert month_of(name) == month_of(name.upper().replace("İ", "i̇")) or not name.isascii()
        found = written_date(f"{day.day} {name} {day.year}")
        assert found is not None
        assert found.days == written_date(day.isoformat()).days  # type: ignore[union-attr]


def test_no_name_is_two_months() -> None:
    pairs = {(name, i) for names in MONTH_NAMES for i, name in enumerate(names.split())}
    assert len(pairs) == len(dict(pairs))


@given(st.dates(dt.date(1989, 1, 8), dt.date(2068, 12, 31)))
def test_years_of_an_era_are_years(day: dt.date) -> None:
    eras = [("令和", dt.date(2019, 5, 1)), ("平成", dt.date(1989, 1, 8))]
    era, first = next((name, begun) for name, begun in eras if day >= begun)
    year = day.year - first.year + 1
    found = written_date(f"{era}{'元' if year == 1 else year}年{day.month}月{day.day}日")
    assert found == written_date(day.isoformat())


@given(DAYS, st.sampled_from(["KW {w}/{y}", "{y}-KW{w:02}", "CW {w:02}.{y}", "week {w}/{y}"]))
def test_weeks_by_a_word_are_weeks(day: dt.date, form: str) -> None:
    year, week, _ = day.isocalendar()
    found = written_date(form.format(w=week, y=year))
    assert found is not None
    assert found.days == written_date(f"{year}-W{week:02}").days  # type: ignore[union-attr]


@given(
    st.integers(1, 4),
    st.integers(1970, 2068),
    st.sampled_from(["{q}. Quartal {y}", "{q}Q {y}", "{q}e trimestre {y}", "Quartal {q}/{y}"]),
)
def test_quarters_by_a_word_are_quarters(quarter: int, year: int, form: str) -> None:
    assert written_date(form.format(q=quarter, y=year)) == written_date(f"{year}-Q{quarter}")


@given(st.integers(1, 10**6))
def test_durations_of_iso_8601_are_hours(seconds: int) -> None:
    hours, rest = divmod(seconds, 3600)
    for text in (f"PT{hours}H{rest // 60}M{rest % 60}S", f"PT{seconds}S"):
        found = written_date(text)
        assert found is not None
        assert found.clock
        assert found.days[0] == pytest.approx(seconds / 3600)


@given(st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2068, 1, 1)))  # noqa: DTZ001
def test_digits_before_a_z_and_colons_before_a_time_are_a_date(moment: dt.datetime) -> None:
    moment = moment.replace(microsecond=0)
    same = written_date(f"{moment:%Y-%m-%d %H:%M:%S}Z")
    assert written_date(f"{moment:%Y%m%d%H%M%S}Z") == same
    assert written_date(f"{moment:%d/%b/%Y:%H:%M:%S} +0000") == same
    assert written_number(f"{moment:%Y%m%d%H%M%S}Z") is None


@given(st.floats(1, 9.999), st.integers(-30, 30), st.sampled_from("×·x*"), st.booleans())
def test_powers_of_ten_are_exponents(body: float, power: int, times: str, raised: bool) -> None:
    above = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    text = f"{body:.3f}{times}10{above if raised else f'^{power}'}"
    for cell, mark in ((text, "."), (text.replace(".", ","), ",")):
        found = written_number(cell)
        assert found is not None
        assert found.value(mark) == pytest.approx(float(f"{body:.3f}e{power}"))


def test_ten_times_ten_is_no_power() -> None:
    assert written_number("5x10") is None or written_number("5x10").unit  # type: ignore[union-attr]


@given(st.integers(-9999, 9999))
def test_a_minus_before_the_percent_sign_is_a_minus(value: int) -> None:
    text = f"{abs(value) / 10:.1f}{'-' * (value < 0)}%"
    found = written_number(text)
    assert found is not None
    assert found.percent
    assert found.point == pytest.approx(value / 1000)
    assert written_number("12-kg") is None


@given(st.lists(st.sampled_from(["x", "X", "", " ", "-"]), min_size=3))
def test_a_column_of_marks_is_one_of_truths_and_blank_is_no(cells: list[str]) -> None:
    marked = [cell in ("x", "X") for cell in cells]
    found = spelled(cells)
    if not any(marked):
        assert found is None
        return
    assert found is not None
    assert found.is_ticked
    assert read_cells(cells, found, ValueError).tolist() == marked
    # What is written again is read again, and so is a blank of a typed table.
    again = [found.written(truth) for truth in marked]
    assert read_cells(again, found, ValueError).tolist() == marked
    assert read_cells([None, "x", float("nan")], found, ValueError).tolist() == [False, True, False]
    assert Spelling.from_dict(found.to_dict()) == found


@given(
    st.sampled_from(sorted(TICKS)), st.sampled_from(["a", "red", "5", "2024-01-05", "no", "1,5"])
)
def test_a_mark_among_other_cells_is_a_word(mark: str, other: str) -> None:
    found = spelled([mark, other, ""])
    assert found is None or not found.is_ticked


@pytest.mark.parametrize("lie", [{"yes": "red"}, {"yes": ""}, {"no": "x"}])
def test_a_file_that_calls_any_word_a_tick_is_refused(lie: dict[str, str]) -> None:
    with pytest.raises(BadFile):
        Spelling.from_dict({"kind": "boolean", **lie})


@given(st.lists(st.integers(-(10**8), 10**8), min_size=2).filter(lambda v: min(v) < 0 < max(v)))
def test_credit_and_debit_are_signs_where_a_column_has_both(values: list[int]) -> None:
    cells = [f"{abs(v) / 100:,.2f} {'Cr' if v > 0 else 'Dr.'}" for v in values]
    found = spelled(cells)
    assert found is not None
    assert read_cells(cells, found, ValueError).tolist() == [v / 100 for v in values]
    # By itself either may be another unit: crores, drams.
    assert spelled([cell for cell in cells if cell.endswith("Cr")]) is None


@given(st.text(max_size=12))
def test_a_formula_of_a_text_is_the_text(text: str) -> None:
    assert plain_text('="' + text.replace('"', '""') + '"') == text


@examples(12)
@given(
    st.lists(st.tuples(st.integers(-(10**7), 10**7), st.booleans()), min_size=4, max_size=12),
    st.sampled_from([(",", "."), (".", ","), (",", " ")]),
)
def test_typed_and_written_numbers_of_a_sheet_are_one_column(
    cells: list[tuple[int, bool]], marks: tuple[str, str]
) -> None:
    point, thousands = marks

    def cell(value: int, is_typed: bool) -> object:
        if is_typed:
            return value / 100
        text = f"{value / 100:,.2f}".replace(",", "_").replace(".", point)
        return text.replace("_", thousands)

    table = [[cell(*one), "ab"[i % 2]] for i, one in enumerate(cells)]
    place = made(Path(FOLDER.name) / "mixed.xlsx", rows(["size", "y"], *table))
    hooks = Hooks()
    columns = {"size": "number"}
    found = TrainingRows.read(str(place), "y", TableReading(columns=columns), (), hooks, seed=0)
    expected = [value / 100 for value, _ in cells]
    np.testing.assert_allclose(np.asarray(found.table.column(0), float), expected)


def _held(rows_given: list[list[str]], delimiter: str, name: str = "rows.txt") -> Path:
    held = io.StringIO(newline="")
    how = csv.QUOTE_ALL
    csv.writer(held, delimiter=delimiter, quoting=how, lineterminator="\n").writerows(rows_given)
    place = Path(FOLDER.name) / name
    place.write_text(held.getvalue(), "utf-8")
    return place


@given(st.lists(st.tuples(*[st.sampled_from(["1", "2.5", "a b", "x"])] * 2), min_size=2))
def test_a_header_may_lack_the_name_of_row_names(table: list[tuple[str, str]]) -> None:
    named = [[f"r{i}", *row] for i, row in enumerate(table)]
    for delimiter in " \t":
        place = _held([["size", "y"], *named], delimiter)
        with pytest.warns(GuessedTable, match="line 1 has no name for the first column"):
            found = open_table(place, expected=["y"])
        assert found.names == ("column 1", "size", "y")
        cells = [chunk.column(0) for chunk in found.chunks()]
        assert np.concatenate(cells).tolist() == [row[0] for row in named]
    # With commas a cell too many may be a decimal comma, and with one name twice it names no row.
    for bad, delimiter in ((named, ","), ([["r", *row] for row in table], "\t")):
        with pytest.raises(BadRows, match="cell"):
            list(open_table(_held([["size", "y"], *bad], delimiter), expected=["y"]).chunks())


def test_a_blank_parts_cells_only_where_it_sets_a_name_free() -> None:
    place = Path(FOLDER.name) / "words.csv"
    place.write_text("full name,y\nAda Lovelace,1\nAlan Turing,2\n", "utf-8")
    assert open_table(place, expected=["y"]).names == ("full name", "y")
    place.write_text("full name\nAda Lovelace\nAlan Turing\n", "utf-8")
    assert open_table(place).names == ("full name",)
