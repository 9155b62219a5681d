"""Texts that are somewhere else: the same vocabulary and the same IDF as from a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from suffice import TextVectorizer
from suffice.errors import ColumnMismatch, NotANumber

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ["to", "be", "or", "not", "£5", "now!", "naïve", "Bayes"]


def table_of_texts() -> pa.Table:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(0, 9))) for _ in range(500)]
    return pa.table({"id": range(500), "body": [*texts[:-1], None]})


def source_of(kind: str, table: pa.Table, place: Path) -> Any:
    if kind == "parquet":
        parquet.write_table(table, place / "texts.parquet", row_group_size=90)
        return place / "texts.parquet"
    if kind == "csv":
        csv.write_csv(table, place / "texts.csv")
        return str(place / "texts.csv")
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        connection = duckdb.connect()
        connection.register("given", table)
        connection.execute("CREATE TABLE texts AS SELECT * FROM given ORDER BY id")
        return connection.sql("SELECT * FROM texts ORDER BY id")
    if kind == "polars":
        return pytest.importorskip("polars").from_arrow(table).lazy()
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(90))


@pytest.mark.parametrize("hashing", [None, 64])
@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb", "polars", "reader"])
def test_document_counts_are_those_of_the_list(
    kind: str, hashing: int | None, tmp_path: Path
) -> None:
    table = table_of_texts()
    texts = [text or "" for text in table["body"].to_pylist()]
    settings: dict[str, Any] = {"ngrams": (1, 2), "weighting": "tf-idf", "hashing": hashing}
    here = TextVectorizer(**settings).fit(texts)
    there = TextVectorizer(**settings).fit(source_of(kind, table, tmp_path), text="body")
    assert there.statistics_.weight == 500
    np.testing.assert_array_equal(there.idf_, here.idf_)
    found = there.transform(texts[:50]) - here.transform(texts[:50])
    assert abs(found).max() == 0.0
    if hashing is None:
        assert there.vocabulary_.terms == here.vocabulary_.terms


def test_more_texts_of_a_source_are_learned(tmp_path: Path) -> None:
    table = table_of_texts()
    texts = [text or "" for text in table["body"].to_pylist()]
    whole = TextVectorizer().fit(texts)
    path = source_of("parquet", table.slice(200), tmp_path)
    parts = TextVectorizer().partial_fit(texts[:200]).partial_fit(path, text="body")
    assert parts.vocabulary_.terms == whole.vocabulary_.terms
    np.testing.assert_array_equal(parts.statistics_.held, whole.statistics_.held)
    first = TextVectorizer().partial_fit(path, text="body").partial_fit(texts[:200])
    assert first.statistics_.weight == 500


def test_a_column_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = source_of("parquet", table_of_texts(), tmp_path)
    with pytest.raises(ColumnMismatch, match="no column 'subject'"):
        TextVectorizer().fit(path, text="subject")
    with pytest.raises(NotANumber, match="no text"):
        TextVectorizer().fit(path, text="id")
