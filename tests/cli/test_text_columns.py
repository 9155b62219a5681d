"""A table with texts beside other columns, at the command line and in `suffice.train`."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pandas as pd
import pytest

import suffice
from tests.reference.text_tables import serials, tickets, visits


@pytest.fixture
def table(tmp_path: Any) -> Any:
    made = tickets(size=400, training=400)
    place = tmp_path / "tickets.csv"
    with place.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*made.columns, "state"])
        cells = zip(*made.columns.values(), made.labels, strict=True)
        rows.writerows(cells)
    return place


def test_train_reads_texts_of_its_own_accord_and_says_so(table: Any, tmp_path: Any) -> None:
    found = suffice.train(table, target="state", model="naive-bayes")
    assert "message is read as text, by its words" in found.notes[0]
    assert found.table == "3 columns: 2 numeric, 1 text"
    assert found.estimator.families_["message"] == "words"
    found.save(tmp_path / "model.suffice")
    again = suffice.load(tmp_path / "model.suffice")
    asked = [[tickets(size=400).columns["message"][0], 3.0, 1.0]]
    np.testing.assert_array_equal(again.predict_proba(asked), found.estimator.predict_proba(asked))


@pytest.mark.parametrize(
    ("families", "read", "held"),
    [
        ("gaussian", "by its words", ("words", "gaussian")),
        ("bytes", "by its bytes", ("bytes", "lognormal")),
        ({"message": "bytes"}, "by its bytes", ("bytes", "lognormal")),
        ({("message",): suffice.families.TextBytes(3)}, "by its bytes", ("bytes", "lognormal")),
        ({"hours": "gaussian"}, "by its words", ("words", "gaussian")),
        ("select", "by its words", ("words", None)),  # rows decide
    ],
)
def test_families_that_are_asked_for_hold_beside_texts(
    table: Any, families: Any, read: str, held: tuple[str, str | None]
) -> None:
    found = suffice.train(
        table, target="state", model="naive-bayes", families=families, drop=["plan"]
    )
    assert read in found.notes[0]
    asked = found.estimator.families_
    assert asked["message"] == held[0]
    assert held[1] in (asked["hours"], None)


def test_a_family_of_all_columns_is_refused_where_one_cannot_have_it(table: Any, run: Any) -> None:
    told = run(
        "fit", table, "--target", "state", "--model", "naive-bayes", "--families", "bernoulli",
        "-o", table.parent / "m",
    )  # fmt: skip
    assert told.code == 1
    assert "hours" in told.err


def test_other_models_leave_texts_out_and_say_so(table: Any) -> None:
    found = suffice.train(table, target="state", model="gda")
    assert [one.name for one in found.dropped] == ["message"]
    assert any("free text" in note for note in found.notes)


def test_a_column_is_declared_text_or_left_out(table: Any) -> None:
    left = suffice.train(table, target="state", model="naive-bayes", columns={"message": "ignore"})
    assert [one.name for one in left.dropped] == ["message"]
    told = suffice.train(table, target="state", model="naive-bayes", columns={"plan": "text"})
    assert told.estimator.families_["plan"] == "words"
    category = suffice.train(
        table, target="state", model="naive-bayes", columns={"message": "category"}
    )
    assert [one.name for one in category.dropped] == ["message"]


@pytest.mark.slow
def test_auto_takes_the_model_that_reads_texts_where_they_tell_more(table: Any) -> None:
    found = suffice.train(table, target="state", model="best")
    assert found.choice is not None
    assert found.choice.model == "naive Bayes (mixed, with text)"


@pytest.mark.slow
def test_a_pool_reads_texts_and_its_file_answers_like_it(tmp_path: Any, run: Any) -> None:
    made = visits(size=400, training=400)
    frame = pd.DataFrame(made.columns).assign(state=made.labels)
    found = suffice.train(frame, target="state", model="auto")
    assert found.choice is not None
    assert found.choice.model == "pool of models"
    assert tuple(found.estimator.texts_) == made.texts
    assert not found.dropped
    found.save(tmp_path / "model.suffice")
    again = suffice.load(tmp_path / "model.suffice")
    asked = frame.drop(columns="state").head(9)
    np.testing.assert_array_equal(again.predict_proba(asked), found.estimator.predict_proba(asked))
    told = run("inspect", tmp_path / "model.suffice").out
    assert all(f"also the words of {name}: weight" in told for name in made.texts)


@pytest.mark.slow
def test_fit_says_that_bytes_told_more_and_inspect_says_it_too(tmp_path: Any, run: Any) -> None:
    made = serials(size=300, training=300)
    frame = pd.DataFrame(made.columns).assign(age=made.labels)
    place = tmp_path / "serials.csv"
    frame.to_csv(place, index=False)
    told = run("fit", place, "--target", "age", "-o", tmp_path / "model").err
    assert "serial is read as text;" in told
    found = suffice.load(tmp_path / "model")
    assert found.readings_ == {"serial": "bytes"}
    assert "serial is read by its bytes, which told more than its words" in told
    assert "also the bytes of serial: weight" in run("inspect", tmp_path / "model").out


def test_a_last_row_of_sums_is_named(tmp_path: Any) -> None:
    place = tmp_path / "sums.csv"
    lines = [f"{i * 37 % 11},{'ab'[i % 3 > 0]}" for i in range(60)]
    place.write_text("\n".join(["amount,y", *lines, "300,Total"]) + "\n")
    found = suffice.train(place, target="y", model="naive-bayes")
    assert any("the last row is of class 'Total'" in note for note in found.notes)


@pytest.mark.parametrize("families", [None, {"message": "bytes"}])
def test_texts_are_drawn_by_the_command_as_by_the_model_and_read_again(
    table: Any, run: Any, families: Any
) -> None:
    asked = {} if families is None else {"families": families}
    found = suffice.train(table, target="state", model="naive-bayes", **asked)
    place = table.parent / "model"
    found.save(place)
    told = run("sample", place, "-n", "25", "--seed", "4")
    assert (told.code, told.err) == (0, "")
    drawn, labels = found.estimator.sample(25, random_state=np.random.default_rng(4))
    rows = list(csv.DictReader(told.out.splitlines()))
    assert [row["message"] for row in rows] == drawn["message"].to_pylist()
    assert [row["state"] for row in rows] == labels.tolist()
    assert run("sample", place, "-n", "25", "--seed", "4").out == told.out
    again = table.parent / "drawn.csv"
    again.write_text(told.out)
    assert run("predict", place, again).code == 0
