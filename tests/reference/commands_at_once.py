"""Commands that begin at the same moment on one model file or mail filter, some of them killed.

A server that has imported everything forks for each command, so that hundreds cost seconds. Every
command has a class of its own to change, so that the file tells which of them it holds; a filter
tells which messages it has learned, and has to be what some order of the commands leads to.
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
from suffice.mail.filter.message_identity import letter_of, ngram_entries, term_entries
from suffice.mail.filter.state import MailState
from tests.text.made_mail import mbox, message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SERVER = """
import json, os, signal, sys, time
from suffice.cli import main
for first in json.loads(sys.argv[1]):
    main(first)  # what is imported now need not be imported later
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
def warm_commands(
    first: list[list[str]],
) -> Iterator[Callable[[list[dict[str, Any]]], list[int]]]:
    """Yield what runs commands at once and returns their exit codes; `first` are run before."""
    environment = {**os.environ, "PYTHONPATH": str(Path(suffice.__file__).parents[1])}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, json.dumps(first)], env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        assert "ready\n" in iter(server.stdout.readline, "")  # after what the first ones say

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
        first = ["learn", str(folder / "start"), str(folder / "a.csv"), "-o", os.devnull]
        with warm_commands([first]) as run:
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


# Mail filters

Step = tuple[str, int, str]
"""What is done to a filter in one piece: "learn" or "forget" a message, which has a number and a
kind; or "merge" another filter into it, or "fit" a new one in its place."""
Held = dict[tuple[int, str], int]
"""How many times each message was learned."""

KINDS = ("ham", "spam")
START: Held = {(-i, KINDS[i % 2]): 1 for i in range(1, 21)}
MORE: Held = {(-i, KINDS[i % 2]): 1 for i in range(17, 31)}
"""What is merged into it: four messages are in both."""
STEPS: dict[str, list[Step]] = {
    "correct spam": [("learn", 1, "spam"), ("learn", 3, "spam")],
    "correct ham": [("learn", 2, "ham")],
    "forget": [("forget", -4, "ham")],
    "merge": [("merge", 0, "")],
    "fit": [("fit", 0, "")],
}
MAIL_PAIRS = (
    ("correct spam", "merge"), ("forget", "merge"), ("correct spam", "fit"),
    ("merge", "merge"), ("correct ham", "correct spam"), ("merge", "fit"), ("forget", "fit"),
)  # fmt: skip
LATEST = 0.12
"""Seconds after which a command is killed at the latest: a merge takes about as long."""


class MailOutcome(NamedTuple):
    """What became of two commands on a filter.

    told    how many messages each has said to be on the disk
    held    what the filter has learned; exact  whether its counts are those of these messages
    """

    commands: tuple[str, ...]
    codes: tuple[int, ...]
    told: tuple[int, ...]
    held: Held
    exact: bool

    @property
    def is_right(self) -> bool:
        """Whether some order of what was done leads to this filter, and nothing said is lost."""
        if not self.exact or any(code not in (0, 1, 75, -9) for code in self.codes):
            return False
        lists = []
        for name, code, told in zip(self.commands, self.codes, self.told, strict=True):
            steps = STEPS[name]
            fewest = len(steps) if code == 0 else min(told, len(steps)) if code == -9 else 0
            most = 0 if code == 75 else len(steps)
            lists.append([(steps[:n], code == 1) for n in range(fewest, most + 1)])
        return any(
            self.held in list(_ends(START, one, two)) for one in lists[0] for two in lists[1]
        )


def _ends(held: Held, *lists: tuple[list[Step], bool]) -> Iterator[Held]:
    """Yield what every order of steps leads to; of a list with True, some step is refused."""
    if not any(steps for steps, _ in lists):
        if not any(refused for _, refused in lists):
            yield held
        return
    for i, (steps, refused) in enumerate(lists):
        if steps:
            after = _stepped(held, steps[0])
            if after is None and not refused:
                continue
            rest = (steps[1:], refused and after is not None)
            yield from _ends(held if after is None else after, *lists[:i], rest, *lists[i + 1 :])


