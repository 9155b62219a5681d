"""What a terminal is shown beside the answers: progress, which goes away again."""

from __future__ import annotations

import io
import os
import re
import select
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from suffice.cli.terminal.messages import ProgressLine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pty = pytest.importorskip("pty")
LONGEST = 120.0
"""Seconds after which a process that waits for ever is ended, and its test fails."""


def shown(environment: dict[str, str], model: Path, rows: int) -> str:
    """Return what a terminal on standard error is shown while rows are written one by one.

    They are written until there is progress to be seen, or as many as `rows`.
    """
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "suffice.cli", "predict", model, "-"],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=slave,
    ) as process:  # fmt: skip
        os.close(slave)
        alarm = threading.Timer(LONGEST, process.kill)
        alarm.start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"a,b,c\n")
        for _ in range(rows):
            process.stdin.write(b"0,0,0\n")
            process.stdin.flush()
            while process.stdout.readline() == b"prediction\n":
                pass
            if select.select([master], [], [], 0)[0]:
                break
        process.stdin.close()
        said = _heard(master)
        assert process.wait() == 0
        alarm.cancel()
    return said


def _heard(master: int) -> str:
    """Return what was written to a terminal, once its other end is closed."""
    said = b""
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(master)
    return said.decode()


@pytest.fixture
def model(fitted: Callable[..., Path], measurements: Path) -> Path:
    """Return the file of a model with the columns a, b and c."""
    return fitted(measurements, "class", "gda")


def test_progress_is_shown_on_a_terminal_and_taken_back(
    environment: dict[str, str], model: Path
) -> None:
    said = shown({**environment, "TERM": "xterm", "COLUMNS": "24"}, model, 100_000)
    assert said.startswith("\r\033[Kreading standard input")
    assert said.endswith("\r\033[K")
    assert all(len(line) < 24 for line in said.split("\r\033[K"))


@pytest.mark.process
def test_rows_a_second_and_the_time_left_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 10.0, 20.0])
    monkeypatch.setattr("suffice.cli.terminal.messages.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("suffice.cli.terminal.messages._is_terminal", lambda _: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((200, 20)))
    monkeypatch.setenv("COLUMNS", "200")
    shown = io.StringIO()
    monkeypatch.setattr(shown, "fileno", lambda: 2, raising=False)
    monkeypatch.setattr(sys, "stderr", shown)
    shares = iter([0.5, 0.6])  # it went on where another run had ended
    with ProgressLine("reading a.csv", lambda: next(shares)) as progress:
        progress.more(1000)
        progress.more(500)
    first, second = shown.getvalue().split("\r\033[K")[1:3]
    assert first == "reading a.csv [############            ]  50% 1,000 rows, 100/s"
    assert second == "reading a.csv [##############          ]  60% 1,500 rows, 75/s, 40 s left"


def test_learning_from_a_large_table_shows_how_far_it_is(
    environment: dict[str, str], measurements: Path, tmp_path: Path
) -> None:
    code = (
        "import sys; from suffice.cli import main; from suffice.training import training_rows; "
        "from suffice.cli.terminal import messages; from suffice.tables import table_file; "
        "messages.PATIENCE = messages.EVERY = 0.0; "
        "training_rows.IN_MEMORY = table_file.CELLS = 100; sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["fit", str(measurements), "-t", "class", "--model", "gda", "-o", "m.suffice"]
    master, slave = pty.openpty()
    terminal = {**environment, "TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=terminal, stderr=slave, cwd=tmp_path
    ) as process:
        os.close(slave)
        said = _heard(master)
        assert process.wait() == 0
    lines = [line for line in said.split("\r\033[K") if line.startswith("learning from ")]
    assert lines
    assert all(re.search(r"\] +\d+% [\d,]+ rows, [\d,]+/s", line) for line in lines), lines
    assert said.splitlines()[-2].endswith("3 classes of class")
    assert " % right on rows it has not seen " in said.splitlines()[-1]
    quiet = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=terminal, capture_output=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert b"learning" not in quiet.stderr
    assert quiet.stdout == b""


def test_a_terminal_that_cannot_take_a_line_back_is_shown_none(
    environment: dict[str, str], model: Path
) -> None:
    assert shown({**environment, "TERM": "dumb"}, model, 60) == ""
