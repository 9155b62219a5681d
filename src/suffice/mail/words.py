"""A raw message as the words that a filter learns from. Nothing that arrives makes it fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.errors import BadSetting
from suffice.kernels.compilation import part_of
from suffice.mail.charsets import sound
from suffice.mail.headers import Field, Headers, fields_of, header_words, other_lines, readable
from suffice.mail.html_text import host_marks
from suffice.mail.limits import MARK_CHARACTERS, MARKS, MESSAGE_BYTES
from suffice.mail.mailboxes import parts_messages
from suffice.mail.mime import Reading, begins_with_field, read_parts, split_message
from suffice.models.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_KEPT = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_'-:./+\n"
"""Bytes that marks of a message may hold: what hosts, tags and types are written in."""
_DROPPED = bytes(set(range(256)) - set(_KEPT))
"""All other bytes of 256."""
_AS_WORDS = bytes.maketrans(b":./+\n", b"____ ")
"""Makes one word of a mark, and a blank of each line that parts two of them."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a message says.

    `text` is that of all its text parts, `marks` are the facts that are no words of it: hosts it
    points to, tags it uses, types of its attachments, charsets, defects. `truncated` says that the
    message is longer than what is looked at (see `mail_limits`).
    """

    headers: tuple[Field, ...]
    subject: str
    text: str
    marks: tuple[str, ...]
    truncated: bool


def read_message(raw: bytes) -> Message:
    r"""Return what a raw message says; bytes that are no message are text without a header.

    >>> message = read_message(b"Subject: =?utf-8?q?caf=C3=A9?=\n\nSee http://example.com/")
    >>> message.subject, message.text, message.marks
    ('café', 'See http://example.com/\n', ('url:example.com',))
    """
    head, _, reading = _read(raw, "none")
    fields = fields_of(head)
    return Message(
        tuple(fields),
        next((value for name, value in fields if name.lower() == "subject"), ""),
        sound("".join(reading.texts)),
        tuple(_marks(reading).decode("ascii").split()),
        reading.truncated,
    )


def message_text(raw: bytes, headers: Headers = "all") -> str:
    r"""Return one string for tokenizers: words of the header, marks, and the text.

    Words of the header have a prefix, and marks are written as words; both stay whole.

    >>> message_text(b"Subject: Hi Bob\nX-Spam: no\n\nSee http://a.example.com/")
    ' subj_hi subj_bob url_a_example_com url_example_com\nSee http://a.example.com/\n'

    `headers` is "all", "some" (those that the writer has set) or "none" (the subject alone).
    Fields in which a filter has noted its verdict are never read.
    """
    if headers not in ("all", "some", "none"):
        raise BadSetting(
            f"headers={headers!r} is not known", hint='use headers="all", "some" or "none"'
        )
    _, words, reading = _read(raw, headers)
    marks = _marks(reading).translate(_AS_WORDS).decode("ascii")
    return sound(f"{words} {marks}\n{''.join(reading.texts)}")


def message_texts(raws: Iterable[bytes], headers: Headers = "all") -> Iterator[str]:
    r"""Yield `message_text` of one message after the other, with compiled loops if there are many.

    >>> list(message_texts([b"Subject: Hi\n\nBob", b""], headers="none"))
    [' subj_hi \nBob\n', ' \n\n']
    """
    seen = 0
    for raw in raws:
        seen += len(raw)
        with part_of(seen):
            text = message_text(raw, headers)
        yield text


def mail_terms(raw: bytes, headers: Headers = "all") -> list[str]:
    r"""Return the terms of a message, in their order: those of `message_text`, in lower case.

    >>> mail_terms(b"From: bob@example.com\n\nWIN $$$ now!")
    ['from_bob', 'from_example_com', 'win', '$$$', 'now', '!']
    """
    return Tokens().tokens_of(message_text(raw, headers))


def _read(raw: bytes, headers: Headers) -> tuple[bytes, str, Reading]:
    """Return the header of a message, the words of it that are asked for, and its parts."""
    reading = Reading()
    data = bytes(raw[:MESSAGE_BYTES])
    reading.truncated = len(raw) > MESSAGE_BYTES
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r\n", b"\n")  # two of them are met as well
        if b"\n" not in data:
            data = data.replace(b"\r", b"\n")
    if data.startswith((b"From ", b">From ")):
        data = _without_envelope(data)
    head, body = split_message(data)
    head, cut = readable(head)
    reading.truncated |= cut
    words, odd = header_words(head, headers)
    if odd and (others := other_lines(head)):
        reading.take_lines(others)
    read_parts(head, body, reading)
    reading.marks += host_marks("url", "".join(reading.texts))
    return head, words, reading


def _without_envelope(data: bytes) -> bytes:
    """Leave out the line that an mbox, or a mail program, has put before the header."""
    line, _, rest = data.partition(b"\n")
    return rest if begins_with_field(rest) or parts_messages(line.lstrip(b">")) else data


def _marks(reading: Reading) -> bytes:
    """Return the marks, one a line, each once, without a space in them."""
    marks = [mark[:MARK_CHARACTERS] for mark in dict.fromkeys(reading.marks)][:MARKS]
    return "\n".join(marks).encode("ascii", "ignore").translate(None, _DROPPED)
