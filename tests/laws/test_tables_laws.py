"""Tables mean the same, however they are written and in however many pieces they are read."""

from __future__ import annotations

import csv
import gzip
import io
import json
import string
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from suffice.errors import SufficeError
from suffice.files import csv_tables, tables
from suffice.files.tables import TableFile, open_table
from suffice.files.text_cells import BLANKS, inert, plain_text
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER

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
    return bool(bare) and text not in BLANKS and bare.lower() not in ("true", "false")


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


def written(content: bytes, name: str) -> Path:
    path = Path(tempfile.mkdtemp()) / name
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
    "1",
    "2.5",
    "",
    "NA",
    "?",
    "true",
    "red",
    " ",
    "nan",
    "inf",
    "1e400",
    "+7",
    "1_0",
    '"',
    "'=x",
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
    path = Path(tempfile.mkdtemp()) / "table"
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
