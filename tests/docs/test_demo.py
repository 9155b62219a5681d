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

MODELS = ["logistic", "GDA (shared covariance)", "GDA (per class)", "naive Bayes (mixed)"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """Return the folder that a demo wrote to, and what it said on either stream."""
    folder = tmp_path_factory.mktemp("demo")
    source = Path(suffice.__file__).parents[1]
    environment = {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "COLUMNS"}}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "suffice.cli", "demo"],
        cwd=folder, env={**environment, "PYTHONPATH": str(source)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return folder, done.stdout, done.stderr


@pytest.mark.process
def test_the_demo_compares_both_schools_and_recommends_a_model(
    shown: tuple[Path, str, str],
) -> None:
    _, out, _ = shown
    for model in MODELS:
        assert re.search(rf"(?m)^{re.escape(model)} +0\.\d{{3}} ", out), model
    assert re.search(r"(?m)^Use (.*, of the \w+ school|the pool of models)", out)
    assert "Why:" in out


@pytest.mark.process
def test_the_demo_says_where_page_and_picture_are_and_what_to_try_next(
    shown: tuple[Path, str, str],
) -> None:
    folder, out, err = shown
    assert err.splitlines() == [
        "page written:  suffice-demo.html",
        "picture saved: suffice-demo.png",
    ]
    assert {path.name for path in folder.iterdir()} == {"suffice-demo.html", "suffice-demo.png"}
    assert (folder / "suffice-demo.png").read_bytes().startswith(b"\x89PNG")
    html = (folder / "suffice-demo.html").read_text("utf-8")
    assert "Benign or malignant?" in html
    assert "There is no picture" not in html
    commands = re.findall(r"(?m)^  suffice ([a-z]+) ", out)
    assert commands == ["report", "fit", "predict", "explain"]
    assert set(commands) <= set(application.app.commands)


@pytest.mark.process
def test_the_demo_shows_that_models_merge_and_forget(shown: tuple[Path, str, str]) -> None:
    gaps = re.findall(r"(?m)^(?:merge|forget):.* to (\S+)$", shown[1])
    assert len(gaps) == 2
    # Radius, perimeter and area are all but one column: rounding grows by their condition.
    assert all(float(gap) <= 1e-10 for gap in gaps)


@pytest.mark.process
def test_there_is_no_colour_and_no_wide_line_when_nobody_looks(
    shown: tuple[Path, str, str],
) -> None:
    _, out, err = shown
    assert "\x1b" not in out + err
    assert max(map(len, out.splitlines())) <= 100


def test_a_place_that_cannot_be_written_is_one_line_and_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "nowhere" / "page.html"
    assert main(["demo", "--output", str(place)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"error: {place}: no such file or directory",
        f"Hint: there is no folder {place.parent}: is the name right? The folder must exist",
    ]
    with pytest.raises(FileNotFoundError):
        main(["--debug", "demo", "--output", str(place)])


def test_wrong_usage_is_told_apart_from_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--colour"]) == 2
    assert "Hint: see suffice demo --help" in capsys.readouterr().err
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
