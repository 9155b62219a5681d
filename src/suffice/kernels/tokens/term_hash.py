"""The number of a term: 64 bits that are the same on every machine and in every release.

    word         h = SEED + length·STEP; for every 8 bytes of its UTF-8, little-endian and the last
                 ones filled with zeros: h = (h ⊕ bytes)·STEP, h = h ⊕ (h >> 32); at last mix(h)
    n-gram       mix(h·STEP + the next word's), where h is that of the (n-1)-gram before it
    mix(h)       h ⊕= h >> 33, h ·= FIRST, h ⊕= h >> 33, h ·= SECOND, h ⊕= h >> 33

All modulo 2⁶⁴; `mix` is the end of MurmurHash3. A word of up to 8 bytes shares its number with no
other of its length. Stored filters hold these numbers: the definition must not change.
"""

from __future__ import annotations

SEED = 0x243F6A8885A308D3
"""The digits of π behind the point: a number that nobody has chosen."""

STEP = 0x9E3779B97F4A7C15
"""2⁶⁴ over the golden ratio, odd: its multiples are spread evenly (Knuth)."""

FIRST, SECOND = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
"""The factors of MurmurHash3's last step."""

ALL = (1 << 64) - 1
"""The bits of a number of 64 bits."""


def mixed(number: int) -> int:
    """Return a number whose every bit depends on all bits of the given one."""
    number ^= number >> 33
    number = number * FIRST & ALL
    number ^= number >> 33
    number = number * SECOND & ALL
    return number ^ number >> 33


def word_hash(word: bytes) -> int:
    """Return the number of a word, of its bytes as UTF-8.

    >>> hex(word_hash(b"spam"))
    '0x5f1341281f9d8bf5'
    """
    number = SEED + len(word) * STEP & ALL
    for start in range(0, len(word), 8):
        number = (number ^ int.from_bytes(word[start : start + 8], "little")) * STEP & ALL
        number ^= number >> 32
    return mixed(number)


def next_hash(before: int, word: int) -> int:
    """Return the number of an n-gram from those of the words before, and of its last word."""
    return mixed(before * STEP + word & ALL)


def term_hash(term: str) -> int:
    """Return the hash of a term.

    Parameters
    ----------
    term : str
        A word, or words with one space between them.

    Returns
    -------
    int
        Its 64-bit hash.

    See Also
    --------
    suffice.text.hash_terms : Counts by it.

    Examples
    --------
    >>> term_hash("buy now") == next_hash(word_hash(b"buy"), word_hash(b"now"))
    True
    """
    words = [word_hash(word.encode("utf-8", "surrogatepass")) for word in term.split(" ")]
    number = words[0]
    for word in words[1:]:
        number = next_hash(number, word)
    return number
