"""Small tables that mean very much are refused before memory is taken; honest ones are read."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import suffice
from suffice.cli import main
from suffice.errors import BadFile, BadRows
from suffice.rows import category_codes as levels
from suffice.sources import open_source
from suffice.tables import allowances
from suffice.tables import byte_streams as packed_bytes
from suffice.tables.table_file import open_table
from tests.reference.damaged_tables import READ, REFUSED, SECONDS
from tests.reference.table_bombs import MOST, _replaced, _run_end, _views, arrow_file, outcome
from tests.searches import quick

if TYPE_CHECKING:
    from pathlib import Path

MAIL = "Dear all, "
FEW = [
    "arrow file zstd numbers",
    "arrow stream plain nulls",
    "parquet zstd front coded",
    "parquet snappy one word",
    "json gz letters a",
]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("kind", FEW)
def test_a_bomb_takes_less_than_a_gigabyte(kind: str, tmp_path: Path) -> None:
    """benchmarks.evidence tries all kinds, in three ways."""
    word, seconds, megabytes = outcome(kind, tmp_path, "collect")
    assert word.split()[0] in (READ, REFUSED)
    assert megabytes < MOST
    assert seconds < SECONDS


def rows_of(path: Path) -> int:
    table = open_table(path)
    by_table = sum(chunk.size for chunk in table.chunks())
    source = open_source(str(path))
    wanted = source.wanted("y")
    by_source = sum(c.table.size for part in source.parts(wanted) for c in part())
    assert by_table == by_source
    return by_table


def refused(path: Path, words: str) -> None:
    with pytest.raises((BadFile, BadRows), match=words):
        list(open_table(path).chunks())
    source = open_source(str(path))
    with pytest.raises((BadFile, BadRows), match=words):
        [c for part in source.parts(source.wanted("y")) for c in part()]


def batch(**columns: Any) -> Any:
    return pa.record_batch(columns)


def test_what_a_batch_unpacks_to_is_named_with_its_limit(tmp_path: Path) -> None:
    rows = 20_000_000
    path = tmp_path / "a.arrow"
    held = batch(x=pa.array(np.zeros(rows)), y=pa.array(np.zeros(rows, np.int8)))
    for form in ("file", "stream"):
        path.write_bytes(arrow_file([held], "zstd", form))
        refused(path, r"a\.arrow, batch 0: .* unpack to 1[68]\d,\d{3},\d{3} .* at most 134,217,728")


def test_dictionaries_that_grow_are_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowances, "AT_ONCE", 1_000_000)
    path = tmp_path / "a.arrow"
    words = [f"{i:04d}" + "a" * 100_000 for i in range(20)]
    grown = [
        batch(
            w=pa.DictionaryArray.from_arrays(pa.array([i], pa.int32()), words[: i + 1]),
            y=pa.array(["a"]),
        )
        for i in range(20)
    ]
    path.write_bytes(arrow_file(grown, "zstd", "stream"))
    refused(path, "dictionary 0: .* and at most 1,000,000 are read")
    path.write_bytes(arrow_file(_replaced(8, 100_000), "zstd", "stream"))
    assert rows_of(path) == 32  # one of them at a time


@pytest.mark.parametrize("form", ["file", "stream"])
def test_rows_that_take_no_bytes_are_counted(form: str, tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    path.write_bytes(
        arrow_file([batch(x=pa.nulls((1 << 31) - 1), y=pa.nulls((1 << 31) - 1))], None, form)
    )
    refused(path, "batch 0: 4,294,967,294 cells in .* and at most 50,000,000 are read")
    runs = batch(x=_run_end(1 << 30, 1.5), y=_run_end(1 << 30, "a"))
    path.write_bytes(arrow_file([runs], None, form))
    refused(path, "batch 0: 2,147,483,648 cells in")


def test_texts_that_share_their_bytes_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    path.write_bytes(arrow_file([batch(w=_views(100, 1 << 20), y=_run_end(100, "a"))], None))
    sizes = [chunk.size for chunk in open_table(path).chunks(["w"])]
    assert sum(sizes) == 100
    assert max(sizes) <= 32
    path.write_bytes(arrow_file([batch(w=_views(2_000, 1 << 20), y=_run_end(2_000, "a"))], None))
    refused(path, r"batch 0, w: .* unpack to 2,09\d,\d{3},\d{3} and more, and at most 1,08")
    path.write_bytes(
        arrow_file([batch(w=_run_end(70_000, "a" * 5_000), y=_run_end(70_000, "a"))], None)
    )
    assert rows_of(path) == 70_000


def test_a_text_has_an_end(tmp_path: Path) -> None:
    texts = pa.array(["a" * (allowances.LONGEST_CELL + 1), "b"])
    path = tmp_path / "a.arrow"
    path.write_bytes(arrow_file([batch(w=texts, y=pa.array(["a", "b"]))], None))
    refused(path, "w: a text has 33,554,433 bytes, and at most 33,554,432 are allowed")
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"w": texts, "y": ["a", "b"]}), path, compression="none")
    refused(path, "w: a text has 33,554,433 bytes, and at most 33,554,432 are allowed")


def test_words_of_many_small_row_groups_are_not_read_all_at_once(tmp_path: Path) -> None:
    """Each row group by itself has few texts; they are read together."""
    path, size, groups = tmp_path / "a.parquet", 30_000, 40
    words = [str(i % 10) * size for i in range(groups)]
    table = pa.table({"w": np.repeat(words, 100).tolist(), "y": ["a", "b"] * (50 * groups)})
    parquet.write_table(table, path, row_group_size=100)
    source = open_source(str(path))
    chunks = [chunk for part in source.parts(source.wanted("y")) for chunk in part()]
    assert sum(chunk.table.size for chunk in chunks) == 100 * groups
    assert max(chunk.table.size for chunk in chunks) <= allowances.MUCH_TEXT // size


@pytest.mark.parametrize("how", ["zstd", "gzip", "brotli"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_are_asked_and_not_the_end_of_the_file(
    how: str, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.tables.parquet_pages.AT_ONCE", 1 << 20)
    monkeypatch.setattr(allowances, "AT_ONCE", 1 << 20)
    path = tmp_path / "a.parquet"
    held = pa.table({"w": ["a" * 10_000 + str(i) for i in range(500)], "y": ["a", "b"] * 250})
    parquet.write_table(
        held, path, compression=how, use_dictionary=False, data_page_version=version
    )
    refused(
        path, r"row group 0: .* bytes unpack to 5,0\d\d,\d{3} at a time, and at most 1,048,576 are"
    )


@pytest.mark.slow
def test_levels_that_are_long_texts_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "LEVEL_MEMORY", 100_000)
    path = tmp_path / "a.csv"
    path.write_text("w,y\n" + "".join(f"{i}{'a' * 10_000},{'ab'[i % 2]}\n" for i in range(20)))
    with pytest.raises(BadRows, match=r"different levels are texts of .* at most 100,000 are"):
        suffice.collect(suffice.NaiveBayes(families="categorical"), str(path), "y")


@pytest.mark.slow
def test_packed_text_that_is_all_the_same_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bz2

    monkeypatch.setattr(packed_bytes, "FEW", 1 << 18)
    path = tmp_path / "a.csv.bz2"
    path.write_bytes(bz2.compress(b"x,y\n" + b"0,a\n" * 80_000))
    with pytest.raises(BadFile, match=r"bytes of bzip2 data hold more than .* and at most"):
        list(open_table(path).chunks())
    path = tmp_path / "a.csv.gz"  # as sparse as gzip can be
    path.write_bytes(gzip.compress(b"x,y\n" + b"0,a\n" * 80_000))
    assert sum(chunk.size for chunk in open_table(path).chunks()) == 80_000


def honest_tables() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    words = np.array([f"word{i} " for i in range(5_000)])
    mails = ["".join(words[rng.integers(5_000, size=12_000)]) for _ in range(40)]  # 100 kB each
    wide = {f"x{j}": rng.normal(size=300) for j in range(800)}
    long = {f"x{j}": rng.integers(0, 3, size=20_000).astype(float) for j in range(50)}
    return {
        "mails": pa.table({"w": mails, "y": ["a", "b"] * 20}),
        "wide": pa.table({**wide, "y": ["a", "b", "c"] * 100}),
        "long": pa.table({**long, "y": pa.array(["a", "b"] * 10_000)}),
    }


@pytest.mark.slow
def test_honest_tables_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With much lower limits, so that they are large."""
    monkeypatch.setattr("suffice.tables.parquet_pages.AT_ONCE", 1 << 20)
    monkeypatch.setattr(allowances, "AT_ONCE", 1 << 20)
    monkeypatch.setattr(allowances, "IN_ALL", 1 << 20)
    monkeypatch.setattr(allowances, "FEW_CELLS", 1_000)
    monkeypatch.setattr(packed_bytes, "FEW", 1 << 10)
    tables = honest_tables()
    for name, table in tables.items():
        for form in ("file", "stream"):
            for how in (None, "lz4", "zstd"):
                path = tmp_path / f"{name}.arrow"
                path.write_bytes(arrow_file(table.combine_chunks().to_batches(), how, form))
                assert rows_of(path) == table.num_rows
        for how in ("none", "snappy", "zstd", "gzip"):
            path = tmp_path / f"{name}.parquet"
            level = 1 if how == "gzip" else None  # its higher ones take most of the time
            parquet.write_table(table, path, compression=how, compression_level=level)
            assert rows_of(path) == table.num_rows
    mails = tables["mails"].to_pylist()
    path = tmp_path / "mails.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in mails).encode(), 1))
    assert rows_of(path) == 40


