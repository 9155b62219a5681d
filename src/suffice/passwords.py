"""Addresses of databases without the passwords in them, right or mistyped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Patterns of addresses are texts: they are compiled when one is first met, and not at every start.
# They have bounds: a message may hold a million characters.
LIBPQ_SETTING = (
    r"(?:table|query|host|hostaddr|port|dbname|user|(?:ssl)?password|passfile|service|options|"
    r"ssl(?!password)\w+|gss\w+|krb\w+|keepalives\w*|tcp_\w+|(?:client|fallback)_\w+|replication|"
    r"connect_timeout|application_name|channel_binding|require_\w+|target_\w+|load_\w+|"
    r"m(?:in|ax)_protocol_version)="
)
"""What ends a password among the settings of an address; any other word may be part of it."""
_SECRET_SETTING = rf"(?is)([?&])(?:ssl)?passw(?:or)?d=.*?(?:&(?={LIBPQ_SETTING})|$)"
"""A password among the settings of an address, up to the next setting that libpq knows."""
_SCHEME = r"([A-Za-z][\w+.-]*):?/+"
"""How an address begins, also with a `:` or a `/` too few."""
_NO_PORT = r"[^:/?@\[\s]{2,}:(?!\d*(?:[/?,]|$))"
"""A user and a colon that no port follows: what follows it is a password."""
_DATABASES = ("postgresql", "postgres", "duckdb")
"""Schemes that are no user's name; before an `@` any other word may be one."""
_BEGUN = r"(?i)[a-z][\w+.-]{0,40}:/+[^\s:/@?#]{0,99}:(?!\d{1,5}(?:[/?\s,]|$))"
"""Where, within a sentence, an address has come to its password, and not to its port."""


def without_secrets(address: str) -> str:
    """Return an address, right or mistyped, without the password that it may hold.

    Everything between the first : behind the scheme and the last @ is left out, whatever it is.

    >>> without_secrets("postgresql://ada:secret@host/base?sslmode=require&password=secret")
    'postgresql://ada@host/base?sslmode=require'
    >>> without_secrets("postgre:/ada:s@cr/et@host/base"), without_secrets("data.csv")
    ('postgre:/ada@host/base', 'data.csv')
    """
    kept = re.sub(_SECRET_SETTING, r"\1", address)
    if kept != address:
        kept = kept.rstrip("?&")
    begun = re.match(_SCHEME, kept)
    scheme, rest = (kept[: begun.end()], kept[begun.end() :]) if begun else ("", kept)
    user, mark, place = rest.rpartition("@")
    encoded = re.match("[^/?]*%40", place) if mark else None
    if encoded:  # no host holds one: it is the @ of the address, or of the password
        place = place[encoded.end() :]
    if mark and (":" in user or encoded):
        return f"{scheme}{user.partition(':')[0]}@{place}"
    if mark and begun and ":/" in scheme and begun[1].lower() not in _DATABASES:
        return f"{scheme}…@{place}"  # what looks like a scheme may be the user
    if not mark and ":/" in scheme and re.match(_NO_PORT, rest):
        return f"{scheme}{rest.partition(':')[0]}:…"  # an @ was forgotten, or written as %40
    return kept


def without_secrets_within(text: str, given: Iterable[str] = ()) -> str:
    """Return a sentence in which no address shows a password; `given` are addresses it may quote.

    >>> without_secrets_within("postgre:/ada:s cr@t@host: no such file")
    'postgre:/ada@host: no such file'
    """
    for address in given:
        shown = without_secrets(address)
        if shown != address:
            text = text.replace(address, shown)
    if "@" not in text and "passw" not in text.lower():
        return text
    begun, end = re.search(_BEGUN, text), text.rfind("@") + 1
    if begun and begun.end() < end:  # it may hold spaces
        text = text[: begun.start()] + without_secrets(text[begun.start() : end]) + text[end:]
    return re.sub(r"\S+", _word_without_secrets, text)


def _word_without_secrets(found: re.Match[str]) -> str:
    word = found[0]
    begun = re.search("[^/]:[^/@]", word[: word.rfind("@") + 1]) or "passw" in word.lower()
    return without_secrets(word) if begun else word
