"""Fit, and ask: the commands give the answers that the library gives."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODELS = ("gda", "qda", "naive-bayes", "logistic")


def frame(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])


@pytest.mark.parametrize("model", MODELS)
def test_predict_says_what_the_loaded_model_says(
    model: str, run: Any, fitted: Callable[..., Path], measurements: Path
) -> None:
    path = fitted(measurements, "class", model)
    said = frame(run("predict", path, measurements, "--proba").out)
    X = pd.read_csv(measurements).drop(columns="class")
    loaded = suffice.load(path)
    assert list(said["prediction"]) == list(loaded.predict(X))
    np.testing.assert_allclose(
        said[[f"p({label})" for label in loaded.classes_]], loaded.predict_proba(X), atol=1e-12
    )


@pytest.mark.parametrize("model", ["gda", "qda", "naive-bayes", "logistic"])
def test_words_blanks_counts_and_truths_need_no_preparation(
    model: str, run: Any, fitted: Callable[..., Path], flowers: Path
) -> None:
    path = fitted(flowers, "kind", model)
    done = run("predict", path, flowers)
    assert done.code == 0
    assert done.rows == ["prediction", *["rose"] * 5, *["daisy"] * 5]
    assert "note: 10 of 10 agree with kind (100.0%)" in done.err


def test_logistic_says_what_stands_for_blanks(run: Any, flowers: Path, tmp_path: Path) -> None:
    done = run("fit", flowers, "-t", "kind", "--model", "logistic", "-o", tmp_path / "m")
    assert done.code == 0
    assert (
        "note: 1 blank cell in size was filled with the mean of its column; size=blank" in done.err
    )


@pytest.mark.parametrize("model", MODELS)
def test_the_parts_of_an_explanation_add_up(
    model: str, run: Any, fitted: Callable[..., Path], flowers: Path
) -> None:
    path = fitted(flowers, "kind", model)
    (one,) = json.loads(run("explain", path, flowers, "--row", 3, "--json").out)
    assert one["row"] == 3
    assert one["of"] == "rose"
    total = one["baseline"] + sum(one["contributions"].values())
    assert total == pytest.approx(one["log_odds"])
    text = run("explain", path, flowers, "--row", 3).out
    assert text.startswith("row 3: rose rather than daisy, log odds +")
    assert one["cells"]["colour"] == "white"


def test_explain_compares_the_classes_that_are_named(
    run: Any, fitted: Callable[..., Path], measurements: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    done = run("explain", path, measurements, "--row", 1, "--of", "z", "--against", "y")
    assert done.out.startswith("row 1: z rather than y, log odds -")
    refused = run("explain", path, measurements, "--of", "w")
    assert (refused.code, refused.err) == (
        1,
        "error: there is no class 'w'\nHint: the classes are x, y, z\n",
    )


@pytest.mark.parametrize("model", ["gda", "qda", "naive-bayes"])
def test_samples_are_tables_like_the_one_that_was_fitted(
    model: str, run: Any, fitted: Callable[..., Path], flowers: Path, tmp_path: Path
) -> None:
    path = fitted(flowers, "kind", model)
    done = run("sample", path, "-n", 50, "--seed", 3)
    drawn = frame(done.out)
    assert list(drawn) == ["size", "colour", "petals", "scented", "kind"]
    assert len(drawn) == 50
    assert set(drawn["kind"]) == {"rose", "daisy"}
    assert set(drawn["colour"].dropna()) <= {"red", "white", "yellow"}
    assert set(drawn["scented"]) <= {True, False}
    assert run("sample", path, "-n", 50, "--seed", 3).out == done.out
    again = tmp_path / "drawn.csv"
    again.write_text(done.out)
    assert run("learn", path, again).code == 0
    only = frame(run("sample", path, "-n", 20, "--class", "rose").out)
    assert set(only["kind"]) == {"rose"}


def test_outliers_are_rows_that_are_typical_of_no_class(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    odd = tmp_path / "odd.csv"
    odd.write_text("a,b,c\n0,0,0\n50,-50,0\n5,5,5\n")
    done = run("outliers", path, odd)
    (found,) = list(csv.DictReader(io.StringIO(done.out)))
    assert found["row"] == "2"
    assert float(found["typicality"]) < 0.01
    assert "note: 1 of 3 rows" in done.err
    assert len(run("outliers", path, odd, "--all").rows) == 4
    said = suffice.load(path).typicality(pd.read_csv(odd)).max(axis=1)
    printed = frame(run("outliers", path, odd, "--all").out)["typicality"]
    np.testing.assert_allclose(printed, said)


@pytest.mark.parametrize("command", ["sample", "outliers"])
def test_logistic_regression_has_no_law_of_x(
    command: str, run: Any, fitted: Callable[..., Path], measurements: Path
) -> None:
    path = fitted(measurements, "class", "logistic")
    done = run(command, path, *([measurements] if command == "outliers" else []))
    assert done.code == 1
    assert "LogisticRegression: it says nothing about p(x)" in done.err


def test_costs_change_decisions(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    costs = tmp_path / "costs.csv"
    costs.write_text("truth,x,y,z,ask\nx,0,9,9,0.5\ny,9,0,9,0.5\nz,9,9,0,0.5\n")
    said = frame(run("predict", path, measurements, "--cost", costs, "--proba").out)
    p = said[["p(x)", "p(y)", "p(z)"]].to_numpy()
    wrong = 9.0 * (1.0 - p.max(axis=1))
    best = np.array(["x", "y", "z"])[p.argmax(axis=1)]
    assert list(said["prediction"]) == list(np.where(wrong <= 0.5, best, "ask"))
    np.testing.assert_allclose(said["cost"], np.minimum(wrong, 0.5), atol=1e-9)
    assert "ask" in set(said["prediction"])


def test_costs_that_do_not_name_the_classes_are_refused(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    costs = tmp_path / "costs.csv"
    costs.write_text("truth,x,y\nx,0,1\nw,1,0\n")
    done = run("predict", path, measurements, "--cost", costs)
    assert done.code == 1
    assert "has no row for y, z and a row for w, which is no class" in done.err
    costs.write_text("truth,x,y\nx,0,1\ny,1,much\nz,1,1\n")
    assert "y, y: 'much' is no cost" in run("predict", path, measurements, "--cost", costs).err


def test_rows_can_be_rejected_by_probability_and_by_typicality(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b,c\n0,0,0\n1,1,1\n500,500,500\n")
    sure = run("predict", path, rows, "--reject-below", 0.9)
    assert sure.rows == ["prediction", "x", '""', "z"]
    assert "note: 1 of 3 rows have no class: probability below 0.9" in sure.err
    typical = run("predict", path, rows, "--reject-below", 0.001, "--reject-by", "typicality")
    assert typical.rows == ["prediction", "x", typical.rows[2], '""']
    assert typical.rows[2] in ("x", "y")
    as_json = run("predict", path, rows, "--reject-below", 0.9, "--json").rows
    assert [json.loads(line)["prediction"] for line in as_json] == ["x", None, "z"]


def test_auto_takes_the_lowest_log_loss_and_says_so(
    run: Any, measurements: Path, tmp_path: Path
) -> None:
    done = run("fit", measurements, "-t", "class", "-o", tmp_path / "m.suffice")
    assert done.code == 0
    compared = json.loads(run("compare", measurements, "-t", "class", "--no-curves", "--json").out)
    losses = {one["model"]: one["log_loss"] for one in compared["models"]}
    best = min(losses, key=lambda name: losses[name])
    assert f"note: chose {best}: its log-loss on held-out rows is {losses[best]:.3f}" in done.err
    assert compared["recommendation"]["best"] == best


def test_settings_reach_the_model_and_strange_ones_are_wrong_usage(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "qda", "--pool", 0.5, "--priors", "x=.5,y=.25,z=.25")
    model = suffice.load(path)
    assert model.pool == 0.5
    assert model.priors == {"x": 0.5, "y": 0.25, "z": 0.25}
    for more in (["--model", "gda", "--penalty", 1], ["--penalty", 1], ["--model", "lda"]):
        done = run("fit", measurements, "-t", "class", "-o", tmp_path / "m", *more)
        assert done.code == 2, done.err
        assert done.err.startswith("error: ")
        assert done.err.count("\n") == 2


def test_labels_keep_their_type(run: Any, fitted: Callable[..., Path], tmp_path: Path) -> None:
    for cells, expected in (
        (("1", "2"), [1, 2]),
        (("true", "false"), [False, True]),
        (("1", "b"), ["1", "b"]),
    ):
        table = tmp_path / f"labels{expected[0]}.csv"
        table.write_text("v,y\n" + "".join(f"{i % 7},{cells[i % 2]}\n" for i in range(12)))
        path = fitted(table, "y", "gda")
        assert suffice.load(path).classes_.tolist() == expected
        assert run("learn", path, table).code == 0
        first = json.loads(run("predict", path, table, "--json").rows[0])
        assert first["prediction"] in expected


def test_an_empty_table_has_no_answers(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    none = tmp_path / "none.csv"
    none.write_text("a,b,c\n")
    done = run("predict", path, none)
    assert (done.code, done.out) == (0, "")
    assert "has no rows" in done.err
