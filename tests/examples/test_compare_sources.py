"""`compare` on rows that are somewhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet

from suffice import compare
from suffice.errors import BadLabels, BadRows, ColumnMismatch
from suffice.sources import open_source
from suffice.sources.samples import first_rows, spread_rows

if TYPE_CHECKING:
    from pathlib import Path

ALONE: Any = {"models": ["gda", "naive-bayes"], "curves": False, "folds": 4}


@pytest.fixture
def rows(tmp_path: Path) -> Any:
    """Return a table, sorted by class, and write it as files."""
    rng = np.random.default_rng(2)
    kind = np.sort(rng.choice(list("abc"), 300))
    x = rng.normal(size=300) + 2.0 * (kind == "b")
    table = pa.table({"x": x, "w": rng.integers(1, 3, 300), "colour": kind[::-1], "kind": kind})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=20)
    csv.write_csv(table, tmp_path / "rows.csv")
    for place in range(3):
        parquet.write_table(table.slice(100 * place, 100), tmp_path / f"part-{place}.parquet")
    return table


def figures(found: Any) -> list[tuple[Any, ...]]:
    """Return what was found, without the seconds."""
    return [row[:-1] for row in found.table.rows]


def test_a_source_is_compared_as_the_rows_it_holds(rows: Any, tmp_path: Path) -> None:
    here = compare(rows.drop_columns(["kind"]), rows["kind"], **ALONE)
    for source in (
        rows,
        tmp_path / "rows.parquet",
        str(tmp_path / "part-*.parquet"),
        [tmp_path / f"part-{place}.parquet" for place in range(3)],
        tmp_path / "rows.csv",
        pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches()),
    ):
        there = compare(source, target="kind", **ALONE)
        assert figures(there) == figures(here)
        assert there.notes == here.notes


def test_weights_may_be_a_column(rows: Any, tmp_path: Path) -> None:
    others, weights = rows.drop_columns(["kind", "w"]), rows["w"].to_numpy()
    here = compare(others, rows["kind"], sample_weight=weights, **ALONE)
    there = compare(tmp_path / "rows.parquet", target="kind", sample_weight="w", **ALONE)
    assert figures(there) == figures(here)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "part-*.parquet"])
def test_of_a_large_source_rows_are_drawn_from_all_over_it(
    name: str, rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.evaluation.labelled_rows.MOST_CELLS", 4 * 150)
    monkeypatch.setattr("suffice.sources.local.CELLS", 40)
    found = compare(str(tmp_path / name), target="kind", **ALONE)
    assert found.rows.classes.tolist() == ["a", "b", "c"]
    assert 30 <= len(found.rows) <= 160
    said = [text for text in found.notes if "a random sample, were compared" in text]
    assert len(said) == 1
    assert said[0].startswith(f"{len(found.rows)} ")


def test_what_cannot_be_compared_is_refused(rows: Any, tmp_path: Path) -> None:
    place = tmp_path / "rows.csv"
    with pytest.raises(BadLabels, match="no target is named"):
        compare(place)
    with pytest.raises(BadLabels, match="given twice"):
        compare(rows, rows["kind"], target="kind")
    with pytest.raises(ColumnMismatch, match="has no column 'kin'"):
        compare(place, target="kin")
    (tmp_path / "none.csv").write_text("x,kind\n")
    with pytest.raises(BadRows, match="has no rows"):
        compare(tmp_path / "none.csv", target="kind")
    with pytest.raises(ValueError, match="y"):
        compare(np.zeros((3, 2)))


@given(
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=20),
    most=st.integers(1, 60),
    seed=st.integers(0, 9),
)
def test_all_rows_are_taken_where_they_fit_and_no_more_where_not(
    sizes: list[int], most: int, seed: int
) -> None:
    total = sum(sizes)
    cells = iter(range(total))
    batches = [pa.record_batch({"x": [next(cells) for _ in range(size)]}) for size in sizes]
    batches = [batch.cast(pa.schema({"x": pa.int64()})) for batch in batches]
    source = open_source(pa.Table.from_batches(batches))
    wanted = source.wanted(names=("x",))
    for found, whole in (
        spread_rows(source, wanted, most, seed),
        first_rows(source, wanted, most),  # type: ignore[arg-type]
    ):
        assert whole == (total <= most)
        held = [] if found is None else found.table.column(0).tolist()
        assert held == sorted(set(held))
        assert set(held) <= set(range(total))
        if whole:
            assert len(held) == total
    few, _ = spread_rows(source, wanted, most, seed)
    assert few is None or few.table.size <= most
