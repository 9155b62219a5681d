"""Headers in other alphabets: `=?utf-8?Q?caf=C3=A9?=` is café (RFC 2047)."""

from __future__ import annotations

import binascii
import re

from suffice.text.charsets import decoded

_HEAD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?")


def plain(value: str) -> str:
    """Return the value of a header with its encoded words read; what cannot be read stays.

    >>> plain("=?iso-8859-1?Q?Caf=E9?= =?ISO-8859-1?b?IGF1IGxhaXQ=?= please =?x?q?")
    'Café au lait please =?x?q?'

    Words of one charset that touch are read together: a character may begin in one of them and end
    in the next. Every character is looked at once; no end that was not found is searched again.
    """
    if "=?" not in value:
        return value
    pieces: list[str] = []
    held, charset, place = b"", "", 0
    while (found := _HEAD.search(value, place)) is not None:
        end = value.find("?=", found.end())
        if end < 0:
            break
        between = value[place : found.start()]
        language = found[1].partition("*")[0].lower()
        if held and (language != charset or between.strip()):
            pieces.append(decoded(held, charset)[0])
            held = b""
        if between.strip() or not (pieces or held):
            pieces.append(between)
        charset = language
        held += _unpacked(value[found.end() : end], found[2])
        place = end + 2
    if held:
        pieces.append(decoded(held, charset)[0])
    pieces.append(value[place:])
    return "".join(pieces).replace("\n", " ").replace("\r", " ")


def _unpacked(word: str, how: str) -> bytes:
    data = word.encode("utf_8", "replace")
    return from_base64(data) if how in "bB" else binascii.a2b_qp(data, header=True)


_NOT_BASE64 = bytes(
    set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
)


def from_base64(data: bytes) -> bytes:
    """Return what base64 holds, as far as it holds anything: rubbish in between is left out.

    >>> from_base64(b"aGVsbG8="), from_base64(b"aGVs!bG8"), from_base64(b"aGVsb")
    (b'hello', b'hello', b'hel')
    """
    try:
        return binascii.a2b_base64(data)
    except binascii.Error:
        kept = data.translate(None, _NOT_BASE64)
        if len(kept) % 4 == 1:
            kept = kept[:-1]
        return binascii.a2b_base64(kept + b"==")
