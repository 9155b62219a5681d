"""The command line as a reader of the documentation meets it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import suffice
from suffice.cli import app as application
from suffice.cli import main

FORMS = ["shared (LDA)", "per-class (QDA)", "diagonal", "shared-diagonal", "spherical", "auto"]


def test_the_demo_compares_every_form_and_saves_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "wine.png"
    assert main(["demo", "--output", str(picture)]) == 0
    said = capsys.readouterr()
    for form in FORMS:
        assert re.search(rf"(?m)^{re.escape(form)} .* \d+\.\d%", said.out), form
    assert "auto chose pool" in said.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [picture]
    assert said.err == f"picture saved: {picture}\n"


def test_the_demo_shows_that_models_merge_and_forget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["demo", "--output", str(tmp_path / "wine.png")])
    gaps = re.findall(r"(?m)^(?:merge|forget):.* to (\S+)$", capsys.readouterr().out)
    assert len(gaps) == 2
    assert all(float(gap) <= 1e-12 for gap in gaps)


def test_the_seed_decides_what_is_sampled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for seed in ("1", "1", "2"):
        main(["demo", "--seed", seed, "--output", str(tmp_path / "wine.png")])
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2]


def test_there_is_no_colour_and_no_wide_line_when_nobody_looks(tmp_path: Path) -> None:
    source = Path(suffice.__file__).parents[1]
    environment = {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "COLUMNS"}}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "suffice.cli", "demo"],
        cwd=tmp_path, env={**environment, "PYTHONPATH": str(source)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "\x1b" not in done.stdout + done.stderr
    assert (tmp_path / "suffice-demo.png").exists()
    assert max(map(len, done.stdout.splitlines())) <= 88


def test_a_place_that_cannot_be_written_is_one_line_and_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "nowhere" / "wine.png"
    assert main(["demo", "--output", str(place)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"error: {place}: no such file or directory",
        "Hint: choose another place with --output",
    ]
    with pytest.raises(FileNotFoundError):
        main(["--debug", "demo", "--output", str(place)])


def test_wrong_usage_is_told_apart_from_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--colour"]) == 2
    assert "Hint: suffice demo --help" in capsys.readouterr().err
    assert main([]) == 2
    assert "Commands:" in capsys.readouterr().err
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"suffice, version {suffice.__version__}\n"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, click.Abort])
def test_control_c_ends_with_130(
    stop: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(**_: object) -> None:
        raise stop

    monkeypatch.setattr(application.app.commands["demo"], "callback", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted"


def test_a_defect_is_one_line_unless_a_traceback_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(application.app.commands["demo"], "callback", broken)
    assert main(["demo"]) == 1
    assert capsys.readouterr().err.startswith("error: ZeroDivisionError: division by zero\nHint: ")
