"""Rows in files and streams give what the same rows give as an array."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, dataset, feather, parquet
from sklearn.base import clone

import suffice
from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes
from suffice.errors import (
    BadFile,
    BadLabels,
    BadRows,
    BadSetting,
    BadWeights,
    ColumnMismatch,
    DegenerateData,
)
from suffice.learning import collect as collecting
from suffice.sources import local, open_source
from tests.engines.alike import assert_alike

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 700
LEARNERS = {
    "shared": GaussianDiscriminant(),
    "per class": GaussianDiscriminant("per-class"),
    "diagonal": GaussianDiscriminant("diagonal"),
    "naive Bayes": NaiveBayes(),
}


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut everything small, so that there is something to merge."""
    monkeypatch.setattr(local, "CELLS", 500)


@pytest.fixture(scope="module")
def flowers() -> pa.Table:
    """Return rows of every kind: far from zero, with blanks, whole, words, truths."""
    rng = np.random.default_rng(5)
    labels = rng.choice(["ash", "beech", "cedar"], ROWS, p=[0.6, 0.3, 0.1])
    far = 1e8 + rng.integers(-1, 2, ROWS)
    gaps = rng.normal(size=ROWS) + (labels == "ash")
    gaps[rng.random(ROWS) < 0.1] = np.nan
    return pa.table(
        {
            "far": far,
            "gaps": pa.array(gaps, from_pandas=True),
            "species": labels,
            "count": rng.poisson(3.0, ROWS),
            "colour": rng.choice(["red", "light blue", "grün"], ROWS),
            "wild": rng.random(ROWS) < 0.5,
            "single": rng.normal(size=ROWS).astype(np.float32),
        }
    )


def _parquet(table: pa.Table, folder: Path) -> Any:
    parquet.write_table(table, folder / "a.parquet", row_group_size=130)
    return folder / "a.parquet"


def _glob(table: pa.Table, folder: Path) -> Any:
    for number, start in enumerate((0, 300, 300)):
        size = (300, 0, None)[number]
        parquet.write_table(table.slice(start, size), folder / f"part-{number}.parquet")
    return str(folder / "part-*.parquet")


def _folder(table: pa.Table, folder: Path) -> Any:
    _glob(table, folder)
    (folder / "_SUCCESS").write_text("")
    return folder


def _csv(table: pa.Table, folder: Path) -> Any:
    csv.write_csv(_doubles(table), folder / "a.csv")
    return folder / "a.csv"


def _packed(table: pa.Table, folder: Path) -> Any:
    (folder / "a.csv.gz").write_bytes(gzip.compress(_csv(table, folder).read_bytes()))
    return folder / "a.csv.gz"


def _lines(table: pa.Table, folder: Path) -> Any:
    lines = (json.dumps(row) + "\n" for row in _doubles(table).to_pylist())
    (folder / "a.jsonl").write_text("".join(lines), "utf-8")
    return folder / "a.jsonl"


def _doubles(table: pa.Table) -> pa.Table:
    """Return a table whose numbers, written as text, are read as what they were."""
    if "single" not in table.column_names:
        return table
    place = table.column_names.index("single")
    return table.set_column(place, "single", table.column("single").cast(pa.float64()))


def _feather(table: pa.Table, folder: Path) -> Any:
    feather.write_feather(table, folder / "a.arrow", chunksize=90)
    return folder / "a.arrow"


def _dataset(table: pa.Table, folder: Path) -> Any:
    return dataset.dataset(_parquet(table, folder))


def _reader(table: pa.Table, folder: Path) -> Any:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=77))


SOURCES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "Parquet": _parquet,
    "a glob": _glob,
    "a folder": _folder,
    "a list": lambda table, folder: sorted(Path(_glob(table, folder)).parent.glob("*.parquet")),
    "CSV": _csv,
    "packed CSV": _packed,
    "JSON lines": _lines,
    "Arrow": _feather,
    "a dataset": _dataset,
    "a table": lambda table, _: table,
    "a reader": _reader,
}


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_any_source_gives_what_an_array_gives(
    make: Callable[[pa.Table, Path], Any], learner: Any, flowers: pa.Table, tmp_path: Path
) -> None:
    frame = flowers.to_pandas()
    y = frame.pop("species")
    if make in (_csv, _packed, _lines):  # text has no float32
        frame["single"] = frame["single"].astype(float)
    there = clone(learner).fit(make(flowers, tmp_path), target="species")
    here = clone(learner).fit(frame, y)
    assert there.classes_.tolist() == here.classes_.tolist()
    assert_alike(there.statistics_, here.statistics_)
    np.testing.assert_allclose(there.predict_proba(frame), here.predict_proba(frame), atol=1e-9)


def test_the_variance_of_columns_far_from_zero_keeps_its_digits(
    flowers: pa.Table, tmp_path: Path
) -> None:
    far = flowers.column("far").to_numpy() - 1e8
    model = GaussianDiscriminant("diagonal").fit(
        flowers.select(["far", "species"]), target="species"
    )
    for label, variance in zip(model.classes_, model.covariances_, strict=True):
        own = far[flowers.column("species").to_numpy() == label]
        assert np.ravel(variance)[0] == pytest.approx(own.var(), rel=1e-12)


