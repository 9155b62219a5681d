"""Commands in processes of their own: pipes, start-up, interruptions."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
def test_predicting_a_row_needs_numpy_alone(  # with words and blanks, packed or not
    model: str, environment: dict[str, str], fitted: Callable[..., Path], flowers: Path
) -> None:
    path = fitted(flowers, "kind", model)
    header, row, *_ = flowers.read_text().splitlines()
    flowers.write_text(f"{header}\n{row}\n")
    assert not loaded(environment, "predict", path, flowers, "--proba") & HEAVY
    packed = flowers.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(f"{header}\n,,,,\n".encode()))
    assert not loaded(environment, "predict", path, packed) & HEAVY
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
    few = tmp_path / "few.csv"
    few.write_text("".join(many.read_text().splitlines(keepends=True)[:2000]))
    for line in (
        f"explain {path} {few} --json",
        f"outliers {path} {few} --all",
        f"inspect {path} --json",
        f"inspect {path}",
        f"compare {measurements} -t class --model gda --no-curves --json",
        "--help",
    ):
        done = shell(f"suffice {line} | head -1")
        assert (done.code, done.err) == (0, ""), line
        assert len(done.rows) == 1


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


def test_nothing_is_coloured_and_no_progress_shown_where_there_is_no_terminal(
    shell: Any, measurements: Path, tmp_path: Path
) -> None:
    line = f"suffice compare {measurements} -t class --model gda --no-curves"
    done = shell(f"{line}; NO_COLOR=1 {sys.executable} -m suffice.cli --help")
    assert done.code == 0
    assert "\033" not in done.out + done.err
    assert "\r" not in done.out + done.err


STAGES = {
    "reading": "suffice.tables.csv.table:CsvTable.records",
    "comparing": "suffice.training.model_choice:choose",
    "fitting": "suffice.training.fit_rows:fit_rows",
    "saving": "os:fsync",
}
"""What a fit does, and where it can be held up."""
HELD_UP = """
import importlib, json, operator, os, sys, time
import pyarrow.csv, pyarrow.parquet, sklearn.base, scipy.stats
import suffice.training.model_choice
from suffice.cli import main
print("ready", flush=True)
for line in sys.stdin:
    place, arguments, errors = json.loads(line)
    child = os.fork()
    if not child:
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
        module, _, path = place.partition(":")
        owner, _, name = path.rpartition(".")
        held = importlib.import_module(module)
        held = operator.attrgetter(owner)(held) if owner else held
        def wait(*_, **__):
            print("there", os.getpid(), flush=True)
            time.sleep(120)
            os._exit(99)
        setattr(held, name, wait)
        code = main(arguments)
        sys.stderr.flush()
        os._exit(code)
    print("gone", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Loading the libraries takes longer than all of the fits: it is done once, for all processes."""


@pytest.fixture(scope="module")
def held_up(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., tuple[int, str]]]:
    """Return `held_up(place, arguments, signal)`: how a command ends that is stopped there."""
    errors = tmp_path_factory.mktemp("held-up") / "errors"
    with subprocess.Popen(
        [sys.executable, "-c", HELD_UP],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as parent:  # fmt: skip
        assert parent.stdin is not None
        assert parent.stdout is not None
        lines, asked = parent.stdout, parent.stdin
        assert lines.readline() == "ready\n"

        def stopped(place: str, arguments: list[str], with_signal: int) -> tuple[int, str]:
            errors.unlink(missing_ok=True)
            print(json.dumps([place, arguments, str(errors)]), file=asked, flush=True)
            word, pid = lines.readline().split()
            assert word == "there", errors.read_text()
            os.kill(int(pid), with_signal)
            word, code = lines.readline().split()
            assert word == "gone"
            return int(code), errors.read_text()

        yield stopped
        asked.close()


@pytest.mark.parametrize(
    ("with_signal", "stage"),
    # A process that just ends leaves what is on the disk: that is the same until it saves.
    [
        *((signal.SIGINT, stage) for stage in STAGES),
        *((signal.SIGTERM, stage) for stage in ("comparing", "saving")),
        *((signal.SIGKILL, stage) for stage in ("fitting", "saving")),
    ],
)
def test_a_fit_that_is_stopped_leaves_the_old_file_and_nothing_beside_it(
    stage: str, with_signal: signal.Signals, held_up: Any, measurements: Path
) -> None:
    out = measurements.parent / "m.suffice"
    out.write_bytes(b"what was there before")
    there = {path.name for path in measurements.parent.iterdir()}
    arguments = ["fit", str(measurements), "-t", "class", "-o", str(out)]
    more = ["--force"] if stage == "comparing" else ["--force", "--model", "gda"]
    ended = held_up(STAGES[stage], [*arguments, *more], with_signal)
    if with_signal is signal.SIGINT:
        assert ended == (130, "interrupted\n")
    else:
        assert ended == (-with_signal, "")
    assert out.read_bytes() == b"what was there before"
    left = {path.name for path in measurements.parent.iterdir()}
    if with_signal is not signal.SIGINT and stage == "saving":
        left.discard(".m.suffice.lock")  # of a process that is no more: the next one takes it over
    assert left == there


def test_a_large_table_loads_no_frames(environment: dict[str, str], tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(60_000, 3))  # packed, more than a megabyte
    columns = {"a": rows[:, 0], "b": rows[:, 1], "c": (rows[:, 2] > 0).astype(int)}
    table, out = tmp_path / "large.csv.gz", tmp_path / "m.suffice"
    with pa.output_stream(table) as packed:
        pa.csv.write_csv(pa.table(columns), packed)
    names = loaded(environment, "fit", table, "-t", "c", "-o", out, "--model", "gda")
    assert "pyarrow" in names
    assert "pandas" not in names  # Arrow would load it, and lose the Ctrl-C of that half second


def test_a_fit_that_is_interrupted_at_work_ends_in_one_line(
    environment: dict[str, str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    table, out = tmp_path / "large.csv", tmp_path / "m.suffice"
    rows = rng.normal(size=(120_000, 12))  # minutes of work: it is not done when it is stopped
    columns = {f"x{j}": column for j, column in enumerate([*rows.T, (rows[:, 0] > 0).astype(int)])}
    pa.csv.write_csv(pa.table(columns), table)
    process = subprocess.Popen(
        [sys.executable, "-m", "suffice.cli", "fit", table, "-t", "x12", "-o", out],
        env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
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
        "Hint: free some space, or choose another place; the previous file is unchanged\n"
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize("command", ["predict", "inspect", "explain", "sample"])
def test_answers_that_cannot_be_written_are_an_error(
    command: str, shell: Any, fitted: Callable[..., Path], measurements: Path, require: Any
) -> None:
    require(Path("/dev/full").exists(), "no /dev/full")
    path = fitted(measurements, "class", "gda")
    table = measurements if command in ("predict", "explain") else ""
    done = shell(f"suffice {command} {path} {table} > /dev/full")
    assert done.code == 1
    assert "error: no space left on device\nHint: free some space" in done.err
    assert "previous file" not in done.err  # there is none: answers go to standard output
    assert "Traceback" not in done.err
    assert "ignored" not in done.err


def test_closed_streams_are_no_traceback(
    shell: Any, fitted: Callable[..., Path], run: Any, measurements: Path
) -> None:
    path = fitted(measurements, "class", "gda")
    expected = run("predict", path, measurements).out
    done = shell(f"suffice predict {path} {measurements} >&-")
    assert (done.code, done.rows) == (1, [])
    assert done.err.startswith("error: standard output is closed\nHint: ")
    done = shell(f"suffice predict {path} - <&-")
    assert done.code == 1
    assert done.err.startswith("error: standard input is closed\nHint: ")
    assert shell(f"suffice predict {path} {measurements} 2>&-") == (0, expected, "")


def test_data_are_utf_8_whatever_a_terminal_can_show(
    shell: Any, fitted: Callable[..., Path], tmp_path: Path
) -> None:
    table = tmp_path / "names.csv"
    table.write_text("größe,art\n1,süß\n2,süß\n5,bitter\n6,bitter\n", encoding="utf-8")
    path = fitted(table, "art", "gda")
    ascii_only = "LANG=C LC_ALL=C PYTHONIOENCODING=ascii suffice"
    done = shell(f"{ascii_only} predict {path} {table}; {ascii_only} inspect {path}")
    assert done.code == 0
    assert done.out.startswith("prediction\nsüß\nsüß\nbitter\nbitter\n")
    assert "Traceback" not in done.err
