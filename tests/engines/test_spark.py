"""Rows of Spark, classic and Connect, give what the same rows give as an array."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes
from suffice.errors import (
    BadLabels,
    BadRows,
    BadSetting,
    BadWeights,
    ColumnMismatch,
    NotFinite,
)
from suffice.learning.collect import LearnChunk
from suffice.places import Place
from suffice.sources import open_source
from suffice.sources import spark as spark_source
from suffice.sources.spark import predictions, spark_at_work
from tests.engines.alike import assert_alike
from tests.engines.hostile_rows import (
    LEARNERS,
    PARTS,
    TARGET,
    as_array_rows,
    hostile_rows,
    parts_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.sources import Chunk

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """Return rows that are hard on engines."""
    return hostile_rows()


@pytest.fixture(scope="module")
def frames(rows: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return what makes a DataFrame with the partitions that were asked for, in any session."""
    from pyarrow import parquet

    folder = tmp_path_factory.mktemp("frames")

    def frame(session: Any, parts: list[pa.Table]) -> Any:
        found = None
        for part in parts:
            place = folder / f"{len(list(folder.iterdir()))}.parquet"
            # Spark's reader refuses names that differ by case only; its frames may have them.
            parquet.write_table(
                part.rename_columns([f"c{i}" for i in range(part.num_columns)]), place
            )
            one = session.read.parquet(str(place)).toDF(*part.column_names)
            found = one if found is None else found.union(one)
        assert _partitions(found) == [part.num_rows for part in parts if part.num_rows]
        return found

    return frame


@pytest.fixture(scope="module")
def classic(spark: Any, frames: Any, rows: pa.Table) -> Any:
    """Return those rows as a classic DataFrame of four partitions."""
    return frames(spark, parts_of(rows))


@pytest.fixture(scope="module")
def hostile(any_spark: Any, frames: Any, rows: pa.Table) -> Any:
    """Return them as a DataFrame of either kind."""
    return frames(any_spark, parts_of(rows))


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_spark_gives_what_an_array_gives(hostile: Any, learner: Any, rows: pa.Table) -> None:
    frame, y = as_array_rows(rows)
    there = clone(learner).fit(hostile, target=TARGET)
    here = clone(learner).fit(frame, y)
    assert there.classes_.tolist() == here.classes_.tolist() == ["ash", "beech", "cedar"]
    assert_alike(there.statistics_, here.statistics_)
    np.testing.assert_allclose(there.predict_proba(frame), here.predict_proba(frame), atol=1e-9)


def test_the_variance_of_columns_far_from_zero_keeps_its_digits(
    hostile: Any, rows: pa.Table
) -> None:
    model = GaussianDiscriminant("diagonal").fit(
        hostile.select("far", f"`{TARGET.replace('`', '``')}`"), target=TARGET
    )
    far, labels = rows.column("far").to_numpy() - 1e8, rows.column(TARGET).to_numpy()
    for label, variance in zip(model.classes_, model.covariances_, strict=True):
        assert np.ravel(variance)[0] == pytest.approx(far[labels == label].var(), rel=1e-12)


def test_a_column_of_weights_is_no_column_to_look_at(spark: Any, frames: Any) -> None:
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "x": rng.normal(size=60),
            "weight": rng.integers(0, 4, 60),
            "y": rng.choice([True, False], 60),
        }
    )
    there = GaussianDiscriminant().fit(
        frames(spark, [table.slice(0, 25), table.slice(25)]), target="y", sample_weight="weight"
    )
    frame = table.to_pandas()
    here = GaussianDiscriminant().fit(frame[["x"]], frame.y, frame.weight)
    assert there.feature_names_in_.tolist() == ["x"]
    assert_alike(there.statistics_, here.statistics_)


def test_the_first_refusal_of_a_worker_arrives_as_ours_with_its_partition(
    any_spark: Any, frames: Any
) -> None:
    whole = pa.table({"x": [1.0, 2.0], "y": ["a", "b"]})
    blank = pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", None, "b"]})
    infinite = pa.table({"x": [1.0, np.inf], "y": ["a", "b"]})
    with pytest.raises(
        BadLabels, match=r"^partition 1, rows 1 to 3: row 2 of these has no y"
    ) as no:
        GaussianDiscriminant().fit(frames(any_spark, [whole, blank, infinite]), target="y")
    assert no.value.__cause__ is None
    with pytest.raises(
        NotFinite, match=r"^partition 1, rows 1 to 2: row 1, x: inf is not a finite"
    ):
        GaussianDiscriminant().fit(frames(any_spark, [whole, infinite, blank]), target="y")


def test_columns_that_are_not_there_or_there_twice_are_refused(hostile: Any) -> None:
    with pytest.raises(ColumnMismatch, match="no column 'the label'\nHint: did you mean"):
        GaussianDiscriminant().fit(hostile, target="the label")
    twice = hostile.select("far", "far")
    with pytest.raises(BadRows, match="two columns are named 'far'"):
        GaussianDiscriminant().fit(twice, target="far")


