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

_OPENING = re.compile(rb"<[A-Za-z!/?]")
"""Where a tag begins."""
_TAG = re.compile(rb"<([A-Za-z!/?][A-Za-z0-9]*+)([^<>]*+)>?+")
"""A whole tag: its name, and its attributes."""
_ENDS = {name: re.compile(b"</" + name, re.IGNORECASE) for name in UNREAD}
"""Where scripts and style sheets end."""
_ATTRIBUTE = re.compile(rb"""(?<![\w-])([a-z-]++)\s*+=\s*+["']?+([^\s"']++)""")
"""An attribute and its value. No part of these patterns that repeats gives back what it has taken,
so that no page takes long."""


# A stranger who sends one large message should not make anyone wait for a compiler.
@twin("suffice.kernels.mail.html_numba", when=mail_pays)
def page_text(page: bytes, most: int = FACTS) -> tuple[bytes, bytes]:
    r"""Return the text of a page, and its facts, `most` of them, one a line.

    >>> page_text(b'<p>Buy vi<!-- x -->agra<br>now, <font color="Red">cheap</font>')
    (b' Buy viagra now, cheap', b'p\nbr\nfont\ncolor=red\n')
    """
    pieces: list[bytes] = []
    facts: dict[bytes, None] = {}
    sought = {b"-->", *UNREAD}
    place = 0
    while (opening := _OPENING.search(page, place)) is not None:
        start = opening.start()
        pieces.append(page[place:start])
        if page.startswith(b"<!--", start):
            end = page.find(b"-->", start + 2) if b"-->" in sought else -1  # <!--> is whole
            place = end + 3
            if end < 0:
                sought.discard(b"-->")
                place = start + 4
            continue
        tag = _TAG.match(page, start)
        assert tag is not None  # what opens a tag is one, however it goes on
        place = tag.end()
        name = tag[1].lower()
        if name.lstrip(b"/")[:KEY] in PARTING:
            pieces.append(b" ")
        if name[0] >= 0x61:
            _note(facts, name[:NAME], most)
            for key, value in _ATTRIBUTE.findall(tag[2].lower()) if b"=" in tag[2] else ():
                if key[:KEY] in KEPT_KEYS:
                    _note(facts, key[:NAME] + b"=" + value[:VALUE], most)
        if name in sought:
            ended = _ENDS[name].search(page, place)
            if ended is None:
                sought.discard(name)
            else:
                place = ended.start()
    pieces.append(page[place:])
    return b"".join(pieces), b"".join(fact + b"\n" for fact in facts)


def _note(facts: dict[bytes, None], fact: bytes, most: int) -> None:
    if len(facts) < most:
        facts[fact] = None
