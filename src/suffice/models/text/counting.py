"""Documents to sparse counts, by all cores.

Large inputs are cut into one share of documents for each thread. Each builds a vocabulary of its
own; these are merged in the order of the documents, so that numbers are those of first appearance
whatever the number of threads.
"""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.engines.threads import SLICES_PER_WORKER, SMALL, answers, workers
from suffice.errors import BadSetting
from suffice.kernels.compilation import part_of
from suffice.kernels.tokens import counts as kernels
from suffice.kernels.tokens.vocabulary_table import VocabularyTable, with_nodes
from suffice.models.text.tokens import Tokens, read_documents, term_hash
from suffice.models.text.vocabulary import GivenTerms, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Indices = NDArray[Any]
    Rows = tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]


WORDS = Tokens()
"""What counts as a term where nothing is said: words and runs of marks, in lower case."""


class CountedTerms(NamedTuple):
    """Counts of terms as compressed sparse rows, and the vocabulary that names their columns."""

    indptr: Indices
    indices: Indices
    counts: NDArray[np.int32]
    vocabulary: Vocabulary

    def in_columns(self, kept: NDArray[np.int64], vocabulary: Vocabulary) -> CountedTerms:
        """Return the counts of some terms only: those with the numbers `kept`, renumbered."""
        column = np.full(len(self.vocabulary), -1, self.indices.dtype)
        column[kept] = np.arange(len(kept))
        indices = column[self.indices]
        there = indices >= 0
        before = np.concatenate([[0], np.cumsum(there)])
        indptr = before[self.indptr].astype(self.indptr.dtype)
        return CountedTerms(indptr, indices[there], self.counts[there], vocabulary)


TermCounts = CountedTerms
"""What `suffice.text` calls it."""


class HashedCounts(NamedTuple):
    """Counts of terms as compressed sparse rows, in columns by hash."""

    indptr: Indices
    indices: Indices
    counts: NDArray[np.int32]


class TermHashes(NamedTuple):
    """Counts of terms as compressed sparse rows, with the full hash of each."""

    indptr: Indices
    hashes: NDArray[np.uint64]
    counts: NDArray[np.int32]


def count_terms(
    documents: Iterable[str | bytes],
    tokens: Tokens = WORDS,
    vocabulary: Vocabulary | None = None,
    *,
    grow: bool = False,
    boolean: bool = False,
) -> CountedTerms:
    """Return how often each term occurs in each document, columns ascending within a row.

    Parameters
    ----------
    documents : iterable of str or bytes
        Texts, as str or as bytes.
    tokens : Tokens, default=WORDS
        How documents are cut into terms.
    vocabulary : Vocabulary or None, default=None
        The terms to count; None makes one of the terms in the order of their first appearance.
    grow : bool, default=False
        Whether new terms are added at the end of a given vocabulary, which is returned; without it
        they are left out.
    boolean : bool, default=False
        Whether each term of a document is counted once.

    Returns
    -------
    CountedTerms
        Counts as compressed sparse rows, and their vocabulary.

    See Also
    --------
    hash_terms : The same without a vocabulary.

    Examples
    --------
    >>> found = count_terms(["to be or not to be", "be"])
    >>> found.indptr.tolist(), found.indices.tolist(), found.counts.tolist()
    ([0, 4, 5], [0, 1, 2, 3, 1], [2, 2, 1, 1, 1])
    >>> found.vocabulary.terms
    ['to', 'be', 'or', 'not']
    """
    texts = read_documents(documents)
    start = Vocabulary() if vocabulary is None else vocabulary
    grow = grow or vocabulary is None
    characters = sum(map(len, texts))
    if not kernels.characters_pay(characters):
        numbers = start._numbers()
        index = dict(numbers) if grow else numbers
        found = kernels.counted_terms(texts, tokens.ngrams, tokens.lower, index, grow, boolean)
        same = len(index) == len(start)
        return CountedTerms(*_sparse([found], len(index)), start if same else Vocabulary._of(index))
    table = start._arrays()
    if grow:
        return _counted_and_grown(texts, tokens, table, boolean, characters)
    if tokens.ngrams != (1, 1):
        with_nodes(table)  # here, as threads must not

    def count(some: slice) -> Rows:
        return kernels.counted_terms(
            texts[some], tokens.ngrams, tokens.lower, table, False, boolean
        )

    rows = _by_shares(lambda some: _sorted(count(some)), texts, SLICES_PER_WORKER)
    return CountedTerms(*_sparse(rows, len(start)), start)


