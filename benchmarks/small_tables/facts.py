"""What is known of the tables without reading them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from benchmarks.small_tables.tables import FEWEST_TESTED, FOLDER, ROWS_READ


@dataclass(frozen=True, slots=True)
class Facts:
    """Rows, columns of either kind, blank cells and classes of a table."""

    rows: int
    numeric: int
    categorical: int
    blanks: int
    classes: int

    @property
    def kind(self) -> str:
        """Which kinds of columns it has: numeric, categorical or mixed."""
        if not self.categorical:
            return "numeric"
        return "mixed" if self.numeric else "categorical"

    @property
    def cost(self) -> int:
        """How dear it is, relative to others: cells of a row, for each class."""
        return (self.numeric + 3 * self.categorical) * self.classes

    def has_rows_for(self, size: int) -> bool:
        """Whether `size` rows can be learned from, and enough are left."""
        return min(self.rows, ROWS_READ) >= size + FEWEST_TESTED


@cache
def facts() -> dict[str, Facts]:
    """Return the facts of every table, from the list beside them."""
    with (FOLDER / "manifest.csv").open(newline="", encoding="utf-8") as file:
        return {
            row["name"]: Facts(
                int(row["rows"]),
                int(row["numeric"]),
                int(row["categorical"]),
                int(row["missing_cells"]),
                int(row["classes"]),
            )
            for row in csv.DictReader(file)
        }
