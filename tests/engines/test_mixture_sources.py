"""A mixture of rows that are somewhere else is the one of the same rows in an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice.learning.collect as collecting
from suffice import GaussianMixture
from suffice.errors import BadFile, BadRows, BadSetting, NotANumber, NotFinite
from suffice.estimators.mixtures import sources
from suffice.models.mixture import fitting
from suffice.models.mixture.journey import Journey
from suffice.models.mixture.survey import RowSurvey, SampledRows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return rows of three components that are apart, with blanks, far from zero, and weights."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, 1200)
    centres = np.array([[0.0, 0.0, 0.0], [7.0, 3.0, 0.0], [0.0, 9.0, 5.0]])
    rows = centres[codes] + rng.normal(size=(1200, 3)) + [1e6, 0.0, 0.0]
    rows[rng.random(rows.shape) < 0.04] = np.nan
    found = pd.DataFrame(rows, columns=NAMES)
    found["w"] = rng.integers(0, 3, len(rows)).astype(float)
    return found


@pytest.fixture(scope="module")
def here(frame: pd.DataFrame) -> GaussianMixture:
    """Return the mixture of the rows as an array."""
    return GaussianMixture(3, "VVV").fit(frame[NAMES].to_numpy(), sample_weight=frame.w)


@pytest.fixture
def pass_by_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold no rows of a source: as if it were large."""
    monkeypatch.setattr(collecting, "MOST_CELLS", 0)


def _parquet(frame: pd.DataFrame, folder: Path) -> Any:
    for place in range(5):  # the last part has neither cells nor weights
        part = frame.iloc[place * 300 : (place + 1) * 300]
        if not len(part):
            part = frame.iloc[:3].assign(a=np.nan, b=np.nan, c=np.nan)
        part.to_parquet(folder / f"{place}.parquet", row_group_size=100)
    return folder


def _csv(frame: pd.DataFrame, folder: Path) -> Any:
    frame.iloc[:500].to_csv(folder / "1.csv", index=False)
    frame.iloc[500:].to_csv(folder / "2.csv", index=False)
    return [folder / "1.csv", folder / "2.csv"]


def _reader(frame: pd.DataFrame, folder: Path) -> Any:
    table = pa.Table.from_pandas(frame.sample(frac=1.0, random_state=1), preserve_index=False)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=70))


def _database(frame: pd.DataFrame, folder: Path) -> Any:
    import duckdb

    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), folder / "x.parquet")
    with duckdb.connect(str(folder / "x.db")) as opened:
        opened.execute(f"create table rows as select * from '{folder / 'x.parquet'}' order by b")
    return f"duckdb://{folder / 'x.db'}?table=rows"


