"""What is said of a database: why rows leave it, what it refuses, and that it is gone."""

from __future__ import annotations

import warnings

from suffice.errors import BadRows, StreamedRows


def warn_of_streaming(name: str, why: str) -> None:
    """Say that rows leave their database, and what for."""
    warnings.warn(
        f"{name}: rows are streamed out of the database, for {why}", StreamedRows, stacklevel=3
    )


def connection_gone(name: str, database: str, problem: object) -> BadRows:
    """Return the refusal of a table that can no longer be asked about."""
    return BadRows(
        f"{name}: the connection to {database} is gone: {without_context(problem)}",
        hint="connect anew, and make the source anew: nothing was learned",
    )


def without_context(problem: object) -> str:
    """Return what a database said, on one line, without the query that it repeats."""
    lines = str(problem).splitlines()
    kept = [line for line in lines if not line.startswith(("LINE ", " ", "\t", "CONTEXT"))]
    return " ".join(" ".join(kept or lines).split())[:200]
