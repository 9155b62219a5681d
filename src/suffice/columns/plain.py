"""The schema of columns without names: how many there are, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.errors import ColumnMismatch

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class PlainColumns:
    """Columns of an array or of sparse counts: a million words need no million objects.

    >>> PlainColumns(3).names
    ('x0', 'x1', 'x2')
    """

    width: int
    named = False
    is_plain = True

    @property
    def columns(self) -> Sequence[int]:
        """One entry for each column."""
        return range(self.width)

    @property
    def names(self) -> tuple[str, ...]:
        """Names to speak of columns by."""
        return tuple(f"x{j}" for j in range(self.width))

    def matched(self, table: Any, reader: str) -> Any:
        """Return the table if it has as many columns."""
        if table.width != self.width:
            raise ColumnMismatch(
                f"X has {table.width} features, but {reader} is expecting "
                f"{self.width} features as input",
                hint=f"pass rows of {self.width} columns",
            )
        return table
