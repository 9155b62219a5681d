r"""What a token is, character by character, and documents as bytes that a loop can read.

A token is a maximal run of word characters (`\w`, the apostrophe and the hyphen) or a maximal run
of the marks `$£€!?%*#@`. No character is both, so a token is a run of characters of one kind.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Places = NDArray[np.int64]

MARKS = "$£€!?%*#@"
"""What stands in runs by itself: prices and shouting tell mail apart."""

PATTERN = re.compile(rf"[\w'-]+|[{MARKS}]+")
"""Python's own words for the same: what every loop has to agree with."""

NOTHING, WORD, MARK = 0, 1, 2
"""Kinds of characters."""

CHARACTERS = sys.maxunicode + 1
"""How many there are in Unicode."""

PADDING = 72
"""Bytes after the last one that may be read, and are zero: a loop takes up to 64 at once."""


def text_of(document: str | bytes) -> str:
    r"""Return a document as text: bytes are UTF-8, and where they cannot be, latin-1.

    >>> text_of(b"caf\xc3\xa9"), text_of(b"caf\xe9")
    ('café', 'café')
    """
    if isinstance(document, str):
        return document
    try:
        return document.decode("utf-8")
    except UnicodeDecodeError:
        return document.decode("latin-1")


@functools.cache
def character_kinds() -> Bytes:
    """Return the kind of every character there is, as Python's `re` sees it."""
    codes = np.arange(CHARACTERS, dtype="<u4").tobytes()
    everything = codes.decode("utf-32-le", "surrogatepass")
    kinds = np.zeros(CHARACTERS, dtype=np.uint8)
    for run in re.finditer(r"[\w'-]+", everything):
        kinds[run.start() : run.end()] = WORD
    kinds[[ord(mark) for mark in MARKS]] = MARK
    kinds.flags.writeable = False
    return kinds


def packed(documents: Sequence[str | bytes], lower: bool) -> tuple[Bytes, Places]:
    """Return the bytes of all documents as UTF-8, a zero byte around each, and where each ends.

    A zero byte belongs to no token: so none reaches from one document into the next. Capitals of
    documents beyond ASCII are lowered here, by Python; those of ASCII are left to the loop, which
    is quicker.
    """
    whole = None
    if set(map(type, documents)) == {str}:
        text = "\0".join(["", *documents, ""])  # type: ignore[list-item]
        if text.isascii():
            whole, lengths = text.encode("ascii"), map(len, documents)
    if whole is None:
        pieces = [encoded(document, lower) for document in documents]
        whole, lengths = b"\0".join([b"", *pieces, b""]), map(len, pieces)
    ends = np.fromiter(lengths, np.int64, len(documents)) + 1
    return np.frombuffer(whole, np.uint8), np.cumsum(ends, out=ends)


def encoded(document: str | bytes, lower: bool) -> bytes:
    """Return a document as UTF-8, lowered if it is to be and is more than ASCII."""
    if document.isascii():
        return document if isinstance(document, bytes) else document.encode("ascii")
    text = text_of(document)
    return (text.lower() if lower else text).encode("utf-8", "surrogatepass")
