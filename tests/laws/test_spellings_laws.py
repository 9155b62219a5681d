"""Numbers and truths as people write them: what is written is what is read."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.columns.spellings.spelling import (
    SpelledKind,
    Spelling,
    spelling_of,
    spellings_from,
    spellings_to,
)
from suffice.columns.spellings.written_numbers import shows_point, written_number
from suffice.columns.spellings.yes_and_no import PAIRS, yes_words
from suffice.errors import BadFile
from suffice.tables.csv.cells import ColumnEvidence
from suffice.tables.csv.spelled_cells import UsualMarks, spelling_of_column

MARKS = [(".", ","), (",", "."), (",", " "), (",", "\u00a0"), (",", "\u202f"), (".", "'"),
         (".", "’"), (".", "\u2009"), (".", ""), (",", "")]  # fmt: skip
MINUS = ["-{}", "\u2212{}", "({})", "{}-", "- {}"]
AFFIXES = ["{}", "${}", "{} €", "EUR {}", "{} kr", "US$ {}", "{} CHF", "£{}"]


def written(value: float, digits: int, marks: tuple[str, str], minus: str, affix: str) -> str:
    """Write a number as some spreadsheet would."""
    decimal, group = marks
    text = f"{abs(value):,.{digits}f}".replace(",", "\0").replace(".", decimal)
    text = affix.format(text.replace("\0", group))
    return minus.format(text) if value < 0 else text


CELLS = st.lists(
    st.tuples(st.integers(-(10**12), 10**12), st.sampled_from(MINUS)), min_size=1, max_size=12
)


@given(CELLS, st.integers(1, 2), st.sampled_from(MARKS), st.sampled_from(AFFIXES))
def test_a_column_of_numbers_is_read_as_its_author_meant(
    cells: list[tuple[int, str]], digits: int, marks: tuple[str, str], affix: str
) -> None:
    values = [cents / 10**digits for cents, _ in cells]
    texts = [
        written(value, digits, marks, minus, affix)
        for value, (_, minus) in zip(values, cells, strict=True)
    ]
    seen = ColumnEvidence()
    seen.see(["", *texts, "n.a."], lambda i: f"line {i}")
    found = spelling_of_column(seen)
    assert not found.doubt
    assert found.whole is False or all(value.is_integer() for value in values)
    if found.spelling is None:  # nothing but plain numbers
        assert [float(text) for text in texts] == values
        return
    assert found.spelling.decimal == marks[0]
    assert [found.spelling.value(text) for text in texts] == values
    again = [found.spelling.written(value, digits) for value in values]
    assert [found.spelling.value(str(text)) for text in again] == values


@given(st.integers(-(10**9), 10**9), st.sampled_from(MARKS))
def test_percentages_are_hundredths(value: int, marks: tuple[str, str]) -> None:
    spelling = Spelling("number", marks[0], percent=True)
    text = written(value / 10, 1, marks, "-{}", "{}%")
    assert spelling.value(text) == value / 1000
    assert spelling.value(spelling.written(value / 1000, 3)) == value / 1000
    assert spelling.value(text.removesuffix("%")) is None


@given(st.lists(st.sampled_from(["1,5", "1.5", "$2", "7", "x", "yes", "", "3%", "1,234", "4 kg"])))
def test_neither_order_nor_parts_matter(cells: list[str]) -> None:
    whole, backwards, parts = ColumnEvidence(), ColumnEvidence(), ColumnEvidence()
    whole.see(cells)
    backwards.see(cells[::-1])
    for cell in cells:
        one = ColumnEvidence()
        one.see([cell])
        parts |= one
    found = [spelling_of_column(seen).spelling for seen in (whole, backwards, parts)]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    "cells",
    [
        ["1.234,5", "1,234.5"],  # two decimal marks
        ["1,5", "1.5"],
        ["$5", "€6"],
        ["5%", "6"],
        ["12 kg", "13 kg"],
        ["12 kg", "13 g"],
        ["A12", "A13"],
        ["007", "$5"],
        ["1,23,4"],
        ["12.5.2020", "31.2.2020"],
        ["13/5/2020", "5/13/2020"],
        ["10:30", "11:75"],
        ["10:30", "2020-01-01"],
        ["192.168.1.1", "10.0.0.1"],
        ["1-2", "3-4"],
        ["(5", "6)"],
        ["--5", "-(6)"],
        ["yes", "5"],
        ["no", "No"],
        ["y", "maybe", "n"],
        ["1st", "2nd"],
        ["012 345", "067 890"],
        ["1234 5678 9012 3456", "5"],
    ],
)
def test_what_is_not_one_quantity_stays_words(cells: list[str]) -> None:
    seen = ColumnEvidence()
    seen.see(cells, lambda i: f"line {i}")
    assert spelling_of_column(seen).spelling is None


@pytest.mark.parametrize(
    ("cells", "usual", "value"),
    [
        (["1,234", "12,500"], ".", 1234.0),
        (["1,234", "12,500"], ",", 1.234),
        (["1,234", "0,500"], ".", 1.234),  # no group begins with a zero
        (["1,234", "1234,500"], ".", 1.234),
        (["1,234", "12.5"], ",", 1234.0),  # a plain number has a decimal point
        (["1,234", "1,234,567"], ",", 1234.0),
        (["12,34,567.89", "1,234"], ",", 1234.0),  # lakhs
        (["1,234", "7,5 %"], ".", None),
    ],
)
def test_commas_are_what_the_whole_column_makes_them(
    cells: list[str], usual: str, value: float | None
) -> None:
    seen = ColumnEvidence()
    seen.see(cells, lambda i: f"line {i}")
    found = spelling_of_column(seen, usual=UsualMarks(usual, usual)).spelling
    assert (None if found is None else found.value("1,234")) == value


def test_points_are_thousands_where_another_cell_or_column_has_commas() -> None:
    one, other, decimals = ColumnEvidence(), ColumnEvidence(), ColumnEvidence()
    one.see(["1.234", "12.500", "999"])
    other.see(["3,5"])
    decimals.see(["1.5"])
    assert spelling_of_column(one).spelling is None
    assert spelling_of_column(one, usual=UsualMarks.of([one], {";"})).spelling is None
    found = spelling_of_column(one, usual=UsualMarks.of([one, other], {";"}))
    assert found.spelling is not None
    assert found.spelling.value("1.234") == 1234.0
    assert found.whole
    assert "thousands" in found.doubt
    mixed = UsualMarks.of([one, other, decimals], {";"})
    assert spelling_of_column(one, usual=mixed).spelling is None
    joined = spelling_of_column(one | other).spelling
    assert joined is not None
    assert joined.value("1.234") == 1234.0


def test_every_language_says_yes_and_no() -> None:
    for yes, no in PAIRS:
        longest = max(yes, key=len), max(no, key=len)
        assert yes_words(longest) == {longest[0]}
        spelling = Spelling("boolean", yes=longest[0].title(), no=longest[1])
        assert [spelling.value(word) for word in sorted(yes | no)] == [
            float(word in yes) for word in sorted(yes | no)
        ]
        assert spelling.value("perhaps") is None
        assert spelling.written(True) == longest[0].title()


@given(st.text(max_size=30))
def test_any_text_is_a_number_or_none_and_never_not_finite(text: str) -> None:
    found = written_number(text)
    values = () if found is None else (found.point, found.comma)
    assert all(value is None or math.isfinite(value) for value in values)


@given(st.from_regex(r"[1-9][0-9]{0,2}\.[0-9]{3}", fullmatch=True))
def test_thousands_with_points_never_show_a_decimal_point(text: str) -> None:
    assert not shows_point(text)


def test_spellings_come_back_from_files_and_others_are_refused() -> None:
    held = {"a": Spelling("number", ",", "€"), "b": Spelling("boolean", yes="ja", no="nein")}
    assert spellings_from(spellings_to(held)) == held
    assert spellings_to({"a": Spelling("number")}) == {"a": {"kind": "number"}}
    assert spelling_of(SpelledKind(held["a"])) == held["a"]
    for damaged in (
        [], {"a": 1}, {"a": {}}, {"a": {"kind": "word"}}, {"a": {"kind": "number", "decimal": "x"}},
        {"a": {"kind": "boolean"}}, {"a": {"kind": "number", "percent": 1}},
        {1: {"kind": "number"}}, {"a": {"kind": "number", "more": ""}},
        {"a": {"kind": "number", "unit": "k" * 99}},
    ):  # fmt: skip
        with pytest.raises(BadFile):
            spellings_from(damaged)
