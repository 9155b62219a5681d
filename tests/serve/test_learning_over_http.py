"""What was acknowledged is in the log, once; what was forgotten is gone; order does not matter."""

from __future__ import annotations

import random
import sqlite3
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice
from suffice.errors import BadFile, FileInUse
from tests.serve.asked import served
from tests.serve.conftest import LABELS, ROWS, flowers, numbers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.serve.asked import Asked

NEW = [
    ("one", [{"size": 0.9, "colour": "red", "scented": False}], ["daisy"]),
    ("two", [{"size": 2.5, "colour": "mauve", "scented": True}], ["tulip"]),
    ("three", [{"size": 2.1, "colour": None, "scented": None}], ["tulip"]),
    ("four", [{"size": None, "colour": "white", "scented": True}, ROWS[0]], ["rose", "rose"]),
]
NAMES = ("naive_bayes", "gda")


def learn(ask: Asked, name: str, which: tuple[str, list[Any], list[str]]) -> Any:
    identity, rows, labels = which
    content = {"id": identity, "rows": rows, "labels": labels}
    found = ask.post(f"/v1/models/{name}/learn", content)
    assert found.status == 200, found.body
    return found.json


def posterior(ask: Asked, name: str) -> tuple[list[Any], Any]:
    found = ask.post(f"/v1/models/{name}/predict", {"rows": ROWS}).json
    return found["classes"], np.array(found["probabilities"])


def fitted(name: str, *more: tuple[str, list[Any], list[str]]) -> tuple[list[Any], Any]:
    """Return what one fit of all rows says; naive Bayes chooses its laws by the first of them."""
    rows = [row for _, given, _ in more for row in given]
    labels = [label for _, _, given in more for label in given]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class of one row
        model: Any
        if name == "naive_bayes":
            model = suffice.NaiveBayes().fit(flowers(), np.array(LABELS))
            model = model.partial_fit(flowers(rows), labels) if rows else model
        else:
            model = suffice.GaussianDiscriminant()
            model = model.fit(flowers([*ROWS, *rows]), np.array([*LABELS, *labels]))
        return model.classes_.tolist(), model.predict_proba(flowers(ROWS))


