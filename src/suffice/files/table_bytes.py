"""The bytes of a table: a file or standard input, compressed or not, told by how they begin."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from suffice.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Callable

STDIN = "-"
IN_MEMORY = 1 << 25
"""Bytes of standard input that are kept in memory; more go to a temporary file."""
LOOK = 1 << 16
"""Bytes that are looked at to tell what a table is."""
STRANGE = {
    b"PK\x03\x04": "a zip file, such as a spreadsheet or a model",
    b"SQLite f": "a database",
    b"\xd0\xcf\x11\xe0": "a spreadsheet",
    b"%PDF": "a PDF",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
}


class TableBytes:
    r"""Bytes that can be read from the beginning as often as needed.

    Standard input comes only once: with `again` it is set aside, so that it can be read twice;
    without, the second reader is refused.

    >>> place = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = place.write_bytes(b"a,b\n1,2\n")
    >>> with TableBytes(place).open() as file:
    ...     file.read()
    b'a,b\n1,2\n'
    """

    def __init__(self, source: str | Path, *, again: bool = True) -> None:
        self.name = "standard input" if str(source) == STDIN else str(source)
        self._path = None if str(source) == STDIN else Path(source)
        self._stream: IO[bytes] | None = None
        self._again = again
        self._opened: Any = None
        self._packed = False
        if self._path is not None and self._path.is_dir():
            raise BadFile(f"{self.name} is a folder", hint="name a file in it")
        if self._path is None:
            self._stream = self._standard_input()
        self.beginning = self._beginning()
        if not self.beginning.strip(b"\xef\xbb\xbf \t\r\n"):
            raise BadFile(f"{self.name} is empty", hint="a table has a header and rows")
        for start, what in STRANGE.items():
            if self.beginning.startswith(start):
                raise BadFile(
                    f"{self.name} is {what}, not a table",
                    hint="tables are CSV, Parquet, Arrow or JSON lines; save or export it as one",
                )

    def _standard_input(self) -> IO[bytes]:
        given = sys.stdin.buffer
        if not self._again:
            return given
        aside: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        while part := given.read(1 << 20):
            aside.write(part)
        aside.seek(0)
        return cast("IO[bytes]", aside)

    def _beginning(self) -> bytes:
        """Return how the table begins, once unpacked."""
        if self._stream is not None and not self._again:
            head = self._stream.peek(LOOK)[:LOOK]  # type: ignore[attr-defined]
            opener = _unpacking(head)
            if opener is None:
                return cast("bytes", head)
            self._stream = cast("IO[bytes]", io.BufferedReader(opener(self._stream), LOOK))
            return cast("bytes", self._stream.peek(LOOK)[:LOOK])  # type: ignore[attr-defined]
        with self.open() as file:
            return file.read(LOOK)

    @property
    def size(self) -> int:
        """How many bytes are stored, packed as they are; 0 where that is not known."""
        if self._path is not None:
            return self._path.stat().st_size
        if self._stream is None or not self._again:
            return 0
        self._stream.seek(0, 2)
        return self._stream.tell()

    @property
    def is_packed(self) -> bool:
        """Whether the bytes are compressed."""
        return self._packed

    @property
    def share(self) -> float | None:
        """Which part of the file has been read; None where that is not known."""
        raw = getattr(self._opened, "fileobj", getattr(self._opened, "_fp", self._opened))
        if raw is None or raw.closed or self._path is None:
            return None
        return float(raw.tell()) / max(1, self.size)

    @property
    def path(self) -> Path | None:
        """Where the file is; None for standard input."""
        return self._path

    def open(self) -> IO[bytes]:
        """Return the bytes from the beginning, unpacked."""
        if self._stream is not None:
            if not self._again:
                return self._stream
            self._stream.seek(0)
            file = cast("IO[bytes]", _NotClosed(self._stream))
        else:
            assert self._path is not None
            file = self._opened = self._path.open("rb")
        head = file.read(8)
        file.seek(0)
        opener = _unpacking(head)
        self._packed = opener is not None
        if opener is None:
            return file
        if self._path is None:
            return cast("IO[bytes]", opener(file))
        file.close()
        self._opened = opener(self._path)  # which closes the file with itself
        return cast("IO[bytes]", self._opened)


class _NotClosed(io.BufferedIOBase):
    """A stream that others may close without ending it."""

    def __init__(self, held: IO[bytes]) -> None:
        self._held = held

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        return self._held.read(-1 if size is None else size)

    def read1(self, size: int = -1, /) -> bytes:
        return self._held.read(size)

    def seek(self, place: int, whence: int = 0, /) -> int:
        return self._held.seek(place, whence)

    def tell(self) -> int:
        return self._held.tell()


def _unpacking(head: bytes) -> Callable[[Any], Any] | None:
    """Return what unpacks bytes that begin so, if they are packed."""
    if head.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.open
    if head.startswith(b"BZh"):
        import bz2

        return bz2.open
    if head.startswith(b"\xfd7zXZ"):
        import lzma

        return lzma.open
    return None
