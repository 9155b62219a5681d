"""What Spark's workers do: a partition's rows become one summary, and summaries one of theirs."""

from __future__ import annotations

import pickle
from importlib import import_module
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, TypeVar

from suffice.engines.parts import Mergeable
from suffice.sources.arrow_streams import ArrowSource
from suffice.sources.local import chunk_rows
from suffice.sources.partitions import merged, summary_of_partition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from suffice.sources.source import Chunk, Wanted

S = TypeVar("S", bound=Mergeable)

PARTIALS = "bucket long, part long, many long, payload binary"
"""The columns of partial summaries: which neighbours, the first partition, how many, and what."""


def of_partition(
    summarize: Callable[[Chunk], S], wanted: Wanted, near: int
) -> Callable[[Iterable[object]], Iterator[object]]:
    """Return the function that turns the batches of a partition into its summary.

    It travels with `summarize` inside, and with no rows. `near` is how many neighbours share a
    bucket.
    """

    def task(batches: Iterable[Any]) -> Iterator[object]:
        named = (batch.rename_columns(list(wanted.all)) for batch in batches)
        first = next(named, None)
        if first is None:
            return
        part = partition()
        rows = chain([first], named)
        stream = ArrowSource(first.schema, lambda _: rows, f"partition {part}", once=True)
        full = chunk_rows(len(wanted.all))
        found = summary_of_partition(summarize, stream.parts(wanted)[0], full)
        if found is not None:
            yield _record(part // near, part, 1, found)

    return task


def of_partials(batches: Iterable[Any]) -> Iterator[object]:
    """Yield the merged summaries of neighbours; they come in the order of their partitions."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for bucket, near in groupby(rows, key=lambda row: row["bucket"]):
        parts: list[int] = []
        found = merged(_unpickled(near, parts))
        yield _record(bucket, parts[0], len(parts), found)


def _unpickled(rows: Iterable[dict[str, Any]], parts: list[int]) -> Iterator[Any]:
    """Yield summaries, and tell of which partitions: none waits for the others in memory."""
    for row in rows:
        parts.append(row["part"])
        yield pickle.loads(row["payload"])  # noqa: S301  written by the task before


def _record(bucket: int, part: int, many: int, found: object) -> Any:
    pa = import_module("pyarrow")
    payload = pickle.dumps(found, protocol=5)
    numbers = {"bucket": bucket, "part": part, "many": many}
    columns = {name: pa.array([number], pa.int64()) for name, number in numbers.items()}
    return pa.record_batch({**columns, "payload": pa.array([payload], pa.binary())})


def partition() -> int:
    """Return which partition the task at work has."""
    context: Any = import_module("pyspark").TaskContext.get()
    return int(context.partitionId())
