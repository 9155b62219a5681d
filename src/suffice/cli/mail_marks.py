r"""The header that says what the filter thinks: put on a message, all other bytes as they were."""

from __future__ import annotations

import re

FIELD = "X-Suffice"
_OLD = re.compile(
    rb"^x-suffice[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE
)
_END = re.compile(rb"^\r?\n", re.MULTILINE)


def marked(raw: bytes, verdict: str, probability: float) -> bytes:
    r"""Return a message with the field X-Suffice at its top, in place of any that it has.

    The line in which an mbox has its envelope stays the first. Lines end as the first one does.

    >>> marked(b"From bob 12:36 2002\r\nTo: you\r\nx-suffice: ham\r\n\r\nHi\r\n", "spam", .998)
    b'From bob 12:36 2002\r\nX-Suffice: spam, probability=0.998\r\nTo: you\r\n\r\nHi\r\n'
    """
    first = raw.find(b"\n")
    ending = b"\r\n" if first > 0 and raw[first - 1 : first] == b"\r" else b"\n"
    top = first + 1 if raw.startswith((b"From ", b">From ")) and first >= 0 else 0
    blank = _END.search(raw, top)
    end = blank.start() if blank else len(raw)
    field = f"{FIELD}: {verdict}, probability={probability:.3f}".encode("ascii")
    rest = _OLD.sub(b"", raw[top:end]) + raw[end:]
    if rest.startswith((b" ", b"\t")):
        field += ending  # no header, but what would be taken for the rest of this one
    return raw[:top] + field + ending + rest
