r"""Messages as a filter knows them: the same letter, however it was kept.

The line in which an mbox has its envelope, fields in which a filter or a reader has noted what it
thinks of a message, and the way lines end are no part of a letter: a message that was marked
`X-Suffice: spam`, or copied from a mailbox into a file, is the one that was learned.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from suffice.kernels.compilation import part_of
from suffice.kernels.ngrams.counts import ngram_keys
from suffice.kernels.ngrams.texts import Texts, mask
from suffice.mail.filter.count_store import Entries
from suffice.mail.headers import VERDICTS
from suffice.mail.words import message_text
from suffice.models.text.counting import term_hashes
from suffice.models.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from suffice.mail.filter.count_store import Keys

TOKENS: Final = Tokens((1, 2))
"""Words, and pairs of neighbours."""
ORDER: Final = 5
"""Symbols of the longest n-gram, as `Language` has it if nobody says; stored filters are of this
order."""
LIMIT: Final = 3000
"""Bytes of a letter that the language model looks at."""
LEVEL: Final = 61
"""Bits below those that tell how long an n-gram is."""
HEAD_BYTES: Final = 1 << 20
"""Bytes among which the header is looked for."""
DIGEST_BYTES: Final = 16
"""Bytes of the digest that a letter is known by: by the birthday bound, even among 10⁹ letters two
agree by chance with a probability of about 10¹⁸/2¹²⁹, less than 10⁻²⁰."""

_NOTED = re.compile(
    rb"^(?:"
    + b"|".join(re.escape(name).replace(rb"\*", rb"[!-9;-~]*+") for name in VERDICTS)
    + rb")[ \t]*+:[^\n]*+(?:\n[ \t][^\n]*+)*+(?:\n|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
"""Fields that filters, ours among them, add to a message: with and without them it is the same
letter."""


class Letter(NamedTuple):
    """A message: what it is known by, what a person reads in it, and its first bytes."""

    digest: bytes
    text: str
    start: bytes

    def terms(self) -> Keys:
        """Return the numbers of its terms, ascending, each once."""
        return term_hashes([self.text], TOKENS, boolean=True).hashes

    def ngrams(self) -> Keys:
        """Return the n-gram that ends at each of its symbols."""
        return ngram_keys.plain(Texts.of([self.start], LIMIT), ORDER)


def bare(raw: bytes) -> bytes:
    r"""Return a message without what was noted on it, its lines ending as one does.

    >>> bare(b"From bob 12:36 2002\r\nX-Suffice: spam\r\nTo: you\r\n\r\nHello\r\n\r\n")
    b'To: you\n\nHello\n'
    """
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n")
    if raw.startswith((b"From ", b">From ")):
        raw = raw.partition(b"\n")[2]
    head, rest = raw[:HEAD_BYTES], raw[HEAD_BYTES:]
    end = 0 if head.startswith(b"\n") else head.find(b"\n\n") + 1 or len(head)
    head = _NOTED.sub(b"", head[:end]) + head[end:]
    return (head + rest).rstrip(b"\n") + b"\n"


def letters(raws: Iterable[bytes]) -> Iterator[Letter]:
    r"""Yield the letters of raw messages.

    >>> [letter.text.split() for letter in letters([b"Subject: Hi\n\nBob"])]
    [['subj_hi', 'Bob']]
    """
    seen = 0
    for raw in raws:
        seen += len(raw)
        with part_of(seen):  # of much mail, compiled loops pay
            letter = letter_of(raw)
        yield letter


def letter_of(raw: bytes) -> Letter:
    """Return the letter of one message."""
    plain = bare(raw)
    text = message_text(plain)
    digest = blake2b(plain, digest_size=DIGEST_BYTES).digest()
    return Letter(digest, text, plain[: LIMIT + 1])


def term_entries(letter: Letter, code: int) -> Entries:
    """Return the terms of a letter of one class, each counted once."""
    keys = letter.terms()
    return Entries.of_class(keys, np.ones(len(keys), dtype=np.int64), code)


def ngram_entries(letter: Letter, code: int) -> Entries:
    """Return the n-grams of a letter of one class, of 1 … ORDER symbols, and how often each is."""
    keys, levels, counts = letter.ngrams(), [], []
    for m in range(1, ORDER + 1):
        found, many = np.unique(leveled(keys, m), return_counts=True)
        levels.append(found)
        counts.append(many)
    return Entries.of_class(np.concatenate(levels), np.concatenate(counts), code)


def leveled(keys: Keys, m: int) -> Keys:
    """Return the keys of the last m symbols of n-grams, with their length in the highest bits.

    >>> hex(leveled(np.array([97 << 9 | 98], dtype=np.uint64), 1)[0])
    '0x2000000000000062'
    """
    return (keys & np.uint64(mask(m))) | np.uint64(m << LEVEL)
