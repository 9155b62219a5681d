"""Tables of results: aligned, never too wide, escaped, and numbers again as frames."""

from __future__ import annotations

import importlib.util
import math
import pickle
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import BadSetting
from suffice.printing import result_table as text_tables
from suffice.printing.result_table import Decimals, Significant, TableColumn, TextTable, p_value
from suffice.printing.terminal_words import cut, width

NUMBERS = Significant(4)
COLUMNS = (TableColumn("column"), TableColumn("estimate", NUMBERS), TableColumn("z", Decimals(2)))
ROWS = (("height", 1.25, 3.0), ("weight", -0.0371, -12.5), ("age", None, math.nan))


def lines_of(table: TextTable) -> list[str]:
    return str(table).split("\n")


def test_points_stand_below_one_another_and_words_to_the_left() -> None:
    expected = """\
Slopes

column  estimate       z
height   1.250      3.00
weight  -0.03710  -12.50
age      –          –

age is constant"""
    assert str(TextTable("Slopes", COLUMNS, ROWS, ("age is constant",))) == expected


def test_a_table_shows_itself_at_the_prompt() -> None:
    table = TextTable("Slopes", COLUMNS, ROWS)
    assert repr(table) == str(table)


def test_what_is_shared_by_rows_is_printed_over_them() -> None:
    columns = (TableColumn("class", heading=True), TableColumn("column"), COLUMNS[1])
    rows = (("a", "x", 1.0), ("a", "y", 2.0), ("b", "x", 3.0))
    assert lines_of(TextTable("", columns, rows)) == [
        "column  estimate",
        "class a",
        "x          1.000",
        "y          2.000",
        "",
        "class b",
        "x          3.000",
    ]


def test_long_names_are_cut_and_numbers_are_not() -> None:
    name = "a name that goes on and on " * 10
    table = TextTable(name, COLUMNS, ((name, 1.25, 3.0),), (name,))
    lines = lines_of(table)
    assert max(map(width, lines)) <= 100
    (row,) = (line for line in lines if line.endswith("3.00"))
    assert "…" in row
    assert "1.250" in row


def test_columns_that_find_no_room_are_printed_below() -> None:
    columns = (TableColumn("column"), *(TableColumn(f"figure {j}", NUMBERS) for j in range(20)))
    rows = tuple((f"x{i}", *(i + j / 10 for j in range(20))) for i in range(3))
    lines = lines_of(TextTable("Wide", columns, rows))
    assert max(map(len, lines)) <= 100
    assert sum(line.startswith("column") for line in lines) > 1
    assert sum(line.count("figure") for line in lines) == 20


def test_east_asian_names_are_as_wide_as_they_look() -> None:
    table = TextTable("", COLUMNS, (("体重", 1.25, 3.0), ("ab", 1.5, 3.0)), ("体重" * 80,))
    _, first, second, *rest = lines_of(table)
    assert width(first) == width(second)
    assert max(map(width, rest)) <= 100


def test_a_name_cannot_break_the_line_or_move_the_cursor() -> None:
    table = TextTable("a\nb", COLUMNS, (("x\ny\x1b[2J\u202e", 1.0, 2.0),), ("c\td",))
    text = str(table)
    assert r"x\ny\x1b[2J\u202e" in text
    assert all(line.isprintable() for line in text.split("\n"))


def test_of_many_rows_the_first_are_printed_and_the_rest_counted() -> None:
    rows = tuple((f"x{i}", float(i), 0.0) for i in range(10_000))
    table = TextTable("Many", COLUMNS, rows)
    lines = lines_of(table)
    assert len(lines) < 300
    assert "… and 9,800 more rows: to_frame() has them all" in lines
    assert "9,800 more rows" in table.to_html()
    assert len(table.to_frame()) == 10_000


def test_every_group_shows_its_first_rows() -> None:
    columns = (TableColumn("class", heading=True), TableColumn("column"))
    rows = tuple((c, f"{c}{i}") for c in "ab" for i in range(1_000))
    lines = lines_of(TextTable("", columns, rows))
    assert {"a0", "b0", "a99", "b99"} < set(lines)
    assert "b100" not in lines


def test_a_table_without_rows_is_its_heads() -> None:
    assert str(TextTable("None", COLUMNS, ())) == "None\n\ncolumn  estimate  z"
    assert len(TextTable("None", COLUMNS, ()).to_frame("polars")) == 0


