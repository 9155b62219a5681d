"""The columns of a normal law: their names, and what a user may call them by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from suffice.columns import Column, Columns
from suffice.errors import BadSetting, ColumnMismatch, NotANumber, listed
from suffice.rows import CATEGORY, NUMBER, refuse_infinite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def schema(names: Sequence[str] | None, width: int) -> Columns:
    """Return columns of numbers with the names given, if any."""
    if names is None:
        return Columns((Column(None, NUMBER),) * width)
    listing = [names] if isinstance(names, str) else list(names)
    strings = all(isinstance(name, str) for name in listing)
    if len(listing) != width or not strings:
        raise BadSetting(
            f"names={listing!r} do not name {width} column(s)", hint="one string for each column"
        )
    return Columns(tuple(Column(name, NUMBER) for name in listing))


def part(columns: Columns, chosen: Sequence[int]) -> Columns:
    """Return some of the columns, in the order asked for."""
    return Columns(tuple(columns.columns[j] for j in chosen))


def places(columns: Columns) -> tuple[str, ...]:
    """Return how each column is called in a message: its name, or "column 3"."""
    if columns.named:
        return columns.names
    return tuple(f"column {j}" for j in range(len(columns.names)))


def place(columns: Columns, column: object) -> int:
    """Return the position of a column asked for by name or position."""
    names = columns.names
    if isinstance(column, str) and column in names:
        return names.index(column)
    position = column if isinstance(column, int | np.integer) else -1
    if 0 <= position < len(names) and not isinstance(column, bool):
        return int(position)
    raise ColumnMismatch(f"there is no column {column!r}", hint=f"the columns are {listed(names)}")


def given_values(columns: Columns, given: Mapping[object, float]) -> dict[int, float]:
    """Return values by position, however the columns were named; refuse a column named twice."""
    if not isinstance(given, Mapping):
        raise BadSetting(
            f"given={given!r} does not say which column has which value",
            hint="use a dictionary, such as {'height': 180.0} or {0: 180.0}",
        )
    known: dict[int, float] = {}
    for column, value in given.items():
        j = place(columns, column)
        if j in known:
            raise ColumnMismatch(f"{columns.names[j]} is given twice", hint="name each column once")
        known[j] = _number(value, columns.names[j])
    return known


def refuse_categories(columns: Columns) -> None:
    """Refuse columns without numbers: a normal law has none to say about them."""
    other = [
        name
        for name, column in zip(columns.names, columns.columns, strict=True)
        if column.kind == CATEGORY
    ]
    if other:
        raise NotANumber(
            f"categorical columns cannot be normally distributed: {listed(other)}",
            hint="leave them out, or code each level as a column of zeros and ones",
        )


def check_infinite(rows: NDArray[np.floating], names: Sequence[str]) -> None:
    """Refuse infinite cells, by name. One sum, when all is well."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.sum(dtype=np.float64)):
            return
    refuse_infinite(rows, names)


def _number(value: object, name: str) -> float:
    """Return a given value as a float, or refuse it by the name of its column."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise NotANumber(
            f"{name} is given as {value!r}, which is not a number", hint="give a real number"
        ) from None
