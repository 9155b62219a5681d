"""One change of a file at a time: whoever reads, changes and writes it holds a lock meanwhile.

The lock is on a file beside it, `.name.lock`, for a save puts another file in the place of the
first. The system lets go of it when a process ends, however it ends. The file is removed when the
lock is let go; one that a killed process has left behind is taken over.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from suffice.errors import FileInUse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 60.0
"""Seconds to wait for another process, where nobody says otherwise."""
FIRST_PAUSE, LONGEST_PAUSE = 0.002, 0.05
"""Seconds between two tries: a command takes about half a second, so that it is soon noticed."""
LONGEST_NAME = 200
"""Bytes of a name that is put into another; file systems take 255."""
WITHOUT_LOCKS = {
    getattr(errno, name, None)
    for name in ("ENOLCK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL", "EREMOTEIO")
}
"""What file systems say that have no locks."""


@contextmanager
def locked(
    path: str | Path, seconds: float = PATIENCE, waiting: Callable[[], None] | None = None
) -> Iterator[bool]:
    """Keep others from changing a file until the block ends; yield whether that is possible.

    Waits for whoever changes it now, `seconds` at most, and calls `waiting` once if there is
    someone. A link stands for the file that it leads to. What is no file, such as a pipe, is not
    locked. On a file system without locks, False is yielded: `Stamp` tells whether a file changed.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "model"
    >>> with locked(place) as alone:
    ...     alone, [each.name for each in place.parent.iterdir()]
    (True, ['.model.lock'])
    >>> list(place.parent.iterdir())
    []
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield False
        return
    beside = lock_beside(target)
    until = time.monotonic() + seconds
    pause = FIRST_PAUSE
    while True:
        try:
            handle = _opened(beside)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        taken = try_lock(handle)
        if taken is None:
            os.close(handle)
            yield False
            return
        if taken and _is_at(handle, beside):
            break
        # Taken, but gone: whoever had it has removed it, and the next one has a file of its own.
        os.close(handle)
        if taken:
            continue
        if time.monotonic() >= until:
            raise FileInUse(
                f"{path} has been in use by another process for {seconds:g} seconds",
                hint="try again, or wait longer (--wait); nothing was changed",
            )
        if waiting is not None:
            waiting()
            waiting = None
        time.sleep(min(pause, max(0.0, until - time.monotonic())))
        pause = min(2.0 * pause, LONGEST_PAUSE)
    try:
        yield True
    finally:
        # Removed while it is held: others that wait for it find out by `_is_at`.
        with suppress(OSError):  # on Windows an open file stays
            beside.unlink()
        os.close(handle)


def lock_beside(target: Path) -> Path:
    """Return the file whose lock stands for another."""
    name = target.name
    if len(os.fsencode(name)) > LONGEST_NAME:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return target.parent / f".{name}.lock"


def _opened(beside: Path) -> int:
    """Open the file of a lock, as far as that is allowed; links are not followed."""
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        return os.open(beside, os.O_RDWR | flags)
    except FileNotFoundError:
        return os.open(beside, os.O_RDWR | os.O_CREAT | flags, 0o666)
    except PermissionError:  # made by another user: reading is enough to lock it
        return os.open(beside, os.O_RDONLY | flags)


def try_lock(handle: int) -> bool | None:
    """Lock an open file without waiting: whether that worked; None where there are no locks."""
    if sys.platform == "win32":  # pragma: no cover
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    try:
        import fcntl
    except ImportError:  # pragma: no cover
        return None
    try:
        # Of an open file, and not of a process (lockf): threads keep each other out as well.
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return None if error.errno in WITHOUT_LOCKS else False
    return True


def _is_at(handle: int, place: Path) -> bool:
    """Whether an open file is the one that has this name."""
    try:
        found = place.lstat()
    except OSError:
        return False
    held = os.fstat(handle)
    return (held.st_dev, held.st_ino) == (found.st_dev, found.st_ino)


class Stamp(NamedTuple):
    """Which file stood at a place: every save puts another one there."""

    place: str
    seen: tuple[int, ...] | None

    @classmethod
    def of(cls, path: str | Path) -> Stamp:
        """Look at a place; nothing may be there."""
        place = os.path.realpath(path)
        try:
            found = Path(place).stat()
        except OSError:
            return cls(place, None)
        return cls(place, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))

    def check(self) -> None:
        """Refuse to go on if another file stands there now: what it holds would be lost."""
        if Stamp.of(self.place) != self:
            raise FileInUse(
                f"{self.place} was changed by another program after it was read",
                hint="it is left as it is: load it again and learn again, or save to another place",
            )
