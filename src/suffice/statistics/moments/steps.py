"""Cells on a grid, as whole numbers and short decimals are: what is left of them can be constant.

Sums of doubles cannot tell cells that are all the same from cells that are nearly so. Cells that
are whole multiples of a step g can: two that differ have, with whole weights, a scatter of at
least g²/2, so that whatever is known to be less is zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from suffice.kernels.dense.columns_apart import together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.kernels.dense.double_double import Pair
    from suffice.rows import FloatArray

PER_UNIT = (1e6, 1e3, 1.0)
"""Steps to a unit that are looked for, the finest first: each grid holds the next one. Few tables
have more than six decimals, and a finer grid would ask for bounds below those of a fit."""
LARGEST = 2.0**50
"""Multiples of a decimal step from which doubles are too coarse for it: from 2^53 on all are
whole."""
MANY = 5_000
"""Rows of a batch that are looked at. Columns of more rows are not soon constant, and their sums
are what one waits for."""
LOOK = 64
"""Rows that are looked at first: most columns that are on no grid show it there."""
SOME = 33
"""Rows in which a cell that repeats is looked for where cells are on no grid, in two rows that
stand next to each other. One that three in ten rows have is missed in one table of twenty."""
UNSEEN = 0.2
"""Bounds below this part of g² mean that nothing varies: S ≤ 2 · bound, while a scatter that is not
zero is g²/2 at least, less what the last digits of decimals change."""


class HasSteps(Protocol):
    """Moments of any kind."""

    @property
    def steps(self) -> FloatArray | None:
        """The steps (d,) to a unit of the cells of each column."""
        ...


def steps_of(rows: FloatArray, weights: FloatArray | None) -> FloatArray | None:
    """Return how many steps (d,) to a unit the cells of a batch are on, infinite where on none.

    None where no column is on a grid, or where that was not looked for. NaN is no cell.
    """
    if len(rows) > MANY or (weights is not None and bool((np.rint(weights) != weights).any())):
        return None
    cells = np.asarray(together(rows), dtype=np.float64)
    some = cells[:: max(1, len(cells) // LOOK)]
    if not _multiples(some[:1], PER_UNIT[0]).any():
        return None
    if _multiples(some, 1.0).all() and (len(some) == len(cells) or _multiples(cells, 1.0).all()):
        return np.ones(cells.shape[1])
    found = np.full(cells.shape[1], np.inf)
    for per_unit in reversed(PER_UNIT):  # all cells are looked at where some rows are on the grid
        tried = np.flatnonzero(_multiples(some, per_unit).all(axis=0) & np.isinf(found))
        found[tried[_multiples(cells[:, tried], per_unit).all(axis=0)]] = per_unit
    return None if found.min(initial=np.inf) == np.inf else found


def repeated_cells(rows: FloatArray, *, few: bool) -> tuple[NDArray[np.bool_], FloatArray] | None:
    """Return in which columns (d,) a cell repeats that may be the one that stays, and that cell.

    With few rows it may be any. With more it is looked for where no step will say that a column is
    constant, as in amounts of rain, most of which are zero. None where no column has one.
    """
    if len(rows) > MANY:
        return None
    cells = rows if few else np.asarray(together(rows[:: max(1, len(rows) // SOME)][:SOME]))
    if not few and not ((cells[1:] == cells[:-1]).any() and (np.rint(cells) != cells).any()):
        return None  # nearly always: it must take next to no time
    cells = np.asarray(cells, dtype=np.float64)
    order = np.sort(cells, axis=0)
    twice = order[1:] == order[:-1]
    here: NDArray[np.bool_] = twice.any(axis=0)
    if not few:
        here &= ~_multiples(cells, PER_UNIT[0]).all(axis=0)
    return (here, order[twice.argmax(axis=0), np.arange(order.shape[1])]) if here.any() else None


def _multiples(cells: FloatArray, per_unit: float) -> NDArray[np.bool_]:
    """Return which cells are multiples of a step, or blank."""
    fit: NDArray[np.bool_] = np.rint(cells) == cells  # exactly, however large
    if per_unit != 1.0 and not fit.all():
        with np.errstate(over="ignore"):
            multiples = np.rint(cells * per_unit)
            fit |= (multiples / per_unit == cells) & (np.abs(multiples) < LARGEST)
    return fit if fit.all() else fit | np.isnan(cells)


def steps_after(held: HasSteps, other: HasSteps) -> FloatArray | None:
    """Return the steps of rows after a merge or a subtraction: the finer ones of both.

    Where the weights of one side may be broken ones, what is left may weigh anything.
    """
    if held.steps is None or other.steps is None:
        return None
    return np.maximum(held.steps, other.steps)


def nothing_varies(bound: FloatArray, steps: FloatArray | None) -> NDArray[np.bool_]:
    """Return where a scatter no larger than its bound is zero, since a step would be more."""
    if steps is None:
        return np.zeros(bound.shape, dtype=np.bool_)
    return bound < UNSEEN / np.square(steps)


def on_grid(
    mean: Pair, constant: NDArray[np.bool_], steps: FloatArray | None, error: FloatArray
) -> tuple[Pair, NDArray[np.bool_]]:
    """Return means (d,) or (k, d) in which those of constant columns are cells of the grid.

    And which of them are.
    """
    if steps is None:
        return mean, np.zeros(mean[0].shape, dtype=np.bool_)
    known = np.where(np.isinf(steps), 1.0, steps)
    near = np.rint(mean[0] * known) / known
    close = constant & np.isfinite(steps) & (np.abs(mean[0] - near) <= error)
    return (np.where(close, near, mean[0]), np.where(close, 0.0, mean[1])), close
