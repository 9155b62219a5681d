"""The text of an HTML page, the hosts it points to, and what its tags tell a filter."""

from __future__ import annotations

import functools
import html.entities
import re
from typing import Final

from suffice.kernels.mail.html import BLOCKS, page_text
from suffice.mail.charsets import sound

INLINE: Final = frozenset((
    "a", "abbr", "acronym", "applet", "b", "bdo", "big", "blink", "cite", "code", "del", "dfn",
    "em", "font", "i", "ins", "kbd", "label", "nobr", "q", "s", "samp", "script", "small", "span",
    "strike", "strong", "style", "sub", "sup", "tt", "u", "var", "wbr",
))  # fmt: skip
"""Tags that part nothing; a tag in neither list is odd."""

KNOWN: Final = INLINE | {name.decode("ascii") for name in BLOCKS}
"""Tags that are counted by their name."""

LINKS: Final = frozenset(("href", "action"))
"""Attributes that say where a click leads."""
IMAGES: Final = frozenset(("src", "background", "lowsrc"))
"""Attributes that say where a picture is fetched from."""

LOOK: Final = 24
"""Characters that are kept of the value of an attribute that says how something looks."""

_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9]{1,9}));?+")
"""A character by its number or its name; the `;` may be missing, as browsers allow."""


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


HOSTS: Final = 200
"""Hosts of a text that are kept."""

SECOND_LEVELS: Final = frozenset(("ac", "co", "com", "edu", "gov", "net", "ne", "or", "org"))
"""Names under which a country gives out names: the domain of a.b.co.uk is b.co.uk."""

# A literal beginning is found quickly; what stands before `www.` is looked at from behind it.
_HOST = re.compile(r"://(?:[^/?#@\s\"'<>]{0,80}+@)?+([A-Za-z0-9][\w.-]{0,99}+)", re.ASCII)
_BARE = re.compile(r"www\.(?<![\w/.@-]www\.)[A-Za-z0-9][\w.-]{0,95}+", re.ASCII)
"""A host that is written without a scheme. Its length is bounded, so that no text takes long."""


def host_marks(prefix: str, text: str) -> list[str]:
    """Return a mark for each host of an address in the text, and for the domain that it is in.

    >>> host_marks("url", "see http://www.shop.example.co.uk/x and www.example.org.")
    ['url:www.shop.example.co.uk', 'url:example.co.uk', 'url:www.example.org', 'url:example.org']

    An address of numbers is in no domain; spam likes them in one number.

    >>> host_marks("url", "http://user@10.1.2.3:80/ http://3232235521/")
    ['url:10.1.2.3', 'url:numbers', 'url:3232235521']
    """
    hosts = [*_HOST.findall(text), *_BARE.findall(text)]
    if not hosts:
        return []
    marks: list[str] = []
    for host in list(dict.fromkeys(hosts))[:HOSTS]:
        marks += _pair_of_marks(prefix, host)
    return list(dict.fromkeys(marks))


@functools.lru_cache(maxsize=8192)
def _pair_of_marks(prefix: str, host: str) -> tuple[str, str]:
    host = host.lower().strip(".-_")
    labels = host.split(".")
    if labels[-1].isdigit():
        return f"{prefix}:{host}", f"{prefix}:numbers"
    known = len(labels[-1]) == 2 and len(labels) > 2 and labels[-2] in SECOND_LEVELS
    return f"{prefix}:{host}", f"{prefix}:" + ".".join(labels[-3 if known else -2 :])
