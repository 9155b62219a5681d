"""The hosts that a text points to, as marks."""

from __future__ import annotations

import functools
import re
from typing import Final

HOSTS: Final = 200
"""Hosts of a text that are kept."""

SECOND_LEVELS: Final = frozenset(("ac", "co", "com", "edu", "gov", "net", "ne", "or", "org"))
"""Names under which a country gives out names: the domain of a.b.co.uk is b.co.uk."""

# A literal beginning is found quickly; what stands before `www.` is looked at from behind it.
_HOST = re.compile(r"://(?:[^/?#@\s\"'<>]{0,80}+@)?+([A-Za-z0-9][\w.-]{0,99}+)", re.ASCII)
_BARE = re.compile(r"www\.(?<![\w/.@-]www\.)[A-Za-z0-9][\w.-]{0,95}+", re.ASCII)


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
        marks += _marks(prefix, host)
    return list(dict.fromkeys(marks))


@functools.lru_cache(maxsize=8192)
def _marks(prefix: str, host: str) -> tuple[str, str]:
    host = host.lower().strip(".-_")
    labels = host.split(".")
    if labels[-1].isdigit():
        return f"{prefix}:{host}", f"{prefix}:numbers"
    known = len(labels[-1]) == 2 and len(labels) > 2 and labels[-2] in SECOND_LEVELS
    return f"{prefix}:{host}", f"{prefix}:" + ".".join(labels[-3 if known else -2 :])
