"""Numbers that a family of whole ones has no place for, where nobody had asked for that family."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import OutsideSupport, listed
from suffice.families.categorical import Categorical
from suffice.families.one_law import Common
from suffice.families.poisson import Poisson
from suffice.rows.cells import CATEGORY, NUMBER, object_array, place_of
from suffice.rows.category_codes import plain_level
from suffice.rows.tables import Table, table_of_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray


def within_support(
    table: Table, families: Sequence[Any], columns: Sequence[Sequence[int]], chosen: Collection[int]
) -> Table:
    """Return rows to ask about in which no cell of a column in `chosen` can be refused.

    A fraction in a column of categories is a level that was never seen. A fraction or a negative
    number among counts is as impossible in one class as in any other: it says nothing, as a blank
    does. An `OutsideSupport` warning names them. A table without any comes back as it is.
    """
    found: dict[int, tuple[str, NDArray[Any]]] = {}
    told = []
    for family, group in zip(families, columns, strict=True):
        inner = family.family if isinstance(family, Common) else family
        if not isinstance(inner, (Categorical, Poisson)):
            continue
        for j in group:
            if j not in chosen or table.kinds[j] != NUMBER:
                continue
            cells = table.column(j)
            with np.errstate(invalid="ignore"):
                outside = np.isfinite(cells) & (cells != np.floor(cells))
                if isinstance(inner, Poisson):
                    outside |= cells < 0.0
            if not outside.any():
                continue
            rows = np.flatnonzero(outside)
            told.append(f"{place_of(j, table.names)} (row {listed(rows.tolist())})")
            if isinstance(inner, Poisson):
                found[j] = NUMBER, np.where(outside, np.nan, cells)
            else:
                values = (None if cell != cell else plain_level(cell) for cell in cells.tolist())  # noqa: PLR0124
                found[j] = CATEGORY, object_array(values)
    if not found:
        return table
    warnings.warn(
        f"cells that are no whole numbers, in columns that held nothing else so far: "
        f"{listed(told)}; no class explains them better than another",
        OutsideSupport,
        stacklevel=2,
    )
    every = range(table.width)
    held = [found.get(j, (table.kinds[j], table.exact(j))) for j in every]
    known = table.levels or (None,) * table.width
    # Levels that are declared may be fractions: declaring none says so, and no more.
    levels = tuple(() if held[j][0] == CATEGORY and j in found else known[j] for j in every)
    return table_of_columns(held, table.names, levels)