def test_a_frame_without_rows_is_refused(spark: Any, frames: Any) -> None:
    nothing = pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.string())})
    with pytest.raises(BadRows, match="the Spark DataFrame has no rows"):
        NaiveBayes().fit(frames(spark, [nothing]), target="y")


def test_rows_that_spark_cannot_read_are_refused_in_one_sentence(
    any_spark: Any, tmp_path: Path
) -> None:
    from pyarrow import parquet

    parquet.write_table(pa.table({"x": [1.0], "y": ["a"]}), tmp_path / "gone.parquet")
    frame = any_spark.read.parquet(str(tmp_path / "gone.parquet"))
    assert frame.columns == ["x", "y"]
    (tmp_path / "gone.parquet").unlink()
    with pytest.raises(BadRows, match=r"^the Spark DataFrame cannot be read: .*") as refusal:
        GaussianDiscriminant().fit(frame, target="y")
    assert len(refusal.value.problem.splitlines()) == 1


def test_a_python_that_workers_do_not_have_is_refused_with_the_way_to_name_one(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/nowhere/python3")
    frame = spark.createDataFrame([(1.0, "a")], "x double, y string")
    with pytest.raises(BadSetting, match=r"no Python '/nowhere/python3'\nHint: .*PYSPARK_PYTHON"):
        GaussianDiscriminant().fit(frame, target="y")


def test_another_python_on_the_workers_is_refused(
    spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    frame = spark.createDataFrame([(1.0, "a")], "x double, y string")
    monkeypatch.setattr(spark.sparkContext, "pythonVer", "3.7")
    with pytest.raises(BadSetting, match=r"run Python 3\.\d+, and the driver 3\.7\nHint: .*Python"):
        GaussianDiscriminant().fit(frame, target="y")
    monkeypatch.undo()
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')  # without its packages
    bare.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare))
    with pytest.raises(BadSetting, match="workers of Spark have no module '"):
        GaussianDiscriminant().fit(frame, target="y")


def test_workers_run_what_is_tested(any_spark: Any) -> None:
    def place(batches: Any) -> Any:
        for _ in batches:
            yield pa.record_batch({"place": [open_source.__code__.co_filename]})

    found = any_spark.range(1).mapInArrow(place, "place string").collect()
    assert [row["place"] for row in found] == [open_source.__code__.co_filename]


def test_a_worker_that_dies_changes_nothing(classic: Any, tmp_path: Path) -> None:
    source = open_source(classic)
    wanted = source.wanted(TARGET)
    summarize = LearnChunk(GaussianDiscriminant("per-class").as_learner())
    flag = tmp_path / "died"

    def dying(chunk: Chunk) -> Any:
        if str(chunk.place).startswith("partition 2") and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return summarize(chunk)

    undisturbed = source.collected(summarize, wanted)
    found = source.collected(dying, wanted)
    assert flag.exists()
    assert _bits(found.statistics) == _bits(undisturbed.statistics)


def test_it_makes_no_difference_whether_summaries_are_merged_on_the_cluster(
    classic: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_source, "WIDTH", 2)  # neighbours; there are four partitions
    source = open_source(classic)
    wanted = source.wanted(TARGET)
    summarize = LearnChunk(GaussianDiscriminant("per-class").as_learner())
    assert source.moved is None
    on_cluster = source.collected(summarize, wanted)
    assert 0 < source.moved < spark_source.DIRECT
    by_driver = source.collected(summarize, wanted)
    assert _bits(on_cluster.statistics) == _bits(by_driver.statistics)


def test_nothing_but_the_statistics_moves(spark: Any, frames: Any) -> None:
    rng = np.random.default_rng(1)
    width, parts = 20, 3
    moved = []
    for size in (300, 3000):
        columns = {f"x{j}": rng.normal(size=size) for j in range(width)}
        table = pa.table({**columns, "y": rng.integers(0, 2, size)})
        step = size // parts
        frame = frames(spark, [table.slice(i * step, step) for i in range(parts)])
        source = open_source(frame)
        for _ in range(2):  # the second time, the driver takes every partition's own
            source.collected(
                LearnChunk(GaussianDiscriminant("per-class").as_learner()), source.wanted("y")
            )
        moved.append(source.moved / parts)
    statistics = 2 * (width**2 + width + 1) * 8
    assert statistics < moved[0] < 1.2 * statistics + 4096
    assert moved[1] == pytest.approx(moved[0], abs=256)  # ten times the rows


def test_some_rows_are_drawn_the_same_way_every_time(hostile: Any, rows: pa.Table) -> None:
    source = open_source(hostile)
    wanted = source.wanted(TARGET, names=["far", "count"])
    whole = source.some(wanted, PARTS[-1])
    np.testing.assert_array_equal(whole.table.column(0), rows.column("far").to_numpy())
    drawn = [source.some(wanted, 100).table.column(1) for _ in range(2)]
    assert 60 < len(drawn[0]) < 140
    np.testing.assert_array_equal(*drawn)


