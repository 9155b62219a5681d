"""Why this class: how the log odds change when a column is left blank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadSetting
from suffice.models.gaussian.explanation import LogOdds
from suffice.rows import NUMBER
from suffice.rows.tables import table_of_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.models.pool.model import PoolModel
    from suffice.rows import FloatArray, IntArray, Table

MOST_ROWS = 2000
"""Rows × columns that are explained at a time: each is a prediction of its own."""


def explain_pool(
    model: PoolModel, table: Table, pair: Callable[[FloatArray], tuple[IntArray, IntArray]]
) -> LogOdds:
    """Split log odds by column: what is lost when a column is left blank.

    A pool is no sum over columns. The contribution of column j is the log odds of the row less
    those of the row with j blank; what the contributions do not add up to stands in a last column
    of its own, and is what columns say together or twice. The baseline is the log odds of the
    class shares.
    """
    size, width = table.size, table.width
    if size * width > MOST_ROWS:
        raise BadSetting(
            f"{size} rows of {width} columns are {size * width:,} predictions to explain",
            hint="explain fewer rows at a time",
        )
    whole = model.posterior(table, log=True)
    of, against = pair(whole)
    rows = np.arange(size)

    def odds(log_posterior: FloatArray) -> FloatArray:
        found: FloatArray = log_posterior[rows, of] - log_posterior[rows, against]
        return found

    total = odds(whole)
    parts = np.zeros((size, width + 1))
    for j in range(width):
        parts[:, j] = total - odds(model.posterior(_without(table, j), log=True))
    baseline = model.log_priors[of] - model.log_priors[against]
    parts[:, width] = total - baseline - parts[:, :width].sum(axis=1)
    return LogOdds(of, against, baseline, parts, None)


def _without(table: Table, column: int) -> Table:
    """Return the table with one column blank."""
    columns = []
    for j, kind in enumerate(table.kinds):
        cells = table.column(j)
        if j == column:
            blank = np.full(len(cells), np.nan) if kind == NUMBER else np.full(len(cells), None)
            cells = blank
        columns.append((kind, cells))
    return table_of_columns(columns, None, None)
