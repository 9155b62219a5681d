"""Yes and no, true and false, in the languages that spreadsheets are written in."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ACCENTS = dict.fromkeys(range(0x300, 0x370))
"""Accents of Latin, Greek and Cyrillic letters: capitals often go without. Marks of other scripts
make other words."""


def plain_word(word: str) -> str:
    """Return a word as the pairs have it: in small letters, without accents or blanks around it.

    >>> plain_word(" SÌ "), plain_word("ΨΕΥΔΉΣ") == plain_word("ψευδής")
    ('si', True)
    """
    plain = word.strip()
    if plain.isascii():
        return plain.lower()
    parts = unicodedata.normalize("NFD", plain.casefold()).translate(_ACCENTS)
    return unicodedata.normalize("NFC", parts)


PAIRS: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(map(plain_word, yes.split())), frozenset(map(plain_word, no.split())))
    for yes, no in (
        ("yes y true t", "no n false f"),  # English
        ("ja j wahr", "nein n falsch"),  # German
        ("oui o vrai", "non n faux"),  # French
        ("sí si s verdadero", "no n falso"),  # Spanish
        ("sì si s vero", "no n falso"),  # Italian
        ("sim s verdadeiro", "não nao n falso"),  # Portuguese
        ("ja j waar", "nee n onwaar"),  # Dutch
        ("ja j sann sant sand", "nej nei n falskt usant usann falsk"),  # Swedish, Norwegian, Danish
        ("kyllä k tosi", "ei e epätosi"),  # Finnish
        ("tak t prawda", "nie n fałsz"),  # Polish
        ("ano a pravda", "ne n nepravda"),  # Czech
        ("igen i igaz", "nem n hamis"),  # Hungarian
        ("da d adevărat", "nu n fals"),  # Romanian
        ("evet e doğru", "hayır hayir h yanlış yanliş"),  # Turkish
        ("ναι αληθής αληθές", "όχι ψευδής ψευδές"),  # Greek
        ("да д истина", "нет н ложь"),  # Russian
        ("так т істина", "ні н хибність"),  # Ukrainian
        ("是 有", "否 无"),  # Chinese
        ("はい", "いいえ"),  # Japanese
        ("예 네", "아니요 아니오"),  # Korean
        ("نعم", "لا"),  # Arabic
        ("כן", "לא"),  # Hebrew
        ("हाँ हां", "नहीं"),  # Hindi
        ("да д", "не н"),  # Bulgarian, Macedonian, Serbian
        ("da d", "ne n"),  # Croatian, Bosnian, Slovenian
        ("áno a", "nie n"),  # Slovak
        ("taip t", "ne n"),  # Lithuanian
        ("jā j", "nē n"),  # Latvian
        ("jah j", "ei e"),  # Estonian
        ("có", "không"),  # Vietnamese
        ("ya y", "tidak t"),  # Indonesian, Malay
        ("ใช่", "ไม่ใช่ ไม่"),  # Thai
        ("بله", "خیر"),  # Persian
        ("✓ ✔ ☑ ✅", "✗ ✘ ✖ ❌ ☐"),  # ticks
    )
)
"""Words for yes and for no, a language each; single letters are their beginnings. `on` and `off`,
`m` and `f`, `1` and `0` are other things."""

TICKS = frozenset(["x", "✓", "✔", "☑", "✅", "●", "•"])
"""Marks that mean yes where all other cells of a column are blank, which means no."""

KNOWN = frozenset().union(TICKS, *(yes | no for yes, no in PAIRS))
"""All of these words: what else a column has makes it one of categories."""


def are_ticks(words: Iterable[str]) -> bool:
    """Whether a column's words are marks alone: then its blank cells mean no.

    >>> are_ticks(["x", "X"]), are_ticks(["x", "y"]), are_ticks([])
    (True, False, False)
    """
    plain = {plain_word(word) for word in words}
    return bool(plain) and plain <= TICKS


def yes_words(words: Iterable[str]) -> frozenset[str] | None:
    """Return which of a column's words mean yes; None where they are not all yes and no.

    Both have to be there: a column of `no` alone may be anything.

    >>> sorted(yes_words(["Ja", "nein", "JA"])), yes_words(["no", "No"]), yes_words(["y", "nein"])
    (['JA', 'Ja'], None, None)
    """
    given = {word: plain_word(word) for word in words}
    plain = set(given.values())
    for yes, no in PAIRS:
        if plain <= yes | no and plain & yes and plain & no:
            return frozenset(word for word, same in given.items() if same in yes)
    return None
