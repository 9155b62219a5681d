"""Tables under attack: 40,000 files with changed bytes, and small ones that mean very much.

python -m benchmarks.evidence --only table_fuzz     all of it (about three minutes of CPU time)
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.evidence import Figure
from tests.reference.damaged_tables import FORMATS, READ, REFUSED, SECONDS, Tally, tally
from tests.reference.table_bombs import WAYS, bombs, outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = 10_000
"""Damaged files of each format."""
MOST = 1024
"""MB that the process may hold which reads them."""
NAMES = {"arrow": "Arrow", "parquet": "Parquet", "csv": "CSV", "json": "JSON lines"}
COMMAND = "python -m benchmarks.evidence --only table_fuzz"
IN_MEMORY = Path("/dev/shm")
"""A folder on no disk: what is measured is reading."""


def measure() -> Iterator[Figure]:
    """Yield what became of damaged tables of each format, and what they cost."""
    with ThreadPoolExecutor(2) as pool:  # each has a worker of its own
        jobs = {form: pool.submit(_tried, place) for place, form in enumerate(FORMATS)}
        found = {form: job.result() for form, job in jobs.items()}
    for form, got in found.items():
        first = f"; the first: {got.wrong[0]}" if got.wrong else ""
        yield Figure(
            f"{FILES:,} damaged files of {NAMES[form]}, by fit, collect, pipes and column by "
            "column: read, or refused in words",
            f"{got.found[READ]:,} read, {got.found[REFUSED]:,} refused, {len(got.wrong)} wrong"
            + first,
            "0 wrong", not got.wrong, COMMAND,
        )  # fmt: skip
    slowest = max(got.slowest for got in found.values())
    yield Figure(
        "no damaged table takes long", f"slowest {slowest:.1f} s", f"{SECONDS:.0f} s",
        slowest <= SECONDS, COMMAND,
    )  # fmt: skip
    peak = max(got.peak for got in found.values())
    yield Figure(
        "nor much memory", f"{peak} MB, with all libraries", f"{MOST} MB", peak <= MOST, COMMAND
    )
    yield from _bombs()


def _bombs() -> Iterator[Figure]:
    """Yield what became of small files that mean very much, each in a process of its own."""
    where = IN_MEMORY if IN_MEMORY.is_dir() else None
    found: dict[str, tuple[str, float, int]] = {}
    with tempfile.TemporaryDirectory(dir=where) as folder:
        for kind in bombs():
            for way in WAYS:
                found[f"{kind}, {way}"] = outcome(kind, Path(folder), way)
            (Path(folder) / kind.replace(" ", "-")).unlink()
    wrong = [name for name, got in found.items() if got[0].split(" ")[0] not in (READ, REFUSED)]
    yield Figure(
        f"{len(bombs())} kinds of small files that mean very much (packed batches, pages, "
        "dictionaries, runs, views, long texts), in three ways: read, or refused in words",
        f"{len(found) - len(wrong)} read or refused, {len(wrong)} wrong"
        + (f"; the first: {wrong[0]}: {found[wrong[0]][0]}" if wrong else ""),
        "0 wrong", not wrong, COMMAND,
    )  # fmt: skip
    most = max(found, key=lambda name: found[name][2])
    yield Figure(
        "none of them takes much memory", f"{found[most][2]} MB at most ({most})", f"{MOST} MB",
        found[most][2] <= MOST, COMMAND,
    )  # fmt: skip


def _tried(place: int) -> Tally:
    """Try the files of one format."""
    where = IN_MEMORY if IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        return tally(range(place, FILES * len(FORMATS), len(FORMATS)), Path(folder))
