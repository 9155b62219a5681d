"""`suffice predict --coverage`, and rows that `fit --calibration-rows` keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from sklearn.datasets import load_iris

if TYPE_CHECKING:
    from pathlib import Path

from suffice.cli.app import main


@pytest.fixture
def flowers(tmp_path: Path) -> tuple[str, str]:
    X, y = load_iris(return_X_y=True)
    head = "sl,sw,pl,pw,species"
    lines = [",".join(map(str, [*x, "abc"[c]])) for x, c in zip(X, y, strict=True)]
    for name, rows in (("old.csv", lines[::2]), ("new.csv", lines[1::2])):
        (tmp_path / name).write_text("\n".join([head, *rows]) + "\n")
    return str(tmp_path / "old.csv"), str(tmp_path / "new.csv")


def test_sets_are_printed_from_a_file_alone(
    flowers: tuple[str, str], tmp_path: Path, capsys: Any
) -> None:
    old, new = flowers
    model = str(tmp_path / "m.suffice")
    fit = ["fit", old, "--target", "species", "--model", "gda", "-o", model]
    assert main([*fit, "--calibration-rows", "60"]) == 0
    capsys.readouterr()
    assert main(["predict", model, new, "--coverage", ".95", "--json"]) == 0
    told = capsys.readouterr()
    rows = [json.loads(line) for line in told.out.splitlines()]
    assert len(rows) == 75
    assert all(row["prediction"] in row["set"] for row in rows)
    assert all(row["set_size"] == len(row["set"]) for row in rows)
    assert "Full conformal among 60 kept rows" in told.err.replace("\n", " ")
    assert main(["predict", model, new, "--coverage", "2"]) == 1
    assert "is not a share between 0 and 1" in capsys.readouterr().err
    assert main([*fit, "--force"]) == 0
    assert main(["predict", model, new, "--coverage", ".9"]) == 1
    assert "none are given or stored" in capsys.readouterr().err.replace("\n", " ")
