"""Documents to counted terms in plain Python: the twin for small inputs, and the reference."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.kernels.tokens_characters import PATTERN, text_of
from suffice.kernels.tokens_hash import next_hash, word_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Documents = Sequence[str | bytes]
    Rows = tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]


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
    numbers: dict[str, int] = {}
    rows = []
    for document in documents:
        words = words_of(document, lower)
        for word in words:
            if word not in numbers:
                numbers[word] = word_hash(word.encode("utf-8"))
        keys = [numbers[word] for word in words]
        if most > 1:
            keys = _gram_hashes(keys, least, most)
        if size is not None:
            keys = [key % size for key in keys]
        rows.append(sorted(Counter(keys).items()))
    return _arrays(rows, boolean)


def _gram_hashes(words: list[int], least: int, most: int) -> list[int]:
    """Return the numbers of all n-grams; equal pairs, which are many, are computed once."""
    known: dict[tuple[int, int], int] = {}
    out, level = [], words
    for n in range(1, most + 1):
        if n > 1:
            level = [_known(known, *pair) for pair in zip(level, words[n - 1 :], strict=False)]
        if n >= least:
            out += level
    return out


def _known(known: dict[tuple[int, int], int], before: int, word: int) -> int:
    number = known.get((before, word))
    if number is None:
        number = known[before, word] = next_hash(before, word)
    return number


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
