"""Text that was numbers before, and numbers that were text: a change of meaning, not new levels."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import NotANumber
from suffice.rows.cells import CATEGORY, NUMBER
from suffice.rows.sparse import SparseRows
from suffice.statistics import ByColumn, Tallies

if TYPE_CHECKING:
    from suffice.estimators.state import State

HINT = "pass the column as it was when the model was fitted"


def check_kinds(state: State, table: Any) -> None:
    """Refuse columns of categories whose cells have become numbers, or stopped being some.

    Other families refuse text by themselves. A column that was all blank had no kind.
    """
    if isinstance(table, SparseRows):
        return
    product = state.chosen.product
    for place, (family, group) in enumerate(zip(product.families, product.columns, strict=True)):
        if not family.name.endswith("categorical"):
            continue
        for column, j in enumerate(group):
            known, kind = state.columns.columns[j].kind, table.kinds[j]
            if known == kind or (CATEGORY not in (known, kind)):
                continue
            levels = _levels(state.statistics, place, column)
            name = state.columns.names[j]
            if levels and kind == CATEGORY:
                _refuse_text(table.column(j), levels, name)
            elif levels and not any(isinstance(level, Real) for level in levels):
                _refuse_numbers(table.column(j), kind, name)


def _levels(statistics: Any, place: int, column: int) -> set[Any]:
    """Return the levels that any class has shown of one column."""
    held = getattr(statistics, "held", statistics)
    found: set[Any] = set()
    for part in getattr(held, "parts", (held,)):
        for group in part.groups.values():
            assert isinstance(group, ByColumn)
            tallies = group.parts[place]
            assert isinstance(tallies, Tallies)
            found.update(tallies.levels[column])
    return found


def _refuse_text(cells: Any, levels: set[Any], name: str) -> None:
    if any(isinstance(level, str) for level in levels):
        return
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            raise NotANumber(f"row {row}, {name}: {cell!r} is text: {name} held numbers", hint=HINT)


def _refuse_numbers(cells: Any, kind: str, name: str) -> None:
    there = ~np.isnan(cells) if kind == NUMBER else np.array([c is not None for c in cells])
    if there.any():
        row = int(there.argmax())
        raise NotANumber(
            f"row {row}, {name}: {cells[row]} is a {kind}: {name} holds other categories", hint=HINT
        )
