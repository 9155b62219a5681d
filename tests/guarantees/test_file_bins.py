"""Model files keep bins of their columns: watch and diff know spread and shape without rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.cli.app import main
from suffice.monitoring.bin_tests import bin_tests
from suffice.monitoring.drift_tests import holm
from suffice.rows import read_table
from suffice.statistics.quantile_bins import ColumnBins
from suffice.testing import assert_same
from tests.searches import repeats

if TYPE_CHECKING:
    from pathlib import Path


def frame(n: int, seed: int, *, wide: float = 1.0) -> Any:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return pd.DataFrame({
        "a": rng.standard_t(2, size=n) + y, "b": wide * rng.normal(size=n),
        "c": np.where(rng.random(n) < 0.2, np.nan, np.round(rng.lognormal(size=n), 2)),
        "kind": np.where(rng.random(n) < 0.5, "u", "v"), "y": np.where(y, "yes", "no"),
    })  # fmt: skip


def fitted(place: Path, rows: Any, model: str) -> Path:
    table, file = place.with_suffix(".csv"), place.with_suffix(".suffice")
    rows.to_csv(table, index=False)
    given = ["fit", str(table), "--target", "y", "--model", model, "-o", str(file)]
    assert main(given) == 0
    return file


def told(path: Path) -> ColumnBins:
    found = suffice.load(path).learned_.notes.bins
    assert found is not None
    return found


@pytest.mark.parametrize("model", ["gda", "naive-bayes", "logistic"])
def test_spread_is_told_from_the_file_alone(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = fitted(tmp_path / "old", frame(600, 0), model)
    assert told(file).names == ("a", "b", "c")
    assert suffice.watch(file, suffice.load(file)).ok
    same, wide = frame(500, 1), frame(500, 2, wide=3.0)
    assert suffice.watch(suffice.load(file), same.drop(columns="y")).ok
    found = suffice.watch(suffice.load(file), wide.drop(columns="y"))
    assert {test.column for test in found.moved} == {"b"}
    assert "share" in found.moved[0].what
    other = fitted(tmp_path / "new", wide, model)
    capsys.readouterr()
    assert main(["diff", str(file), str(other)]) == 0
    said = capsys.readouterr().out
    assert "columns that moved, all classes together" in said
    assert "share " in said
    assert main(["diff", str(file), str(other), "--json"]) == 0
    tests = json.loads(capsys.readouterr().out)["columns_over_all_classes"]
    assert {test["column"] for test in tests if test["adjusted"] < 0.01} == {"b"}


def test_learning_forgetting_and_merging_go_through_bins(tmp_path: Path) -> None:
    one, two = frame(200, 3), frame(150, 4)
    file, other = fitted(tmp_path / "one", one, "gda"), fitted(tmp_path / "two", two, "gda")
    before = told(file)
    two.to_csv(tmp_path / "more.csv", index=False)
    assert main(["learn", str(file), str(tmp_path / "more.csv")]) == 0
    both = told(file)
    table = read_table(pd.concat([one, two])[["a", "b", "c"]])
    assert_same(both.bins, before.tallied(table).bins)
    assert main(["forget", str(file), str(tmp_path / "more.csv")]) == 0
    assert_same(told(file).bins, before.bins)
    merged = tmp_path / "merged.suffice"
    assert main(["merge", str(file), str(other), "-o", str(merged)]) == 0
    found = told(merged)
    assert_same(found.bins, found.tallied(table).bins)


def test_rows_that_are_read_again_are_all_tallied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from suffice.training import training_rows

    monkeypatch.setattr(training_rows, "LOOK", 400)
    rows = frame(1000, 5)
    for model in ("gda", "logistic"):  # the second goes over them several times, with blanks filled
        found = told(fitted(tmp_path / model, rows, model))
        assert found.bins.weight == 1000.0
        assert found.bins.counts[2] == rows["c"].notna().sum()
        assert_same(found.bins, found.tallied(read_table(rows[["a", "b", "c"]])).bins)


def test_files_without_bins_say_what_they_cannot_tell(tmp_path: Path) -> None:
    model = suffice.GaussianDiscriminant().fit(frame(100, 0)[["a", "b"]], frame(100, 0)["y"])
    model.save(tmp_path / "plain.suffice")
    found = suffice.watch(tmp_path / "plain.suffice", suffice.load(tmp_path / "plain.suffice"))
    assert "shape needs rows" in found.notes[0]
    assert "spread, shape" in suffice.watch(model, frame(50, 1)[["a", "b"]]).notes[0]


def test_more_rows_in_python_are_said_to_be_missing_in_bins(tmp_path: Path) -> None:
    model = suffice.load(fitted(tmp_path / "one", frame(100, 0), "gda"))
    model.partial_fit(frame(50, 1).drop(columns="y"), frame(50, 1)["y"])
    found = suffice.watch(model, frame(50, 2).drop(columns="y"))
    assert "spread and shape are known of 100 of 150 rows" in found.notes


@pytest.mark.parametrize("tails", ["normal", "cauchy", "lognormal", "counts"])
def test_heavy_tails_raise_no_false_alarms(tails: str) -> None:
    rng = np.random.default_rng(6)
    draw = {
        "normal": lambda n: rng.normal(size=(n, 10)),
        "cauchy": lambda n: rng.standard_cauchy(size=(n, 10)),
        "lognormal": lambda n: np.exp(2.0 * rng.normal(size=(n, 10))),
        "counts": lambda n: rng.poisson(2.0, size=(n, 10)).astype(float),
    }[tails]
    draws, alarms = repeats(60, 1000), 0
    for _ in range(draws):
        old = ColumnBins.cut(read_table(draw(400)))
        assert old is not None
        alarms += holm(bin_tests(old, old.tallied(read_table(draw(300)))))[0].adjusted < 0.05
    assert alarms <= 0.05 * draws + 3.0 * np.sqrt(0.05 * 0.95 * draws)
