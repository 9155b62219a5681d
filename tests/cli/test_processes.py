"""Commands in processes of their own: pipes, start-up, interruptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAVY = {"sklearn", "scipy", "numba", "pyarrow", "pandas", "polars", "narwhals", "matplotlib"}


def loaded(environment: dict[str, str], *arguments: object) -> set[str]:
    """Return what a command has imported when it ends."""
    program = (
        "import sys\nfrom suffice.cli import main\n"
        "code = main(sys.argv[1:])\n"
        "print(code, *sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    code, *names = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    return set(names)


def test_help_needs_no_numpy(environment: dict[str, str]) -> None:
    assert not loaded(environment, "--help") & {*HEAVY, "numpy", "rich"}
    assert not loaded(environment, "fit", "--help") & {*HEAVY, "numpy", "rich"}


@pytest.mark.parametrize("model", ["gda", "qda", "naive-bayes", "logistic"])
def test_predicting_a_row_needs_numpy_alone(
    model: str, environment: dict[str, str], fitted: Callable[..., Path], flowers: Path
) -> None:
    path = fitted(flowers, "kind", model)
    header, row, *_ = flowers.read_text().splitlines()
    flowers.write_text(f"{header}\n{row}\n")
    assert not loaded(environment, "predict", path, flowers, "--proba") & HEAVY
    assert not loaded(environment, "inspect", path) & HEAVY


def test_pipes_are_quiet(
    shell: Any, fitted: Callable[..., Path], measurements: Path, tmp_path: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    header, *rows = measurements.read_text().splitlines()
    many = tmp_path / "many.csv"
    many.write_text("\n".join([header.removesuffix(",class")]) + "\n")
    with many.open("a") as file:
        for row in rows * 400:
            file.write(row.rpartition(",")[0] + "\n")
    done = shell(f"cat {many} | suffice predict {path} - | head -1")
    assert done == (0, "prediction\n", "")
    done = shell(f"suffice sample {path} -n 200000 | head -1")
    assert done == (0, "a,b,c,class\n", "")
    done = shell(f"suffice explain {path} {many} --json | head -1; suffice --help | head -1")
    assert done.err == ""


def test_standard_input_is_a_table_like_any_other(
    shell: Any, fitted: Callable[..., Path], run: Any, flowers: Path, tmp_path: Path
) -> None:
    path = fitted(flowers, "kind", "naive-bayes")
    expected = run("predict", path, flowers).out
    content = flowers.read_bytes()
    assert shell(f"suffice predict {path} -", content).out == expected
    other = tmp_path / "other.suffice"
    done = shell(f"suffice fit - -t kind --model naive-bayes -o {other}", content)
    assert done.code == 0, done.err
    assert other.read_bytes() == path.read_bytes()
    assert shell(f"suffice learn {other} - && suffice forget {other} -", content).code == 1
    assert shell(f"gzip -c | suffice predict {path} -", content).out == expected
    empty = shell(f"suffice predict {path} -")
    assert (empty.code, empty.out) == (1, "")
    assert "standard input is empty" in empty.err


def test_answers_come_before_standard_input_ends(
    environment: dict[str, str], fitted: Callable[..., Path], measurements: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    with subprocess.Popen(
        [sys.executable, "-m", "suffice.cli", "predict", path, "-"],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        # As many rows as one chunk holds, and some more that never end.
        process.stdin.write(b"a,b,c\n" + b"0,0,0\n" * 400_000)
        process.stdin.flush()
        assert process.stdout.readline() == b"prediction\n"
        process.stdin.close()
        assert process.stdout.read().count(b"x\n") == 400_000
    assert process.returncode == 0


def test_nothing_is_coloured_and_no_progress_shown_where_there_is_no_terminal(
    shell: Any, measurements: Path, tmp_path: Path
) -> None:
    line = f"suffice compare {measurements} -t class --model gda --no-curves"
    done = shell(f"{line}; NO_COLOR=1 {sys.executable} -m suffice.cli --help")
    assert done.code == 0
    assert "\033" not in done.out + done.err
    assert "\r" not in done.out + done.err


@pytest.mark.parametrize("after", [0.4, 1.5, 3.0])
def test_an_interrupted_fit_leaves_no_half_file(
    after: float, environment: dict[str, str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    table, out = tmp_path / "large.csv", tmp_path / "m.suffice"
    rows = rng.normal(size=(30_000, 12))
    np.savetxt(table, np.c_[rows, rows[:, 0] > 0], delimiter=",", fmt="%.5g")
    process = subprocess.Popen(
        [sys.executable, "-m", "suffice.cli", "fit", table, "-t", "x12", "-o", out],
        env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode in (130, -signal.SIGINT)  # the latter before Python is ready
    if process.returncode == 130:
        assert said.decode().splitlines()[-1] == "interrupted"
        assert "Traceback" not in said.decode()
    assert {path.name for path in tmp_path.iterdir()} == {"large.csv"}


def test_an_interrupted_save_leaves_the_file_as_it_was(
    run: Any, fitted: Callable[..., Path], measurements: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fitted(measurements, "class", "gda")
    before = path.read_bytes()

    def interrupted(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    done = run("learn", path, measurements)
    assert (done.code, done.err) == (130, "interrupted\n")
    assert path.read_bytes() == before
    assert not list(path.parent.glob(f".{path.name}*"))


def test_a_full_disk_is_one_line_and_loses_nothing(
    run: Any, fitted: Callable[..., Path], measurements: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fitted(measurements, "class", "gda")
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = run("learn", path, measurements)
    assert done.code == 1
    assert done.err == (
        f"error: {path}: no space left on device\n"
        "Hint: make room, or choose another place; what was there before is still there\n"
    )
    assert path.read_bytes() == before
