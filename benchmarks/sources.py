"""Statistics of a Parquet file against DuckDB's SQL for the same, and against reading it only."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.contest import Contest
from suffice import GaussianDiscriminant, collect

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = 10
CLASSES = 3
GROUP = 1_000_000
NAMES = [f"x{j}" for j in range(WIDTH)]
TARGET = "y"
CODECS = {"uncompressed": "none", "snappy": "snappy"}


def write_rows(path: Path, size: int, codec: str = "none", group: int = GROUP) -> Path:
    """Write so many rows of float32 with labels, a row group at a time; return the path."""
    rng = np.random.default_rng(7)
    fields = [*((name, pa.float32()) for name in NAMES), (TARGET, pa.int32())]
    schema = pa.schema(fields)
    slopes = np.linspace(-0.5, 0.5, WIDTH, dtype=np.float32)[:, np.newaxis]
    with parquet.ParquetWriter(path, schema, compression=codec, use_dictionary=False) as file:
        for start in range(0, size, group):
            held = min(group, size - start)
            labels = rng.integers(0, CLASSES, held).astype(np.int32)
            cells = rng.standard_normal((WIDTH, held), dtype=np.float32)
            cells += slopes * labels.astype(np.float32)
            file.write_table(pa.table([*cells, labels], schema=schema), row_group_size=group)
    return path


def statistics_of(path: Path, threads: int | None = None) -> Any:
    """Return what a Gaussian discriminant needs of a file, by so many threads."""
    with _threads(threads):
        return collect(GaussianDiscriminant(), path, TARGET)


def rows_read(path: Path, *, threads: bool = False) -> int:
    """Read a file batch by batch and count the rows: what reading alone takes."""
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        return sum(batch.num_rows for batch in file.iter_batches(use_threads=threads))


def sums_by_sql(path: Path, threads: int) -> list[tuple[Any, ...]]:
    """Return label, count, sums and products about a shift of every class, by DuckDB.

    The shift is the mean of the first thousand rows: raw sums would lose the digits of columns far
    from zero, here and there.
    """
    with duckdb.connect() as database:
        database.execute(f"SET threads = {threads}")
        means = ", ".join(f"avg({name})" for name in NAMES)
        first = f"SELECT * FROM '{path}' LIMIT 1000"
        shift = database.execute(f"SELECT {means} FROM ({first})").fetchone()
        assert shift is not None
        away = [f"({name}::DOUBLE - ({by!r}))" for name, by in zip(NAMES, shift, strict=True)]
        sums = [f"sum({one})" for one in away]
        products = [f"sum({away[i]} * {away[j]})" for i in range(WIDTH) for j in range(i + 1)]
        asked = ", ".join([TARGET, "count(*)", *sums, *products])
        query = f"SELECT {asked} FROM '{path}' GROUP BY {TARGET} ORDER BY {TARGET}"
        return database.execute(query).fetchall()


def check_sums(found: Any, sums: list[tuple[Any, ...]]) -> None:
    """Raise if our statistics are not those that SQL has added up."""
    (pooled,) = found.groups.values()
    scatter = np.zeros((WIDTH, WIDTH))
    lower = np.tril_indices(WIDTH)
    for place, (label, count, *rest) in enumerate(sums):
        assert (pooled.labels[place], pooled.weights[place]) == (label, count)
        total, products = np.array(rest[:WIDTH]), np.zeros((WIDTH, WIDTH))
        products[lower] = rest[WIDTH:]
        products += np.tril(products, -1).T
        scatter += products - np.outer(total, total) / count
    spread = np.sqrt(np.diagonal(scatter))
    assert np.abs((pooled.scatter - scatter) / np.outer(spread, spread)).max() < 1e-10


def contests(quick: bool) -> Iterator[Contest]:
    """Add up, and only read, a file of 1e7 rows and 10 columns."""
    size, named = (1_000_000, "1e6x10") if quick else (10_000_000, "1e7x10")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for said, codec in CODECS.items():
        path = write_rows(folder / f"{codec}.parquet", size, codec)
        yield Contest(
            f"statistics of Parquet {named}, {said}",
            lambda path=path: statistics_of(path),
            {"default DuckDB SQL": lambda path=path: sums_by_sql(path, cores)},
            check_sums,
            None,
            3.0,
            note=f"{cores} threads for both",
        )
        yield Contest(
            f"statistics of Parquet {named}, {said}, as a share of reading it",
            lambda path=path: statistics_of(path),
            {"default pyarrow": lambda path=path: rows_read(path, threads=True)},
            _same_rows,
            None,
            0.65,
            note="the peer reads batches and does nothing with them",
        )
        yield Contest(
            f"statistics of Parquet {named}, {said}: a second core",
            lambda path=path: statistics_of(path),
            {"default one thread": lambda path=path: statistics_of(path, 1)},
            check_same_bits,
            None,
            1.5,
            note="the same code, with SUFFICE_THREADS=1",
        )
        path.unlink()


def _same_rows(ours: Any, theirs: int) -> None:
    assert ours.weight == theirs


def check_same_bits(ours: Any, theirs: Any) -> None:
    """Raise unless two summaries are the same to the last bit."""
    one, other = ours.to_arrays(), theirs.to_arrays()
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)


@contextmanager
def _threads(many: int | None) -> Iterator[None]:
    before = os.environ.get("SUFFICE_THREADS")
    if many is not None:
        os.environ["SUFFICE_THREADS"] = str(many)
    try:
        yield
    finally:
        if many is not None:
            del os.environ["SUFFICE_THREADS"]
            if before is not None:
                os.environ["SUFFICE_THREADS"] = before
