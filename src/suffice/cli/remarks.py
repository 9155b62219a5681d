"""What is said beside the answers, on standard error: notes, warnings, progress."""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY = 0.1
"""Seconds between two pictures of the progress."""
PATIENCE = 0.5
"""Seconds before there is any."""
WIDTH = 24


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
    warnings.showwarning = show


class Progress:
    """How far the reading of a table is, for a terminal; nothing where there is none.

    `share()` says which part is done, None where that is not known.
    """

    def __init__(self, what: str, share: Callable[[], float | None]) -> None:
        self._what = what
        self._share = share
        self._rows = 0
        self._shown = False
        self._next = time.monotonic() + PATIENCE
        self._wanted = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def more(self, rows: int) -> None:
        """Count rows that have been read."""
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
        sys.stderr.write(f"\r\033[K{self._what}{bar} {self._rows:,} rows")
        sys.stderr.flush()
