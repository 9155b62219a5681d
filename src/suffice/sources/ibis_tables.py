"""Tables and expressions of Ibis: on DuckDB and PostgreSQL added up there, elsewhere streamed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.sources.arrow_streams import ArrowSource
from suffice.sources.duckdb_tables import duckdb_table
from suffice.sources.local import MOST_ROWS
from suffice.sources.postgres_tables import postgres_table

if TYPE_CHECKING:
    from suffice.sources.source import Source


def open_ibis(data: Any, name: str | None = None) -> Source | None:
    """Return a table of Ibis as a source."""
    ibis: Any = import_module("ibis")
    if not isinstance(data, ibis.Table):
        return None
    backend = data.get_backend()
    called = name or _name(data)
    if backend.name == "duckdb":
        return duckdb_table(backend.con, None, str(ibis.to_sql(data)), called)
    if backend.name == "postgres":
        return postgres_table(backend.con, None, str(ibis.to_sql(data)), called)
    schema = data.schema().to_pyarrow()
    return ArrowSource(
        schema,
        lambda names: data.select(*names).to_pyarrow_batches(chunk_size=MOST_ROWS),
        called,
    )


def _name(data: Any) -> str:
    has = getattr(data, "get_name", None)
    try:
        return str(has()) if has is not None else "the Ibis table"
    except Exception:  # noqa: BLE001  an expression without a name
        return "the Ibis table"
