"""Parquet files of numbers: columns where they lie, row groups together, the same statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from suffice import GaussianDiscriminant, NaiveBayes, collect
from suffice.errors import BadRows
from suffice.families import Gaussian
from suffice.kernels.compilation import WORTH_COMPILING
from suffice.models import GaussianLearner
from suffice.sources import local, open_source
from suffice.sources.chunks import ColumnTable
from suffice.sources.source import Wanted
from tests.engines.alike import assert_alike

if TYPE_CHECKING:
    from pathlib import Path

WIDTH = 10
ROWS = WORTH_COMPILING // WIDTH + 3_000
NAMES = [f"x{j}" for j in range(WIDTH)]


def rows_of(classes: int, dtype: Any, *, holes: bool = False) -> tuple[Any, Any]:
    """Return rows far from zero, classes of which the last is rare, and a few empty cells."""
    rng = np.random.default_rng(classes)
    labels = np.minimum(rng.geometric(0.4, ROWS) - 1, classes - 1).astype(np.int32)
    rows = (rng.normal(size=(ROWS, WIDTH)) + 100.0 + labels[:, np.newaxis]).astype(dtype)
    if holes:
        rows[rng.integers(0, ROWS, 40), 3] = np.nan
    return rows, labels


def written(path: Path, rows: Any, labels: Any, group: int, **more: Any) -> Path:
    columns = {name: rows[:, j] for j, name in enumerate(NAMES)}
    parquet.write_table(pa.table({**columns, "y": labels, **more}), path, row_group_size=group)
    return path


@pytest.mark.parametrize(
    ("form", "classes", "dtype", "holes"),
    [
        ("shared", 3, np.float32, False),
        ("shared", 2, np.float64, False),
        ("shared", 9, np.float32, False),
        ("shared", 3, np.float32, True),
        ("per-class", 3, np.float32, False),
        ("diagonal", 3, np.float32, True),
    ],
)
@pytest.mark.slow
def test_a_file_of_numbers_gives_what_the_array_gives(
    tmp_path: Path, form: str, classes: int, dtype: Any, holes: bool
) -> None:
    rows, labels = rows_of(classes, dtype, holes=holes)
    path = written(tmp_path / "a.parquet", rows, labels, 30_000)
    here = GaussianLearner(Gaussian(form)).summarize(rows, labels, range(classes))
    assert_alike(collect(GaussianDiscriminant(form), path, "y"), here)


def test_weights_are_a_column_beside_columns_of_numbers(tmp_path: Path) -> None:
    rows, labels = rows_of(3, np.float32)
    weights = np.random.default_rng(1).integers(0, 3, ROWS).astype(float)
    path = written(tmp_path / "a.parquet", rows, labels, 30_000, w=weights)
    here = GaussianLearner(Gaussian("shared")).summarize(rows, labels, range(3), weights)
    assert_alike(collect(GaussianDiscriminant(), path, "y", weight="w"), here)


@pytest.mark.parametrize("group", [7_000, ROWS])
def test_the_number_of_threads_changes_no_bit(
    tmp_path: Path, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "CELLS", 100_000)
    path = written(tmp_path / "a.parquet", *rows_of(3, np.float32), group)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("SUFFICE_THREADS", threads)
        found.append(collect(GaussianDiscriminant(), path, "y").to_arrays())
    assert all(np.array_equal(found[0][name], found[1][name]) for name in found[0])


def test_small_row_groups_are_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "CELLS", 110)  # ten rows of eleven numeric columns, thirty
    table = pa.table({name: np.arange(100.0) for name in NAMES} | {"y": np.arange(100) % 2})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=12)
    source = open_source(tmp_path / "a.parquet")
    chunks = [list(part()) for part in source.parts(source.wanted("y"))]
    assert [sum(chunk.table.size for chunk in part) for part in chunks] == [36, 36, 28]
    places = [str(chunk.place).partition(", ")[2] for part in chunks for chunk in part]
    assert places[0] == "row groups 0 to 2, rows 1 to 30"
    assert all(isinstance(chunk.table, ColumnTable) for part in chunks for chunk in part)
    read = np.concatenate([chunk.table.column(0) for part in chunks for chunk in part])
    assert (read == np.arange(100.0)).all()


def test_an_infinite_cell_is_refused_by_name_where_columns_lie_apart(tmp_path: Path) -> None:
    rows, labels = rows_of(2, np.float32)
    rows[60_001, 4] = np.inf
    path = written(tmp_path / "a.parquet", rows, labels, 60_000)
    with pytest.raises(BadRows, match=r"row groups 0 to 1, rows .*: row \d+, x4: inf"):
        GaussianDiscriminant().fit(path, target="y")


def test_naive_bayes_reads_columns_of_numbers_as_well(tmp_path: Path) -> None:
    rows, labels = rows_of(3, np.float32, holes=True)
    path = written(tmp_path / "a.parquet", rows[:5_000], labels[:5_000], 1_000)
    here = NaiveBayes(families="gaussian").fit(rows[:5_000], labels[:5_000])
    assert_alike(collect(NaiveBayes(families="gaussian"), path, "y"), here.statistics_)


def test_small_row_groups_are_read_together_also_where_texts_are_codes(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    size = 6_000
    labels = rng.integers(0, 3, size)
    rows = rng.normal(size=(size, 2)) + labels[:, np.newaxis]
    words = np.array([f"word{i % 7}" for i in range(size)])
    columns = {"a": rows[:, 0], "b": rows[:, 1], "w": words, "y": np.array(["p", "q", "r"])[labels]}
    place = tmp_path / "rows.parquet"
    parquet.write_table(pa.table(columns), place, row_group_size=100)
    source = open_source(place)
    wanted = Wanted(("a", "b", "w"), "y", None)
    chunks = [chunk for part in source.parts(wanted) for chunk in part()]
    assert len(chunks) < 6, "sixty row groups are not sixty chunks"
    read = np.concatenate([chunk.table.exact(2) for chunk in chunks])
    assert read.tolist() == words.tolist()
    labels = [label for chunk in chunks for label in chunk.labels.to_pylist()]
    assert labels == columns["y"].tolist()
