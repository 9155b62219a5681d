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

from suffice.families.ngram_levels import levels_of
from suffice.kernels.compilation import part_of
from suffice.kernels.ngrams.counts import SMALLEST, interpolated
from suffice.kernels.ngrams.index import ClassCounts, NgramIndex, NgramTable
from suffice.kernels.ngrams.texts import SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.families.ngram_levels import Level
    from suffice.rows import FloatArray
    from suffice.statistics.keyed_counts import NgramCounts


def score_table(groups: Sequence[NgramCounts]) -> NgramTable:
    """Return the probabilities of all n-grams in all classes, ready to be looked up.

    Only what was seen in some class is stored. A symbol never seen after a context has the
    probability it has after ctx⁻, times T/(c + T): the `backoff`.
    """
    levels = levels_of(groups)
    index, places = _index(levels)
    logs, backoff = [], []
    low = np.full((1, len(groups)), 1.0 / SYMBOLS)
    for m, (below, level) in enumerate(pairwise(levels), 1):
        with part_of(levels[-1].counts.size * len(levels)):
            low = interpolated(
                level.counts, below.contexts, below.successors, low, level.ending, level.context
            )
        logs.append(np.log(low)[places[m - 1]])
        if m < len(places):
            backoff.append(_backoff(level)[places[m - 1]])
    nothing = np.empty((0, len(groups)))
    bottom = _backoff(levels[0])[0] - np.log(SYMBOLS)
    return NgramTable(index, np.concatenate(logs), np.concatenate([nothing, *backoff]), bottom)


def class_counts(groups: Sequence[NgramCounts]) -> tuple[NgramIndex, list[ClassCounts]]:
    """Return the index of all n-grams, and what was counted of them in each class."""
    levels = levels_of(groups)
    index, places = _index(levels)
    lower = list(zip(levels[1:-1], places[:-1], strict=True))
    counts = [level.counts[order] for level, order in zip(levels[1:], places, strict=True)]
    contexts = [levels[0].contexts, *(level.contexts[order] for level, order in lower)]
    successors = [levels[0].successors, *(level.successors[order] for level, order in lower)]
    joined = [np.concatenate(parts).T.copy() for parts in (counts, contexts, successors)]
    return index, [ClassCounts(*(part[c] for part in joined)) for c in range(len(groups))]


def _index(levels: Sequence[Level]) -> tuple[NgramIndex, list[NDArray[np.intp]]]:
    with part_of(len(levels) * len(levels[-1].keys)):
        return NgramIndex.of([level.keys for level in levels[1:]])


def _backoff(level: Level) -> FloatArray:
    """Return log T/(c + T); contexts never seen hand on everything."""
    share = np.ones_like(level.successors)
    total = level.contexts + level.successors
    np.divide(level.successors, total, out=share, where=level.successors > 0.0)
    return np.log(np.maximum(share, SMALLEST))
