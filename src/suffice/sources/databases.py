"""One table of a database, by a connection and a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import BadSetting

if TYPE_CHECKING:
    from suffice.sources.sql import SqlSource


def sql_source(
    connection: Any,
    table: str | None = None,
    *,
    query: str | None = None,
    adds_up: bool | None = None,
) -> SqlSource:
    """Return a table, a view or a query of a database as rows to learn from.

    `connection` is one of DuckDB or of psycopg (PostgreSQL). A dot in the name of a table parts it
    from its schema. `adds_up` says whether the database makes the sums, or its rows are read; with
    None whatever is quicker: PostgreSQL adds up, and only sums travel; DuckDB, in this process, is
    read. `source.taken` says afterwards what it was.

    >>> import duckdb
    >>> from suffice import GaussianDiscriminant
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE t AS SELECT i AS x, i > 4 AS y FROM range(9) r(i)")
    >>> GaussianDiscriminant().fit(sql_source(connection, "t"), target="y").means_.tolist()
    [[2.0], [6.5]]
    >>> there = sql_source(connection, "t", adds_up=True)
    >>> _ = GaussianDiscriminant().fit(there, target="y")
    >>> there.taken
    'sums'
    """
    if (table is None) == (query is None):
        raise BadSetting(
            "either a table or a query is to be named, and not both",
            hint='sql_source(connection, "flowers"), or sql_source(connection, query="SELECT …")',
        )
    library = type(connection).__module__.partition(".")[0].lstrip("_")
    if library == "duckdb":
        from suffice.sources.duckdb_tables import duckdb_table

        return duckdb_table(connection, table, query, adds_up=adds_up)
    if library == "psycopg":
        from suffice.sources.postgres_tables import postgres_table

        return postgres_table(connection, table, query, adds_up=adds_up)
    raise BadSetting(
        f"a {type(connection).__name__} is no connection to DuckDB, nor one of psycopg",
        hint="tables of other databases come through Ibis: ibis.connect(…).table(…)",
    )
