"""`suffice fit --checkpoint`: killed and begun again, it ends at the same file."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

if TYPE_CHECKING:
    from pathlib import Path

KILLED = """
import os, signal, sys
from suffice.cli import main
from suffice.learning import checkpoints
from suffice.sources import local
from suffice.tables import table_file

checkpoints.EVERY, local.CELLS, table_file.CELLS = 0.0, 400, 400
write_if_due, left = checkpoints.Checkpoint.write_if_due, int(sys.argv[1])

def killed(self, progress):
    global left
    write_if_due(self, progress)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

checkpoints.Checkpoint.write_if_due = killed
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of files, with blanks, a category and rows without a label."""
    monkeypatch.setattr("suffice.sources.local.CELLS", 400)
    monkeypatch.setattr("suffice.tables.table_file.CELLS", 400)
    rng = np.random.default_rng(1)
    x = rng.normal(size=900)
    x[rng.random(900) < 0.05] = np.nan
    labels = [None if i % 50 == 0 else "ab"[i % 2] for i in range(900)]
    colours = rng.choice(["red", "blue"], 900)
    table = pa.table(
        {"x": pa.array(x, from_pandas=True), "z": 1e6 + x**3, "colour": colours, "y": labels}
    )
    for place in range(3):
        some = table.slice(300 * place, 300)
        parquet.write_table(some, tmp_path / f"part-{place}.parquet", row_group_size=120)
        csv.write_csv(some, tmp_path / f"part-{place}.csv")
    return tmp_path


@pytest.mark.parametrize(  # every model with every kind of file: engines/test_checkpoints.py
    ("model", "ending"), [("gda", "parquet"), ("naive-bayes", "csv")]
)
def test_a_run_that_was_killed_twice_ends_at_the_same_file(
    model: str, ending: str, parts: Path, run: Any, environment: dict[str, str]
) -> None:
    state, out = parts / "state", parts / "killed.suffice"
    arguments = ["fit", str(parts / f"part-*.{ending}"), "-t", "y", "--model", model]
    mine = [*arguments, "-o", str(out), "--checkpoint", str(state)]
    for after in (2, 1):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(after), *mine],
            env=environment, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert state.exists()
        assert not out.exists()
    last = run(*mine)
    assert last.code == 0, last.err
    assert "882 rows" in last.err
    whole, other = parts / "whole.suffice", parts / "other"
    assert run(*arguments, "-o", whole, "--checkpoint", other).code == 0
    assert out.read_bytes() == whole.read_bytes()


def test_a_checkpoint_of_something_else_is_refused(parts: Path, run: Any) -> None:
    state, out = parts / "state", parts / "m.suffice"
    files = [parts / f"part-{place}.parquet" for place in range(3)]
    arguments = ("-t", "y", "-o", out, "--checkpoint", state, "--model")
    assert run("fit", *files, *arguments, "gda").code == 0
    before = out.read_bytes()
    for others in (
        [*files[:2], *arguments, "gda"],
        [*files, *arguments, "qda"],
        [*files, *arguments, "naive-bayes"],
        [*files, *arguments, "gda", "--drop", "colour"],
        [*files, *arguments, "gda", "--shrink", "0.5"],
    ):
        done = run("fit", *others)
        assert done.code == 1, others
        error, hint = done.err.splitlines()[-2:]
        assert error.startswith(f"error: {state} belongs to another ")
        assert hint == "Hint: delete it to start again, or name another file"
    assert out.read_bytes() == before
    state.write_text("something else")
    done = run("fit", *files, *arguments, "gda")
    assert done.code == 1
    assert str(state) in done.err
    assert state.read_text() == "something else"


def test_a_checkpoint_that_cannot_be_is_refused_before_anything_is_read(
    parts: Path, run: Any
) -> None:
    file = parts / "part-0.csv"
    for model, why in (("logistic", "read once for every step"), ("auto", "may choose logistic")):
        done = run("fit", file, "-t", "y", "--model", model, "--checkpoint", parts / "state")
        assert done.code == 2
        assert why in done.err
        assert "name gda, qda, naive-bayes" in done.err
    done = run("fit", file, "-t", "y", "--model", "gda", "--checkpoint", parts / "no" / "state")
    assert done.code == 1
    assert "no such file or directory" in done.err
    done = run("fit", file, "-t", "y", "--model", "gda", "--checkpoint", parts / "m", "-o",
               parts / "m")  # fmt: skip
    assert done.code == 2
    assert not (parts / "m").exists()


def test_standard_input_has_no_checkpoint(shell: Any, parts: Path) -> None:
    done = shell(
        f"suffice fit - -t y --model gda -o {parts}/m --checkpoint {parts}/state",
        (parts / "part-0.csv").read_bytes(),
    )
    assert done.code == 1
    assert "standard input cannot be read from the middle" in done.err
    assert not (parts / "state").exists()
