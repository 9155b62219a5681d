"""Terms of documents, counted.

Documents are str or bytes; `ngrams` is (least, most); terms come as (keys, counts, ends), row i
between ends[i-1] and ends[i]. A few documents are counted in plain Python, which compiles and
imports nothing: a single message is there before numba would be. Both give the same answer.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import twin, worth_compiling
from suffice.kernels.tokens.characters import PATTERN, text_of
from suffice.kernels.tokens.hashes import terms_of_documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.kernels.tokens.vocabulary_table import VocabularyTable

    Documents = Sequence[str | bytes]
    Places = NDArray[np.int64]
    Rows = tuple[NDArray[np.number], NDArray[np.int32], Places]

SAVED = 130.0
"""ns that compiled loops save for each character."""


BLOCK_TERMS = 1 << 18
"""Terms whose numbers are held as Python has them: two megabytes."""

UNKNOWN = -1
"""The number of a term that the vocabulary lacks."""


def characters_pay(characters: int) -> bool:
    """Return whether so many characters are cut into words by compiled loops."""
    return worth_compiling(characters, SAVED)


def _documents_pay(documents: Documents, *_: object) -> bool:
    return characters_pay(sum(map(len, documents)))


def _is_table(
    _: Documents, __: tuple[int, int], ___: bool, vocabulary: object, *____: bool
) -> bool:
    return not isinstance(vocabulary, dict)


def words_of(document: str | bytes, lower: bool) -> list[str]:
    """Return the tokens of a document.

    >>> words_of("Don't pay 50% MORE!!", True)
    ["don't", 'pay', '50', '%', 'more', '!!']
    """
    text = text_of(document)
    words: list[str] = PATTERN.findall(text.lower() if lower else text)
    return words


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


@twin("suffice.kernels.tokens.documents_numba", when=_documents_pay)
def hashed_terms(
    documents: Documents, ngrams: tuple[int, int], lower: bool, size: int | None, boolean: bool
) -> Rows:
    """Return the different terms of each document by number (`term_hash`), and their counts.

    Keys ascend within a row. With a size, they are remainders modulo that size.
    """
    blocks = [
        _different(keys if size is None else keys % np.uint64(size), sizes)
        for keys, sizes in terms_of_documents(documents, ngrams, lower)
    ]
    return _joined(blocks, boolean)


def _different(keys: NDArray[np.uint64], sizes: Places) -> Rows:
    """Return the different keys of each document, ascending, their counts, and how many."""
    stops = np.cumsum(sizes)
    starts = stops - sizes
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        keys[start:stop].sort()
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    new[starts[sizes > 0]] = True
    firsts = np.flatnonzero(new)
    counts = np.diff(firsts, append=len(keys)).astype(np.int32)
    return keys[firsts], counts, np.diff(np.searchsorted(firsts, stops), prepend=0)


@twin("suffice.kernels.tokens.vocabulary_numba", when=_is_table)
def counted_terms(
    documents: Documents, ngrams: tuple[int, int], lower: bool,
    vocabulary: dict[str, int] | VocabularyTable, grow: bool, boolean: bool,
) -> Rows:  # fmt: skip
    """Return the terms of each document by their numbers in the vocabulary, and their counts.

    It grows in place, if it may; else terms that it lacks are left out. Terms of a dictionary
    ascend within a row, those of a table are in any order.
    """
    assert isinstance(vocabulary, dict)  # tables are left to the compiled loops
    blocks: list[Rows] = []
    numbers: list[int] = []
    sizes: list[int] = []
    for document in documents:
        terms = terms_of(document, ngrams, lower)
        if grow:
            for term in dict.fromkeys(terms):
                if term not in vocabulary:
                    vocabulary[term] = len(vocabulary)
        numbers.extend(map(vocabulary.get, terms, repeat(UNKNOWN)))
        sizes.append(len(terms))
        if len(numbers) >= BLOCK_TERMS:
            blocks.append(_counted(numbers, sizes))
            numbers, sizes = [], []
    blocks.append(_counted(numbers, sizes))
    return _joined(blocks, boolean)


def _counted(numbers: list[int], sizes: list[int]) -> Rows:
    """Return the different terms of each document as `_different` does; unknown ones are none."""
    keys, many = np.array(numbers, dtype=np.int64), np.array(sizes, dtype=np.int64)
    known = keys >= 0
    if not known.all():
        ends = np.concatenate(([0], np.cumsum(known)))[np.cumsum(many)]
        keys, many = keys[known], np.diff(ends, prepend=0)
    return _different(keys.astype(np.uint64), many)


def _joined(blocks: Sequence[Rows], boolean: bool) -> Rows:
    """Return the rows of several blocks as one."""
    keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _, _ in blocks)])
    counts = np.concatenate([np.empty(0, np.int32), *(counts for _, counts, _ in blocks)])
    sizes = np.concatenate([np.empty(0, np.int64), *(sizes for _, _, sizes in blocks)])
    return keys, np.ones(len(keys), np.int32) if boolean else counts, np.cumsum(sizes)


# Only compiled: vocabularies as tables are for large inputs


def merge_tables(table: VocabularyTable, other: VocabularyTable) -> Places:
    """Add to a table, in place, the terms of another; return the numbers they have now."""
    from suffice.kernels.tokens import vocabulary_numba

    return vocabulary_numba.merge_tables(table, other)


def table_of(terms: Sequence[str]) -> VocabularyTable:
    """Return terms, all different, as a table for the compiled loops."""
    from suffice.kernels.tokens import vocabulary_numba

    return vocabulary_numba.table_of(terms)


def sort_rows(keys: NDArray[np.uint64], counts: NDArray[np.int32], ends: Places) -> None:
    """Put the keys of every row in ascending order, in place, their counts with them."""
    from suffice.kernels.tokens import documents_numba

    documents_numba.sort_rows(keys, counts, ends)
