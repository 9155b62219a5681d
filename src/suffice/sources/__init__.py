"""Rows wherever they are: files, streams, databases and clusters, collected where they are."""

from suffice.sources.sql.addresses import sql_source
from suffice.sources.opening import is_source, open_source
from suffice.sources.source import Chunk, Source, Wanted

__all__ = ["Chunk", "Source", "Wanted", "is_source", "open_source", "sql_source"]
