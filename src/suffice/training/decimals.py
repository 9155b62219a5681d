"""How many digits after the point a column of numbers has: what is made up looks like the rest."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from suffice.columns.shown import digits_shown, shown_by
from suffice.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from suffice.rows.tables import Table

    Decimals = Mapping[str, int]

STATE = "decimals"
"""Under which name it is kept, beside what else is known of the table."""
MOST = 6
"""Digits that are counted; a column with more has as many as it likes."""
SIGNIFICANT = 8
"""Digits of a number whose column is not known."""


def decimals_of(table: Table) -> dict[str, int]:
    """Return how many digits after the point the numbers of each column need.

    >>> import numpy as np
    >>> from suffice.rows.tables import table_of_array
    >>> decimals_of(table_of_array(np.array([[1.0, 0.25], [2.0, np.nan]]), ("a", "b")))
    {'a': 0, 'b': 2}
    """
    return digits_shown(table, shown_by(table))


def widened(ours: Decimals, theirs: Decimals) -> dict[str, int]:
    """Return the digits of columns that hold the cells of both; without those unknown in one."""
    return {name: max(ours[name], theirs[name]) for name in ours if name in theirs}


def counted(
    chunks: Iterable[tuple[Table, object]], decimals: dict[str, int]
) -> Iterator[tuple[Table, Any]]:
    """Yield what is to be learned, and widen `decimals` by it."""
    for table, labels in chunks:
        found = widened(decimals, decimals_of(table))
        decimals.clear()
        decimals.update(found)
        yield table, labels


def decimals_in(state: Mapping[str, object]) -> dict[str, int]:
    """Return what a model file says, if it says anything."""
    held: object = state.get("table")
    held = held.get(STATE) if isinstance(held, dict) else None
    if held is None:
        return {}
    if not isinstance(held, dict) or not all(
        isinstance(name, str) and type(digits) is int and 0 <= digits <= MOST
        for name, digits in held.items()
    ):
        raise BadFile(
            "the model file does not record how its table is read", hint="it is damaged: fit again"
        )
    return dict(held)


def rounded(cells: Iterable[object], digits: int | None) -> list[Any]:
    """Return drawn cells with the digits of their column; one that is blank stays so.

    >>> rounded([39.1082720, 40.0], 1), rounded([39.6, 40.2], 0), rounded([1 / 3, "a"], None)
    ([39.1, 40.0], [40, 40], [0.33333333, 'a'])
    """
    found = []
    for cell in cells:
        if not isinstance(cell, float) or not isfinite(cell):
            found.append(cell)
        elif digits is None:
            found.append(float(f"{cell:.{SIGNIFICANT}g}"))
        else:
            # A negative number that rounds to zero is no negative zero.
            found.append(round(cell) if digits == 0 else round(cell, digits) + 0.0)
    return found
