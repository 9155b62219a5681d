"""DataFrames of Spark, classic and Connect: only statistics leave the cluster.

    rows ─mapInArrow─▶ one summary a partition ─▶ one for each 512 neighbours ─collect─▶ the driver

Nothing here asks for `sparkContext` or `rdd`, which Connect does not have. Columns are renamed by
their place before anything else, so that no name of theirs is ever read as an expression.
"""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from suffice.engines.parts import Mergeable
from suffice.sources.arrow_chunks import chunk_of
from suffice.sources.partitions import WIDTH, answered, distinct_names, merged
from suffice.sources.source import Source
from suffice.sources.spark_predictions import predictions
from suffice.sources.spark_refusals import spark_at_work
from suffice.sources.spark_tasks import PARTIALS, of_partials, of_partition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from suffice.sources.source import Chunk, Wanted

__all__ = ["SparkSource", "predictions", "spark_at_work"]

S = TypeVar("S", bound=Mergeable)

DIRECT = 1 << 25
"""Bytes of summaries that the driver takes from all partitions without a merge on the cluster."""


class SparkSource(Source):
    """A Spark DataFrame: each partition is summarized by the worker that holds it.

    Summaries are merged in the order of the partitions. Where the partitions are the same and hold
    the same rows in the same order, the result is the same to the last bit; behind a shuffle Spark
    promises no order of rows, and the result is the same to rounding.

    moved  about how many bytes the summaries of all partitions had at the last collect, or None
    """

    def __init__(self, frame: Any, name: str | None = None) -> None:
        self.name = name or "the Spark DataFrame"
        self._frame = frame
        with spark_at_work(self.name):
            self.names = distinct_names(frame.columns, self.name)
        self._chosen: dict[tuple[str, ...], Any] = {}
        self.moved: int | None = None
        self._count: int | None = None

    def collect(self, summarize: Callable[[Chunk], S], wanted: Wanted) -> S | None:
        """Return the merged summary of all rows, by partition; None: no rows.

        One job. How many partitions there are is not known before the first; so that one merges
        on the cluster, and later ones only if there is much to merge.
        """
        with spark_at_work(self.name):
            task = of_partition(summarize, wanted, WIDTH)
            partials = self._rows(wanted).mapInArrow(task, PARTIALS)
            if self.moved is None or self.moved > DIRECT:
                near = partials.repartition("bucket").sortWithinPartitions("part")
                partials = near.mapInArrow(of_partials, PARTIALS)
            found = sorted(partials.collect(), key=lambda row: row["part"])
        self.moved = sum(row["many"] * len(row["payload"]) for row in found)
        buckets: dict[int, list[Any]] = {}
        for row in found:
            # The cluster's own: as trustworthy as the function that was sent there.
            held = pickle.loads(row["payload"])  # noqa: S301
            buckets.setdefault(row["bucket"], []).append(held)
        # Bucket by bucket, so that it makes no difference who merged within them.
        found_in: list[Any] = [merged(held) for held in buckets.values()]
        whole: S | None = answered(merged(found_in), self.name)
        return whole

    def some(self, wanted: Wanted, size: int) -> Chunk | None:
        """Return all rows if there are no more than `size`; else about so many, drawn by a seed."""
        rows = self._rows(wanted)
        with spark_at_work(self.name):
            if self._count is None:
                self._count = int(rows.count())
            if self._count > size:
                drawn = rows.sample(fraction=size / self._count, seed=0).toArrow()
                table = drawn if drawn.num_rows else rows.limit(size).toArrow()
            else:
                table = rows.toArrow()
        if not table.num_rows:
            return None
        batch = table.rename_columns(list(wanted.all)).combine_chunks().to_batches()[0]
        return chunk_of(batch, wanted, self.name)

    @contextmanager
    def kept(self, wanted: Wanted) -> Iterator[None]:
        """Keep the wanted columns in the cluster's memory, or on its disks, inside the block.

        For learners that read the rows many times.
        """
        with spark_at_work(self.name):
            rows = self._rows(wanted).persist()
        self._chosen[wanted.all] = rows
        try:
            yield
        finally:
            with spark_at_work(self.name):
                rows.unpersist()
            self._chosen.pop(wanted.all, None)

    def _rows(self, wanted: Wanted) -> Any:
        """Return the wanted columns, in their order, named by their place."""
        found = self._chosen.get(wanted.all)
        if found is None:
            places = [self.names.index(name) for name in wanted.all]
            with spark_at_work(self.name):
                renamed = self._frame.toDF(*(f"c{place}" for place in range(len(self.names))))
                found = renamed.select(*(f"c{place}" for place in places))
            self._chosen[wanted.all] = found
        return found


def open_spark(data: Any, name: str | None) -> Source | None:
    """Return a Spark DataFrame as a source; None for whatever else is Spark's."""
    frames: Any = import_module("pyspark.sql")
    return SparkSource(data, name) if isinstance(data, frames.DataFrame) else None
