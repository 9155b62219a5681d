"""Log-densities of documents by n-gram tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import twin, worth_compiling
from suffice.kernels.ngrams.counts import SAVED, blocks_of, ngram_keys
from suffice.kernels.ngrams.texts import BITS, mask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.kernels.ngrams.index import NgramTable
    from suffice.kernels.ngrams.texts import Keys, Texts

    Floats = NDArray[np.float64]


def _scores_pay(texts: Texts, table: NgramTable, *_: object) -> bool:
    return _lookups_pay(texts, table.where.order)


def _lookups_pay(texts: Texts, order: int) -> bool:
    """Return whether looking up all n-grams of up to so many symbols is worth compiling."""
    return worth_compiling(max(texts.buffer.size, int(texts.lengths.sum()) * order), SAVED)


@twin("suffice.kernels.ngrams.scores_numba", when=_scores_pay)
def ngram_scores(texts: Texts, table: NgramTable, out: Floats) -> None:
    """Write log p of every document in every class into `out` (n, k)."""
    out[:] = 0.0
    for part in blocks_of(texts):
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
