"""Frames copied into databases, names and types kept."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from suffice.sql.dialects import DIALECTS

TYPES = {
    "double": "float8", "float": "float4", "int64": "bigint", "int32": "integer", "bool": "boolean",
    "string": "text", "null": "float8",
}  # fmt: skip


def copied(connection: Any, table: pa.Table, name: str, adds_up: bool | None = True) -> Any:
    """Write a table into DuckDB or PostgreSQL, and return it as something to learn from.

    It is added up there, unless said otherwise: what is chosen would be reading, in DuckDB.
    """
    from suffice.sources.sql.addresses import sql_source

    if type(connection).__module__.startswith("psycopg"):
        _to_postgres(connection, table, name)
    else:
        called = DIALECTS["duckdb"].identifier(name)
        connection.register("given", table)
        connection.execute(f"CREATE OR REPLACE TABLE {called} AS SELECT * FROM given")
        connection.unregister("given")
    return sql_source(connection, name, adds_up=adds_up)


def _to_postgres(connection: Any, table: pa.Table, name: str) -> None:
    quoted = DIALECTS["postgres"].identifier
    columns = ", ".join(f"{quoted(f.name)} {_type(f.type)}" for f in table.schema)
    connection.execute(f"DROP TABLE IF EXISTS {quoted(name)}")
    connection.execute(f"CREATE TABLE {quoted(name)} ({columns})")
    with connection.cursor().copy(f"COPY {quoted(name)} FROM STDIN") as copy:
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            copy.write_row(row)


def _type(given: Any) -> str:
    if pa.types.is_decimal(given):
        return f"numeric({given.precision}, {given.scale})"
    return TYPES[str(given)]
