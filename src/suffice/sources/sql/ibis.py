"""Tables and expressions of Ibis: on DuckDB and PostgreSQL added up there, elsewhere streamed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from suffice.engines.parts import Mergeable
from suffice.sources.arrow_streams import ArrowSource
from suffice.sources.local import MOST_ROWS
from suffice.sources.sql.columns import warn_of_streaming
from suffice.sources.sql.duckdb import duckdb_table
from suffice.sources.sql.postgres import postgres_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.engines.parts import Progress
    from suffice.sources.source import Chunk, Source, Wanted

S = TypeVar("S", bound=Mergeable)


def open_ibis(data: object, name: str | None = None) -> Source | None:
    """Return a table of Ibis as a source."""
    ibis = import_module("ibis")
    if not isinstance(data, ibis.Table):
        return None
    backend = data.get_backend()
    called = name or _name(data)
    if backend.name == "duckdb":
        return duckdb_table(backend.con, None, str(ibis.to_sql(data)), called)
    if backend.name == "postgres":
        return postgres_table(backend.con, None, str(ibis.to_sql(data)), called)
    return OtherTable(
        data.schema().to_pyarrow(),
        lambda names: data.select(*names).to_pyarrow_batches(chunk_size=MOST_ROWS),
        called,
    )


class OtherTable(ArrowSource):
    """A table of a database whose integers are not added up exactly: its rows are streamed."""

    def collect(
        self,
        summarize: Callable[[Chunk], S],
        wanted: Wanted,
        progress: Progress[S] | None = None,
        told: Callable[[Progress[S]], object] | None = None,
    ) -> S | None:
        """Return the merged summary of all rows, streamed out of the database."""
        warn_of_streaming(self.name, "only DuckDB and PostgreSQL add them up exactly")
        return super().collect(summarize, wanted, progress, told)


def _name(data: object) -> str:
    has = getattr(data, "get_name", None)
    try:
        return str(has()) if has is not None else "the Ibis table"
    except Exception:  # noqa: BLE001  an expression without a name
        return "the Ibis table"
