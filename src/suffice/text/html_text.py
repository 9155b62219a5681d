"""The text of an HTML page, and what its tags tell a filter: in linear time, whatever the page."""

from __future__ import annotations

import html.entities
import re
from typing import Final

from suffice.kernels.mail.html import BLOCKS, page_text
from suffice.text.charsets import sound
from suffice.text.hosts import host_marks

INLINE: Final = frozenset((
    "a", "abbr", "acronym", "applet", "b", "bdo", "big", "blink", "cite", "code", "del", "dfn",
    "em", "font", "i", "ins", "kbd", "label", "nobr", "q", "s", "samp", "script", "small", "span",
    "strike", "strong", "style", "sub", "sup", "tt", "u", "var", "wbr",
))  # fmt: skip
"""Tags that part nothing; a tag in neither list is odd."""

KNOWN: Final = INLINE | {name.decode("ascii") for name in BLOCKS}

LINKS: Final = frozenset(("href", "action"))
IMAGES: Final = frozenset(("src", "background", "lowsrc"))

LOOK: Final = 24
"""Characters that are kept of the value of an attribute that says how something looks."""

_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9]{1,9}));?+")


def html_text(page: str) -> tuple[str, list[str]]:
    """Return the text of a page and its marks: tags, looks, hosts of links and of images.

    >>> html_text('<p>Buy vi<!-- x -->agra<br>now &amp; <a href="http://a.example.com/x">here</a>')
    (' Buy viagra now & here', ['html:p', 'html:br', 'html:a', 'url:a.example.com',
                                'url:example.com'])
    """
    text, facts = page_text(sound(page).encode("utf_8"))
    return unescaped(text.decode("utf_8")), _marks(facts.decode("utf_8", "ignore"))


def unescaped(text: str) -> str:
    """Return a text with its character references replaced.

    >>> unescaped("1 &lt; 2&nbsp;&#65;&#x42;&copy &unknown; &#xD800; &#0; &")
    '1 < 2 AB© &unknown; � � &'
    """
    if "&" not in text:
        return text
    text = text.replace("&nbsp;", " ")
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if name:
        return html.entities.html5.get(name + ";", "") or found[0]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        return "\ufffd"
    return chr(code)


def _marks(facts: str) -> list[str]:
    if "&#" in facts:
        facts = unescaped(facts)
    marks, links, images = [], [], []
    for fact in facts.split("\n"):
        name, equals, value = fact.partition("=")
        if not equals:
            if name:
                marks.append("html:" + (name if name in KNOWN else "odd"))
        elif name in LINKS:
            links.append(value)
        elif name in IMAGES:
            images.append(value)
        else:
            marks.append(f"html:{name}:{value[:LOOK]}")
    if links:
        marks += host_marks("url", "\n".join(links))
    if images:
        marks += host_marks("img", "\n".join(images))
    return marks
