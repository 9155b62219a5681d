"""Mail where it lies: an mbox, a Maildir, a folder of messages, one message, or what comes in."""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import stat
import sys
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from suffice.errors import BadFile
from suffice.mail.limits import MAILBOX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator


STANDARD_INPUT: Final = "-"
"""How a pipe is named where a path is expected."""
HEAD: Final = 4096
"""Bytes by which a file is known."""

NOWHERE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""What is said of a link that leads to no file, or of a file that has gone meanwhile."""

_FIELD = re.compile(rb"[!-9;-~]{1,200}+[ \t]*+:")
"""How a message begins: with a field of its header."""
_GZIP = b"\x1f\x8b"
"""The first bytes of what gzip has packed."""
_HINT = "give an mbox, a Maildir, a folder of messages, or one message that begins with its header"
"""For whatever is no mailbox."""


def read_mailbox(path: str | Path) -> Iterator[bytes]:
    r"""Yield raw messages from wherever they are; `-` is the standard input.

    What a file is, its content tells: an mbox or one message, plain or compressed by gzip. Folders
    are read in the order of the names; of a Maildir, `new` and `cur`. Messages come one at a time,
    each of at most 100 MB: `read_message` says of a longer one that it is truncated.

    >>> import tempfile
    >>> box = Path(tempfile.mkdtemp()) / "box"
    >>> _ = box.write_bytes(b"From a Thu Aug 22 12:36:23 2002\nTo: b\n\nHello\n")
    >>> list(read_mailbox(box))
    [b'To: b\n\nHello\n']
    """
    if str(path) == STANDARD_INPUT:
        yield from _messages(sys.stdin.buffer, "the standard input", strict=False)
        return
    place = Path(path)
    try:
        kind = place.stat().st_mode
        if not stat.S_ISDIR(kind):
            with place.open("rb") as file:
                yield from _messages(file, str(path))
        elif is_maildir(place):
            yield from _maildir(place)
        else:
            yield from _folder(place)
    except OSError as error:
        raise BadFile(
            f"{error.filename or path} cannot be read: {error.strerror or error}", hint=_HINT
        ) from None


def files_of(path: str | Path) -> list[str]:
    """Return the files that `read_mailbox` would read messages from; nothing is refused yet.

    >>> files_of("-")
    ['-']
    """
    place = Path(path)
    if str(path) == STANDARD_INPUT or not place.is_dir():
        return [str(path)]
    found = _letters(place) if is_maildir(place) else _with_messages(place)[0]
    return [*map(str, found)]


def is_maildir(path: str | Path) -> bool:
    """Return whether a folder is a Maildir: it has `cur` and `new`.

    >>> is_maildir("nowhere")
    False
    """
    return (Path(path) / "cur").is_dir() and (Path(path) / "new").is_dir()


def is_mbox(head: bytes) -> bool:
    r"""Return whether a file that begins so is an mbox.

    >>> is_mbox(b"From bob Thu Aug 22 12:36:23 2002\n"), is_mbox(b"From: bob\n")
    (True, False)
    """
    return parts_messages(head.lstrip(b"\r\n")[:LINE].partition(b"\n")[0])


def is_message(head: bytes) -> bool:
    r"""Return whether a file that begins so is one message: its first line is a field.

    >>> is_message(b"From: bob\n"), is_message(b"Dear Bob,\n"), is_message(b"\x89PNG\r\n")
    (True, False, False)
    """
    first = head.lstrip(b"\r\n")
    if first.startswith((b"From ", b">From ")):
        first = first.partition(b"\n")[2]
    return _FIELD.match(first) is not None


def _maildir(place: Path) -> Iterator[bytes]:
    """Yield the messages of a Maildir; those that are marked or moved meanwhile are found again."""
    for name in _letters(place):
        try:
            with name.open("rb") as file:
                message = file.read(MAILBOX_MESSAGE_BYTES)
        except FileNotFoundError:
            mark = name.name.partition(":")[0]
            moved = [other for other in (place / "cur").iterdir() if other.name.startswith(mark)]
            if not moved:  # it was deleted
                continue
            with moved[0].open("rb") as file:
                message = file.read(MAILBOX_MESSAGE_BYTES)
        yield message


def _letters(place: Path) -> list[Path]:
    """Return the files of a Maildir, in the order of their names."""
    found = [name for part in ("new", "cur") for name in (place / part).iterdir()]
    found.sort(key=lambda name: (name.name, name.parent.name))
    return [name for name in found if not name.name.startswith(".") and not name.is_dir()]


def _folder(place: Path) -> Iterator[bytes]:
    """Yield the messages of all files that hold some; a few notes among them are passed by.

    Of a folder that is mostly something else, no file is taken for a message by accident.
    """
    holds, names = _with_messages(place)
    if not holds or 2 * len(holds) < len(names):
        what = "is empty"
        if names:
            other = next(name.name for name in names if name not in set(holds))
            what = f"only {len(holds)} of its {len(names)} files hold messages: {other!r} does not"
            what = what if holds else "holds no messages"
        raise BadFile(
            f"{os.fspath(place)} is not a Maildir (it has no `cur` and `new`), and {what}",
            hint=_HINT,
        )
    for name in holds:
        with name.open("rb") as file:
            yield from _messages(file, str(name), strict=None)


def _with_messages(place: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of a folder that hold messages, and all that say something."""
    names = [name for name in sorted(place.iterdir()) if _is_file(name)]
    return [name for name in names if _holds_messages(name)], names


