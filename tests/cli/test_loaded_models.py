"""A model that the command line wrote, in Python: it takes the rows of the same table."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.columns.filled import FilledColumns
from suffice.errors import BadFile, ColumnMismatch, NotFinite
from suffice.learning.table_recipe import TableNotes
from suffice.storage.model_file import StoredModel, read_model, write_model
from tests.reference.saved_models import noted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODELS = ["logistic", "gda", "qda", "naive-bayes"]


@pytest.fixture
def raw(tmp_path: Path) -> pd.DataFrame:
    """Return a table of numbers, counts, words and truths, with blanks, as pandas reads it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": [f"row {i}" for i in range(120)],
            "age": rng.normal(40.0, 9.0, 120).round(1),
            "colour": rng.choice(["red", "blue", "green"], 120),
            "member": rng.random(120) < 0.5,
            "calls": rng.poisson(2.0, 120),
        }
    ).astype(object)
    score = frame["age"] + 5 * (frame["colour"] == "red") + rng.normal(0.0, 6.0, 120)
    frame["kind"] = np.where(score > 42.0, "yes", "no")
    frame.loc[::9, "age"] = None
    frame.loc[::11, "member"] = None
    frame.loc[::13, "colour"] = None
    frame.to_csv(tmp_path / "table.csv", index=False)
    return pd.read_csv(tmp_path / "table.csv")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
def test_a_model_of_the_command_line_answers_alike_in_python(
    name: str, raw: pd.DataFrame, tmp_path: Path, run: Callable[..., Any]
) -> None:
    place, table = tmp_path / "model.suffice", tmp_path / "table.csv"
    assert run("fit", table, "--target", "kind", "--model", name, "-o", place).code == 0
    told = [json.loads(line) for line in run("predict", place, table, "--proba", "--json").rows]
    model = suffice.load(place)
    few = raw.drop(columns=["kind", "id"])[["calls", "member", "colour", "age"]]
    for frame in (raw, few):  # with what is left out and without, in any order
        assert model.predict(frame).tolist() == [row["prediction"] for row in told]
        ours = model.predict_proba(frame)
        theirs = [[row["p(no)"], row["p(yes)"]] for row in told]
        assert ours == pytest.approx(np.array(theirs), abs=1e-12)
    with pytest.raises(ColumnMismatch, match="unseen at fit time"):
        model.predict(raw.assign(more=1.0))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
def test_saved_again_it_is_the_same_file_and_learns_alike(
    name: str, raw: pd.DataFrame, tmp_path: Path, run: Callable[..., Any]
) -> None:
    place, table = tmp_path / "model.suffice", tmp_path / "table.csv"
    assert run("fit", table, "--target", "kind", "--model", name, "-o", place).code == 0
    model, copy = suffice.load(place), tmp_path / "copy.suffice"
    model.save(copy)
    assert copy.read_bytes() == place.read_bytes()
    assert run("learn", copy, table).code == 0
    learned = suffice.load(copy)
    model.partial_fit(raw, raw["kind"])
    assert np.array_equal(model.predict_proba(raw), learned.predict_proba(raw))
    model.save(place)
    ours, theirs = (TableNotes.from_state(read_model(p).state) for p in (place, copy))
    assert (ours.target, ours.filled, ours.dropped) == (
        theirs.target, theirs.filled, theirs.dropped,
    )  # fmt: skip


def test_what_others_wrote_about_the_table_is_kept() -> None:
    held = {"target": "kind", "filled": None, "dropped": ["id"], "decimals": {"age": 1}}
    notes = TableNotes.from_state({"table": held})
    assert notes is not None
    assert notes.to_dict() == held


def test_rows_that_are_filled_already_are_taken_as_they_are(tmp_path: Path) -> None:
    _, model, (frame, _) = noted(np.random.default_rng(0), 40)
    model.save(tmp_path / "model")
    back = suffice.load(tmp_path / "model")
    filled = back.learned_.notes.filled.transform(frame)
    assert np.array_equal(back.predict_proba(frame), back.predict_proba(filled))
    assert back.n_features_in_ == frame.shape[1] == filled.shape[1] - 1


def test_fitted_anew_it_knows_nothing_of_the_old_table(tmp_path: Path) -> None:
    _, model, (frame, y) = noted(np.random.default_rng(0), 40)
    model.save(tmp_path / "model")
    back = suffice.load(tmp_path / "model")
    with pytest.raises(NotFinite):
        back.fit(frame, y)
    assert back.predict(frame).size == len(frame)  # a refusal leaves it as it was
    whole = frame.fillna({"age": 50.0})
    back.fit(whole, y).save(tmp_path / "model")
    assert "table" not in read_model(tmp_path / "model").state
    with pytest.raises(NotFinite):
        back.predict(frame)


