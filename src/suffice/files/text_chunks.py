"""Some rows of a table of text, cut into columns, and the table they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.files.text_cells import typed_cells
from suffice.rows.tables import Table, table_of_columns

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, eq=False)
class TextChunk:
    """Columns of text, and on which line of the file each row ends."""

    columns: list[list[str]]
    lines: Sequence[int]

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.lines)

    def table(
        self, places: Sequence[int], names: Sequence[str], kinds: Sequence[str], file: str
    ) -> Table:
        """Return some columns as a table; a cell of another kind is refused by its line."""

        def line(row: int) -> str:
            return f"{file}, line {self.lines[row]}"

        columns = [
            (kind, typed_cells(self.columns[place], kind, name, line))
            for place, name, kind in zip(places, names, kinds, strict=True)
        ]
        return table_of_columns(columns, tuple(names), None)
