"""What does not fit a model or a state: refused in words at every address, and nothing changed."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from suffice.cli import main
from tests.serve.asked import served
from tests.serve.conftest import ROWS

if TYPE_CHECKING:
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
