"""Why this class: what each column brings to the log odds, averaged over orders of the columns."""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting
from suffice.models.gaussian.explanation import LogOdds
from suffice.rows import NUMBER
from suffice.rows.tables import table_of_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suffice.models.pool.model import PoolModel
    from suffice.rows import FloatArray, IntArray, Table

MOST_CELLS = 2000
"""Rows × columns that are explained at a time: each is ORDERS predictions."""
ORDERS = 8
"""Orders of the columns that are averaged over: four that are drawn, and the same backwards, so
that of two columns each comes first as often as the other. All orders where there are fewer."""
SEED = 17
"""Of the orders: any number will do. They are the same for every row and every call."""


def explain_pool(
    model: PoolModel, table: Table, pair: Callable[[FloatArray], tuple[IntArray, IntArray]]
) -> LogOdds:
    """Split log odds by column: what a column changes when it is filled in, after some others.

    From a row of blanks the columns are filled in one after the other; a column's contribution is
    the change in the log odds when its turn comes, averaged over orders of the columns: Shapley's
    values, by all orders of up to three columns and by ORDERS of more. Contributions add up to
    the log odds less those of a row of blanks; how these differ from the class shares, which are
    the baseline, stands in a last column.
    """
    size, width = table.size, table.width
    if size * width > MOST_CELLS:
        raise BadSetting(
            f"{size} rows of {width} columns are {ORDERS * size * width:,} predictions to explain",
            hint="explain fewer rows at a time",
        )
    whole = model.posterior(table, log=True)
    of, against = pair(whole)
    rows = np.arange(size)

    def odds(log_posterior: FloatArray) -> FloatArray:
        """Return log odds (m, n) from log posteriors (m·n, k), m fillings of n rows."""
        cells = log_posterior.reshape(-1, size, log_posterior.shape[1])
        found: FloatArray = cells[:, rows, of] - cells[:, rows, against]
        return found

    nothing = odds(model.posterior(_filled(table, np.zeros((1, width), dtype=bool)), log=True))
    every = odds(whole)
    asked: dict[bytes, FloatArray] = {}  # with few columns, orders begin with the same ones
    parts = np.zeros((size, width + 1))
    orders = column_orders(width)
    for order in orders:
        known = np.tri(width, dtype=bool)[:-1][:, np.argsort(order)]  # the first, the first two, …
        new = np.array([row for row in known if row.tobytes() not in asked])
        if len(new):
            answers = odds(model.posterior(_filled(table, new), log=True))
            asked |= {row.tobytes(): answer for row, answer in zip(new, answers, strict=True)}
        steps = np.reshape([asked[row.tobytes()] for row in known], (-1, size))
        changes = np.diff(np.concatenate([nothing, steps, every]), axis=0)
        parts[:, order] += changes.T / len(orders)
    baseline = model.log_priors[of] - model.log_priors[against]
    parts[:, width] = nothing[0] - baseline
    return LogOdds(of, against, baseline, parts, None)


def column_orders(width: int) -> list[IntArray]:
    """Return the orders of columns that contributions are averaged over.

    >>> [order.tolist() for order in column_orders(2)]
    [[0, 1], [1, 0]]
    >>> len(column_orders(20))
    8
    """
    if factorial(min(width, ORDERS)) <= ORDERS:
        return [np.array(order, dtype=np.intp) for order in permutations(range(width))]
    rng = np.random.default_rng(SEED)
    drawn = [rng.permutation(width) for _ in range(ORDERS // 2)]
    return [order for one in drawn for order in (one, one[::-1])]


def _filled(table: Table, known: NDArray[np.bool_]) -> Table:
    """Return m copies of the rows one after the other; known (m, d) says which columns are told."""
    size, count = table.size, len(known)
    columns = []
    for j, kind in enumerate(table.kinds):
        told = np.repeat(known[:, j], size)
        cells = np.tile(np.asarray(table.column(j)), count)
        if kind == NUMBER:
            columns.append((kind, np.where(told, cells.astype(np.float64), np.nan)))
        else:
            objects = np.empty(len(cells), dtype=object)
            objects[told] = cells[told]
            columns.append((kind, objects))
    return table_of_columns(columns, None, None)
