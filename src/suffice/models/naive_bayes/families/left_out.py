"""Scores of rows taken out of the counts they were part of: exact, without refits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.models.naive_bayes.families.protocol import Scores
from suffice.models.naive_bayes.smoothing import log_shares
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from suffice.models.naive_bayes.column_blocks import Block
    from suffice.models.naive_bayes.families.linear_laws import LinearLaws
    from suffice.rows import FloatArray, IntArray


def less(held: FloatArray, gone: FloatArray | float, scale: FloatArray | None = None) -> FloatArray:
    """Return held - gone, where what only rounding can have left is zero.

    `scale` is what rounding was of, if `held` is itself a difference of larger numbers.
    """
    left = held - gone
    found: FloatArray = np.where(left <= 1e-12 * (held if scale is None else scale), 0.0, left)
    return found


def with_own(scores: Scores, codes: IntArray, own: Scores) -> Scores:
    """Return scores in which each row's own class has been judged anew."""
    rows = np.arange(len(codes))
    logs = scores.logs.copy()
    logs[rows, codes] = own.logs
    if scores.orders is None and own.orders is None:
        return Scores(logs, None)
    orders = np.zeros_like(logs) if scores.orders is None else scores.orders.copy()
    orders[rows, codes] = 0.0 if own.orders is None else own.orders
    return Scores(logs, orders)


def presences_left_out(
    laws: LinearLaws,
    ones: FloatArray,
    held: FloatArray,
    alpha: float,
    block: Block,
    codes: IntArray,
    weights: FloatArray,
) -> Scores:
    """Return Bernoulli scores: only the row's own class changes, by one success or failure."""
    scores = laws.scores(block)
    zeros = np.maximum(held - ones, 0.0)
    if isinstance(block, SparseRows):
        own = _sparse_presences(laws, ones, zeros, held, alpha, block, codes, weights)
        return with_own(scores, codes, own)
    assert isinstance(block, np.ndarray)
    cells = laws.cells(block)
    seen = ~np.isnan(cells)
    w = weights[:, np.newaxis] * seen
    is_one = np.where(seen, cells, 0.0) > 0.0
    whole = np.broadcast_to(held, ones.shape)[codes]
    event = less(np.where(is_one, ones[codes], zeros[codes]), w, whole)
    found = log_shares(event, less(whole, w), alpha, 2.0)
    logs = np.where(seen, found.logs, 0.0).sum(axis=1)
    orders = None if found.orders is None else np.where(seen, found.orders, 0.0).sum(axis=1)
    return with_own(scores, codes, Scores(logs, orders))


def _sparse_presences(
    laws: LinearLaws,
    ones: FloatArray,
    zeros: FloatArray,
    held: FloatArray,
    alpha: float,
    rows: SparseRows,
    codes: IntArray,
    weights: FloatArray,
) -> Scores:
    """Judge absences once per class and weight, then put right the few cells that are there."""
    place, column, _ = laws.stored(rows)
    logs, orders = np.zeros(len(rows)), np.zeros(len(rows))
    own = codes[place]
    for c in np.unique(codes):
        total = float(held[c, 0])
        for w in np.unique(weights[codes == c]):
            rest = np.array([max(total - w, 0.0) if total - w > 1e-12 * total else 0.0])
            absent = log_shares(less(zeros[c], w, held[c]), rest, alpha, 2.0)
            chosen = (codes == c) & (weights == w)
            logs[chosen] = absent.logs.sum()
            if absent.orders is not None:
                orders[chosen] = absent.orders.sum()
            # A word that every row has is never absent: its term cancels below.
            cells = (own == c) & (weights[place] == w)
            j, i = column[cells], place[cells]
            present = log_shares(less(ones[c, j], w, held[c]), rest, alpha, 2.0)
            np.add.at(logs, i, present.logs - absent.logs[j])
            gained = np.zeros(len(j)) if present.orders is None else present.orders
            lost = 0.0 if absent.orders is None else absent.orders[j]
            np.add.at(orders, i, gained - lost)
    return Scores(logs, orders if alpha == 0.0 else None)


def counts_left_out(
    laws: LinearLaws,
    counts: FloatArray,
    alpha: float,
    block: Block,
    codes: IntArray,
    weights: FloatArray,
) -> Scores:
    """Return multinomial scores: only the words of the row, and its length, change."""
    place, column, value = counted_cells(laws, block)
    size = len(codes)
    own = codes[place]
    left = less(counts[own, column], weights[place] * value)
    lengths = np.bincount(place, value, minlength=size)
    rest = less(counts.sum(axis=1)[codes], weights * lengths)
    found = log_shares(left, rest[place], alpha, float(laws.width))
    logs = np.bincount(place, value * found.logs, minlength=size)
    orders: FloatArray | None = None
    if found.orders is not None:
        orders = np.bincount(place, value * found.orders, minlength=size).astype(np.float64)
    own_scores = Scores(logs.astype(np.float64), orders)
    return with_own(laws.scores(block), codes, own_scores)


def complements_left_out(
    laws: LinearLaws,
    counts: FloatArray,
    alpha: float,
    block: Block,
    codes: IntArray,
    weights: FloatArray,
) -> Scores:
    """Return complement scores: the row leaves the complement of every class but its own."""
    place, column, value = counted_cells(laws, block)
    size, classes = len(codes), len(counts)
    scores = laws.scores(block)
    lengths = np.bincount(place, value, minlength=size)
    others = counts.sum(axis=0) - counts
    logs = scores.logs.copy()
    orders = np.zeros_like(logs) if scores.orders is None else scores.orders.copy()
    for c in range(classes):
        changed = codes != c
        cells = changed[place]
        i, j, f = place[cells], column[cells], value[cells]
        left = less(others[c, j], weights[i] * f)
        rest = less(np.broadcast_to(others[c].sum(), size), weights * lengths)
        found = log_shares(left, rest[i], alpha, float(laws.width))
        logs[changed, c] = -np.bincount(i, f * found.logs, minlength=size)[changed]
        if found.orders is not None or scores.orders is not None:
            order = np.zeros(len(f)) if found.orders is None else found.orders
            orders[changed, c] = -np.bincount(i, f * order, minlength=size)[changed]
    return Scores(logs, orders if alpha == 0.0 else None)


def counted_cells(laws: LinearLaws, block: Block) -> tuple[IntArray, IntArray, FloatArray]:
    """Return row, column and value of every count that is not zero."""
    if isinstance(block, SparseRows):
        return laws.stored(block)
    rows: Any = block
    cells = laws.cells(rows)
    place, column = np.nonzero(cells)
    return place, column, cells[place, column]
