"""Bytes as they come: pipes that give what is there, gzip, bzip2 and xz unpacked on the way."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Callable


class BytePieces(io.BufferedIOBase):
    """A stream whose kinds say, by `read1`, which bytes come next; everything else follows."""

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Return this many bytes, fewer only at the end."""
        wanted = -1 if size is None or size < 0 else size
        parts = []
        while wanted and (part := self.read1(wanted)):
            parts.append(part)
            wanted -= len(part) if wanted > 0 else 0
        return b"".join(parts)


MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz"}
"""How packed bytes begin."""
BLOCK = 1 << 16
"""Packed bytes that are read at a time."""
MOST = 1 << 20
"""Bytes that are unpacked at a time: a few packed ones may hold very many."""
FEW, TIMES = 1 << 26, 1100
"""Bytes that packed ones may hold in any case; and for each of them, where they are more.

gzip holds 1,032 at most; of the others, one byte can stand for a hundred thousand, all the same."""
XZ_MEMORY = 1 << 27
"""Bytes of memory that a file of xz may ask for: twice what its highest level takes."""


def packing(head: bytes) -> str | None:
    r"""Return how bytes that begin so are packed, if they are.

    >>> packing(b"\x1f\x8b\x08"), packing(b"a,b")
    ('gzip', None)
    """
    return next((how for start, how in MAGIC.items() if head.startswith(start)), None)


class Unpacked(BytePieces):
    r"""What is in packed bytes; several packed files one after another are one.

    >>> import gzip, io
    >>> packed = gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n")
    >>> Unpacked(io.BytesIO(packed), "gzip", "a.csv.gz").read()
    b'a,b\n1,2\n'
    """

    def __init__(self, held: Any, how: str, name: str) -> None:
        self._held = held
        self._make, self._errors = _unpacker(how)
        self._how, self._name = how, name
        self._unit = self._make()
        self._more_inside = False
        self._given = self._taken = 0

    def waits(self, seconds: float) -> bool:
        """Whether a reader would have to wait for longer than this."""
        if self._more_inside or self._unit.eof:
            return False
        inner = getattr(self._held, "waits", None)
        return inner is not None and bool(inner(seconds))

    def read1(self, size: int = -1, /) -> bytes:
        """Return what can be unpacked without waiting; wait only if nothing can."""
        most = MOST if size < 0 else min(size, MOST)
        while most:
            packed = self._packed()
            if packed is None:
                return b""
            try:
                found: bytes = self._unit.decompress(packed, most)
            except self._errors as error:
                raise self._damaged(str(error)) from None
            self._more_inside = len(found) >= most and not self._unit.eof
            if found:
                self._given += len(found)
                if self._given > max(FEW, TIMES * self._taken):
                    raise self._too_much()
                return found
        return b""

    def _packed(self) -> bytes | None:
        """Return packed bytes to go on with; None at the end."""
        if self._unit.eof:
            rest = self._unit.unused_data.lstrip(b"\0")  # some writers fill up with zeros
            while not rest:
                block = self._held.read1(BLOCK)
                if not block:
                    return None
                rest = block.lstrip(b"\0")
            self._unit = self._make()
            self._taken += len(rest)
            return bytes(rest)
        if self._more_inside:
            return getattr(self._unit, "unconsumed_tail", b"")
        block = self._held.read1(BLOCK)
        if not block:
            raise self._damaged("it ends too soon")
        self._taken += len(block)
        return bytes(block)

    def _too_much(self) -> BadFile:
        return BadFile(
            f"{self._name}: {self._taken:,} bytes of {self._how} data hold more than "
            f"{self._given - 1:,}, and at most {max(FEW, TIMES * self._taken):,} are "
            "unpacked",
            hint="it is highly repetitive; if that is intended, decompress it first",
        )

    def _damaged(self, why: str) -> BadFile:
        return BadFile(
            f"{self._name}: the {self._how} data cannot be decompressed beyond byte "
            f"{self._given:,} "
            f"of the content: {why}",
            hint="the file is incomplete or damaged: write or download it again",
        )

    def close(self) -> None:
        """Close the packed file too."""
        if not self.closed:
            self._held.close()
        super().close()


def _unpacker(how: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    """Return what makes an unpacker, and what it raises when it cannot go on."""
    if how == "gzip":
        import zlib

        return lambda: zlib.decompressobj(31), (zlib.error,)
    if how == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, (OSError,)
    import lzma

    return lambda: lzma.LZMADecompressor(memlimit=XZ_MEMORY), (lzma.LZMAError,)


PATIENCE = 0.02
"""Seconds without a byte after which a writer is taken to pause."""


class LiveBytes(BytePieces):
    r"""A stream that is read once, in the pieces in which it comes.

    What was looked at stays to be read.

    >>> import io
    >>> stream = LiveBytes(io.BytesIO(b"a,b\n1,2\n"))
    >>> stream.peek(lambda head: b"\n" in head)
    b'a,b\n1,2\n'
    >>> stream.read(3), stream.read()
    (b'a,b', b'\n1,2\n')
    """

    def __init__(self, held: Any, *, closes: bool = False) -> None:
        self._held = held
        self._closes = closes
        self._ahead = b""
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether nothing will come any more."""
        return self._ended

    def peek(self, enough: Callable[[bytes], bool], most: int = BLOCK) -> bytes:
        """Return how the rest begins: enough of it, and then what comes without a pause."""
        while not self._ended and not enough(self._ahead):
            self._more()
        due = time.monotonic() + PATIENCE
        while not self._ended and len(self._ahead) < most:
            if self._nothing_comes(due - time.monotonic()):
                break
            self._more()
        return self._ahead

    def _more(self) -> None:
        block = self._held.read1(BLOCK)
        self._ahead += block
        self._ended = not block

    def waits(self, seconds: float) -> bool:
        """Whether a reader would have to wait for longer than this."""
        return not self._ahead and not self._ended and self._nothing_comes(seconds)

    def _nothing_comes(self, seconds: float) -> bool:
        inner = getattr(self._held, "waits", None)
        if inner is not None:
            return bool(inner(seconds))
        try:
            place = self._held.fileno()
        except (OSError, AttributeError):
            return False  # it is in memory
        import select

        try:
            ready, _, _ = select.select([place], [], [], max(0.0, seconds))
        except (OSError, ValueError):  # where pipes cannot be asked: answer rather than wait
            return True
        return not ready

    def read1(self, size: int = -1, /) -> bytes:
        """Return what is there, and wait only if nothing is."""
        if not self._ahead and not self._ended:
            self._more()
        size = len(self._ahead) if size < 0 else size
        given, self._ahead = self._ahead[:size], self._ahead[size:]
        return given

    def close(self) -> None:
        """Close what is read too, where it was opened for this."""
        if self._closes and not self.closed:
            self._held.close()
        super().close()
