"""Sparse rows and documents over threads: cut by the cells or symbols they hold, not by rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from suffice.engines.threads import SLICES_PER_WORKER, SMALL, answers, workers
from suffice.errors import BadLabels, BadWeights
from suffice.kernels.compilation import part_of
from suffice.kernels.sparse.sums import class_sums, packed, sparse_scores, sparse_winners
from suffice.rows import read_sparse
from suffice.statistics.algebra import total
from suffice.statistics.keyed_counts import NgramCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suffice.kernels.ngrams.texts import Texts
    from suffice.rows import FloatArray, IntArray, SparseRows


def read_sparse_rows(data: object) -> SparseRows:
    """Return a sparse matrix as `read_sparse` does, its columns checked by all cores.

    >>> from scipy.sparse import csr_array
    >>> read_sparse_rows(csr_array([[2, 0], [0, 5]])).shape
    (2, 2)
    """
    return read_sparse(data, answers)


def collect_class_sums(
    rows: SparseRows,
    codes: IntArray,
    size: int,
    weights: FloatArray | None = None,
    threshold: float | None = None,
) -> tuple[FloatArray, FloatArray, float]:
    """Return (totals (k,), sums (k, d), smallest cell) as `class_sums` does, by all cores.

    >>> from scipy.sparse import csr_array
    >>> from suffice.rows import read_sparse
    >>> rows = read_sparse(csr_array([[2, 0], [1, 0], [0, 5]]))
    >>> collect_class_sums(rows, np.array([0, 0, 1]), 2)
    (array([2., 1.]), array([[3., 0.],
           [0., 5.]]), 0.0)
    """

    def part(some: slice) -> tuple[FloatArray, FloatArray, float]:
        own = None if weights is None else weights[some]
        return class_sums(rows[some], codes[some], size, own, threshold)

    # A second partial sum has to be filled with zeros and added up: that must be worth it.
    most = max(2 * rows.stored // max(size * rows.width, 1), 1)
    found = for_sparse_blocks(part, rows, min(workers(), most))
    totals, sums, _ = found[0]
    for more_totals, more_sums, _ in found[1:]:
        totals += more_totals
        _add_to(sums, more_sums)
    return totals, sums, float(np.min([smallest for *_, smallest in found]))


def score_rows(
    rows: SparseRows, table: FloatArray, offsets: FloatArray, threshold: float | None = None
) -> tuple[FloatArray, float]:
    """Return (scores (n, k), smallest cell) as `sparse_scores` does, by all cores.

    >>> from scipy.sparse import csr_array
    >>> from suffice.rows import read_sparse
    >>> rows, table = read_sparse(csr_array([[2, 1]])), np.array([[1.0, 3.0], [0.0, 5.0]])
    >>> score_rows(rows, table, np.zeros(2))
    (array([[ 2., 11.]]), 0.0)
    """
    out = np.empty((len(rows), len(offsets)))
    table = _for_all(table, offsets, rows)
    found = for_sparse_blocks(
        lambda some: sparse_scores(rows[some], table, offsets, threshold, out[some]), rows
    )
    return out, float(np.min(found))


def winning_codes(
    rows: SparseRows, table: FloatArray, offsets: FloatArray, threshold: float | None = None
) -> tuple[IntArray, float]:
    """Return (the best-scored class (n,), smallest cell), by all cores; no scores are kept.

    >>> from scipy.sparse import csr_array
    >>> from suffice.rows import read_sparse
    >>> rows, table = read_sparse(csr_array([[2, 1]])), np.array([[1.0, 3.0], [0.0, 5.0]])
    >>> winning_codes(rows, table, np.zeros(2))
    (array([1]), 0.0)
    """
    out = np.empty(len(rows), np.intp)
    table = _for_all(table, offsets, rows)
    found = for_sparse_blocks(
        lambda some: sparse_winners(rows[some], table, offsets, threshold, out[some]), rows
    )
    return out, float(np.min(found))


def for_sparse_blocks(
    work: Callable[[slice], R], rows: SparseRows, most: int | None = None
) -> list[R]:
    """Return what `work` returns for slices that together are all rows, on several threads.

    The slices store about equally many cells; there are `most` of them at most, or a few for each
    thread. Few cells are one slice and no thread.

    >>> from scipy.sparse import csr_array
    >>> from suffice.rows import read_sparse
    >>> for_sparse_blocks(lambda some: some, read_sparse(csr_array([[2, 1]])))
    [slice(0, 1, None)]
    """
    stored = rows.stored
    count = SLICES_PER_WORKER * workers() if most is None else most
    if stored < SMALL or count == 1 or workers() == 1:
        parts = [slice(0, len(rows))]
    else:
        first = int(rows.indptr[0])
        ends = [first + stored * part // count for part in range(1, count)]
        cuts = {0, len(rows), *np.searchsorted(rows.indptr, ends).tolist()}
        parts = [slice(start, stop) for start, stop in pairwise(sorted(cuts))]
    with part_of(stored):
        return answers(lambda part: work(parts[part]), len(parts), stored)


def _for_all(table: FloatArray, offsets: FloatArray, rows: SparseRows) -> FloatArray:
    """Return the table as the loops read it, laid out once for all blocks and not in each."""
    return table if rows.stored < SMALL else packed(table, len(offsets))


def _add_to(sums: FloatArray, more: FloatArray) -> None:
    """Add sums to others in place, by all cores."""
    one, other = sums.reshape(-1), more.reshape(-1)
    many = workers()
    cuts = [one.size * part // many for part in range(many + 1)]

    def add(part: int) -> None:
        some = slice(cuts[part], cuts[part + 1])
        np.add(one[some], other[some], out=one[some])

    answers(add, many, one.size)


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
        found = answers(lambda c: total(groups[c]), size, symbols)
    # In one order, whatever the parts: other counts of these documents weigh the same to the bit.
    weight = np.bincount(codes, weights, minlength=size).tolist()
    return [replace(counts, weight=float(w)) for counts, w in zip(found, weight, strict=True)]


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
