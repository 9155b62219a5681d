"""Rows as JSON has them, read as a model knows its columns: a short way, and one for the rest.

Cells are read as in JSON lines: 1, 1.0 and "1" are one number, null and "" are blank.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns.spellings.spelling import SpelledKind
from suffice.errors import BadRows, ColumnMismatch, listed
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER, object_array
from suffice.rows.tables import Table, table_of_columns
from suffice.tables.csv.typed_cells import typed_cells
from suffice.tables.json.nested_objects import BETWEEN, flat
from suffice.tables.table_file import missing_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling
    from suffice.rows.cells import Label

THE_ROWS = "the request"
"""How the table of a request is called in a refusal."""
BLANK = type(None)
"""The type of a cell that is not known."""
PLAIN: dict[str, frozenset[type]] = {
    NUMBER: frozenset((float, int, BLANK)),
    BOOLEAN: frozenset((bool, BLANK)),
}
"""Types of cells that need not be looked at any further, by the kind of their column."""
AT_ONCE = 8192
"""Rows that are read, and answered, by one call: a few milliseconds, in which nobody else is
answered. More are cut."""
UNSEEN = "values the model has not seen before"
"""How a note about new categories begins; whoever learns them leaves it out."""
MOST_NEW = 1000
"""New categories that are remembered of one request; nobody reads more."""


@dataclass(slots=True, eq=False)
class RowReader:
    """Reads rows for one model.

    names      the columns, in the order of the model
    kinds      what they hold
    named      whether the model knows them by name; if not, records have x0, x1, …
    levels     of categories, the levels that are known; None where any text is as good
    silent     columns that may be there and are not spoken of: the target, and what was left out
    spellings  how texts of columns are written that are numbers or truths
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    named: bool
    levels: tuple[frozenset[Label] | None, ...]
    silent: frozenset[str] = frozenset()
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    _cells: Callable[[Mapping[str, object]], tuple[object, ...]] = field(init=False)
    _checks: tuple[tuple[bool, Any], ...] = field(init=False)

    def __post_init__(self) -> None:
        if len(self.names) == 1:
            only = self.names[0]
            self._cells = lambda record: (record[only],)
        else:
            self._cells = itemgetter(*self.names)
        checks: list[tuple[bool, object]] = []
        for kind, levels in zip(self.kinds, self.levels, strict=True):
            if kind == CATEGORY:
                checks.append((False, levels and levels | {None}))
            else:
                checks.append((True, PLAIN[kind]))
        self._checks = tuple(checks)

    def knowing(self, table: Table) -> RowReader:
        """Return what knows the categories of a table as well; itself if it does."""
        levels = list(self.levels)
        for j, known in enumerate(self.levels):
            if self.kinds[j] == CATEGORY and known is not None:
                new = set(table.column(j).tolist()) - known - {None}
                levels[j] = known | new if new else known
        if all(one is other for one, other in zip(levels, self.levels, strict=True)):
            return self
        return replace(self, levels=tuple(levels))

    # The short way

    def plain_rows(self, rows: Sequence[object]) -> list[tuple[object, ...]] | None:
        """Return the cells of each row, if none of them needs a second look; else None.

        All columns are there and no others, numbers are numbers, categories are known.
        """
        found = []
        for row in rows:
            if type(row) is not dict or len(row) != len(self.names):
                return None
            try:
                cells = self._cells(row)
                for (by_type, known), cell in zip(self._checks, cells, strict=True):
                    if known is None:
                        if type(cell) is not str or not cell or cell.isspace():
                            return None
                    elif (type(cell) if by_type else cell) not in known:
                        return None
            except (KeyError, TypeError):  # a name is missing; a list is not a cell
                return None
            found.append(cells)
        return found

    def logged(self, cells: Sequence[object]) -> tuple[object, ...]:
        """Return cells of `plain_rows` as the log has them: whole numbers are numbers as well."""
        return tuple(
            float(cell) if kind == NUMBER and type(cell) is int else cell
            for kind, cell in zip(self.kinds, cells, strict=True)
        )

    def table_of_plain(self, rows: Sequence[tuple[object, ...]]) -> Table:
        """Return rows of `plain_rows` as a table."""
        cells = []
        try:
            for kind, column in zip(self.kinds, zip(*rows, strict=True), strict=True):
                if kind == NUMBER:
                    cells.append(np.array(column, dtype=np.float64))  # None becomes NaN
                else:
                    cells.append(object_array(column))
        except OverflowError:  # a whole number beyond all doubles: said in words
            return self.tables(rows)[0][0]
        names = self.names if self.named else None
        if any(kind != NUMBER for kind in self.kinds):
            return Table(None, tuple(cells), self.kinds, names)
        return Table(np.column_stack(cells), None, self.kinds, names)

    # The usual way

    def tables(self, rows: Sequence[Any]) -> tuple[list[Table], list[str]]:
        """Return rows as tables, and notes about them: rows are records, or lists of cells."""
        if not rows:
            raise BadRows(f"{THE_ROWS} has no rows", hint="give at least one")
        first = rows[0]
        if isinstance(first, dict):
            rows = self._flat(rows)
            mentioned = self._mentioned(rows)
            return self._read(
                len(rows), mentioned,
                lambda some: [[row.get(name) for row in rows[some]] for name in self.names],
            )  # fmt: skip
        if isinstance(first, (list, tuple)):
            self._check_lists(rows)
            return self._read(
                len(rows), self.names, lambda some: list(map(list, zip(*rows[some], strict=True)))
            )
        if len(self.names) == 1:
            return self._read(len(rows), self.names, lambda some: [rows[some]])
        raise self._no_row(0, first)

    def tables_of_columns(self, given: Mapping[str, Any]) -> tuple[list[Table], list[str]]:
        """Return columns by name as tables, and notes about them."""
        lacking = [name for name in self.names if name not in given]
        if lacking:
            raise self._lacking(lacking, given)
        for name in self.names:
            if not isinstance(given[name], (list, tuple)):
                raise BadRows(
                    f"column {name!r:.60} is not a list of cells",
                    hint='{"columns": {"size": [1.5]}}',
                )
        lengths = {len(given[name]) for name in self.names}
        if len(lengths) != 1:
            raise BadRows(
                f"columns have different lengths: {listed(sorted(lengths))}",
                hint="one cell for each row; null where it is not known",
            )
        (size,) = lengths
        if not size:
            raise BadRows(f"{THE_ROWS} has no rows", hint="give at least one")
        return self._read(
            size, tuple(given), lambda some: [given[name][some] for name in self.names]
        )

    def _flat(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Return records without objects in them, where the model has columns inside of objects."""
        wanted = {name for name in self.names if BETWEEN in name}
        if not wanted:
            return rows
        return [
            flat(row, f"row {i}") if isinstance(row, dict) and not wanted <= row.keys() else row
            for i, row in enumerate(rows)
        ]

    def _mentioned(self, rows: Sequence[object]) -> tuple[str, ...]:
        """Return the names of all records; each column of the model is among them."""
        found: dict[str, None] = {}
        for i, row in enumerate(rows):
            if not isinstance(row, dict):
                raise self._no_row(i, row)
            if not row.keys() <= found.keys():
                found.update(dict.fromkeys(row))
        lacking = [name for name in self.names if name not in found]
        if lacking:
            raise self._lacking(lacking, found)
        return tuple(found)

    def _check_lists(self, rows: Sequence[object]) -> None:
        width = len(self.names)
        for i, row in enumerate(rows):
            if not isinstance(row, (list, tuple)):
                raise self._no_row(i, row)
            if len(row) != width:
                raise ColumnMismatch(
                    f"row {i} has {len(row)} cells, the model takes {width}",
                    hint=f"the columns are {listed(self.names)}, in this order",
                )

    def _read(
        self,
        size: int,
        mentioned: Sequence[str],
        cells_of: Callable[[slice], list[Sequence[object]]],
    ) -> tuple[list[Table], list[str]]:
        """Read rows, some at a time: one call of the interpreter must not last long."""
        tables, new = [], dict[str, None]()
        names = self.names if self.named else None
        for start in range(0, size, AT_ONCE):
            columns = cells_of(slice(start, start + AT_ONCE))
            cells = [
                (kind, self._column(name, kind, known, column, start))
                for name, kind, known, column in zip(
                    self.names, self.kinds, self.levels, columns, strict=True
                )
            ]
            tables.append(table_of_columns(cells, names, None))
            self._see_new(columns, new)
        return tables, self._notes(mentioned, new)

    def _column(
        self,
        name: str,
        kind: str,
        known: frozenset[Label] | None,
        cells: Sequence[object],
        start: int,
    ) -> NDArray[np.generic]:
        spelling = self.spellings.get(name)
        spelled = spelling is not None and spelling.kind == kind
        types = set(map(type, cells))
        if not spelled and kind != CATEGORY and types <= PLAIN[kind]:
            if kind == BOOLEAN:
                return object_array(cells)
            try:
                return np.array(cells, dtype=np.float64)
            except OverflowError:
                pass  # the usual way says which it is
        if (
            kind == CATEGORY
            and known is not None
            and any(type(v) is not str for v in known - {None})
        ):
            return object_array(
                self._level(cell, known, name, i) for i, cell in enumerate(cells, start)
            )
        texts = [cell_text(cell, name, i, spelled=spelled) for i, cell in enumerate(cells, start)]
        if kind == CATEGORY and known is not None and types & {float}:
            texts = [_as_known(text, cell, known) for text, cell in zip(texts, cells, strict=True)]
        as_kind = SpelledKind(spelling) if spelled and spelling is not None else kind
        return typed_cells(texts, as_kind, name, lambda i: f"row {start + i}")

    def _level(self, cell: object, known: frozenset[Label], name: str, row: int) -> object:
        """Return a cell of a column whose categories are not all texts, in the type they have."""
        text = cell_text(cell, name, row)
        if not text or text.isspace():
            return None
        if type(cell) is not str:
            return cell
        if cell in known:
            return cell
        near = {cell_text(level, name, row): level for level in known if level is not None}
        return near.get(cell, cell)

    def _see_new(self, columns: Sequence[Sequence[object]], new: dict[str, None]) -> None:
        """Note categories that are not known."""
        for name, kind, known, cells in zip(
            self.names, self.kinds, self.levels, columns, strict=True
        ):
            if kind != CATEGORY or known is None or len(new) >= MOST_NEW:
                continue
            strange = [cell for cell in dict.fromkeys(cells) if cell not in known]
            if not strange:
                continue
            texts = {cell_text(level, name, 0) for level in known}
            for cell in strange:
                text = cell_text(cell, name, 0)
                if text and not text.isspace() and _as_known(text, cell, texts) not in texts:
                    new[f"{name}={text}"] = None

    def _notes(self, mentioned: Sequence[str], new: dict[str, None]) -> list[str]:
        """Return what the one who asks should know: columns that are not used, new categories."""
        notes = []
        extra = [n for n in mentioned if n not in self.names and n not in self.silent]
        if extra:
            notes.append(f"not used by the model: {listed(extra)}")
        if new:
            notes.append(f"{UNSEEN}: {listed(new)}")
        return notes

    def _lacking(self, lacking: Sequence[str], there: Any) -> ColumnMismatch:
        strange = [name for name in there if name not in self.names and name not in self.silent]
        known = f"the model was fitted to {listed(self.names)}; this has {listed(there) or 'none'}"
        return missing_columns(THE_ROWS, lacking, strange, known)

    def _no_row(self, row: int, given: object) -> BadRows:
        shown = "null" if given is None else type(given).__name__
        return BadRows(
            f"row {row} is not a row: {shown}",
            hint="rows must all be objects with names, or all lists of cells",
        )


def cell_text(value: object, name: str, row: int, *, spelled: bool = False) -> str:
    """Return a cell of JSON as the text that a table has for it; blank is empty.

    >>> cell_text(1.5, "size", 0), cell_text(True, "size", 0), cell_text(None, "size", 0)
    ('1.5', 'true', '')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        # Where texts have decimal commas, an exponent says that this is a number as it is.
        text = repr(value)
        return f"{text}e0" if spelled and "e" not in text else text
    raise BadRows(
        f"row {row}, {name}: a {type(value).__name__} is not a cell",
        hint="a cell is a number, a text, true, false or null",
    )


def _as_known(text: str, cell: Any, known: Any) -> str:
    """Return `2` for the number 2.0, where that is what a category is called."""
    if type(cell) is float and text not in known and cell.is_integer():
        whole = str(int(cell))
        return whole if whole in known else text
    return text