def _is_file(name: Path) -> bool:
    """Whether a name is that of a file that says something."""
    if name.name.startswith("."):
        return False
    try:
        found = name.stat()
    except OSError as error:
        if error.errno in NOWHERE:
            return False
        raise
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


def _holds_messages(name: Path) -> bool:
    with name.open("rb", buffering=0) as file:
        head = file.read(HEAD)
    if head.startswith(_GZIP):
        try:
            with gzip.open(name) as inner:
                head = inner.read(HEAD)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            return True  # refused when it is read
    return is_mbox(head) or is_message(head)


class _Rejoined(io.RawIOBase):
    """A file of which some bytes have been read, from its beginning: a pipe has no way back."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Give the bytes that were read before, and then the rest."""
        piece = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def _rejoined(head: bytes, rest: IO[bytes]) -> IO[bytes]:
    """Return a file from its beginning, of which some bytes have been read."""
    if isinstance(rest, io.BytesIO):
        rest.seek(0)
        return rest
    return io.BufferedReader(_Rejoined(head, rest))


def _is_short(file: IO[bytes]) -> bool:
    """Whether a file on the disk may be read in one go: asking for a block takes room for one."""
    if not isinstance(getattr(file, "raw", None), io.FileIO):
        return False
    found = os.fstat(file.fileno())
    return stat.S_ISREG(found.st_mode) and found.st_size <= BLOCK


def _messages(file: IO[bytes], name: str, strict: bool | None = True) -> Iterator[bytes]:
    """Yield the messages of a file; what is none is refused, taken or, by None, left."""
    try:
        if _is_short(file):
            file = io.BytesIO(file.read())
        head = file.read(HEAD)
        if head.startswith(_GZIP):
            file = io.BufferedReader(gzip.GzipFile(fileobj=_rejoined(head, file)))
            head = file.read(HEAD)
        if is_mbox(head):
            yield from mbox_messages(_rejoined(head, file))
        elif is_message(head) or (strict is False and head):
            yield head + file.read(MAILBOX_MESSAGE_BYTES - len(head))
        elif strict and head:
            raise BadFile(
                f"{name} is neither an mbox nor a message: it begins with {head[:30]!r}", hint=_HINT
            )
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadFile(
            f"{name} is compressed and damaged: {str(error)[:60]}",
            hint="copy it again: gzip -t tests it",
        ) from None


BLOCK: Final = 1 << 20
"""Bytes that are read at a time."""

LINE: Final = 400
"""Bytes that a line which parts messages may have."""

_TIME = re.compile(rb"[ T]\d{1,2}:\d\d")
"""A time of day, which the line before a message of an mbox holds."""
_YEAR = re.compile(rb"(?<!\d)(?:19|20)\d\d(?!\d)")
"""And a year: a sentence that begins with `From ` rarely holds both."""
_ESCAPED = re.compile(rb"^>(>*+From )", re.MULTILINE)
"""A line of a message that writers of mbox files have put a `>` before."""


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
