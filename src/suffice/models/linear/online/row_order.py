"""In which order rows are gone through, again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.rows.row_hashes import content_hashes, joined_hashes, label_hashes
from suffice.rows.sparse_rows import SparseRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suffice.rows import FloatArray, IntArray, Label

FEW_COLUMNS = 4
"""Columns that are looked at first. A choice: they tell most rows apart."""


def shuffled(
    rows: FloatArray | SparseRows,
    codes: IntArray,
    labels: tuple[Label, ...],
    rng: np.random.Generator,
) -> Iterator[IntArray]:
    """Yield one order after the other, each drawn anew, without end.

    Rows are told apart by what they say and not by where they stand, and rows that say the same
    follow each other. So a row of weight 2 is two rows, and the order in which rows are given
    makes no difference.

    >>> rows, codes = np.array([[5.0], [7.0], [5.0]]), np.array([0, 1, 0])
    >>> order = next(shuffled(rows, codes, ("a", "b"), np.random.default_rng(0)))
    >>> rows[order, 0]
    array([5., 5., 7.])
    """
    base, starts = _groups(rows, codes, label_hashes(labels))
    lengths = np.diff(starts, append=len(base))
    while True:
        groups = rng.permutation(len(starts))
        if len(groups) == len(base):
            yield base[groups]
            continue
        many = lengths[groups]
        firsts = np.cumsum(many) - many
        yield base[np.repeat(starts[groups] - firsts, many) + np.arange(len(base))]


def as_given(size: int) -> Iterator[IntArray]:
    """Yield the order in which rows came, without end."""
    order = np.arange(size)
    while True:
        yield order


def _groups(
    rows: FloatArray | SparseRows, codes: IntArray, named: NDArray[np.uint64]
) -> tuple[IntArray, IntArray]:
    """Return rows in an order that depends on what they say alone, and where others begin.

    A few columns tell most rows apart; only where they do not are all columns looked at.
    """
    width = rows.shape[1]
    few = np.unique(np.linspace(0, width - 1, FEW_COLUMNS).astype(np.intp))
    if isinstance(rows, SparseRows) or len(few) == width:
        first = joined_hashes([content_hashes(rows, range(width)), named[codes]])
        base = np.argsort(first, kind="stable")
        return base, _starts(first[base])
    first = joined_hashes([content_hashes(rows[:, few], few.tolist()), named[codes]])
    base = np.argsort(first, kind="stable")
    starts = _starts(first[base])
    if len(starts) == len(base):
        return base, starts
    alike = np.repeat(np.diff(starts, append=len(base)) > 1, np.diff(starts, append=len(base)))
    doubtful = base[alike]
    second = np.zeros_like(first)
    second[doubtful] = content_hashes(rows[doubtful], range(width))
    base = np.lexsort((second, first))
    return base, _starts(first[base], second[base])


def _starts(*keys: NDArray[np.uint64]) -> IntArray:
    """Return where sorted keys change."""
    changes = np.ones(len(keys[0]), dtype=bool)
    changes[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.flatnonzero(changes)
