"""Log-densities of documents that were counted, each as if it had not been: many at once.

In NumPy alone. The n-grams of a document are sorted with their last symbol first, so that those
that end alike lie together, however many symbols are looked at: one sort serves all lengths. What
is different of them is looked up once a block of documents; the n-grams that are a symbol shorter
are found by the links of the levels.

texts     documents, all of which were counted
codes     (n,) the class that each was counted in
weights   (n,) how often
levels    of n-grams of 0 … order symbols, as they were counted; all arrays are contiguous
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from suffice.kernels.ngrams.counts import ROOM, SMALLEST, blocks_of, distinct, ngram_keys
from suffice.kernels.ngrams.texts import BITS, SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.index import Level
    from suffice.kernels.ngrams.texts import Keys, Texts

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

BLOCK = 1 << 18
"""Symbols worked on at a time: enough of them share an n-gram, and what is held of them is some
tens of MB."""


def left_out_log_densities(
    texts: Texts,
    codes: Places,
    weights: Floats,
    levels: Sequence[Level],
    logs: Floats,
    rounding: Floats,
    out: Floats,
) -> int:
    """Write log p of each document in every class into `out` (n, k), each without itself.

    `logs` are those of the probabilities of the longest n-grams, with all documents counted: what
    other classes say. Differences of counts below `rounding` (k,) of the count are nothing. Returns
    the number of a document that was not counted, or -1.
    """
    for part in blocks_of(texts, BLOCK):
        of_block = texts.taken(part), codes[part], weights[part]
        strange = _block(*of_block, levels, logs, rounding, out[part])
        if strange >= 0:
            return int(part.start) + strange
    return -1


def _block(
    texts: Texts,
    codes: Places,
    weights: Floats,
    levels: Sequence[Level],
    logs: Floats,
    rounding: Floats,
    out: Floats,
) -> int:
    order, size = len(levels) - 1, len(rounding)
    keys = ngram_keys.plain(texts, order)
    symbols = _Symbols.of(keys, texts.lengths, order)
    groups = [symbols.alike(m) for m in range(order + 1)]
    nodes = _nodes(keys[groups[order].places], groups, levels)
    if nodes is None:
        return int(symbols.documents[np.argmin(np.isin(keys, levels[order].keys))])
    low = np.full(texts.size, 1.0 / SYMBOLS)
    for m in range(1, order + 1):
        here, below, node = groups[m], groups[m - 1], nodes[m]
        document = symbols.documents.take(here.places)
        own = codes.take(document)
        there = levels[m].counts.take(node * size + own)
        taken = weights.take(document) * here.sizes
        left = there - taken
        slack = rounding.take(own) * there
        if (left < -slack).any():
            return int(document[np.argmax(left < -slack)])
        left[left <= slack] = 0.0
        context = below.before.take(here.places)
        after = levels[m].context.take(node) * size + own
        kinds = levels[m - 1].successors.take(after)
        kinds -= np.bincount(context, left == 0.0, below.many).take(context)
        total = levels[m - 1].contexts.take(after)
        total -= np.bincount(context, taken, below.many).take(context)
        shorter = low.take(below.numbers.take(here.firsts))
        left += kinds * shorter
        total += kinds
        low = np.divide(left, total, out=shorter, where=kinds > 0.0)
        np.maximum(low, SMALLEST, out=low)
    here = groups[order]
    firsts = here.numbers[symbols.starts]
    said = logs.take(nodes[order], axis=0)
    said *= here.sizes[:, np.newaxis]
    np.add.reduceat(said, firsts, axis=0, out=out)
    out[np.arange(texts.size), codes] = np.add.reduceat(np.log(low) * here.sizes, firsts)
    return -1


class _Alike(NamedTuple):
    """The different n-grams of m symbols of each document, as groups of its symbols.

    numbers   of the sorted symbols: the group that each belongs to
    firsts    of the groups: where they begin among the sorted symbols
    places    of the groups: a symbol of each, by its place in the text
    sizes     of the groups: how many symbols they have
    before    of all symbols by their place: the group that the symbol before belongs to; of the
              first one of a document a group of its own
    many      how many groups there are, those of first symbols included
    """

    numbers: Places
    firsts: Places
    places: Places
    sizes: Places
    before: Places
    many: int


class _Symbols(NamedTuple):
    """The symbols of documents: sorted in each document, by what stands before them.

    documents  of each symbol by its place: the document that it is in
    starts     of each document: its first symbol
    order      the places of the sorted symbols
    shared     of the sorted symbols: the bits in which each differs from the one before it
    longest    symbols of the longest n-grams
    """

    documents: Places
    starts: Places
    order: Places
    shared: Keys
    longest: int

    @classmethod
    def of(cls, keys: Keys, lengths: Places, longest: int) -> Self:
        """Sort the symbols of documents; `keys` are the n-grams that end at them."""
        starts = np.cumsum(lengths) - lengths
        turned = np.zeros_like(keys)
        for place in range(longest):
            symbol = (keys >> np.uint64(BITS * place)) & np.uint64((1 << BITS) - 1)
            turned |= symbol << np.uint64(BITS * (longest - 1 - place))
        order = _sorted_places(turned, starts.tolist(), lengths.tolist(), BITS * longest)
        turned = turned[order]
        shared = np.empty_like(turned)
        np.bitwise_xor(turned[1:], turned[:-1], out=shared[1:])
        shared[starts] = ~np.uint64(0)
        documents = np.repeat(np.arange(len(lengths)), lengths)
        return cls(documents, starts, order, shared, longest)

    def alike(self, m: int) -> _Alike:
        """Return the groups of symbols at which the same n-grams of m symbols end."""
        if m == 0:
            firsts = self.starts
            numbers = self.documents
        else:
            new = self.shared >> np.uint64(BITS * (self.longest - m)) > 0
            firsts = np.flatnonzero(new)
            numbers = np.cumsum(new) - 1
        here = np.empty(len(self.order), dtype=np.intp)
        here[self.order] = numbers
        before = np.empty_like(here)
        before[1:] = here[:-1]
        size = len(firsts)
        many = size
        if m:  # what comes before the first symbol, BOS, is before no other
            before[self.starts] = size + np.arange(len(self.starts))
            many += len(self.starts)
        else:
            before[self.starts] = np.arange(len(self.starts))
        sizes = np.diff(firsts, append=len(self.order))
        return _Alike(numbers, firsts, self.order[firsts], sizes, before, many)


def _sorted_places(keys: Keys, starts: list[int], lengths: list[int], bits: int) -> Places:
    """Return the places of keys, sorted in each document."""
    places = np.empty(len(keys), dtype=np.intp)
    room = max(len(keys) - 1, 1).bit_length()
    if bits + room <= ROOM:
        # One number of both is sorted in half the time, and by one loop.
        both = keys << np.uint64(room)
        both |= np.arange(len(keys), dtype=np.uint64)
        for start, length in zip(starts, lengths, strict=True):
            both[start : start + length].sort()
        both &= np.uint64((1 << room) - 1)
        return both.astype(np.intp)
    for start, length in zip(starts, lengths, strict=True):
        stop = start + length
        places[start:stop] = start + np.argsort(keys[start:stop], kind="stable")
    return places


def _nodes(keys: Keys, groups: Sequence[_Alike], levels: Sequence[Level]) -> list[Places] | None:
    """Return the places in the levels of the n-grams of groups; None if one is not there."""
    order = len(levels) - 1
    node = _places_among(keys, levels[order].keys, BITS * order)
    if node is None:
        return None
    nodes = [node]
    for m in range(order - 1, -1, -1):
        above = groups[m + 1].numbers[groups[m].firsts]  # one of those that end like this
        node = levels[m + 1].ending[node[above]]
        nodes.append(node)
    return nodes[::-1]


def _places_among(keys: Keys, known: Keys, bits: int) -> Places | None:
    """Return the places of keys among sorted ones, or None; ascending ones are found quickly."""
    different, places = distinct(keys, bits)
    found = np.searchsorted(known, different)
    if not len(known) or (known[np.minimum(found, len(known) - 1)] != different).any():
        return None
    return found[places]
