"""Levels of a category out of normal draws, so that each comes as often as it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

ROUNDS = 80
"""How often offsets are corrected."""


def level_offsets(draws: FloatArray, shares: FloatArray) -> FloatArray:
    """Return what is added to the coded columns (n, k) of a category before the largest is taken.

    A normal class codes a category as zeros and ones; the largest of normal draws is a rare level
    far too often. With the right offsets, which exist for any draws without ties, each level comes
    by its share. Levels of share 0 never come.

    >>> rng = np.random.default_rng(0)
    >>> draws = rng.normal([0.9, 0.08, 0.02], [0.3, 0.27, 0.14], (4000, 3))
    >>> found = (draws + level_offsets(draws, np.array([0.9, 0.08, 0.02]))).argmax(axis=1)
    >>> (np.bincount(found) / 4000).round(2)
    array([0.9 , 0.08, 0.02])
    """
    size = len(draws)
    known = shares > 0.0
    offsets = np.where(known, 0.0, -np.inf)
    if known.sum() < 2:
        return offsets
    spread = float(draws[:, known].std(axis=0).max()) or 1.0
    best, least = offsets, np.inf
    for turn in range(ROUNDS):
        found = np.bincount((draws + offsets).argmax(axis=1), minlength=len(shares)) / size
        gap = float(np.abs(found - shares)[known].sum())
        if gap < least:
            best, least = offsets, gap
        change = np.log((shares[known] + 0.5 / size) / (found[known] + 0.5 / size))
        moved = offsets.copy()
        moved[known] += spread * 0.5 / (1.0 + turn / 8.0) * change
        offsets = moved
    return best


def chosen_levels(rows: FloatArray, offsets: FloatArray) -> IntArray:
    """Return which level each row of coded columns (n, k) has."""
    found: IntArray = (rows + offsets).argmax(axis=1)
    return found
