"""What every bad input is told: refusals and warnings, sentence for sentence.

`refusals.txt` holds what each case says, one line a case; `tests/examples/test_refusals_stay.py`
compares. After a sentence was changed on purpose:

    python -m tests.reference.refusals --write

Cases use public names only, so that they outlive any move of modules. Nothing recorded depends on
the machine, the time or the version of another library: commands run in a folder of their own, and
what another library words is left out.
"""

from __future__ import annotations

import argparse
import io
import re
import shlex
import sys
import tempfile
import warnings
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.cli import main as command_line
from suffice.errors import SufficeError, SufficeWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Cases = Iterable[tuple[str, Callable[[], object]]]

STORED = Path(__file__).with_name("refusals.txt")
BREAK = " ⏎ "
"""What stands for the end of a line, so that a case is one line."""
NO_SENTENCE = "suffice --debug … shows where"
"""The hint of the command line behind an error that nobody has put into words."""
CLICK = r"Invalid value for [^:\n]*: "
"""What Click puts before our words about an option."""
LEAST_QUOTED = 12
"""Characters of another library's message that count as a quotation; fewer may be one word."""


class NotOurWords(AssertionError):
    """A case that ends in an error or a warning of another library, or quotes one."""


def one_line(text: str) -> str:
    """Return a text on one line, with control characters spelled out."""
    lines = text.rstrip("\n").split("\n")
    return BREAK.join(
        "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
        for line in lines
    )


def _refuse_quotations(error: BaseException) -> None:
    """Raise if a refusal repeats the words of an error that another library raised before."""
    said, before = str(error), error.__cause__ or error.__context__
    while before is not None:
        words = str(before)
        ours = isinstance(before, (SufficeError, OSError, UnicodeError, KeyError, StopIteration))
        if not ours and len(words) >= LEAST_QUOTED and words in said:
            raise NotOurWords(f"{type(before).__name__} is quoted: {said}")
        before = before.__cause__ or before.__context__


def answer(call: Callable[[], object]) -> str:
    """Return what a call of the library says: its warnings, then its refusal or `accepted`."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            call()
            ending = "accepted"
        except SufficeError as error:
            _refuse_quotations(error)
            ending = f"{type(error).__name__}: {error}"
        except NotOurWords:
            raise
        except Exception as error:
            raise NotOurWords(f"{type(error).__name__}: {error}") from error
    for each in told:
        if not issubclass(each.category, SufficeWarning):
            raise NotOurWords(f"{each.category.__name__}: {each.message}")
    parts = [f"{each.category.__name__} (warning): {each.message}" for each in told]
    return one_line("\n".join([*parts, ending]))


def run(line: str, stdin: bytes = b"", *, usage: bool = False) -> str:
    """Return how a command ends, and what it prints.

    The first line of wrong `usage` is worded by Click, and left out.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    try:
        with warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
            warnings.simplefilter("default")
            code = command_line(shlex.split(line))
    finally:
        sys.stdin = before
    printed, noted = (each.buffer.getvalue().decode() for each in (out, err))  # type: ignore[attr-defined]
    if NO_SENTENCE in noted:
        raise NotOurWords(noted)
    noted = noted.partition("\n")[2] if usage else re.sub(CLICK, "", noted)
    parts = [f"exit {code}", *([f"out: {printed}"] if printed else []), f"err: {noted}"]
    return one_line("\n".join(part.rstrip("\n") for part in parts))


class CommandCase:
    """A command with its standard input; called, it says how it ended."""

    def __init__(self, line: str, stdin: bytes = b"", *, usage: bool = False) -> None:
        self.line, self.stdin, self.usage = line, stdin, usage

    def __call__(self) -> str:
        return run(self.line, self.stdin, usage=self.usage)


def groups() -> dict[str, Callable[[], Cases]]:
    """Return all groups of cases by name; each is called within a folder of its own."""
    from tests.reference import (
        refused_commands,
        refused_parts,
        refused_rows,
        refused_settings,
        warned_inputs,
    )

    return {
        **refused_rows.GROUPS,
        **refused_settings.GROUPS,
        **refused_parts.GROUPS,
        **refused_commands.GROUPS,
        **warned_inputs.GROUPS,
    }


@contextmanager
def own_folder() -> Iterator[Path]:
    """Work within a new folder, and leave it."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        yield Path(folder).resolve()


def answers(group: str) -> dict[str, str]:
    """Return what each case of a group says now."""
    found: dict[str, str] = {}
    with own_folder() as folder:
        cases = groups()[group]()
        kept: dict[Path, Any] = {}
        for name, case in cases:
            kept = kept or _contents(folder)
            if name in found:
                raise ValueError(f"{group} has two cases named {name}")
            try:
                said = case() if isinstance(case, CommandCase) else answer(case)
            except NotOurWords as error:
                said = f"NOT OUR WORDS {one_line(str(error))}"
            found[name] = said.replace(str(folder), "FOLDER")
            _restore(folder, kept)
    return found


def _contents(folder: Path) -> dict[Path, tuple[int, bytes]]:
    return {
        each: (each.stat().st_mtime_ns, each.read_bytes())
        for each in folder.rglob("*")
        if each.is_file()
    }


def _restore(folder: Path, kept: dict[Path, tuple[int, bytes]]) -> None:
    """Bring a folder back to what it was, for some commands do what they are told."""
    for each in list(folder.rglob("*")):
        if each.is_file() and each not in kept:
            each.unlink()
    for each, (time, content) in kept.items():
        if not each.exists() or each.stat().st_mtime_ns != time:
            each.write_bytes(content)


def lines(group: str, said: dict[str, str]) -> list[str]:
    """Return the lines of a group as they are stored."""
    return [f"{group} | {name} | {text}" for name, text in said.items()]


def stored(group: str) -> list[str]:
    """Return the lines of a group that are stored."""
    every = STORED.read_text(encoding="utf-8").split("\n")
    return [line for line in every if line.startswith(f"{group} | ")]


def write() -> list[str]:
    """Store what all cases say now; return the lines of those that have to be left out."""
    every = [line for group in groups() for line in lines(group, answers(group))]
    bad = [line for line in every if " | NOT OUR WORDS " in line]
    if not bad:
        STORED.write_text("\n".join([*every, ""]), encoding="utf-8")
    return bad


def main() -> int:
    """Write the list, or print what a group says, or the names of all groups."""
    parser = argparse.ArgumentParser(description="What every bad input is told.")
    parser.add_argument("--write", action="store_true", help="store what all cases say now")
    parser.add_argument("--show", metavar="GROUP", help="print what the cases of a group say")
    asked = parser.parse_args()
    if asked.write:
        left = write()
        print("\n".join(left) or f"{STORED} is written")
        return int(bool(left))
    print("\n".join(lines(asked.show, answers(asked.show)) if asked.show else groups()))
    return 0


if __name__ == "__main__":
    from tests.reference import refusals  # the module that the cases import, and no second one

    sys.exit(refusals.main())
