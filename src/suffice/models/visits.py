"""In which order rows are gone through, again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.rows.content import content_hashes, joined_hashes, label_hashes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suffice.rows import FloatArray, IntArray, Label
    from suffice.rows.sparse_rows import SparseRows


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
    hashes = joined_hashes(
        [content_hashes(rows, range(rows.shape[1])), label_hashes(labels)[codes]]
    )
    base = np.argsort(hashes, kind="stable")
    hashes = hashes[base]
    starts = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1])))
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
