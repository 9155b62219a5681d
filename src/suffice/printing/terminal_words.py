"""Words on a terminal: on one line, as wide as they look, cut or wrapped where they must be."""

from __future__ import annotations

import textwrap
import unicodedata

WIDTH = 100
"""No line of a printed result is wider."""


def printable(word: object) -> str:
    r"""Return a word on one line: what would move the cursor is written out.

    >>> print(printable("two\nlines"))
    two\nlines
    """
    text = str(word)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def width(text: str) -> int:
    """Return how many places a text takes on a terminal: two for East Asian characters.

    >>> width("ab"), width("体重"), width("e\u0301")
    (2, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def cut(text: str, places: int) -> str:
    """Return a text that takes at most so many places, its end replaced by … where it does not fit.

    >>> cut("a very long name", 8)
    'a very …'
    """
    if width(text) <= places:
        return text
    text = text[: 4 * places]  # enough, however many accents it carries
    while text and width(text) > places - 1:
        text = text[:-1]
    return text + "…"


def wrapped(text: str, indent: int = 0) -> str:
    """Return a sentence in lines of at most 100 places, of which some are kept for an indent."""
    text, most = printable(text), WIDTH - indent
    if width(text) <= most:
        return text
    # Lines are measured in characters here: where some take two places, half as many are safe.
    return "\n".join(textwrap.wrap(text, most if width(text) <= len(text) else most // 2))
