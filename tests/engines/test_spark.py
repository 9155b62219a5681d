"""Rows of Spark, classic and Connect, give what the same rows give as an array."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

from suffice import GaussianDiscriminant, LogisticRegression, NaiveBayes
from suffice.errors import BadLabels, BadRows, BadSetting, ColumnMismatch, NotFinite
from suffice.estimators.collecting import Summarize
from suffice.sources import open_source
from suffice.sources import spark as spark_source
from suffice.sources.spark import predictions
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
    pytest.mark.xdist_group("spark"),
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
            parquet.write_table(part.rename_columns([f"c{i}" for i in range(part.num_columns)]), place)
            one = session.read.parquet(str(place)).coalesce(1).toDF(*part.column_names)
            found = one if found is None else found.union(one)
        return found

    return frame


@pytest.fixture(scope="module")
def hostile(any_spark: Any, frames: Any, rows: pa.Table) -> Any:
    """Return those rows as a DataFrame of four partitions."""
    return frames(any_spark, parts_of(rows))


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_spark_gives_what_an_array_gives(hostile: Any, learner: Any, rows: pa.Table) -> None:
    frame, y = as_array_rows(rows)
    there = clone(learner).fit(hostile, target=TARGET)
    here = clone(learner).fit(frame, y)
    assert there.classes_.tolist() == here.classes_.tolist() == ["ash", "beech", "cedar"]
    assert_alike(there.statistics_, here.statistics_)
    np.testing.assert_allclose(there.predict_proba(frame), here.predict_proba(frame), atol=1e-9)
