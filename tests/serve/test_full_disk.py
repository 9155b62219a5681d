"""A disk that is really full: a small one, mounted on the folder of the state."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.serve.conftest import LABELS, ROWS
from tests.serve.processes import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SIZE = 1 << 20
"""Bytes of the small disk: a state and some thousand rows."""


@pytest.fixture
def small_disk(tmp_path: Path, require: Callable[[object, str], None]) -> Iterator[Path]:
    """Mount a small disk in memory on a folder; where that is not allowed, skip."""
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "tmpfs", folder],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.process
def test_a_full_disk_stops_learning_and_nothing_else(model_files: Path, small_disk: Path) -> None:
    """Learning is 507 while the disk is full, and goes on when there is room; nothing is lost."""
    state, place = small_disk / "state", "/v1/models/gda"
    server = ServerProcess(model_files / "gda.suffice", "--state", state)
    acknowledged = 0

    def learn(identity: str, size: int) -> tuple[int, Any]:
        content = {"id": identity, "rows": [ROWS[0]] * size, "labels": [LABELS[0]] * size}
        return server.ask("POST", f"{place}/learn", content)

    try:
        assert learn("first", 1)[0] == 200
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        status = 200
        acknowledged = 1
        for number in range(200):  # what the log has left of its own pages
            status, told = learn(f"n{number}", 200)
            if status != 200:
                break
            acknowledged += 200
        assert status == 507, told
        assert "disk" in told["detail"]
        for _ in range(3):  # it is said again, and everything else is answered
            assert learn("again", 200)[0] == 507
            assert server.ask("POST", f"{place}/predict", {"rows": ROWS})[0] == 200
            status, told = server.ask("GET", place)
            assert (status, told["rows"]) == (200, len(ROWS) + acknowledged)
        assert server.ask("GET", "/health/ready")[0] == 200
        filler.unlink()
        status, told = learn("again", 200)
        assert (status, told["already"]) == (200, False)
        acknowledged += 200
        status, told = server.ask("GET", place)
        assert told["rows"] == len(ROWS) + acknowledged
    finally:
        server.kill()
    server = ServerProcess("--state", state)  # what the disk holds is what was acknowledged
    try:
        assert server.ask("GET", place)[1]["rows"] == len(ROWS) + acknowledged
    finally:
        server.kill()
