"""`suffice.train` gives in Python the model that `suffice fit` writes, byte for byte."""

from __future__ import annotations

import gzip
import json
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import suffice
from suffice.errors import BadLabels, BadRows, BadSetting, ColumnMismatch

if TYPE_CHECKING:
    from pathlib import Path

MODELS = ("auto", "gda", "qda", "naive-bayes", "logistic")
SIZE = 90


def business(size: int = SIZE) -> Any:
    """Return numbers with blanks, counts, words, truths, names of rows, and two rows unlabelled."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, size)
    x = label + rng.normal(size=size)
    colour = np.array(["red", "green", "blue"])[(label + (rng.random(size) < 0.4)) % 3]
    return pa.table(
        {
            "id": [f"row {i}" for i in range(size)],
            "x": pa.array(np.where(rng.random(size) < 0.1, np.nan, x), from_pandas=True),
            "count": rng.poisson(2.0 + label),
            "colour": pa.array([None if i % 17 == 0 else str(c) for i, c in enumerate(colour)]),
            "sold": pa.array((rng.random(size) < 0.2 + label / 4).tolist()),
            "kind": pa.array([None if i in (5, 50) else f"kind {k}" for i, k in enumerate(label)]),
        }
    )


COLUMNS = {
    "numbers": ["x", "count", "kind"],
    "categories": ["colour", "kind"],
    "truths": ["sold", "count", "kind"],
    "mixed": ["id", "x", "count", "colour", "sold", "kind"],
}


def _file(table: Any, folder: Path, written: str) -> list[str]:
    """Write a table, and return what names it."""
    place = folder / f"table.{written}"
    if written == "parquet":
        parquet.write_table(table, place, row_group_size=40)
    elif written == "arrow":
        feather.write_feather(table, place)
    elif written == "jsonl":
        place.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    elif written == "gz":
        csv.write_csv(table, folder / "plain.csv")
        place.write_bytes(gzip.compress((folder / "plain.csv").read_bytes()))
    elif written == "several":
        places = [folder / f"part-{i}.csv" for i in range(3)]
        for i, part in enumerate(places):
            csv.write_csv(table.slice(i * 30, 30), part)
        return [str(part) for part in places]
    elif written == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        base = folder / "rows.db"
        with duckdb.connect(str(base)) as connection:
            connection.register("given", table)
            connection.execute("CREATE TABLE flowers AS SELECT * FROM given")
        return [f"duckdb://{base}?table=flowers"]
    else:
        csv.write_csv(table, place)
    return [str(place)]


def _same(
    run: Any, folder: Path, tables: list[str], target: str, *options: object, **settings: Any
) -> suffice.training.Trained:
    """Check that the command and the function write the same file, and say the same."""
    model = settings.pop("model", "auto")
    by_command, by_function = folder / "command.suffice", folder / "function.suffice"
    done = run("fit", *tables, "-t", target, "--model", model, "-o", by_command, *options)
    assert done.code == 0, done.err
    data: Any = tables[0] if len(tables) == 1 else tables
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of separated classes; the command prints them
        found = suffice.train(data, target=target, model=model, **settings)
    statistics = "--without-statistics" not in options
    found.save(by_function, statistics=statistics)
    assert by_function.read_bytes() == by_command.read_bytes()
    said = [line.removeprefix("note: ") for line in done.err.splitlines() if "note: " in line]
    assert list(found.notes) == said
    return found


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", COLUMNS)
def test_every_model_of_every_kind_of_table_is_that_of_the_command(
    kind: str, model: str, run: Any, tmp_path: Path
) -> None:
    tables = _file(business().select(COLUMNS[kind]), tmp_path, "csv")
    found = _same(run, tmp_path, tables, "kind", model=model)
    assert found.unlabelled == 2
    assert [one.name for one in found.dropped] == (["id"] if kind == "mixed" else [])
    assert (found.choice is not None) == (model == "auto")


@pytest.mark.parametrize("model", ["gda", "logistic"])
@pytest.mark.parametrize("written", ["parquet", "arrow", "jsonl", "gz", "several", "duckdb", "tsv"])
def test_wherever_the_rows_are_the_model_is_that_of_the_command(
    written: str, model: str, run: Any, tmp_path: Path
) -> None:
    tables = _file(business(), tmp_path, written)
    _same(run, tmp_path, tables, "kind", model=model)


@pytest.mark.parametrize(
    ("model", "options", "settings"),
    [
        ("gda", ["--covariance", "auto"], {"covariance": "auto"}),
        ("gda", ["--shrink", "0.5", "--divisor", "unbiased"],
         {"shrink": 0.5, "divisor": "unbiased"}),
        ("qda", ["--pool", "0.3", "--drop", "count"], {"pool": 0.3, "drop": ["count"]}),
        ("gda", ["--factors", "2"], {"factors": 2}),
        ("qda", ["--factors", "auto"], {"factors": "auto"}),
        ("naive-bayes", ["--families", "select"], {"families": "select"}),
        ("naive-bayes", ["--smoothing", "held-out", "--temperature", "held-out"],
         {"smoothing": "held-out", "temperature": "held-out"}),
        ("gda", ["--priors", "kind 0=.5,kind 1=.25,kind 2=.25"],
         {"priors": {"kind 0": 0.5, "kind 1": 0.25, "kind 2": 0.25}}),
        ("logistic", ["--penalty", "2"], {"penalty": 2.0}),
        ("logistic", ["--correction", "firth", "--drop", "colour"],
         {"correction": "firth", "drop": ["colour"]}),
        ("gda", ["--without-statistics"], {}),
        ("auto", ["--seed", "3"], {"random_state": 3}),
        ("text", [], {}),
    ],
)  # fmt: skip
def test_settings_mean_the_same(
    model: str, options: list[str], settings: dict[str, Any], run: Any, tmp_path: Path
) -> None:
    tables = _file(business(), tmp_path, "csv")
    _same(run, tmp_path, tables, "kind", *options, model=model, **settings)


def test_how_a_file_is_written_can_be_said(run: Any, tmp_path: Path) -> None:
    place = tmp_path / "table.txt"
    place.write_text("".join(f"{i % 7};{i % 3};{'uv'[i % 2]}\n" for i in range(40)))
    options = ("--delimiter", ";", "--no-header")
    _same(run, tmp_path, [str(place)], "x2", *options, model="gda", delimiter=";", header=False)


def test_more_rows_than_are_held_are_learned_alike(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.training.training_rows.IN_MEMORY", 200)
    monkeypatch.setattr("suffice.tables.table_file.CELLS", 100)
    monkeypatch.setattr("suffice.learning.collect.MOST_CELLS", 200)
    for model in ("naive-bayes", "logistic"):
        found = _same(run, tmp_path, _file(business(), tmp_path, "csv"), "kind", model=model)
        assert found.unlabelled == 2
        assert repr(found).startswith(f"Trained({type(found.estimator).__name__} of 88 rows, ")


@pytest.mark.process
def test_a_pipe_is_learned_alike(shell: Any, tmp_path: Path) -> None:
    content = "".join(f"{i % 7},{i % 3},{'uv'[i % 2]}\n" for i in range(40))
    stdin = f"a,b,y\n{content}".encode()
    code = "import suffice; suffice.train('-', target='y', model='gda').save('function.suffice')"
    one = shell(f"cd {tmp_path}; suffice fit - -t y --model gda -o command.suffice", stdin)
    other = shell(f'cd {tmp_path}; "{sys.executable}" -c "{code}"', stdin)
    assert (one.code, other.code) == (0, 0), one.err + other.err
    files = [(tmp_path / f"{name}.suffice").read_bytes() for name in ("command", "function")]
    assert files[0] == files[1]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_a_frame_gives_the_decisions_and_the_answers_of_its_file(
    library: str, model: str, tmp_path: Path
) -> None:
    table = business()
    place = tmp_path / "table.parquet"
    parquet.write_table(table, place)
    frame = table
    if library == "pandas":
        frame = table.to_pandas()
    elif library == "polars":
        frame = pytest.importorskip("polars").from_arrow(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from_file = suffice.train(place, target="kind", model=model)
        from_frame = suffice.train(frame, target="kind", model=model)
    assert from_frame.notes == from_file.notes
    assert from_frame.dropped == from_file.dropped
    assert from_frame.filled == pytest.approx(from_file.filled)
    assert from_frame.unlabelled == from_file.unlabelled == 2
    assert from_frame.estimator.classes_.tolist() == ["kind 0", "kind 1", "kind 2"]
    expected = from_file.estimator.predict_proba(frame)
    np.testing.assert_allclose(from_frame.estimator.predict_proba(frame), expected, atol=1e-12)


@pytest.mark.parametrize("model", ["gda", "naive-bayes", "logistic"])
@pytest.mark.parametrize("labels", [[1, 2, 3], ["a", "b", "c"], [True, False, True]])
def test_arrays_beside_their_labels_are_learned_as_fit_learns_them(
    labels: list[Any], model: str
) -> None:
    rng = np.random.default_rng(0)
    y = np.array(labels)[np.arange(60) % 3]
    X = rng.normal(size=(60, 3)) + (np.arange(60) % 3)[:, np.newaxis]
    found = suffice.train(X, y, model=model, **({"penalty": 1.0} if model == "logistic" else {}))
    kinds = {"gda": suffice.GaussianDiscriminant(), "naive-bayes": suffice.NaiveBayes(),
             "logistic": suffice.LogisticRegression(1.0)}  # fmt: skip
    fitted = kinds[model].fit(X, y)
    np.testing.assert_allclose(found.estimator.predict_proba(X), fitted.predict_proba(X))
    assert found.estimator.classes_.tolist() == fitted.classes_.tolist()
    assert found.target is None


def test_labels_that_are_blank_are_left_out_of_arrays_too() -> None:
    X = [[float(i), i % 3] for i in range(20)]
    y = [None if i == 7 else "uv"[i % 2] for i in range(20)]
    found = suffice.train(X, y, model="gda")
    assert found.notes == ("1 row without a label left out",)
    assert found.unlabelled == 1
    assert found.estimator.priors_.tolist() == [10 / 19, 9 / 19]


def test_the_model_takes_rows_of_its_table_and_so_does_the_file(tmp_path: Path) -> None:
    table = business()
    found = suffice.train(table, target="kind", model="logistic", penalty=1.0)
    assert list(found.filled) == ["x"]
    assert found.dropped[0].reason.startswith("88 different values in 88 rows")
    found.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    for rows in (table, table.drop_columns(["kind"]), table.drop_columns(["kind", "id"])):
        expected = loaded.predict_proba(rows)
        assert (found.estimator.predict_proba(rows) == expected).all()


def test_notes_come_at_once_and_progress_is_counted(tmp_path: Path) -> None:
    heard: list[str] = []
    begun: list[str] = []

    class Meter:
        rows = 0

        def __enter__(self) -> Meter:
            return self

        def __exit__(self, *_: object) -> None:
            heard.append("done")

        def begin(self) -> None:
            self.rows = 0

        def more(self, count: int) -> None:
            self.rows += count

    def shown(what: str, share: Any = None, unit: str = "rows") -> Meter:
        begun.append(what.partition(" ")[0])
        return Meter()

    place = _file(business(), tmp_path, "csv")[0]
    with pytest.raises(BadRows, match="no column of text"):
        suffice.train(
            place, target="kind", model="text", drop=["id", "colour"],
            on_note=heard.append, progress=shown,
        )  # fmt: skip
    assert begun == ["looking", "reading"]
    left_out = "left out, because it has no text: x, count, sold"
    assert heard == ["done", "done", "2 rows without a label left out", left_out]


def test_what_cannot_be_is_refused_in_the_words_of_python(tmp_path: Path) -> None:
    table = business()
    with pytest.raises(BadSetting, match="there is no model 'lde'"):
        suffice.train(table, target="kind", model="lde")
    with pytest.raises(BadSetting, match="penalty given, which does not apply to model='gda'"):
        suffice.train(table, target="kind", model="gda", penalty=1.0)
    with pytest.raises(BadSetting, match=r'auto chooses them itself\nHint: .*model="logistic"'):
        suffice.train(table, target="kind", penalty=1.0)
    with pytest.raises(BadLabels, match="given twice"):
        suffice.train(table, [1] * SIZE, target="kind")
    with pytest.raises(BadLabels, match="no target is named"):
        suffice.train(table)
    with pytest.raises(ColumnMismatch, match="kinds"):
        suffice.train(table, target="kinds")
    with pytest.raises(BadLabels, match="is a quantity"):
        suffice.train(table, target="x")
    with pytest.raises(BadRows, match="every column is different"):
        suffice.train(table.select(["id", "kind"]), target="kind")
    with pytest.raises(BadRows, match=r'no column of text.*\nHint: model="auto"'):
        suffice.train(table.select(["x", "kind"]), target="kind", model="text")
