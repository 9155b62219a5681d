"""N-grams of documents: made, counted, sorted and merged, in the way that suits the size.

texts      Texts, the documents side by side
order      1..7, symbols of an n-gram
bits       how many low bits of the keys may differ
counts     float64, one for each key
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.kernels.compilation import part_of, pays
from suffice.kernels.ngrams import counts_numpy as ngrams_numpy
from suffice.kernels.ngrams.texts import BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.kernels.ngrams.texts import Keys, Texts

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

__all__ = ["count_ngrams", "merge_counts", "sort_keys"]


def count_ngrams(texts: Texts, order: int, weights: Floats | None) -> tuple[Keys, Floats]:
    """Return the different n-grams of all documents, sorted, and how often each is there.

    With weights a document counts as often as its weight says.

    >>> from suffice.kernels.ngrams.texts import Texts
    >>> keys, counts = count_ngrams(Texts.of([b"aab", b"a"]), 1, None)
    >>> dict(zip(keys.tolist(), counts.tolist(), strict=True))
    {97: 3.0, 98: 1.0, 257: 2.0}
    """
    lengths, bits = texts.lengths, BITS * order
    with part_of(int(lengths.sum()) * order):
        if pays(texts.buffer):
            from suffice.kernels.ngrams import counts_numba as ngrams_numba

            keys = ngrams_numba.keys_of(texts, order)
            if weights is None:
                return ngrams_numba.counted(keys, bits)
        else:
            keys = ngrams_numpy.keys_of(texts, order)
            if weights is None:
                return ngrams_numpy.counted(keys, bits)
        keys, places = sort_keys(keys, bits)
    firsts = runs(keys)
    if not len(firsts):
        return keys, np.empty(0)
    return keys[firsts], np.add.reduceat(np.repeat(weights, lengths)[places], firsts)


def sort_keys(keys: Keys, bits: int) -> tuple[Keys, Places]:
    """Return the keys sorted, and where each was before; the same ones stay in their order.

    >>> sort_keys(np.array([7, 2, 7], dtype=np.uint64), 3)[1]
    array([1, 0, 2])
    """
    if pays(keys):
        from suffice.kernels.ngrams import counts_numba as ngrams_numba

        return ngrams_numba.ordered(keys, bits)
    return ngrams_numpy.ordered(keys, bits)


def merge_counts(
    keys: Keys, counts: Floats, more: Keys, more_counts: Floats
) -> tuple[Keys, Floats]:
    """Return the sorted keys of both sides, and the sums of their counts.

    >>> one, other = np.array([2, 5], dtype=np.uint64), np.array([3, 5], dtype=np.uint64)
    >>> merge_counts(one, np.ones(2), other, np.ones(2))
    (array([2, 3, 5], dtype=uint64), array([1., 1., 2.]))
    """
    if len(keys) < len(more):
        keys, counts, more, more_counts = more, more_counts, keys, counts
    if pays(more):  # few are put into many more quickly by bisection
        from suffice.kernels.ngrams import counts_numba as ngrams_numba

        return ngrams_numba.merged(keys, counts, more, more_counts)
    return ngrams_numpy.merged(keys, counts, more, more_counts)


def runs(keys: Keys) -> Places:
    """Return where each different one of the sorted keys is first.

    >>> runs(np.array([2, 2, 5], dtype=np.uint64))
    array([0, 2])
    """
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return np.flatnonzero(new)
