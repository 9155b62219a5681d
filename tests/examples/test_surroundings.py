"""Files in which something stands around the table: the rows are those of the table alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suffice.errors import BadRows, ColumnMismatch
from suffice.tables.csv.surroundings import lines_above, lines_below, rows_under
from suffice.tables.table_file import open_table

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 30
NAMES = ("day", "paid", "kind", "y")
ROWS = [
    (f"2024-01-{1 + i % 28:02d}", f"{i}.5", ("tea", "black coffee")[i % 2], "ab"[i % 3 > 0])
    for i in range(SIZE)
]
ABOVE = {
    "nothing": [],
    "a title": ["Orders of 2024"],
    "names and values": ["Account|12 345", "Period|January", ""],
    "values in all but one": ["Bank|Branch|Town", "||"],
    "comments": ["# exported by a tool, version 3|2", "#"],
}
BELOW = {
    "nothing": [],
    "totals": ["Total|435.5||"],
    "grand total and a remark": ["Grand total:|435.5||", "", "Printed on Monday"],
    "a remark": ["End of the list"],
    "a balance": ["|||", "Balance|12.50|EUR|"],
    "rows counted": ["", "(30 rows)"],
}
UNDER = {"nothing": [], "units": ["date|EUR||"], "two": ["When was it?|How much?|What?|Class?",
                                                         "Q1|Q2|Q3|Q4"]}  # fmt: skip


def file_of(
    folder: Path, above: list[str], under: list[str], below: list[str], delimiter: str,
    ending: str = "\n", encoding: str = "utf-8",
) -> Path:  # fmt: skip
    """Write the table and what stands around it."""
    table = ["|".join(row) for row in (NAMES, *ROWS)]
    lines = [*above, table[0], *under, *table[1:], *below]
    place = folder / "a.csv"
    text = "".join(line.replace("|", delimiter) + ending for line in lines)
    place.write_bytes(text.encode(encoding))
    return place


def cells(path: Path, **how: Any) -> tuple[Any, ...]:
    """Return names, kinds and cells."""
    said: list[str] = []
    table = open_table(path, on_guess=said.append, expected=["y"], **how)
    kinds = table.kinds()
    chunks = list(table.chunks())
    columns = [np.concatenate([chunk.column(j) for chunk in chunks]).tolist() for j in range(4)]
    return table.names, kinds, columns, said


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    return cells(file_of(tmp_path_factory.mktemp("plain"), [], [], [], ","))


@pytest.mark.parametrize("under", UNDER)
@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("above", ABOVE)
def test_the_rows_are_those_of_the_table_alone_and_what_is_left_out_is_said(
    above: str, below: str, under: str, plain: tuple[Any, ...], tmp_path: Path
) -> None:
    delimiter = ",;\t|"[len(above + below + under) % 4]
    given = ABOVE[above], UNDER[under], BELOW[below]
    *found, said = cells(file_of(tmp_path, *given, delimiter))
    assert tuple(found) == plain[:3], said
    assert len(said) >= bool(given[0]) + len(given[1]) + bool(given[2])


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "windows-1252"])
def test_however_lines_end_and_characters_are_written(
    ending: str, encoding: str, plain: tuple[Any, ...], tmp_path: Path
) -> None:
    above, below = ["Umsätze 2024", ""], ["Summe|435.5||"]
    *found, _ = cells(file_of(tmp_path, above, [], below, ";", ending, encoding))
    assert tuple(found) == plain[:3]


@pytest.mark.parametrize("mark", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_first_line_that_names_the_delimiter_is_no_row(
    mark: str, plain: tuple[Any, ...], tmp_path: Path
) -> None:
    *found, said = cells(file_of(tmp_path, [mark], [], [], ";"))
    assert tuple(found) == plain[:3]
    assert said == []


def test_lines_are_counted_from_the_first_of_the_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, ["Orders", "", ""], [], ["a|b|c|d|e"], ",")
    with pytest.raises(BadRows, match=f"line {SIZE + 5}: 5 cell"):
        cells(path)


def test_a_last_row_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, [], [], [], ",")
    for cut in ("2024-01", "some words", "2024-01-05,1.5"):
        whole = path.read_text().rpartition("2024")[0]
        (tmp_path / "b.csv").write_text(whole + cut)
        with pytest.raises(BadRows, match=rf"line {SIZE + 1}: \d cell"):
            cells(tmp_path / "b.csv")


@pytest.mark.parametrize("extra", ["", ";", ";;;"])
def test_blank_cells_at_the_end_of_rows_are_none_and_others_are_refused(
    extra: str, plain: tuple[Any, ...], tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    rows = [";".join(row) for row in (NAMES, *ROWS)]
    for first in (0, 1):  # with the header, or the rows alone
        lines = [*rows[:first], *(row + extra for row in rows[first:])]
        path.write_text("\n".join(lines) + "\n")
        *found, _ = cells(path)
        assert tuple(found) == plain[:3]
        path.write_text("\n".join([*lines[:7], rows[7] + extra + ";x", *lines[8:]]))
        with pytest.raises(BadRows, match="line 8: "):
            cells(path)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a,b\n", "1,2\n", "y,3\n"], ["y"]),  # a cell that says what a column is called
        (["1,2\n", "3,4\n", "5,6\n"], []),
        (["a,b,c\n", "x,1,2,3\n", "y,1,2,3\n", "z,1,2,3\n"], []),  # a name is missing
        (["a\n", "b\n", "1\n"], []),
        (["a,b\n", "1\n", "2,3\n", "4,5\n"], ["b"]),
    ],
)
def test_a_header_in_the_first_line_stays_one(lines: list[str], expected: list[str]) -> None:
    assert lines_above(lines, ",;", expected) == 0


@pytest.mark.parametrize(
    "rows",
    [
        [["refused", "3", "tea"], *([f"{i}", "4", "tea"] for i in range(9))],
        [["low", "x", "tea"], *([f"{i}", "xy"[i % 2], "tea"] for i in range(9))],
        [["kg", "mm", ""], *([f"{i}", f"{i}", ""] for i in range(3))],  # too few to tell
        [["word", "a"], *([f"{i}", f"name {i}"] for i in range(9))],
    ],
)
def test_a_row_of_cells_is_no_second_header(rows: list[list[str]]) -> None:
    assert rows_under(rows, len(rows[0])) == 0


@pytest.mark.parametrize(
    "tail",
    [
        ["a,1,x\n", ",,\n", ",,z\n"],  # rows may be blank but for one cell
        ["Total,1,x\n", "b,2,y\n", "Total,3,\n"],  # a category
        ["a,1,x\n", "b,2,y\n", "Total,,\n"],  # no sums
        ['a,1,"x\n', 'y"\n', "End of it\n"],  # lines of one cell
    ],
)
def test_a_last_row_of_cells_is_no_remark(tail: list[str]) -> None:
    assert lines_below(tail, ",", 3) == (0, [])


def test_who_expects_another_column_is_told_what_the_header_has(tmp_path: Path) -> None:
    path = file_of(tmp_path, ["Account|1", ""], [], [], ",")
    with pytest.raises(ColumnMismatch, match="no column 'z'") as told:
        list(open_table(path, expected=["z"], on_guess=lambda _: None).chunks(["z"]))
    assert "day" in str(told.value.hint)
