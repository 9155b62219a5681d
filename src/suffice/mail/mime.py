"""The parts of a message: containers opened, texts found, everything else counted."""

from __future__ import annotations

import binascii
import functools
import re
from dataclasses import dataclass, field
from typing import Final

from suffice.mail.charsets import decoded, from_base64
from suffice.mail.headers import other_lines
from suffice.mail.html_text import html_text
from suffice.mail.limits import DEPTH, PART_HEADER_BYTES, PARTS, TEXT_BYTES

PLAIN: Final = "text/plain"
"""What a part is that does not say what it is (RFC 2045)."""
HTML: Final = "text/html"
"""What a part is whose tags are taken out."""
PARAMETERS: Final = 4_000
"""Bytes that are looked at of a field that says what a part is."""

OPENED: Final = ("multipart/", "message/rfc822", "message/news", "message/global")
"""How the types of parts begin that hold other parts."""

_CONTENT = re.compile(
    rb"\n[Cc][Oo][Nn][Tt][Ee][Nn][Tt]-([A-Za-z-]{4,17}+)[ \t]*+:([^\n]*+(?:\n[ \t][^\n]*+)*+)"
)
"""A field of a header that says what a part is, with the lines that go on with it."""
_FIELD = re.compile(rb"[!-9;-~]++[ \t]*+:")
"""How a header begins."""
_KIND = re.compile(rb"\s*+([\w.+-]++/[\w.+-]++)")
"""The type of a part, before its parameters."""
_PARAMETER = re.compile(
    rb"""(?<![\w*-])(charset|boundary|name|filename)\*?0?\*?\s*+=\s*+(?:"([^"]*+)|([^\s;"]++))""",
    re.IGNORECASE,
)
"""A parameter of a type or of a disposition, in quotes or bare, numbered or not (RFC 2231)."""
_META = re.compile(rb"charset\s*+=\s*+[\"']?+([\w-]{2,40})", re.IGNORECASE)
"""Where a page itself says what character set it is in."""
_PAGE = re.compile(rb"\s{0,100}+<(?:!doctype\s{1,9}html|html|body|head)\b", re.IGNORECASE)
"""How a page begins, whatever type the part says it has."""
_END = re.compile(rb"(--)?[ \t]*+(?:\n|\Z)")
"""What follows a boundary: two dashes if it is the last, and the end of the line."""
_EXTENSION = re.compile(r"\.(\w{1,8})$")
"""The end of a file's name, by which attachments are known."""


@dataclass(slots=True)
class Reading:
    """What has been read of a message so far."""

    texts: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    room: int = TEXT_BYTES
    parts: int = PARTS
    truncated: bool = False

    def take_lines(self, lines: list[str]) -> None:
        """Keep lines of a header that are no fields: of a damaged one, or of none at all."""
        self.marks.append("defect:header")
        self.texts.append("\n".join(lines)[: self.room] + "\n")
        self.room -= min(self.room, sum(map(len, lines)))


def read_parts(head: bytes, body: bytes, reading: Reading) -> None:
    """Read a body as its header says, and the parts inside it, in their order."""
    waiting = [(head, body, 0)]
    while waiting:
        head, body, depth = waiting.pop()
        if not reading.parts:
            reading.truncated = True
            return
        reading.parts -= 1
        entity = Entity.of(head)
        if not entity.kind.startswith(OPENED):
            _read_leaf(entity, body, reading)
        elif depth == DEPTH:
            reading.marks.append("defect:depth")
            reading.truncated = True
        elif entity.kind.startswith("message/"):
            waiting.append((*_opened(_unpacked(body, entity, reading), reading), depth + 1))
        else:
            pieces = _pieces(body, entity, reading)
            waiting += [(*_opened(piece, reading), depth + 1) for piece in reversed(pieces)]


@dataclass(frozen=True, slots=True)
class Entity:
    """What the header of a part says about its body."""

    kind: str = PLAIN
    charset: str = ""
    boundary: bytes = b""
    encoding: str = ""
    filename: str = ""

    @classmethod
    def of(cls, head: bytes) -> Entity:
        """Read the fields that matter; the first of each name counts.

        >>> Entity.of(b'Content-Type: TEXT/html; charset="utf-8"').kind
        'text/html'
        """
        kind = encoding = disposition = b""
        for name, value in _CONTENT.findall(b"\n" + head):
            key = name.lower()
            if key == b"type":
                kind = kind or value[:PARAMETERS]
            elif key == b"transfer-encoding":
                encoding = encoding or value[:PARAMETERS]
            elif key == b"disposition":
                disposition = disposition or value[:PARAMETERS]
        return _entity(kind, encoding, disposition)


