"""Files that are there whole or not at all: written beside their place, flushed, then renamed."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from suffice.storage.locks import try_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHOWN = 50
"""Characters of a file's own name in that of the one beside it: names have an end."""
TOKEN = 4
"""Random bytes in that name."""
OPEN_FILES = "/proc/self/fd"
"""Where a file without a name can be found."""
ABANDONED = 86_400.0
"""Seconds after which a file beside is no one's, where no lock tells whether it is."""
OF_SQLITE = ("-wal", "-shm", "-journal")
"""How the names of the files go on that SQLite keeps beside its own."""


@contextmanager
def whole_file(
    path: str | Path, suffix: str = "", check: Callable[[], None] | None = None
) -> Iterator[IO[bytes]]:
    """Yield a file to write; it takes the place of `path` when the block ends without an error.

    A crash, a full disk or Ctrl-C leaves the old file as it was, and nothing beside it; where the
    system has files without a name, a process that is killed leaves nothing either, unless that is
    in the moment of the renaming: then the next one to write to `path` removes it. A link stays a
    link, and the rights of a file that was there stay what they were. What is no file, such as a
    pipe, is written as it is. `suffix` is for writers that look at the name. `check` is called
    before the old file is given up, and may refuse that.

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
    _sweep(target, suffix)
    written = _beside(target, suffix)
    try:
        nameless = None if suffix else _nameless(target.parent)
        with _named(written) if nameless is None else nameless as file:
            if nameless is not None:
                try_lock(file.fileno())  # before it has a name, which others may sweep away
            yield file
            file.flush()
            os.fsync(file.fileno())
            if check is not None:
                check()
            if nameless is not None:
                _give_name(file, written)
            if rights is not None:
                written.chmod(stat.S_IMODE(rights))
            if os.name != "nt":  # while it is open, and locked
                written.replace(target)
        if os.name == "nt":  # pragma: no cover  what is open cannot be renamed there
            written.replace(target)
        flush_folder(target.parent)
    except OSError as error:
        _remove(written)
        if error.errno is None or error.filename not in (None, str(written)):
            raise  # it is about something else that the block has read
        # Say the name that was asked for, not that of the file beside it.
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        _remove(written)
        raise


@contextmanager
def file_beside(target: Path) -> Iterator[Path]:
    """Yield an empty file beside a place, for a writer that opens it by its name.

    It is gone when the block ends, unless it has taken its place. Like those of `whole_file`, it is
    locked until then, and what a killed process has left is removed by the next one.
    """
    _sweep(target, "")
    written = _beside(target, "")
    try:
        with _named(written):
            yield written
    finally:
        remove_database(written)


def remove_database(place: Path) -> None:
    """Remove a file, and what SQLite keeps beside it."""
    for rest in ("", *OF_SQLITE):
        _remove(place.with_name(f"{place.name}{rest}"))


def check_place(path: str | Path) -> None:
    """Refuse a place that no file can be written to, before any work is done for it."""
    target = Path(os.path.realpath(path))
    rights = _rights(target)
    try:
        if rights is not None and stat.S_ISDIR(rights):
            raise _refused(errno.EISDIR)
        if rights is not None and not stat.S_ISREG(rights):
            if not os.access(target, os.W_OK):
                raise _refused(errno.EACCES)
            return
        if not target.parent.is_dir():
            raise _refused(errno.ENOTDIR if target.parent.exists() else errno.ENOENT)
        _check_replaceable(target)
        handle = _nameless(target.parent)
        if handle is not None:
            handle.close()
            return
        trial = _beside(target, "")
        with _named(trial):
            trial.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _refused(code: int) -> OSError:
    return OSError(code, os.strerror(code))


def _check_replaceable(target: Path) -> None:
    """Refuse a name that cannot be given, or a file of somebody else's in a folder for all."""
    try:
        there = target.lstat()
    except FileNotFoundError:
        return  # any other error is about the name itself: too long, not allowed
    folder = target.parent.stat()
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    if folder.st_mode & stat.S_ISVTX and user not in (0, there.st_uid, folder.st_uid):
        raise _refused(errno.EPERM)


def _beside(target: Path, suffix: str) -> Path:
    return target.parent / f".{target.name[:SHOWN]}.{secrets.token_hex(TOKEN)}{suffix}"


def _sweep(target: Path, suffix: str) -> None:
    """Remove what processes that were killed have left beside a file.

    Only what is named as we name it, and is not locked: whoever writes holds a lock until the
    renaming, and the system lets go of it with the process.
    """
    ours = re.compile(
        rf"\.{re.escape(target.name[:SHOWN])}\.[0-9a-f]{{{2 * TOKEN}}}{re.escape(suffix)}"
    )
    with suppress(OSError):
        for name in os.listdir(target.parent):  # noqa: PTH208  there may be many, and few are ours
            if name[:1] == "." and ours.fullmatch(name):
                _remove_abandoned(target.parent / name)


def _remove_abandoned(place: Path) -> None:
    with suppress(OSError):
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            found, named = os.fstat(handle), place.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_ino != named.st_ino:
                return
            free = None if os.name == "nt" else try_lock(handle)
            if free or (free is None and time.time() - found.st_mtime > ABANDONED):
                remove_database(place)
        finally:
            os.close(handle)


def _named(place: Path) -> IO[bytes]:
    """Return a new file of this name, locked: one that was swept away before that is made again."""
    while True:
        file = place.open("xb")
        if try_lock(file.fileno()) is not False and place.exists():
            return file
        _remove(place)
        file.close()


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


def flush_folder(folder: Path) -> None:
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
