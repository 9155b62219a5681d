"""DuckDB in this process: relations, and tables by their name."""

# ruff: noqa: S608  every name and every text in these queries is quoted by the dialect
from __future__ import annotations

from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.errors import BadRows, BadSetting
from suffice.rows.cells import BOOLEAN, CATEGORY, NUMBER
from suffice.sources.local import MOST_ROWS
from suffice.sources.sql.columns import OTHER, SqlColumn, connection_gone, without_context
from suffice.sources.sql.source import SqlSource
from suffice.sql.dialects import dialect_named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from suffice.tables.arrow_types import ArrowBatch

VIEW = "suffice_rows"
"""What a relation is called in queries about it."""
WHOLE = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
}  # fmt: skip

WIDE = {"BIGINT", "HUGEINT", "UBIGINT", "UHUGEINT"}
"""Types whose largest numbers are no doubles."""
AS_TEXT = ("UUID",)
"""Types that are cast to text in the query, as PostgreSQL gives them too."""


class DuckDbTable:
    """A relation of DuckDB: a table, a view, a file or a query."""

    here = True

    def __init__(self, relation: Any, name: str) -> None:
        self.name = name
        self.dialect = dialect_named("duckdb")
        self.rows = VIEW
        pairs = [(t, str(kind)) for t, kind in zip(relation.columns, relation.types, strict=True)]
        self.columns = tuple(_column(title, kind) for title, kind in pairs)
        if any(kind in AS_TEXT for _, kind in pairs):
            quoted = self.dialect.identifier
            chosen = [
                f"CAST({quoted(t)} AS VARCHAR) AS {quoted(t)}" if kind in AS_TEXT else quoted(t)
                for t, kind in pairs
            ]
            relation = relation.project(", ".join(chosen))
        self._relation = relation

    def run(self, query: str) -> Any:
        """Return the answer as an Arrow table."""
        with refusals(self.name):
            return self._relation.query(VIEW, query).to_arrow_table()

    def batches(self, query: str) -> Iterator[ArrowBatch]:
        """Yield the answer as Arrow record batches."""
        with refusals(self.name):
            yield from self._relation.query(VIEW, query).to_arrow_reader(MOST_ROWS)

    def snapshot(self) -> AbstractContextManager[object]:
        """Do nothing: whoever else could change the rows is in this process."""
        return nullcontext()


def open_duckdb(data: object, name: str | None = None, adds_up: bool | None = None) -> SqlSource:
    """Return a relation as a source; of a connection alone nobody can say which table is meant."""
    if hasattr(data, "table_function"):
        raise BadSetting(
            "a connection to DuckDB has many tables",
            hint='name one: connection.table("flowers"), or connection.sql("SELECT …")',
        )
    alias = str(getattr(data, "alias", ""))
    known = alias and not alias.startswith("unnamed_relation")
    table = DuckDbTable(data, name or (alias if known else "the DuckDB relation"))
    return SqlSource(table, adds_up=adds_up)


def duckdb_table(
    connection: Any,
    table: str | None,
    query: str | None,
    name: str | None = None,
    adds_up: bool | None = None,
) -> SqlSource:
    """Return a table, or what a query returns, as a source."""
    called = name or table or "the query"
    if query is None:
        assert table is not None
        query = f"SELECT * FROM {dialect_named('duckdb').table(table)}"
    with refusals(called):
        return open_duckdb(connection.sql(query), called, adds_up)


def _column(name: str, kind: str) -> SqlColumn:
    if kind == "BOOLEAN":
        return SqlColumn(name, BOOLEAN)
    if kind in ("FLOAT", "DOUBLE"):
        return SqlColumn(name, NUMBER, floating=True)
    if kind in WHOLE:
        return SqlColumn(name, NUMBER, whole=True, exact=kind not in WIDE)
    if kind.startswith("DECIMAL") or kind.strip('"') == "NULL":
        return SqlColumn(name, NUMBER, exact=kind.strip('"') == "NULL")
    if kind == "VARCHAR" or kind in AS_TEXT or kind.startswith("ENUM("):
        return SqlColumn(name, CATEGORY)
    return SqlColumn(name, OTHER, type=kind if len(kind) < 60 else f"{kind[:59]}…")


@contextmanager
def refusals(name: str) -> Iterator[None]:
    """Turn what DuckDB refuses into a refusal that names the table."""
    duckdb = import_module("duckdb")
    try:
        yield
    except duckdb.ConnectionException as error:
        raise connection_gone(name, "DuckDB", error) from None
    except duckdb.Error as error:
        raise BadRows(
            f"{name}: DuckDB refuses: {without_context(error)}",
            hint="does the table exist, and is the query right?",
        ) from None
