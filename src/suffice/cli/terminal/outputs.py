"""Where commands write: looked at before any work is done, and changed by one at a time."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from suffice.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Identity = tuple[int, int]

STANDARD = "-"
"""Standard output, in the place of a name; among tables, standard input."""


def is_printed(place: Path) -> bool:
    """Whether something is written to standard output, and not to a file."""
    return str(place) == STANDARD


def check_output(
    place: Path,
    inputs: Sequence[str] = (),
    *,
    ours: Callable[[Path], bool],
    what: str,
    force: bool = False,
) -> None:
    """Refuse a place that cannot be written to, or holds something that would be lost.

    `inputs` are what is read, as it was typed; `ours` says whether a file that is there is one of
    those that may be replaced, which are called `what`. With `force`, any file may be that is not
    read.
    """
    from suffice.storage.atomic_writes import check_place

    if is_printed(place):
        _check_standard_output(what)
        return
    check_place(place)
    refuse_input(place, inputs, what)
    if force or not place.is_file() or not place.stat().st_size or ours(place):
        return
    raise BadFile(
        f"{place} already exists and is not {what}",
        hint="write to another file with -o; --force replaces it",
    )


def refuse_input(place: Path, inputs: Sequence[str], what: str) -> None:
    """Refuse to write over what is read: whoever types that has mistaken one name for another."""
    found = _identity(place)
    if found is not None and found in _identities([*inputs, *_also_read()]):
        raise BadFile(
            f"{place} is an input: it would be replaced by {what}",
            hint="write to another file; inputs are never replaced, not even with --force",
        )


ALSO_READ = f"{__name__}.also_read"
"""Where a command keeps what its options have read: the key of a list in its context."""


def is_read(path: Path) -> None:
    """Remember a file that an option of this command reads: it is an input like any table."""
    click.get_current_context().meta.setdefault(ALSO_READ, []).append(str(path))


def _also_read() -> list[str]:
    context = click.get_current_context(silent=True)
    return [] if context is None else context.meta.get(ALSO_READ, [])


def refuse_printing(place: Path, what: str) -> None:
    """Refuse `-` where standard output makes no sense."""
    if is_printed(place):
        raise click.UsageError(f"{what} cannot be written to standard output: name a file")


def check_printed(inputs: Sequence[str]) -> None:
    """Refuse to print into a file that is being read: it would never end, or is empty already."""
    try:
        found = os.fstat(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or no file at all
        return
    import stat

    if stat.S_ISREG(found.st_mode) and (found.st_dev, found.st_ino) in _identities(inputs):
        raise BadFile(
            "standard output is one of the input tables",
            hint="send it to another file; `>` empties a file before the command begins",
        )


def is_page(path: Path) -> bool:
    """Whether a file is a page that was written here."""
    with path.open("rb") as file:
        start = file.read(15)
        file.seek(max(0, file.seek(0, os.SEEK_END) - 200))
        return start.lower() == b"<!doctype html>" and b"<footer>Made by suffice " in file.read()


@contextmanager
def changing(place: Path, wait: float) -> Iterator[Callable[[], None] | None]:
    """Keep other commands from changing a file until the block ends.

    Yields what to call before it is replaced: it refuses that if somebody who does not care about
    locks has changed the file.
    """
    from suffice.cli.terminal.messages import note
    from suffice.storage.locks import Stamp, locked

    if is_printed(place):
        yield None
        return

    with locked(place, wait, lambda: tell_waiting(place, wait)) as alone:
        if not alone and (place.is_file() or not place.exists()):
            note(
                f"file locks do not work where {place} is: let only one command at a time change it"
            )
        yield Stamp.of(place).check


def tell_waiting(place: Path, wait: float) -> None:
    """Say that another command is waited for."""
    from suffice.cli.terminal.messages import note

    note(f"another process is changing {place}: waiting for it, up to {wait:g} seconds")


def _check_standard_output(what: str) -> None:
    if sys.stdout is None or sys.stdout.isatty():
        raise click.UsageError(f"-o - on a terminal: {what} is not text; use a pipe or a file")


def _identity(path: str | Path) -> Identity | None:
    """Return which file a path leads to, over any links; None if there is none."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _identities(inputs: Sequence[str]) -> set[Identity]:
    """Return the files that some inputs are, as far as that can be known."""
    return {found for each in inputs for found in _of_input(each) if found is not None}


def _of_input(given: str) -> Iterator[Identity | None]:
    if given == STANDARD:
        try:
            found = os.fstat(sys.stdin.fileno())
        except (AttributeError, OSError, ValueError):
            return
        yield found.st_dev, found.st_ino
        return
    if given.lower().startswith("duckdb://"):
        from urllib.parse import unquote

        yield _identity(unquote(given.partition("://")[2].partition("?")[0]))
        return
    yield _identity(given)
    if set("*?[") & set(given) or Path(given).is_dir():
        from suffice.sources.opening import paths_of

        try:
            inside = paths_of([given])
        except (OSError, BadFile):  # it is told when it is read
            return
        yield from map(_identity, inside)
