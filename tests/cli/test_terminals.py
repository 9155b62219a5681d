"""What a terminal is shown beside the answers: progress, which goes away again."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

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
        said = b""
        process.stdin.write(b"a,b,c\n")
        for _ in range(rows):
            process.stdin.write(b"0,0,0\n")
            process.stdin.flush()
            while process.stdout.readline() == b"prediction\n":
                pass
            if select.select([master], [], [], 0)[0]:
                break
        process.stdin.close()
        while True:
            try:
                part = os.read(master, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
        assert process.wait() == 0
        alarm.cancel()
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


def test_a_terminal_that_cannot_take_a_line_back_is_shown_none(
    environment: dict[str, str], model: Path
) -> None:
    assert shown({**environment, "TERM": "dumb"}, model, 60) == ""
