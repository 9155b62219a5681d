"""Rows of a database as queries see them: labels, weights and cells, each an expression."""

# ruff: noqa: S608  every name and every text in these queries is quoted by the dialect
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suffice.engines.sql_dialects import Dialect


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in every row.

    value    the expression: a double, NULL where the cell is missing (NaN is missing too)
    allowed  what must hold of it, with {v} for the value; None where anything finite may be
    exact    whether cells are whole numbers of moderate size by their type
    fixed    the centre that sums are to be made about; None where it is found
    """

    value: str
    allowed: str | None = None
    exact: bool = False
    fixed: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SqlRows:
    """Some rows of a database, and how to ask about them.

    rows    what stands after FROM
    label   the expression of the label; weight that of the weight, a double
    where   a condition that rows must meet, None for all
    run     asks the database: from the text of a query to an Arrow table
    refuse  refuses rows that meet a condition, if there are any
    """

    dialect: Dialect
    rows: str
    label: str
    weight: str | None
    where: str | None
    run: Callable[[str], Any]
    refuse: Callable[[str], None]

    def narrowed(self, condition: str) -> SqlRows:
        """Return the rows that also meet a condition."""
        return replace(self, where=_both(self.where, condition))

    def base(self, cells: Sequence[Cell]) -> str:
        """Return the SELECT of labels (y, and k as text), weights (w) and cells (v0, v1, …)."""
        chosen = [f"{self.label} AS y", f"CAST({self.label} AS {self.dialect.text}) AS k"]
        if self.weight is not None:
            chosen.append(f"{self.weight} AS w")
        chosen += [f"{cell.value} AS v{j}" for j, cell in enumerate(cells)]
        return f"SELECT {', '.join(chosen)} FROM {self.rows}{self.filter()}"

    def filter(self) -> str:
        """Return the WHERE clause: rows of weight zero are not looked at."""
        positive = None if self.weight is None else f"{self.weight} > 0"
        condition = _both(self.where, positive)
        return "" if condition is None else f" WHERE {condition}"


def any_of(conditions: Sequence[str]) -> str:
    """Return that one of several conditions holds, joined in halves: long chains nest too deep.

    >>> any_of(["a", "b", "c"])
    '(a OR (b OR c))'
    """
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return f"({any_of(conditions[:half])} OR {any_of(conditions[half:])})"


def _both(one: str | None, other: str | None) -> str | None:
    if one is None or other is None:
        return other if one is None else one
    return f"({one}) AND ({other})"
