"""The header of a message or of a part: its fields, and the words that a filter learns from them.

    subject: Re: your order      subj_re subj_your subj_order
    from: Bob <bob@example.com>  from_bob from_bob from_example_com
    received: from a.b ([1.2])   rcvd_from rcvd_a_b rcvd_1_2

An underscore is part of a word, so that one pass of a tokenizer keeps them whole.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from suffice.kernels.mail import header_words as kernel
from suffice.mail.charsets import decoded, plain, sound
from suffice.mail.limits import HEADER_BYTES, HEADER_FIELDS

Headers = Literal["all", "some", "none"]

Field = tuple[str, str]

VERDICTS: Final = (
    b"x-spam*", b"x-suffice*", b"x-bogosity*", b"x-spambayes*", b"x-dspam*", b"x-crm114*",
    b"x-rspam*", b"x-ham-*", b"x-razor*", b"x-pyzor*", b"x-virus*", b"x-mailscanner*",
    b"x-amavis*", b"x-forefront*", b"x-ms-exchange-organization-scl", b"x-ironport-anti-spam*",
    b"x-barracuda*", b"x-proofpoint*", b"x-rbl-warning", b"x-status", b"x-mozilla-status*",
    b"x-keywords", b"x-uid", b"x-gmail-labels", b"status",
)  # fmt: skip
"""Fields in which a filter, or the reader, has said what a message is; `*` stands for any rest.

A filter that learned from them would learn the verdict, and not the message.
"""

SHORT: Final = {
    b"subject": b"subj",
    b"from": b"from",
    b"to": b"to",
    b"cc": b"to",
    b"bcc": b"to",
    b"reply-to": b"reply",
    b"return-path": b"rtrn",
    b"received": b"rcvd",
    b"message-id": b"msgid",
    b"references": b"refs",
    b"in-reply-to": b"refs",
    b"content-type": b"type",
    b"content-transfer-encoding": b"enc",
}
"""Prefixes of their own; other fields have their name as prefix."""

SOME: Final = tuple(
    b"subject from to cc reply-to content-type content-transfer-encoding mime-version x-mailer "
    b"user-agent organization x-priority x-msmail-priority importance precedence".split()
)
"""Fields that the writer of a message has set: they say nothing about where and when it was kept.

`headers="some"` reads these only. A filter for one mailbox profits from all of them; a comparison
between collections of mail does not, since fields such as Received tell the collections apart.
"""

RULES: Final[dict[Headers, kernel.Rules]] = {
    "all": kernel.Rules(*SHORT.items(), *((name, b"") for name in VERDICTS)),
    "some": kernel.Rules(*((name, SHORT.get(name, name)) for name in SOME), (b"*", b"")),
    "none": kernel.Rules((b"subject", b"subj"), (b"*", b"")),
}
"""Which fields are read, by the setting `headers`, and what stands before their words."""

_IS_NAME = re.compile(rb"[!-9;-~]+")
"""The name of a field: printable ASCII without blanks and colons (RFC 5322)."""


def readable(head: bytes) -> tuple[bytes, bool]:
    r"""Return a header in UTF-8, its encoded words read, and whether it was cut.

    >>> readable(b"Subject: =?latin1?q?caf=e9?=\n au lait\nTo: you")
    (b'Subject: caf\xc3\xa9 au lait\nTo: you', False)
    """
    cut = len(head) > HEADER_BYTES
    if cut:
        head = head[:HEADER_BYTES]
    if len(head) >= 2 * HEADER_FIELDS and head.count(b"\n") >= HEADER_FIELDS:
        head = unfolded(head)
        if head.count(b"\n") >= HEADER_FIELDS:
            head = b"\n".join(head.split(b"\n", HEADER_FIELDS)[:HEADER_FIELDS])
            cut = True
    if head.isascii() and b"=?" not in head:
        return head, cut
    text = decoded(unfolded(head))[0]
    if "=?" in text:
        text = "\n".join(map(plain, text.split("\n")))
    return sound(text).encode("utf_8"), cut


def unfolded(head: bytes) -> bytes:
    r"""Return a header with a line for each field.

    >>> unfolded(b"Subject: a\n b")
    b'Subject: a b'
    """
    flat = head.replace(b"\n ", b" ").replace(b"\n\t", b" ")
    return flat.replace(b"\r", b" ") if b"\r" in flat else flat


def fields_of(head: bytes) -> list[Field]:
    r"""Return the names and values of a readable header.

    >>> fields_of(b"Subject: a  b\nrubbish\nTo: you")
    [('Subject', 'a  b'), ('To', 'you')]
    """
    fields = []
    for line in unfolded(head).split(b"\n"):
        name, colon, value = line.partition(b":")
        if colon and _IS_NAME.fullmatch(name := name.rstrip()):
            fields.append((name.decode("ascii"), value.strip().decode("utf_8")))
    return fields


def other_lines(head: bytes) -> list[str]:
    r"""Return the lines of a readable header that are no fields.

    >>> other_lines(b"Subject: a b\nrubbish\nTo: you")
    ['rubbish']
    """
    others = []
    for line in unfolded(head).split(b"\n"):
        name, colon, _ = line.partition(b":")
        if not (colon and _IS_NAME.fullmatch(name.rstrip())) and line.strip():
            others.append(line.decode("utf_8"))
    return others


def header_words(head: bytes, headers: Headers) -> tuple[str, bool]:
    """Return the words of a readable header, and whether some of its lines are no fields.

    Words are in lower case, each with the prefix of its field.

    >>> header_words(b"To: You@example.com", "all")
    (' to_you to_example_com', False)
    >>> header_words(b"X-Spam-Status: Yes", "all")
    ('', False)
    """
    words, odd = kernel.header_words(head, RULES[headers])
    return words.decode("utf_8"), odd
