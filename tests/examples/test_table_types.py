"""Types that tables come in: which are read, as what, and which are refused with a way out."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from suffice.errors import BadFile, BadRows, NotANumber, NotFinite, SufficeError
from suffice.tables.json import arrays
from suffice.tables.table_file import open_table

if TYPE_CHECKING:
    from pathlib import Path

FORMS = ("parquet", "feather", "stream")
TYPES: dict[str, tuple[pa.Array, str, list[Any]]] = {
    "dictionary": (pa.array(["a", "b", None]).dictionary_encode(), "category", ["a", "b", None]),
    "numbers in a dictionary": (
        pa.DictionaryArray.from_arrays([0, 1, None], pa.array([1.5, 2.5])),
        "number",
        [1.5, 2.5, None],
    ),
    "decimal": (pa.array([Decimal("1.25"), None], pa.decimal128(9, 2)), "number", [1.25, None]),
    "null": (pa.nulls(2), "number", [None, None]),
    "half": (pa.array(np.array([1.5, 2.0], np.float16)), "number", [1.5, 2.0]),
    "times": (pa.array([dt.datetime(1970, 1, 2, 6), None]), "number", [1.25, None]),  # noqa: DTZ001
    "dates": (pa.array([dt.date(1970, 1, 3), None]), "number", [2.0, None]),
    "zones": (pa.array([0, None], pa.timestamp("ms", tz="Asia/Tokyo")), "number", [0.0, None]),
    "times of day": (pa.array([dt.time(7, 30), None]), "number", [7.5, None]),
    "durations": (pa.array([dt.timedelta(days=1), None]), "number", [24.0, None]),
    "coded dates": (
        pa.array([dt.date(1970, 1, 3), None]).dictionary_encode(),
        "number",
        [2.0, None],
    ),
    "truths": (pa.array([True, None, False]), "boolean", [True, None, False]),
    "large text": (pa.array(["x", None], pa.large_string()), "category", ["x", None]),
    "large numbers": (pa.array([2**63, None], pa.uint64()), "number", [2.0**63, None]),
    "beyond the digits of a double": (pa.array([2**53 + 1, None]), "number", [2.0**53, None]),
    "not a number": (pa.array([1.0, float("nan"), None]), "number", [1.0, None, None]),
}
REFUSED = {
    "lists": pa.array([[1], None]),
    "structs": pa.array([{"a": 1}, None]),
    "bytes": pa.array([b"a", None]),
}


def stored(column: pa.Array, form: str, folder: Path) -> Path:
    """Return where a table of this column was written."""
    path = folder / form
    table = pa.table({"first": column, "second": pa.nulls(len(column), pa.float64())})
    if form == "parquet":
        parquet.write_table(table, path)
    elif form == "feather":
        feather.write_feather(table, str(path))
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return path


def cells(path: Path) -> list[Any]:
    found = [c for chunk in open_table(path).chunks(["first"]) for c in chunk.column(0).tolist()]
    return [None if isinstance(c, float) and np.isnan(c) else c for c in found]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", TYPES)
def test_columns_are_read_as_what_they_hold(name: str, form: str, tmp_path: Path) -> None:
    column, kind, expected = TYPES[name]
    path = stored(column, form, tmp_path)
    assert open_table(path).kinds()[0] == kind
    assert cells(path) == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", REFUSED)
def test_columns_that_are_neither_numbers_nor_categories_are_named(
    name: str, form: str, tmp_path: Path
) -> None:
    path = stored(REFUSED[name], form, tmp_path)
    with pytest.raises(NotANumber, match=r"first: a column of type .* holds neither") as told:
        cells(path)
    assert "--drop" in told.value.hint
    assert next(open_table(path).chunks(["second"])).size == 2  # the others can be read


@pytest.mark.parametrize("form", FORMS)
def test_an_infinite_cell_is_refused_by_its_row(form: str, tmp_path: Path) -> None:
    path = stored(pa.array([1.0, 2.0, float("-inf")]), form, tmp_path)
    with pytest.raises(NotFinite, match="row 3, first: -inf is not a finite number"):
        cells(path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_file_that_is_cut_short_is_refused(form: str, share: float, tmp_path: Path) -> None:
    path = stored(pa.array(np.random.default_rng(0).normal(size=9_000)), form, tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(BadFile, match="cannot be read") as told:
        cells(path)
    assert "incomplete or damaged" in told.value.hint


def test_a_damaged_page_is_refused_by_its_place(tmp_path: Path) -> None:
    path = stored(pa.array(np.arange(9_000.0)), "parquet", tmp_path)
    content = bytearray(path.read_bytes())
    content[200:400] = b"\xff" * 200
    path.write_bytes(content)
    with pytest.raises(BadFile, match="cannot be read beyond row 0"):
        cells(path)


def test_json_lines_may_mention_what_they_like_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "b": "x"}\n\n{"b": "1", "a": null}\n{"c": true}\n')
    table = open_table(path)
    assert table.names == ("a", "b", "c")
    assert table.kinds() == ("number", "category", "boolean")
    (chunk,) = table.chunks(["b", "c"])
    assert [chunk.column(j).tolist() for j in (0, 1)] == [["x", "1", None], [None, None, True]]
    path.write_text('{"a": ' + "9" * 300 + '}\n{"a": 12345678901234567890}\n')
    assert cells_of_json(path) == ["9" * 300, "12345678901234567890"]  # codes


@pytest.mark.parametrize("array", [False, True])
def test_objects_inside_of_objects_are_columns_with_both_names(array: bool, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": 1, "customer": {"age": 31, "home": {"city": "Ulm {x}"}}, "none": {}},
        {"id": 2, "customer": None},
        {"customer": {"home": {"city": "\u00e4", "zip": "007"}, "age": 2.5}, "id": 3},
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows) if array else "\n".join(map(json.dumps, rows)), "utf-8")
    table = open_table(path)
    assert table.names == (
        "id", "customer.age", "customer.home.city", "customer", "customer.home.zip"
    )  # fmt: skip
    (chunk,) = table.chunks(["customer.age", "customer.home.city", "customer.home.zip"])
    assert chunk.column(0).tolist() == pytest.approx([31.0, np.nan, 2.5], nan_ok=True)
    assert chunk.column(1).tolist() == ["Ulm {x}", None, "ä"]
    theirs = pd.json_normalize(rows)
    assert set(theirs.columns) - {"none"} == set(table.names)


def cells_of_json(path: Path) -> list[Any]:
    return [c for chunk in open_table(path).chunks(["a"]) for c in chunk.column(0).tolist()]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"a": [1]}\n', "line 1, a: a list is not a cell"),
        ('{"a": 1}\n{"a": {"b": [2]}}\n', "line 2, a.b: a list is not a cell"),
        ('{"a": {"b": 1}}\n{"a.b": 1, "a": {"b": 2}}\n', "line 2: the name 'a.b' is repeated"),
        ('{"a": {"b": 1, "b": 2}}\n', "line 1: the name 'b' is repeated"),
        ('{"a":' * 17 + "1" + "}" * 17, "line 1, (a.)+: objects are nested more than 16 deep"),
        ('{"a":' * 9999 + "1" + "}" * 9999, "line 1.* nested (too deeply|more than 16 deep)"),
        ('{"a": 1}\n[2]\n', r"line 2: '\[2\]' is not an object"),
        ('{"a": 1}{"a": 2}\n', "line 1: Extra data"),
        ('{"a": 1}\n{"a": \n', "line 2: Expecting value"),
        ('{"a": 1e999}\n', "line 1, a: inf is not a finite number"),
    ],
)
def test_json_that_is_no_row_is_refused_by_its_line(
    content: str, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    with pytest.raises(BadRows, match=problem):
        list(open_table(path).chunks())


@pytest.mark.parametrize("indent", [None, 1])
def test_a_json_array_of_objects_is_the_table_of_its_lines(
    indent: int | None, tmp_path: Path
) -> None:
    rows = [{"size": i / 4, "word": f"ä{i}\n,]{{", "n": None if i % 3 else i} for i in range(3000)]
    array, lines = tmp_path / "a.json", tmp_path / "a.jsonl"
    array.write_text("\n " + json.dumps(rows, indent=indent) + "\n", "utf-8")
    lines.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    ours, theirs = (open_table(path) for path in (array, lines))
    assert (ours.names, ours.kinds()) == (theirs.names, theirs.kinds())
    for one, other in zip(ours.chunks(), theirs.chunks(), strict=True):
        for j in range(3):
            assert one.column(j).tolist() == pytest.approx(other.column(j).tolist(), nan_ok=True)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[]", "has no columns"),
        ('[{"a": 1} {"a": 2}]', "line 1: .* is not a comma"),
        ('[{"a": 1},\n3]', "line 2: '3]' is not an object"),
        ('[{"a": 1},\n{"a": 2}', "line 2: the array has no end"),
        ('[{"a": 1}]\nmore', "line 2: 'more' comes after the end"),
        ('[{"a": 1},\n\n{"a": tru}]', "line 3: Expecting value"),
        ('[{"a": 1,\n "a": 2}]', "is repeated"),
        ('[{"a": [1]}]', "a list is not a cell"),
        ('[{"a": "\\ud800"}]', "half a character"),
    ],
)
def test_an_array_that_is_no_table_is_refused_by_its_line(
    content: str, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(SufficeError, match=problem):
        list(open_table(path).chunks())


def test_an_object_that_never_ends_is_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "LONGEST_RECORD", 1 << 12)
    monkeypatch.setattr(arrays, "BLOCK", 1 << 10)
    path = tmp_path / "a.json"
    path.write_text('[{"a": "' + "x" * (1 << 20))
    with pytest.raises(BadRows, match="line 1: Unterminated string"):
        open_table(path)
    path.write_text('[{"a": "' + "x" * (1 << 13) + '"}]')
    with pytest.raises(BadRows, match="line 1: Unterminated string"):
        open_table(path)


def test_a_header_longer_than_what_is_looked_at_first_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"a rather long name of column {j}" for j in range(10_000)]
    path.write_text(",".join(names) + "\n" + ",".join(["1"] * 10_000) + "\n")
    table = open_table(path)
    assert table.names == tuple(names)
    assert sum(chunk.size for chunk in table.chunks()) == 1


def test_a_header_with_a_quoted_newline_is_one_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('"first\nname","' + "second\n" * 20_000 + '"\n1,2\n')
    table = open_table(path)
    assert table.names[0] == "first\nname"
    assert next(table.chunks()).size == 1


def test_bytes_that_are_no_text_are_refused_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 70_000 + b"1,\xe9\x81\n" + b"1\n")
    with pytest.raises(BadRows, match="line 70002: the byte 0xe9 is not utf-8"):
        list(open_table(path).chunks(None, ["number", "category"]))
    path.write_bytes(b"a,b\n1\n1,\xe9\x81\n")
    with pytest.raises(BadRows, match=r"line 2: 1 cell\(s\) where the header names 2"):
        list(open_table(path).chunks(None, ["number", "category"]))
