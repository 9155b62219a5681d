"""Rows wherever they are: files, streams, databases and clusters, collected where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.sources.opening import is_source, open_source
    from suffice.sources.source import Chunk, Source, Wanted
    from suffice.sources.sql.addresses import sql_source

__all__ = [
    "Chunk",
    "Source",
    "Wanted",
    "is_source",
    "open_source",
    "sql_source",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.sources.opening": ["is_source", "open_source"],
        "suffice.sources.source": ["Chunk", "Source", "Wanted"],
        "suffice.sources.sql.addresses": ["sql_source"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
