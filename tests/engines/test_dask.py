"""Rows of Dask, by threads and by a cluster, give what the same rows give as an array."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes
from suffice.errors import BadLabels, BadRows, BadWeights, ColumnMismatch, NotFinite
from suffice.learning.collect import LearnChunk
from suffice.sources import open_source
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
    from collections.abc import Callable
    from pathlib import Path

    from suffice.sources import Chunk


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """Return rows that are hard on engines."""
    return hostile_rows()


@pytest.fixture(scope="module")
def frame_of(require: Callable[[object, str], None]) -> Callable[[list[Any]], Any]:
    """Return what makes a DataFrame of given partitions, with divisions unknown."""
    from importlib.util import find_spec

    require(find_spec("dask"), "Dask is needed: pip install 'suffice[dask]'")
    import dask.dataframe as dd

    def frame(parts: list[Any]) -> Any:
        frames = [_in_pandas(part) if isinstance(part, pa.Table) else part for part in parts]
        found = dd.from_map(
            lambda place: frames[place], range(len(frames)), meta=frames[0].iloc[:0]
        )
        assert not found.known_divisions
        assert found.npartitions == len(parts)
        return found

    return frame


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_dask_gives_what_an_array_gives(
    any_dask: str, frame_of: Any, learner: Any, rows: pa.Table
) -> None:
    frame, y = as_array_rows(rows)
    there = clone(learner).fit(frame_of(parts_of(rows)), target=TARGET)
    here = clone(learner).fit(frame, y)
    assert there.classes_.tolist() == here.classes_.tolist() == ["ash", "beech", "cedar"]
    assert_alike(there.statistics_, here.statistics_)
    np.testing.assert_allclose(there.predict_proba(frame), here.predict_proba(frame), atol=1e-9)


def test_the_variance_of_columns_far_from_zero_keeps_its_digits(
    frame_of: Any, rows: pa.Table
) -> None:
    model = GaussianDiscriminant("diagonal").fit(
        frame_of(parts_of(rows.select(["far", TARGET]))), target=TARGET
    )
    far, labels = rows.column("far").to_numpy() - 1e8, rows.column(TARGET).to_numpy()
    for label, variance in zip(model.classes_, model.covariances_, strict=True):
        assert np.ravel(variance)[0] == pytest.approx(far[labels == label].var(), rel=1e-12)


@pytest.mark.parametrize("many", [1, 3, 40])
def test_the_tree_of_merges_gives_the_same_for_any_number_of_partitions(
    frame_of: Any, many: int, rows: pa.Table
) -> None:
    frame, y = as_array_rows(rows)
    step = -(-len(frame) // many)
    parts = [rows.slice(first, step) for first in range(0, len(frame), step)]
    there = GaussianDiscriminant("per-class").fit(frame_of(parts), target=TARGET)
    assert_alike(there.statistics_, GaussianDiscriminant("per-class").fit(frame, y).statistics_)


def test_categories_may_be_unknown_and_differ_between_partitions(frame_of: Any) -> None:
    import dask.dataframe as dd

    parts = [
        pd.DataFrame({"colour": pd.Categorical(c), "y": y})
        for c, y in ((["red", "red", "blue"], [0, 1, 0]), (["green", None, "red"], [1, 1, 0]))
    ]
    whole = pd.concat([part.astype({"colour": "str"}) for part in parts])
    frame = dd.concat([frame_of([part]) for part in parts])
    frame["colour"] = frame["colour"].cat.as_unknown()
    there = NaiveBayes().fit(frame, target="y")
    here = NaiveBayes().fit(whole[["colour"]], whole.y)
    assert_alike(there.statistics_, here.statistics_)


def test_levels_that_a_category_declares_stay(frame_of: Any) -> None:
    colours = pd.Categorical(["red", "blue", "red", "blue"], ["red", "blue", "green"])
    table = pd.DataFrame({"colour": colours, "y": [0, 1, 1, 0]})
    there = NaiveBayes().fit(frame_of([table.iloc[:3], table.iloc[3:]]), target="y")
    here = NaiveBayes().fit(table[["colour"]], table.y)
    new = pd.DataFrame({"colour": ["green", "red"]})
    np.testing.assert_array_equal(there.predict_proba(new), here.predict_proba(new))


def test_a_column_of_weights_is_no_column_to_look_at(frame_of: Any) -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=60), "w": rng.integers(0, 4, 60)})
    table["y"] = rng.choice([True, False], 60)
    frame = frame_of([table.iloc[:25], table.iloc[25:]])
    there = GaussianDiscriminant().fit(frame, target="y", sample_weight="w")
    here = GaussianDiscriminant().fit(table[["x"]], table.y, table.w)
    assert_alike(there.statistics_, here.statistics_)
    with pytest.raises(BadWeights, match="partition 0, rows 1 to 25: w holds no numbers"):
        GaussianDiscriminant().fit(
            frame_of([part.astype({"w": "str"}) for part in (table.iloc[:25], table.iloc[25:])]),
            target="y",
            sample_weight="w",
        )


def test_partitions_of_rows_that_do_not_count_say_nothing(frame_of: Any) -> None:
    idle = pd.DataFrame({"x": [1.0, np.inf], "w": [0.0, 0.0], "y": ["a", "c"]})
    counted = pd.DataFrame({"x": [1.0, 2.0, 5.0], "w": [1.0, 2.0, 0.5], "y": ["a", "a", "b"]})
    there = GaussianDiscriminant().fit(frame_of([idle, counted]), target="y", sample_weight="w")
    here = GaussianDiscriminant().fit(counted[["x"]], counted.y, counted.w)
    assert_alike(there.statistics_, here.statistics_)
    with pytest.raises(BadWeights, match="the Dask DataFrame: all 4 sample weights are zero"):
        GaussianDiscriminant().fit(frame_of([idle, idle]), target="y", sample_weight="w")


def test_the_first_refusal_of_a_worker_arrives_as_ours_with_its_partition(
    any_dask: str, frame_of: Any
) -> None:
    whole = pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]})
    blank = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a", None, "b"]})
    infinite = pd.DataFrame({"x": [1.0, np.inf], "y": ["a", "b"]})
    with pytest.raises(BadLabels, match=r"^partition 1, rows 1 to 3: row 2 of these has no y"):
        GaussianDiscriminant().fit(frame_of([whole, blank, infinite]), target="y")
    with pytest.raises(NotFinite, match=r"^partition 1, rows 1 to 2: row 1, x: inf is not a fin"):
        GaussianDiscriminant().fit(frame_of([whole, infinite, blank]), target="y")


def test_columns_that_are_not_there_or_not_named_are_refused(frame_of: Any) -> None:
    table = pd.DataFrame({"x": [1.0, 2.0], "label": ["a", "b"]})
    with pytest.raises(ColumnMismatch, match="no column 'labels'\nHint: did you mean 'label'"):
        GaussianDiscriminant().fit(frame_of([table]), target="labels")
    with pytest.raises(BadRows, match="a column is named 0, which is not a string"):
        GaussianDiscriminant().fit(frame_of([pd.DataFrame([[1.0, 2.0]])]), target="y")
    with pytest.raises(BadRows, match="the Dask DataFrame has no rows"):
        GaussianDiscriminant().fit(frame_of([table.iloc[:0]]), target="label")


def test_workers_run_what_is_tested(dask_cluster: Any) -> None:
    from distributed import Client

    with Client(dask_cluster) as client:
        places = client.run(lambda: open_source.__code__.co_filename)
    assert set(places.values()) == {open_source.__code__.co_filename}


def test_a_worker_that_dies_changes_nothing(
    dask_cluster: Any, frame_of: Any, rows: pa.Table, tmp_path: Path
) -> None:
    from distributed import Client

    source = open_source(frame_of(parts_of(rows)))
    wanted = source.wanted(TARGET)
    summarize = LearnChunk(GaussianDiscriminant("per-class").as_learner())
    flag = tmp_path / "died"

    def dying(chunk: Chunk) -> Any:
        if str(chunk.place).startswith("partition 2") and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return summarize(chunk)

    with Client(dask_cluster):
        found = source.collected(dying, wanted)
        undisturbed = source.collected(summarize, wanted)
    assert flag.exists()
    ours, theirs = (one.statistics.to_arrays() for one in (found, undisturbed))
    assert ours.keys() == theirs.keys()
    assert all(
        np.asarray(ours[name]).tobytes() == np.asarray(theirs[name]).tobytes() for name in ours
    )


def test_some_rows_come_from_all_partitions(frame_of: Any, rows: pa.Table) -> None:
    source = open_source(frame_of(parts_of(rows)))
    wanted = source.wanted(TARGET, names=["far", "count"])
    whole = source.some(wanted, PARTS[-1])
    np.testing.assert_array_equal(whole.table.column(0), rows.column("far").to_numpy())
    drawn = source.some(wanted, 100)
    assert 90 <= drawn.table.size <= 110
    assert set(drawn.labels.to_pylist()) == {"ash", "beech", "cedar"}


def test_logistic_regression_of_dask_is_that_of_the_rows(any_dask: str, frame_of: Any) -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 2))
    y = (X @ [1.0, -0.5] + rng.logistic(size=300) > 0.3).astype(int)
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    there = LogisticRegression().fit(frame_of([table.iloc[:100], table.iloc[100:]]), target="y")
    here = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-8)
    np.testing.assert_allclose(there.intercept_, here.intercept_, rtol=1e-8)


def _in_pandas(part: pa.Table) -> pd.DataFrame:
    """Return rows as Dask holds them; decimals in Arrow's type: Dask makes objects strings."""
    return part.to_pandas(
        types_mapper=lambda kind: pd.ArrowDtype(kind) if pa.types.is_decimal(kind) else None
    )
