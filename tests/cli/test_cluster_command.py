"""`suffice cluster`: clusters of a table, in words, as JSON, and in a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import suffice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run


def cells(seed: int = 0) -> np.ndarray:
    """Return two clusters, of 30 and 20 rows, that differ in the first two of three columns."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(50, 3)).round(3)
    rows[30:, :2] += [20.0, -9.0]
    return rows


def lines(rows: np.ndarray, words: bool = True) -> str:
    head = "height,width,depth" + ",kind,ok,id" * words
    body = [
        ",".join("" if np.isnan(cell) else str(cell) for cell in row)
        + f",{'ab'[i % 2]},{'true' if i % 3 else 'false'},{i + 1}" * words
        for i, row in enumerate(rows)
    ]
    return "\n".join([head, *body, ""])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    place = tmp_path / "rows.csv"
    place.write_text(lines(cells()), "utf-8")
    return place


def test_clusters_are_told_in_words(table: Path, run: Callable[..., Run], tmp_path: Path) -> None:
    file = tmp_path / "m.suffice"
    said = run("cluster", table, "-k", "1-3", "--covariance", "EEE", "-o", file)
    assert said.code == 0, said.err
    assert said.rows[0] == "2 clusters in 50 rows of 3 numeric columns"
    assert "ellipsoids of one size, one shape and one direction (EEE)" in said.out
    assert "Chosen by BIC" in said.out
    first, second = said.out.partition("cluster 0\n")[2].split("cluster 1\n")
    assert [line.split()[:3] for line in first.splitlines()] == [
        ["height", "is", "lower:"],
        ["width", "is", "higher:"],
    ]
    assert [line.split()[0] for line in second.splitlines()] == ["height", "width"]
    assert "kind is left out: it holds text" in said.err
    assert "ok is left out: it holds true and false" in said.err
    assert "id is left out: it numbers the rows; --column id=number keeps it" in said.err
    answers = run("predict", file, table)
    assert answers.rows[1:] == ["0"] * 30 + ["1"] * 20
    assert "not used" not in answers.err


def test_programs_get_what_the_mixture_says(
    table: Path, run: Callable[..., Run], tmp_path: Path
) -> None:
    file = tmp_path / "m.suffice"
    said = run("cluster", table, "-k", "2", "--covariance", "VVI", "--json", "-o", file)
    content = json.loads(said.out)
    model = suffice.GaussianMixture(2, "VVI").fit(cells())
    assert content["components"] == 2
    assert content["form"] == "VVI"
    assert content["columns"] == ["height", "width", "depth"]
    assert [one["rows"] for one in content["clusters"]] == [30, 20]
    assert content["log_likelihood"] == pytest.approx(model.log_likelihood_, rel=1e-10)
    assert content["mean_uncertainty"] == pytest.approx(model.uncertainty(cells()).mean(), abs=1e-9)
    pooled = np.sqrt(model.weights_ @ np.diagonal(model.covariances_, axis1=1, axis2=2))
    away = (model.means_[0] - model.means_[1]) / pooled
    found = {c["column"]: c["difference"] for c in content["clusters"][0]["columns"]}
    assert [found[name] for name in content["columns"]] == pytest.approx(away.tolist(), rel=1e-6)


def test_the_file_takes_the_table_that_it_came_from(
    table: Path, run: Callable[..., Run], tmp_path: Path
) -> None:
    pd = pytest.importorskip("pandas")
    file = tmp_path / "m.suffice"
    assert run("cluster", table, "-k", "2", "--covariance", "EII", "-o", file).code == 0
    model = suffice.load(file)
    assert model.predict(pd.read_csv(table)).tolist() == [0] * 30 + [1] * 20
    again = tmp_path / "again.suffice"
    model.save(again)
    assert run("predict", again, table).out == run("predict", file, table).out
    fresh = model.fit(cells())
    assert fresh.predict(cells()).tolist() == [0] * 30 + [1] * 20  # what the file said is over


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_other_files_give_the_same_clusters(
    kind: str, table: Path, run: Callable[..., Run], tmp_path: Path
) -> None:
    csv = pytest.importorskip("pyarrow.csv")
    held = csv.read_csv(table)
    other = tmp_path / f"rows.{kind}"
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(held, other)
    else:
        other.write_text("\n".join(json.dumps(row) for row in held.to_pylist()) + "\n", "utf-8")
    ours, theirs = (
        json.loads(
            run("cluster", place, "-k", "2", "--covariance", "EEE", "--json", "--force",
                "-o", tmp_path / "m.suffice").out
        )
        for place in (table, other)
    )  # fmt: skip
    assert sorted(one["name"] for one in theirs["dropped"]) == ["id", "kind", "ok"]
    assert theirs["clusters"] == ours["clusters"]


def test_blanks_stay_and_empty_rows_are_left_out(run: Callable[..., Run], tmp_path: Path) -> None:
    rows = cells()
    rows[::7, 0] = np.nan
    rows[[3, 40]] = np.nan
    table = tmp_path / "blank.csv"
    table.write_text(lines(rows), "utf-8")
    file = tmp_path / "m.suffice"
    said = run("cluster", table, "-k", "2", "--covariance", "EEE", "--json", "-o", file)
    assert said.code == 0, said.err
    assert "2 rows have no number and are left out" in said.err
    content = json.loads(said.out)
    assert content["rows"] == 48
    assert [one["rows"] for one in content["clusters"]] == [29, 19]


