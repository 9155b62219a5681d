"""Dates by type, in frames, Arrow and Parquet, are the dates of a table of text."""

from __future__ import annotations

import datetime as dt
import io
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import suffice
from suffice import NaiveBayes
from suffice.errors import NotANumber

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZE = 300


def frame() -> pd.DataFrame:
    """Return dates with and without a time, durations, and labels that weekends decide."""
    rng = np.random.default_rng(0)
    moments = pd.Timestamp("2022-01-03") + pd.to_timedelta(rng.integers(0, 14_400, SIZE), unit="h")
    odd = rng.random(SIZE) < 0.1
    found = pd.DataFrame(
        {
            "seen": moments,
            "day": moments.date,
            "took": pd.to_timedelta(rng.integers(0, 500, SIZE), unit="min"),
            "y": np.where((moments.day_of_week >= 5) ^ odd, "rest", "work"),
        }
    )
    found.loc[3, "seen"] = pd.NaT
    return found


def text(table: pd.DataFrame) -> pd.DataFrame:
    """Return the same as people write it."""
    minutes = [int(took.total_seconds() // 60) for took in table["took"]]
    return table.assign(
        seen=table["seen"].dt.strftime("%Y-%m-%d %H:%M"),
        day=[f"{day:%Y-%m-%d}" for day in table["day"]],
        took=[f"{m // 60}:{m % 60:02d}" for m in minutes],
    )


def arrow(table: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(table, preserve_index=False)


FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda table: table,
    "microseconds": lambda table: table.astype({"seen": "datetime64[us]"}),
    "zone": lambda table: table.assign(seen=table["seen"].dt.tz_localize("UTC").dt.tz_convert(
        "America/New_York")),
    "objects": lambda table: table.astype({"seen": object, "took": object}),
    "polars": pl.from_pandas,
    "arrow": arrow,
    "text": text,
}  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder, table = tmp_path_factory.mktemp("dates"), frame()
    text(table).to_csv(folder / "a.csv", index=False)
    parquet.write_table(arrow(table), folder / "a.parquet")
    given = {"csv": folder / "a.csv", "parquet": folder / "a.parquet"}
    given |= {name: form(table) for name, form in FORMS.items() if name != "text"}
    return {
        name: suffice.train(data, target="y", model="naive-bayes") for name, data in given.items()
    }


@pytest.mark.parametrize("asked", FORMS)
def test_models_of_any_form_answer_alike_in_any_form(models: dict[str, Any], asked: str) -> None:
    rows = FORMS[asked](frame().drop(columns="y"))
    expected = models["csv"].estimator.predict_proba(text(frame().drop(columns="y")))
    for name, model in models.items():
        np.testing.assert_allclose(
            model.estimator.predict_proba(rows), expected, rtol=1e-9, err_msg=name
        )


def test_what_is_said_and_found_is_that_of_the_table_of_text(models: dict[str, Any]) -> None:
    found = "the weekday of seen is a category beside it; columns={'seen': 'number'} takes the date"
    for name, model in models.items():
        said = "\n".join(model.notes)
        assert "read as dates" in said, name
        assert found in said, name
        assert model.table == models["csv"].table, name


def test_every_command_takes_parquet_and_text(run: Any, tmp_path: Path) -> None:
    table, model = frame(), tmp_path / "m.suffice"
    parquet.write_table(arrow(table), tmp_path / "a.parquet")
    text(table).to_csv(tmp_path / "a.csv", index=False)
    assert run("fit", tmp_path / "a.parquet", "-t", "y", "--model", "naive-bayes", "-o", model
               ).code == 0  # fmt: skip
    answers = [run("predict", model, tmp_path / f"a.{end}", "--proba").out
               for end in ("csv", "parquet")]  # fmt: skip
    assert answers[0] == answers[1]
    drawn = pd.read_csv(io.StringIO(run("sample", model, "-n", "20").out))
    assert pd.to_datetime(drawn["seen"]).between("2021-12-31", "2023-09-01").all()
    before = run("inspect", model, "--json").out
    assert run("learn", model, tmp_path / "a.csv").code == 0
    assert run("forget", model, tmp_path / "a.parquet").code == 0
    assert run("inspect", model, "--json").out.count("work") == before.count("work")


def test_estimators_take_them_as_days_and_hours() -> None:
    table = frame().drop(columns="y")
    days = pd.DataFrame(
        {
            "seen": (table["seen"] - pd.Timestamp(0)) / pd.Timedelta(days=1),
            "day": [(day - dt.date(1970, 1, 1)).days for day in table["day"]],
            "took": table["took"] / pd.Timedelta(hours=1),
        }
    )
    y = frame()["y"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = NaiveBayes("gaussian").fit(table, y), NaiveBayes("gaussian").fit(days, y)
        np.testing.assert_allclose(one.predict_proba(table), two.predict_proba(days), rtol=1e-9)


def test_a_column_of_numbers_that_is_declared_a_date_is_refused_in_a_frame() -> None:
    table = pd.DataFrame({"d": range(45_000, 45_060), "y": ["a", "b", "b"] * 20})
    with pytest.raises(NotANumber, match="d is declared a date, but its frame column"):
        suffice.train(table, target="y", model="naive-bayes", columns={"d": "date"})
