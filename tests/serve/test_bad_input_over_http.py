"""What does not fit a model or a state: refused in words at every address, and nothing changed."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice
from suffice.cli import main
from tests.serve.asked import served
from tests.serve.conftest import ROWS
from tests.serve.test_models_over_http import CODES, MIXED, table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROW = ROWS[0]
WITHOUT_COLOUR = {"size": 1.5, "scented": True}
PLACE = "/v1/models/gda"


@pytest.mark.parametrize(
    ("address", "content", "status", "said"),
    [
        *((f"/v1/models/gdb/{what}", {"rows": [ROW]}, 404, "no model 'gdb'")
          for what in ("predict", "explain", "typicality", "sample", "learn", "forget")),
        ("/v2/models/gdb/infer", {"inputs": []}, 404, "no model 'gdb'"),
        *((f"{PLACE}/{what}", {"rows": [WITHOUT_COLOUR]}, 422, "no column 'colour'")
          for what in ("predict", "explain", "typicality")),
        *((f"{PLACE}/{what}", {"rows": [WITHOUT_COLOUR], "labels": ["rose"]}, 422,
           "no column 'colour'") for what in ("learn", "forget")),
        *((f"{PLACE}/{what}", {"rows": [[1.5, "red"]]}, 422, "2 cells")
          for what in ("predict", "explain", "typicality")),
        (f"{PLACE}/learn", {"rows": [[1.5, "red", True, 3]], "labels": ["rose"]}, 422, "4 cells"),
        (f"{PLACE}/explain?of=tulip", {"rows": [ROW]}, 422, "'tulip'"),
        (f"{PLACE}/explain?against=tulip", {"rows": [ROW]}, 422, "'tulip'"),
        (f"{PLACE}/explain?off=rose", {"rows": [ROW]}, 422, "?off is not known"),
        (f"{PLACE}/sample", {"class": "tulip"}, 422, "'tulip'"),
        (f"{PLACE}/sample", {"size": -1}, 422, "size=-1"),
        (f"{PLACE}/forget", {"id": "never"}, 409, "nothing was learned"),
        (f"{PLACE}/forget", {"rows": [ROW], "labels": ["tulip"]}, 409, "nothing was changed"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_changes_nothing(
    address: str, content: Any, status: int, said: str, model_files: Path, tmp_path: Path
) -> None:
    with served(model_files / "gda.suffice", state=tmp_path / "state") as ask:
        before = ask.post(f"{PLACE}/predict", {"rows": ROWS}).json
        found = ask.post(address, content)
        assert found.status == status, found.body
        assert found.headers["content-type"] == "application/problem+json"
        assert said in found.json["detail"]
        assert ask.post(f"{PLACE}/predict", {"rows": ROWS}).json == before
        assert ask("GET", PLACE).json["rows"] == len(ROWS)


def test_columns_that_a_model_does_not_know_are_noted_everywhere(
    model_files: Path, tmp_path: Path
) -> None:
    with served(model_files / "gda.suffice", state=tmp_path / "state") as ask:
        for what in ("predict", "explain", "typicality", "learn", "forget"):
            labels = {"labels": ["rose"]} if what in ("learn", "forget") else {}
            found = ask.post(f"{PLACE}/{what}", {"rows": [{**ROW, "shop": 3}], **labels})
            assert found.status == 200, found.body
            assert "shop" in found.json["notes"][0]


def test_the_command_refuses_a_state_of_a_newer_version(
    model_files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, state = model_files / "gda.suffice", tmp_path / "state"
    with served(model, state=state):
        pass
    database = sqlite3.connect(state / "log.sqlite")
    with database:
        database.execute("UPDATE suffice_state SET value = '2'")
    database.close()
    assert main(["serve", str(model), "--state", str(state), "--port", "0"]) == 1
    said = capsys.readouterr().err
    assert "version 2" in said
    assert "Hint:" in said


def changed(sql: str, *given: object) -> Callable[[Path], None]:
    """Return what does something to the file of a log, as nobody should."""

    def change(path: Path) -> None:
        database = sqlite3.connect(path)
        with database:
            database.execute(sql, given)
        database.close()

    return change


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "no database": lambda path: path.write_bytes(b"not a database" * 1000),
    "half of it": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "no column": changed("ALTER TABLE suffice_models RENAME generation TO other"),
    "an entry": changed("UPDATE suffice_log SET content = ?", b"\x00\xff"),
    "another row": changed("UPDATE suffice_log SET content = "
                           "CAST(replace(CAST(content AS TEXT), 'red', 'blue') AS BLOB)"),
    "an entry of text": changed("UPDATE suffice_log SET content = CAST(content AS TEXT)"),
    "more rows than labels": changed("UPDATE suffice_log SET digest = NULL, content = ?",
                                     b'{"rows":[[1.0,"red",true]],"labels":[]}'),
    "a snapshot": changed("UPDATE suffice_snapshots SET content = ?", b"\x00\xff"),
    "its position": changed("UPDATE suffice_snapshots SET position = '[1'"),
    "the base": changed("UPDATE suffice_models SET base = ?", b"\x00"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_is_refused_in_words(
    damage: str, model_files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """None is served as if it were whole; a row that was changed in the file is found too."""
    model, state = model_files / "gda.suffice", tmp_path / "state"
    content = {"rows": [ROW], "labels": ["rose"]}
    with served(model, state=state) as ask:
        assert ask.post(f"{PLACE}/learn", content).status == 200
    if "row" in damage or "entry" in damage:  # which are read where they are not in a snapshot
        changed("DELETE FROM suffice_snapshots")(state / "log.sqlite")
    DAMAGES[damage](state / "log.sqlite")
    assert main(["serve", str(model), "--state", str(state), "--port", "0"]) == 1
    said = capsys.readouterr().err
    assert "Hint:" in said
    assert "Traceback" not in said
    for inner in ("StateUnavailable", "TypeError", "ValueError", "DecodeError", "--debug"):
        assert inner not in said


def test_a_place_that_holds_no_state_is_refused_in_words(
    model_files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x")
    for state in (tmp_path / "file", tmp_path / "file" / "below"):
        model = str(model_files / "gda.suffice")
        assert main(["serve", model, "--state", str(state), "--port", "0"]) == 1
        said = capsys.readouterr().err
        assert "cannot hold a state" in said
        assert "--state" in said.partition("Hint:")[2]


def test_nothing_is_acknowledged_into_a_file_that_was_deleted(
    model_files: Path, tmp_path: Path
) -> None:
    """SQLite goes on writing to it; after the end of the process it would be gone."""
    state = tmp_path / "state"
    content = {"rows": [ROW], "labels": ["rose"]}
    with served(model_files / "gda.suffice", state=state) as ask:
        assert ask.post(f"{PLACE}/learn", content).status == 200
        (state / "log.sqlite").rename(tmp_path / "elsewhere")
        lost = ask.post(f"{PLACE}/learn", content)
        assert lost.status == 503
        assert "moved or deleted" in lost.json["detail"]
        assert ask.post(f"{PLACE}/predict", {"rows": [ROW]}).status == 200
        assert ask("GET", PLACE).json["rows"] == len(ROWS) + 1
        (tmp_path / "elsewhere").rename(state / "log.sqlite")
        assert ask.post(f"{PLACE}/learn", content).status == 200


def test_one_id_from_many_at_once_is_learned_once_or_refused_to_all(
    model_files: Path, tmp_path: Path
) -> None:
    many = 16
    with served(model_files / "gda.suffice", state=tmp_path / "state") as ask:

        def learned(*contents: Any) -> list[Any]:
            return ask.at_once([("POST", f"{PLACE}/learn", one) for one in contents])

        for turn in range(5):
            same = {"id": f"same {turn}", "rows": [ROW], "labels": ["rose"]}
            found = learned(*[same] * many)
            assert [one.status for one in found] == [200] * many
            assert sum(not one.json["already"] for one in found) == 1
            # Their sum is no number: whoever comes under the same id has to hear that too.
            rows = [{**ROW, "size": size} for size in (1e200, -1e200)]
            enormous = {"id": f"enormous {turn}", "rows": rows, "labels": ["rose"] * 2}
            assert {one.status for one in learned(*[enormous] * many)} == {422}
            either = [{**same, "id": f"either {turn}", "labels": [label]}
                      for label in ("rose", "daisy")]  # fmt: skip
            statuses = [one.status for one in learned(*either * (many // 2))]
            assert sorted(statuses) == [200] * (many // 2) + [409] * (many // 2)
        assert ask("GET", PLACE).json["rows"] == len(ROWS) + 10


def test_rows_that_never_were_in_the_file_leave_a_state_that_can_be_opened(
    model_files: Path, tmp_path: Path
) -> None:
    """Sums cannot tell, but what is left has to be the sums of some rows."""
    frame = table(*MIXED)
    path, state = tmp_path / "mixed.suffice", tmp_path / "state"
    suffice.GaussianDiscriminant().fit(frame, CODES).save(path)
    place = "/v1/models/mixed"
    rows = frame.astype(object).where(frame.notna(), None).iloc[::9].to_dict("records")
    strange = {"rows": rows, "labels": [0] * len(rows)}  # most of them were of other classes
    real = {"rows": rows[:2], "labels": [0] * 2}
    with served(path, state=state) as ask:
        before = ask.post(f"{place}/predict", {"rows": rows}).json
        found = ask.post(f"{place}/forget?file=true", strange)
        assert found.status == 409, found.body
        assert "forgetting would leave" in found.json["detail"]
        assert "negative variance" in found.json["detail"]
        assert ask.post(f"{place}/predict", {"rows": rows}).json == before
        assert ask.post(f"{place}/forget?file=true", real).status == 200
        after = ask.post(f"{place}/predict", {"rows": rows}).json
    with served(path, state=state) as ask:
        again = ask.post(f"{place}/predict", {"rows": rows}).json
    np.testing.assert_allclose(again["probabilities"], after["probabilities"], rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_forgotten_from_a_file_the_state_opens_with_the_same_answers(
    seed: int, model_files: Path, tmp_path: Path
) -> None:
    """What forgetting leaves is checked where it is made, and not read again to be kept."""
    rng = np.random.default_rng(seed)
    frame = table(*MIXED)
    path, state = tmp_path / "mixed.suffice", tmp_path / "state"
    suffice.GaussianDiscriminant().fit(frame, CODES).save(path)
    place = "/v1/models/mixed"
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    asked = {"rows": rows[:5]}
    with served(path, state=state) as ask:
        for _ in range(6):
            some = rng.permutation(len(rows))[: int(rng.integers(1, 8))].tolist()
            labels = rng.permutation([CODES[i] for i in some]).tolist()  # some of other rows
            before = ask.post(f"{place}/predict", asked).json
            given = {"rows": [rows[i] for i in some], "labels": labels}
            status = ask.post(f"{place}/forget?file=true", given).status
            assert status in (200, 409)
            if status == 409:
                assert ask.post(f"{place}/predict", asked).json == before
        after = ask.post(f"{place}/predict", asked).json
    with served(path, state=state) as ask:
        again = ask.post(f"{place}/predict", asked).json
    np.testing.assert_allclose(again["probabilities"], after["probabilities"], rtol=1e-9)
