"""N-grams of documents: made, counted, sorted, merged, summed over runs, and interpolated.

texts      Texts, the documents side by side
order      1..7, symbols of an n-gram
bits       how many low bits the keys have: all others are 0
counts     float64, one for each key; (n, k), of n-grams in each class, where there are classes
places     (n,) intp, the order in which rows of counts are gone through
firsts     (r,) intp, where runs begin; none is empty, the last one ends with the rows
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import part_of, pays_if_saved, twin
from suffice.kernels.ngrams.texts import BITS, BOS, EOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.texts import Keys, Texts

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

SMALLEST = float(np.finfo(np.float64).tiny)
"""A probability is no smaller, whatever the weights are: its logarithm is finite."""

ROOM = 64
"""Bits of a number that is sorted: those of a key, and of its place beside it."""

SAVED = 160.0
"""ns that compiled loops save for each symbol, times the order."""

ngrams_pay = pays_if_saved(SAVED)


def _buffer_pays(texts: Texts, *_: object) -> bool:
    return ngrams_pay(texts.buffer)


def _shorter_pays(keys: Keys, _: Floats, more: Keys, *__: object) -> bool:
    return ngrams_pay(keys if len(keys) < len(more) else more)


def count_ngrams(texts: Texts, order: int, weights: Floats | None) -> tuple[Keys, Floats]:
    """Return the different n-grams of all documents, sorted, and how often each is there.

    With weights a document counts as often as its weight says.

    >>> from suffice.kernels.ngrams.texts import Texts
    >>> keys, counts = count_ngrams(Texts.of([b"aab", b"a"]), 1, None)
    >>> dict(zip(keys.tolist(), counts.tolist(), strict=True))
    {97: 3.0, 98: 1.0, 257: 2.0}
    """
    lengths, bits = texts.lengths, BITS * order
    with part_of(int(lengths.sum()) * order):
        keys = ngram_keys(texts, order)
        if weights is None:
            return count_keys(keys, bits)
        keys, places = sort_keys(keys, bits)
    firsts = runs(keys)
    if not len(firsts):
        return keys, np.empty(0)
    return keys[firsts], np.add.reduceat(np.repeat(weights, lengths)[places], firsts)


@twin("suffice.kernels.ngrams.counts_numba", when=_buffer_pays)
def ngram_keys(texts: Texts, order: int) -> Keys:
    """Return the n-gram that ends at each predicted symbol, document after document."""
    keys = np.empty(int(texts.lengths.sum()), dtype=np.uint64)
    done = 0
    for part in blocks_of(texts):
        found = _keys_of_block(texts.taken(part), order)
        keys[done : done + len(found)] = found
        done += len(found)
    return keys


def _keys_of_block(texts: Texts, order: int) -> Keys:
    """Return the same of documents whose symbols all lie in the cache."""
    sizes, lengths = texts.stops - texts.starts, texts.lengths
    ends = np.cumsum(lengths + (order - 1))
    firsts = ends - lengths
    symbols = np.full(int(ends[-1]) if len(ends) else 0, BOS, dtype=np.uint64)
    pairs = zip(firsts.tolist(), texts.starts.tolist(), sizes.tolist(), strict=True)
    for first, start, size in pairs:
        symbols[first : first + size] = texts.buffer[start : start + size]
    symbols[ends[texts.whole] - 1] = EOT
    keys = symbols.copy()
    for place in range(1, order):
        keys[place:] |= symbols[:-place] << np.uint64(BITS * place)
    if order == 1:
        return keys
    predicted = np.ones(len(symbols), dtype=np.bool_)
    for place in range(1, order):
        predicted[firsts - place] = False
    return keys[predicted]


BLOCK_SYMBOLS = 1 << 16
"""Symbols worked on at a time: their keys and nodes are some megabytes, whatever the texts are."""


def blocks_of(texts: Texts, most: int = BLOCK_SYMBOLS) -> Iterator[slice]:
    """Yield neighbouring documents of about as many symbols as a block has.

    >>> from suffice.kernels.ngrams.texts import Texts
    >>> list(blocks_of(Texts.of([b"spam", b"ham", b""]), most=6))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    ends = np.cumsum(texts.lengths)
    total = int(ends[-1]) if len(ends) else 0
    steps = np.searchsorted(ends, np.arange(most, total, most), side="left") + 1
    for start, stop in pairwise(sorted({0, texts.size, *steps.tolist()})):
        yield slice(start, stop)


@twin("suffice.kernels.ngrams.counts_numba", when=ngrams_pay)
def count_keys(keys: Keys, bits: int) -> tuple[Keys, Floats]:  # noqa: ARG001
    """Return the different keys, sorted, and how often each is there; they may be overwritten."""
    keys.sort()
    firsts = runs(keys)
    return keys[firsts], np.diff(firsts, append=len(keys)).astype(np.float64)


