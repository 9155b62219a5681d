"""Documents over threads of our own: cut by their symbols, not by their number."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from suffice.engines.threads import SLICES_PER_WORKER, SMALL, answers, workers
from suffice.errors import BadLabels, BadWeights
from suffice.kernels.compilation import part_of
from suffice.statistics.algebra import total
from suffice.statistics.ngram_counts import NgramCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.texts import Texts
    from suffice.rows import FloatArray, IntArray

R = TypeVar("R")

LARGEST = 1 << 22
"""Symbols whose n-grams are sorted at once, at 16 bytes each; a longer document is one part."""


def check_codes(texts: Texts, codes: IntArray, weights: FloatArray | None) -> None:
    """Refuse classes or weights that are not as many as the documents.

    >>> from suffice.kernels.ngrams.texts import Texts
    >>> check_codes(Texts.of([b"ham", b"spam"]), np.array([0]), None)
    Traceback (most recent call last):
    suffice.errors.BadLabels: 2 documents have 1 classes
    Hint: give one class for each document
    """
    if len(codes) != texts.size:
        raise BadLabels(
            f"{texts.size} documents have {len(codes)} classes",
            hint="give one class for each document",
        )
    if weights is not None and len(weights) != texts.size:
        raise BadWeights(
            f"{texts.size} documents have {len(weights)} weights",
            hint="give one weight for each document",
        )


def count_by_class(
    texts: Texts, order: int, codes: IntArray, size: int, weights: FloatArray | None = None
) -> list[NgramCounts]:
    """Return the counts of each class 0 … size - 1, by all cores.

    >>> from suffice.kernels.ngrams.texts import Texts
    >>> texts = Texts.of([b"ham", b"spam", b"ham"])
    >>> [group.weight for group in count_by_class(texts, 2, np.array([0, 1, 0]), 2)]
    [2.0, 1.0]
    """
    check_codes(texts, codes, weights)

    def count(some: IntArray) -> NgramCounts:
        return NgramCounts.of_texts(texts.taken(some), order, _taken(weights, some))

    symbols = int(texts.lengths.sum()) * order
    # Parts have to be merged again, so there are no more of them than threads and memory ask for.
    most = min(max(symbols // order // workers(), 1), LARGEST)
    parts = [
        (c, part) for c in range(size) for part in _parts(texts, np.flatnonzero(codes == c), most)
    ]
    with part_of(symbols):
        found = answers(lambda number: count(parts[number][1]), len(parts), symbols)
        groups: list[list[NgramCounts]] = [[NgramCounts.empty(order)] for _ in range(size)]
        for (c, _), counts in zip(parts, found, strict=True):
            groups[c].append(counts)
        return answers(lambda c: total(groups[c]), size, symbols)


def for_text_parts(
    work: Callable[[NDArray[np.intp]], R], texts: Texts, which: NDArray[np.intp], order: int
) -> list[R]:
    """Return what `work` returns for parts of the documents `which`, on several threads.

    >>> from suffice.kernels.ngrams.texts import Texts
    >>> for_text_parts(len, Texts.of([b"ham", b"spam"]), np.arange(2), 5)
    [2]
    """
    symbols = int(texts.lengths[which].sum()) * order
    count = SLICES_PER_WORKER * workers() if symbols >= SMALL and workers() > 1 else 1
    parts = _parts(texts, which, max(symbols // order // count, 1))
    with part_of(symbols):
        return answers(lambda number: work(parts[number]), len(parts), symbols)


def _parts(texts: Texts, which: NDArray[np.intp], most: int) -> list[NDArray[np.intp]]:
    """Cut documents into neighbours of about `most` symbols, as evenly as documents allow."""
    ends = np.cumsum(texts.lengths[which])
    symbols = int(ends[-1]) if len(ends) else 0
    count = max(-(-symbols // most), 1)
    edges = [symbols * part // count for part in range(1, count)]
    cuts = {0, len(which), *(np.searchsorted(ends, edges) + 1).tolist()}
    return [which[start:stop] for start, stop in pairwise(sorted(cuts))]


def _taken(weights: FloatArray | None, some: Sequence[int] | IntArray) -> FloatArray | None:
    return None if weights is None else weights[some]