def test_arrow_files_give_the_same_cells_whatever_is_read_of_them(tmp_path: Path) -> None:
    """Messages are handed on one by one, dictionaries first, also of a file with deltas."""
    rng = np.random.default_rng(5)
    words = [f"w{i}" for i in range(50)]
    batches = [
        batch(
            n=pa.array(rng.normal(size=30)),
            w=pa.DictionaryArray.from_arrays(rng.integers(0, k, 30).astype(np.int32), words[:k]),
            t=pa.array([None if i % 5 == 0 else words[i] for i in rng.integers(0, 50, 30)]),
            y=pa.array(["a", ""] * 15),
        )
        for k in (10, 20, 50)
    ]
    for form in ("file", "stream"):
        for how in (None, "lz4", "zstd"):
            path = tmp_path / "a.arrow"
            path.write_bytes(arrow_file(batches, how, form))
            whole = pa.Table.from_batches(
                [b.set_column(1, "w", b["w"].cast("string")) for b in batches]
            )
            for names in (["w"], ["y", "n"], ["t", "w", "n", "y"]):
                chunks = list(open_table(path).chunks(names))
                for j, name in enumerate(names):
                    found = [cell for chunk in chunks for cell in chunk.column(j).tolist()]
                    assert found == [cell or None for cell in whole[name].to_pylist()]


