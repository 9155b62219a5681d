"""Documents left out of the counts, in numba: the twin for large texts.

A document's own n-grams are few, and so are looked up once each: first all that differ, counted in
a small table of their own; then what is left of each without them; then the probabilities, from
those of the n-grams that are one symbol shorter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float64, int32, njit, uint64

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.lanes.intrinsics_numba import prefetch
from suffice.kernels.ngrams.lookup_numba import (
    BEGINNINGS,
    MASKS,
    fetch_node,
    find,
    index_types,
    keys_of_text,
    mixed_key,
    page,
    text_types,
)
from suffice.kernels.ngrams.sums_numpy import SMALLEST
from suffice.kernels.ngrams.texts import SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.index import ClassCounts, NgramIndex
    from suffice.kernels.ngrams.texts import Texts

    Floats = NDArray[np.float64]

AHEAD = 8
"""N-grams between asking for a node and using it."""


def left_out(
    texts: Texts,
    weights: Floats,
    index: NgramIndex,
    held: ClassCounts,
    rounding: float,
    out: Floats,
) -> int:
    """See `ngram_scores_numpy.left_out`."""
    strange = np.full(1, -1.0)
    _leaving_out()(*texts, weights, *index, *held, rounding, out, strange)
    return int(strange[0])


@once
def _leaving_out() -> Callable[..., None]:
    held = [array(float64, 1)] * 3
    weights = array(float64, 1, "A")
    given = *text_types(), weights, *index_types(), *held, float64
    return compiled(_leave_out, *given, target(1, "A"), target(1))


@njit(nogil=True)
def _different(
    keys: Any, size: Any, m: Any, table: Any, bits: Any, hashes: Any, own: Floats,
    firsts: Any, ids: Any, directory: Any, first: Any, shifts: Any,
) -> Any:  # fmt: skip
    """Number the different n-grams of m symbols, count them, and return how many there are."""
    shift, wrap = uint64(64 - bits), uint64((1 << bits) - 1)
    table[: 1 << bits] = -1
    many = 0
    for i in range(size):
        key = mixed_key(keys[i] & MASKS[m])
        slot = key >> shift
        while table[slot] >= 0 and hashes[table[slot]] != key:
            slot = (slot + uint64(1)) & wrap
        number = table[slot]
        if number < 0:
            number = int32(many)
            table[slot], hashes[many], own[many], firsts[many] = number, key, 0.0, i
            prefetch(directory, page(key, m, first, shifts))
            many += 1
        own[number] += 1.0
        ids[i] = number
    return many


@njit(nogil=True)
def _interpolated(count: Any, after: Any, kinds: Any, lower: Any) -> Any:
    """Return P(b | ctx): c(ctx, b), c(ctx), T(ctx) and P(b | ctx⁻) given; T is 0 if never seen."""
    if kinds <= 0.0:
        return lower
    return max((count + kinds * lower) / (after + kinds), SMALLEST)


@njit(nogil=True)
def _bits(size: Any) -> Any:
    """Return the bits of a table that is at most half full of so many keys."""
    bits = 2
    while (1 << bits) < 2 * size:
        bits += 1
    return bits


def _leave_out(
    buffer: Any, starts: Any, stops: Any, whole: Any, weights: Floats,
    order: int, mixed: Any, _: Any, directory: Any, first: Any, shifts: Any,
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
        size = keys_of_text(buffer, starts[d], stops[d], whole[d], order, keys)
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
                if u + AHEAD < many:
                    fetch_node(hashes[u + AHEAD], m, mixed, directory, first, shifts, counts, 1)
                node = find(hashes[u], m, mixed, directory, first, shifts)
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
                wanted = mixed_key(BEGINNINGS[m])
                rows[many] = 1 + find(wanted, m, mixed, directory, first, shifts)
                ids[0] = many
            ids, lower_ids = lower_ids, ids
            low, lower = lower, low
            rows, lower_rows = lower_rows, rows
            below = many
        total = 0.0
        for u in range(many):
            total += own[u] * np.log(lower[u])
        out[d] = total
