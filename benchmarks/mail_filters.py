"""`suffice mail` beside bogofilter: seconds of CPU and memory, in processes that take turns.

    python -m benchmarks.mail_filters                      this tree against bogofilter
    python -m benchmarks.mail_filters --before ../old      and against another checkout

The training part of the SpamAssassin corpus is learned, from two mailboxes and from two folders;
then all messages of the test part are classified, and one of them alone. CPU is that of the whole
process, user and system, its start included. Modules have their bytecode, as installed ones do.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.corpora import spam_assassin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.corpora import Corpus

ROUNDS = 3
HERE = Path(__file__).resolve().parents[1]
ENVELOPE = b"From a@b Thu Aug 22 12:36:23 2002\n"
KINDS = ("ham", "spam")
BOGOFILTER = "bogofilter"


class Spent(NamedTuple):
    """What a process took: seconds of CPU, and MB at its peak."""

    seconds: float
    memory: float

    @classmethod
    def by(cls, *commands: list[str], environment: dict[str, str], stdin: list[Path]) -> Spent:
        """Run commands, each with its standard input, one after the other."""
        seconds = memory = 0.0
        for command, given in zip(commands, stdin, strict=True):
            with given.open("rb") as file:
                child = subprocess.Popen(
                    command, env=environment, stdin=file, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )  # fmt: skip
                _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode > 2:  # bogofilter's codes of answers
                raise subprocess.CalledProcessError(child.returncode, command)
            seconds += used.ru_utime + used.ru_stime
            memory = max(memory, used.ru_maxrss / 1024.0)
        return cls(seconds, memory)


def main() -> None:
    """Let all contenders take turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="another checkout of this project")
    before: Path | None = parser.parse_args().before
    corpus = spam_assassin()
    found: dict[tuple[str, str], list[Spent]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _lay_out(corpus, folder)
        for turn in range(ROUNDS):
            for who, work, spent in _turn(folder, before):
                found.setdefault((work, who), []).append(spent)
            print(f"round {turn + 1} of {ROUNDS}", file=sys.stderr)
    theirs = {work: _middle(some) for (work, who), some in found.items() if who == BOGOFILTER}
    # A process begins with the memory of the one that starts it: of small ones no more is known.
    own = getrusage(RUSAGE_SELF).ru_maxrss / 1024.0
    print("| | | CPU, s | as fast as bogofilter | MB |\n|---|---|---|---|---|")
    for (work, who), some in sorted(found.items()):
        rounds = ", ".join(f"{spent.seconds:.2f}" for spent in some)
        peak = max(spent.memory for spent in some)
        memory = f"{peak:.0f}" if peak > 1.01 * own else f"at most {peak:.0f}"
        print(f"| {work} | {who} | {rounds} | {theirs[work] / _middle(some):.2f}x | {memory} |")
    many = len(corpus.test)
    for (work, who), some in found.items():
        if work == "classify all":
            print(f"{who}: {1e3 * _middle(some) / many:.2f} ms a message of {many:,}")


def _middle(some: list[Spent]) -> float:
    return statistics.median(spent.seconds for spent in some)


def _lay_out(corpus: Corpus, folder: Path) -> None:
    """Write the messages into folders and mailboxes."""
    for part, places in (("train", corpus.training), ("test", corpus.test)):
        for code, kind in enumerate(KINDS):
            (folder / part / kind).mkdir(parents=True)
            with (folder / f"{part}-{kind}.mbox").open("wb") as box:
                for i in places[corpus.spam[places] == bool(code)].tolist():
                    raw = corpus.raws[i]
                    (folder / part / kind / f"{i:05d}.eml").write_bytes(raw)
                    raw = raw if raw.startswith(b"From ") else ENVELOPE + raw
                    first, _, rest = raw.partition(b"\n")
                    rest = re.sub(rb"(?m)^(>*From )", rb">\1", rest)
                    box.write(first + b"\n" + rest.rstrip(b"\n") + b"\n\n")


def _turn(folder: Path, before: Path | None) -> Iterator[tuple[str, str, Spent]]:
    nothing = Path(os.devnull)
    boxes = [folder / f"train-{kind}.mbox" for kind in KINDS]
    folders = [folder / "train" / kind for kind in KINDS]
    test = [folder / "test" / kind for kind in KINDS]
    one = min(test[1].iterdir())
    for who, tree in (("before", before), ("suffice", HERE)):
        if tree is None:
            continue
        environment = {
            **os.environ, "PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1",
            "PYTHONPYCACHEPREFIX": str(folder / f"{who}-bytecode"), "PYTHONDONTWRITEBYTECODE": "",
        }  # fmt: skip
        start = [sys.executable, "-m", "suffice.cli", "mail"]

        def ours(*rest: object, given: dict[str, str] = environment) -> Spent:
            command = [*start, *map(str, rest)]  # noqa: B023  called at once
            return Spent.by(command, environment=given, stdin=[nothing])

        place = folder / f"{who}.db"
        if not place.exists():  # modules are compiled once, as by an installation
            ours("fit", *(min(each.iterdir()) for each in folders), "-o", place)
            ours("fit", *boxes, "-o", place, "--force")
            ours("classify", place, one)
        yield who, "train, folders", ours("fit", *folders, "-o", place, "--force")
        yield who, "train, mailboxes", ours("fit", *boxes, "-o", place, "--force")
        yield who, "classify all", ours("classify", place, *test)
        yield who, "classify one", ours("classify", place, one)
    yield from _bogofilter(folder, boxes, folders, test, one)


def _bogofilter(
    folder: Path, boxes: list[Path], folders: list[Path], test: list[Path], one: Path
) -> Iterator[tuple[str, str, Spent]]:
    nothing, environment = Path(os.devnull), dict(os.environ)
    for work in ("train, folders", "train, mailboxes"):
        with tempfile.TemporaryDirectory(dir=folder) as words:
            start = [BOGOFILTER, "-C", "-d", words]
            if work == "train, folders":
                commands = [
                    [*start, option, "-B", str(some)]
                    for option, some in zip(("-n", "-s"), folders, strict=True)
                ]
                stdin = [nothing, nothing]
            else:
                commands, stdin = [[*start, "-M", option] for option in ("-n", "-s")], boxes
            yield BOGOFILTER, work, Spent.by(*commands, environment=environment, stdin=stdin)
            if work == "train, mailboxes":
                ask = [[*start, "-T", "-B", *map(str, test)]]
                yield (
                    BOGOFILTER,
                    "classify all",
                    Spent.by(*ask, environment=environment, stdin=[nothing]),
                )
                yield (
                    BOGOFILTER,
                    "classify one",
                    Spent.by([*start, "-T"], environment=environment, stdin=[one]),
                )


if __name__ == "__main__":
    main()
