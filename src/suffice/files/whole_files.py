"""Files that are there whole or not at all: written beside their place, flushed, then renamed."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def whole_file(path: str | Path, suffix: str = "") -> Iterator[IO[bytes]]:
    """Yield a file to write; it takes the place of `path` when the block ends without an error.

    A crash, a full disk or Ctrl-C leaves the old file as it was, and nothing beside it. `suffix`
    is for writers that look at the name.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "numbers"
    >>> with whole_file(place) as file:
    ...     _ = file.write(b"1 2 3")
    >>> place.read_bytes()
    b'1 2 3'
    """
    path = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=suffix, dir=path.parent)
    except OSError as error:  # say the name that was asked for, not the temporary one
        raise OSError(error.errno, error.strerror, str(path)) from None
    written = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files for the owner alone; these are as readable as any new file.
        mask = os.umask(0)
        os.umask(mask)
        written.chmod(0o666 & ~mask)
        written.replace(path)
        _flush_folder(path.parent)
    except OSError as error:
        written.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        written.unlink(missing_ok=True)
        raise


def _flush_folder(folder: Path) -> None:
    """Let the new name survive a power cut, where the system can do that."""
    flags: Any = getattr(os, "O_DIRECTORY", None)
    if flags is None:
        return
    try:
        handle = os.open(folder, os.O_RDONLY | flags)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:  # some file systems cannot flush folders
        pass
    finally:
        os.close(handle)