@pytest.mark.slow
def test_a_file_cut_before_its_footer_is_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    table = pa.table({"x": [1.0, 2.0], "y": ["a", "b"]})
    with ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    path = tmp_path / "a.arrow"
    for cut in range(9, len(out.getvalue())):
        path.write_bytes(out.getvalue()[:cut])
        with pytest.raises(BadFile, match="cannot be read"):
            open_table(path)


@pytest.mark.parametrize("form", quick(["csv", "csv.gz", "jsonl", "parquet", "arrow"], "parquet"))
@pytest.mark.parametrize("model", quick(["gda", "naive-bayes", "text"], "naive-bayes"))
def test_mails_in_a_column_are_what_they_were(
    form: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Limits of levels and of long texts are for small files that mean much, and for categories."""
    monkeypatch.setattr(levels, "LEVEL_MEMORY", 100_000)
    monkeypatch.setattr("suffice.sources.local.HELD_TEXT", 100_000)
    rng = np.random.default_rng(7)
    words = np.array([f"word{i} " for i in range(500)])
    mails = ["".join(words[rng.integers(500, size=500)]).strip() for _ in range(120)]
    columns = {"w": mails, "x": rng.normal(size=120), "y": ["ham", "spam"] * 60}
    path = tmp_path / f"mails.{form}"
    rows = list(zip(*columns.values(), strict=True))
    if form.startswith("csv"):
        text = ("w,x,y\n" + "".join(f"{w},{x},{y}\n" for w, x, y in rows)).encode()
        path.write_bytes(gzip.compress(text) if form.endswith("gz") else text)
    elif form == "jsonl":
        path.write_text("".join(json.dumps({"w": w, "x": x, "y": y}) + "\n" for w, x, y in rows))
    elif form == "parquet":
        parquet.write_table(pa.table(columns), path)
    else:
        path.write_bytes(arrow_file(pa.table(columns).to_batches(), "zstd"))
    drop = ["--drop", "x"] if model == "text" else []
    out = tmp_path / "model.suffice"
    assert main(["fit", str(path), "-t", "y", "--model", model, *drop, "-o", str(out)]) == 0
    source = open_source(str(path))
    held = source.some(source.wanted("y"), 10_000)  # what a schema is made of
    assert held is not None
    assert held.table.column(0).tolist() == mails


def test_long_texts_of_a_small_file_are_not_held_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.sources.local.HELD_TEXT", 100_000)
    text = "w,y\n" + "".join(f"{'a' * 10_000}{i},{'ab'[i % 2]}\n" for i in range(120))
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    source = open_source(str(path))
    with pytest.raises(BadRows, match=r"w: long texts, .* and at most 1\d\d,\d{3} are held"):
        source.some(source.wanted("y"), 10_000)
    path = tmp_path / "a.csv"
    path.write_text(text)  # as many bytes as it takes
    source = open_source(str(path))
    held = source.some(source.wanted("y"), 10_000)
    assert held is not None
    assert held.table.size == 120
