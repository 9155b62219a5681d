"""Categories that a model meets for the first time: said once, at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.cli.remarks import note
from suffice.errors import listed
from suffice.rows.cells import CATEGORY

if TYPE_CHECKING:
    from suffice.cli.model_rows import ModelRows
    from suffice.storage.model_file import StoredModel
    from suffice.rows.tables import Table

MOST = 1000
"""New names that are remembered; beyond, nobody would read them."""


class UnseenLevels:
    """Looks for categories that a model does not know, among rows that it is asked about."""

    def __init__(self, stored: StoredModel, rows: ModelRows) -> None:
        from suffice.storage.describe import told

        columns = [column for column in told(stored).columns if column.kind != "text"]
        levels = {column.name: set(column.levels) for column in columns}
        self._known: dict[int, set[Any]] = {
            j: levels[name]
            for j, (name, kind) in enumerate(zip(rows.names, rows.kinds, strict=True))
            if kind == CATEGORY and name in levels
        }
        self._names = rows.names
        self._new: dict[tuple[str, Any], None] = {}  # in the order of their first row

    def look(self, table: Table) -> None:
        """Look at some rows."""
        for j, known in self._known.items():
            if len(self._new) >= MOST:
                return
            new = {cell: None for cell in table.column(j).tolist() if cell not in known}
            new.pop(None, None)
            self._new.update({(self._names[j], cell): None for cell in new})

    def tell(self) -> None:
        """Say which there were."""
        if self._new:
            names = [f"{name}={cell}" for name, cell in self._new]
            note(f"new to the model, and none of its categories: {listed(names)}")
