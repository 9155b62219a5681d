"""Frames of Polars: eager ones as they are, lazy ones as the streaming engine hands them out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from suffice.errors import BadRows
from suffice.places import Place
from suffice.sources.chunks import chunk_of_frame
from suffice.sources.local import LocalSource, chunk_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from suffice.sources.local import Part
    from suffice.sources.source import Chunk, Source, Wanted


class PolarsSource(LocalSource):
    """A Polars DataFrame or LazyFrame.

    A lazy one is never held whole: its plan runs anew for every pass, with the columns that are
    wanted and no others, and its rows come in their order.

    >>> import polars
    >>> source = PolarsSource(polars.LazyFrame({"x": [1.0, 2.0], "y": ["a", "b"]}))
    >>> source.collect(lambda chunk: chunk.table.size, source.wanted("y"))
    2
    """

    def __init__(self, frame: Any, name: str | None = None) -> None:
        self._lazy = hasattr(frame, "collect")
        self.name = name or ("the Polars LazyFrame" if self._lazy else "the Polars DataFrame")
        self._frame = frame
        if self._lazy and not hasattr(frame, "collect_batches"):
            raise BadRows(
                "this version of Polars cannot hand out a LazyFrame in batches",
                hint="upgrade Polars, or collect the frame first: frame.collect()",
            )
        with _polars_at_work(self.name):
            self.names = tuple(frame.collect_schema().names() if self._lazy else frame.columns)

    @property
    def size(self) -> int | None:
        """How many rows there are, where that is known without reading them."""
        return None if self._lazy else int(self._frame.height)

    def parts(self, wanted: Wanted) -> Sequence[Part]:
        """Return the whole as one part."""
        return [lambda: self._chunks(wanted)]

    def _chunks(self, wanted: Wanted) -> Iterator[Chunk]:
        rows, start = chunk_rows(len(wanted.all)), 1
        chosen = self._frame.select(list(wanted.all))
        with _polars_at_work(self.name):
            for frame in _even(self._batches(chosen, rows), rows):
                stop = start + frame.height
                yield chunk_of_frame(frame, wanted, Place(self.name, start, stop - 1))
                start = stop

    def _batches(self, chosen: Any, rows: int) -> Iterable[Any]:
        if not self._lazy:
            return (chosen,)
        found: Iterable[Any] = chosen.collect_batches(
            chunk_size=rows, maintain_order=True, lazy=True
        )
        return found


def _even(frames: Iterable[object], size: int) -> Iterator[Any]:
    """Yield the same rows in frames of `size`, the last one shorter, however they were cut."""
    held: Any = None
    for frame in frames:
        held = frame if held is None else held.vstack(frame)
        first = 0
        while held.height - first >= size:
            yield held.slice(first, size)
            first += size
        held = held.slice(first)
    if held is not None and held.height:
        yield held


@contextmanager
def _polars_at_work(name: str) -> Iterator[None]:
    """Turn what Polars refuses inside the block into refusals about the source of that name."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("polars"):
            raise
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise BadRows(
            f"{name} cannot be read: {lines[0]:.300}", hint="does its plan run on its own?"
        ) from error


def open_polars(data: object, name: str | None) -> Source | None:
    """Return a frame of Polars as a source; None for whatever else is its own."""
    return PolarsSource(data, name) if hasattr(data, "collect_schema") else None