def _stepped(held: Held, step: Step) -> Held | None:
    """Return what a step makes of a filter; None where it is refused."""
    what, number, kind = step
    if what == "fit":
        return dict(MORE)
    if what == "merge":
        both = {**held, **MORE}
        return {key: held.get(key, 0) + MORE.get(key, 0) for key in both}
    key = (number, kind)
    if (what == "learn") == (key in held):
        return None
    return {**held, key: 1} if what == "learn" else {k: n for k, n in held.items() if k != key}


def mail_prepared(folder: Path) -> dict[str, list[str]]:
    """Write filters and messages; return the arguments of the commands that change one."""
    from suffice.cli import main

    for name, held in (("start", START), ("more", MORE)):
        for kind in KINDS:
            raws = [message(number, one) for number, one in held if one == kind]
            (folder / f"{name}.{kind}").write_bytes(mbox(raws))
        places = [str(folder / f"{name}.{kind}") for kind in KINDS]
        assert main(["mail", "fit", *places, "-o", str(folder / f"{name}.db")]) == 0
    found = {}
    place = str(folder / "filter.db")
    for name, steps in STEPS.items():
        box = folder / f"{name}.mbox"
        box.write_bytes(mbox([message(number, kind) for _, number, kind in steps if kind]))
        how = "--forget" if name == "forget" else f"--{steps[0][2]}"
        found[name] = ["mail", "correct", place, str(box), how]
    found["merge"] = ["merge", place, str(folder / "more.db"), "-o", place]
    boxes = [str(folder / f"more.{kind}") for kind in KINDS]
    found["fit"] = ["mail", "fit", *boxes, "-o", place, "--force"]
    return found


def mail_pairs_at_once(count: int, *, killed: float, seed: int = 0) -> Iterator[MailOutcome]:
    """Yield what becomes of pairs of commands on a filter that begin together."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        arguments = mail_prepared(folder)
        place, logs = folder / "filter.db", [folder / "log 0", folder / "log 1"]
        place.write_bytes((folder / "start.db").read_bytes())
        with warm_commands([arguments["correct spam"], arguments["merge"]]) as run:
            for number in range(count):
                for rest in ("-wal", "-shm"):
                    (folder / f"filter.db{rest}").unlink(missing_ok=True)
                place.write_bytes((folder / "start.db").read_bytes())
                names = MAIL_PAIRS[number % len(MAIL_PAIRS)]
                after = [
                    float(rng.uniform(0.0005, LATEST)) if rng.random() < killed else None
                    for _ in names
                ]
                asked = [
                    {"arguments": arguments[name], "after": when, "log": str(log)}
                    for name, when, log in zip(names, after, logs, strict=True)
                ]
                codes = run(asked)
                told = tuple(
                    sum(": learned" in line or ": forgotten" in line for line in lines)
                    for lines in (log.read_text().splitlines() for log in logs)
                )
                yield MailOutcome(names, tuple(codes), told, *learned_by(place))


def learned_by(place: Path) -> tuple[Held, bool]:
    """Return what a filter has learned, and whether its counts are exactly those of that."""
    known = {key: letter_of(message(*key)) for key in {**START, **MORE, **_LATER}}
    with MailState(place) as state:
        state.connection.execute("PRAGMA integrity_check")
        whole = state.in_memory()
        rows = state.connection.execute("SELECT digest, label, times FROM seen").fetchall()
    names = {letter.digest: key for key, letter in known.items()}
    held = {names[digest]: times for digest, _, times in rows}
    documents, counts = [0, 0], [{}, {}]
    for key, times in held.items():
        code = KINDS.index(key[1])
        documents[code] += times
        for found, entries in zip(counts, (term_entries, ngram_entries), strict=True):
            one = entries(known[key], code)
            for term, number in zip(one.keys.tolist(), one.counts.tolist(), strict=True):
                before = found.get(term, [0, 0])
                found[term] = [a + times * b for a, b in zip(before, number, strict=True)]
    exact = whole.summary.documents == tuple(documents) and all(
        _by_key(stored) == found
        for stored, found in zip((whole.terms, whole.ngrams), counts, strict=True)
    )
    return held, exact


_LATER: Held = {(number, kind): 1 for steps in STEPS.values() for _, number, kind in steps if kind}


def _by_key(entries: Any) -> dict[int, list[int]]:
    return dict(zip(entries.keys.tolist(), entries.counts.tolist(), strict=True))
