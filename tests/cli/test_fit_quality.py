"""`suffice fit` says how good its model is on rows it has not seen, and keeps to its time."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import suffice
from suffice.errors import BadSetting
from suffice.evaluation import LabelledRows, held_out, log_loss, stratified_folds
from suffice.evaluation.candidates import Candidate
from suffice.evaluation.metrics import FoldScores
from suffice.evaluation.quality import Quality
from suffice.evaluation.work_limits import Extent, by_cost
from suffice.places import Place
from suffice.rows import read_table
from suffice.sources.source import Chunk
from suffice.training.labelled_source import DrawnRows
from tests.cli.test_train import business

if TYPE_CHECKING:
    from pathlib import Path

LINE = re.compile(
    r'\d+(?:\.\d)? % right on rows it has not seen \(\d+ % by always saying "[^"]*"\); '
    r"log-loss (?:\d\.\d+|below 0.001) \(\d\.\d\d\)"
)


def numbers(size: int = 60) -> tuple[Any, Any]:
    """Return rows of three classes that overlap, and their labels."""
    rng = np.random.default_rng(4)
    codes = np.arange(size) % 3
    return rng.normal(size=(size, 3)) + codes[:, np.newaxis], np.array(["u", "v", "w"])[codes]


def brute(make: Any, X: Any, y: Any) -> tuple[float, float]:
    """Return accuracy and log-loss of every row, each by a refit without it."""
    right, losses = [], []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        model = make().fit(X[others], y[others])
        found = model.predict_log_proba(X[i : i + 1])[0]
        own = model.classes_.tolist().index(y[i])
        right.append(found.argmax() == own)
        losses.append(-found[own])
    return float(np.mean(right)), float(np.mean(losses))


@pytest.mark.parametrize(
    ("model", "settings", "make"),
    [
        ("gda", {}, suffice.GaussianDiscriminant),
        ("gda", {"shrink": 0.3}, lambda: suffice.GaussianDiscriminant(shrink=0.3)),
        ("qda", {}, lambda: suffice.GaussianDiscriminant("per-class")),
        ("naive-bayes", {}, suffice.NaiveBayes),
    ],
)
def test_a_named_model_is_judged_by_leaving_each_row_out(
    model: str, settings: dict[str, Any], make: Any
) -> None:
    X, y = numbers()
    found = suffice.train(X, y, model=model, **settings).judged
    assert found is not None
    accuracy, loss = brute(make, X, y)
    assert found.accuracy == pytest.approx(accuracy, abs=1e-12)
    assert found.log_loss == pytest.approx(loss, rel=1e-9)
    assert (found.how, found.rows) == ("leave-one-out", 60)
    assert found.baseline_accuracy == pytest.approx(1 / 3)
    assert found.baseline_log_loss == pytest.approx(np.log(3.0))


@pytest.mark.parametrize(
    ("model", "settings", "made", "count"),
    [
        ("logistic", {"penalty": 1.0}, suffice.LogisticRegression(1.0), 5),
        ("gda", {"covariance": "auto"}, suffice.GaussianDiscriminant("auto"), 10),
        ("naive-bayes", {"smoothing": "held-out"}, suffice.NaiveBayes(smoothing="held-out"), 10),
    ],
)
def test_what_the_data_decide_is_decided_anew_in_every_fold(
    model: str, settings: dict[str, Any], made: Any, count: int
) -> None:
    X, y = numbers()
    found = suffice.train(X, y, model=model, **settings).judged
    rows = LabelledRows.read(X, y)
    folds = stratified_folds(rows.codes, count)
    held = held_out(made, rows, folds)
    assert found == Quality.of_scores(FoldScores.of(held, rows, folds), rows)
    assert held.log_posterior is not None
    assert found is not None
    assert found.log_loss == pytest.approx(log_loss(held.log_posterior, rows.codes), abs=1e-12)
    assert found.how == f"{count} folds"


def test_documents_are_judged_by_refits_of_their_folds() -> None:
    rng = np.random.default_rng(0)
    words = ["red", "blue", "green", "dog", "cat", "tree", "house", "river"]
    codes = np.arange(60) % 3
    texts = [" ".join(rng.choice(words[2 * c : 2 * c + 4], 6)) for c in codes]
    X, y = pa.table({"text": texts}), np.array(["u", "v", "w"])[codes]
    rows = LabelledRows.read(X, y)
    folds = stratified_folds(rows.codes, 10)
    losses = []
    for fold in range(10):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model = suffice.TextClassifier().fit(X.take(train), y[train])
        found = model.predict_log_proba(X.take(test))
        losses.append(-found[np.arange(len(test)), rows.codes[test]].mean())
    judged = suffice.train(X, y, model="text").judged
    assert judged is not None
    assert judged.log_loss == pytest.approx(np.mean(losses), rel=1e-9)


@pytest.mark.parametrize("model", ["auto", "best", "gda", "naive-bayes", "logistic", "text"])
def test_the_last_line_says_how_good_it_is(model: str, run: Any, tmp_path: Path) -> None:
    csv.write_csv(business(), tmp_path / "t.csv")
    options = ("--penalty", 1) if model == "logistic" else ()
    done = run(
        "fit", tmp_path / "t.csv", "-t", "kind", "--model", model, "--json", *options,
        "-o", tmp_path / "m.suffice",
    )  # fmt: skip
    assert done.code == 0, done.err
    place, line = done.err.splitlines()[-2:]
    assert place.endswith("3 classes of kind")
    assert LINE.fullmatch(line), line
    said = json.loads(done.out)
    judged = said["judged"]
    assert judged["commonest"] in said["classes"]
    assert f"{100 * judged['accuracy']:.0f} % right" in line
    assert f"({100 * judged['baseline_accuracy']:.0f} % by" in line
    assert f"log-loss {judged['log_loss']:.2f} ({judged['baseline_log_loss']:.2f})" in line
    assert judged["how"] == "leave-one-out" or judged["how"].endswith(" folds")
    assert judged["rows"] == 88
    assert (said["log_loss"] is None) == (model not in ("auto", "best"))


def test_compare_and_fit_say_the_same_of_the_same_model(run: Any, tmp_path: Path) -> None:
    csv.write_csv(business(), tmp_path / "t.csv")
    arguments = (tmp_path / "t.csv", "-t", "kind")
    fitted = run("fit", *arguments, "-o", tmp_path / "m.suffice", "--json")
    compared = run("compare", *arguments, "--no-curves", "--json")
    judged = json.loads(compared.out)["recommendation"]["judged"]
    assert judged == json.loads(fitted.out)["judged"]
    line = fitted.err.splitlines()[-1]
    shown = run("compare", *arguments, "--no-curves").out
    assert f"{line}." in " ".join(shown.split())


@pytest.mark.parametrize("model", ["gda", "logistic"])
def test_of_many_rows_some_from_all_over_are_judged(
    model: str, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    codes = np.repeat([0, 1, 2], 800)  # sorted by class
    x = rng.normal(size=2400) + 3.0 * codes
    table = pa.table({"x": x, "z": rng.normal(size=2400), "y": [f"c{c}" for c in codes]})
    csv.write_csv(table, tmp_path / "t.csv")
    monkeypatch.setattr("suffice.training.training_rows.IN_MEMORY", 900)
    monkeypatch.setattr("suffice.tables.table_file.CELLS", 300)
    monkeypatch.setattr("suffice.training.fit_rows.JUDGED_CELLS", 600)
    monkeypatch.setattr("suffice.training.fit_rows.LEAST_JUDGED", 200)
    options = ("--penalty", 1) if model == "logistic" else ()
    done = run(
        "fit", tmp_path / "t.csv", "-t", "y", "--model", model, *options, "--json",
        "-o", tmp_path / "m.suffice",
    )  # fmt: skip
    assert done.code == 0, done.err
    judged = json.loads(done.out)["judged"]
    assert judged["how"] == ("5 folds" if model == "logistic" else "10 folds")
    assert 150 <= judged["rows"] <= 300
    assert judged["baseline_accuracy"] < 0.45
    assert judged["accuracy"] == pytest.approx(0.91, abs=0.06)


def test_rows_are_drawn_by_their_place_alone_and_evenly() -> None:
    chunks = {
        (part, number): Chunk(
            read_table(np.column_stack([np.full(50, 10 * part + number), np.arange(50)])),
            np.full(50, part), None, Place(""),
        )
        for part in range(4) for number in range(10)
    }  # fmt: skip

    def drawn(order: Any, seed: int = 0) -> Any:
        rows = DrawnRows(100, seed)
        for place in order:
            rows.add(*place, chunks[place])
        found = rows.rows()
        assert found is not None
        return found

    table, labels = drawn(chunks)
    for order in (list(chunks)[::-1], np.random.default_rng(0).permutation(list(chunks)).tolist()):
        again, others = drawn([tuple(place) for place in order])
        np.testing.assert_array_equal(again.matrix, table.matrix)
        np.testing.assert_array_equal(others, labels)
    assert table.size == 100
    np.testing.assert_array_equal(labels, table.matrix[:, 0] // 10)
    counts = sum(np.bincount(drawn(chunks, seed)[1], minlength=4) for seed in range(40))
    assert abs(counts / 4000 - 0.25).max() < 0.03  # four standard errors


def test_a_limit_that_is_reached_takes_the_best_so_far_and_says_so(
    run: Any, tmp_path: Path
) -> None:
    csv.write_csv(business(), tmp_path / "t.csv")
    arguments = ("fit", tmp_path / "t.csv", "-t", "kind", "--json")
    done = run(*arguments, "-o", tmp_path / "m.suffice", "--time-limit", "1e-9")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert list(said["log_loss"]) == ["naive Bayes (shared variance)"]
    assert (
        "not compared: the time limit of 1e-09 seconds was reached; --time-limit gives" in done.err
    )
    assert "the lowest of 1" in done.err
    assert LINE.fullmatch(done.err.splitlines()[-1])
    # One that is not reached changes nothing.
    for place, limit in (("a", "60"), ("b", "inf")):
        assert run(*arguments, "-o", tmp_path / place, "--time-limit", limit).code == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_named_model_whose_folds_take_too_long_is_not_judged(run: Any, tmp_path: Path) -> None:
    csv.write_csv(business(), tmp_path / "t.csv")
    done = run(
        "fit", tmp_path / "t.csv", "-t", "kind", "--model", "logistic", "--penalty", 1, "--json",
        "--time-limit", "1e-9", "-o", tmp_path / "m.suffice",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "note: how good it is was not measured within the time limit of 1e-09" in done.err
    assert json.loads(done.out)["judged"] is None
    assert done.err.splitlines()[-1].endswith("3 classes of kind")


def test_compare_ends_at_its_limit_with_what_it_has() -> None:
    X, y = numbers()
    found = suffice.compare(X, y, time_limit=1e-9)
    assert list(found.scores) == ["naive Bayes (shared variance)"] == [found.best]
    assert len(found.late) == 7
    assert found.late[-1] == "pool of models"
    assert any("GDA (auto)" in note and "was reached" in note for note in found.notes)
    assert found.curves is None
    whole = suffice.compare(X, y, time_limit=1e6)
    free = suffice.compare(X, y)
    assert str(whole.recommendation) == str(free.recommendation)
    assert list(whole.scores) == list(free.scores)
    np.testing.assert_array_equal(whole.curves.errors, free.curves.errors)
    with pytest.raises(BadSetting, match="is not a time"):
        suffice.compare(X, y, time_limit=0.0)


def test_curves_that_are_begun_end_with_two_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = numbers(120)
    from suffice.evaluation import learning_curves
    from suffice.evaluation.work_progress import TimeLimit

    models = {"gda": suffice.GaussianDiscriminant()}
    found = learning_curves(
        models, LabelledRows.read(X, y), sizes=[20, 60], repeats=9, limit=TimeLimit(1e-9)
    )
    assert found.errors.shape == (1, 2, 2)
    assert "Learning curves have 2 splits: the time limit of 1e-09 seconds" in found.notes[0]
    whole = learning_curves(models, LabelledRows.read(X, y), sizes=[20, 60], repeats=9)
    np.testing.assert_array_equal(found.errors, whole.errors[:, :, :2])


def test_the_quickest_are_tried_first_and_strangers_last() -> None:
    X, y = numbers()
    rows = LabelledRows.read(X, y)
    stranger = Candidate("forest", "forest", None, "", 0)
    from suffice.evaluation.candidates import usual_candidates

    asked = [stranger, *usual_candidates(rows)]
    extent = Extent.of(rows)
    keys = [one.key for one in by_cost(asked, extent)]
    assert keys[-2:] == ["pool", "forest"]
    assert keys[0] == "naive-bayes-shared"
    assert keys.index("gda") < keys.index("logistic") < keys.index("forest")


def test_best_is_a_single_model_and_chooses_by_itself(run: Any, tmp_path: Path) -> None:
    csv.write_csv(business(), tmp_path / "t.csv")
    done = run("fit", tmp_path / "t.csv", "-t", "kind", "--model", "best", "-o", tmp_path / "m")
    assert done.code == 0, done.err
    assert "pool" not in done.err
    assert not isinstance(suffice.load(tmp_path / "m"), suffice.Pool)
    done = run("fit", tmp_path / "t.csv", "-t", "kind", "--model", "best", "--penalty", 1)
    assert done.code == 2
    assert "--penalty needs --model: best chooses them itself" in done.err


def test_the_place_to_write_to_is_looked_at_before_anything_is_read(
    run: Any, tmp_path: Path
) -> None:
    done = run("fit", tmp_path / "no.csv", "-t", "y", "-o", tmp_path / "nowhere" / "m.suffice")
    assert done.code == 1
    assert "nowhere" in done.err
    assert "no.csv" not in done.err


def test_what_cannot_be_judged_is_still_a_model(run: Any, tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_text("a,b,y\n1,2,u\n3,4,v\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = run("fit", place, "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m.suffice")
    assert done.code == 0, done.err
    assert suffice.load(tmp_path / "m.suffice").classes_.tolist() == ["u", "v"]


@pytest.mark.process
def test_whoever_waits_at_a_terminal_sees_models_being_compared(
    environment: dict[str, str], measurements: Path, tmp_path: Path
) -> None:
    code = (
        "import sys; from suffice.cli import main; from suffice.cli.terminal import messages; "
        "messages.PATIENCE = messages.EVERY = 0.0; sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["fit", str(measurements), "-t", "class", "-o", "m.suffice"]
    master, slave = pty.openpty()
    terminal = {**environment, "TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=terminal, stderr=slave, cwd=tmp_path
    ) as process:
        os.close(slave)
        said = b""
        try:
            while piece := os.read(master, 65536):
                said += piece
        except OSError:  # the other end is closed
            pass
        assert process.wait() == 0
    lines = [line for line in said.decode().split("\r\033[K") if line.startswith("comparing")]
    assert re.search(r"comparing models \[#* *\] +\d+% \d+ folds, [\d,]+/s", lines[-1]), lines
    assert LINE.fullmatch(said.decode().splitlines()[-1])
