"""Fit, and ask: the commands give the answers that the library gives."""

from __future__ import annotations

import csv
import gc
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


def lines(text: str) -> pd.DataFrame:
    """Return JSON lines as a frame: with all digits."""
    return pd.DataFrame([json.loads(line) for line in text.splitlines()])


def frame(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])


@pytest.mark.parametrize("model", MODELS)
def test_predict_says_what_the_loaded_model_says(
    model: str, run: Any, fitted: Callable[..., Path], measurements: Path
) -> None:
    path = fitted(measurements, "class", model)
    said = lines(run("predict", path, measurements, "--proba", "--json").out)
    X = pd.read_csv(measurements).drop(columns="class")
    loaded = suffice.load(path)
    assert list(said["prediction"]) == list(loaded.predict(X))
    np.testing.assert_allclose(
        said[[f"p({label})" for label in loaded.classes_]], loaded.predict_proba(X), rtol=1e-12
    )
    printed = frame(run("predict", path, measurements, "--proba").out)
    np.testing.assert_allclose(printed.iloc[:, 1:], said.iloc[:, 1:], rtol=5.1e-6)
    assert list(printed["prediction"]) == list(said["prediction"])


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
    model = suffice.load(path)
    said = model.learned_.notes.rates.calibrated(model.typicality(pd.read_csv(odd)).max(axis=1))
    printed = frame(run("outliers", path, odd, "--all").out)["typicality"]
    np.testing.assert_allclose(printed, said, rtol=5.1e-6)
    exact = lines(run("outliers", path, odd, "--all", "--json").out)["typicality"]
    np.testing.assert_allclose(exact, said, rtol=1e-12)


@pytest.mark.parametrize("command", ["sample", "outliers"])
def test_logistic_regression_has_no_law_of_x(
    command: str, run: Any, fitted: Callable[..., Path], measurements: Path
) -> None:
    path = fitted(measurements, "class", "logistic")
    done = run(command, path, *([measurements] if command == "outliers" else []))
    assert done.code == 1
    assert "LogisticRegression: it has no model of p(x)" in done.err


