"""Hidden classes of rows that are somewhere else are those of the same rows in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import suffice.learning.collect as collecting
from suffice import LatentClasses
from suffice.errors import BadSetting, ColumnMismatch
from tests.engines.sql_tables import copied

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["colour", "size", "faults"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return rows of two classes that are apart, with blanks, a rare level, and weights."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 2, 900)
    colours = np.where(rng.random(900) < 0.85, codes, 1 - codes)
    found = pd.DataFrame(
        {
            "colour": np.array(["red", "blue"], dtype=object)[colours],
            "size": rng.normal(codes * 7.0, 1.0),
            "faults": rng.poisson(2.0 + 9.0 * codes),
            "w": rng.integers(0, 3, 900).astype(float),
        }
    )
    found.loc[rng.random(900) < 0.1, "size"] = np.nan
    found.loc[rng.random(900) < 0.1, "colour"] = None
    found.loc[700, "colour"] = "mauve"
    found.loc[700, "w"] = 1.0
    found.loc[701, NAMES] = [None, np.nan, 3]
    return found


@pytest.fixture(scope="module")
def here(frame: pd.DataFrame) -> LatentClasses:
    """Return the classes of the rows in memory."""
    return LatentClasses(2, starts=4).fit(frame[NAMES], sample_weight=frame.w)


def _parquet(frame: pd.DataFrame, folder: Path) -> Any:
    for place in range(3):
        part = frame.iloc[place * 300 : (place + 1) * 300]
        part.to_parquet(folder / f"{place}.parquet", row_group_size=100)
    return folder


def _csv(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def _stream(frame: pd.DataFrame, folder: Path) -> Any:
    return pa.Table.from_pandas(frame, preserve_index=False).to_reader(100)


@pytest.mark.parametrize("kind", [_parquet, _csv, _stream])
@pytest.mark.parametrize("passes", [False, True])
def test_classes_of_a_source_are_those_of_its_rows(
    kind: Any,
    passes: bool,
    frame: pd.DataFrame,
    here: LatentClasses,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if passes:  # hold no rows: as if it were large
        monkeypatch.setattr(collecting, "MOST_CELLS", 0)
    model = LatentClasses(2, starts=4).fit(kind(frame, tmp_path), sample_weight="w")
    assert model.families_ == here.families_
    assert model.n_parameters_ == here.n_parameters_
    assert model.log_likelihood_ == pytest.approx(here.log_likelihood_, rel=1e-8)
    np.testing.assert_allclose(
        model.predict_proba(frame[NAMES]), here.predict_proba(frame[NAMES]), atol=1e-4
    )
    if not passes:
        np.testing.assert_allclose(
            model.predict_proba(frame[NAMES]), here.predict_proba(frame[NAMES]), atol=1e-8
        )


def test_levels_that_a_sample_has_not_shown_are_learned(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import suffice.learning.learners.latent_classes as learning

    monkeypatch.setattr(collecting, "MOST_CELLS", 0)
    monkeypatch.setattr(learning, "SAMPLE", 100)
    _parquet(frame, tmp_path)
    for alpha in (0.0, 1.0):
        model = LatentClasses(2, starts=4, smoothing=alpha).fit(tmp_path, sample_weight="w")
        assert "mauve" in model.parameters_["colour"][0]
        whole = LatentClasses(2, starts=4, smoothing=alpha).fit(frame[NAMES], sample_weight=frame.w)
        assert model.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-8)


def test_what_a_source_cannot_say_is_refused(frame: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LatentClasses(2).fit(tmp_path / "nothing.parquet")
    place = _csv(frame, tmp_path)
    with pytest.raises(BadSetting, match="one of its columns"):
        LatentClasses(2).fit(place, sample_weight=frame.w)
    with pytest.raises(ColumnMismatch):
        LatentClasses(2).fit(place, sample_weight="v")


# Engines: a step of EM is one collection, wherever the rows are


def _alike(model: LatentClasses, here: LatentClasses, frame: pd.DataFrame) -> None:
    assert model.families_ == here.families_
    assert model.log_likelihood_ == pytest.approx(here.log_likelihood_, rel=1e-8)
    np.testing.assert_allclose(
        model.predict_proba(frame[NAMES]), here.predict_proba(frame[NAMES]), atol=1e-4
    )


@pytest.mark.usefixtures("any_dask")
def test_dask_gives_what_a_frame_gives(frame: pd.DataFrame, here: LatentClasses) -> None:
    import dask.dataframe as dd

    given = dd.from_pandas(frame, npartitions=3)
    _alike(LatentClasses(2, starts=4).fit(given, sample_weight="w"), here, frame)


def test_spark_gives_what_a_frame_gives(
    spark: Any, frame: pd.DataFrame, here: LatentClasses
) -> None:
    rows = [
        # A blank is NaN, which pandas 3 has among texts, too.
        (c if isinstance(c, str) else None, None if s != s else float(s), int(f), float(w))  # noqa: PLR0124
        for c, s, f, w in frame.itertuples(index=False)
    ]
    given = spark.createDataFrame(rows, "colour string, size double, faults int, w double")
    _alike(LatentClasses(2, starts=4).fit(given.repartition(3), sample_weight="w"), here, frame)


def test_a_table_of_a_database_gives_what_a_frame_gives(
    frame: pd.DataFrame, here: LatentClasses, tmp_path: Path
) -> None:
    duckdb = pytest.importorskip("duckdb")
    place = tmp_path / "rows.duckdb"
    with duckdb.connect(str(place)) as there:
        there.register("given", frame)
        there.execute("create table rows as select * from given")
    model = LatentClasses(2, starts=4).fit(f"duckdb://{place}?table=rows", sample_weight="w")
    _alike(model, here, frame)


def test_a_table_of_postgresql_gives_what_a_frame_gives(
    postgres: Any, frame: pd.DataFrame, here: LatentClasses
) -> None:
    kinds = {"colour": pa.string(), "size": pa.float64(), "faults": pa.int64(), "w": pa.float64()}
    table = pa.Table.from_pandas(frame, pa.schema(kinds.items()), preserve_index=False)
    given = copied(postgres, table, "rows")
    _alike(LatentClasses(2, starts=4).fit(given, sample_weight="w"), here, frame)
