"""Messages of Arrow files and streams: what each of them asks for is known before it is unpacked.

A message has metadata (a flatbuffer) and a body. Where the body is packed, each of its buffers says
in its first eight bytes how many it will be; how many rows there are is said in the metadata alone.
pyarrow believes both, and takes memory for them.

https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadFile, SufficeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.tables.allowances import Allowance

ARROW = b"ARROW1"
"""How an Arrow file begins, and how it ends."""
CONTINUED = b"\xff\xff\xff\xff"
"""What stands before the length of a message; streams written before Arrow 0.15 lack it."""
DICTIONARY, RECORDS = 2, 3
"""Kinds of messages that have a body."""
BEGINNING = 8
"""Where a file begins to be a stream: behind its name and two bytes."""


class _Table:
    """A table of a flatbuffer: fields by their number, each of them where an offset says."""

    def __init__(self, held: bytes, at: int) -> None:
        self._held, self._at = held, at
        self._fields = at - self._int("<i", at)
        self._last = self._int("<H", self._fields)

    @classmethod
    def root(cls, held: bytes) -> _Table:
        return cls(held, struct.unpack_from("<I", held)[0])

    def _int(self, form: str, at: int) -> int:
        if at < 0:  # would count from the end
            raise struct.error("an offset is negative")
        return int(struct.unpack_from(form, self._held, at)[0])

    def _place(self, number: int) -> int:
        """Return where a field is; 0 if it is not there."""
        entry = 4 + 2 * number
        offset = self._int("<H", self._fields + entry) if entry < self._last else 0
        return self._at + offset if offset else 0

    def number(self, field: int, form: str = "<q") -> int:
        at = self._place(field)
        return self._int(form, at) if at else 0

    def table(self, field: int) -> _Table | None:
        at = self._place(field)
        return _Table(self._held, at + self._int("<I", at)) if at else None

    def structs(self, field: int, form: list[tuple[str, str]]) -> NDArray[Any]:
        """Return a vector of structs."""
        at = self._place(field)
        if not at:
            return np.zeros(0, form)
        at += self._int("<I", at)
        return np.frombuffer(self._held, form, self._int("<I", at), at + 4)


class CheckedMessages:
    """A stream of Arrow's messages, each handed on once what it asks for is known to be allowed.

    Of a file, too: its footer says where the messages are. Whoever reads gets the very bytes that
    were looked at.
    """

    closed = False

    def __init__(self, held: Any, size: int, name: str, allowed: Allowance) -> None:
        self._held, self._size, self._name, self._allowed = held, size, name, allowed
        self._ready: list[memoryview] = []
        self._dictionaries: dict[int, int] = {}  # bytes of each, unpacked
        self._batch = 0
        self.width = 0
        """Columns that are read of each batch."""
        begins = held.read(len(ARROW)) == ARROW
        held.seek(0)
        self._messages = self._of_file() if begins else self._of_stream(0)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return False."""
        return False

    def close(self) -> None:
        """Do nothing: whoever opened the file closes it."""

    def read(self, size: int, /) -> bytes | memoryview:
        """Return the next bytes; of a message, when it has been checked."""
        if not self._ready:
            self._ready = [memoryview(part) for part in next(self._messages, ()) if part]
        if not self._ready:
            return b""
        part = self._ready[0]
        if len(part) <= size:
            del self._ready[0]
            return part if len(part) == size or not self._ready else self._more(part, size)
        self._ready[0] = part[size:]
        return part[:size]

    def _more(self, part: memoryview, size: int) -> bytes:
        """Return several parts of a message as one."""
        return bytes(part) + bytes(self.read(size - len(part)))

    def _of_stream(self, start: int) -> Iterator[tuple[bytes, ...]]:
        self._held.seek(start)
        while message := self._message():
            yield message

    def _of_file(self) -> Iterator[tuple[bytes, ...]]:
        """Yield the schema, all dictionaries, and batches in the order of the footer."""
        dictionaries, batches = self._blocks()
        self._held.seek(BEGINNING)
        yield self._message()
        for at in (*dictionaries, *batches):
            self._held.seek(at)
            yield self._message()
        yield (CONTINUED + bytes(4),)

    def _blocks(self) -> tuple[list[int], list[int]]:
        """Return where dictionaries and record batches of a file are."""
        end = len(ARROW) + 4
        self._held.seek(max(0, self._size - end))
        tail = self._held.read(end)
        size = struct.unpack_from("<i", tail)[0] if len(tail) == end else 0
        if not tail.endswith(ARROW) or not 0 < size <= self._size - end - BEGINNING:
            raise self._damaged("its end is missing")
        self._held.seek(self._size - end - size)
        form = [("at", "<i8"), ("metadata", "<i4"), ("_", "<i4"), ("body", "<i8")]
        try:
            footer = _Table.root(self._held.read(size))
            found = [footer.structs(field, form)["at"].tolist() for field in (2, 3)]
        except (struct.error, ValueError):
            raise self._damaged("its footer is damaged") from None
        if any(not BEGINNING <= at < self._size for places in found for at in places):
            raise self._damaged("its footer points beyond it")
        return found[0], found[1]

    def _message(self) -> tuple[bytes, ...]:
        """Return the next message: its length, its metadata and its body; () at the end."""
        head = self._held.read(4)
        if head == CONTINUED:
            head += self._held.read(4)
        if len(head) not in (4, 8):
            if head:
                raise self._damaged("it ends within a message")
            return ()
        size = struct.unpack("<i", head[-4:])[0]
        if size == 0:
            return ()
        if not 0 < size <= self._size:
            raise self._damaged("a message is longer than all of it")
        metadata = self._held.read(size)
        try:
            message = _Table.root(metadata)
            length = message.number(3)
            if not 0 <= length <= self._size:
                raise self._damaged("a message is longer than all of it")
            body = self._held.read(length)
            if len(metadata) < size or len(body) < length:
                raise self._damaged("it ends within a message")
            self._check(message, body)
        except SufficeError:
            raise
        except (struct.error, ValueError):
            raise self._damaged("the metadata of a message are damaged") from None
        return (head[:4], head[4:], metadata, body) if len(head) == 8 else (head, metadata, body)

    def _check(self, message: _Table, body: bytes) -> None:
        """Refuse a message that asks for more than it may."""
        kind, header = message.number(1, "<B"), message.table(2)
        if header is None or kind not in (DICTIONARY, RECORDS):
            return
        if kind == RECORDS:
            place = f"batch {self._batch}"
            self._batch += 1
            self._allowed.read(_not_negative(header.number(0)), self.width, place)
            self._allowed.unpack(unpacked_size(header, body), len(body), place)
            return
        number, records = header.number(0), header.table(1)
        if records is None:
            return
        size = unpacked_size(records, body)
        before = self._dictionaries.get(number, 0) if header.number(2, "<B") else 0
        self._dictionaries[number] = before + size
        held = sum(self._dictionaries.values())
        self._allowed.unpack(held, self._size, f"dictionary {number}")

    def _damaged(self, why: str) -> BadFile:
        return BadFile(
            f"{self._name} cannot be read: {why}",
            hint="it is incomplete or damaged: write or download it again",
        )


def unpacked_size(records: _Table, body: bytes) -> int:
    """Return how many bytes the buffers of a batch have once they are unpacked, as they say."""
    buffers = records.structs(2, [("at", "<i8"), ("size", "<i8")])
    if records.table(3) is None:  # several may mean the same bytes
        return max(len(body), int(sum(buffers["size"].tolist())))
    total = 0
    for at, size in buffers.tolist():
        if size:
            said = int(struct.unpack_from("<q", body, _not_negative(at))[0])
            total += max(said, size)
    return total


def _not_negative(number: int) -> int:
    if number < 0:
        raise struct.error("a number is negative")
    return number