class Tags(HTMLParser):
    """What a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html_is_escaped_everywhere() -> None:
    evil = '<script>alert("&")</script>'
    columns = (TableColumn(evil, heading=True), TableColumn(evil), TableColumn(evil, NUMBERS))
    table = TextTable(evil, columns, ((evil, evil, 1.0),), (evil,))
    page = table._repr_html_()
    assert page == table.to_html()
    assert "<script" not in page
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert set(tags.seen) == {
        *("div", "table", "caption", "thead", "tbody"),
        *("tr", "th", "td", "p"),
    }
    assert sum(evil in text for text in tags.text) == 6


def test_html_takes_the_colours_of_its_page() -> None:
    page = TextTable("Slopes", COLUMNS, ROWS).to_html()
    assert "color:inherit" in page
    assert "background:transparent" in page
    assert "#" not in page


def test_html_aligns_points_by_blanks_as_wide_as_digits() -> None:
    page = TextTable("", COLUMNS, ROWS).to_html()
    assert ">1.250\u2007\u2007<" in page
    assert ">-0.03710<" in page
    assert ">–\u2008\u2007\u2007\u2007\u2007\u2007<" in page


@pytest.mark.parametrize("library", ["pandas", "polars", None])
def test_a_frame_has_numbers_and_empty_cells(library: str | None) -> None:
    columns = (*COLUMNS, TableColumn("rows, counted", Decimals(0), "rows"), TableColumn("label"))
    rows = tuple((*row, i, np.int64(i)) for i, row in enumerate(ROWS))
    frame: Any = TextTable("Slopes", columns, rows).to_frame(library)
    assert list(frame.columns) == ["column", "estimate", "z", "rows", "label"]
    assert type(frame).__module__.startswith(library or "pandas")
    assert [str(t).lower() for t in frame.dtypes][1:] == ["float64", "float64", "int64", "int64"]
    assert list(frame["estimate"])[:2] == [1.25, -0.0371]
    for name in ("estimate", "z"):
        cell = list(frame[name])[2]
        assert math.isnan(cell) if library != "polars" else cell is None
    assert list(frame["column"]) == ["height", "weight", "age"]


def test_two_columns_of_one_name_are_no_frame() -> None:
    with pytest.raises(BadSetting, match="two columns of one name"):
        TextTable("", (TableColumn("a"), TableColumn("a")), ()).to_frame()


def test_a_frame_of_nothing_known_is_refused() -> None:
    with pytest.raises(BadSetting, match=r"no frame of 'arrow'[\s\S]*Hint: use library="):
        TextTable("", COLUMNS, ROWS).to_frame("arrow")


@pytest.mark.parametrize(
    ("library", "problem"),
    [(None, "neither pandas nor polars is installed"), ("polars", "polars is not installed")],
)
def test_a_missing_frame_library_is_named(
    library: str | None, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_tables, "find_spec", lambda name: None)
    with pytest.raises(BadSetting, match=rf"{problem}[\s\S]*Hint: pip install"):
        TextTable("", COLUMNS, ROWS).to_frame(library)


def test_the_first_library_installed_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_polars(name: str) -> object:
        return None if name == "pandas" else importlib.util.find_spec(name)

    monkeypatch.setattr(text_tables, "find_spec", only_polars)
    assert type(TextTable("", COLUMNS, ROWS).to_frame()).__module__.startswith("polars")


def test_rows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadSetting, match="row 1 of the table has 1 cells for 2 columns"):
        TextTable("", COLUMNS[:2], (("a", 1.0), ("b",)))


def test_a_table_survives_a_trip_between_processes() -> None:
    table = TextTable("Slopes", COLUMNS, ROWS)
    assert str(pickle.loads(pickle.dumps(table))) == str(table)


# Of the largest numbers of all, 1.5e308 say, one digit is a number that cannot be read back.
@given(st.floats(-1e307, 1e307) | st.just(math.inf), st.integers(1, 8))
def test_significant_digits_are_those_of_the_number(value: float, digits: int) -> None:
    text = Significant(digits)(value)
    if math.isinf(value):
        assert text == str(value)
    else:
        assert float(text) == pytest.approx(value, rel=0.5001 * 10.0 ** (1 - digits), abs=0.0)
        assert len(text) <= digits + 8


@given(st.floats(0.0, 1.0))
def test_p_values_keep_two_digits(value: float) -> None:
    text = p_value(value)
    if text.startswith("<"):
        assert value < float(text[1:])
    else:
        assert float(text) == pytest.approx(value, rel=0.051)
    assert len(text) <= 7


words = st.text(max_size=150)
cells = st.one_of(st.none(), st.floats())


@given(words, st.lists(st.tuples(words, cells, cells), max_size=5), st.lists(words, max_size=3))
def test_no_line_is_wider_than_a_hundred(
    title: str, rows: list[tuple[Any, ...]], notes: list[str]
) -> None:
    columns = (TableColumn(title), COLUMNS[1], COLUMNS[2])
    text = str(TextTable(title, columns, tuple(rows), tuple(notes)))
    assert all(width(line) <= 100 for line in text.split("\n"))
    assert all(line.isprintable() for line in text.split("\n"))


@given(words, st.integers(1, 60))
def test_what_is_cut_fits(text: str, places: int) -> None:
    assert width(cut(text, places)) <= places
