"""Commands on the file of a pool: they answer, learn, forget and merge, or refuse in words."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MEMBERS = ["naive Bayes", "logistic", "forest"]


def _table(size: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40.0, 9.0, size).round(1),
            "colour": rng.choice(["red", "blue", "green"], size),
            "member": rng.random(size) < 0.5,
        }
    )
    score = frame["age"] + 8.0 * (frame["colour"] == "red") + rng.normal(0.0, 4.0, size)
    frame["kind"] = np.where(score > 42.0, "yes", "no")
    frame.loc[::9, "age"] = None
    frame.loc[::13, "colour"] = None
    return frame


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with a pool of a.csv, one of b.csv, and both tables."""
    for name, seed in (("a", 1), ("b", 2)):
        frame = _table(40, seed)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        suffice.Pool(MEMBERS).fit(*_rows(frame)).save(tmp_path / f"{name}.suffice")
    return tmp_path


def _rows(frame: pd.DataFrame) -> tuple[pd.DataFrame, Any]:
    return frame.drop(columns="kind"), frame["kind"]


def _probabilities(run: Callable[..., Any], model: Path, table: Path) -> Any:
    done = run("predict", model, table, "--proba", "--json")
    assert done.code == 0, done.err
    return np.array([list(json.loads(line)["probabilities"].values()) for line in done.rows])


def test_predict_says_what_the_pool_says(files: Path, run: Callable[..., Any]) -> None:
    rows, _ = _rows(_table(40, 2))
    model = suffice.load(files / "a.suffice")
    done = run("predict", files / "a.suffice", files / "b.csv", "--json")
    assert done.code == 0, done.err
    said = [json.loads(line)["prediction"] for line in done.rows]
    assert said == model.predict(rows).tolist()


def test_explain_adds_up(files: Path, run: Callable[..., Any]) -> None:
    done = run("explain", files / "a.suffice", files / "b.csv", "--row", "3", "--json")
    assert done.code == 0, done.err
    (told,) = json.loads(done.out)
    assert "all blank" in told["contributions"]
    total = told["baseline"] + sum(told["contributions"].values())
    assert total == pytest.approx(told["log_odds"], abs=1e-9)
    shown = run("explain", files / "a.suffice", files / "b.csv", "--row", "3")
    assert shown.code == 0
    assert "age = " in shown.out


def test_learn_merge_and_forget_are_what_fitting_anew_would_be(
    files: Path, run: Callable[..., Any]
) -> None:
    both = pd.concat([_table(40, 1), _table(40, 2)])
    rows, labels = _rows(both)
    expected = suffice.Pool(MEMBERS).fit(rows, labels).predict_proba(rows)
    alone = suffice.load(files / "a.suffice").predict_proba(rows)
    learned, merged, left = (files / f"{name}.suffice" for name in ("learned", "merged", "left"))
    b = files / "b.csv"
    for command in (
        ("learn", files / "a.suffice", b, "--target", "kind", "-o", learned),
        ("merge", files / "a.suffice", files / "b.suffice", "-o", merged),
        ("forget", learned, b, "--target", "kind", "-o", left),
    ):
        done = run(*command)
        assert done.code == 0, done.err
    assert np.array_equal(suffice.load(learned).predict_proba(rows), expected)
    assert np.array_equal(suffice.load(merged).predict_proba(rows), expected)
    assert np.array_equal(suffice.load(left).predict_proba(rows), alone)


def test_inspect_tells_members_and_what_is_kept(files: Path, run: Callable[..., Any]) -> None:
    done = run("inspect", files / "a.suffice")
    assert done.code == 0
    for words in (
        "Pool, learned from 40 rows",
        "4 members, evaluated on rows that each had not seen",
        "naive Bayes: share 0.",
        "class shares: share 0.",
        "together: log-loss 0.",
        "It keeps 40 rows: anyone with the file can read them.",
        "it can learn more, forget, and be merged",
    ):
        assert words in done.out
    told = json.loads(run("inspect", files / "a.suffice", "--json").out)["pool"]
    model = suffice.load(files / "a.suffice")
    assert {m["name"]: m["share"] for m in told["members"]} == model.weights_
    assert {m["name"]: m["exponent"] for m in told["members"]} == model.exponents_
    assert told["product"] > 0.0
    assert {m["name"]: m["log_loss"] for m in told["members"]} == model.log_losses_
    assert (told["log_loss"], told["accuracy"]) == (model.log_loss_, model.accuracy_)
    assert told["kept_rows"] == 40


def test_diff_tells_what_moved(files: Path, run: Callable[..., Any]) -> None:
    done = run("diff", files / "a.suffice", files / "b.suffice")
    assert "share in the sum of naive Bayes: " in done.out
    assert "exponent in the product of naive Bayes: " in done.out
    assert "part of the product of all members together: " in done.out
    assert "judged log-loss of all members together: " in done.out
    assert "share of class 'yes' among the rows: " in done.out
    same = run("diff", files / "a.suffice", files / "a.suffice")
    assert "estimates are the same" in same.out


@pytest.mark.parametrize("command", ["outliers", "sample", "sql"])
def test_what_needs_a_density_is_refused_in_words(
    command: str, files: Path, run: Callable[..., Any]
) -> None:
    table = (files / "a.csv",) if command == "outliers" else ()
    done = run(command, files / "a.suffice", *table)
    assert done.code != 0
    assert "Traceback" not in done.err
    assert "pool" in done.err.lower()
    assert "gda" in done.err or "discriminants" in done.err


def test_a_pool_is_no_logistic_regression(files: Path, run: Callable[..., Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, labels = _rows(_table(40, 1))
        suffice.NaiveBayes().fit(rows, labels).save(files / "bayes.suffice")
    done = run("diff", files / "a.suffice", files / "bayes.suffice")
    assert done.code != 0
    assert "no estimates in common" in done.err
