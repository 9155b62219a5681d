"""Scores of documents by an n-gram table, and left out of its counts, in numba: for large texts.

The longest n-gram known at a symbol is one symbol longer at most than that of the symbol before it,
and mostly it is a full one: then one look into the table gives the logarithms of all classes. That
look is prepared some symbols ahead, so that memory has the time it takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import boolean, float64, int32, int64, njit, uint8, uint64

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.lanes.intrinsics_numba import prefetch, types
from suffice.kernels.ngrams.counts import SMALLEST
from suffice.kernels.ngrams.index import FACTORS
from suffice.kernels.ngrams.texts import BITS, EOT, SYMBOLS, beginning, mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.index import ClassCounts, NgramIndex, NgramTable
    from suffice.kernels.ngrams.scores import Floats
    from suffice.kernels.ngrams.texts import Keys, Texts

    Bytes = NDArray[np.uint8]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]
    Pages = NDArray[np.int32]

NODES_AHEAD, PAGES_AHEAD = 8, 16
"""N-grams between asking for a node, or for its page in the directory, and using it: as long as
memory takes to answer."""

FEW_KEYS = 8
"""Keys that are gone through one by one; among more of them the place is halved."""

FIRST_FACTOR, SECOND_FACTOR = (np.uint64(factor) for factor in FACTORS)
"""What keys are mixed with, as numba needs it: a plain number would be signed."""
HALF, SHIFT, END = np.uint64(32), np.uint64(BITS), np.uint64(EOT)
"""What they are made of, without a sign as well."""

MASKS = np.array([mask(m) for m in range(8)], dtype=np.uint64)
"""The bits of m symbols, for every m that a key has room for."""
BEGINNINGS = np.array([beginning(m) for m in range(8)], dtype=np.uint64)
"""m times BOS, for the same m."""


def ngram_scores(texts: Texts, table: NgramTable, out: Floats) -> None:
    """See `scores.ngram_scores`."""
    longest = int(texts.lengths.max(initial=0))
    keys, mixed = np.empty(longest, dtype=np.uint64), np.empty(longest, dtype=np.uint64)
    flat = table.logs.reshape(-1), table.backoff.reshape(-1), table.bottom
    _scoring_loop()(*texts, *table.where, *flat, keys, mixed, out)


def left_out_scores(
    texts: Texts,
    weights: Floats,
    index: NgramIndex,
    held: ClassCounts,
    rounding: float,
    out: Floats,
) -> int:
    """See `scores.left_out_scores`."""
    strange = np.full(1, -1.0)
    _left_out_loop()(*texts, weights, *index, *held, rounding, out, strange)
    return int(strange[0])


@once
def _scoring_loop() -> Callable[..., None]:
    table, keys = array(float64, 1), types.Array(uint64, 1, "C")
    return compiled(
        _score, *_text_types(), *_index_types(), table, table, table, keys, keys, target(2, "A")
    )


@once
def _left_out_loop() -> Callable[..., None]:
    held = [array(float64, 1)] * 3
    weights = array(float64, 1, "A")
    given = *_text_types(), weights, *_index_types(), *held, float64
    return compiled(_leave_out, *given, target(1, "A"), target(1))


def _text_types() -> list[object]:
    """Return numba's types of the fields of `Texts`."""
    places = array(int64, 1, "A")
    return [array(uint8, 1), places, places, array(boolean, 1, "A")]


def _index_types() -> list[object]:
    """Return numba's types of the fields of `NgramIndex`."""
    levels = array(int64, 1)
    return [int64, array(uint64, 1), levels, array(int32, 1), levels, levels]


@njit(nogil=True)
def _mixed_key(key: np.uint64) -> np.uint64:
    """Return what `index.mix` makes of one key."""
    key ^= key >> HALF
    key *= FIRST_FACTOR
    key ^= key >> HALF
    key *= SECOND_FACTOR
    key ^= key >> HALF
    return key


@njit(nogil=True)
def _keys_of_text(buffer: Bytes, start: int, stop: int, whole: bool, order: int, keys: Keys) -> int:
    """Write the n-grams of one document, and return how many there are."""
    key = BEGINNINGS[order - 1]
    size = 0
    for p in range(start, stop):
        key = ((key << SHIFT) | uint64(buffer[p])) & MASKS[order]
        keys[size] = key
        size += 1
    if whole:
        keys[size] = ((key << SHIFT) | END) & MASKS[order]
        size += 1
    return size


