"""Columns of texts: cells as they were written, and which columns look like some."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import NotANumber
from suffice.rows.cells import CATEGORY, NUMBER, place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.rows.cells import IntArray
    from suffice.rows.tables import Table

HALVES = re.compile("[\ud800-\udfff]")
"""Halves of surrogate pairs: no encoding can write them."""
LOOKED = 2000
"""Cells of a column that are looked at to see whether it holds texts, from all over it."""
FEWEST = 20
"""Different texts from which on a column may be one of texts: fewer are categories with long
names."""
SHARE = 0.5
"""The share of cells that are different from all before, from which on a column may be one of
texts."""
WORDS = 3.0
"""Words of a cell, on average, from which on a column holds texts: names of people have two."""
SEVERAL = 0.6
"""The share of cells that have several words: in a text nearly all have."""
LETTERS = 0.6
"""The share of letters among what is no space: numbers with units, codes and dates have fewer."""


@dataclass(frozen=True, slots=True, eq=False)
class TextCells:
    """Texts of some rows (n, columns), None where a cell is blank."""

    cells: NDArray[np.generic]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.cells)

    def __getitem__(self, rows: slice | IntArray) -> TextCells:
        """Return some of the rows."""
        return TextCells(self.cells[rows])

    @property
    def characters(self) -> int:
        """How many characters there are to look at."""
        return sum(len(cell) for cell in self.cells.ravel().tolist() if cell is not None)

    def column(self, place: int) -> list[str]:
        """Return the texts of one column; a blank cell is a text without words."""
        return ["" if cell is None else cell for cell in self.cells[:, place].tolist()]

    def there(self, place: int) -> NDArray[np.bool_]:
        """Return which cells of a column are not blank."""
        return np.array([cell is not None for cell in self.cells[:, place].tolist()], dtype=bool)


def read_texts_of(table: Table, columns: Sequence[int]) -> TextCells:
    """Return columns of texts, or refuse a cell that is none."""
    found = np.full((table.size, len(columns)), None, dtype=object)
    for place, j in enumerate(columns):
        cells = table.column(j)
        if table.kinds[j] == CATEGORY:
            for i, cell in enumerate(cells.tolist()):
                if cell is None:
                    continue
                if not isinstance(cell, str):
                    _refuse(i, table, j, cell)
                found[i, place] = readable_text(cell)
            continue
        blank = np.array([cell is None or cell != cell for cell in cells.tolist()])  # noqa: PLR0124
        if table.kinds[j] != NUMBER or not blank.all():
            row = int(np.argmin(blank))
            _refuse(row, table, j, cells.tolist()[row])
    return TextCells(found)


def _refuse(row: int, table: Table, column: int, value: object) -> None:
    raise NotANumber.of_cell(
        row,
        place_of(column, table.names),
        f"{value!r:.60} is not text, in a text column",
        value=value,
        hint="read the column as text, or give it another family",
    )


def readable_text(text: str) -> str:
    """Return a text that files can hold: half a surrogate pair is part of no word."""
    return text if text.isascii() else HALVES.sub("\ufffd", text)


def looks_like_texts(cells: NDArray[np.generic]) -> bool:
    """Whether cells of categories are texts: several words each, and nearly all different.

    >>> kinds = np.array(["red", "green"] * 20, dtype=object)
    >>> notes = np.array([f"please call {i} before you come" for i in range(40)], dtype=object)
    >>> looks_like_texts(kinds), looks_like_texts(notes)
    (False, True)
    """
    step = max(1, len(cells) // LOOKED)
    some = [cell for cell in cells[::step].tolist() if cell is not None]
    if not all(isinstance(cell, str) for cell in some):
        return False
    different = len(set(some))
    if different < FEWEST or different < SHARE * len(some):
        return False
    words = [len(cell.split()) for cell in some]
    if sum(words) < WORDS * len(some) or sum(n > 1 for n in words) < SEVERAL * len(some):
        return False
    solid = "".join("".join(some).split())
    return sum(map(str.isalpha, solid)) >= LETTERS * len(solid)