def same(one: tuple[list[Any], Any], other: tuple[list[Any], Any]) -> None:
    assert one[0] == other[0]
    np.testing.assert_allclose(one[1], other[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_learning_is_one_fit_of_all_rows_in_any_order(
    name: str, model_files: Path, tmp_path: Path
) -> None:
    path = model_files / f"{name}.suffice"
    order = random.Random(name).sample(NEW, len(NEW))
    with served(path, state=tmp_path / "state") as ask:
        told = {which[0]: learn(ask, name, which) for which in order}
        first = min(("two", "three"), key=[which[0] for which in order].index)
        assert told[first]["new_classes"] == ["tulip"]
        assert told["two"]["new_categories"] == ["colour=mauve"]
        assert told["four"]["rows"] == 2
        same(posterior(ask, name), fitted(name, *NEW))
        before = posterior(ask, name)
    with served(path, state=tmp_path / "state") as ask:  # snapshot
        same(posterior(ask, name), before)
        again = learn(ask, name, NEW[0])
        assert again["already"]
        same(posterior(ask, name), before)
    with served(state=tmp_path / "state") as ask:  # without its file
        same(posterior(ask, name), before)


@pytest.mark.parametrize("name", NAMES)
def test_forgetting_by_id_and_by_rows_leaves_the_fit_of_the_others(
    name: str, model_files: Path, tmp_path: Path
) -> None:
    path = f"/v1/models/{name}/forget"
    with served(model_files / f"{name}.suffice", state=tmp_path / "state") as ask:
        for which in NEW:
            learn(ask, name, which)
        assert ask.post(path, {"id": "two"}).json["rows"] == 1
        same(posterior(ask, name), fitted(name, NEW[0], NEW[2], NEW[3]))
        assert ask.post(path, {"id": "three"}).json["classes_left_out"] == ["tulip"]
        same(posterior(ask, name), fitted(name, NEW[0], NEW[3]))
        # One of two rows of a request.
        one = {"rows": NEW[3][1][:1], "labels": ["rose"]}
        assert ask.post(path, one).json["rows"] == 1
        same(posterior(ask, name), fitted(name, NEW[0], ("", [ROWS[0]], ["rose"])))
        never = ask.post(path, {**one, "labels": ["daisy"]})
        assert never.status == 409
        assert "nothing was changed" in never.json["detail"]
        assert ask.post(path, {"id": "never"}).status == 409
        assert ask.post(path, {"id": "two"}).json["already"]
        relearned = {"id": "two", "rows": NEW[1][1], "labels": NEW[1][2]}
        assert ask.post(f"/v1/models/{name}/learn", relearned).status == 409
        same(posterior(ask, name), fitted(name, NEW[0], ("", [ROWS[0]], ["rose"])))
    with served(state=tmp_path / "state") as ask:
        same(posterior(ask, name), fitted(name, NEW[0], ("", [ROWS[0]], ["rose"])))


def test_rows_of_the_model_file_are_taken_back_when_that_is_asked_for(
    model_files: Path, tmp_path: Path
) -> None:
    given = {"rows": ROWS[:1], "labels": LABELS[:1]}
    with served(model_files / "naive_bayes.suffice", state=tmp_path / "s") as ask:
        assert ask.post("/v1/models/naive_bayes/forget", given).status == 409
        found = ask.post("/v1/models/naive_bayes/forget?file=true", given)
        assert found.json["rows"] == 1
        assert "the file itself" in found.json["notes"][0]
        model = suffice.NaiveBayes().fit(flowers(ROWS[1:]), np.array(LABELS[1:]))
        expected = model.classes_.tolist(), model.predict_proba(flowers(ROWS))
        same(posterior(ask, "naive_bayes"), expected)
    with served(model_files / "naive_bayes.suffice", state=tmp_path / "s") as ask:
        same(posterior(ask, "naive_bayes"), expected)


def test_nothing_of_a_forgotten_row_is_left_in_any_file(model_files: Path, tmp_path: Path) -> None:
    """Removing `secure_delete`, or the checkpoint, makes this fail."""
    state = tmp_path / "state"
    marks = [b"Xanthippe", b"Violetta", b"identity-of-a-person"]

    def left() -> list[bytes]:
        held = b"".join(file.read_bytes() for file in sorted(state.iterdir()))
        return [mark for mark in marks if mark in held]

    with served(model_files / "naive_bayes.suffice", state=state) as ask:
        row = {"size": 0.5, "colour": "Violetta", "scented": True}
        many = [{"size": 0.5, "colour": f"Violetta{i}", "scented": True} for i in range(400)]
        content = {
            "id": "identity-of-a-person",
            "rows": [row, *many],
            "labels": ["Xanthippe"] * 401,
        }
        ask.post("/v1/models/naive_bayes/learn", content)
        for i in range(20):
            learn(ask, "naive_bayes", (f"n{i}", [ROWS[i % 8]], ["rose"]))
        assert left() == marks
        found = ask.post("/v1/models/naive_bayes/forget", {"id": "identity-of-a-person"})
        assert found.json["rows"] == 401
        assert left() == []
        data = ask("GET", "/v1/models/naive_bayes/file").body
        assert not any(mark in data for mark in marks)
    assert left() == []


@pytest.mark.parametrize("kind", ["multinomial", "complement", "bernoulli", "qda", "text", "pool"])
def test_every_kind_that_adds_up_learns_and_forgets(
    kind: str, model_files: Path, tmp_path: Path
) -> None:
    rows: list[Any] = [[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    labels: list[Any] = [1, 2]
    if kind == "text":
        rows, labels = ["a red rose", "meadow of daisies"], ["rose", "daisy"]
    if kind == "bernoulli":
        rows[1][0] = 1.0
    path = model_files / f"{kind}.suffice"
    with served(path, state=tmp_path / "state") as ask:
        before = ask.post(f"/v1/models/{kind}/predict", {"rows": rows}).json
        told = learn(ask, kind, ("a", rows, labels))
        assert told["rows"] == 2
        model = suffice.load(path).partial_fit(np.array(rows) if kind != "text" else rows, labels)
        found = ask.post(f"/v1/models/{kind}/predict", {"rows": rows}).json
        expected = model.predict_proba(np.array(rows) if kind != "text" else rows)
        np.testing.assert_allclose(found["probabilities"], expected, rtol=1e-9, atol=1e-12)
        assert ask.post(f"/v1/models/{kind}/forget", {"id": "a"}).status == 200
        after = ask.post(f"/v1/models/{kind}/predict", {"rows": rows}).json
        np.testing.assert_allclose(
            after["probabilities"], before["probabilities"], rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("kind", ["logistic", "perceptron", "mixture", "light", "gda"])
def test_what_cannot_learn_says_why_and_predicts(
    kind: str, model_files: Path, tmp_path: Path
) -> None:
    path = model_files / f"{kind}.suffice"
    state: Path | None = tmp_path / "state"
    if kind == "light":
        path = tmp_path / "light.suffice"
        suffice.load(model_files / "gda.suffice").save(path, statistics=False)
    if kind == "gda":
        state = None
    rows = [[1.0, 2.0, 3.0]] if kind == "mixture" else ROWS[:1]
    with served(path, state=state) as ask:
        for what in ("learn", "forget"):
            content = {"id": "a", "rows": rows, "labels": ["rose"]}
            found = ask.post(f"/v1/models/{kind}/{what}", content)
            assert found.status == 409
            assert {"light": "statistics", "gda": "--state", "mixture": "its own classes"}.get(
                kind, "not built from sums"
            ) in found.json["detail"]
        assert ask.post(f"/v1/models/{kind}/predict", {"rows": rows}).status == 200


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"rows": ROWS[:1]}, "no labels"),
        ({"rows": ROWS[:1], "labels": []}, "0 labels for 1 rows"),
        ({"rows": ROWS[:1], "labels": [None]}, "no label"),
        ({"rows": ROWS[:1], "labels": [["rose"]]}, "not a cell"),
        ({"rows": [{**ROWS[0], "size": "tall"}], "labels": ["rose"]}, "'tall'"),
        ({"rows": [{**ROWS[0], "size": 1e300}], "labels": ["rose"]}, ""),
        ({"id": "", "rows": ROWS[:1], "labels": ["rose"]}, "0 characters"),
        ({"id": ["a"], "rows": ROWS[:1], "labels": ["rose"]}, "not text"),
        ({"id": "a", "rows": [], "labels": []}, "no rows"),
    ],
)
def test_what_cannot_be_learned_changes_nothing(
    content: Any, said: str, model_files: Path, tmp_path: Path
) -> None:
    with served(model_files / "gda.suffice", state=tmp_path / "state") as ask:
        before = posterior(ask, "gda")
        found = ask.post("/v1/models/gda/learn", content)
        assert found.status == 422, found.body
        assert said in found.json["detail"]
        same(posterior(ask, "gda"), before)
        # In a group with others, it is refused alone.
        good = {"id": "good", "rows": ROWS[:1], "labels": ["rose"]}
        path = "/v1/models/gda/learn"
        several = [("POST", path, content), ("POST", path, good), ("POST", path, content)]
        assert [one.status for one in ask.at_once(several)] == [422, 200, 422]
        same(posterior(ask, "gda"), fitted("gda", ("", ROWS[:1], ["rose"])))


def test_labels_are_those_of_the_model_whatever_their_type(
    model_files: Path, tmp_path: Path
) -> None:
    X, _ = numbers()
    with served(model_files / "qda.suffice", state=tmp_path / "state") as ask:
        for i, label in enumerate((1, 1.0, "1")):
            told = learn(ask, "qda", (str(i), [X[i].tolist()], [label]))  # type: ignore[list-item]
            assert told["new_classes"] == []
        bad = {"rows": [X[0].tolist()], "labels": ["red"]}
        assert ask.post("/v1/models/qda/learn", bad).status == 422
        assert learn(ask, "qda", ("n", [X[0].tolist()], [7]))["new_classes"] == [7]  # type: ignore[list-item]


def test_a_state_in_use_of_another_file_or_a_newer_version_is_refused(
    model_files: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    path = model_files / "gda.suffice"
    with served(path, state=state) as ask:
        learn(ask, "gda", NEW[0])
        with (
            pytest.raises(FileInUse, match="belongs to a running server"),
            served(path, state=state),
        ):
            pass
    other = tmp_path / "gda.suffice"
    suffice.NaiveBayes().fit(flowers(ROWS[1:]), np.array(LABELS[1:])).save(other)
    with pytest.raises(BadFile, match="another file"), served(other, state=state):
        pass
    database = sqlite3.connect(state / "log.sqlite")
    database.execute("UPDATE suffice_state SET value = '2'")
    database.commit()
    database.close()
    before = (state / "log.sqlite").read_bytes()
    with pytest.raises(BadFile, match="version 2"), served(path, state=state):
        pass
    assert (state / "log.sqlite").read_bytes() == before


def test_a_full_disk_is_said_and_learning_goes_on_when_there_is_room(
    model_files: Path, tmp_path: Path
) -> None:
    """SQLite's own limit of pages is as full as a disk is: the same code comes back."""
    with served(model_files / "naive_bayes.suffice", state=tmp_path / "s") as ask:
        assert ask.server.learning is not None
        log = ask.server.learning.log
        learn(ask, "naive_bayes", NEW[0])
        before = posterior(ask, "naive_bayes")
        pages = log.execute("PRAGMA page_count")[0][0]
        log.execute(f"PRAGMA max_page_count = {pages}")
        rows = [{"size": 1.0, "colour": "red", "scented": True}] * 500
        content = {"id": "large", "rows": rows, "labels": ["rose"] * 500}
        full = ask.post("/v1/models/naive_bayes/learn", content)
        assert full.status == 507
        assert full.headers["retry-after"] == "1"
        same(posterior(ask, "naive_bayes"), before)
        log.execute("PRAGMA max_page_count = 1000000")
        assert ask.post("/v1/models/naive_bayes/learn", content).json["already"] is False
        same(
            posterior(ask, "naive_bayes"), fitted("naive_bayes", NEW[0], ("", rows, ["rose"] * 500))
        )


def test_learning_at_once_is_committed_together(model_files: Path, tmp_path: Path) -> None:
    with served(model_files / "gda.suffice", state=tmp_path / "state") as ask:
        requests = [
            (
                "POST",
                "/v1/models/gda/learn",
                {"id": f"n{i % 60}", "rows": [ROWS[0]], "labels": ["rose"]},
            )
            for i in range(64)
        ]
        found = ask.at_once(requests)
        assert [one.status for one in found] == [200] * 64
        assert sum(one.json["already"] for one in found) == 4
        same(posterior(ask, "gda"), fitted("gda", ("", [ROWS[0]] * 60, ["rose"] * 60)))
        assert ask.server.app.metrics.commits <= 64 // 8
        text = ask("GET", "/metrics").body.decode()
        assert 'suffice_learned_rows_total{model="gda"} 60' in text
        assert 'suffice_model_rows{model="gda"} 68' in text


def test_csv_is_learned_with_the_target_among_its_columns(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("size,kind\n" + "".join(f"{i / 7},{'ab'[i % 2]}\n" for i in range(20)))
    from suffice.cli import main

    path = tmp_path / "m.suffice"
    assert main(["fit", str(table), "-t", "kind", "--model", "gda", "-o", str(path)]) == 0
    with served(path, state=tmp_path / "s") as ask:
        body = b"kind,size\na,1.5\n,3\nb,2.5\n"
        found = ask("POST", "/v1/models/m/learn?id=csv", body, {"content-type": "text/csv"})
        assert found.json["rows"] == 2
        assert found.json["notes"] == ["1 row without a label left out"]
        assert ask.post("/v1/models/m/forget", {"id": "csv"}).json["rows"] == 2
