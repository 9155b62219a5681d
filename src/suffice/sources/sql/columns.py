"""Columns of a database as numbers and as text, and what is said of those it cannot give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from suffice.columns import Columns
from suffice.columns.column import Column
from suffice.errors import (
    BadLabels,
    BadRows,
    NotANumber,
    StreamedRows,
    warn,
)
from suffice.rows.cells import BOOLEAN, CATEGORY
from suffice.rows.labels import sorted_levels
from suffice.sql.dialects import Cell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from suffice.errors import SufficeError
    from suffice.sources.source import Wanted
    from suffice.sql.dialects import SqlDialect, SqlRows
    from suffice.tables.arrow_types import ArrowBatch


# ruff: noqa: S608  every name and every text in these queries is quoted by the dialect


TARGET = "the target"
"""The role of a column whose refusals are those of labels."""
OTHER = "other"
"""The kind of a column that is neither numbers nor truths nor text: dates, lists, …"""
MOST_CODED = 5_000
"""Numbers that rows may be coded as: levels of categories become columns of a query."""


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """One column: its name, its kind, and whether its type holds whole numbers, or can be NaN.

    `type` is what the database calls a type that is not read; `exact` whether every number of the
    type is a double.
    """

    name: str
    kind: str
    whole: bool = False
    floating: bool = False
    type: str = ""
    exact: bool = True

    def refusal(self, table: str, role: str) -> SufficeError | None:
        """Return why the column cannot be learned from; None where it can be."""
        if self.kind != OTHER:
            return None
        word = self.type.lower()
        if word.startswith(("date", "time", "interval")):
            hint = f'to read it as a number: SELECT extract(epoch FROM "{self.name}"), …'
        elif word.endswith("]") or word.startswith(("json", "list", "struct", "map", "union")):
            hint = "make columns of its parts in a query: ?query=SELECT …"
        elif word.startswith("money"):
            hint = f'to read it as a number: SELECT CAST("{self.name}" AS numeric), …'
        else:
            hint = f'to read it as text: SELECT CAST("{self.name}" AS text), …'
        problem = (
            f"{role} {self.name!r} is of type {self.type}, which is not numeric, true/false or text"
        )
        return (BadLabels if role == TARGET else NotANumber)(
            problem, hint=f"{hint}; or leave it out", place=table
        )


class Database(Protocol):
    """A connection that answers queries about one table, view or query.

    rows  what stands for it after FROM
    here  whether it runs in this process, so that rows need not travel
    """

    name: str
    here: bool
    dialect: SqlDialect
    rows: str
    columns: tuple[SqlColumn, ...]

    def run(self, query: str) -> Any:
        """Return the answer as an Arrow table; what is refused is a `BadRows` with the name."""
        ...

    def batches(self, query: str) -> Iterator[ArrowBatch]:
        """Yield the answer as Arrow record batches, without holding all of it."""
        ...

    def snapshot(self) -> AbstractContextManager[object]:
        """Let all queries inside see the same rows, where the database can."""
        ...


class ColumnExpressions:
    """The columns of a table, written as the expressions that queries need."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.columns = {column.name: column for column in database.columns}

    def coded(self, rows: SqlRows, wanted: Wanted) -> Columns:
        """Return the columns, categories with the levels that there are."""
        columns = []
        for name in wanted.names:
            kind = self.columns[name].kind
            levels: tuple[object, ...] = ()
            if kind == CATEGORY:
                query = (
                    f"SELECT DISTINCT {self.text(name)} AS v FROM {rows.rows}{rows.filter()}"
                    f" LIMIT {MOST_CODED + 1}"
                )
                seen = self.database.run(query).column("v").to_pylist()
                found = [level for level in seen if level is not None]
                blank = (None,) if None in seen else ()
                levels = (*(found[place] for place in sorted_levels(found)), *blank)
            columns.append(Column(name, kind, levels))
        return Columns(tuple(columns))

    def cells(self, columns: Columns, wanted: Wanted) -> list[Cell]:
        """Return the numbers that rows are coded as."""
        dialect = self.database.dialect
        one, zero = dialect.number(1.0), dialect.number(0.0)
        cells = []
        for name, column in zip(wanted.names, columns.columns, strict=True):
            if column.kind != CATEGORY:
                cells.append(self.cell(name))
                continue
            text = self.text(name)
            for level in column.levels:
                same = f"{text} IS NULL" if level is None else f"{text} = {dialect.label(level)}"
                cells.append(Cell(f"CASE WHEN {same} THEN {one} ELSE {zero} END", exact=True))
        return cells

    def cell(self, name: str) -> Cell:
        """Return a column of numbers or truths as cells to add up."""
        column = self.columns[name]
        return Cell(self.number(name), exact=column.whole or column.kind == BOOLEAN)

    def number(self, name: str) -> str:
        """Return a column as a double: NULL where it is missing, and where it is NaN."""
        column, dialect = self.columns[name], self.database.dialect
        cell = dialect.identifier(name)
        if column.kind == BOOLEAN:
            one, zero = dialect.number(1.0), dialect.number(0.0)
            return f"CASE WHEN {cell} THEN {one} WHEN NOT {cell} THEN {zero} END"
        number = dialect.as_double(cell)
        if not column.floating:
            return number
        return f"CASE WHEN NOT ({dialect.is_nan(number)}) THEN {number} END"

    def text(self, name: str) -> str:
        """Return a column as text: NULL where it is missing, and where it is empty."""
        dialect = self.database.dialect
        return f"NULLIF(CAST({dialect.identifier(name)} AS {dialect.text}), '')"


def warn_of_streaming(name: str, why: str) -> None:
    """Say that rows leave their database, and what for."""
    warn(f"{name}: rows are streamed out of the database, for {why}", StreamedRows)


def connection_gone(name: str, database: str, problem: object) -> BadRows:
    """Return the refusal of a table that can no longer be asked about."""
    return BadRows(
        f"the connection to {database} is gone: {without_context(problem)}",
        hint="connect again and create the source again: nothing was learned",
        place=name,
    )


def without_context(problem: object) -> str:
    """Return what a database said, on one line, without the query that it repeats."""
    lines = str(problem).splitlines()
    kept = [line for line in lines if not line.startswith(("LINE ", " ", "\t", "CONTEXT"))]
    return " ".join(" ".join(kept or lines).split())[:200]
