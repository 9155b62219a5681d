"""Columns of numbers that name rows: row numbers, and numbers that were given one after another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from suffice.rows.cells import NUMBER

if TYPE_CHECKING:
    from collections.abc import Collection

    from suffice.rows.cells import FloatArray
    from suffice.rows.tables import Table

LEAST_ROWS = 30
"""Rows from which on a column that counts them is taken for their number: fewer may be a design."""
WORDS = frozenset(
    {
        "id", "ids", "nr", "no", "num", "nummer", "numero", "número", "numéro", "index", "idx",
        "row", "rowid", "rownum", "rownames", "key", "pk", "uid", "guid", "lfd", "seq", "unnamed",
        "column", "number", "ean", "gtin", "isbn", "upc", "sku", "barcode", "uuid", "iban",
    }
)  # fmt: skip
"""Last words of the names of columns that hold the names of rows."""
COMPOUNDS = ("nummer", "nummern", "número", "numer")
"""The same as the end of a word: Kundennummer."""
CAMEL = re.compile(r".*[a-z](?:ID|Id|Nr|No|Key)")
"""The same in one word: customerId."""
YEARS = (1800.0, 2200.0)
"""Numbers that may be years: a table of one year a row is not a list of row numbers."""


def row_names(table: Table, kept: Collection[str]) -> dict[int, str]:
    """Return columns of numbers that name rows, by their places, and why they do.

    Whole numbers, no blank, no number twice: those that go on by one from each row to the next are
    row numbers, unless all may be years; others are ids if their column is named like one. `kept`
    are columns that stay what they are.
    """
    found: dict[int, str] = {}
    if table.size < LEAST_ROWS:
        return found
    names = table.names or tuple(f"x{j}" for j in range(table.width))
    for j, (name, kind) in enumerate(zip(names, table.kinds, strict=True)):
        if kind != NUMBER or name in kept:
            continue
        why = _why(np.asarray(table.column(j), dtype=np.float64), name)
        if why:
            found[j] = why
    return found


def _why(cells: FloatArray, name: str) -> str:
    """Return why a column names rows; nothing if it does not."""
    few = cells[:LEAST_ROWS]
    if (few != np.floor(few)).any():
        return ""  # most columns are told by a few cells; a blank is not a number
    named = is_named_so(name)
    steps = np.diff(few)
    if not named and not np.all(np.abs(steps) == 1.0):
        return ""
    steps = np.diff(cells)
    years = bool(np.all((cells >= YEARS[0]) & (cells <= YEARS[1])))
    if (np.all(steps == 1.0) or np.all(steps == -1.0)) and not years:
        return f"it counts the rows, from {cells[0]:.0f} to {cells[-1]:.0f}: row numbers"
    if named and (cells == np.floor(cells)).all() and len(np.unique(cells)) == len(cells):
        return "every row has a different number: an ID"
    return ""


def is_named_so(name: str) -> bool:
    """Whether a column is called as those are that name rows.

    >>> [is_named_so(name) for name in ("id", "customer_id", "orderID", "Nr.", "width", "period")]
    [True, True, True, True, False, False]
    """
    words = [word for word in re.split(r"[\W_\d]+", name.lower()) if word]
    named = bool(words) and (words[-1] in WORDS or words[-1].endswith(COMPOUNDS))
    return named or CAMEL.fullmatch(name.strip()) is not None