def test_a_column_that_is_blank_only_now_keeps_to_its_mean() -> None:
    rows = pd.DataFrame({"a": [1.0, 3.0], "b": [2.0, None]})
    notes = TableNotes("y", FilledColumns.of(rows))
    from suffice.rows import read_table

    found = notes.rows(read_table(pd.DataFrame({"b": [5.0], "y": ["no"], "a": [None]}, dtype=object)
                                  .astype({"a": float, "b": float})))  # fmt: skip
    assert found.names == ("a", "b", "b=blank")
    assert [found.column(j).tolist() for j in range(3)] == [[2.0], [5.0], [0.0]]


DAMAGED: dict[str, Any] = {
    "no dictionary": 3,
    "no target": {"dropped": [], "filled": None},
    "a target that is not text": {"target": 3, "dropped": [], "filled": None},
    "names that are none": {"target": None, "dropped": [3], "filled": None},
    "no means": {"target": None, "dropped": [], "filled": {"columns": {}, "means": []}},
    "means of other columns": {
        "target": None, "dropped": [],
        "filled": FilledColumns.of(pd.DataFrame({"z": [1.0]})).to_dict(),
    },
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGED)
def test_notes_that_make_no_sense_are_refused(what: str, tmp_path: Path) -> None:
    _, model, _ = noted(np.random.default_rng(0), 40)
    model.save(tmp_path / "model")
    held = read_model(tmp_path / "model")
    state = {**held.state, "table": DAMAGED[what]}
    write_model(tmp_path / "model", StoredModel(held.estimator, held.settings, state))
    with pytest.raises(BadFile):
        suffice.load(tmp_path / "model")


def test_a_mean_that_is_no_number_is_refused(tmp_path: Path) -> None:
    _, model, _ = noted(np.random.default_rng(0), 40)
    model.save(tmp_path / "model")
    held = read_model(tmp_path / "model")
    filled = {**held.state["table"]["filled"]}
    filled["means"] = [float("nan"), *filled["means"][1:]]
    state = {**held.state, "table": {**held.state["table"], "filled": filled}}
    write_model(tmp_path / "model", StoredModel(held.estimator, held.settings, state))
    with pytest.raises(BadFile, match="does not record how its table is read"):
        suffice.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("one", "other"),
    [(date(2026, 1, 31), date(2027, 1, 1)), (b"a", b"b"), (("a", 1), ("b", 2))],
    ids=["dates", "bytes", "tuples"],
)
def test_labels_that_json_has_no_form_for_are_told_all_the_same(
    one: Any, other: Any, tmp_path: Path, run: Callable[..., Any]
) -> None:
    place, table = tmp_path / "model.suffice", tmp_path / "new.csv"
    model = suffice.GaussianDiscriminant()
    model.fit([[1.0], [2.0], [5.0], [6.0]], [one, one, other, other]).save(place)
    table.write_text("x0\n1.5\n", encoding="ascii")
    for command in (("inspect", place), ("diff", place, place), ("predict", place, table)):
        told = run(*command, "--json")
        assert told.code == 0, told.err
        assert told.out


@pytest.mark.parametrize(
    "arguments",
    [
        "predict MODEL TABLE",
        "predict MODEL TABLE --reject-below 0.01 --reject-by typicality",
        "predict MODEL TABLE --reject-below 0.9",
        "explain MODEL TABLE",
        "outliers MODEL TABLE",
        "sample MODEL",
        "inspect MODEL",
        "learn MODEL TABLE -o OUT",
        "forget MODEL TABLE -o OUT",
        "merge MODEL OTHER -o OUT",
        "diff MODEL OTHER",
        "sql MODEL --table t",
    ],
)
def test_a_command_reads_a_model_file_once(
    run: Any, fitted: Any, flowers: Path, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    """Read twice, it might be two models: others may save one in between."""
    from suffice.storage import model_file as stored_models

    model = fitted(flowers, "kind", "naive-bayes")
    other, part = model.with_name("other"), model.with_name("part.csv")
    other.write_bytes(model.read_bytes())
    lines = flowers.read_text().splitlines()
    part.write_text("\n".join([*lines[:3], *lines[-2:]]) + "\n")
    places = {"MODEL": model, "OTHER": other, "TABLE": part, "OUT": model.with_name("out")}
    read: list[Path] = []
    whole = stored_models.read_archive

    def read_archive(path: Path) -> Any:
        read.append(path)
        return whole(path)

    monkeypatch.setattr(stored_models, "read_archive", read_archive)
    found = run(*(places.get(word, word) for word in arguments.split()))
    assert found.code == 0, found.err
    assert read == [places[word] for word in arguments.split() if word in ("MODEL", "OTHER")]