def test_costs_change_decisions(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    costs = tmp_path / "costs.csv"
    costs.write_text("truth,x,y,z,ask\nx,0,9,9,0.5\ny,9,0,9,0.5\nz,9,9,0,0.5\n")
    said = lines(run("predict", path, measurements, "--cost", costs, "--proba", "--json").out)
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
    assert "has no row for y, z and a row for w, which is not a class" in done.err
    costs.write_text("truth,x,y\nx,0,1\ny,1,much\nz,1,1\n")
    assert "y, y: 'much' is not a cost" in run("predict", path, measurements, "--cost", costs).err


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


def test_settings_reach_the_model_and_strange_ones_are_wrong_usage(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "qda", "--pool", 0.5, "--priors", "x=.5,y=.25,z=.25")
    model = suffice.load(path)
    assert model.pool == 0.5
    assert model.priors == {"x": 0.5, "y": 0.25, "z": 0.25}
    for more in (["--model", "gda", "--penalty", 1], ["--penalty", 1], ["--model", "lde"]):
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


@pytest.fixture
def even(run: Any, fitted: Callable[..., Path], tmp_path: Path) -> tuple[Path, Path]:
    """Return a model of two classes like each other's mirror image, and rows with known answers.

    Means -1 and 1, variance 1: the log odds of b are 2x, so p(b) is 1/2 at 0, 1/(1 + e⁻²) at 1.
    """
    table, rows = tmp_path / "even.csv", tmp_path / "rows.csv"
    table.write_text("x,y\n" + "-2,a\n0,a\n0,b\n2,b\n" * 5)
    rows.write_text("x\n0\n1\n-1\n")
    return fitted(table, "y", "gda"), rows


SURE = 1.0 / (1.0 + np.exp(-2.0))
UNSURE = (1.0 - SURE, 1.0 - SURE)


@pytest.mark.parametrize(
    ("costs", "decided", "expected"),
    [
        ("truth,a,b\na,0,1\nb,1,0\n", ["a", "b", "a"], [0.5, *UNSURE]),
        ("truth,b,a\nb,0,1\na,1,0\n", ["b", "b", "a"], [0.5, *UNSURE]),
        ("truth,a,b\nb,10,0\na,0,1\n", ["b", "b", "b"], [0.5, 1 - SURE, SURE]),
        ("truth,a,b,ask\na,0,1,0.3\nb,1,0,0.3\n", ["ask", "b", "a"], [0.3, *UNSURE]),
        ("truth,go,stay\na,-2,0\nb,1,0\n", ["go", "stay", "go"], [-0.5, 0, 1 - 3 * SURE]),
    ],
    ids=["wrong is wrong", "ties go to the first column", "dear to miss b", "asking", "gains"],
)
def test_decisions_cost_what_was_worked_out_by_hand(
    costs: str, decided: list[str], expected: list[float], run: Any, even: Any, tmp_path: Path
) -> None:
    model, rows = even
    table = tmp_path / "costs.csv"
    table.write_text(costs)
    said = lines(run("predict", model, rows, "--cost", table, "--json").out)
    assert list(said["prediction"]) == decided
    np.testing.assert_allclose(said["cost"], expected, atol=1e-12)


def test_what_just_reaches_the_threshold_is_not_rejected(run: Any, even: Any) -> None:
    model, rows = even
    assert run("predict", model, rows, "--reject-below", 0.5).rows[1:] == ["a", "b", "a"]
    assert run("predict", model, rows, "--reject-below", 0.51).rows[1:] == ['""', "b", "a"]
    beyond = float(SURE) + 1e-9
    assert run("predict", model, rows, "--reject-below", beyond).rows[1:] == ['""'] * 3
    both = run("predict", model, rows, "--reject-below", 0.5, "--cost", rows)
    assert both.code == 2


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ("truth\na\nb\n", "has 1 column"),
        ("truth,a,b\n", "has no row for a, b"),
        ("truth,a,b\na,0,1\n", "has no row for b"),
        ("truth,a,b\na,0,1\nb,1,0\na,0,2\n", "more than one row for a"),
        ("truth,a,b\na,0,1\nb,1,\n", "b, b: a blank cell is not a cost"),
        ("truth,a,b\na,0,1\nb,1,inf\n", "is not a cost"),
        ("truth,a,b\na,0\nb,1,0\n", "line 2: 2 cell(s) where the header names 3"),
        ("truth,a,b\na,0,1\nb,1,0\nc,1,1\n", "a row for c, which is not a class"),
    ],
)
def test_costs_of_the_wrong_shape_are_refused(
    costs: str, words: str, run: Any, even: Any, tmp_path: Path
) -> None:
    model, rows = even
    table = tmp_path / "costs.csv"
    table.write_text(costs)
    done = run("predict", model, rows, "--cost", table)
    assert (done.code, done.out) == (1, "")
    assert words in done.err
    assert "\nHint: " in done.err


