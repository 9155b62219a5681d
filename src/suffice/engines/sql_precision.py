"""Whether sums of a database kept their digits, and what of them is no more than rounding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.engines.sql_group_sums import FINE, rows_changed
from suffice.engines.sql_windows import BITS, BeyondWindows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.engines.sql_group_sums import Groups
    from suffice.engines.sql_rows import Cell
    from suffice.engines.sql_sums import ClassSums
    from suffice.engines.sql_windows import Extents, Windows

POOR = 1_000.0
"""A centre is poor when the mean of a class is more than √1000 standard deviations away."""
SMALLEST = 2.0**-960
"""Squares that are smaller have lost digits in any sum of doubles."""


def in_range(numbers: ClassSums, constant: NDArray[np.bool_] | None = None) -> ClassSums:
    """Return the same, unless squares were so small that they are no full doubles any more."""
    if numbers.scatter is not None:
        full = numbers.scatter.ndim == 3
        squares = np.diagonal(numbers.scatter, axis1=1, axis2=2) if full else numbers.scatter
        small = squares < SMALLEST
        # Without extents only what has an exact zero by its type is left at zero.
        small &= squares > 0.0 if constant is None else ~constant & (numbers.held > 0.0)
        if small.any():
            raise BeyondWindows
    return numbers


def are_poor(
    groups: Groups,
    windows: Windows,
    cells: Sequence[Cell],
    constant: NDArray[np.bool_] | None = None,
    *,
    independent: bool = False,
) -> bool:
    """Whether a window was too far from a class, or too wide for it, to keep its digits.

    All is looked at in scaled cells, whose squares neither overflow nor underflow. Single
    roundings might all go one way; where the windows are as narrow as can be they are taken as
    `independent`, which is what they are in rows that differ.
    """
    size, width = len(groups.keys), len(cells)
    shift, spread, rows, seen = (np.zeros((size, width)) for _ in range(4))
    full = not groups.held
    for c, key in enumerate(groups.keys):
        for j in range(width):
            weight = groups.weights[c] if full else groups.held[key, j]
            rows[c, j] = groups.rows[c] if full else groups.counts[key, j]
            if weight == 0:
                continue
            seen[c, j] = 1.0
            total = groups.sums[key, j]
            shift[c, j] = total * total / weight
            if not groups.have_products:
                spread[c, j] = abs(total)
            elif rows[c, j] > 1:
                product = groups.products[key][j, j]
                spread[c, j] = max((product * weight - total * total) / weight, 0.0)
    powers = windows.of(groups.keys)[1]
    exact = np.array([cell.exact for cell in cells]) & (powers >= BITS - 26)
    looked_at = seen > 0.0
    if constant is not None:
        looked_at &= ~constant
    roundings = np.sqrt(rows) if independent else rows
    if not groups.have_products:
        return bool((looked_at & ~exact & (spread < FINE * roundings)).any())
    far = (shift > POOR * spread) & ~(exact & (spread == 0.0))
    if not full:
        bad = (far | (spread < FINE * roundings)) & ~exact
        return bool((bad & looked_at).any())
    if (far & looked_at).any():
        return True
    # Products of whole numbers are whole; those of others are rounded, whatever they are with.
    fine = np.sqrt(spread / np.maximum(roundings, 1.0))
    least = np.where(looked_at & ~exact, fine, np.inf).min(axis=1, initial=np.inf)
    whole = np.where(looked_at & exact & (spread > 0.0), fine, np.inf).min(axis=1, initial=np.inf)
    return bool((least * np.minimum(least, whole) < FINE).any())


def constant_columns(groups: Groups, reach: Extents) -> NDArray[np.bool_]:
    """Return which columns do not move within which class."""
    at = {key: place for place, key in enumerate(reach.keys)}
    if any(key not in at for key in groups.keys):
        raise rows_changed()
    places = [at[key] for key in groups.keys]
    found: NDArray[np.bool_] = reach.low[places] == reach.high[places]
    # What does not move has no squares about its mean; sums it has, unless it is zero.
    return found if groups.have_products else found & (reach.low[places] == 0.0)


def settled(
    numbers: ClassSums, constant: NDArray[np.bool_] | None, groups: Groups, reach: Extents
) -> ClassSums:
    """Return the same with exact zeros where nothing moves: rounding is no variance."""
    if constant is None or numbers.scatter is None:
        return numbers
    places = [reach.keys.index(key) for key in groups.keys]
    mean, low = numbers.mean.copy(), numbers.low.copy()
    mean[constant], low[constant] = reach.low[places][constant], 0.0
    scatter = numbers.scatter.copy()
    if scatter.ndim == 2:
        scatter[constant] = 0.0
    else:
        scatter[constant] = 0.0
        scatter.transpose(0, 2, 1)[constant] = 0.0
    return replace(numbers, mean=mean, low=low, scatter=scatter)
