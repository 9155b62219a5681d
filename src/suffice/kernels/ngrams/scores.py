"""Log-densities of documents by n-gram tables, in the way that suits the size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.kernels.compilation import part_of, pays
from suffice.kernels.ngrams import scores_numpy as ngram_scores_numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from suffice.kernels.ngrams.index import ClassCounts, NgramIndex, NgramTable
    from suffice.kernels.ngrams.texts import Texts

    Floats = NDArray[np.float64]

__all__ = ["left_out_scores", "ngram_scores"]


def ngram_scores(texts: Texts, table: NgramTable, out: Floats) -> None:
    """Write log p of every document in every class into `out` (n, k)."""
    with part_of(int(texts.lengths.sum()) * table.where.order):
        if pays(texts.buffer):
            from suffice.kernels.ngrams import scores_numba as ngram_scores_numba

            ngram_scores_numba.scores(texts, table, out)
        else:
            ngram_scores_numpy.scores(texts, table, out)


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
    with part_of(int(texts.lengths.sum()) * index.order):
        if pays(texts.buffer):
            from suffice.kernels.ngrams import left_out_numba as ngram_left_out_numba

            return ngram_left_out_numba.left_out(texts, weights, index, held, rounding, out)
        return ngram_scores_numpy.left_out(texts, weights, index, held, rounding, out)