def test_a_class_that_lives_in_one_part_is_a_class(tmp_path: Path) -> None:
    for place, label in enumerate(["a", "b", "a"]):
        table = pa.table({"x": [1.0 * place, 2.0, 4.0], "y": [label] * 3})
        parquet.write_table(table, tmp_path / f"{place}.parquet")
    model = GaussianDiscriminant().fit(str(tmp_path / "*.parquet"), target="y")
    assert model.classes_.tolist() == ["a", "b"]
    assert model.priors_.tolist() == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize("make", [_parquet, _csv, _reader])
def test_a_column_of_weights_is_no_column_to_look_at(
    make: Callable[[pa.Table, Path], Any], flowers: pa.Table, tmp_path: Path
) -> None:
    table = flowers.select(["far", "species", "count"])
    model = GaussianDiscriminant().fit(
        make(table, tmp_path), target="species", sample_weight="count"
    )
    frame = table.to_pandas()
    here = GaussianDiscriminant().fit(frame[["far"]], frame.species, frame["count"])
    assert model.feature_names_in_.tolist() == ["far"]
    assert_alike(model.statistics_, here.statistics_)


def test_more_rows_of_a_source_can_be_learned_later(flowers: pa.Table, tmp_path: Path) -> None:
    first = _parquet(flowers.slice(0, 400), tmp_path)
    model = GaussianDiscriminant().fit(first, target="species")
    model.partial_fit(flowers.slice(400), target="species")
    whole = GaussianDiscriminant().fit(flowers, target="species")
    assert_alike(model.statistics_, whole.statistics_)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("make", [_parquet, _csv, _reader, _dataset])
def test_logistic_regression_of_a_source_is_that_of_the_rows(
    make: Callable[[pa.Table, Path], Any],
    penalty: float,
    flowers: pa.Table,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(collecting, "MOST_CELLS", 0)  # pass by pass, as if it were large
    table = flowers.select(["far", "species", "count", "colour", "wild"])
    there = LogisticRegression(penalty).fit(make(table, tmp_path), target="species")
    frame = table.to_pandas()
    here = LogisticRegression(penalty).fit(frame.drop(columns="species"), frame.species)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(there.intercept_, here.intercept_, rtol=1e-8)
    assert there.converged_
    if not penalty:  # whose standard errors mean nothing
        ours, theirs = there.summary().to_frame(), here.summary().to_frame()
        errors = [name for name in ours.columns if "error" in name]
        assert errors
        np.testing.assert_allclose(ours[errors], theirs[errors], rtol=1e-6)


def _declared(cells: Any, kind: str) -> Any:
    """Return cells as a column of a Polars frame that declares more levels than there are."""
    return pl.Series(cells, dtype=pl.Enum(["zinc", "lead", "iron", "gold"]) if kind else pl.String)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["declared", ""])
