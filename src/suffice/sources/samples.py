"""Some rows of a source that stand for all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.sources.arrow_frames import some_rows
from suffice.sources.local import LocalSource, joined_chunks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.sources.source import Chunk, Source, Wanted

MANY = 16
"""Parts from which on the beginnings of some of them stand for all."""


def spread_rows(
    source: Source, wanted: Wanted, size: int, seed: int = 0
) -> tuple[Chunk | None, bool]:
    """Return all rows, if they are no more than `size`, or about so many; and whether they are all.

    A source of many parts, of which it is known how many rows they hold, is read in parts from all
    over it. One of few parts is read through, and every row has the same chance: a file sorted by
    class begins with one class alone. None stands for no rows.
    """
    if not isinstance(source, LocalSource) or not _is_read_through(source, wanted, size):
        some = source.some(wanted, size)
        return some, some is None or _is_all(some, source, wanted, size)
    rng = np.random.default_rng(seed)
    held: list[Chunk] = []
    chances: list[NDArray[Any]] = []
    most, rows = 1.0, 0
    whole = True
    for part in source.parts(wanted):
        for chunk in part():
            given = rng.random(chunk.table.size)
            kept = given < most
            held.append(chunk if whole else _kept(chunk, kept))
            chances.append(given[kept])
            rows += int(kept.sum())
            while rows > size:
                whole, most = False, most / 2.0
                held = [_kept(c, g < most) for c, g in zip(held, chances, strict=True)]
                chances = [g[g < most] for g in chances]
                rows = sum(map(len, chances))
    return joined_chunks([chunk for chunk in held if chunk.table.size]), whole


def first_rows(source: LocalSource, wanted: Wanted, size: int) -> tuple[Chunk | None, bool]:
    """Return all rows, if they are no more than `size`, or some; and whether they are all.

    Quicker than `spread_rows`: of a source whose size is not known these are the first ones.
    """
    if source.size is not None and source.size > size:
        return source.some(wanted, size), False
    held: list[Chunk] = []
    whole = True
    for chunk in (chunk for part in source.parts(wanted) for chunk in part()):
        held.append(chunk)
        if sum(one.table.size for one in held) > size:
            whole = False
            break
    return joined_chunks(held), whole


def _is_all(some: Chunk, source: Source, wanted: Wanted, size: int) -> bool:
    """Whether some rows are all rows; a cluster is asked only where it can be otherwise."""
    held, known = some.table.size, source.size
    if known is None and held < size // 2:
        return True  # of more, about `size` would have come
    if known is None:
        known = source.collect(_count, wanted)
    return (known or 0) <= held


def _count(chunk: Chunk) -> int:
    return chunk.table.size


def _is_read_through(source: LocalSource, wanted: Wanted, size: int) -> bool:
    if source.spreads:
        return False
    known = source.size
    return known is None or known <= size or len(source.parts(wanted)) < MANY


def _kept(chunk: Chunk, kept: NDArray[np.generic]) -> Chunk:
    """Return some rows of a chunk."""
    labels, weights = chunk.labels, chunk.weights
    if labels is not None:
        labels = labels[kept] if isinstance(labels, np.ndarray) else _filtered(labels, kept)
    return replace(
        chunk,
        table=some_rows(chunk.table, kept),
        labels=labels,
        weights=None if weights is None else weights[kept],
    )


def _filtered(labels: Any, kept: NDArray[np.generic]) -> object:
    import pyarrow as pa

    return labels.filter(pa.array(kept))
