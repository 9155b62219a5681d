"""DataFrames of Dask: every partition is summarized where it is, and summaries merge in a tree."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from suffice.engines.parts import Mergeable
from suffice.errors import BadRows, BadSetting, SufficeError
from suffice.sources.chunks import chunks_of_frame
from suffice.sources.local import chunk_rows, joined_chunks
from suffice.sources.partitions import (
    CIRCLE,
    TURN,
    Weightless,
    answered,
    distinct_names,
    merged,
    summary_of_partition,
)
from suffice.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from suffice.sources.source import Chunk, Wanted

S = TypeVar("S", bound=Mergeable)

NEAR = 16
"""Neighbours that are merged by one task: a power of two, whole branches of the tree."""
_SCHEDULER = "distributed"
"""The module of Dask's clusters. Where it is not loaded there is no cluster to ask."""


class DaskSource(Source):
    """A Dask DataFrame, under whatever scheduler is in force: threads, processes, a cluster.

    Summaries are merged in the order of the partitions; the result does not depend on which was
    ready first, nor on divisions, which may be unknown.
    """

    def __init__(self, frame: Any, name: str | None = None) -> None:
        self.name = name or "the Dask DataFrame"
        self._frame = frame
        self.names = distinct_names(list(frame.columns), self.name)
        self._held: dict[tuple[str, ...], object] = {}

    def collect(self, summarize: Callable[[Chunk], S], wanted: Wanted) -> S | None:
        """Return the merged summary of all rows, by partition; None: no rows."""
        delayed = import_module("dask").delayed
        task, merge = delayed(_of_partition, pure=False), delayed(_merged, pure=False)
        found = [
            task(summarize, part, wanted, place)
            for place, part in enumerate(self._rows(wanted).to_delayed())
        ]
        while len(found) > NEAR:
            found = [merge(found[first : first + NEAR]) for first in range(0, len(found), NEAR)]
        with _dask_at_work(self.name):
            whole: S | SufficeError | Weightless | None = merge(found).compute()
        return answered(whole, self.name)

    def some(self, wanted: Wanted, size: int) -> Chunk | None:
        """Return all rows if there are no more than `size`; else about so many, from all parts.

        Of a partition these are rows from all over it, of each as many for its size.
        """
        dask = import_module("dask")
        parts = self._rows(wanted).to_delayed()
        with _dask_at_work(self.name):
            sizes = dask.compute(*(dask.delayed(len)(part) for part in parts))
            if not sum(sizes):
                return None
            share = min(size / max(sum(sizes), 1), 1.0)
            drawn = dask.compute(*(dask.delayed(_scattered)(part, share) for part in parts))
        chunks = [
            chunk
            for place, rows in enumerate(drawn)
            for chunk in chunks_of_frame(rows, wanted, f"partition {place}")
        ]
        return joined_chunks(chunks)

    @contextmanager
    def kept(self, wanted: Wanted) -> Iterator[None]:
        """Keep the wanted columns in the memory of the cluster inside the block.

        Without a cluster nothing is kept: the rows may be larger than the memory here, and only a
        cluster's workers spill to their disks.
        """
        if not _has_cluster():
            yield
            return
        with _dask_at_work(self.name):
            self._held[wanted.all] = self._rows(wanted).persist()
        try:
            yield
        finally:
            del self._held[wanted.all]  # its futures go with it, and the workers let go

    def _rows(self, wanted: Wanted) -> Any:
        held = self._held.get(wanted.all)
        return self._frame[list(wanted.all)] if held is None else held


def _of_partition(
    summarize: Callable[[Chunk], S], rows: object, wanted: Wanted, place: int
) -> S | SufficeError | Weightless | None:
    def chunks() -> Iterable[Chunk]:
        return chunks_of_frame(rows, wanted, f"partition {place}")

    return summary_of_partition(summarize, chunks, chunk_rows(len(wanted.all)))


def _merged(found: list[object]) -> Any:
    return merged(found)


def _scattered(rows: Any, share: float) -> object:
    return rows.iloc[np.flatnonzero(np.arange(len(rows)) * TURN % CIRCLE < share * CIRCLE)]


def _has_cluster() -> bool:
    """Whether a cluster's client is in force; nobody has one who has not imported it."""
    import sys

    if _SCHEDULER not in sys.modules:
        return False
    try:
        sys.modules[_SCHEDULER].get_client()
    except ValueError:
        return False
    return True


@contextmanager
def _dask_at_work(name: str) -> Iterator[None]:
    """Turn failures of Dask itself inside the block into refusals."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BadSetting(
            f"the workers of Dask have no module {error.name!r}",
            hint="install suffice in the environment of the workers as well",
        ) from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in {"dask", _SCHEDULER}:
            raise
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise BadRows(
            f"{name} cannot be read: {lines[0]:.300}",
            hint="does len(frame) work? The full message of Dask is above",
        ) from error


def open_dask(data: object, name: str | None) -> Source | None:
    """Return a Dask DataFrame as a source; None for whatever else is Dask's."""
    frames = import_module("dask.dataframe")
    return DaskSource(data, name) if isinstance(data, frames.DataFrame) else None