def _counted_and_grown(
    texts: Sequence[str | bytes],
    tokens: Tokens,
    table: VocabularyTable,
    boolean: bool,
    characters: int,
) -> CountedTerms:
    """Count large documents, each share with a table of its own; the first has what was known."""

    def count(some: slice) -> tuple[Rows, VocabularyTable]:
        own = table.copy() if some.start == 0 else VocabularyTable.empty()
        return kernels.counted_terms(
            texts[some], tokens.ngrams, tokens.lower, own, True, boolean
        ), own

    found = _by_shares(count, texts, 1)
    whole = found[0][1] if found else table
    moved = [None, *(kernels.merge_tables(whole, own) for _, own in found[1:])]

    def renumber(share: int) -> Rows:
        (keys, counts, ends), where = found[share][0], moved[share]
        if where is not None:
            keys = where.view(np.uint64)[keys]
        return _sorted((keys, counts, ends))

    rows = answers(renumber, len(found), characters)
    return CountedTerms(*_sparse(rows, len(whole)), Vocabulary._of(whole))


def count_given_terms(
    documents: Sequence[Sequence[str]],
    vocabulary: Vocabulary | None = None,
    *,
    grow: bool = False,
    boolean: bool = False,
) -> CountedTerms:
    """Return how often each term occurs where documents are lists of terms; as `count_terms`.

    >>> count_given_terms([["to", "be"], ["be"]]).vocabulary.terms
    ['to', 'be']
    """
    start = GivenTerms() if vocabulary is None else vocabulary
    if grow or vocabulary is None:
        start = start.add(term for terms in documents for term in terms)
    return CountedTerms(*_tallied(documents, start.number, len(start), boolean), start)


def hash_given_terms(
    documents: Sequence[Sequence[str]], size: int, *, boolean: bool = False
) -> HashedCounts:
    """Return how often each term occurs where documents are lists of terms; as `hash_terms`."""
    return HashedCounts(
        *_tallied(documents, lambda term: term_hash(term) % size, size, boolean),
    )


def _tallied(
    documents: Sequence[Sequence[str]],
    column: Callable[[str], int | None],
    width: int,
    boolean: bool,
) -> tuple[Indices, Indices, NDArray[np.int32]]:
    """Return (indptr, indices, counts) of terms, columns ascending; those without one left out."""
    keys, counts, ends = [], [], []
    for terms in documents:
        tally: dict[int, int] = {}
        for term in terms:
            number = column(term)
            if number is not None:
                tally[number] = 1 if boolean else tally.get(number, 0) + 1
        keys += sorted(tally)
        counts += [tally[number] for number in sorted(tally)]
        ends.append(len(keys))
    rows = (np.array(keys, np.int64), np.array(counts, np.int32), np.array(ends, np.int64))
    return _sparse([rows], width)


