"""N-grams in numba: the twin for large texts and large models.

Keys are sorted digit by digit, from the lowest to the highest: a pass over millions of keys takes
some nanoseconds each, where comparing them would take a hundred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import boolean, float64, int64, intp, njit, uint8, uint32, uint64

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.lanes.intrinsics_numba import types
from suffice.kernels.ngrams.counts import SMALLEST
from suffice.kernels.ngrams.texts import BITS, EOT, beginning, mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.counts import Floats, Places
    from suffice.kernels.ngrams.texts import Keys, Texts

DIGIT = 11
"""Bits sorted by in one pass, at most: 2¹¹ places to write to are as many as a cache follows."""


def ngram_keys(texts: Texts, order: int) -> Keys:
    """See `counts.ngram_keys`."""
    keys = np.empty(int(texts.lengths.sum()), dtype=np.uint64)
    first, kept = np.uint64(beginning(order - 1)), np.uint64(mask(order))
    _filling_loop()(texts.buffer, texts.starts, texts.stops, texts.whole, first, kept, keys)
    return keys


def count_keys(keys: Keys, bits: int) -> tuple[Keys, Floats]:
    """See `counts.count_keys`; the keys given are overwritten."""
    spare = np.empty_like(keys)
    counts, tally = np.empty(len(keys)), np.zeros(1)
    _sorting_loop()(keys, spare, *_digits(bits), tally)
    keys = spare if tally[0] else keys
    _counting_loop()(keys, counts, tally)
    many = int(tally[0])
    return keys[:many].copy(), counts[:many].copy()


def sort_keys(keys: Keys, bits: int) -> tuple[Keys, Places]:
    """See `counts.sort_keys`."""
    keys, spare = keys.copy(), np.empty_like(keys)
    order = np.arange(len(keys), dtype=np.uint32)
    other = np.empty_like(order)
    tally = np.zeros(1)
    _ordering_loop()(keys, spare, order, other, *_digits(bits), tally)
    if tally[0]:
        return spare, other.astype(np.intp)
    return keys, order.astype(np.intp)


def merge_counts(
    keys: Keys, counts: Floats, more: Keys, more_counts: Floats
) -> tuple[Keys, Floats]:
    """See `counts.merge_counts`."""
    both = np.empty(len(keys) + len(more), dtype=np.uint64)
    sums, tally = np.empty(len(both)), np.zeros(1)
    _merging_loop()(keys, counts, more, more_counts, both, sums, tally)
    many = int(tally[0])
    return both[:many].copy(), sums[:many].copy()


def run_sums(counts: Floats, places: Places, firsts: Places) -> Floats:
    """See `counts.run_sums`."""
    sums = np.zeros((len(firsts), counts.shape[1]))
    _run_loop()(counts, places, firsts, sums)
    return sums


def successor_sums(counts: Floats, firsts: Places) -> tuple[Floats, Floats]:
    """See `counts.successor_sums`."""
    sums, kinds = np.zeros((2, len(firsts), counts.shape[1]))
    _successor_loop()(counts, firsts, sums, kinds)
    return sums, kinds


def interpolated(
    counts: Floats,
    contexts: Floats,
    successors: Floats,
    low: Floats,
    ending: Places,
    context: Places,
) -> Floats:
    """See `counts.interpolated`."""
    mixed = np.empty_like(counts)
    _interpolating_loop()(counts, contexts, successors, low, ending, context, mixed)
    return mixed


def _digits(bits: int) -> tuple[int, int]:
    """Return how many passes there are, and how many bits each sorts by."""
    passes = -(-bits // DIGIT)
    return passes, -(-bits // passes)


KEYS = types.Array(uint64, 1, "C")
"""The type of the keys that a loop writes to: one axis, without gaps."""
NUMBERS = types.Array(uint32, 1, "C")
"""The same of their places."""


@once
def _filling_loop() -> Callable[..., None]:
    places = array(int64, 1, "A")
    return compiled(
        _fill, array(uint8, 1), places, places, array(boolean, 1, "A"), uint64, uint64, KEYS
    )


@once
def _sorting_loop() -> Callable[..., None]:
    return compiled(_sort, KEYS, KEYS, intp, intp, target(1))


@once
def _ordering_loop() -> Callable[..., None]:
    return compiled(_order, KEYS, KEYS, NUMBERS, NUMBERS, intp, intp, target(1))


@once
def _counting_loop() -> Callable[..., None]:
    return compiled(_count_runs, KEYS, target(1), target(1))


@once
def _merging_loop() -> Callable[..., None]:
    side = array(uint64, 1), array(float64, 1)
    return compiled(_merge, *side, *side, KEYS, target(1), target(1))


def _fill(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64],
    whole: NDArray[np.bool_], first: np.uint64, kept: np.uint64, keys: Keys,
) -> None:  # fmt: skip
    shift, end = uint64(BITS), uint64(EOT)
    q = 0
    for d in range(starts.size):
        key = first
        for p in range(starts[d], stops[d]):
            key = ((key << shift) | uint64(buffer[p])) & kept
            keys[q] = key
            q += 1
        if whole[d]:
            keys[q] = ((key << shift) | end) & kept
            q += 1


@njit(nogil=True)
def _places(keys: Keys, passes: int, digit: int) -> NDArray[np.int64]:
    """Return where the keys of each digit begin, pass by pass; -1 where one digit is all."""
    low = uint64((1 << digit) - 1)
    table = np.zeros((passes, 1 << digit), dtype=np.int64)
    for i in range(keys.size):
        key = keys[i]
        for t in range(passes):
            table[t, key & low] += 1
            key >>= uint64(digit)
    for t in range(passes):
        place = 0
        for value in range(1 << digit):
            many = table[t, value]
            table[t, value] = place
            place += many
            if many == keys.size:
                table[t, 0] = -1
                break
    return table


def _sort(keys: Keys, spare: Keys, passes: int, digit: int, tally: Floats) -> None:
    """Sort, and say whether the sorted keys are in the spare array."""
    low = uint64((1 << digit) - 1)
    table = _places(keys, passes, digit)
    moved = False
    for t in range(passes):
        if table[t, 0] < 0:
            continue
        shift = uint64(t * digit)
        where = table[t]
        for i in range(keys.size):
            key = keys[i]
            value = (key >> shift) & low
            spare[where[value]] = key
            where[value] += 1
        keys, spare = spare, keys
        moved = not moved
    tally[0] = moved


def _order(
    keys: Keys,
    spare: Keys,
    order: NDArray[np.uint32],
    other: NDArray[np.uint32],
    passes: int,
    digit: int,
    tally: Floats,
) -> None:
    low = uint64((1 << digit) - 1)
    table = _places(keys, passes, digit)
    moved = False
    for t in range(passes):
        if table[t, 0] < 0:
            continue
        shift = uint64(t * digit)
        where = table[t]
        for i in range(keys.size):
            key = keys[i]
            value = (key >> shift) & low
            place = where[value]
            spare[place] = key
            other[place] = order[i]
            where[value] = place + 1
        keys, spare = spare, keys
        order, other = other, order
        moved = not moved
    tally[0] = moved


def _count_runs(keys: Keys, counts: Floats, tally: Floats) -> None:
    """Keep each of the sorted keys once, at the front, and count it; say how many are left."""
    many = 0
    i = 0
    while i < keys.size:
        key = keys[i]
        start = i
        while i < keys.size and keys[i] == key:
            i += 1
        keys[many] = key
        counts[many] = float(i - start)
        many += 1
    tally[0] = many


def _merge(
    keys: Keys,
    counts: Floats,
    more: Keys,
    more_counts: Floats,
    both: Keys,
    sums: Floats,
    tally: Floats,
) -> None:
    i = j = many = 0
    while i < keys.size and j < more.size:
        one, other = keys[i], more[j]
        if one == other:
            both[many], sums[many] = one, counts[i] + more_counts[j]
            i, j = i + 1, j + 1
        elif one < other:
            both[many], sums[many] = one, counts[i]
            i += 1
        else:
            both[many], sums[many] = other, more_counts[j]
            j += 1
        many += 1
    while i < keys.size:
        both[many], sums[many] = keys[i], counts[i]
        i, many = i + 1, many + 1
    while j < more.size:
        both[many], sums[many] = more[j], more_counts[j]
        j, many = j + 1, many + 1
    tally[0] = many


@once
def _run_loop() -> Callable[..., None]:
    places = array(intp, 1)
    return compiled(_sum_runs, array(float64, 2), places, places, target(2))


@once
def _successor_loop() -> Callable[..., None]:
    return compiled(_count_successors, array(float64, 2), array(intp, 1), target(2), target(2))


@once
def _interpolating_loop() -> Callable[..., None]:
    table, places = array(float64, 2), array(intp, 1)
    return compiled(_interpolate, table, table, table, table, places, places, target(2))


def _sum_runs(counts: Floats, places: Places, firsts: Places, sums: Floats) -> None:
    for r in range(firsts.size):
        stop = firsts[r + 1] if r + 1 < firsts.size else places.size
        for i in range(firsts[r], stop):
            for c in range(sums.shape[1]):
                sums[r, c] += counts[places[i], c]


def _count_successors(counts: Floats, firsts: Places, sums: Floats, kinds: Floats) -> None:
    for r in range(firsts.size):
        stop = firsts[r + 1] if r + 1 < firsts.size else counts.shape[0]
        for i in range(firsts[r], stop):
            for c in range(sums.shape[1]):
                sums[r, c] += counts[i, c]
                kinds[r, c] += 1.0 if counts[i, c] > 0.0 else 0.0


def _interpolate(
    counts: Floats, contexts: Floats, successors: Floats, low: Floats,
    ending: Places, context: Places, out: Floats,
) -> None:  # fmt: skip
    for i in range(out.shape[0]):
        below, before = ending[i], context[i]
        for c in range(out.shape[1]):
            p, kinds = low[below, c], successors[before, c]
            if kinds > 0.0:
                p = (counts[i, c] + kinds * p) / (contexts[before, c] + kinds)
            out[i, c] = max(p, SMALLEST)
