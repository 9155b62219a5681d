"""Messages that were made to cost time or memory, and ways to damage a sound one."""

from __future__ import annotations

import base64
import gzip
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable


def _html(content: bytes) -> bytes:
    return b"Subject: a\nContent-Type: text/html\n\n" + content


def _nested(depth: int) -> bytes:
    head = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(depth)
    )
    return head + b"\nend\n"


def _fill(piece: bytes, size: int) -> bytes:
    return piece * (size // len(piece))


MULTIPART = b"Content-Type: multipart/mixed; boundary=b\n\n"

HOSTILE: dict[str, Callable[[int], bytes]] = {
    "nothing": lambda n: b"",
    "a line feed": lambda n: b"\n",
    "NUL bytes": bytes,
    "every byte": lambda n: bytes(range(256)) * (n // 256),
    "semicolons": lambda n: b"Content-Type: " + _fill(b";", n) + b"\n\ntext",
    "quotes": lambda n: b'Content-Type: text/plain; charset="' + _fill(b'"=', n) + b"\n\ntext",
    "parameters": lambda n: b"Content-Type: a/b; " + _fill(b"charset=a; name*0*=", n) + b"\n\nx",
    "parentheses": lambda n: b"To: " + _fill(b'(<"', n) + b"\n\ntext",
    "a long name": lambda n: _fill(b"a", n) + b": b\n\ntext",
    "a long line": lambda n: b"Subject: " + _fill(b"a", n) + b"\n\ntext",
    "many fields": lambda n: _fill(b"a: b\n", n) + b"\ntext",
    "many names": lambda n: b"".join(b"x-%d: b\n" % i for i in range(n // 10)) + b"\ntext",
    "empty fields": lambda n: _fill(b":\n", n) + b"\ntext",
    "folded lines": lambda n: b"Subject: a" + _fill(b"\n a", n) + b"\n\ntext",
    "blank folds": lambda n: b"Subject: a" + _fill(b"\n ", n) + b"\n\ntext",
    "one-letter words": lambda n: b"content-transfer-encodin: " + _fill(b"a ", n) + b"\n\ntext",
    "lines that are no fields": lambda n: _fill(b"a\n", n) + b"\ntext",
    "encoded words": lambda n: b"Subject: " + _fill(b"=?utf-8?q?=41?= ", n) + b"\n\ntext",
    "encoded words without end": lambda n: b"Subject: " + _fill(b"=?a?q?", n) + b"\n\ntext",
    "openings of encoded words": lambda n: b"Subject: " + _fill(b"=?", n) + b"\n\ntext",
    "halves of characters": lambda n: b"Subject: =?utf-7?q?+2AA-?=\n\n\xed\xa0\x80",
    "a charset of no characters": lambda n: (
        b"Content-Type: text/plain; charset=zlib\n\n" + gzip.compress(bytes(n))
    ),
    "a charset of escapes": lambda n: (
        b"Content-Type: text/plain; charset=unicode_escape\n\n\\ud800\\x\\N{"
    ),
    "a charset of domains": lambda n: (
        b"Content-Type: text/plain; charset=punycode\n\n" + _fill(b"a-", n)
    ),
    "a charset of seven bits": lambda n: (
        b"Content-Type: text/plain; charset=utf-7\n\n" + _fill(b"+2AA-+AAA", n)
    ),
    "a wide charset": lambda n: (
        b"Content-Type: text/html; charset=utf-16\n\n" + _fill(b"\xd8\x00<", n)
    ),
    "deep nesting": lambda n: _nested(n // 50),
    "one boundary inside itself": lambda n: MULTIPART + _fill(b"--b\n" + MULTIPART, n),
    "many parts": lambda n: MULTIPART + _fill(b"--b\n\na\n", n),
    "many empty parts": lambda n: MULTIPART + _fill(b"--b\n", n),
    "almost boundaries": lambda n: MULTIPART + b"--b\n" + _fill(b"\n--bb", n),
    "an empty boundary": lambda n: (
        b'Content-Type: multipart/mixed; boundary=""\n\n' + _fill(b"\n--", n)
    ),
    "no boundary": lambda n: b"Content-Type: multipart/mixed\n\n" + _fill(b"--\n", n),
    "messages in messages": lambda n: _fill(b"Content-Type: message/rfc822\n\n", n) + b"text",
    "rubbish for base64": lambda n: (
        b"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n" + _fill(b"!=A", n)
    ),
    "a letter of base64": lambda n: b"Content-Transfer-Encoding: base64\n\nA",
    "rubbish for quoted-printable": lambda n: (
        b"Content-Transfer-Encoding: quoted-printable\n\n" + _fill(b"=\r=Z=", n)
    ),
    "a bomb": lambda n: (
        MULTIPART + b"--b\nContent-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n"
        + base64.encodebytes(gzip.compress(bytes(10 * n))) + b"\n--b--\n"
    ),
    "open brackets": lambda n: _html(_fill(b"<", n)),
    "open tags": lambda n: _html(_fill(b"<a ", n)),
    "open comments": lambda n: _html(_fill(b"<!--", n)),
    "comments and ends": lambda n: _html(_fill(b"<!--", n) + _fill(b"-->", n)),
    "open scripts": lambda n: _html(_fill(b"<script>", n)),
    "scripts and styles": lambda n: _html(_fill(b"<script><style>", n)),
    "references": lambda n: _html(_fill(b"&#", n)),
    "a long reference": lambda n: _html(b"&#" + _fill(b"9", n)),
    "named references": lambda n: _html(_fill(b"&abcdefghi", n)),
    "attributes": lambda n: _html(b"<a " + _fill(b"a ", n) + b">"),
    "equals signs": lambda n: _html(b"<a " + _fill(b"a=", n) + b">"),
    "values": lambda n: _html(b"".join(b"<a href=http://h%d.com>" % i for i in range(n // 25))),
    "a long attribute": lambda n: _html(b"<a " + _fill(b"h", n) + b"=b>"),
    "spaces in a tag": lambda n: _html(b"<a " + _fill(b"a" + b" " * 1_000, n) + b">"),
    "addresses": lambda n: b"\n" + _fill(b"://", n),
    "addresses with users": lambda n: b"\n" + _fill(b"://a@", n),
    "www": lambda n: b"\n" + _fill(b"www.", n),
    "carriage returns": lambda n: _fill(b"\r", n),
    "wide letters": lambda n: _html("İſ".encode() * (n // 5)),
}  # fmt: skip
"""What a stranger may send, by what is wrong with it; most of it about as long as asked for."""

TEMPLATE = b"""\
From bob@example.com Thu Aug 22 12:36:23 2002
Return-Path: <bob@example.com>
Received: from mail.example.com ([192.0.2.7]) by mx.example.org; Thu, 22 Aug 2002 12:36:20 +0100
From: =?iso-8859-1?Q?B=F6b?= <bob@example.com>
To: alice@example.org
Subject: =?utf-8?B?SGVsbG8gd29ybGQ=?= again
X-Spam-Status: No
MIME-Version: 1.0
Content-Type: multipart/mixed;
\tboundary="outer"

preamble
--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Caf=C3=A9 for $5!!! See http://www.shop.example.co.uk/now and=
 more.
--inner
Content-Type: text/html; charset="gb2312"
Content-Transfer-Encoding: base64

PGh0bWw+PGJvZHkgYmdjb2xvcj1yZWQ+PHA+vNLQxQ==
--inner--
--outer
Content-Type: application/pdf; name="bill.pdf"
Content-Disposition: attachment; filename="bill.pdf"
Content-Transfer-Encoding: base64

JVBERi0xLjQK
--outer
Content-Type: message/rfc822

Subject: inside
Content-Type: text/html

<p>A <b>le</b>tter &amp; <!-- no --><a href="http://example.net/x">more</a><img src=//cdn.net/a>
--outer--
"""

INJECTED = (
    b"Content-Type: text/html; charset=utf-16\n", b"Content-Transfer-Encoding: base64\n",
    b"Content-Type: multipart/mixed; boundary=b\n", b"Content-Type: message/rfc822\n",
    b"Content-Transfer-Encoding: quoted-printable\n", b"Subject: =?gb2312?B?", b"Subject:\n",
    b"Content-Type: text/plain; charset=iso-2022-jp\n", b"\n\n", b"\r\n", b"<!--", b"<script>",
    b"--", b"&#1114112;", b"\x00", b"=?", b"?=", b": ", b"\n ", b"http://", b"Content-Type: ;;;;\n",
    b"Content-Type: text/html; charset=utf-7\n", b"From a 1:02 2003\n",
)  # fmt: skip


def mutated(message: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return a message with one to four damages: what mail programs, lines and strangers do."""
    data = bytearray(message)
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randint(0, len(data)) for _ in range(2))
        end = min(end, at + rng.choice((1, 30, 1_000, 10**9)))
        match rng.randrange(8):
            case 0:  # bytes are changed
                for _ in range(rng.choice((1, 10, 200))):
                    if data:
                        data[rng.randrange(len(data))] = rng.randrange(256)
            case 1:  # a stretch is lost
                del data[at:end]
            case 2:  # a stretch comes more than once
                data[at:at] = data[at : min(end, at + 20_000)] * rng.randint(1, 5)
            case 3:  # the rest of another message follows
                data[at:] = other[rng.randint(0, len(other)) :]
            case 4:  # something is put in at the beginning of a line
                line = data.find(b"\n", at) + 1
                data[line:line] = rng.choice(INJECTED)
            case 5:  # boundaries are changed
                mark = data.find(b"--", at)
                if mark >= 0:
                    data[mark + 2 : mark + rng.randint(2, 6)] = rng.choice(
                        (b"", b"-", b"b\n", b"\n")
                    )
            case 6:  # the end is missing
                del data[at:]
            case _:  # line ends are changed
                data = data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b" \n")), 50)
    return bytes(data)
