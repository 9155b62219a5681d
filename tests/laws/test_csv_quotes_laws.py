"""Every record of a CSV is read, or the file is refused by the line: quotation marks that stray."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from suffice.errors import SufficeError
from suffice.tables.csv import blocks as csv_blocks
from suffice.tables.csv import table as csv_tables
from suffice.tables.csv.quotes import CheckedQuotes, UnsoundQuotes
from suffice.tables.csv.table import CsvTable
from suffice.tables.table_bytes import TableBytes
from suffice.tables.table_file import open_table

FOLDER = tempfile.TemporaryDirectory()  # goes when the tests end
CELLS = st.one_of(
    st.text('ab1 ,;"\n\r', max_size=6), st.sampled_from(["", "1", "2.5", "x", '"', ",", "\n"])
)


def at(content: bytes, name: str = "a.csv") -> Path:
    path = Path(FOLDER.name) / name
    path.write_bytes(content)
    return path


def as_csv(rows: list[list[str]], delimiter: str, quoting: int, end: str) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(rows)
    return out.getvalue()


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[str]], str, str]:
    """Return rows with a header, the delimiter, and the text that `csv.writer` makes of them."""
    width = draw(st.integers(2, 4))
    row = st.lists(CELLS, min_size=width, max_size=width)
    rows = [[f"c{j}" for j in range(width)], *draw(st.lists(row, min_size=1, max_size=8))]
    delimiter = draw(st.sampled_from(",;"))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    if end == "\n":  # then the writer leaves `\r` without quotation marks, and so it ends a line
        rows = [[cell.replace("\r", "r") for cell in row] for row in rows]
    return rows, delimiter, as_csv(rows, delimiter, quoting, end)


@st.composite
def strays(draw: st.DrawFn) -> tuple[str, str]:
    """Return a text in which one quotation mark is missing or too many, and the delimiter."""
    _, delimiter, text = draw(tables())
    marks = [place for place, letter in enumerate(text) if letter == '"']
    if marks and draw(st.booleans()):
        place = draw(st.sampled_from(marks))
        return text[:place] + text[place + 1 :], delimiter
    place = draw(st.integers(0, len(text)))
    return text[:place] + '"' + text[place:], delimiter


def strictly(text: str, delimiter: str) -> list[list[str]] | None:
    """Return what Python's strict reader reads; None where it refuses, or where rows are ragged.

    Delimiters at the end of a row are nothing: blank cells beyond those of the header.
    """
    try:
        lines = io.StringIO(text, newline="")
        rows = [row for row in csv.reader(lines, delimiter=delimiter, strict=True) if row]
    except csv.Error:
        return None
    width = len(rows[0]) if rows else 0
    rows = [row if any(map(str.strip, row[width:])) else row[:width] for row in rows]
    return rows if {len(row) for row in rows} == {width} else None


def rows_of(table: CsvTable) -> list[list[str]]:
    chunks = list(table.text_chunks(3))
    return [list(table.names)] + [
        list(row) for chunk in chunks for row in zip(*chunk.columns, strict=True)
    ]


def cells_of(path: Path, delimiter: str) -> object:
    """Return everything that is read of a table, or the words in which it is refused."""
    try:
        table = open_table(path, delimiter=delimiter, header=True)
        kinds = table.kinds()
        chunks = list(table.chunks())
    except SufficeError as error:
        return type(error), error.problem
    columns = [np.concatenate([c.column(j) for c in chunks]) for j in range(len(kinds)) if chunks]
    return table.names, kinds, repr([column.tolist() for column in columns])


def read_quickly(path: Path, delimiter: str, block: int) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_tables, "LARGE", 0)
        patch.setattr(csv_tables, "LARGE_PACKED", 0)
        patch.setattr(csv_blocks, "BLOCK", block)
        return cells_of(path, delimiter)


@given(tables())
def test_every_record_that_was_written_is_read_exactly(
    table: tuple[list[list[str]], str, str],
) -> None:
    rows, delimiter, text = table
    path = at(text.encode())
    held = CsvTable(TableBytes(path), delimiter=delimiter, header=True)
    assert rows_of(held) == rows
    whole = cells_of(path, delimiter)
    for block in (48, 4096):
        assert read_quickly(path, delimiter, block) == whole


@given(strays())
@example(('c0,c1\n1,"\n2,x\n', ","))
@example(('c0,c1\n1,"x"y\n2,x\n', ","))
@example(('c0,c1\n1,5" pipe\n2,x\n', ","))
@example(('c0,c1\n1,a"\n"2",x\n', ","))
@example(('c0,c1\n1,"a""\n2,x\n', ","))
@example(('"c0,c1\n1,a\n2,x\n', ","))
@example(('c0;c1\r\n;;\r1";\r\n', ";"))
@example(('c0;c1\r\n;;x\r1";\r\n', ";"))
def test_a_stray_quotation_mark_is_refused_by_line_or_read_as_strictly_as_it_can_be(
    stray: tuple[str, str],
) -> None:
    text, delimiter = stray
    path = at(text.encode())
    expected = strictly(text, delimiter)
    whole = cells_of(path, delimiter)
    assert isinstance(whole, tuple)
    if len(whole) == 2:
        assert re.search(r", line \d+", whole[1]), whole[1]
    else:
        assert expected is not None, "a file that cannot be read strictly was read"
        names = [name.strip() or f"column {j + 1}" for j, name in enumerate(expected[0])]
        found = rows_of(CsvTable(TableBytes(path), delimiter=delimiter, header=True))
        assert found == [names, *expected[1:]]
    assert all(read_quickly(path, delimiter, block) == whole for block in (48, 4096))
    assert cells_of(at(gzip.compress(text.encode())), delimiter) == whole


@given(strays(), st.integers(1, 40))
def test_the_marks_of_large_files_are_judged_alike_however_the_bytes_are_cut(
    stray: tuple[str, str], size: int
) -> None:
    text, delimiter = stray
    checked = CheckedQuotes(
        io.BytesIO(text.encode()), delimiter, text.split("\n")[0].count(",") + 1
    )
    try:
        parts = []
        while part := checked.read(size):
            parts.append(part)
    except UnsoundQuotes:
        with pytest.raises(csv.Error):
            list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    else:
        assert b"".join(parts) == text.encode()
        list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


def numbers(rows: int) -> list[str]:
    return [f"{i},{i % 7}.5,{'ab'[i % 2]}" for i in range(rows)]


@pytest.mark.parametrize("form", ["plain", "gzip", "pipe", "large"])
@pytest.mark.parametrize("cell", ['"a', 'a"b"c', '"'])
def test_a_quotation_mark_that_is_never_closed_loses_no_row(
    form: str, cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = numbers(3000)
    lines[1000] = f"1000,6.5,{cell}"
    content = "\n".join(["x,z,y", *lines, ""]).encode()
    kinds = None
    if form == "pipe":
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        kinds = ["number", "number", "category"]
        table = open_table("-", once=True, expected=["y"])
    else:
        monkeypatch.setattr(csv_tables, "LARGE", 0 if form == "large" else 1 << 40)
        table = open_table(at(gzip.compress(content) if form == "gzip" else content))
    if cell == 'a"b"c':  # a character like any other
        assert sum(chunk.size for chunk in table.chunks(None, kinds)) == 3000
        return
    with pytest.raises(SufficeError, match=r"line 1002: a quotation mark opens here and is never"):
        list(table.chunks(None, kinds))


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("apart", [20, 1000])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_rows_between_two_stray_quotation_marks_are_no_cell(
    large: bool, apart: int, column: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_tables, "LARGE", 0 if large else 1 << 40)
    lines = [line.split(",") for line in numbers(3000)]
    for place in (1000, 1000 + apart):
        lines[place][column] = '"'
    rows = [",".join(line) for line in lines]
    # In any column but the last, what is between them becomes one cell of one row.
    rows[1000] = rows[1000].partition('"')[0] + '"'
    content = "\n".join(["x,z,y", *rows, ""]).encode()
    with pytest.raises(SufficeError, match=r"line 1002: a quotation mark opens"):
        list(open_table(at(content)).chunks())


@pytest.mark.parametrize("large", [False, True])
def test_a_letter_in_a_cell_keeps_its_lines(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_tables, "LARGE", 0 if large else 1 << 40)
    letter = "Dear Ada,\n" + "".join(f"item {i}, box {i}\n" for i in range(400)) + "yours, Bob"
    rows = [["number", "text"], *[[str(i), letter] for i in range(50)]]
    table = open_table(at(as_csv(rows, ",", csv.QUOTE_MINIMAL, "\n").encode()))
    assert [c for chunk in table.chunks() for c in chunk.column(1)] == [letter] * 50


@pytest.mark.slow
def test_a_row_has_no_more_lines_and_characters_than_it_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(csv_tables, "MOST_LINES", 5000)
    for text, most in (("a line\n" * 6000, "5,000 lines"), ("a" * 9_000_000 + "\n", "8,388,608")):
        content = f'x,y\n1,a\n2,"{text}{text}"\n3,b\n'.encode()
        for packed in (bytes, gzip.compress):
            with pytest.raises(SufficeError, match=rf"line 3: .* more than {most}"):
                list(open_table(at(packed(content))).chunks())


def test_nul_is_refused_by_its_line_wherever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (1, 40_000):
        lines = numbers(50_000)
        lines[place] = lines[place].replace(",", "\0,", 1)
        path = at("\n".join(["x,z,y", *lines, ""]).encode())
        for large in (0, 1 << 40):
            monkeypatch.setattr(csv_tables, "LARGE", large)
            with pytest.raises(SufficeError, match=rf"line {place + 2}: .*NUL"):
                list(open_table(path).chunks())