def assert_same(there: GaussianMixture, here: GaussianMixture) -> None:
    """Both are the same to 1e-8, in units of the columns' own."""
    scale = np.sqrt(np.diagonal(here.covariances_[0]))
    np.testing.assert_allclose((there.means_ - here.means_) / scale, 0.0, atol=1e-8)
    np.testing.assert_allclose(there.covariances_, here.covariances_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(there.weights_, here.weights_, atol=1e-8)
    assert there.log_likelihood_ == pytest.approx(here.log_likelihood_, rel=1e-10)
    assert there.n_parameters_ == here.n_parameters_


@pytest.mark.usefixtures("pass_by_pass")
@pytest.mark.parametrize("make", [_parquet, _csv, _reader, _database])
def test_a_mixture_of_a_source_is_that_of_the_rows(
    make: Callable[[pd.DataFrame, Path], Any],
    frame: pd.DataFrame,
    here: GaussianMixture,
    tmp_path: Path,
) -> None:
    there = GaussianMixture(3, "VVV").fit(make(frame, tmp_path), sample_weight="w")
    assert_same(there, here)
    assert there.feature_names_in_.tolist() == NAMES
    named = GaussianMixture(3, "VVV").fit(frame, sample_weight="w", columns=NAMES)
    assert_same(named, here)


@pytest.mark.usefixtures("pass_by_pass")
def test_the_choice_is_that_of_the_rows(frame: pd.DataFrame, tmp_path: Path) -> None:
    settings: Any = {
        "components": range(2, 4),
        "covariance": ["EEE"],
        "criterion": "icl",
        "noise": True,
    }
    there = GaussianMixture(**settings).fit(_parquet(frame, tmp_path), columns=NAMES)
    here = GaussianMixture(**settings).fit(frame[NAMES])
    assert there.components_ == here.components_
    for ours, theirs in zip(there.trials_, here.trials_, strict=True):
        assert (ours["form"], ours["components"]) == (theirs["form"], theirs["components"])
        assert ours["criterion"] == pytest.approx(theirs["criterion"], rel=1e-8)


@pytest.mark.usefixtures("any_dask", "pass_by_pass")
def test_dask_gives_what_an_array_gives(frame: pd.DataFrame, here: GaussianMixture) -> None:
    import dask.dataframe as dd

    there = GaussianMixture(3, "VVV").fit(dd.from_pandas(frame, npartitions=4), sample_weight="w")
    assert_same(there, here)


def test_spark_gives_what_an_array_gives(
    spark: Any, frame: pd.DataFrame, here: GaussianMixture
) -> None:
    rows = [tuple(None if np.isnan(v) else float(v) for v in row) for row in frame.to_numpy()]
    given = spark.createDataFrame(rows, "a double, b double, c double, w double")
    there = GaussianMixture(3, "VVV").fit(given.repartition(3), sample_weight="w")
    assert_same(there, here)


@pytest.mark.usefixtures("pass_by_pass")
def test_what_a_source_cannot_give_is_refused(frame: pd.DataFrame, tmp_path: Path) -> None:
    place = tmp_path / "x.parquet"
    frame.assign(kind="x").to_parquet(place)
    with pytest.raises(NotANumber, match="kind"):
        GaussianMixture(2, "EEE").fit(place)
    with pytest.raises(BadSetting, match="all rows at once"):
        GaussianMixture(2, "EEE", start=np.zeros(1200)).fit(place, columns=["a", "b"])
    with pytest.raises(BadSetting, match="one of its columns"):
        GaussianMixture(2, "EEE").fit(place, sample_weight=np.ones(1200))
    with pytest.raises(BadSetting, match="covariance"):
        GaussianMixture(2, "round").fit(tmp_path / "nothing.parquet")
    frame.assign(b=np.inf).to_parquet(place)
    with pytest.raises(NotFinite, match=r"x\.parquet"):
        GaussianMixture(2, "EEE").fit(place)
    frame[NAMES].assign(a=np.nan, b=np.nan, c=np.nan).to_parquet(place)
    with pytest.raises(BadRows, match="all rows are blank"):
        GaussianMixture(2, "EEE").fit(place)


def test_surveys_of_parts_add_up() -> None:
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 6, (400, 3)).astype(float)
    weights = rng.integers(1, 4, 400).astype(float)
    whole = RowSurvey.of(rows, weights, 50, marked=True)
    order = rng.permutation(400)
    parts = [
        RowSurvey.of(rows[some], weights[some], 50, part=True, marked=True)
        for some in np.array_split(order, [0, 10, 200])
    ]
    merged = parts[0] + parts[1] + parts[2] + parts[3]
    assert merged.size == whole.size == 400
    assert merged.mark == whole.mark
    assert merged.mark != RowSurvey.of(rows, np.roll(weights, 1), 50, marked=True).mark
    np.testing.assert_array_equal(merged.sample.rows, whole.sample.rows)
    np.testing.assert_array_equal(merged.sample.weights, whole.sample.weights)
    assert not whole.sample.whole
    every = SampledRows.of(rows, 1000, weights)
    assert every.whole
    assert len(every.rows) == len(np.unique(rows, axis=0))
    assert every.weights.sum() == weights.sum()
    np.testing.assert_array_equal(every.rows[:50], whole.sample.rows)


def test_rows_that_repeat_are_taken_once_by_their_weight() -> None:
    rng = np.random.default_rng(4)
    few = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(40, 2)) + 6.0])
    times = rng.integers(1, 40, 100)
    one = GaussianMixture(2, "VVV").fit(np.repeat(few, times, axis=0))
    other = GaussianMixture(2, "VVV").fit(few, sample_weight=times)
    np.testing.assert_allclose(one.covariances_, other.covariances_, rtol=1e-8)
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-12)


class _Interrupted(Journey):
    """Ends a search as Ctrl-C does, after so many steps."""

    def __init__(self, steps: int) -> None:
        self.left, self.steps = steps, 0

    def step(self, form: str, components: int, stage: Any) -> None:
        self.left, self.steps = self.left - 1, self.steps + 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", [5, 12])
def test_a_search_that_is_interrupted_goes_on(
    after: int, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "EVERY", 1e9)  # nothing but the end writes
    monkeypatch.setattr(fitting, "SMALL_TABLE", 0)
    place = tmp_path / "search"
    settings: Any = {"components": [3, 4], "covariance": "VVV"}
    whole, counted = GaussianMixture(**settings), _Interrupted(-1)
    whole.fit(frame[NAMES], journey=counted)
    model = GaussianMixture(**settings)
    with pytest.raises(KeyboardInterrupt):
        model.fit(frame[NAMES], checkpoint=place, journey=_Interrupted(after))
    assert not hasattr(model, "n_features_in_")
    rest = _Interrupted(-1)
    shuffled = frame[NAMES].sample(frac=1.0, random_state=3)  # the same rows, wherever they stand
    model.fit(shuffled, checkpoint=place, journey=rest)
    assert rest.steps < counted.steps
    assert model.components_ == whole.components_
    np.testing.assert_allclose(model.covariances_, whole.covariances_, rtol=1e-4, atol=1e-4)
    again = _Interrupted(-1)
    model.fit(frame[NAMES], checkpoint=place, journey=again)
    assert again.steps == 0
    with pytest.raises(BadFile, match="other rows"):
        model.fit(frame[NAMES].iloc[1:], checkpoint=place)
    with pytest.raises(BadFile, match="other settings"):
        GaussianMixture(2, "VVV").fit(frame[NAMES], checkpoint=place)
    place.write_bytes(place.read_bytes()[:200])
    with pytest.raises(BadFile):
        model.fit(frame[NAMES], checkpoint=place)
