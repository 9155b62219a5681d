"""Rows in several files, and files that are larger than memory: the model of one file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import suffice

if TYPE_CHECKING:
    from pathlib import Path

MODELS = ("gda", "qda", "naive-bayes", "logistic")


def written(table: Any, path: Path) -> Path:
    """Write a table in the format that the ending of its name says."""
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=70)
    elif path.suffix == ".arrow":
        feather.write_feather(table, path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    else:
        csv.write_csv(table, path)
    return path


@pytest.fixture
def table() -> Any:
    """Return rows with blanks, words, counts, truths, whole labels and rows without a label."""
    rng = np.random.default_rng(5)
    size = 600
    label = rng.integers(1, 4, size)
    x = label + rng.normal(size=size)
    return pa.table(
        {
            "x": pa.array(np.where(rng.random(size) < 0.1, np.nan, x), from_pandas=True),
            "count": rng.poisson(label),
            "colour": pa.array([None if c == "blank" else c for c in _colours(rng, size)]),
            "scented": pa.array((rng.random(size) < label / 4).tolist()),
            "kind": pa.array([None if i % 90 == 0 else int(k) for i, k in enumerate(label)]),
        }
    )


def _colours(rng: np.random.Generator, size: int) -> list[str]:
    return [str(c) for c in rng.choice(["red", "blue", "blank"], size)]


@pytest.fixture(params=["parquet", "csv", "arrow", "jsonl"])
def files(request: pytest.FixtureRequest, table: Any, tmp_path: Path) -> tuple[Path, list[Path]]:
    """Return all rows in one file, and the same rows in three."""
    ending = request.param
    whole = written(table, tmp_path / f"all.{ending}")
    cuts = [(0, 250), (250, 30), (280, 320)]
    parts = [
        written(table.slice(start, size), tmp_path / f"part-{place}.{ending}")
        for place, (start, size) in enumerate(cuts)
    ]
    return whole, parts


def answers(run: Any, model: Path, table: Path) -> np.ndarray[Any, Any]:
    """Return the probabilities that a model says."""
    done = run("predict", model, table, "--proba", "--json")
    assert done.code == 0, done.err
    return np.array([list(json.loads(row).values()) for row in done.rows], dtype=float)


@pytest.mark.parametrize("model", MODELS)
def test_several_files_give_the_model_of_one(
    model: str, run: Any, files: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    whole, parts = files
    one, many, named = (tmp_path / f"{name}.suffice" for name in ("one", "many", "named"))
    arguments = ("--target", "kind", "--model", model, "-o")
    first = run("fit", whole, *arguments, one)
    assert first.code == 0, first.err
    pattern = run("fit", tmp_path / f"part-*{whole.suffix}", *arguments, many)
    assert pattern.code == 0, pattern.err
    assert run("fit", *parts, *arguments, named).code == 0
    assert "7 rows without a label left out" in pattern.err
    assert "593 rows, 4 columns: 2 numeric, 1 yes/no, 1 categorical" in pattern.err
    assert suffice.load(many).classes_.tolist() == [1, 2, 3]
    np.testing.assert_allclose(answers(run, many, whole), answers(run, one, whole), atol=1e-12)
    assert many.read_bytes() == named.read_bytes()


def test_a_folder_of_parquet_files_is_a_table(run: Any, table: Any, tmp_path: Path) -> None:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    written(table.slice(0, 300), tmp_path / "data" / "a.parquet")
    written(table.slice(300), tmp_path / "data" / "deep" / "b.parquet")
    (tmp_path / "data" / "_metadata.parquet").write_bytes(b"nothing")
    out = tmp_path / "m.suffice"
    done = run("fit", tmp_path / "data", "-t", "kind", "--model", "gda", "-o", out)
    assert done.code == 0, done.err
    assert "593 rows" in done.err
    assert run("predict", out, tmp_path / "data").out.count("\n") == 601


def test_what_a_column_holds_is_decided_by_all_files(run: Any, tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{n}.csv" for n in "abc")
    # Blank in one file, words for blank in another, truths in the third: truths, as in one file.
    first.write_text("a,b,y\n" + ",1,u\n,2,v\n" * 8)
    second.write_text("a,b,y\n" + "NA,NA,u\nNA,NA,v\n" * 8)
    third.write_text("a,b,y\n" + "true,3,u\nfalse,4,v\ntrue,2,v\n" * 8)
    out = tmp_path / "m.suffice"
    assert run("fit", first, second, third, "-t", "y", "--model", "gda", "-o", out).code == 0
    kinds = [column.kind for column in suffice.load(out).schema.columns]
    assert kinds == ["boolean", "number"]


@pytest.mark.parametrize("model", MODELS)
def test_a_source_larger_than_memory_gives_the_model_of_the_rows(
    model: str,
    run: Any,
    files: tuple[Path, list[Path]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, parts = files
    one, many = tmp_path / "one.suffice", tmp_path / "many.suffice"
    arguments = ("-t", "kind", "--model", model, "-o")
    assert run("fit", whole, *arguments, one).code == 0
    monkeypatch.setattr("suffice.training.training_rows.IN_MEMORY", 500)
    monkeypatch.setattr("suffice.sources.local.CELLS", 200)
    monkeypatch.setattr("suffice.tables.table_file.CELLS", 200)
    monkeypatch.setattr("suffice.learning.collect.MOST_CELLS", 500)
    done = run("fit", *parts, *arguments, many)
    assert done.code == 0, done.err
    assert "593 rows" in done.err
    assert "7 rows without a label left out" in done.err
    # Logistic regression fills blanks by the means of the rows that were looked at.
    apart = 0.05 if model == "logistic" else 1e-9
    np.testing.assert_allclose(answers(run, many, whole), answers(run, one, whole), atol=apart)


def test_files_are_learned_and_forgotten_together(run: Any, table: Any, tmp_path: Path) -> None:
    parts = [
        written(table.slice(100 * place, 100), tmp_path / f"part-{place}.parquet")
        for place in range(6)
    ]
    model, whole = tmp_path / "m.suffice", tmp_path / "all.suffice"
    assert run("fit", *parts, "-t", "kind", "--model", "naive-bayes", "-o", whole).code == 0
    assert run("fit", parts[0], "-t", "kind", "--model", "naive-bayes", "-o", model).code == 0
    alone = answers(run, model, parts[0])
    assert "learned 495 rows" in run("learn", model, *parts[1:]).err
    np.testing.assert_allclose(
        answers(run, model, parts[3]), answers(run, whole, parts[3]), atol=1e-9
    )
    done = run("forget", model, tmp_path / "part-[1-5].parquet")
    assert "forgot 495 rows" in done.err, done.err
    np.testing.assert_allclose(answers(run, model, parts[0]), alone, atol=1e-9)


def refused(done: Any, *words: str) -> None:
    """Check that a command was refused in two lines that hold these words."""
    assert (done.code, done.out) == (1, ""), done
    error, hint = done.err.splitlines()[-2:]
    assert error.startswith("error: ")
    assert hint.startswith("Hint: ")
    assert all(word in error + hint for word in words), done.err


@pytest.mark.parametrize("command", ["fit", "learn", "forget"])
def test_a_bad_part_is_named_and_nothing_is_written(
    command: str, run: Any, table: Any, tmp_path: Path
) -> None:
    good = written(table.slice(0, 300), tmp_path / "a.parquet")
    model = tmp_path / "m.suffice"
    assert run("fit", good, "-t", "kind", "--model", "gda", "-o", model).code == 0
    before = model.read_bytes()

    def tried(*parts: Path) -> Any:
        if command == "fit":
            return run("fit", *parts, "-t", "kind", "--model", "gda", "-o", model)
        return run(command, model, *parts)

    refused(tried(good, tmp_path / "gone.parquet"), "gone.parquet: no such file")
    refused(tried(tmp_path / "no-*.parquet"), "no file matches", "no-*.parquet")
    short = tmp_path / "short.parquet"
    short.write_bytes(good.read_bytes()[:-100])
    refused(tried(good, short), "short.parquet cannot be read", "damaged")
    other = written(table.rename_columns(["z", *table.column_names[1:]]), tmp_path / "b.parquet")
    refused(tried(good, other), "b.parquet lacks x, unlike", "the same columns")
    text = table.set_column(0, "x", pa.array(["many"] * len(table)))
    drift = written(text, tmp_path / "c.parquet")
    refused(tried(good, drift), "c.parquet", "x")
    (tmp_path / "empty").mkdir()
    refused(tried(tmp_path / "empty"), "empty is a folder without Parquet files")
    assert model.read_bytes() == before


def test_typed_files_that_disagree_about_a_column_are_refused(
    run: Any, table: Any, tmp_path: Path
) -> None:
    good = written(table, tmp_path / "a.arrow")
    other = written(table.set_column(1, "count", table["colour"]), tmp_path / "b.arrow")
    done = run("fit", good, other, "-t", "kind", "--model", "gda", "-o", tmp_path / "m.suffice")
    refused(done, "a.arrow: count holds numbers, but text in other files")


def test_models_are_compared_on_rows_from_all_over_a_large_source(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "sorted.csv"
    rows = [f"{i % 13 + 5 * (i // 400)},{i % 3},{'xyz'[i // 400]}" for i in range(1200)]
    place.write_text("\n".join(["a,b,class", *rows]) + "\n")
    monkeypatch.setattr("suffice.training.training_rows.IN_MEMORY", 900)
    monkeypatch.setattr("suffice.tables.table_file.CELLS", 300)
    done = run("compare", place, "-t", "class", "--no-curves", "--model", "gda", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["classes"] == ["x", "y", "z"]
    assert 100 <= found["rows"] <= 300
    assert f"note: {found['rows']} rows, drawn at random" in done.err


def test_an_infinite_cell_is_refused_by_its_file_and_row(
    run: Any, table: Any, tmp_path: Path
) -> None:
    good = written(table, tmp_path / "a.parquet")
    cells = np.where(np.arange(600) == 100, np.inf, table["x"].to_numpy())
    bad = written(table.set_column(0, "x", pa.array(cells)), tmp_path / "b.parquet")
    done = run("fit", good, bad, "-t", "kind", "--model", "gda", "-o", tmp_path / "m.suffice")
    refused(done, "b.parquet, row group", "row 101, x: inf is not a finite number")


def test_labels_are_the_same_whether_any_is_blank_or_not(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    models = []
    for labels in (["a", "b"], [3, 7]):
        held = [labels[i % 2] for i in range(400)]
        table = pa.table({"x": x + np.arange(400) % 2, "y": held})
        more = pa.table({"x": [1.0], "y": pa.array([None], table.schema.field("y").type)})
        for name, given in (("all", table), ("blank", pa.concat_tables([table, more]))):
            file, out = written(given, tmp_path / f"{name}.parquet"), tmp_path / f"{name}.suffice"
            monkeypatch.setattr("suffice.training.training_rows.IN_MEMORY", 200)
            done = run("fit", file, "-t", "y", "--model", "gda", "-o", out)
            assert done.code == 0, done.err
            models.append(suffice.load(out))
        assert models[-1].classes_.tolist() == models[-2].classes_.tolist() == labels
        assert models[-1].classes_.dtype == models[-2].classes_.dtype
        np.testing.assert_allclose(models[-1].means_, models[-2].means_, rtol=1e-12)