def test_rows_are_kept_for_as_long_as_they_are_needed(hostile: Any) -> None:
    source = open_source(hostile)
    wanted = source.wanted(TARGET)
    summarize = LearnChunk(GaussianDiscriminant("diagonal").as_learner())
    plain = source.collected(summarize, wanted)
    with source.kept(wanted):
        frame = source._rows(wanted)
        assert frame.storageLevel.useMemory
        kept = source.collected(summarize, wanted)
    assert not frame.storageLevel.useMemory
    assert_alike(kept.statistics, plain.statistics)


def test_predictions_of_a_frame_are_those_of_its_rows(hostile: Any, rows: pa.Table) -> None:
    frame, y = as_array_rows(rows)
    model = NaiveBayes().fit(frame, y)
    found = predictions(model, hostile, proba=True)
    assert found.columns == [*rows.column_names, "prediction", "probability"]
    answers = found.toArrow()
    assert answers.column("prediction").to_pylist() == model.predict(frame).tolist()
    np.testing.assert_array_equal(
        np.array(answers.column("probability").to_pylist()), model.predict_proba(frame)
    )
    assert answers.select(rows.column_names).column(0).to_pylist() == rows.column(0).to_pylist()


def test_predictions_of_a_model_without_names_need_them(spark: Any) -> None:
    model = GaussianDiscriminant().fit(
        [[0.0, 1.0], [1.0, 1.5], [0.5, 2.0], [5.0, 0.0], [6.0, 0.5]], [0, 0, 0, 1, 1]
    )
    frame = spark.createDataFrame([(0.5, 1.0), (1.0, 6.0)], "b double, a double")
    with pytest.raises(BadSetting, match="without column names"):
        predictions(model, frame)
    with pytest.raises(ColumnMismatch, match="1 columns are named, but the model uses 2"):
        predictions(model, frame, columns=["a"])
    rows = predictions(model, frame, columns=["a", "b"]).collect()
    assert [row.prediction for row in rows] == model.predict([[1.0, 0.5], [6.0, 1.0]]).tolist()
    with pytest.raises(ColumnMismatch, match="a column 'prediction' already"):
        predictions(model, frame.toDF("prediction", "a"), columns=["a", "prediction"])


def test_a_row_that_a_model_refuses_is_told_with_its_partition(any_spark: Any, frames: Any) -> None:
    model = GaussianDiscriminant().fit(pa.table({"x": [1.0, 2.0, 5.0, 6.0]}), list("aabb"))
    frame = frames(any_spark, [pa.table({"x": [1.0, 2.0]}), pa.table({"x": [3.0, np.inf]})])
    answers = predictions(model, frame)
    with (
        pytest.raises(NotFinite, match=r"^partition 1, rows 1 to 2: row 1, x: inf is not") as told,
        spark_at_work("the answers"),
    ):
        answers.collect()
    assert told.value.__cause__ is None
    assert told.value.hint
    assert (told.value.row, str(told.value.column), told.value.value) == (1, "x", np.inf)
    assert told.value.place == Place("partition 1", 1, 2)


def test_partitions_of_rows_that_do_not_count_say_nothing(spark: Any, frames: Any) -> None:
    idle = pa.table({"x": [1.0, np.inf], "w": [0.0, 0.0], "y": ["a", "c"]})
    counted = pa.table({"x": [1.0, 2.0, 5.0], "w": [1.0, 2.0, 0.5], "y": ["a", "a", "b"]})
    there = GaussianDiscriminant().fit(
        frames(spark, [idle, counted]), target="y", sample_weight="w"
    )
    here = GaussianDiscriminant().fit(
        counted.select(["x"]), counted.column("y").to_numpy(), counted.column("w").to_numpy()
    )
    assert_alike(there.statistics_, here.statistics_)
    with pytest.raises(BadWeights, match="the Spark DataFrame: all 4 sample weights are zero"):
        GaussianDiscriminant().fit(frames(spark, [idle, idle]), target="y", sample_weight="w")


def test_logistic_regression_of_spark_is_that_of_the_rows(any_spark: Any, frames: Any) -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 2))
    y = (X @ [1.0, -0.5] + rng.logistic(size=300) > 0.3).astype(int)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    frame = frames(any_spark, [table.slice(0, 100), table.slice(100)])
    there = LogisticRegression().fit(frame, target="y")
    here = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-8)
    np.testing.assert_allclose(there.intercept_, here.intercept_, rtol=1e-8)


def _partitions(frame: Any) -> list[int]:
    """Return how many rows each partition holds, but for empty ones."""
    places = frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))
    counts = places.selectExpr("spark_partition_id() as part").groupBy("part").count()
    return [row["count"] for row in sorted(counts.collect())]


def _bits(statistics: Any) -> dict[str, bytes]:
    return {name: np.asarray(held).tobytes() for name, held in statistics.to_arrays().items()}