@twin("suffice.kernels.ngrams.counts_numba", when=ngrams_pay)
def sort_keys(keys: Keys, bits: int) -> tuple[Keys, Places]:
    """Return the keys sorted, and where each was before; the same ones stay in their order.

    >>> sort_keys(np.array([7, 2, 7], dtype=np.uint64), 3)[1]
    array([1, 0, 2])
    """
    room = max(len(keys) - 1, 1).bit_length()
    if bits + room <= ROOM:
        # Sorting one number of both takes half the time of sorting places by their keys.
        both = keys << np.uint64(room)
        both |= np.arange(len(keys), dtype=np.uint64)
        both.sort()
        places = (both & np.uint64((1 << room) - 1)).astype(np.intp)
        return both >> np.uint64(room), places
    order = np.argsort(keys, kind="stable")
    return keys[order], order


@twin("suffice.kernels.ngrams.counts_numba", when=_shorter_pays)
def merge_counts(
    keys: Keys, counts: Floats, more: Keys, more_counts: Floats
) -> tuple[Keys, Floats]:
    """Return the sorted keys of both sides, and the sums of their counts.

    >>> one, other = np.array([2, 5], dtype=np.uint64), np.array([3, 5], dtype=np.uint64)
    >>> merge_counts(one, np.ones(2), other, np.ones(2))
    (array([2, 3, 5], dtype=uint64), array([1., 1., 2.]))
    """
    if len(keys) < len(more):  # few are put into many more quickly
        keys, counts, more, more_counts = more, more_counts, keys, counts
    places = np.searchsorted(keys, more)
    known = places < len(keys)
    known[known] = keys[places[known]] == more[known]
    sums = counts.copy()
    sums[places[known]] += more_counts[known]
    if known.all():
        return keys, sums
    new = ~known
    return (
        np.insert(keys, places[new], more[new]),
        np.insert(sums, places[new], more_counts[new]),
    )


def runs(keys: Keys) -> Places:
    """Return where each different one of the sorted keys is first.

    >>> runs(np.array([2, 2, 5], dtype=np.uint64))
    array([0, 2])
    """
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return np.flatnonzero(new)


def distinct(keys: Keys, bits: int) -> tuple[Keys, Places]:
    """Return the different keys, sorted, and where each one is among them.

    >>> distinct(np.array([7, 2, 7], dtype=np.uint64), 3)
    (array([2, 7], dtype=uint64), array([1, 0, 1]))
    """
    ascending, order = sort_keys.plain(keys, bits)
    different, of_sorted = distinct_of_sorted(ascending)
    places = np.empty(len(keys), dtype=np.intp)
    places[order] = of_sorted
    return different, places


def distinct_of_sorted(keys: Keys) -> tuple[Keys, Places]:
    """Return the same of keys that are sorted.

    >>> distinct_of_sorted(np.array([2, 7, 7], dtype=np.uint64))
    (array([2, 7], dtype=uint64), array([0, 1, 1]))
    """
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return keys[new], np.cumsum(new) - 1


@twin("suffice.kernels.ngrams.counts_numba", when=ngrams_pay)
def run_sums(counts: Floats, places: Places, firsts: Places) -> Floats:
    """Return Σ counts[places[i]] (r, k) over the runs of i that begin at `firsts`.

    >>> run_sums(np.array([[1.0], [2.0], [4.0]]), np.array([2, 0, 1]), np.array([0, 2]))
    array([[5.],
           [2.]])
    """
    sums: Floats = np.add.reduceat(counts[places], firsts, axis=0)
    return sums


@twin("suffice.kernels.ngrams.counts_numba", when=ngrams_pay)
def successor_sums(counts: Floats, firsts: Places) -> tuple[Floats, Floats]:
    """Return c and T (r, k) of runs of rows: the sum of counts, and how many are not zero.

    >>> successor_sums(np.array([[1.0], [2.0], [4.0]]), np.array([0]))
    (array([[7.]]), array([[3.]]))
    """
    kinds = np.add.reduceat((counts > 0.0).astype(np.float64), firsts, axis=0)
    return np.add.reduceat(counts, firsts, axis=0), kinds


@twin("suffice.kernels.ngrams.counts_numba", when=ngrams_pay)
def interpolated(
    counts: Floats,
    contexts: Floats,
    successors: Floats,
    low: Floats,
    ending: Places,
    context: Places,
) -> Floats:
    """Return P(b | ctx) (n, k) from c(ctx, b), c(ctx), T(ctx) and P(b | ctx⁻).

    Row i of `counts` belongs to row `context[i]` of `contexts` and `successors`, and to row
    `ending[i]` of `low`. Where T is 0 the context was never seen, and P(b | ctx⁻) stands.
    """
    shorter, kinds = low[ending], successors[context]
    total = contexts[context] + kinds
    mixed = np.divide(counts + kinds * shorter, total, out=shorter.copy(), where=kinds > 0.0)
    return np.maximum(mixed, SMALLEST)
