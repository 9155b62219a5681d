"""Frames of Polars, lazy and eager, give what the same rows give as an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.errors import BadLabels, BadRows, ColumnMismatch
from suffice.sources import local, open_source
from tests.engines.alike import assert_alike
from tests.engines.hostile_rows import LEARNERS, TARGET, as_array_rows, hostile_rows

if TYPE_CHECKING:
    import pyarrow as pa


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut everything small, so that there is something to merge."""
    monkeypatch.setattr(local, "CELLS", 500)


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """Return rows that are hard on engines."""
    return hostile_rows()


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_polars_gives_what_an_array_gives(learner: Any, lazy: bool, rows: pa.Table) -> None:
    frame, y = as_array_rows(rows)
    given: Any = pl.from_arrow(rows)
    there = clone(learner).fit(given.lazy() if lazy else given, target=TARGET)
    here = clone(learner).fit(frame, y)
    assert there.classes_.tolist() == here.classes_.tolist()
    assert_alike(there.statistics_, here.statistics_)
    np.testing.assert_allclose(there.predict_proba(frame), here.predict_proba(frame), atol=1e-9)


def test_a_plan_runs_in_batches_and_in_order(tmp_path: Any) -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=3000)
    labels = rng.choice(["a", "b"], 3000)
    for place in range(3):
        part = slice(1000 * place, 1000 * place + 1000)
        pl.DataFrame({"x": values[part], "y": labels[part], "spare": labels[part]}).write_parquet(
            tmp_path / f"{place}.parquet", row_group_size=130
        )
    plan = pl.scan_parquet(tmp_path / "*.parquet").with_columns(x=pl.col("x") * 2.0).drop("spare")
    source = open_source(plan)
    seen: list[np.ndarray] = []
    sizes: list[int] = []

    def summarize(chunk: Any) -> int:
        sizes.append(chunk.table.size)
        return int(chunk.table.size)

    assert source.collect(summarize, source.wanted("y")) == 3000
    assert sorted(sizes, reverse=True) == [250] * 12
    for part in source.parts(source.wanted("y")):
        seen += [chunk.table.column(0) for chunk in part()]
    np.testing.assert_array_equal(np.concatenate(seen), 2.0 * values)
    assert open_source(plan).some(source.wanted("y"), 600).table.size >= 600


def test_levels_that_an_enum_declares_stay() -> None:
    frame = pl.DataFrame(
        {"colour": ["red", "blue", "red"], "y": [0, 1, 1]},
        schema_overrides={"colour": pl.Enum(["red", "blue", "green"])},
    )
    there = NaiveBayes().fit(frame.lazy(), target="y")
    here = NaiveBayes().fit(frame.select("colour"), frame["y"])
    new = pl.DataFrame({"colour": ["green", "red"]})
    np.testing.assert_array_equal(there.predict_proba(new), here.predict_proba(new))


def test_what_cannot_be_read_is_refused(tmp_path: Any) -> None:
    frame = pl.LazyFrame({"x": [1.0, 2.0, 3.0], "label": ["a", None, "b"]})
    with pytest.raises(BadLabels, match="LazyFrame, rows 1 to 3: row 2 of these has no label"):
        GaussianDiscriminant().fit(frame, target="label")
    with pytest.raises(ColumnMismatch, match="no column 'labels'\nHint: did you mean 'label'"):
        GaussianDiscriminant().fit(frame, target="labels")
    with pytest.raises(BadRows, match=r"LazyFrame cannot be read: .*nowhere"):
        GaussianDiscriminant().fit(frame.select(pl.col("nowhere")), target="label")
    with pytest.raises(BadRows, match="LazyFrame has no rows"):
        GaussianDiscriminant().fit(frame.filter(pl.col("x") > 9.0), target="label")