@njit(nogil=True)
def _page(wanted: np.uint64, m: int, first: Places, shifts: Places) -> np.uint64:
    """Return the place in the directory of a mixed key of m symbols."""
    page: np.uint64 = uint64(first[m]) + (wanted >> uint64(shifts[m]))
    return page


@njit(nogil=True)
def _find_node(
    wanted: np.uint64, m: int, mixed: Keys, directory: Pages, first: Places, shifts: Places
) -> np.int64:
    """Return the node of a mixed key of m symbols, or -1."""
    place = _page(wanted, m, first, shifts)
    low, high = int64(directory[place]), int64(directory[place + uint64(1)])
    while high - low > FEW_KEYS:
        middle = (low + high) // 2
        if mixed[middle] < wanted:
            low = middle + 1
        else:
            high = middle + 1
    while low < high and mixed[low] < wanted:
        low += 1
    return low if low < high and mixed[low] == wanted else int64(-1)


@njit(nogil=True)
def _fetch_node(
    wanted: np.uint64, m: int, mixed: Keys, directory: Pages, first: Places, shifts: Places,
    values: Floats, width: int,
) -> None:  # fmt: skip
    """Ask for the keys that this one may be among, and for what is stored beside the first."""
    low = int64(directory[_page(wanted, m, first, shifts)])
    prefetch(mixed, low)
    prefetch(values, low * width)


# Documents scored


def _score(
    buffer: Bytes, starts: Places, stops: Places, whole: Flags,
    order: int, mixed: Keys, _: Places, directory: Pages, first: Places, shifts: Places,
    logs: Floats, backoff: Floats, bottom: Floats, keys: Keys, wanted: Keys, out: Floats,
) -> None:  # fmt: skip
    k = bottom.size
    for d in range(starts.size):
        size = _keys_of_text(buffer, starts[d], stops[d], whole[d], order, keys)
        for i in range(size):
            wanted[i] = _mixed_key(keys[i])
        for c in range(k):
            out[d, c] = 0.0
        before = order - 1  # how much of what stands before the symbol is known
        for i in range(size):
            if i + PAGES_AHEAD < size:
                prefetch(directory, _page(wanted[i + PAGES_AHEAD], order, first, shifts))
                _fetch_node(
                    wanted[i + NODES_AHEAD], order, mixed, directory, first, shifts, logs, k
                )
            m, node = min(before + 1, order), int64(-1)
            if m == order:
                node = _find_node(wanted[i], m, mixed, directory, first, shifts)
                m -= int(node < 0)
            while node < 0 < m:
                sought = _mixed_key(keys[i] & MASKS[m])
                node = _find_node(sought, m, mixed, directory, first, shifts)
                m -= int(node < 0)
            for c in range(k):
                out[d, c] += logs[node * k + c] if m > 0 else bottom[c]
            for j in range(max(m, 1), min(before, order - 1) + 1):
                sought = _mixed_key((keys[i] >> SHIFT) & MASKS[j])
                node = _find_node(sought, j, mixed, directory, first, shifts)
                if node < 0:
                    break
                for c in range(k):
                    out[d, c] += backoff[node * k + c]
            before = m


# Documents left out
#
# A document's own n-grams are few, and so are looked up once each: first all that differ, counted
# in a small table of their own; then what is left of each without them; then the probabilities,
# from those of the n-grams that are one symbol shorter.


@njit(nogil=True)
def _different(
    keys: Keys, size: int, m: int, table: Pages, bits: int, hashes: Keys, own: Floats,
    firsts: Pages, ids: Pages, directory: Pages, first: Places, shifts: Places,
) -> int:  # fmt: skip
    """Number the different n-grams of m symbols, count them, and return how many there are."""
    shift, wrap = uint64(64 - bits), uint64((1 << bits) - 1)
    table[: 1 << bits] = -1
    many = 0
    for i in range(size):
        key = _mixed_key(keys[i] & MASKS[m])
        slot = key >> shift
        while table[slot] >= 0 and hashes[table[slot]] != key:
            slot = (slot + uint64(1)) & wrap
        number = table[slot]
        if number < 0:
            number = int32(many)
            table[slot], hashes[many], own[many], firsts[many] = number, key, 0.0, i
            prefetch(directory, _page(key, m, first, shifts))
            many += 1
        own[number] += 1.0
        ids[i] = number
    return many