def test_a_category_that_is_new_at_predict_is_said_once(
    run: Any, fitted: Callable[..., Path], flowers: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.csv"
    new.write_text("size,colour,petals,scented\n" + "1.5,violet,5,true\n,violet,5,true\n" * 9)
    for model in MODELS:
        done = run("predict", fitted(flowers, "kind", model), new)
        assert done.code == 0
        assert done.err.count("violet") == 1
        assert "note: values the model has not seen before: colour=violet" in done.err


def test_outliers_come_least_typical_first_and_no_more_than_are_asked_for(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    odd = tmp_path / "odd.csv"
    odd.write_text("a,b,c\n0,0,0\n9,-9,0\n50,-50,0\n5,5,5\n20,-20,0\n")
    found = lines(run("outliers", path, odd, "--json").out)
    assert list(found["row"]) == [3, 5, 2]
    assert list(found["typicality"]) == sorted(found["typicality"])
    done = run("outliers", path, odd, "--most", 2)
    assert [row.split(",")[0] for row in done.rows] == ["row", "3", "5"]
    assert "note: 3 of 5 rows" in done.err
    assert run("outliers", path, odd, "--most", 2, "--all").code == 2


def test_every_command_has_json_that_can_be_read(
    run: Any, measurements: Path, tmp_path: Path
) -> None:
    path, other = tmp_path / "m.suffice", tmp_path / "n.suffice"
    done = run("fit", measurements, "-t", "class", "-o", path, "--model", "qda", "--json")
    said = json.loads(done.out)
    assert (said["rows"], said["columns"], said["classes"]) == (120, 3, ["x", "y", "z"])
    for command in (
        ("explain", path, measurements),
        ("inspect", path),
        ("learn", path, measurements, "-o", other),
        ("diff", path, other),
        ("forget", other, measurements),
        ("merge", path, other, "-o", other),
    ):
        done = run(*command, "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out), command
    for command in (
        ("predict", path, measurements),
        ("sample", path),
        ("outliers", path, measurements, "--all"),
    ):
        rows = [json.loads(line) for line in run(*command, "--json").rows]
        assert len(rows) == (10 if command[0] == "sample" else 120)


def test_no_certainty_is_claimed_in_an_explanation(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    far = tmp_path / "far.csv"
    far.write_text("a,b,c\n40,40,40\n")
    assert "(p > 0.9999 of the two)" in run("explain", path, far).out
    turned = run("explain", path, far, "--of", "x", "--against", "z").out
    assert "(p < 0.0001 of the two)" in turned


def test_a_class_too_small_for_a_p_value_does_not_hide_outliers(
    run: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    measurements.write_text(measurements.read_text() + "9,9,9,few\n9.5,9,9,few\n")
    path = fitted(measurements, "class", "qda")
    odd = tmp_path / "odd.csv"
    odd.write_text("a,b,c\n0,0,0\n50,-50,0\n")
    done = run("outliers", path, odd)
    assert [row.split(",")[0] for row in done.rows] == ["row", "2"]
    rejected = run("predict", path, odd, "--reject-below", 0.001, "--reject-by", "typicality")
    assert rejected.rows[1:] == ["x", '""']
    assert "NaN" not in done.out


@pytest.mark.parametrize("model", ["gda", "qda", "naive-bayes"])
def test_no_more_than_one_training_row_in_a_hundred_is_an_outlier(
    model: Any, run: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(31)
    n = 500
    sick = rng.random(n) < 0.4
    plans = rng.choice(list("abcdefg"), n, p=[0.45, 0.3, 0.15, 0.04, 0.03, 0.02, 0.01])
    table = pd.DataFrame(
        {
            "size": rng.normal(3.0 * sick, 1.0).round(3),
            "plan": plans,
            "visits": rng.poisson(3.0 + 2.0 * sick),
            "state": np.where(sick, "sick", "well"),
        }
    )
    place, path = tmp_path / "table.csv", tmp_path / "model.suffice"
    table.to_csv(place, index=False)
    assert run("fit", place, "-t", "state", "--model", model, "-o", path).code == 0
    done = run("outliers", path, place)
    assert "if these are the training rows, use --training" in done.err
    # Four standard deviations of one in a hundred of 500; counts are not quite normal.
    assert len(done.rows) - 1 <= 5 + 4 * np.sqrt(5)
    taken = run("outliers", path, place, "--training", "--all", "--json")
    assert taken.code == 0
    model = suffice.load(path)
    said = model.typicality(table.drop(columns="state"), table["state"]).max(axis=1)
    said = model.learned_.notes.rates.calibrated(said)
    np.testing.assert_allclose(lines(taken.out)["typicality"], said, rtol=1e-4)
    assert (lines(taken.out)["typicality"] < 0.01).sum() <= 5 + 4 * np.sqrt(5)
    table.drop(columns="state").to_csv(tmp_path / "bare.csv", index=False)
    refused = run("outliers", path, tmp_path / "bare.csv", "--training")
    assert refused.code != 0
    assert "state" in refused.err


def test_commands_look_for_garbage_less_often_and_leave_that_as_it_was(
    run: Any, measurements: Path, tmp_path: Path
) -> None:
    began: list[int] = []

    def count(phase: str, info: dict[str, int]) -> None:
        began.extend([info["generation"]] * (phase == "start"))

    usual = gc.get_threshold()
    gc.callbacks.append(count)
    try:
        done = run("fit", measurements, "-t", "class", "-o", tmp_path / "m.suffice")
    finally:
        gc.callbacks.remove(count)
    assert done.code == 0
    assert gc.get_threshold() == usual
    assert len(began) < 10  # hundreds, as Python has it
