"""What somebody says that columns are: at the command line, in a file, and in Python."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.errors import BadSetting, ColumnMismatch, NotANumber

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 240


def codes() -> pd.DataFrame:
    """Return a table whose code says all, and no order of it does."""
    rng = np.random.default_rng(2)
    code = rng.integers(1, 7, SIZE)
    odd = np.isin(code, [1, 4, 6])
    return pd.DataFrame(
        {
            "row": np.arange(SIZE),
            "code": code,
            "weight": [f"{w} kg" for w in rng.integers(50, 99, SIZE)],
            "y": np.where(rng.random(SIZE) < np.where(odd, 0.9, 0.1), "yes", "no"),
        }
    )


ARGUMENTS = ("--column", "code=category", "--column", "row=id", "--column", "weight=number")
DECLARED = {"code": "category", "row": "id", "weight": "number"}


@pytest.mark.parametrize("model", ["naive-bayes", "logistic"])
def test_codes_are_categories_where_that_is_said(model: str, run: Any, tmp_path: Path) -> None:
    frame, table, out = codes(), tmp_path / "a.csv", tmp_path / "m.suffice"
    frame.to_csv(table, index=False)
    done = run("fit", table, "-t", "y", "--model", model, "-o", out, "--json", *ARGUMENTS)
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert summary["dropped"] == ["row"]
    plain = run("fit", table, "-t", "y", "--model", model, "-o", tmp_path / "p", "--json",
                "--column", "weight=ignore", "--drop", "row")  # fmt: skip
    better = json.loads(plain.out)["judged"]["log_loss"] - summary["judged"]["log_loss"]
    assert better > (0.1 if model == "logistic" else -0.01)  # naive Bayes takes them for tallies
    answers = run("predict", out, table, "--proba").out
    floats, lines = tmp_path / "floats.csv", tmp_path / "a.jsonl"
    frame.assign(code=frame["code"].astype(float)).to_csv(floats, index=False)
    frame.to_json(lines, orient="records", lines=True)
    frame.to_parquet(tmp_path / "a.parquet")
    for other in (floats, lines):
        assert run("predict", out, other, "--proba").out == answers
    typed = frame.assign(weight=frame["weight"].str.removesuffix(" kg").astype(int))
    typed.to_parquet(tmp_path / "typed.parquet")
    assert run("predict", out, tmp_path / "typed.parquet", "--proba").out == answers
    loaded = suffice.load(out)
    found = [row["prediction"] for row in csv.DictReader(io.StringIO(answers))]
    assert loaded.predict(frame).tolist() == loaded.predict(typed).tolist() == found
    if model == "naive-bayes":
        drawn = list(csv.DictReader(io.StringIO(run("sample", out, "-n", 50).out)))
        assert {row["code"] for row in drawn} <= set("123456")
        assert run("learn", out, table).code == 0
        assert run("forget", out, tmp_path / "typed.parquet").code == 0


def test_files_frames_parquet_and_declarations_in_files_give_one_model(
    run: Any, tmp_path: Path
) -> None:
    frame, table = codes(), tmp_path / "a.csv"
    frame.to_csv(table, index=False)
    declared = tmp_path / "columns.txt"
    declared.write_text("# what is what\ncode = category\nrow=id\n\nweight=number\n")
    typed = frame.assign(weight=frame["weight"].str.removesuffix(" kg").astype(int))
    typed.to_parquet(tmp_path / "a.parquet")
    expected = suffice.train(table, target="y", model="naive-bayes", columns=DECLARED)
    for data in (frame, typed, tmp_path / "a.parquet"):
        found = suffice.train(data, target="y", model="naive-bayes", columns=DECLARED)
        np.testing.assert_allclose(
            found.estimator.predict_proba(typed), expected.estimator.predict_proba(typed), rtol=1e-9
        )
    X, y = frame.drop(columns="y"), frame["y"]
    beside = suffice.train(X, y, model="naive-bayes", columns=DECLARED)
    np.testing.assert_allclose(
        beside.estimator.predict_proba(X), expected.estimator.predict_proba(X), rtol=1e-9
    )
    out = tmp_path / "m.suffice"
    fit = ("fit", table, "-t", "y", "--model", "naive-bayes", "-o", out, "--columns", declared)
    assert run(*fit).code == 0
    np.testing.assert_array_equal(
        suffice.load(out).predict_proba(frame), expected.estimator.predict_proba(frame)
    )
    done = run("compare", table, "-t", "y", "--model", "naive-bayes", "--no-curves", *ARGUMENTS)
    assert done.code == 0, done.err


def test_what_does_not_fit_is_refused_with_its_cell(run: Any, tmp_path: Path) -> None:
    frame, table = codes(), tmp_path / "a.csv"
    frame.loc[7, "weight"] = "heavy"
    frame["flag"] = frame["code"] > 3
    frame.to_csv(table, index=False)
    fit = ("fit", table, "-t", "y", "-o", tmp_path / "m", "--model", "naive-bayes")
    done = run(*fit, "--column", "weight=number")
    assert done.code == 1
    assert f"weight is declared a number: {table}, line 9: 'heavy' is not a number" in done.err
    assert "flag is declared a number" in run(*fit, "--column", "flag=number").err
    assert "no column 'wieght'" in run(*fit, "--column", "wieght=number").err
    assert "is the target" in run(*fit, "--column", "y=number").err
    assert "is not NAME=KIND" in run(*fit, "--column", "weight=heavy").err
    assert "is not NAME=KIND" in run(*fit, "--column", "weight").err
    assert run(*fit, "--columns", tmp_path / "none.txt").code != 0
    bad = tmp_path / "columns.txt"
    bad.write_text("weight=number\nweight=id\n")
    assert f"{bad}, line 2: 'weight' is declared twice" in run(*fit, "--columns", bad).err
    bad.write_text("weight: number\n")
    assert f"{bad}, line 1: 'weight: number' is not NAME=KIND" in run(*fit, "--columns", bad).err
    bad.write_bytes(b"\xff\xfe\x00")
    assert "is not text in UTF-8" in run(*fit, "--columns", bad).err
    assert not (tmp_path / "m").exists()


def test_python_refuses_the_same(tmp_path: Path) -> None:
    frame = codes()
    for columns, error in [
        ({"weight": "heavy"}, BadSetting), ({"y": "id"}, BadSetting), ({"x": "id"}, ColumnMismatch),
    ]:  # fmt: skip
        with pytest.raises(error):
            suffice.train(frame, target="y", columns=columns)
    frame.loc[3, "weight"] = "heavy"
    with pytest.raises(NotANumber, match="weight is declared a number: row 4: 'heavy'"):
        suffice.train(frame, target="y", columns={"weight": "number"})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(NotANumber, match=r"a\.parquet, row 4: .heavy. is not a number"):
        suffice.train(tmp_path / "a.parquet", target="y", columns={"weight": "number"})


def test_large_files_are_read_like_small_ones(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "a.csv"
    codes().assign(code=lambda frame: frame["code"].astype(float)).to_csv(table, index=False)
    fit = ("fit", table, "-t", "y", "--model", "naive-bayes", *ARGUMENTS, "-o")
    assert run(*fit, tmp_path / "small").code == 0
    monkeypatch.setattr("suffice.tables.csv.table.LARGE", 1)
    assert run(*fit, tmp_path / "large").code == 0
    assert (
        run("predict", tmp_path / "small", table, "--proba").out
        == run("predict", tmp_path / "large", table, "--proba").out
    )