def hash_terms(
    documents: Iterable[str | bytes],
    tokens: Tokens = WORDS,
    size: int = 2**20,
    *,
    boolean: bool = False,
) -> HashedCounts:
    """Return how often each term occurs, in column `term_hash(term) % size`, without a vocabulary.

    Terms that share a column are added up. Columns ascend within a row.

    Parameters
    ----------
    documents : iterable of str or bytes
        Texts, as str or as bytes.
    tokens : Tokens, default=WORDS
        How documents are cut into terms.
    size : int, default=2 ** 20
        The number of columns.
    boolean : bool, default=False
        Whether each term of a document is counted once.

    Returns
    -------
    HashedCounts
        Counts as compressed sparse rows.

    See Also
    --------
    count_terms : The same with a vocabulary.
    term_hashes : With the whole hash of each term.

    Examples
    --------
    >>> from suffice.text import term_hash
    >>> hash_terms(["spam spam"], size=1000).indices.tolist() == [term_hash("spam") % 1000]
    True
    """
    if not isinstance(size, Integral) or isinstance(size, bool) or not 1 <= size <= 2**62:
        raise BadSetting(
            f"size is {size!r}, not a number of columns", hint="use for instance 2**20"
        )
    rows = _hashed(documents, tokens, int(size), boolean)
    return HashedCounts(*_sparse(rows, int(size)))


def term_hashes(
    documents: Iterable[str | bytes], tokens: Tokens = WORDS, *, boolean: bool = False
) -> TermHashes:
    """Return the different terms of each document by their 64-bit hashes, ascending, with counts.

    Parameters
    ----------
    documents : iterable of str or bytes
        Texts, as str or as bytes.
    tokens : Tokens, default=WORDS
        How documents are cut into terms.
    boolean : bool, default=False
        Whether each term of a document is counted once.

    Returns
    -------
    TermHashes
        Hashes and counts as compressed sparse rows.

    See Also
    --------
    hash_terms : With a column for each remainder of the hash.

    Examples
    --------
    >>> from suffice.text import term_hash
    >>> found = term_hashes(["spam, spam, ham"])
    >>> dict(zip(found.hashes.tolist(), found.counts.tolist()))[term_hash("spam")]
    2
    """
    rows = _hashed(documents, tokens, None, boolean)
    indptr, _, counts = _sparse(rows, 1)
    return TermHashes(indptr, np.concatenate([keys for keys, _, _ in rows]), counts)


def _hashed(
    documents: Iterable[str | bytes], tokens: Tokens, size: int | None, boolean: bool
) -> list[Rows]:
    texts = read_documents(documents)
    return _by_shares(
        lambda some: kernels.hashed_terms(texts[some], tokens.ngrams, tokens.lower, size, boolean),
        texts,
        SLICES_PER_WORKER,
    )


def _sorted(rows: Rows) -> Rows:
    kernels.sort_rows(*rows)
    return rows


def _by_shares(
    work: Callable[[slice], object], texts: Sequence[str | bytes], each: int
) -> list[Any]:
    """Return what `work` returns for slices of about as many characters, `each` for a thread."""
    sizes = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    characters = int(sizes[-1]) if len(texts) else 0
    count = workers() * each
    if characters < SMALL or workers() == 1 or not kernels.characters_pay(characters):
        count = 1  # plain Python holds the interpreter: a second thread would only wait
    ends = [characters * part // count for part in range(1, count)]
    cuts = sorted({0, *np.searchsorted(sizes, ends).tolist(), len(texts)})
    parts = [slice(*pair) for pair in pairwise(cuts)] or [slice(0, 0)]
    with part_of(characters):
        return answers(lambda part: work(parts[part]), len(parts), characters)


def _sparse(rows: Sequence[Rows], width: int) -> tuple[Indices, Indices, NDArray[np.int32]]:
    """Return (indptr, indices, counts) of rows one after the other, in 32 bits if that will do."""
    stored = sum(len(keys) for keys, _, _ in rows)
    kind = np.int32 if max(stored, width) < 2**31 else np.int64
    indptr, before = [np.zeros(1, kind)], 0
    indices = np.empty(stored, kind)
    for keys, _, ends in rows:
        indices[before : before + len(keys)] = keys
        indptr.append((ends + before).astype(kind))
        before += len(keys)
    return np.concatenate(indptr), indices, np.concatenate([counts for _, counts, _ in rows])
