"""The words of a header, each with the name of its field.

head   bytes of a header in UTF-8; a line that begins with a space goes on with the one before
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from suffice.kernels.compilation import twin, worth_compiling

SAVED: Final = 4.0
"""ns that compiled loops save for each byte of mail."""

NAME: Final = 24
"""Bytes that a name may have to be a prefix."""

LONG: Final = b"head"
"""The prefix of fields whose names are longer."""

COLON: Final = 0x3A
"""What ends the name of a field."""

_IS_NAME = re.compile(rb"[!-9;-~]+")
"""A name has visible ASCII without a colon (RFC 5322, 2.2)."""


def _table() -> bytes:
    """Return what becomes of each byte of a field.

    Hosts and addresses stay whole: what joins their parts becomes an underscore, what parts words a
    space. Dashes, apostrophes and the signs that tokenizers keep stay as they are. So do colons,
    which end the name of a field, and line feeds, which end the field.
    """
    table = bytearray(range(256))
    for byte in b'"&(),;<=>@[\\]^`{|}~\t\r\x0b\x0c\x00':
        table[byte] = 0x20
    for byte in b"./+":
        table[byte] = 0x5F
    return bytes(table).lower()


TABLE: Final = _table()
"""What becomes of each byte of a field."""


class Rules:
    """What stands for the names of fields, as pairs (name, prefix), of which the first one counts.

    A name that ends in `*` stands for all names that begin so; a field whose prefix is empty is
    left out. All other fields have their name as prefix. Rules are known by what they are, not by
    what they hold, since they are looked up for every field.
    """

    __slots__ = ("pairs",)

    def __init__(self, *pairs: tuple[bytes, bytes]) -> None:
        self.pairs = pairs


def mail_pays(*_: object) -> bool:
    """Return whether a message is part of so much mail that compiled loops should read it."""
    return worth_compiling(0, SAVED)


# A stranger who sends one large message should not make anyone wait for a compiler.
@twin("suffice.kernels.mail.header_words_numba", when=mail_pays)
def header_words(head: bytes, rules: Rules) -> tuple[bytes, bool]:
    r"""Return the words in lower case, and whether there are lines that belong to no field.

    >>> header_words(b"To: You@example.com,\n bob\nX-Spam: no", Rules((b"x-spam*", b"")))
    (b' to_you to_example_com to_bob', False)
    """
    words, odd = [], False
    flat = head.replace(b"\n ", b" ").replace(b"\n\t", b" ")
    for line in flat.translate(TABLE).split(b"\n"):
        name, colon, value = line.partition(b":")
        prefix = _prefix(name, rules) if colon and len(name) <= 2 * NAME else None
        if prefix:
            words.append(prefix)
            words.append(prefix.join(value.replace(b":", b" ").split()))
        elif prefix is None:
            odd = odd or bool(line.strip(b" "))
    return b"".join(words), odd


@lru_cache(maxsize=4096)
def _prefix(name: bytes, rules: Rules) -> bytes | None:
    """Return what stands before each word of a field; nothing if it is not read, None if none."""
    name = name.rstrip(b" ")
    if not _IS_NAME.fullmatch(name):
        return None
    for known, prefix in rules.pairs:
        if name == known or (known[-1:] == b"*" and name.startswith(known[:-1])):
            return b" %b_" % prefix if prefix else b""
    return b" %b_" % (name if len(name) <= NAME else LONG)
