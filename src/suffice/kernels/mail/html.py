"""What an HTML page shows and what its tags say.

page   bytes of a page, in any charset that leaves ASCII as it is

The text is what lies between the tags: scripts, style sheets and comments are left out, tags that
part words become a space, others nothing. The facts are names of tags (`font`) and attributes worth
keeping (`color=red`), in lower case, each once, in the order in which they come.

In Python, which is the form to read first, every search is for something that ends at the next
angle bracket, or is not made again once it has found nothing: the time is linear in the page,
whatever it holds.
"""

from __future__ import annotations

import functools
import re
from typing import Final

from suffice.kernels.compilation import twin
from suffice.kernels.mail.header_words import mail_pays

FACTS: Final = 400
"""Facts of a page that are kept."""

BLOCKS: Final = frozenset(
    b"address area article aside audio base basefont blockquote body br button canvas caption "
    b"center col colgroup dd dir div dl dt embed fieldset figcaption figure footer form frame "
    b"frameset h1 h2 h3 h4 h5 h6 head header hr html iframe img input isindex layer legend li link "
    b"main map marquee menu meta nav noframes noscript object ol optgroup option p param plaintext "
    b"pre section select table tbody td textarea tfoot th thead title tr ul video !doctype".split()
)
"""Tags that part words. All others do not: `vi<b></b>agra` is read as it is seen."""

UNREAD: Final = (b"script", b"style")
"""Tags whose content is not shown."""

KEPT: Final = frozenset(
    b"href src action background lowsrc color bgcolor size face width height".split()
)
"""Attributes whose values are kept: a filter profits from hosts, and from large red letters."""

KEY: Final = 8
"""Bytes of a name that are looked at to know it: as many as one register holds."""

NAME: Final = 16
"""Bytes of a tag's name that are kept."""

VALUE: Final = 120
"""Bytes of an attribute's value that are kept."""

PARTING: Final = frozenset(name[:KEY] for name in BLOCKS)
"""What is looked at of the names of tags that part words,"""
KEPT_KEYS: Final = frozenset(name[:KEY] for name in KEPT)
"""and of the names of attributes that are kept."""

_TAG = re.compile(rb"(<[A-Za-z!/?][^<>]*+>?+)")
"""A whole tag: no tag holds the beginning of another one."""
_PARTS = re.compile(rb"<([A-Za-z!/?][A-Za-z0-9]*+)([^<>]*+)")
"""Its name, and its attributes."""
_ENDS = {name: re.compile(b"</" + name, re.IGNORECASE) for name in UNREAD}
"""Where scripts and style sheets end."""
_ATTRIBUTE = re.compile(rb"""(?<![\w-])([a-z-]++)\s*+=\s*+["']?+([^\s"']++)""")
"""An attribute and its value. No part of these patterns that repeats gives back what it has taken,
so that no page takes long."""
COMMENT: Final = b"<!--"
"""How a comment begins,"""
COMMENT_END: Final = b"-->"
"""and how it ends."""
USUAL_TAG: Final = 80
"""Bytes up to which a tag is worth remembering: longer ones hardly come again."""


@functools.lru_cache(maxsize=8)
def _hiding(sought: frozenset[bytes]) -> re.Pattern[bytes]:
    """Return what finds the beginning of a comment, and the tags after which nothing is shown."""
    names = b"".join(
        b"|<(" + name + b")(?![A-Za-z0-9])[^<>]*+>?+" for name in UNREAD if name in sought
    )
    return re.compile(COMMENT + names, re.IGNORECASE)


# A stranger who sends one large message should not make anyone wait for a compiler.
@twin("suffice.kernels.mail.html_numba", when=mail_pays)
def page_text(page: bytes, most: int = FACTS) -> tuple[bytes, bytes]:
    r"""Return the text of a page, and its facts, `most` of them, one a line.

    >>> page_text(b'<p>Buy vi<!-- x -->agra<br>now, <font color="Red">cheap</font>')
    (b' Buy viagra now, cheap', b'p\nbr\nfont\ncolor=red\n')
    """
    pieces: list[bytes] = []
    facts: dict[bytes, None] = {}
    sought = {COMMENT_END, *UNREAD}
    place = 0
    while (hiding := _hiding(frozenset(sought)).search(page, place)) is not None:
        start = hiding.start()
        if hiding[0] == COMMENT:
            _read(page[place:start], pieces, facts, most)
            end = page.find(COMMENT_END, start + 2) if COMMENT_END in sought else -1
            place = end + len(COMMENT_END)  # <!--> is whole
            if end < 0:
                sought.discard(COMMENT_END)
                place = start + len(COMMENT)
            continue
        place, before = hiding.end(), place
        _read(page[before:place], pieces, facts, most)
        name = hiding[hiding.lastindex or 0].lower()
        ended = _ENDS[name].search(page, place)
        if ended is None:
            sought.discard(name)
        else:
            place = ended.start()
    _read(page[place:], pieces, facts, most)
    return b"".join(pieces), b"".join(fact + b"\n" for fact in facts)


def _read(page: bytes, pieces: list[bytes], facts: dict[bytes, None], most: int) -> None:
    """Read what is shown of a page: its text without the tags, and what each tag says, once."""
    parts = _TAG.split(page)
    if len(parts) > 1:
        shown = {}
        for tag in dict.fromkeys(parts[1::2]):
            shown[tag], said = _known_tag(tag) if len(tag) <= USUAL_TAG else _tag(tag)
            for fact in said:
                if len(facts) < most:
                    facts[fact] = None
        parts[1::2] = map(shown.__getitem__, parts[1::2])
    pieces += parts


def _tag(tag: bytes) -> tuple[bytes, list[bytes]]:
    """Return what is seen of a tag, and its facts."""
    parts = _PARTS.match(tag)
    assert parts is not None  # what opens a tag is one, however it goes on
    name = parts[1].lower()
    facts = []
    if name[0] >= 0x61:
        facts.append(name[:NAME])
        for key, value in _ATTRIBUTE.findall(parts[2].lower()) if b"=" in parts[2] else ():
            if key[:KEY] in KEPT_KEYS:
                facts.append(key[:NAME] + b"=" + value[:VALUE])
    return b" " if name.lstrip(b"/")[:KEY] in PARTING else b"", facts


_known_tag = functools.lru_cache(maxsize=8192)(_tag)
"""The same of tags of usual length, most of which are met again."""
