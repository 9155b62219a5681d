"""Columns in which nearly all cells are the same: how many are not.

The sums of a batch, in plain doubles, cannot tell a constant column from one that is nearly so. So
where a look at some rows shows one value nearly everywhere, such as the 0 of a rare indicator,
the weight of all other cells is kept as well. It adds up and can be taken back like any weight; and
when it is gone, the column is certainly constant, whatever rounding has left of its variance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.kernels.dense.columns_apart import ColumnsApart
from suffice.statistics.algebra import ROUNDING

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray
    from suffice.statistics.diagonal import DiagonalMoments
    from suffice.statistics.moments import Moments
    from suffice.statistics.pooled import PooledMoments

Usual = tuple["FloatArray | None", "FloatArray | None"]
"""The usual cell of each column, and the weight of other ones: infinite where it is not known."""

LOOK = 64
"""How many rows are looked at before cells are counted, at least."""
NEARLY_ALL = 0.9
"""The share of them that has to be the same, if there are many rows."""
FIRST = 10_000
"""So many rows are not many: where they repeat any cell, the others are counted."""
MANY = 500
"""Other cells in the first rows after which they are not counted: so many are not soon gone."""


def usual_cells(
    rows: Any, codes: IntArray | None, size: int, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray] | None:
    """Return the usual cell (d,) of each column and the weight (k, d) of other cells by class.

    None where no column has one; NaN is no cell. Without codes there is one class.
    """
    if len(rows) < 2:
        return None
    apart, few = isinstance(rows, ColumnsApart), codes is None
    at = [0, len(rows) // 2, len(rows) - 1]
    if not few:  # of two values, one is at two of three places
        a, b, c = np.array([column[at] for column in rows.columns]).T if apart else rows[at]
        if not ((a == b) | (a == c) | (b == c)).any():
            return None
    if len(rows) > FIRST and not apart:
        # Of five cells of which each is the usual one in nine cases of ten, two are; where none
        # are, looking further would cost more than the sums of a small fit.
        five = np.sort(rows[:: (len(rows) - 1) // 4][:5], axis=0)
        if not (five[1:] == five[:-1]).any():
            return None
    step = max(1, len(rows) // LOOK)
    look = np.array([column[::step] for column in rows.columns]).T if apart else rows[::step]
    three = look[[0, len(look) // 2, -1]]
    if few and step == 1:
        # Any cell that comes twice may be the one that stays.
        order = np.sort(look, axis=0)
        twice = order[1:] == order[:-1]
        if not twice.any():
            return None
        here = twice.any(axis=0)
        three[1, here] = order[twice.argmax(axis=0)[here], np.flatnonzero(here)]
    matches = np.array([np.count_nonzero(look == one, axis=0) for one in three])
    found = np.flatnonzero(matches.max(axis=0) > 1)
    if not len(found):
        return None
    usual = three[matches.argmax(axis=0), np.arange(three.shape[1])].astype(np.float64)
    usual[np.isnan(usual)] = 0.0
    unusual = np.full((size, len(usual)), np.inf)
    if few and step == 1:
        differs = (look != usual) & ~np.isnan(look)
        weight = differs.sum(axis=0) if weights is None else weights @ differs
        unusual[0, found] = weight[found]
        return usual, unusual
    if len(rows) > FIRST:
        found = [j for j in found if matches[:, j].max() >= NEARLY_ALL * len(look)]  # type: ignore[assignment]
    for j in found:
        column, value = rows.columns[j] if apart else rows[:, j], usual[j]
        if len(rows) > FIRST and np.count_nonzero(column[:FIRST] != value) > MANY:
            continue
        places = np.flatnonzero(column != value)
        places = places[~np.isnan(column[places])]
        heavy = None if weights is None else weights[places]
        own = np.zeros(len(places), dtype=np.intp) if codes is None else codes[places]
        unusual[:, j] = np.bincount(own, heavy, minlength=size)
    return None if np.isinf(unusual).all() else (usual, unusual)


def _about(state: Moments | DiagonalMoments | PooledMoments, value: FloatArray) -> FloatArray:
    """Return the weight (d,) of cells that are not `value`, infinite where it is not known."""
    found = np.full(len(value), np.inf)
    if state.usual is not None:
        assert state.unusual is not None
        found = np.where(state.usual == value, state.unusual, np.inf)
    scatter = state.scatter
    constant = ((np.diagonal(scatter) if scatter.ndim == 2 else scatter) == 0.0) & (
        state.error == 0.0
    )
    if not constant.any():
        return found
    mean = getattr(state, "mean", None)
    if mean is None:  # of every class by itself
        weights, means, lows = state.weights, state.means, state.lows  # type: ignore[union-attr]
        other = weights @ ((means != value) | (lows != 0.0))
    else:
        other = getattr(state, "counts", state.weight) * ((mean != value) | (state.low != 0.0))  # type: ignore[union-attr]
    return np.where(constant, other, found)


def usual_after(
    held: Moments | DiagonalMoments | PooledMoments,
    other: Moments | DiagonalMoments | PooledMoments,
    sign: float = 1.0,
) -> Usual:
    """Return what is usual, and the weight of what is not, after a merge or a subtraction."""
    value = held.usual if held.usual is not None else other.usual
    if value is None:
        if held.error.any() or other.error.any():
            return None, None
        # The first rows of a stream: each of them is a constant.
        value = held.mean if hasattr(held, "mean") else held.means[0]
    ours, theirs = _about(held, value), _about(other, value)
    unknown = np.isinf(ours) | np.isinf(theirs)
    left = np.where(unknown, 0.0, ours) + sign * np.where(unknown, 0.0, theirs)
    left[left <= ROUNDING * held.weight] = 0.0
    left[unknown] = np.inf  # what is not known on either side is not known after it
    return value, left
