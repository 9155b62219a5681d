"""Log-densities of documents by n-gram tables, and as if they had not been counted."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import twin, worth_compiling
from suffice.kernels.ngrams.counts import SAVED, SMALLEST, ngram_keys
from suffice.kernels.ngrams.texts import BITS, SYMBOLS, beginning, mask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.index import ClassCounts, NgramIndex, NgramTable
    from suffice.kernels.ngrams.texts import Keys, Texts

    Floats = NDArray[np.float64]

BLOCK_SYMBOLS = 1 << 16
"""Symbols worked on at a time: their keys and nodes are some megabytes, whatever the texts are."""


def _scores_pay(texts: Texts, table: NgramTable, *_: object) -> bool:
    return _lookups_pay(texts, table.where.order)


def _left_out_scores_pay(texts: Texts, _: Floats, index: NgramIndex, *__: object) -> bool:
    return _lookups_pay(texts, index.order)


def _lookups_pay(texts: Texts, order: int) -> bool:
    """Return whether looking up all n-grams of up to so many symbols is worth compiling."""
    return worth_compiling(max(texts.buffer.size, int(texts.lengths.sum()) * order), SAVED)


@twin("suffice.kernels.ngrams.scores_numba", when=_scores_pay)
def ngram_scores(texts: Texts, table: NgramTable, out: Floats) -> None:
    """Write log p of every document in every class into `out` (n, k)."""
    out[:] = 0.0
    for part in _blocks(texts):
        some = texts.taken(part)
        logs = symbol_logs(ngram_keys.plain(some, table.where.order), table)
        lengths = some.lengths
        there = lengths > 0
        starts = (np.cumsum(lengths) - lengths)[there]
        if len(starts):
            out[part][there] = np.add.reduceat(logs, starts, axis=0)


def symbol_logs(keys: Keys, table: NgramTable) -> Floats:
    """Return log P of the last symbol of each n-gram in every class (n, k)."""
    index = table.where
    logs = np.empty((len(keys), len(table.bottom)))
    logs[:] = table.bottom
    matched = np.zeros(len(keys), dtype=np.intp)
    left = np.arange(len(keys))
    for m in range(index.order, 0, -1):
        nodes = index.find(m, keys[left] & np.uint64(mask(m)))
        known = nodes >= 0
        logs[left[known]] = table.logs[nodes[known]]
        matched[left[known]] = m
        left = left[~known]
    # Contexts longer than the one of the n-gram found know the symbol no better.
    for m in range(1, index.order):
        some = np.flatnonzero(np.maximum(matched, 1) <= m)
        nodes = index.find(m, (keys[some] >> np.uint64(BITS)) & np.uint64(mask(m)))
        known = nodes >= 0
        logs[some[known]] += table.backoff[nodes[known]]
    return logs


@twin("suffice.kernels.ngrams.scores_numba", when=_left_out_scores_pay)
def left_out_scores(
    texts: Texts,
    weights: Floats,
    index: NgramIndex,
    held: ClassCounts,
    rounding: float,
    out: Floats,
) -> int:
    """Write log p of documents of one class as if they had not been counted into `out` (n,).

    `weights` say how often each was counted. Differences of counts below `rounding` of the count
    are nothing. Returns the number of a document that was not counted, or -1.
    """
    for d in range(texts.size):
        keys = ngram_keys.plain(texts.taken(slice(d, d + 1)), index.order)
        score = _left_out(keys, float(weights[d]), index, held, rounding)
        if score is None:
            return d
        out[d] = score
    return -1


def _left_out(
    keys: Keys, weight: float, index: NgramIndex, held: ClassCounts, rounding: float
) -> float | None:
    if not len(keys):
        return 0.0
    low = np.array([1.0 / SYMBOLS])
    # Which of the different shorter n-grams ends here, and which is the context; the last is BOS.
    ending = context = np.zeros(len(keys), dtype=np.intp)
    rows = np.zeros(1, dtype=np.intp)
    own = low
    for m in range(1, index.order + 1):
        different, firsts, ids, own = np.unique(
            keys & np.uint64(mask(m)), return_index=True, return_inverse=True, return_counts=True
        )
        nodes = index.find(m, different)
        if (nodes < 0).any():
            return None
        there = held.counts[nodes]
        left = there - weight * own
        if (left < -rounding * there).any():
            return None
        left[left <= rounding * there] = 0.0
        after = context[firsts]
        gone = np.bincount(after, left == 0.0, len(rows))
        fewer = weight * np.bincount(after, own, len(rows))
        successors = (held.successors[rows] - gone)[after]
        total = (held.contexts[rows] - fewer)[after] + successors
        shorter = low[ending[firsts]]
        low = np.divide(
            left + successors * shorter, total, out=shorter.copy(), where=successors > 0.0
        )
        low = np.maximum(low, SMALLEST)
        ending, context = ids, np.append(len(different), ids[:-1])
        if m < index.order:
            bos = index.find(m, np.array([beginning(m)], dtype=np.uint64))
            rows = np.append(nodes, bos) + 1
    return float(np.log(low) @ own)


def _blocks(texts: Texts) -> Iterator[slice]:
    """Yield neighbouring documents of about as many symbols as a block has."""
    ends = np.cumsum(texts.lengths)
    total = int(ends[-1]) if len(ends) else 0
    steps = np.searchsorted(ends, np.arange(BLOCK_SYMBOLS, total, BLOCK_SYMBOLS), side="left") + 1
    for start, stop in pairwise(sorted({0, texts.size, *steps.tolist()})):
        yield slice(start, stop)
