"""Documents to counted terms in plain Python: the twin for small inputs, and the reference."""

from __future__ import annotations

import functools
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.kernels.tokens.characters import PATTERN, text_of
from suffice.kernels.tokens.term_hash import FIRST, SECOND, STEP, word_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Documents = Sequence[str | bytes]
    Rows = tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]

USUAL = 32
"""Characters of a word that is worth remembering."""


def words_of(document: str | bytes, lower: bool) -> list[str]:
    """Return the tokens of a document.

    >>> words_of("Don't pay 50% MORE!!", True)
    ["don't", 'pay', '50', '%', 'more', '!!']
    """
    text = text_of(document)
    found: list[str] = PATTERN.findall(text.lower() if lower else text)
    return found


def terms_of(document: str | bytes, ngrams: tuple[int, int], lower: bool) -> list[str]:
    """Return the n-grams of a document, in the order of their last words, the shortest first.

    >>> terms_of("to be or", (1, 2), True)
    ['to', 'be', 'to be', 'or', 'be or']
    """
    words = words_of(document, lower)
    least, most = ngrams
    if most == 1:
        return words
    return [
        " ".join(words[end - n : end])
        for end in range(1, len(words) + 1)
        for n in range(least, min(most, end) + 1)
    ]


def hashed(
    documents: Documents, ngrams: tuple[int, int], lower: bool, size: int | None, boolean: bool
) -> Rows:
    """Return the different terms of every document by their 64-bit numbers, and their counts.

    As (keys, counts, ends): ends[i] is where row i ends; keys ascend within a row. With a size,
    keys are remainders modulo that size.
    """
    least, most = ngrams
    rows = []
    for document in documents:
        words = words_of(document, lower)
        levels = [np.fromiter(map(_number, words), np.uint64, len(words))]
        for n in range(2, most + 1):
            levels.append(_next_hashes(levels[-1][:-1], levels[0][n - 1 :]))
        keys = np.concatenate(levels[least - 1 :])
        if size is not None:
            keys %= np.uint64(size)
        rows.append(np.unique(keys, return_counts=True))
    ends = np.cumsum([len(keys) for keys, _ in rows], dtype=np.int64)
    keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in rows)])
    counts = np.concatenate([np.empty(0, np.int32), *(counts for _, counts in rows)])
    return keys, np.ones(len(keys), np.int32) if boolean else counts.astype(np.int32), ends


def _number(word: str) -> int:
    """Return the number of a word; those of usual length are remembered for the next message."""
    return _remembered(word) if len(word) <= USUAL else word_hash(word.encode("utf-8"))


@functools.lru_cache(maxsize=1 << 16)
def _remembered(word: str) -> int:
    return word_hash(word.encode("utf-8"))


def _next_hashes(before: NDArray[np.uint64], words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return `tokens_hash.next_hash` of many: arrays are modulo 2⁶⁴ by themselves."""
    numbers = before * np.uint64(STEP) + words
    for factor in (FIRST, SECOND):
        numbers ^= numbers >> np.uint64(33)
        numbers *= np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(33))


def counted(
    documents: Documents, ngrams: tuple[int, int], lower: bool, index: dict[str, int], grow: bool,
    boolean: bool,
) -> Rows:  # fmt: skip
    """Return the terms of every document by their numbers, ascending, and their counts.

    The index of terms grows in place, if it may; else terms that it does not hold are left out.
    """
    rows = []
    for document in documents:
        counts = Counter(terms_of(document, ngrams, lower))
        if grow:
            for term in counts:
                index.setdefault(term, len(index))
        rows.append(sorted((index[term], n) for term, n in counts.items() if term in index))
    return _arrays(rows, boolean)


def _arrays(rows: Iterable[list[tuple[int, int]]], boolean: bool) -> Rows:
    held = list(rows)
    ends = np.cumsum([len(row) for row in held], dtype=np.int64)
    keys = np.array([key for row in held for key, _ in row], dtype=np.uint64)
    if boolean:
        return keys, np.ones(len(keys), np.int32), ends
    return keys, np.array([count for row in held for _, count in row], dtype=np.int32), ends
