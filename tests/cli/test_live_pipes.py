"""Rows that are written while answers are read: nobody waits for anybody."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from zlib import Z_SYNC_FLUSH, compressobj

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LONGEST = 120.0
"""Seconds after which a process that waits for ever is ended, and its test fails."""
HEADER, ROW = b"a,b,c\n", b"0,0,0\n"


class Live:
    """A command that reads standard input while its predictions are read."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self._in, self._out = process, process.stdin, process.stdout

    def say(self, content: bytes) -> None:
        self._in.write(content)
        self._in.flush()

    def hear(self) -> bytes:
        return self._out.readline()

    def end(self) -> bytes:
        self._in.close()
        rest = self._out.read()
        assert self.process.wait() == 0
        return rest


@pytest.fixture
def live(environment: dict[str, str]) -> Callable[..., Any]:
    """Return `live(*arguments)`: a command in a process of its own, in a `with`."""

    @contextmanager
    def started(*arguments: object) -> Iterator[Live]:
        with subprocess.Popen(
            [sys.executable, "-m", "suffice.cli", *map(str, arguments)],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as process:  # fmt: skip
            alarm = threading.Timer(LONGEST, process.kill)
            alarm.start()
            try:
                yield Live(process)
            finally:
                alarm.cancel()
                process.kill()

    return started


@pytest.fixture
def model(fitted: Callable[..., Path], measurements: Path) -> Path:
    """Return the file of a model with the columns a, b and c."""
    return fitted(measurements, "class", "gda")


@pytest.mark.process
def test_each_row_is_answered_before_the_next_is_written(
    live: Callable[..., Any], model: Path
) -> None:
    with live("predict", model, "-") as command:
        command.say(HEADER + ROW)
        assert command.hear() == b"prediction\n"
        assert command.hear() == b"x\n"
        for row, answer in ((b"5,5,5\n", b"z\n"), (b"2,2,2\n", b"y\n")):
            command.say(row)
            assert command.hear() == answer
        assert command.end() == b""


@pytest.mark.parametrize("command", ["outliers", "explain"])
@pytest.mark.process
def test_outliers_and_explanations_come_as_rows_come(
    command: str, live: Callable[..., Any], model: Path
) -> None:
    more = ("--all",) if command == "outliers" else ()
    with live(command, model, "-", *more) as asked:
        asked.say(HEADER + ROW)
        assert asked.hear().startswith(b"row")
        if command == "outliers":
            assert asked.hear().startswith(b"1,x,")
        asked.say(b"5,5,5\n")
        assert b"2" in asked.end()


@pytest.mark.process
def test_a_header_that_comes_in_pieces_is_one_header(live: Callable[..., Any], model: Path) -> None:
    pieces = (b"a", b",b", b",c", b"\n", b"0,", b"0,0", b"\n")
    with live("predict", model, "-") as command:
        for piece in pieces:  # each is on its way alone: the command is asked for nothing yet
            command.say(piece)
        assert command.hear() == b"prediction\n"
        assert command.hear() == b"x\n"
        command.end()


@pytest.mark.process
def test_with_a_row_or_two_the_names_that_are_expected_tell_the_delimiter(
    live: Callable[..., Any], model: Path
) -> None:
    with live("predict", model, "-") as command:
        command.say(b"when, and where;a;b;c\n1,2,3;0;0;0\n")
        assert command.hear() == b"prediction\n"
        assert command.hear() == b"x\n"
        command.end()


@pytest.mark.process
def test_a_quoted_cell_that_is_not_closed_yet_keeps_no_answer_back(
    live: Callable[..., Any], model: Path
) -> None:
    with live("predict", model, "-", "--keep", "said") as command:
        command.say(b'said,a,b,c\nyes,0,0,0\n"one\n')
        assert command.hear() == b"said,prediction\n"
        assert command.hear() == b"yes,x\n"
        command.say(b'two",5,5,5\nno,0,0,0\n')
        assert [command.hear() for _ in range(3)] == [b'"one\n', b'two",z\n', b"no,x\n"]
        command.end()


@pytest.mark.process
def test_json_lines_and_packed_rows_are_answered_as_they_come(
    live: Callable[..., Any], model: Path
) -> None:
    with live("predict", model, "-", "--json") as command:
        for number, answer in ((0, "x"), (5, "z")):
            command.say(json.dumps({"c": number, "a": number, "b": number}).encode() + b"\n")
            assert json.loads(command.hear()) == {"prediction": answer}
        command.end()
    packer = compressobj(wbits=31)
    with live("predict", model, "-") as command:
        command.say(packer.compress(HEADER + ROW) + packer.flush(Z_SYNC_FLUSH))
        assert command.hear() == b"prediction\n"
        assert command.hear() == b"x\n"
        command.say(packer.compress(b"5,5,5\n") + packer.flush())
        assert command.end() == b"z\n"


@pytest.mark.process
def test_many_rows_are_answered_while_they_are_still_written(
    live: Callable[..., Any], model: Path
) -> None:
    size = 300_000
    with live("predict", model, "-") as command:
        # Somebody else writes: a pipe holds less than all the rows, and less than all the answers.
        writer = threading.Thread(target=lambda: command.say(HEADER + ROW * size))
        writer.start()
        assert command.hear() == b"prediction\n"
        answers = sum(command.hear() == b"x\n" for _ in range(size))
        writer.join()
        assert (answers, command.end()) == (size, b"")


def test_pipes_with_names_are_tables(
    shell: Any, run: Any, model: Path, measurements: Path, tmp_path: Path
) -> None:
    expected = run("predict", model, measurements).out
    pipe, packed = tmp_path / "pipe", tmp_path / "m.csv.gz"
    os.mkfifo(pipe)
    packed.write_bytes(gzip.compress(measurements.read_bytes()))
    for line in (
        f"suffice predict {model} <(cat {measurements})",
        f"suffice predict {model} <(cat {packed})",
        f"cat {measurements} | suffice predict {model} /dev/stdin",
        f"cat {packed} > {pipe} & suffice predict {model} {pipe}",
    ):
        done = shell(line)
        assert (done.code, done.out) == (0, expected), done.err
    # What has to be read twice is set aside.
    again = tmp_path / "again.suffice"
    done = shell(f"suffice fit <(cat {packed}) -t class --model gda -o {again}")
    assert done.code == 0, done.err
    assert again.read_bytes() == model.read_bytes()


def test_a_packed_stream_that_breaks_off_is_refused_where_it_does(
    shell: Any, model: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "cut.csv.gz"
    packed.write_bytes(gzip.compress(HEADER + ROW * 9)[:-12])
    for line in (f"suffice predict {model} {packed}", f"cat {packed} | suffice predict {model} -"):
        done = shell(line)
        assert done.code == 1
        assert "the gzip data cannot be decompressed beyond byte" in done.err
        assert "incomplete or damaged" in done.err
        assert "Traceback" not in done.err
