"""The bytes of a table: a file, a pipe or standard input, packed or not, told by how they begin."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import weakref
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from suffice.errors import BadFile
from suffice.tables.byte_streams import MAGIC, LiveBytes, Unpacked, packing
from suffice.tables.encodings import UTF8, WESTERN, Utf8Bytes, WesternText, marked_encoding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STDIN = "-"
"""How a pipe is named where a path is expected."""
IN_MEMORY = 1 << 25
"""Bytes of a pipe that are kept in memory; more go to a temporary file."""
SPARE = 1 << 28
"""Bytes of the disk that are left alone."""
LOOK = 1 << 16
"""Bytes that are looked at to tell what a table is."""
LONGEST_LOOK = 1 << 25
"""Bytes that are looked at where lines are long."""
MARKS = b"\xef\xbb\xbf \t\r\n"
"""What may stand before the first cell."""
STRANGE = {
    b"SQLite f": "a database",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet, or a workbook with a password",
    b"%PDF": "a PDF",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
}
"""What is not a table, by how it begins: refusals say what it is instead."""
ZIP = b"PK\x03\x04"
"""How zip files begin: workbooks, models, and others."""
KNOWN = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", ZIP, *STRANGE)
"""How files begin that are no text."""


class TableBytes:
    r"""Bytes that can be read from the beginning as often as needed.

    A pipe comes only once: with `again` it is set aside, so that it can be read twice; without, it
    is read as it comes, and the second reader is refused. Refusals name it as it is `called`.

    >>> place = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = place.write_bytes(b"a,b\n1,2\n")
    >>> with TableBytes(place).open() as file:
    ...     file.read()
    b'a,b\n1,2\n'
    """

    def __init__(
        self, source: str | Path, *, again: bool = True, called: str | None = None
    ) -> None:
        self.name = called or ("standard input" if str(source) == STDIN else str(source))
        self._path: Path | None = None if str(source) == STDIN else Path(source)
        self.is_lasting = self._path is not None and self._path.is_file()
        """Whether it is a file, and no pipe."""
        self._aside: IO[bytes] | None = None
        self._live: LiveBytes | None = None
        self._spent = False
        self._raw: Any = None
        self._how: str | None = None
        self._all_seen = False
        self._encoding: str | None = UTF8  # as they are; None is to be found out
        self._on_guess: Callable[[str], object] | None = None
        if self._path is not None and self._path.is_dir():
            raise BadFile(f"{self.name} is a folder", hint="name a file in it")
        if self._path is None or (self._path.exists() and not self._path.is_file()):
            self._live = self._opened_pipe()
            if again:
                self.set_aside()
        self.beginning = self._beginning()
        """How the table begins, once unpacked."""
        if not self.beginning.strip(MARKS):
            raise BadFile(f"{self.name} is empty", hint="a table has a header and rows")
        for start, what in STRANGE.items():
            if self.beginning.startswith(start):
                raise BadFile(
                    f"{self.name} is {what}, not a table",
                    hint="tables are CSV, Parquet, Arrow, JSON or .xlsx; save or export it as one",
                )

    def _opened_pipe(self) -> LiveBytes:
        if self._path is not None:
            pipe = self._path.open("rb")
            self._path = None
            return LiveBytes(pipe, closes=True)
        if sys.stdin is None:
            raise BadFile("standard input is closed", hint="name a file, or pipe one in")
        return LiveBytes(sys.stdin.buffer)

    def _beginning(self) -> bytes:
        """Return how the table begins, once unpacked."""
        if self._live is not None:
            self._how = packing(self._live.peek(lambda head: not _undecided(head, MAGIC)))
            if self._how is not None:
                self._live = LiveBytes(Unpacked(self._live, self._how, self.name), closes=True)
            return self._live.peek(lambda head: not _undecided(head, KNOWN) and _begun(head))
        return self._head()

    def _head(self) -> bytes:
        with self.open() as file:
            head = file.read(LOOK)
            self._all_seen = len(head) < LOOK
            return head

    def read_as_text(
        self, encoding: str | None, on_guess: Callable[[str], object] | None = None
    ) -> None:
        """Let all that is read from now on be text in UTF-8, whatever it is written in.

        Without an `encoding` it is found out; `on_guess` hears, once, if it is another than the
        bytes can tell for certain.
        """
        head = self.beginning
        self._encoding, self._on_guess = encoding or marked_encoding(head), on_guess
        if self._encoding is None and self.is_all_seen and head.isascii():
            self._encoding = UTF8
        if self._encoding == UTF8:
            return
        if self._live is None:
            self.beginning = self._head()
        else:
            self._live = LiveBytes(self._utf8(self._live), closes=True)
            self.beginning = self._live.peek(_begun)

    def _utf8(self, file: object) -> object:
        """Return bytes as UTF-8."""
        if self._encoding == UTF8:
            return file
        survey = self._survey if self._live is None else None
        return Utf8Bytes(file, self.name, self._encoding, survey=survey, settled=self._settled)

    def _survey(self) -> WesternText:
        """Look at all bytes, while somebody reads them."""
        place = None if self._aside is None else self._aside.tell()
        seen = WesternText()
        with self._unpacked(self._stored()) as file:
            while block := file.read(LOOK):
                seen.see(block)
        if self._aside is not None and place is not None:
            self._aside.seek(place)
        return seen

    def _settled(self, encoding: str, seen: WesternText) -> None:
        self._encoding = encoding
        if encoding == WESTERN and self._on_guess is not None:
            self._on_guess(
                f"{self.name} is read as Windows-1252, which includes Latin-1: it is not UTF-8 "
                f"because of {seen.word!r:.40} in line {seen.line:,}"
            )

    def peek(self, lines: int) -> bytes:
        """Return how the table begins: at least this many lines, if there are as many.

        What is longer than any line should be is cut off.
        """

        def enough(head: bytes) -> bool:
            body = head.lstrip(MARKS)
            return len(head) >= LONGEST_LOOK or max(body.count(b"\n"), body.count(b"\r")) >= lines

        if self._live is not None:
            self.beginning = self._live.peek(enough)
        elif not enough(self.beginning) and not self.is_all_seen:
            with self.open() as file:
                head = b""
                while not enough(head) and not self._all_seen:
                    part = file.read(max(LOOK, len(head)))
                    head += part
                    self._all_seen = not part
            self.beginning = head
        return self.beginning

    def tail(self, size: int) -> bytes:
        """Return the last bytes of a file of plain text in UTF-8; none of any other."""
        if self._path is None or self._how is not None or self._encoding != UTF8:
            return b""
        with self._path.open("rb") as file:
            file.seek(max(0, self.size - size))
            return file.read(size)

    @property
    def is_all_seen(self) -> bool:
        """Whether the beginning is all there is, or all that is looked at."""
        ended = self._all_seen if self._live is None else self._live.ended
        return ended or len(self.beginning) >= LONGEST_LOOK

    @property
    def size(self) -> int:
        """How many bytes are stored, packed as they are; 0 where that is not known."""
        if self._path is not None:
            return self._path.stat().st_size
        if self._aside is None:
            return 0
        place = self._aside.tell()  # somebody may be reading
        size = self._aside.seek(0, 2)
        self._aside.seek(place)
        return size

    @property
    def version(self) -> tuple[int, int]:
        """What a file is told by from itself before or after somebody has written to it."""
        if self._path is None:
            return self.size, 0  # set aside: it is ours
        held = self._path.stat()
        return held.st_size, held.st_mtime_ns

    @property
    def is_live(self) -> bool:
        """Whether the bytes come as somebody writes them, and only once."""
        return self._live is not None

    @property
    def is_packed(self) -> bool:
        """Whether the bytes are packed."""
        return self._how is not None

    @property
    def share(self) -> float | None:
        """Which part of the file has been read; None where that is not known."""
        if self._raw is None or self._raw.closed or self._path is None:
            return None
        return float(self._raw.tell()) / max(1, self.size)

    @property
    def path(self) -> Path | None:
        """Where the file is; None for pipes."""
        return self._path

    def set_aside(self) -> None:
        """Keep what comes only once, unpacked, for readers that go to and fro."""
        if self._live is None and self._how is None:
            return
        aside: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, aside.close)
        size = 0
        with self.open() as given:
            while part := given.read(1 << 20):
                size += len(part)
                if size > IN_MEMORY:
                    self._check_room(size)
                aside.write(part)
        self._aside, self._live, self._path, self._how = cast("IO[bytes]", aside), None, None, None

    def _check_room(self, size: int) -> None:
        """Refuse what would fill the disk."""
        if shutil.disk_usage(tempfile.gettempdir()).free < SPARE:
            raise BadFile(
                f"{self.name} is larger than the free space in {tempfile.gettempdir()}: more than "
                f"{size:,} bytes once unpacked",
                hint="write it to a file and give its path, or set TMPDIR to a larger disk",
            )

    def open(self) -> IO[bytes]:
        """Return the bytes from the beginning, unpacked."""
        if self._live is not None:
            if self._spent:
                raise BadFile(f"{self.name} can be read only once", hint="write it to a file first")
            self._spent = True
            return cast("IO[bytes]", self._live)
        file = self._stored()
        if self._aside is None:
            self._raw = file
        return cast("IO[bytes]", self._utf8(self._unpacked(file)))

    def _stored(self) -> IO[bytes]:
        """Return the bytes from the beginning, as they are stored."""
        if self._aside is not None:
            self._aside.seek(0)
            return cast("IO[bytes]", _NotClosed(self._aside))
        assert self._path is not None
        return self._path.open("rb")

    def _unpacked(self, file: IO[bytes]) -> IO[bytes]:
        self._how = packing(file.read(8))
        file.seek(0)
        if self._how is None:
            return file
        return cast("IO[bytes]", Unpacked(file, self._how, self.name))


def _undecided(head: bytes, known: Iterable[bytes]) -> bool:
    """Whether more bytes are needed to tell if a file begins like one of these."""
    return any(len(head) < len(start) and start.startswith(head) for start in known)


def _begun(head: bytes) -> bool:
    """Whether there is anything yet but blank lines."""
    return bool(head.strip(MARKS))


class _NotClosed(io.BufferedIOBase):
    """A stream that others may close without ending it; `io` asks `seek` where it stands."""

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