def test_constant_and_declared_columns(run: Callable[..., Run], tmp_path: Path) -> None:
    rows = cells()
    rows[:, 2] = 5.0
    table = tmp_path / "constant.csv"
    table.write_text(lines(rows), "utf-8")
    said = run(
        "cluster", table, "-k", "2", "--covariance", "EEI", "--json", "-o", tmp_path / "m.suffice",
        "--column", "id=number", "--column", "width=ignore",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert "depth is left out: it never varies" in said.err
    content = json.loads(said.out)
    assert content["columns"] == ["height", "id"]
    assert {c["column"] for c in content["clusters"][0]["columns"]} == {"height", "id"}


BAD = {
    "none.csv": ("a,b\nx,y\nu,v\nx,v\n", ("--model", "gaussian"), 1, "no numeric columns"),
    "blank.csv": ("a,b\n,\n,\n", (), 1, "no numeric columns"),
    "rowless.csv": ("a,b\n", (), 1, "has no rows"),
    "one.csv": ("a,b\n1,2\n", (), 1, "1 row with a number"),
    "equal.csv": ("a,b\n1,2\n1,2\n1,2\n", (), 1, "all rows are equal"),
    "many.csv": ("a,b\n1,2\n3,2\n1,5\n", ("-k", "4"), 1, "3 rows with a number"),
    "repeated.csv": ("a,b\n1,2\n3,2\n1,2\n", ("-k", "3"), 1, "2 different rows"),
    "zero.csv": ("a,b\n1,2\n3,2\n", ("-k", "0"), 2, "number of clusters must be at least 1"),
    "words.csv": ("a,b\n1,2\n3,2\n", ("-k", "few"), 2, "must be a number such as 3"),
    "turned.csv": ("a,b\n1,2\n3,2\n", ("-k", "5-2"), 2, "from the smaller to the larger"),
    "form.csv": ("a,b\n1,2\n3,2\n", ("--covariance", "XYZ"), 2, "XYZ"),
    "infinite.csv": ("a,b\n1,2\n3,inf\n2,2\n", (), 1, "not a finite number"),
    "strange.csv": ("a,b\n1,2\n3,2\n", ("--drop", "c"), 1, "no column 'c'"),
    "dropped.csv": ("a,b\n1,2\n3,2\n", ("--drop", "a", "--drop", "b"), 1, "no column is left"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_clustered_is_refused(
    name: str, run: Callable[..., Run], tmp_path: Path
) -> None:
    text, options, code, words = BAD[name]
    table, file = tmp_path / name, tmp_path / "m.suffice"
    table.write_text(text, "utf-8")
    said = run("cluster", table, *options, "-o", file)
    assert said.code == code
    assert words in said.err
    assert "Hint: " in said.err
    assert "Traceback" not in said.err
    assert said.out == ""
    assert not file.exists()


def test_files_that_are_there_are_looked_after(
    table: Path, run: Callable[..., Run], tmp_path: Path
) -> None:
    assert "no such file" in run("cluster", tmp_path / "gone.csv", "-o", tmp_path / "m").err
    other = tmp_path / "letter.txt"
    other.write_text("dear", "utf-8")
    how = ("-k", "2", "--covariance", "EII")
    said = run("cluster", table, *how, "-o", other)
    assert said.code != 0
    assert other.read_text("utf-8") == "dear"
    before = table.read_bytes()
    assert run("cluster", table, *how, "-o", table, "--force").code != 0
    assert table.read_bytes() == before
    assert run("cluster", table, *how, "-o", other, "--force").code == 0
    assert suffice.load(other).components_ == 2
    assert run("cluster", table, *how, "-o", "-", "--json").code == 2


def test_columns_of_every_kind_are_clustered(
    table: Path, run: Callable[..., Run], tmp_path: Path
) -> None:
    file = tmp_path / "m.suffice"
    said = run("cluster", table, "-k", "2", "-o", file)
    assert said.code == 0, said.err
    assert said.rows[0] == "2 clusters in 50 rows of 5 columns"
    assert "1 categorical, 1 bernoulli" in " ".join(said.rows)
    assert "id is left out: it counts the rows" in said.err
    assert "height is lower" in said.out
    assert "LatentClasses of 50 rows" in said.err
    answers = run("predict", file, table)
    assert answers.rows[1:] == ["0"] * 30 + ["1"] * 20
    assert run("sample", file, "-n", "3").rows[0].endswith(",cluster")
    assert run("explain", file, table).code == 0
    assert "can learn more rows" in run("inspect", file).out
    found = json.loads(run("cluster", table, "-k", "2", "--json", "-o", tmp_path / "n").out)
    assert found["estimator"] == "LatentClasses"
    assert found["families"]["kind"] == "categorical"
    assert {"column", "distance", "own", "others"} <= set(found["clusters"][0]["columns"][0])


def test_a_form_or_a_name_says_which_model(
    table: Path, run: Callable[..., Run], tmp_path: Path
) -> None:
    numbers = run("cluster", table, "-k", "2", "--model", "gaussian", "-o", tmp_path / "a")
    assert "numeric columns" in numbers.rows[0]
    assert "kind is left out: it holds text" in numbers.err
    every = run(
        "cluster", table, "-k", "2", "--model", "latent-classes", "--drop", "kind", "--drop", "ok",
        "-o", tmp_path / "b",
    )  # fmt: skip
    assert every.rows[0] == "2 clusters in 50 rows of 3 columns"
    wrong = run(
        "cluster", table, "--model", "latent-classes", "--covariance", "EEE", "-o", tmp_path / "c"
    )
    assert wrong.code == 1
    assert "--covariance EEE is a form of normal clusters" in wrong.err
