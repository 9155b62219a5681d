"""Tables that are damaged, hostile or out of all bounds: refused in words, with little memory."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tempfile
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import suffice
from suffice.errors import BadFile, BadRows, NotANumber
from suffice.sources import open_source
from suffice.tables.allowances import MOST_COLUMNS
from suffice.tables.csv import table as csv_tables
from suffice.tables.json import lines as json_tables
from suffice.tables.table_file import open_table
from tests.reference.damaged_tables import FORMATS, READ, arrow_columns, seeds, tally
from tests.searches import quick

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.process
@pytest.mark.slow
def test_damaged_tables_are_read_or_refused_and_nothing_else() -> None:
    """No signal, no other error, no hang, no gigabyte; benchmarks.evidence tries 40,000."""
    with tempfile.TemporaryDirectory() as folder:
        found = tally(range(300), Path(folder))
    assert not found.wrong
    assert found.found[READ]
    assert sum(found.found.values()) == 300


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_tables_are_read_while_they_are_sound(form: str, tmp_path: Path) -> None:
    for content in dict.fromkeys(seeds(form)):
        path = tmp_path / "table"
        path.write_bytes(content)
        table = open_table(path)
        assert table.names[:5] == ("x", "n", "word", "truth", "y")
        assert sum(chunk.size for chunk in table.chunks(list(table.names[:5]))) == 60


def changed_string(make: Callable[..., Any]) -> bytes:
    out = io.BytesIO()
    table = pa.table({"x": [1.0, 2.0], "w": ["abcabc", "d"], "y": ["a", "b"]})
    if make is parquet.write_table:
        make(table, out, compression="none", use_dictionary=False, write_statistics=False)
    else:
        with make(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue().replace(b"abcabc", b"ab\xff\xffbc")


@pytest.mark.parametrize("make", [ipc.new_file, ipc.new_stream, parquet.write_table])
def test_text_that_is_no_utf_8_is_refused(make: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(changed_string(make))
    with pytest.raises(BadFile, match=r"table cannot be read.*(UTF-8|UTF8)"):
        list(open_table(path).chunks())
    with pytest.raises(BadFile, match=r"table cannot be read.*(UTF-8|UTF8)"):
        suffice.collect(suffice.NaiveBayes(), str(path), "y")


def test_indices_beyond_their_dictionary_are_refused(tmp_path: Path) -> None:
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 7], pa.int8()), ["u", "v"], safe=False)
    batch = pa.record_batch({"x": pa.array([1.0, 2.0, 3.0]), "w": coded})
    path = tmp_path / "a.arrow"
    with ipc.new_file(str(path), batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(BadFile, match="cannot be read beyond row 0"):
        list(open_table(path).chunks())
    assert next(open_table(path).chunks(["x"])).size == 3  # what nobody asks for is left alone


def test_arrow_data_handed_over_whose_buffers_are_too_short_are_refused() -> None:
    out = io.BytesIO()
    sound = pa.table({"w": ["abcabc", "d"], "y": ["a", "b"]})
    with ipc.new_file(out, sound.schema) as writer:
        writer.write_table(sound)
    ends = np.array([0, 6, 7], np.int32).tobytes()
    wrong = np.array([0, 6, 1 << 30], np.int32).tobytes()
    table = ipc.open_file(out.getvalue().replace(ends, wrong)).read_all()
    with pytest.raises(BadFile, match="the table cannot be read"):
        suffice.collect(suffice.NaiveBayes(), table, "y")


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "stream", "json"])
def test_columns_of_one_name_are_named(form: str, tmp_path: Path) -> None:
    table = pa.table([[1.0, 2.0], [3.0, 4.0], ["a", "b"]], names=["x", "x", "y"])
    path = tmp_path / "table"
    if form == "csv":
        path.write_text("x,x,y\n1,3,a\n2,4,b\n")
    elif form == "json":
        path.write_text('{"x": 1, "y": "a"}\n{"x": 2, "y": "b", "x": 4}\n')
    elif form == "parquet":
        parquet.write_table(table, path)
    else:
        make = ipc.new_file if form == "arrow" else ipc.new_stream
        with make(str(path), table.schema) as writer:
            writer.write_table(table)
    words = r"line 2: the name 'x' is repeated" if form == "json" else r"more than one .* named x"
    with pytest.raises(BadRows, match=words):
        suffice.collect(suffice.NaiveBayes(), str(path), "y")


def test_columns_of_one_name_are_named_in_memory_as_well() -> None:
    table = pa.table([[1.0, 2.0], [3.0, 4.0], ["a", "b"]], names=["x", "x", "y"])
    with pytest.raises(BadRows, match="the table: more than one column is named x"):
        open_source(table)


@pytest.mark.parametrize("form", ["csv", "arrow", "json"])
def test_a_table_has_no_more_columns_than_are_read(form: str, tmp_path: Path) -> None:
    names = [f"g{j}" for j in range(MOST_COLUMNS + 1)]
    path = tmp_path / "table"
    if form == "csv":
        path.write_text(",".join(names) + "\n" + "1," * MOST_COLUMNS + "2\n")
    elif form == "json":
        path.write_text(json.dumps(dict.fromkeys(names, 1)) + "\n")
    else:
        schema = pa.schema([(name, pa.int8()) for name in names])
        with ipc.new_stream(str(path), schema):
            pass
    with pytest.raises(BadRows, match="65,537 columns, and at most 65,536 are read"):
        open_source(str(path))


@pytest.mark.slow
def test_twenty_thousand_genes_are_read(tmp_path: Path) -> None:
    names = [f"gene {j}" for j in range(20_000)]
    path = tmp_path / "genes.csv"
    rows = "".join("0.5," * 20_000 + f"{label}\n" for label in "abab")
    path.write_text(",".join(names) + ",y\n" + rows)
    found = suffice.collect(suffice.NaiveBayes(families="gaussian"), str(path), "y")
    assert found.weight == 4.0


def test_a_million_commas_are_refused_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "commas.csv"
    path.write_bytes(b"," * 1_000_000 + b"\n" + b"," * 1_000_000 + b"\n")
    with pytest.raises(BadRows, match=r"1,000,001 columns, and at most 65,536 are read|line 1"):
        open_table(path)


PACKED = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
"""Of several files in one, each of them is read."""


@pytest.mark.parametrize("how", quick(PACKED, *list(PACKED)[:1]))
@pytest.mark.parametrize("long", ["line", "cell", "json"])
def test_a_small_packed_file_takes_little_memory(how: str, long: str, tmp_path: Path) -> None:
    start = {"line": b"x,y\n1,a\n2,", "cell": b'x,y\n1,a\n2,"', "json": b'{"x": 1}\n{"x": "'}[long]
    fill = b"some text\n" if long == "cell" else b"some text "
    path = tmp_path / "table"
    path.write_bytes(PACKED[how](start) + PACKED[how](fill * 50_000) * 100)
    assert path.stat().st_size < 500_000
    tracemalloc.start()
    try:
        with pytest.raises(BadRows, match=r"line [23]: .* more than (8,388,608|100,000) "):
            list(open_table(path, delimiter=",").chunks())
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


def test_xz_that_asks_for_much_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 28}]
    path.write_bytes(lzma.compress(b"x,y\n1,a\n", filters=filters))
    with pytest.raises(BadFile, match=r"the xz data cannot be decompressed .*[Mm]emory"):
        open_table(path)


def test_long_rows_come_fewer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(b"x,y\n" + (b"a" * 1_000_000 + b",b\n") * 50)
    sizes = [chunk.size for chunk in open_table(path).chunks(None, ["category", "category"])]
    assert sum(sizes) == 50
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_tables, "LARGE", 1 << 40)
        sizes = [chunk.size for chunk in open_table(path).chunks(None, ["category", "category"])]
    assert sum(sizes) == 50
    assert max(sizes) <= 40


class Largest(int):
    """The larger of two numbers, where others would be added."""

    def __add__(self, other: int) -> Largest:
        return Largest(max(self, other))


def test_a_text_that_rows_mean_by_a_code_takes_its_memory_once(tmp_path: Path) -> None:
    words = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), ["z" * 20_000])
    table = pa.table({"w": words, "y": pa.array(["a", "b"] * 5_000)})
    path = tmp_path / "a.parquet"
    for held in (table, table.set_column(0, "w", words.cast("large_string"))):
        parquet.write_table(held, path)
        tracemalloc.start()
        source = open_source(str(path))
        most = source.collect(lambda _: Largest(pa.total_allocated_bytes()), source.wanted("y"))
        python = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most is not None
        assert most < 250e6  # `held` is there too, and has 200 MB
        assert python < 100e6


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"a": ' + "[" * 50_000 + "]" * 50_000 + "}", "nested too deeply"),
        ('{"a": "\\ud800"}', "half a character"),
        ('{"a": 1, "b": 2, "a": 3}', "the name 'a' is repeated"),
        ('{"a": 1e999}', "not a finite number"),
    ],
)
def test_json_that_means_nothing_certain_is_refused_by_its_line(
    line: str, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "b": 1}\n' + line + "\n")
    with pytest.raises(BadRows, match=f"line 2.*{problem}"):
        list(open_table(path).chunks())


def test_json_whose_every_row_has_other_names_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"k{i}": 1}}\n' for i in range(1_200)))
    assert len(open_table(path).names) == 1_200
    monkeypatch.setattr(json_tables, "MANY_CELLS", 1_000_000)
    with pytest.raises(BadRows, match="1,200 rows mention 1,200 names"):
        open_table(path)


@pytest.mark.parametrize("kind", ["run-end", "view", "large", "dictionary", "extension"])
def test_rarer_types_of_arrow_are_read_or_refused_by_name(kind: str, tmp_path: Path) -> None:
    table = arrow_columns(kind)
    path = tmp_path / "a.arrow"
    with ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    chunks = open_table(path).chunks(["rare"])
    if kind == "extension":
        with pytest.raises(NotANumber, match=r"rare: a column of type .* holds neither"):
            next(chunks)
    else:
        found = [cell for chunk in chunks for cell in chunk.column(0)]
        assert found == [cell or None for cell in table["rare"].to_pylist()]
