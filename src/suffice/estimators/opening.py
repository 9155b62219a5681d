"""The one door for rows that may be sparse."""

from __future__ import annotations

from typing import Any

from suffice.engines.uneven_blocks import read_sparse_rows
from suffice.rows import read_table
from suffice.rows.sparse import is_sparse


def opened(X: object) -> Any:
    """Return X as a table, or as sparse rows."""
    return read_sparse_rows(X) if is_sparse(X) else read_table(X)
