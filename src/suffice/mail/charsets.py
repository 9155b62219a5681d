"""Characters from bytes whose declared encoding may be wrong, in bodies and in headers."""

from __future__ import annotations

import binascii
import functools
import re
from encodings.aliases import aliases
from typing import Final

UNSAFE: Final = (
    "base64_codec", "bz2_codec", "hex_codec", "quopri_codec", "rot_13", "uu_codec", "zlib_codec",
    "idna", "mbcs", "oem", "palmos", "punycode", "raw_unicode_escape", "undefined",
    "unicode_escape", "unicode_internal",
)  # fmt: skip
"""Codecs that are no character sets. Some of them inflate what they are given, or warn."""

MEANT: Final = {
    "ascii": "utf_8",
    "chinesebig5": "big5hkscs",
    "big5": "big5hkscs",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859_1": "cp1252",
    "latin_1": "cp1252",
    "iso8859_9": "cp1254",
    "ksc56011987": "cp949",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "tis_620": "cp874",
    "utf8mb4": "utf_8",
    "windows31j": "cp932",
}
"""Codecs that hold what writers under this name really send: the choices of web browsers."""

OWN_NAMES: Final = (
    "big5", "big5hkscs", "cp037", "cp424", "cp437", "cp500", "cp720", "cp737", "cp775", "cp850",
    "cp852", "cp855", "cp856", "cp857", "cp858", "cp860", "cp861", "cp862", "cp863", "cp864",
    "cp865", "cp866", "cp869", "cp874", "cp932", "cp949", "cp950", "cp1006", "cp1125", "cp1140",
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258",
    "euc_jp", "euc_jis_2004", "euc_jisx0213", "euc_kr", "gb2312", "gb18030", "gbk", "hz",
    "iso2022_jp", "iso2022_jp_1", "iso2022_jp_2", "iso2022_jp_3", "iso2022_jp_2004",
    "iso2022_jp_ext", "iso2022_kr", "iso8859_1", "iso8859_2", "iso8859_3", "iso8859_4",
    "iso8859_5", "iso8859_6", "iso8859_7", "iso8859_8", "iso8859_9", "iso8859_10", "iso8859_11",
    "iso8859_13", "iso8859_14", "iso8859_15", "iso8859_16", "johab", "koi8_r", "koi8_t", "koi8_u",
    "kz1048", "latin_1", "mac_cyrillic", "mac_greek", "mac_iceland", "mac_latin2", "mac_roman",
    "mac_turkish", "ptcp154", "shift_jis", "shift_jis_2004", "shift_jisx0213", "tis_620", "utf_7",
    "utf_8", "utf_8_sig", "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le",
    "ascii",
)  # fmt: skip
"""Every character set that Python has: nothing else is ever asked for, or imported."""

STATEFUL: Final = (
    "utf_7",
    "utf_16",
    "utf_32",
    "iso2022",
    "hz",
    "cp037",
    "cp424",
    "cp500",
    "cp1140",
)
"""Codecs in which the bytes below 128 are not always ASCII."""

MOST_WRONG: Final = 20
"""One character in so many may be wrong before a declared encoding is not believed."""

_NOISE = re.compile(r"[^a-z0-9]|^x-|charset$")
"""What writers put into names of character sets, and what they put around them."""
_KNOWN = {
    _NOISE.sub("", name.lower().replace("_", "-")): codec
    for name, codec in [*aliases.items(), *((name, name) for name in OWN_NAMES)]
    if codec not in UNSAFE
} | {name.replace("_", ""): codec for name, codec in MEANT.items()}
"""Codecs by their names without that noise; those that read no text (`UNSAFE`) are not among
them."""


@functools.lru_cache(maxsize=512)
def codec_of(charset: str) -> str:
    """Return the codec that a declared charset means; nothing if there is none.

    >>> codec_of("ISO-8859-1"), codec_of("gb2312_charset"), codec_of("unknown-8bit")
    ('cp1252', 'gb18030', '')

    Names of codecs that are no character sets, such as zip, mean nothing.

    >>> codec_of("zip"), codec_of("unicode_escape"), codec_of("../../passwd")
    ('', '', '')
    """
    codec = _KNOWN.get(_NOISE.sub("", charset[:40].lower().replace("_", "-")), "")
    return MEANT.get(codec, codec)


def decoded(data: bytes, charset: str = "") -> tuple[str, bool]:
    r"""Return the characters of some bytes, and whether they are in the charset declared for them.

    The chain is: as declared, UTF-8, Windows' Latin, Latin-1, which reads everything. A charset of
    several bytes a character is still believed if few of them are wrong: half a character at the
    end should not turn a Chinese text into accents.

    >>> decoded(b"caf\xc3\xa9", "utf-8"), decoded(b"caf\xe9", "us-ascii"), decoded(b"a\x81\xe9")
    (('café', True), ('café', False), ('a\x81é', True))
    """
    codec = codec_of(charset) if charset else ""
    if data.isascii() and not codec.startswith(STATEFUL):
        return data.decode("ascii"), bool(codec or not charset)
    if codec:
        try:
            return data.decode(codec), True
        except UnicodeError:
            pass
        if not codec.startswith(("cp12", "iso88", "utf_8", "ascii")):
            found = data.decode(codec, "replace")
            if found.count("\ufffd") * MOST_WRONG <= len(found):
                return found, False
    for fallback in ("utf_8", "cp1252"):
        try:
            return data.decode(fallback), not charset
        except UnicodeError:
            pass
    return data.decode("latin_1"), not charset


def sound(text: str) -> str:
    r"""Return a text that can be written as UTF-8: halves of characters become question marks.

    >>> sound("a\ud800b")
    'a?b'
    """
    if text.isascii():
        return text
    try:
        text.encode("utf_8")
    except UnicodeEncodeError:
        return text.encode("utf_8", "replace").decode("utf_8")
    return text


_HEAD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?")
"""How an encoded word of a header begins (RFC 2047): its character set, and base64 or
quoted-printable."""


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
"""All bytes of 256 but the alphabet of RFC 4648, section 4: such bytes are skipped (RFC 2045,
6.8)."""


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