@functools.lru_cache(maxsize=256)
def _entity(kind: bytes, encoding: bytes, disposition: bytes) -> Entity:
    found = _KIND.match(kind)
    said = {b"charset": b"", b"boundary": b"", b"name": b"", b"filename": b""}
    for key, quoted, bare in _PARAMETER.findall(kind + b";" + disposition):
        said[key.lower()] = said[key.lower()] or quoted or bare
    return Entity(
        found[1].lower().decode("ascii") if found else PLAIN,
        said[b"charset"].strip(b"' ").decode("ascii", "replace"),
        said[b"boundary"].rstrip(),
        encoding.strip().lower().decode("ascii", "replace"),
        (said[b"filename"] or said[b"name"]).decode("utf_8", "replace"),
    )


def split_message(data: bytes) -> tuple[bytes, bytes]:
    r"""Return header and body, parted by the first empty line.

    >>> split_message(b"To: you\n\nHello"), split_message(b"\nHello"), split_message(b"To: you\n")
    ((b'To: you', b'Hello'), (b'', b'Hello'), (b'To: you\n', b''))
    """
    if data[:1] == b"\n":
        return b"", data[1:]
    head, _, body = data.partition(b"\n\n")
    return head, body


def begins_with_field(data: bytes) -> bool:
    """Return whether a header begins here.

    >>> begins_with_field(b"To: you"), begins_with_field(b"Dear you")
    (True, False)
    """
    return _FIELD.match(data) is not None


def _opened(piece: bytes, reading: Reading) -> tuple[bytes, bytes]:
    """Return header and body of a part; one that does not begin with a field has no header."""
    if piece[:1] == b"\n":
        return b"", piece[1:]
    if not begins_with_field(piece):
        reading.marks.append("defect:header")
        return b"", piece
    head, body = split_message(piece)
    if len(head) > PART_HEADER_BYTES:
        head = head[:PART_HEADER_BYTES]
        reading.truncated = True
    if others := other_lines(decoded(head)[0].encode("utf_8")):
        reading.take_lines(others)
    return head, body


def _pieces(body: bytes, entity: Entity, reading: Reading) -> list[bytes]:
    """Return the parts of a container; a container without any is read as if it were a text."""
    delimiter = b"\n--" + entity.boundary
    # One part more than may be read, so that the message knows that it was cut.
    found = (b"\n" + body).split(delimiter, reading.parts + 1) if entity.boundary else [body]
    pieces: list[list[bytes]] = []
    closed = False
    for piece in found[1:]:
        end = _END.match(piece)
        if end is not None:
            if end[1]:
                closed = True
                break
            pieces.append([piece[end.end() :]])
        elif pieces:  # a longer boundary, of a container inside this one
            pieces[-1] += delimiter, piece
    if not pieces:
        reading.marks.append("defect:boundary")
        return [b"\n" + body]
    if not closed:
        reading.marks.append("defect:unclosed")
    return [b"".join(piece) for piece in pieces]


def _unpacked(body: bytes, entity: Entity, reading: Reading) -> bytes:
    """Undo the transfer encoding."""
    encoding = entity.encoding
    if not encoding or encoding in ("7bit", "8bit", "binary"):
        return body
    if encoding.startswith("quoted"):
        return binascii.a2b_qp(body)
    if encoding.startswith("base64"):
        return from_base64(body)
    reading.marks.append("defect:encoding")
    return body


def _read_leaf(entity: Entity, body: bytes, reading: Reading) -> None:
    if not entity.kind.startswith("text/"):
        reading.marks.append("type:" + entity.kind)
        extension = _EXTENSION.search(entity.filename[-20:])
        if extension:
            reading.marks.append("file:" + extension[1].lower())
        return
    if not reading.room:
        reading.truncated = True
        return
    # Four bytes of base64 are three, and three of quoted-printable may be one.
    widest = 3 * reading.room
    data = _unpacked(body[:widest], entity, reading)
    if len(data) > reading.room or len(body) > widest:
        data = data[: reading.room]
        reading.truncated = True
    reading.room -= len(data)
    page = entity.kind == HTML or _PAGE.match(data) is not None
    charset = entity.charset
    if page and not charset and (meta := _META.search(data, 0, 2_000)):
        charset = meta[1].decode("ascii", "replace")
    text, fits = decoded(data, charset)
    if charset:
        reading.marks.append("charset:" + charset.lower())
    if not fits:
        reading.marks.append("defect:charset")
    if page:
        text, marks = html_text(text)
        reading.marks += marks
    reading.texts.append(text + "\n")
