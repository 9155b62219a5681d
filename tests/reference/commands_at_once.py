"""Commands that begin at the same moment on one model file, some of them killed on their way.

A server that has imported everything forks for each command, so that hundreds cost seconds. Every
command has a class of its own to change, so that the file tells which of them it holds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import suffice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SERVER = """
import json, os, signal, sys, time
from suffice.cli import main
main(json.loads(sys.argv[1]))  # what is imported now need not be imported later
def start(arguments, log):
    child = os.fork()
    if child:
        return child
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    code = 99
    try:
        code = main(arguments)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    began = time.monotonic()
    children = [start(one["arguments"], one["log"]) for one in asked]
    deaths = sorted((one["after"], child) for one, child in zip(asked, children) if one["after"])
    for after, child in deaths:
        time.sleep(max(0.0, began + after - time.monotonic()))
        os.kill(child, signal.SIGKILL)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    print(json.dumps(codes), flush=True)
"""
ROWS = {"learn a": 3, "learn b": 5, "forget c": -4, "merge d": 6}
"""What each command changes, in rows of the class that it is named after."""
PAIRS = (
    ("learn a", "learn b"), ("learn a", "forget c"),
    ("merge d", "learn b"), ("forget c", "merge d"),
)  # fmt: skip


class Outcome(NamedTuple):
    """What became of two commands.

    held     by how many rows of its class each has changed the model
    codes    how each ended; negative is the signal that it was killed with
    """

    commands: tuple[str, ...]
    held: tuple[float, ...]
    codes: tuple[int, ...]

    @property
    def is_right(self) -> bool:
        """Whether what said that it was done is there, once, and what was refused is not.

        A command that was killed may have been done before that, or not.
        """
        for name, held, code in zip(self.commands, self.held, self.codes, strict=True):
            allowed = {0: {ROWS[name]}, 1: {0}, 75: {0}}.get(code, {0, ROWS[name]})
            if held not in allowed or code not in (0, 1, 75, -9):
                return False
        return True


@contextmanager
def warm_commands(folder: Path) -> Iterator[Callable[[list[dict[str, Any]]], list[int]]]:
    """Yield what runs commands at once and returns their exit codes."""
    environment = {**os.environ, "PYTHONPATH": str(Path(suffice.__file__).parents[1])}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    first = json.dumps(["learn", str(folder / "start"), str(folder / "a.csv"), "-o", os.devnull])
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, first], env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"

        def run(commands: list[dict[str, Any]]) -> list[int]:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(json.dumps(commands) + "\n")
            server.stdin.flush()
            found: list[int] = json.loads(server.stdout.readline())
            return found

        yield run
        server.stdin.close()


def prepared(folder: Path) -> dict[str, list[str]]:
    """Write a model and tables; return the arguments of the commands that change it."""
    rng = np.random.default_rng(0)
    rows = {name: rng.normal(size=(8, 2)) + 4.0 * i for i, name in enumerate("abcd")}
    for name, size in (("a", 3), ("b", 5), ("c", 4)):
        lines = [f"{x!r},{y!r},{name}" for x, y in rows[name][:size].tolist()]
        (folder / f"{name}.csv").write_text("\n".join(["x,y,class", *lines]) + "\n")
    whole = [f"{x!r},{y!r},{name}" for name in "abcd" for x, y in rows[name].tolist()]
    (folder / "whole.csv").write_text("\n".join(["x,y,class", *whole]) + "\n")
    more = [f"{x!r},{y!r},d" for x, y in rows["d"][:6].tolist()]
    (folder / "more.csv").write_text("\n".join(["x,y,class", *more, "0,0,e"]) + "\n")
    from suffice.cli import main

    fit = ("--target", "class", "--model", "gda", "--covariance", "diagonal")
    assert main(["fit", str(folder / "whole.csv"), *fit, "-o", str(folder / "start")]) == 0
    assert main(["fit", str(folder / "more.csv"), *fit, "-o", str(folder / "more")]) == 0
    model_file = str(folder / "model")
    return {
        "learn a": ["learn", model_file, str(folder / "a.csv")],
        "learn b": ["learn", model_file, str(folder / "b.csv")],
        "forget c": ["forget", model_file, str(folder / "c.csv")],
        "merge d": ["merge", model_file, str(folder / "more"), "-o", model_file],
    }


def pairs_at_once(count: int, *, killed: float, seed: int = 0) -> Iterator[Outcome]:
    """Yield what becomes of pairs of commands that begin together."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        arguments = prepared(folder)
        before = weights(folder / "start")
        with warm_commands(folder) as run:
            for number in range(count):
                (folder / "model").write_bytes((folder / "start").read_bytes())
                names = PAIRS[number % len(PAIRS)]
                after = [
                    float(rng.uniform(0.0005, 0.03)) if rng.random() < killed else None
                    for _ in names
                ]
                codes = run(
                    [
                        {"arguments": arguments[name], "after": when, "log": str(folder / "log")}
                        for name, when in zip(names, after, strict=True)
                    ]
                )
                found = weights(folder / "model")
                changes = tuple(found[name[-1]] - before[name[-1]] for name in names)
                yield Outcome(names, changes, tuple(codes))
            beside = {path.name for path in folder.iterdir() if path.name.startswith(".")}
            assert beside <= {".model.lock"}, beside  # of one that was killed; taken over by others


def weights(path: Path) -> dict[str, float]:
    """Return how many rows of each class a model file holds."""
    model = suffice.load(path)
    return dict(zip(model.classes_.tolist(), model.model_.weights.tolist(), strict=True))
