"""Tables mean the same, however they are written and in however many pieces they are read."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import string
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from suffice.columns.spellings.blank_cells import is_blank
from suffice.errors import BadFile, SufficeError
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.tables import table_file as tables
from suffice.tables.csv import table as csv_tables
from suffice.tables.csv.inert_cells import inert, plain_text
from suffice.tables.table_file import TableFile, open_table

NUMBERS = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**6), 10**6))
WORDS = st.text(string.ascii_letters + " ,;\"'\n\t|äß=+-@", min_size=1, max_size=8)


def is_word(text: str) -> bool:
    """Whether a text is a category by itself: neither blank, nor a number, nor a truth."""
    bare = text.strip()
    try:
        float(bare)
    except ValueError:
        pass
    else:
        return False
    return bool(bare) and not is_blank(text) and bare.lower() not in ("true", "false")


@st.composite
def columns(draw: st.DrawFn, size: int) -> tuple[str, list[Any]]:
    """Return a kind and the cells of such a column; None is blank."""
    kind = draw(st.sampled_from([NUMBER, BOOLEAN, CATEGORY]))
    cell = {
        NUMBER: NUMBERS,
        BOOLEAN: st.booleans(),
        CATEGORY: WORDS.filter(is_word),
    }[kind]
    cells = draw(st.lists(st.none() | cell, min_size=size, max_size=size))
    assume(any(value is not None for value in cells))
    return kind, cells


@st.composite
def frames(draw: st.DrawFn) -> dict[str, tuple[str, list[Any]]]:
    """Return columns by name."""
    size = draw(st.integers(1, 12))
    width = draw(st.integers(2, 5))
    return {f"column_{j}": draw(columns(size)) for j in range(width)}


def as_text(cell: Any) -> str:
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def as_csv(frame: dict[str, tuple[str, list[Any]]], delimiter: str, quoting: int) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting)
    writer.writerow(frame)
    writer.writerows(
        zip(*([as_text(cell) for cell in cells] for _, cells in frame.values()), strict=True)
    )
    return out.getvalue()


FOLDER = tempfile.TemporaryDirectory()  # goes when the tests end


def new_place(name: str) -> Path:
    return Path(tempfile.mkdtemp(dir=FOLDER.name)) / name


def written(content: bytes, name: str) -> Path:
    path = new_place(name)
    path.write_bytes(content)
    return path


def read(table: TableFile) -> dict[str, tuple[str, list[Any]]]:
    """Return everything a table holds, blanks as None."""
    kinds = table.kinds()
    cells: list[list[Any]] = [[] for _ in kinds]
    for chunk in table.chunks():
        assert chunk.kinds == kinds
        for j in range(chunk.width):
            column = chunk.column(j).tolist()
            cells[j] += [None if isinstance(c, float) and np.isnan(c) else c for c in column]
    return {n: (k, c) for n, k, c in zip(table.names, kinds, cells, strict=True)}


def plainly(frame: dict[str, tuple[str, list[Any]]]) -> dict[str, tuple[str, list[Any]]]:
    """Return columns as tables are read: numbers as floats, apostrophes of inert cells gone."""
    found = {}
    for name, (kind, cells) in frame.items():
        if kind == NUMBER:
            found[name] = (kind, [None if c is None else float(c) for c in cells])
        elif kind == CATEGORY:
            found[name] = (kind, [None if c is None else plain_text(c) for c in cells])
        else:
            found[name] = (kind, cells)
    return found


@given(frames(), st.sampled_from(",;\t|"), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_what_was_written_as_csv_is_what_is_read(
    frame: dict[str, tuple[str, list[Any]]], delimiter: str, quoting: int
) -> None:
    text = as_csv(frame, delimiter, quoting)
    table = open_table(written(text.encode(), "a.csv"), delimiter=delimiter, header=True)
    assert read(table) == plainly(frame)


@given(frames())
def test_csv_is_read_as_pandas_reads_it(frame: dict[str, tuple[str, list[Any]]]) -> None:
    assume(
        all(
            not (k == CATEGORY and plainly({n: (k, c)}) != {n: (k, c)})
            for n, (k, c) in frame.items()
        )
    )
    text = as_csv(frame, ",", csv.QUOTE_MINIMAL)
    path = written(text.encode(), "a.csv")
    ours = read(open_table(path, delimiter=",", header=True))
    theirs = pd.read_csv(path, keep_default_na=False, na_values=[""])
    assert list(theirs.columns) == list(ours)
    for name, (kind, cells) in ours.items():
        expected = [None if pd.isna(c) else c for c in theirs[name]]
        if kind == BOOLEAN:
            expected = [None if c is None else bool(c) for c in expected]
        if kind == NUMBER:  # pandas may round in the last digit
            expected = [None if c is None else pytest.approx(float(c), rel=1e-14) for c in expected]
        assert cells == expected


@given(frames(), st.integers(1, 5))
def test_a_table_in_pieces_is_the_table_in_one(
    frame: dict[str, tuple[str, list[Any]]], rows: int
) -> None:
    path = written(as_csv(frame, ",", csv.QUOTE_MINIMAL).encode(), "a.csv")
    whole = read(open_table(path, delimiter=",", header=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "CELLS", rows * len(frame))
        table = open_table(path, delimiter=",", header=True)
        assert table.chunk_size == rows
        assert read(table) == whole


@given(frames(), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), st.booleans())
def test_a_large_file_is_read_like_a_small_one(
    frame: dict[str, tuple[str, list[Any]]], quoting: int, packed: bool
) -> None:
    content = as_csv(frame, ",", quoting).encode()
    path = written(gzip.compress(content) if packed else content, "a.csv")
    small = read(open_table(path, delimiter=",", header=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_tables, "LARGE", 0)
        patch.setattr(csv_tables, "LARGE_PACKED", 0)
        assert read(open_table(path, delimiter=",", header=True)) == small


CELLS = [
    *(
        "1",
        "2.5",
        "1e5",
        "+7",
        " 4 ",
        "1_0",
        "1e400",
        "inf",
        "-Infinity",
        "0x1F",
        "00123",
        ".5",
        "5.",
    ),
    *("9007199254740993", "123456789012345678901234567890", "1,5", "1.234,5", "١٢", "１", "1e-400"),
    *("", " ", "NA", "?", "nan", "-nan", "NULL", "None", "-", "."),
    *(
        "true",
        "FALSE",
        "yes",
        "no",
        "2020-01-31",
        "12:30",
        "red",
        "Größe",
        '"',
        "'=x",
        "''",
        "\ufeff",
    ),
]


@given(st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=3), max_size=6), st.data())
def test_large_and_small_files_are_refused_in_the_same_words(
    rows: list[list[str]], data: st.DataObject
) -> None:
    text = "a,b\n" + "".join(",".join(row) + "\n" for row in rows)
    path = written(text.encode(), "a.csv")
    kinds = data.draw(
        st.lists(st.sampled_from([NUMBER, BOOLEAN, CATEGORY]), min_size=2, max_size=2)
    )

    def outcome() -> object:
        try:
            found = [c.column(j).tolist() for c in table().chunks(None, kinds) for j in (0, 1)]
            return table().kinds(), repr(found)
        except SufficeError as error:
            return type(error), error.problem

    def table() -> TableFile:
        return open_table(path, delimiter=",", header=True)

    small = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_tables, "LARGE", 0)
        assert outcome() == small


@given(
    st.lists(st.lists(st.sampled_from(CELLS), min_size=2, max_size=2), min_size=1, max_size=8),
    st.sampled_from(",;\t|"),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
@example([["1", "1e400"], ["1e400", "1"]], ",", csv.QUOTE_MINIMAL, "\n", False)
def test_kinds_and_cells_are_the_same_for_every_reader_and_every_size_of_chunk(
    rows: list[list[str]], delimiter: str, quoting: int, end: str, marked: bool
) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerows([["first name", "größe"], *rows])
    content = b"\xef\xbb\xbf" * marked + out.getvalue().encode()
    path = written(content, "a.csv")

    def outcome() -> object:
        try:
            return repr(read(open_table(path, delimiter=delimiter, header=True)))
        except SufficeError as error:
            return type(error), error.problem

    whole = outcome()
    for cells in (2, 6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tables, "CELLS", cells)
            assert outcome() == whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_tables, "LARGE", 0)
        assert outcome() == whole


@given(frames(), st.sampled_from(",;\t|"))
def test_names_that_are_expected_tell_the_delimiter(
    frame: dict[str, tuple[str, list[Any]]], delimiter: str
) -> None:
    path = written(as_csv(frame, delimiter, csv.QUOTE_MINIMAL).encode(), "a.csv")
    assert open_table(path, expected=list(frame)).names == tuple(frame)


class Pieces:
    """A pipe whose writer pauses after each piece."""

    def __init__(self, content: bytes, sizes: list[int]) -> None:
        self._rest = content
        self._sizes = iter(sizes)

    def read1(self, most: int) -> bytes:
        size = min(most, next(self._sizes, most))
        given, self._rest = self._rest[:size], self._rest[size:]
        return given

    def waits(self, _: float) -> bool:
        return True


@given(
    frames(),
    st.sampled_from(["csv", "utf-16", "gzip", "bzip2", "xz", "json"]),
    st.lists(st.integers(1, 40), max_size=60),
)
def test_a_pipe_in_any_pieces_is_the_table_in_one(
    frame: dict[str, tuple[str, list[Any]]], form: str, sizes: list[int]
) -> None:
    text = as_csv(frame, ",", csv.QUOTE_MINIMAL)
    if form == "json":
        lines = zip(*(cells for _, cells in frame.values()), strict=True)
        text = "".join(json.dumps(dict(zip(frame, row, strict=True))) + "\n" for row in lines)
    pack = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}.get(form, bytes)
    content = pack(text.encode("utf-16" if form == "utf-16" else "utf-8"))
    whole = read(open_table(written(content, "a.csv"), delimiter=",", header=True))
    kinds = [kind for kind, _ in whole.values()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", SimpleNamespace(buffer=Pieces(content, sizes)))
        table = open_table("-", header=True, expected=list(frame), once=True)
        assert table.names == tuple(frame)
        chunks = list(table.chunks(None, kinds))
    for j, (_, cells) in enumerate(whole.values()):
        found = [cell for chunk in chunks for cell in chunk.column(j).tolist()]
        assert [None if isinstance(c, float) and np.isnan(c) else c for c in found] == cells


@given(frames(), st.sampled_from(["gzip", "bzip2", "xz"]), st.data())
def test_packed_tables_that_are_cut_short_are_refused(
    frame: dict[str, tuple[str, list[Any]]], how: str, data: st.DataObject
) -> None:
    text = as_csv(frame, ",", csv.QUOTE_MINIMAL).encode()
    content = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}[how](text)
    length = data.draw(st.integers(12, len(content) - 1))
    with pytest.raises(BadFile, match=f"the {how} data cannot be decompressed beyond byte"):
        read(open_table(written(content[:length], "a.csv"), delimiter=",", header=True))


@given(frames())
def test_packed_with_a_mark_or_with_other_line_ends_it_is_the_same_table(
    frame: dict[str, tuple[str, list[Any]]],
) -> None:
    assume(not any("\n" in str(c) for _, cells in frame.values() for c in cells))
    text = as_csv(frame, ",", csv.QUOTE_MINIMAL)
    whole = read(open_table(written(text.encode(), "a.csv"), delimiter=",", header=True))
    for content in (
        gzip.compress(text.encode()),
        b"\xef\xbb\xbf" + text.encode(),
        text.replace("\r\n", "\n").encode(),
        text.encode("utf-16"),
        text.encode().rstrip(b"\r\n") if not text.endswith(",\r\n") else text.encode(),
    ):
        assert read(open_table(written(content, "b"), delimiter=",", header=True)) == whole


@given(frames())
def test_json_lines_say_the_same_as_csv(frame: dict[str, tuple[str, list[Any]]]) -> None:
    rows = zip(*(cells for _, cells in frame.values()), strict=True)
    lines = [json.dumps(dict(zip(frame, row, strict=True))) for row in rows]
    found = read(open_table(written("\n".join(lines).encode(), "a.jsonl")))
    expected = {
        name: (kind, [None if c is None else (float(c) if kind == NUMBER else c) for c in cells])
        for name, (kind, cells) in frame.items()
    }
    assert found == expected


@given(frames(), st.sampled_from(["parquet", "feather", "stream"]))
def test_arrow_files_are_read_as_they_are_typed(
    frame: dict[str, tuple[str, list[Any]]], form: str
) -> None:
    types = {NUMBER: pa.float64(), BOOLEAN: pa.bool_(), CATEGORY: pa.string()}
    held = pa.table({name: pa.array(cells, types[kind]) for name, (kind, cells) in frame.items()})
    path = new_place("table")
    if form == "parquet":
        parquet.write_table(held, path, row_group_size=3)
    elif form == "feather":
        feather.write_feather(held, str(path))
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, held.schema) as writer:
            writer.write_table(held, max_chunksize=3)
    expected = {
        name: (kind, [None if c is None else (float(c) if kind == NUMBER else c) for c in cells])
        for name, (kind, cells) in frame.items()
    }
    assert read(open_table(path)) == expected


@given(st.text(max_size=12))
def test_an_inert_text_is_no_formula_and_comes_back(text: str) -> None:
    safe = inert(text)
    assert plain_text(safe) == text
    if len(safe) > 1 and safe[0] in "=+-@\t\r":
        float(safe)  # only numbers may begin so


@given(
    st.lists(st.sampled_from(["1", "2.5", "", "NA", "?", "true", "red", " ", "nan"]), min_size=1)
)
def test_the_kind_of_a_column_does_not_depend_on_the_order_of_its_cells(cells: list[str]) -> None:
    def kind(given: list[str]) -> tuple[str, ...]:
        text = "a,b\n" + "".join(f"{cell},1\n" for cell in given)
        return open_table(written(text.encode(), "a.csv"), header=True).kinds()

    assert kind(cells) == kind(cells[::-1]) == kind(sorted(cells))
