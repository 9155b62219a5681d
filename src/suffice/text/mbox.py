"""Messages of an mbox, as it is read.

Each message follows a line such as `From bob@example.com Thu Aug 22 12:36:23 2002`. It parts
messages only if it names a time and a year, but then wherever it stands: bodies have lines that
begin with "From " and were not escaped, and messages are put together without empty lines.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Final

from suffice.text.mail_limits import MAILBOX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK: Final = 1 << 20
"""Bytes that are read at a time."""

LINE: Final = 400
"""Bytes that a line which parts messages may have."""

_TIME = re.compile(rb"[ T]\d{1,2}:\d\d")
_YEAR = re.compile(rb"(?<!\d)(?:19|20)\d\d(?!\d)")
_ESCAPED = re.compile(rb"^>(>*+From )", re.MULTILINE)


def parts_messages(line: bytes) -> bool:
    r"""Return whether a line stands between two messages.

    >>> parts_messages(b"From bob@example.com Thu Aug 22 12:36:23 2002\r\n")
    True
    >>> parts_messages(b"From 10:30 on we wait."), parts_messages(b"From 2002 on")
    (False, False)
    """
    return bool(line.startswith(b"From ") and _TIME.search(line) and _YEAR.search(line))


def mbox_messages(file: IO[bytes], most: int = MAILBOX_MESSAGE_BYTES) -> Iterator[bytes]:
    r"""Yield the messages of an mbox, of each at most so many bytes, as the file is read.

    >>> import io
    >>> letters = b"From a Thu Aug 22 12:36:23 2002\nTo: b\n\n>From c\n\nFrom b 1:02 2003\nTo: a\n"
    >>> list(mbox_messages(io.BytesIO(letters)))
    [b'To: b\n\nFrom c\n', b'To: a\n']
    """
    message, begun = bytearray(), False
    for piece in _pieces(file):
        if piece is None:
            if begun:
                yield _unescaped(bytes(message))
            message, begun = bytearray(), True
        else:
            kept = piece if begun else piece.lstrip(b"\r\n")
            begun = begun or bool(kept)
            message += kept[: most - len(message)]
    if begun:
        yield _unescaped(bytes(message))


def _unescaped(message: bytes) -> bytes:
    """Return a message as it was before it was put into the mbox."""
    if message.endswith(b"\n\n"):
        message = message[:-1]
    elif message.endswith(b"\r\n\r\n"):
        message = message[:-2]
    return _ESCAPED.sub(rb"\1", message) if b">From " in message else message


def _pieces(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield what is read, and None in place of each line that parts messages."""
    held = b"\n"  # its first byte has been given out, or was never there
    while block := file.read(BLOCK):
        held += block
        done = 0
        start = held.find(b"\nFrom ")
        while start >= 0:
            end = held.find(b"\n", start + 1, start + LINE)
            if end < 0 and len(held) < start + LINE:
                break  # the line may go on in the next block
            if end >= 0 and parts_messages(held[start + 1 : end]):
                yield held[done + 1 : start + 1]
                yield None
                start = done = end
            else:
                start += 1
            start = held.find(b"\nFrom ", start)
        keep = start if start >= 0 else max(done, len(held) - len(b"\nFrom "))
        yield held[done + 1 : keep + 1]
        held = held[keep:]
    yield None if parts_messages(held[1:LINE]) and b"\n" not in held[1:] else held[1:]
