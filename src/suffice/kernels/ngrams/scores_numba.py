"""Scores of documents by an n-gram table, in numba: for large texts.

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
from suffice.kernels.ngrams.index import FACTORS
from suffice.kernels.ngrams.texts import BITS, EOT, beginning, mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.index import NgramTable
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


@once
def _scoring_loop() -> Callable[..., None]:
    table, keys = array(float64, 1), types.Array(uint64, 1, "C")
    return compiled(
        _score, *_text_types(), *_index_types(), table, table, table, keys, keys, target(2, "A")
    )


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
