"""What is said beside the answers, on standard error: notes, warnings, progress."""

from __future__ import annotations

import os
import sys
import time
import warnings
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

EVERY = 0.1
"""Seconds between two pictures of the progress."""
PATIENCE = 0.5
"""Seconds before there is any."""
WIDTH = 24
CLEAR = "\r\033[K"
"""What takes a line of a terminal back."""


def note(text: str) -> None:
    """Say something that the user should know, in one line."""
    click.echo(f"note: {' '.join(text.split())}", err=True)


def tell_warnings() -> None:
    """Let warnings be told as one line each, and each once."""
    told: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in told:
            told.add(text)
            click.echo(f"warning: {text}", err=True)

    warnings.simplefilter("always")
    warnings.simplefilter("ignore", ResourceWarning)  # about files that end with the program
    warnings.showwarning = show


class Progress:
    """How far the reading of a table is, for a terminal; nothing where there is none.

    `share()` says which part is done, None where that is not known.
    """

    def __init__(self, what: str, share: Callable[[], float | None], unit: str = "rows") -> None:
        self._what, self._unit = what, unit
        self._share = share
        self._rows = 0
        self._shown = False
        self._next = time.monotonic() + PATIENCE
        self._wanted = _is_terminal(sys.stderr)

    def __enter__(self) -> Progress:
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
        self._rows += rows
        now = time.monotonic()
        if not self._wanted or now < self._next:
            return
        self._next = now + EVERY
        self._shown = True
        share = self._share()
        bar = ""
        if share is not None:
            done = round(WIDTH * min(share, 1.0))
            bar = f" [{'#' * done}{' ' * (WIDTH - done)}] {share:4.0%}"
        # A line that is wider than the terminal could not be taken back.
        width = get_terminal_size(os.get_terminal_size(sys.stderr.fileno())).columns
        line = f"{self._what}{bar} {self._rows:,} {self._unit}"[: max(1, width - 1)]
        sys.stderr.write(f"{CLEAR}{line}")
        sys.stderr.flush()


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that can take a line back; a closed one is None."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