@pytest.mark.parametrize("make", ["a lazy frame", "Parquet", "a table"])
def test_levels_of_a_source_are_those_of_the_rows(
    make: str, kind: str, penalty: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first level is the one others are compared with: one that no row has is none."""
    monkeypatch.setattr(collecting, "MOST_CELLS", 0)
    rng = np.random.default_rng(3)
    # Parts of the source that each have another level: not in the order of the whole.
    cells = np.repeat(["iron", "gold", "lead"], 200)
    frame = pl.DataFrame({"x": rng.normal(size=600), "metal": _declared(cells, kind)})
    labels = np.where(rng.random(600) < 0.3 + 0.2 * (cells == "gold"), "yes", "no")
    table = frame.with_columns(y=labels)
    source: Any = table.lazy()
    if make != "a lazy frame":
        # Dictionaries of files and of Arrow are no declaration: they are what one batch needed.
        source, frame = table.to_arrow(), frame.cast({"metal": pl.String})
        source = _parquet(source, tmp_path) if make == "Parquet" else source
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateData)  # with a penalty all levels have a column
        there = LogisticRegression(penalty).fit(source, target="y")
        here = LogisticRegression(penalty).fit(frame, labels)
    assert there.coefficient_names_ == here.coefficient_names_
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-8, atol=1e-8)
    ours, theirs = there.summary().standard_errors, here.summary().standard_errors
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert penalty or np.isfinite(ours).all()


@pytest.mark.process
@pytest.mark.slow
def test_the_result_does_not_depend_on_the_number_of_threads(
    flowers: pa.Table, tmp_path: Path
) -> None:
    _parquet(flowers, tmp_path)
    program = (
        "import sys, hashlib; from suffice import GaussianDiscriminant; from suffice.sources "
        "import local; local.CELLS = 500; model = GaussianDiscriminant('per-class')"
        ".fit('a.parquet', target='species'); arrays = model.statistics_.to_arrays(); "
        "print(hashlib.sha256(b''.join(arrays[k].tobytes() for k in sorted(arrays))).hexdigest())"
    )
    source = str(Path(suffice.__file__).parents[1])
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": source, "SUFFICE_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "7")
    ]
    assert found[0]
    assert len(set(found)) == 1


def test_a_stream_is_read_once_and_no_more(flowers: pa.Table, tmp_path: Path) -> None:
    stream = _reader(flowers, tmp_path)
    source = open_source(stream)
    GaussianDiscriminant().fit(source, target="species")
    with pytest.raises(BadRows, match="can be read only once"):
        GaussianDiscriminant().fit(source, target="species")


def test_rows_without_a_label_are_refused_by_their_place(tmp_path: Path) -> None:
    table = pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", None, "b"]})
    for make in (_parquet, _csv, _feather):
        with pytest.raises(BadLabels, match=r"a\.\w+.* row 2 of these has no y"):
            GaussianDiscriminant().fit(make(table, tmp_path), target="y")


def test_a_target_that_is_not_there_offers_the_nearest_names(
    flowers: pa.Table, tmp_path: Path
) -> None:
    with pytest.raises(ColumnMismatch, match=r"no column 'specie'\nHint: did you mean 'species'"):
        GaussianDiscriminant().fit(_parquet(flowers, tmp_path), target="specie")
    with pytest.raises(BadLabels, match="no target is named"):
        GaussianDiscriminant().fit(_parquet(flowers, tmp_path))


def test_files_with_other_columns_are_refused_by_name(flowers: pa.Table, tmp_path: Path) -> None:
    parquet.write_table(flowers, tmp_path / "a.parquet")
    parquet.write_table(flowers.drop_columns(["far"]), tmp_path / "b.parquet")
    with pytest.raises(ColumnMismatch, match=r"b\.parquet lacks far, unlike .*a\.parquet"):
        GaussianDiscriminant().fit(tmp_path, target="species")
    words = flowers.set_column(0, "far", pa.array(["x"] * ROWS))
    parquet.write_table(words, tmp_path / "b.parquet")
    with pytest.raises(ColumnMismatch, match=r"b\.parquet: far is string, but"):
        GaussianDiscriminant().fit(tmp_path, target="species")


def test_a_part_that_is_missing_or_cut_short_is_named(flowers: pa.Table, tmp_path: Path) -> None:
    whole = _parquet(flowers, tmp_path)
    (tmp_path / "b.parquet").write_bytes(whole.read_bytes()[:-200])
    with pytest.raises(BadFile, match=r"b\.parquet cannot be read"):
        GaussianDiscriminant().fit(str(tmp_path / "*.parquet"), target="species")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        GaussianDiscriminant().fit([whole, tmp_path / "nowhere.parquet"], target="species")
    with pytest.raises(BadFile, match="no file matches"):
        GaussianDiscriminant().fit(str(tmp_path / "*.feather"), target="species")


def test_an_infinite_cell_is_refused_by_file_and_column(tmp_path: Path) -> None:
    table = pa.table({"x": [1.0, np.inf, 3.0], "y": ["a", "a", "b"]})
    with pytest.raises(BadRows, match=r"a\.parquet, row group 0, rows 1 to 3: row 1, x: inf"):
        GaussianDiscriminant().fit(_parquet(table, tmp_path), target="y")


def test_weights_of_a_source_are_one_of_its_columns(flowers: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="one of its columns"):
        GaussianDiscriminant().fit(
            _parquet(flowers, tmp_path), target="species", sample_weight=np.ones(ROWS)
        )


def test_a_frame_may_name_its_target_too(flowers: pa.Table) -> None:
    frame = flowers.to_pandas()
    model = GaussianDiscriminant().fit(frame, target="species")
    here = GaussianDiscriminant().fit(frame.drop(columns="species"), frame.species)
    assert_alike(model.statistics_, here.statistics_)


def test_a_chunk_without_weight_is_no_rows(tmp_path: Path) -> None:
    many = 300_000
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "x": rng.normal(size=many),
            "y": rng.integers(0, 2, many),
            "w": np.where(np.arange(many) < many - 50, 0.0, 1.0),
        }
    )
    path = tmp_path / "rows.parquet"
    parquet.write_table(table, path)
    model = GaussianDiscriminant().fit(path, target="y", sample_weight="w")
    last = table.slice(many - 50)
    alone = GaussianDiscriminant().fit(last["x"].to_numpy()[:, None], last["y"].to_numpy())
    np.testing.assert_allclose(model.means_, alone.means_, rtol=1e-12)
    parquet.write_table(table.slice(0, many - 50), path)
    with pytest.raises(BadWeights, match="sample weights are zero"):
        GaussianDiscriminant().fit(path, target="y", sample_weight="w")


def test_integers_that_doubles_cannot_hold_are_rounded(tmp_path: Path) -> None:
    table = pa.table({"x": [2**53 + 3, 2**52, 2**53, 2**51, None], "y": ["a", "a", "b", "b", "a"]})
    here = GaussianDiscriminant("diagonal").fit(table.select(["x"]), table["y"].to_pylist())
    parquet.write_table(table, tmp_path / "rows.parquet")
    there = GaussianDiscriminant("diagonal").fit(tmp_path / "rows.parquet", target="y")
    np.testing.assert_array_equal(here.means_, there.means_)
