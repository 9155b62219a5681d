"""What people read: answers in words, notes, warnings, progress; nothing in it moves the cursor."""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
import warnings
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from suffice.errors import SufficeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

EVERY = 0.1
"""Seconds between two pictures of the progress."""
PATIENCE = 0.5
"""Seconds before there is any."""
WIDTH = 24
"""Characters of the bar. A choice: one of them is about 4 %."""
LONGEST = 1000
"""Characters of one line; names may be millions long, and nobody reads them."""
ENDS = (700, 250)
"""What is shown of the beginning and the end of a longer one."""
USUAL = 80
"""Places of a terminal that does not say how wide it is."""
CLEAR = "\r\033[K"
"""What takes a line of a terminal back."""


HINTS = {
    errno.EISDIR: "name a file in it",
    errno.ENOSPC: "free some space, or choose another place",
    errno.EACCES: "choose a file you may read, or another place",
}
"""What to do when the system refuses."""


def legible(text: str) -> str:
    r"""Return one line for people: what a terminal would obey is written out, the middle left out.

    >>> print(legible("red\x1b[2Jgreen\nblue"), len(legible("x" * 10**6)))
    red\x1b[2Jgreen\nblue 953
    """
    if len(text) > LONGEST:
        text = f"{text[: ENDS[0]]} … {text[-ENDS[1] :]}"
    if text.isprintable():
        return text
    from suffice.printing.terminal_words import printable

    return printable(text)


def say(text: str) -> None:
    """Print an answer in words, line by line."""
    click.echo("\n".join(map(legible, text.split("\n"))))


def announce(text: str) -> None:
    """Say what was done, in one line on standard error."""
    click.echo(legible(text), err=True)


def note(text: str) -> None:
    """Say something that the user should know, in one line."""
    announce(f"note: {' '.join(text.split())}")


def refuse(problem: str, hint: str = "") -> None:
    """Say what is wrong, and what to do, each in one line."""
    announce(f"error: {problem}")
    if hint:
        announce(f"Hint: {hint}")


def tell_warnings() -> None:
    """Let warnings be told as one line each, and each once."""
    told: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        text = " ".join(str(message).split())
        if text not in told:
            told.add(text)
            announce(f"warning: {text}")

    warnings.simplefilter("always")
    warnings.simplefilter("ignore", ResourceWarning)  # about files that end with the program
    warnings.showwarning = show


class ProgressLine:
    """How far the reading of a table is, for a terminal; nothing where there is none.

    `share()` says which part is done, None where that is not known: the bytes of a file do not
    tell, for they are read long before their rows are. Several threads may tell of rows.
    """

    def __init__(
        self, what: str, share: Callable[[], float | None] | None = None, unit: str = "rows"
    ) -> None:
        self._what, self._unit = legible(what), unit
        self._share = share or (lambda: None)
        self._shown = False
        self._next = time.monotonic() + PATIENCE
        self._wanted = _is_terminal(sys.stderr)
        self._lock = threading.Lock()
        self.begin()

    def begin(self) -> None:
        """Begin to count: rows may be read more than once."""
        self._rows = 0
        self._start = time.monotonic()
        self._before: float | None = None  # the share at the first look: a run may go on elsewhere

    @property
    def rows(self) -> int:
        """How many rows were read since the beginning."""
        return self._rows

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()

    def more(self, rows: int) -> None:
        """Count rows that have been read; what was printed about them is let go.

        Whoever writes rows into a pipe may wait for the answers before writing more.
        """
        if sys.stdout is not None:
            sys.stdout.flush()
        with self._lock:
            self._rows += rows
            now = time.monotonic()
            if not self._wanted or now < self._next:
                return
            self._next = now + EVERY
            self._shown = True
            # A line that is wider than the terminal could not be taken back.
            width = get_terminal_size((_columns(sys.stderr), 1)).columns
            sys.stderr.write(f"{CLEAR}{self._line(now)[: max(1, width - 1)]}")
            sys.stderr.flush()

    def _line(self, now: float) -> str:
        """Return the bar, the rows, how many there are a second, and how long it will take."""
        share = self._share()
        seconds = max(now - self._start, 1e-3)
        bar = left = ""
        if share is not None:
            share = min(share, 1.0)
            done = round(WIDTH * share)
            bar = f" [{'#' * done}{' ' * (WIDTH - done)}] {share:4.0%}"
            if self._before is None:
                self._before, self._since = share, now
            elif share > self._before:
                rest = (1.0 - share) * (now - self._since) / (share - self._before)
                left = f", {_duration(rest)} left"
        return f"{self._what}{bar} {self._rows:,} {self._unit}, {self._rows / seconds:,.0f}/s{left}"


def _duration(seconds: float) -> str:
    """Return how long something takes, as people say it.

    >>> _duration(7.2), _duration(190.0), _duration(7300.0)
    ('7 s', '3 min', '2.0 h')
    """
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 6000.0 else f"{seconds / 3600.0:.1f} h"


def _columns(stream: TextIO) -> int:
    """Return how wide a terminal is; the usual width where it does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL  # zero is not known
    except (OSError, ValueError):  # it only says that it is one
        return USUAL


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that can take a line back; a closed one is None."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def sentence(error: Exception) -> tuple[str, str]:
    """Return what went wrong and what to do, each on one line."""
    if isinstance(error, SufficeError):
        return error.problem, error.hint
    if isinstance(error, ModuleNotFoundError) and error.name == "matplotlib":
        return "pictures need matplotlib, which is not installed", "pip install 'suffice[plots]'"
    if isinstance(error, OSError) and error.strerror:
        from suffice.passwords import without_secrets

        place = f"{without_secrets(str(error.filename))}: " if error.filename else ""
        hint = HINTS.get(error.errno or 0, "choose another place with --output")
        if error.errno == errno.ENOENT and error.filename:
            hint = _missing(str(error.filename))
        if error.errno == errno.ENOSPC and error.filename:
            hint = f"{hint}; the previous file is unchanged"
        return f"{place}{error.strerror.lower()}", hint
    if isinstance(error, UnicodeEncodeError):
        cell = error.object[error.start : error.end]
        return (
            f"{cell!r} is half of a character (a lone surrogate) and cannot be written as UTF-8",
            "repair the table: each \\ud800 … \\udbff needs a \\udc00 … \\udfff behind it",
        )
    if isinstance(error, MemoryError):
        return (
            "there is not enough memory for this",
            "naive-bayes needs far less memory than gda for many columns",
        )
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}", "suffice --debug … shows where"


def _missing(name: str) -> str:
    """Return what to do about a file that is not there: another name, or a folder to be made."""
    from pathlib import Path

    from suffice.errors import meant

    folder = Path(name).parent
    if not folder.is_dir():
        from suffice.passwords import without_secrets

        shown = without_secrets(str(folder))
        return f"there is no folder {shown}: is the name right? The folder must exist"
    try:
        near = meant(Path(name).name, (each.name for each in folder.iterdir()))
    except OSError:
        near = ""
    return near.strip() or "is the name right? There is no such file in its folder"
