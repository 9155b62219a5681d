"""Files that are there whole or not at all: written beside their place, flushed, then renamed."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = 50
"""Characters of a file's own name in that of the one beside it: names have an end."""


OPEN_FILES = "/proc/self/fd"
"""Where a file without a name can be found."""


@contextmanager
def whole_file(path: str | Path, suffix: str = "") -> Iterator[IO[bytes]]:
    """Yield a file to write; it takes the place of `path` when the block ends without an error.

    A crash, a full disk or Ctrl-C leaves the old file as it was, and nothing beside it; where the
    system has files without a name, a process that is killed leaves nothing either. A link stays a
    link, and the rights of a file that was there stay what they were. What is no file, such as a
    pipe, is written as it is. `suffix` is for writers that look at the name.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "numbers"
    >>> with whole_file(place) as file:
    ...     _ = file.write(b"1 2 3")
    >>> place.read_bytes()
    b'1 2 3'
    """
    target = Path(os.path.realpath(path))
    rights = _rights(target)
    if rights is not None and not stat.S_ISREG(rights) and not stat.S_ISDIR(rights):
        with target.open("wb") as file:
            yield file
        return
    written = target.parent / f".{target.name[:SHOWN]}.{secrets.token_hex(4)}{suffix}"
    try:
        nameless = None if suffix else _nameless(target.parent)
        with written.open("xb") if nameless is None else nameless as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if nameless is not None:
                _give_name(file, written)
        if rights is not None:
            written.chmod(stat.S_IMODE(rights))
        written.replace(target)
        _flush_folder(target.parent)
    except OSError as error:
        _remove(written)
        if error.errno is None or error.filename not in (None, str(written)):
            raise  # it is about something else that the block has read
        # Say the name that was asked for, not that of the file beside it.
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        _remove(written)
        raise


def _nameless(folder: Path) -> IO[bytes] | None:
    """Return a file that goes away by itself until it is given a name; None if there are none."""
    flags: int | None = getattr(os, "O_TMPFILE", None)
    if flags is None or not Path(OPEN_FILES).is_dir():
        return None
    try:
        return os.fdopen(os.open(folder, os.O_WRONLY | flags, 0o666), "wb")
    except OSError:  # not on this file system; or not at all, which opening by name will tell
        return None


def _give_name(file: IO[bytes], name: Path) -> None:
    folder = os.open(name.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.link(f"{OPEN_FILES}/{file.fileno()}", name.name, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _rights(target: Path) -> int | None:
    """Return the mode of what is there; None if nothing is."""
    try:
        return target.stat().st_mode
    except OSError:
        return None


def _remove(written: Path) -> None:
    with suppress(OSError):  # what went wrong before is the news
        written.unlink()


def _flush_folder(folder: Path) -> None:
    """Let the new name survive a power cut, where the system can do that."""
    flags: int | None = getattr(os, "O_DIRECTORY", None)
    if flags is None:
        return
    with suppress(OSError):  # some file systems cannot flush folders
        handle = os.open(folder, os.O_RDONLY | flags)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