@njit(nogil=True)
def _interpolated(count: float, after: float, kinds: float, lower: float) -> float:
    """Return P(b | ctx): c(ctx, b), c(ctx), T(ctx) and P(b | ctx⁻) given; T is 0 if never seen."""
    if kinds <= 0.0:
        return lower
    return max((count + kinds * lower) / (after + kinds), SMALLEST)


@njit(nogil=True)
def _bits(size: int) -> int:
    """Return the bits of a table that is at most half full of so many keys."""
    bits = 2
    while (1 << bits) < 2 * size:
        bits += 1
    return bits


def _leave_out(
    buffer: Bytes, starts: Places, stops: Places, whole: Flags, weights: Floats,
    order: int, mixed: Keys, _: Places, directory: Pages, first: Places, shifts: Places,
    counts: Floats, contexts: Floats, successors: Floats, rounding: float,
    out: Floats, strange: Floats,
) -> None:  # fmt: skip
    longest = 1
    for d in range(starts.size):
        longest = max(longest, stops[d] - starts[d] + 1)
    keys, hashes = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    table, firsts = np.empty(1 << _bits(longest), np.int32), np.empty(longest, np.int32)
    own, left = np.empty(longest), np.empty(longest)
    # Of the level at work and of the one below it. The context of the first symbol, BOS, has the
    # number after all others, the empty context the number 0.
    ids, lower_ids = np.empty(longest + 1, np.int32), np.empty(longest + 1, np.int32)
    low, lower = np.empty(longest), np.empty(longest)
    rows, lower_rows = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    gone, fewer = np.empty(longest + 1), np.empty(longest + 1)
    for d in range(starts.size):
        size = _keys_of_text(buffer, starts[d], stops[d], whole[d], order, keys)
        bits, weight, many, below = _bits(size), weights[d], 0, 0
        lower[0], lower_rows[0] = 1.0 / SYMBOLS, 0
        lower_ids[: size + 1] = 0
        for m in range(1, order + 1):
            # Ids begin with that of BOS, so that the context of symbol i is at i.
            many = _different(
                keys, size, m, table, bits, hashes, own, firsts, ids[1:], directory, first, shifts
            )
            gone[: below + 1] = 0.0
            fewer[: below + 1] = 0.0
            for u in range(many):
                if u + NODES_AHEAD < many:
                    _fetch_node(
                        hashes[u + NODES_AHEAD], m, mixed, directory, first, shifts, counts, 1
                    )
                node = _find_node(hashes[u], m, mixed, directory, first, shifts)
                there = counts[node] if node >= 0 else 0.0
                rest = there - weight * own[u]
                if node < 0 or rest < -rounding * there:
                    strange[0] = d
                    return
                if m < order:  # one level up it may be a context
                    prefetch(contexts, node + 1)
                    prefetch(successors, node + 1)
                left[u] = rest if rest > rounding * there else 0.0
                rows[u] = node + 1
                context = lower_ids[firsts[u]]
                fewer[context] += own[u]
                gone[context] += left[u] == 0.0
            for u in range(many):
                place = firsts[u]
                context = lower_ids[place]
                row = lower_rows[context]
                kinds = successors[row] - gone[context]
                after = contexts[row] - weight * fewer[context]
                low[u] = _interpolated(left[u], after, kinds, lower[lower_ids[place + 1]])
            if m < order:
                wanted = _mixed_key(BEGINNINGS[m])
                rows[many] = 1 + _find_node(wanted, m, mixed, directory, first, shifts)
                ids[0] = many
            ids, lower_ids = lower_ids, ids
            low, lower = lower, low
            rows, lower_rows = lower_rows, rows
            below = many
        total = 0.0
        for u in range(many):
            total += own[u] * np.log(lower[u])
        out[d] = total
