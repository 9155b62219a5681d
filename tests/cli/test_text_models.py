"""Models of text on the command line: a table with columns of text, and all that can be asked."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {"spam": ["cheap", "pills", "now", "£££"], "ham": ["lunch", "at", "one", "meeting"]}


def table(path: Path, seed: int, size: int = 40) -> Path:
    rng = np.random.default_rng(seed)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "subject", "body", "label"])
        for i in range(size):
            label = ["ham", "spam"][i % 2]
            words = [*WORDS[label], "the"]
            body = " ".join(rng.choice(words, 6)) if i % 7 else ""
            rows.writerow([i, " ".join(rng.choice(words, 3)), body, label])
    return path


@pytest.fixture
def mails(tmp_path: Path) -> Path:
    return table(tmp_path / "mails.csv", 0)


@pytest.fixture
def more(tmp_path: Path) -> Path:
    return table(tmp_path / "more.csv", 1, 20)


@pytest.fixture
def model(run: Any, mails: Path, tmp_path: Path) -> Path:
    place = tmp_path / "mails.suffice"
    done = run("fit", mails, "--target", "label", "--model", "text", "-o", place)
    assert done.code == 0, done.err
    assert "TextClassifier of 40 rows, 2 text columns; 2 classes of label" in done.err
    assert "left out, because it has no text: id" in done.err
    return place


def test_a_table_is_predicted_as_in_python(run: Any, model: Path, more: Path) -> None:
    done = run("predict", model, more, "--proba", "--json")
    assert done.code == 0
    found = [json.loads(line) for line in done.rows]
    expected = suffice.load(model).predict_proba(pd.read_csv(more))
    np.testing.assert_array_equal([row["p(spam)"] for row in found], expected[:, 1])
    assert "20 of 20 agree with label" in done.err
    assert "new to the model" not in done.err
    same = suffice.TextClassifier().fit(more.with_name("mails.csv"), target="label")
    np.testing.assert_allclose(same.predict_proba(pd.read_csv(more)), expected, rtol=1e-12)


def test_learning_and_forgetting_give_the_same_file_back(
    run: Any, model: Path, more: Path, tmp_path: Path
) -> None:
    wider, again = tmp_path / "wider.suffice", tmp_path / "again.suffice"
    assert "learned 20 rows" in run("learn", model, more, "-o", wider).err
    assert "forgot 20 rows" in run("forget", wider, more, "-o", again).err
    assert again.read_bytes() == model.read_bytes()
    told = run("diff", model, wider)
    assert told.code == 0
    assert "mean of bytes of a document in class 'ham'" in told.out
    assert "no difference" not in told.out
    merged = tmp_path / "merged.suffice"
    assert "100 rows of 2 models" in run("merge", model, wider, "-o", merged).err
    before = merged.read_bytes()
    unseen = run("forget", model, table(tmp_path / "others.csv", 5))
    assert unseen.code == 1
    assert "cannot forget" in unseen.err or "would leave" in unseen.err
    assert merged.read_bytes() == before


def test_words_explain_and_texts_are_written(run: Any, model: Path, more: Path) -> None:
    told = run("explain", model, more, "--row", 2)
    assert told.rows[0].startswith("row 2: spam rather than ham")
    assert "before any word is seen" in told.rows[1]
    assert any(row.split()[-1] in WORDS["spam"] for row in told.rows[2:])
    (one,) = json.loads(run("explain", model, more, "--row", 2, "--json").out)
    assert one["log_odds"] == pytest.approx(one["baseline"] + sum(one["contributions"].values()))
    written = run("sample", model, "-n", 4, "--class", "ham")
    assert written.rows[0] == "text,label"
    assert len(written.rows) >= 5
    assert run("sample", model, "-n", 4, "--class", "ham").out == written.out


def test_what_it_holds_is_told(run: Any, model: Path) -> None:
    told = run("inspect", model)
    assert "subject: text" in told.out
    assert "a byte of a text depends on the 4 before it" in told.out
    assert "can learn more, forget, and be merged" in told.out
    held = json.loads(run("inspect", model, "--json").out)
    assert held["columns"][1] == {"name": "body", "kind": "text", "family": None, "levels": []}


def test_a_model_without_documents_answers_and_learns_nothing(
    run: Any, mails: Path, more: Path, model: Path, tmp_path: Path
) -> None:
    place = tmp_path / "small.suffice"
    fit = ("fit", mails, "--target", "label", "--model", "text", "-o", place)
    assert run(*fit, "--without-statistics").code == 0
    text = pd.read_csv(mails)["subject"][0].encode()
    assert text in model.read_bytes()
    assert text not in place.read_bytes()
    assert run("predict", place, more).out == run("predict", model, more).out
    refused = run("learn", place, more)
    assert refused.code == 1
    assert "saved without its statistics" in refused.err


def test_what_makes_no_sense_is_refused_in_words(
    run: Any, model: Path, mails: Path, more: Path, tmp_path: Path
) -> None:
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("a,label\n1,x\n2,y\n3,x\n4,y\n")
    other = tmp_path / "other.suffice"
    run("fit", mails, "--target", "label", "--model", "naive-bayes", "-o", other)
    for line, told in (
        (("outliers", model, more), "cannot say how typical a row is"),
        (("sql", model), "cannot be written as SQL"),
        (("diff", model, other), "no estimates in common"),
        (("merge", model, other, "-o", tmp_path / "x"), "is a NaiveBayes"),
        (("predict", model, numbers), "has no column 'subject', 'body'"),
        (
            ("fit", numbers, "--target", "label", "--model", "text"),
            "no column of text besides the target",
        ),
    ):
        done = run(*line)
        assert done.code == 1, line
        assert told in done.err, line
        assert "Traceback" not in done.err
        assert "Hint: " in done.err
    assert run("fit", mails, "--target", "label", "--model", "text", "--pool", 0.1).code == 2
