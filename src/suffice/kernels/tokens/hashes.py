"""The terms of many documents as numbers, in NumPy: all words of a block of them at once.

A word is a run of bytes of one kind, found where kinds change; its number is made of eight bytes at
a time, as `term_hash` says, of all words together.
"""

from __future__ import annotations

import functools
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.tokens.characters import MARK, MARKS, NOTHING, PATTERN, WORD, packed
from suffice.kernels.tokens.term_hash import FIRST, SECOND, SEED, STEP, word_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Documents = Sequence[str | bytes]
    Bytes = NDArray[np.uint8]
    Hashes = NDArray[np.uint64]
    Places = NDArray[np.int64]

BLOCK = 1 << 18
"""Characters worked on at a time: what is held of them stays in the cache."""
ROOM = 8
"""Bytes that are taken at once, and so have to be there behind the last one."""
LONG = 64
"""Bytes above which the numbers of words are made one by one: such words are rare, and may be as
long as a document."""
LOWER = bytes(range(256)).lower()
"""What becomes of the capitals of ASCII; those of others are lowered beforehand."""
_HALF, _LAST = np.uint64(32), np.uint64(33)
"""By how many bits numbers are shifted while they are mixed."""


def _kind(character: str) -> int:
    if character in MARKS:
        return MARK
    return WORD if PATTERN.match(character) else NOTHING


KINDS = bytes(_kind(chr(code)) for code in range(128)) + bytes(128)
"""The kind of every character of ASCII; what is beyond it is looked at by itself."""

_REST = np.array([(1 << 8 * bytes_) - 1 for bytes_ in range(9)], dtype=np.uint64)
"""Keeps so many of eight bytes."""

_other_kind = functools.lru_cache(maxsize=1 << 14)(_kind)
"""The same of characters beyond ASCII, of which few are met."""


def terms_of_documents(
    documents: Documents, ngrams: tuple[int, int], lower: bool
) -> Iterator[tuple[Hashes, Places]]:
    """Yield, block by block, the terms of one document after the other, and how many each has.

    Terms come in the order of their last words, the shortest first.

    >>> from suffice.kernels.tokens.term_hash import term_hash
    >>> ((keys, sizes),) = terms_of_documents(["to be", "", "be"], (1, 2), True)
    >>> sizes, [term_hash(term) in keys[:3] for term in ("to", "be", "to be")]
    (array([3, 0, 1]), [True, True, True])
    """
    for some in _blocks(documents):
        yield _of_block(documents[some], ngrams, lower)


def _blocks(documents: Documents) -> Iterator[slice]:
    """Yield neighbouring documents of about as many characters as a block has."""
    ends = np.cumsum(np.fromiter(map(len, documents), np.int64, len(documents)))
    whole = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(BLOCK, whole, BLOCK), side="left") + 1
    for start, stop in pairwise(sorted({0, len(documents), *cuts.tolist()})):
        yield slice(start, stop)


def _of_block(documents: Documents, ngrams: tuple[int, int], lower: bool) -> tuple[Hashes, Places]:
    """Return the terms of some documents, one document after the other, and how many each has."""
    text, ends = packed(documents, lower)
    whole = text.tobytes() + bytes(ROOM)
    if lower:
        whole = whole.translate(LOWER)
    data = np.frombuffer(whole, np.uint8)
    starts, lengths = _runs(_kinds(whole, data))
    words = _numbers(whole, starts, lengths)
    many = np.diff(np.searchsorted(starts, ends), prepend=0)
    least, most = ngrams
    if (least, most) == (1, 1):
        return words, many
    place = np.arange(len(words)) - np.repeat(np.cumsum(many) - many, many)
    terms = np.empty((len(words), most - least + 1), dtype=np.uint64)
    there = np.empty(terms.shape, dtype=np.bool_)
    level = words
    for n in range(1, most + 1):
        if n > 1:
            longer = np.empty_like(level)
            longer[1:] = _mixed(level[:-1] * np.uint64(STEP) + words[1:])
            level = longer
        if n >= least:
            terms[:, n - least] = level
            there[:, n - least] = place >= n - 1
    sizes = sum(np.maximum(many - (n - 1), 0) for n in range(least, most + 1))
    return terms[there], np.asarray(sizes, dtype=np.int64)


def _kinds(whole: bytes, data: Bytes) -> Bytes:
    """Return the kind of the character that each byte is of."""
    kinds = np.frombuffer(whole.translate(KINDS), np.uint8)
    if whole.isascii():
        return kinds
    kinds = kinds.copy()
    leads = np.flatnonzero(data >= 0xC0)
    first = data[leads].astype(np.int64)
    longer, longest = first >= 0xE0, first >= 0xF0
    codes = first & np.where(longest, 0x07, np.where(longer, 0x0F, 0x1F))
    for step, here in ((1, np.ones(len(leads), np.bool_)), (2, longer), (3, longest)):
        codes[here] = (codes[here] << 6) | (data[leads[here] + step] & 0x3F)
    different, inverse = np.unique(codes, return_inverse=True)
    table = np.array([_other_kind(chr(code)) for code in different.tolist()], dtype=np.uint8)
    found = table[inverse]
    kinds[leads] = kinds[leads + 1] = found
    for step, here in ((2, longer), (3, longest)):
        kinds[leads[here] + step] = found[here]
    return kinds


def _runs(kinds: Bytes) -> tuple[Places, Places]:
    """Return where words begin, and how long they are."""
    edges = np.flatnonzero(kinds[1:] != kinds[:-1]) + 1  # before the first byte there is none
    kept = kinds[edges] != NOTHING
    starts = edges[kept]
    # What is no word ends the last one: the text ends in zeros.
    stops = edges[np.flatnonzero(kept) + 1]
    return starts, stops - starts


def _numbers(whole: bytes, starts: Places, lengths: Places) -> Hashes:
    """Return `term_hash.word_hash` of words that lie in a text."""
    eights = np.ndarray((len(whole) - ROOM + 1,), "<u8", whole, 0, (1,))
    numbers = lengths.astype(np.uint64) * np.uint64(STEP) + np.uint64(SEED)
    numbers = _step(numbers, eights[starts] & _REST[np.minimum(lengths, 8)])
    some = np.flatnonzero(lengths > 8)
    for done in range(8, LONG, 8):
        if not len(some):
            break
        rest = lengths[some] - done
        part = eights[starts[some] + done] & _REST[np.minimum(rest, 8)]
        numbers[some] = _step(numbers[some], part)
        some = some[rest > 8]
    found = _mixed(numbers)
    for i in some.tolist():
        found[i] = word_hash(whole[starts[i] : starts[i] + lengths[i]])
    return found


def _step(numbers: Hashes, part: Hashes) -> Hashes:
    numbers = (numbers ^ part) * np.uint64(STEP)
    numbers ^= numbers >> _HALF
    return numbers


def _mixed(numbers: Hashes) -> Hashes:
    """Return `term_hash.mixed` of many: arrays are modulo 2⁶⁴ by themselves."""
    numbers = numbers ^ (numbers >> _LAST)
    for factor in (FIRST, SECOND):
        numbers *= np.uint64(factor)
        numbers ^= numbers >> _LAST
    return numbers
