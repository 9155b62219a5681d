"""Interpolated Witten-Bell: each context is as trustworthy as its successors are few.

    P(b | ctx) = [c(ctx, b) + T(ctx) P(b | ctx⁻)] / [c(ctx) + T(ctx)]

c counts, T is the number of different successors, ctx⁻ has one symbol less. A context never seen
hands on to ctx⁻. Below the empty context all 257 symbols (256 bytes and EOT) have 1/257, so that
probabilities sum to one; BOS is never predicted.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import part_of
from suffice.kernels.ngrams.counts import (
    SMALLEST,
    interpolated,
    run_sums,
    runs,
    sort_keys,
    successor_sums,
)
from suffice.kernels.ngrams.index import Level, NgramIndex, NgramTable
from suffice.kernels.ngrams.texts import BITS, SYMBOLS, mask
from suffice.statistics.algebra import total

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.texts import Keys
    from suffice.rows import FloatArray
    from suffice.statistics.keyed_counts import NgramCounts

    Places = NDArray[np.intp]


def score_table(levels: Sequence[Level]) -> NgramTable:
    """Return the probabilities of all n-grams in all classes, ready to be looked up.

    Only what was seen in some class is stored. A symbol never seen after a context has the
    probability it has after ctx⁻, times T/(c + T): the `backoff`.
    """
    index, places = _index(levels)
    lows = probabilities_of(levels)
    logs = [np.log(low)[place] for low, place in zip(lows, places, strict=True)]
    backoff = [
        _backoff(level)[place] for level, place in zip(levels[1:-1], places[:-1], strict=True)
    ]
    nothing = np.empty((0, levels[0].counts.shape[1]))
    bottom = _backoff(levels[0])[0] - np.log(SYMBOLS)
    return NgramTable(index, np.concatenate(logs), np.concatenate([nothing, *backoff]), bottom)


def probabilities_of(levels: Sequence[Level]) -> Iterator[FloatArray]:
    """Yield P of the n-grams of 1 … order symbols in all classes (n, k), as levels have them."""
    low: FloatArray = np.full((1, levels[0].counts.shape[1]), 1.0 / SYMBOLS)
    for below, level in pairwise(levels):
        with part_of(levels[-1].counts.size * len(levels)):
            low = interpolated(
                level.counts, below.contexts, below.successors, low, level.ending, level.context
            )
        yield low


def _index(levels: Sequence[Level]) -> tuple[NgramIndex, list[NDArray[np.intp]]]:
    with part_of(len(levels) * len(levels[-1].keys)):
        return NgramIndex.of([level.keys for level in levels[1:]])


def _backoff(level: Level) -> FloatArray:
    """Return log T/(c + T); contexts never seen hand on everything."""
    share = np.ones_like(level.successors)
    total = level.contexts + level.successors
    np.divide(level.successors, total, out=share, where=level.successors > 0.0)
    return np.log(np.maximum(share, SMALLEST))


def levels_of(groups: Sequence[NgramCounts]) -> list[Level]:
    """Return the levels 0 … order of the n-grams of all classes; level 0 is the empty context.

    >>> from suffice.statistics.keyed_counts import NgramCounts
    >>> nothing, letters, pairs = levels_of([NgramCounts.of([b"aba"], 2)])
    >>> letters.keys, letters.counts[:, 0], letters.successors[:, 0]
    (array([ 97,  98, 256, 257], dtype=uint64), array([2., 1., 0., 1.]), array([2., 1., 1., 0.]))
    """
    order = groups[0].order
    with part_of(order * sum(group.width for group in groups)):
        keys, counts = _side_by_side(groups)
    found = []
    nothing, nowhere = np.empty((0, len(groups))), np.empty(0, dtype=np.intp)
    above = Level(keys, counts, nothing, nothing, nowhere, nowhere)
    with part_of(len(keys) * order):
        for m in reversed(range(order)):
            above, below = _cut(above, m)
            found.append(above)
            above = below
    return [above, *reversed(found)]


def _side_by_side(groups: Sequence[NgramCounts]) -> tuple[Keys, FloatArray]:
    """Return the n-grams of any class, and their counts (n, k)."""
    keys = total(groups).keys
    counts = np.zeros((len(keys), len(groups)))
    for c, group in enumerate(groups):
        counts[np.searchsorted(keys, group.keys), c] = group.counts
    return keys, counts


def _cut(above: Level, m: int) -> tuple[Level, Level]:
    """Return a level with its places in the one below, and that one, of m symbols."""
    # Rows that are contexts only, such as BOS BOS, were never predicted: they add nothing below.
    seen = np.flatnonzero(above.counts.any(axis=1))
    every = len(seen) == len(above.keys)
    keys, counts = (above.keys, above.counts) if every else (above.keys[seen], above.counts[seen])
    prefixes = keys >> np.uint64(BITS)  # sorted, as the keys are
    starts = runs(prefixes)
    endings, order = sort_keys(keys & np.uint64(mask(m)), max(BITS * m, 1))
    firsts = runs(endings)
    nodes, ngrams, contexts = _union(endings[firsts], prefixes[starts])
    if not len(nodes):
        nodes = np.zeros(1 if m == 0 else 0, dtype=np.uint64)
    sums, after, kinds = np.zeros((3, len(nodes), counts.shape[1]))
    sums[ngrams] = run_sums(counts, order, firsts)
    after[contexts], kinds[contexts] = successor_sums(counts, starts)
    ending, context = (np.zeros(len(above.keys), dtype=np.intp) for _ in range(2))
    ending[seen[order]] = np.repeat(ngrams, np.diff(firsts, append=len(keys)))
    context[seen] = np.repeat(contexts, np.diff(starts, append=len(keys)))
    nowhere = np.empty(0, dtype=np.intp)
    below = Level(nodes, sums, after, kinds, nowhere, nowhere)
    return above._replace(ending=ending, context=context), below


def _union(ngrams: Keys, contexts: Keys) -> tuple[Keys, Places, Places]:
    """Return the sorted keys of both, and where each side has its places among them."""
    places = np.searchsorted(ngrams, contexts)
    new = places == len(ngrams)
    new[~new] = ngrams[places[~new]] != contexts[~new]
    nodes = np.insert(ngrams, places[new], contexts[new])
    kept = np.insert(np.ones(len(ngrams), dtype=np.bool_), places[new], values=False)
    return nodes, np.flatnonzero(kept), places + np.cumsum(new) - new
