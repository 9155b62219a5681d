"""Scores of documents by an n-gram table in numba: the twin for large texts.

The longest n-gram known at a symbol is one symbol longer at most than that of the symbol before it,
and mostly it is a full one: then one look into the table gives the logarithms of all classes. That
look is prepared some symbols ahead, so that memory has the time it takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float64, int64, types, uint64

from suffice.kernels.compilation import array, compiled, once, target
from suffice.kernels.lanes.intrinsics_numba import prefetch
from suffice.kernels.ngrams.lookup_numba import (
    MASKS,
    SHIFT,
    fetch_node,
    find,
    index_types,
    keys_of_text,
    mixed_key,
    page,
    text_types,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.index import NgramTable
    from suffice.kernels.ngrams.texts import Texts

    Floats = NDArray[np.float64]

NEAR, FAR = 8, 16
"""Symbols between asking for a node, or for its page in the directory, and using it."""


def scores(texts: Texts, table: NgramTable, out: Floats) -> None:
    """See `ngram_scores_numpy.scores`."""
    longest = int(texts.lengths.max(initial=0))
    keys, mixed = np.empty(longest, dtype=np.uint64), np.empty(longest, dtype=np.uint64)
    flat = table.logs.reshape(-1), table.backoff.reshape(-1), table.bottom
    _scoring()(*texts, *table.where, *flat, keys, mixed, out)


@once
def _scoring() -> Callable[..., None]:
    table, keys = array(float64, 1), types.Array(uint64, 1, "C")
    return compiled(
        _score, *text_types(), *index_types(), table, table, table, keys, keys, target(2, "A")
    )


def _score(
    buffer: Any, starts: Any, stops: Any, whole: Any,
    order: int, mixed: Any, _: Any, directory: Any, first: Any, shifts: Any,
    logs: Floats, backoff: Floats, bottom: Floats, keys: Any, wanted: Any, out: Floats,
) -> None:  # fmt: skip
    k = bottom.size
    for d in range(starts.size):
        size = keys_of_text(buffer, starts[d], stops[d], whole[d], order, keys)
        for i in range(size):
            wanted[i] = mixed_key(keys[i])
        for c in range(k):
            out[d, c] = 0.0
        before = order - 1  # how much of what stands before the symbol is known
        for i in range(size):
            if i + FAR < size:
                prefetch(directory, page(wanted[i + FAR], order, first, shifts))
                fetch_node(wanted[i + NEAR], order, mixed, directory, first, shifts, logs, k)
            m, node = min(before + 1, order), int64(-1)
            if m == order:
                node = find(wanted[i], m, mixed, directory, first, shifts)
                m -= node < 0
            while node < 0 < m:
                sought = mixed_key(keys[i] & MASKS[m])
                node = find(sought, m, mixed, directory, first, shifts)
                m -= node < 0
            for c in range(k):
                out[d, c] += logs[node * k + c] if m > 0 else bottom[c]
            for j in range(max(m, 1), min(before, order - 1) + 1):
                sought = mixed_key((keys[i] >> SHIFT) & MASKS[j])
                node = find(sought, j, mixed, directory, first, shifts)
                if node < 0:
                    break
                for c in range(k):
                    out[d, c] += backoff[node * k + c]
            before = m
