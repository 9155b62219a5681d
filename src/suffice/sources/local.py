"""Sources that this process reads itself: parts over threads, merged in order; chunks as one."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import partial
from pathlib import Path
from sys import getsizeof
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from suffice.engines.parts import Mergeable, Progress, collect_parts
from suffice.errors import BadRows
from suffice.kernels.compilation import part_of
from suffice.places import Phrase, Place
from suffice.rows.cells import CATEGORY, NUMBER, object_array
from suffice.rows.tables import table_of_columns
from suffice.sources.partitions import counts, no_weight
from suffice.sources.source import Chunk, Source, Wanted
from suffice.tables.allowances import TIMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling
    from suffice.rows.tables import Table

    Part = Callable[[], Iterable[Chunk]]


S = TypeVar("S", bound=Mergeable)

CELLS = 1_000_000
"""Cells of one chunk, about."""
MOST_ROWS = 1 << 17
"""Rows of one chunk, at most."""


LONG_TEXT, HELD_TEXT = 1 << 10, 1 << 28
"""Bytes of memory from which on a text is held once, however many rows have it; and that all of
them may take where many rows are held at once. A small packed file can hold any number of them.

Those of a large file may take more, `TIMES` its bytes: whoever stored them has room for them."""


def chunk_rows(width: int) -> int:
    """Return how many rows of so many columns are read at a time.

    >>> chunk_rows(10), chunk_rows(10_000)
    (100000, 100)
    """
    return max(1, min(MOST_ROWS, CELLS // max(width, 1)))


class LocalSource(Source):
    """Rows that are read here. A subclass says how they are cut into parts, always the same way."""

    spreads = False
    """Whether `some` finds rows all over the source even if this has one part."""
    in_database = False
    """Whether the rows stay in a database until somebody asks for them."""
    adds_up = False
    """Whether the database makes the sums itself."""

    @property
    def identity(self) -> object:
        """Which rows these are, as plain values; None where that cannot be known."""
        return None

    @property
    def stored(self) -> int | None:
        """Bytes of the files that are read, as they are packed; None for rows of no files."""
        return None

    @property
    def dates(self) -> Mapping[str, Spelling]:
        """Which columns are dates or times by their type, and how such are written."""
        return {}

    def labelled(self, target: str) -> LocalSource:  # noqa: ARG002  for those that can
        """Return the rows that have a label, where they can be told before they are read."""
        return self

    def all_labelled(self, target: str) -> bool:  # noqa: ARG002  for those that can
        """Whether every row is known to have a label, before any is read."""
        return False

    @abstractmethod
    def parts(self, wanted: Wanted) -> Sequence[Part]:
        """Return what can be read by itself, in order: each call reads a part anew."""

    def collect(
        self,
        summarize: Callable[[Chunk], S],
        wanted: Wanted,
        progress: Progress[S] | None = None,
        told: Callable[[Progress[S]], Any] | None = None,
    ) -> S | None:
        """Return the merged summary of all rows, in the order of the source; None: no rows."""
        parts, weightless = list(self.parts(wanted)), [0]
        if wanted.weight is not None:
            parts = [partial(_counting, part, weightless) for part in parts]
        with part_of((self.size or 0) * len(wanted.all)):
            found = collect_parts(summarize, parts, progress, told)
        if found is None and weightless[0]:
            raise no_weight(self.name, weightless[0])
        return found

    def some(self, wanted: Wanted, size: int) -> Chunk | None:
        """Return all rows if there are no more than `size`; else about so many, from all parts.

        Of a source in one part these are its first rows.
        """
        parts = self.parts(wanted)
        most = math.inf if self.stored is None else max(HELD_TEXT, TIMES * self.stored)
        if self.size is None or self.size <= size:
            first = _first(parts, size + 1, most)
            if sum(chunk.table.size for chunk in first) <= size or len(parts) == 1:
                return joined_chunks(first)
        many = min(len(parts), max(1, size // chunk_rows(len(wanted.all))))
        places = [(len(parts) - 1) * i // max(many - 1, 1) for i in range(many)]
        spread = [chunk for place in places for chunk in _first([parts[place]], size // many, most)]
        return joined_chunks(spread)


def _counting(part: Part, weightless: list[int]) -> Iterator[Chunk]:
    """Yield the chunks of a part in which any row counts; add up the rows of the others."""
    for chunk in part():
        if counts(chunk):
            yield chunk
        else:
            weightless[0] += chunk.table.size


def identity_of(paths: Iterable[str | Path]) -> list[list[object]]:
    """Return which files these are, wherever their folder is: their names, sizes and times."""
    found = [(Path(path).name, Path(path).stat()) for path in paths]
    return [[name, held.st_size, held.st_mtime_ns] for name, held in found]


def _first(parts: Sequence[Part], size: int, most: float) -> list[Chunk]:
    """Return chunks from the beginning on, until they hold `size` rows or there are no more.

    Their long texts may take `most` bytes.
    """
    found: list[Chunk] = []
    texts = _Texts(most)
    held = 0
    for part in parts:
        for chunk in part():
            texts.hold(chunk)
            found.append(chunk)
            held += chunk.table.size
            if held >= size:
                return found
    return found


class _Texts:
    """Long texts of several chunks: each of them is held once, and all of them are not too many."""

    def __init__(self, most: float) -> None:
        self._known: dict[str, str] = {}
        self._most, self._size = most, 0

    def hold(self, chunk: Chunk) -> None:
        """Have the long texts of a chunk be those that are known already; refuse too many."""
        for j, kind in enumerate(chunk.table.kinds):
            if kind != CATEGORY:
                continue
            cells = chunk.table.column(j)
            long = {id(c): c for c in cells.tolist() if isinstance(c, str) and len(c) > LONG_TEXT}
            for text in long.values():
                if text not in self._known:
                    self._known[text] = text
                    self._size += getsizeof(text)
            if self._size > self._most:
                name = chunk.table.names[j] if chunk.table.names else f"column {j}"
                raise BadRows(
                    Phrase(
                        "{place}, {column}: long texts, {size:,} bytes of them so far, and at "
                        "most {most:,} are held at once",
                        place=chunk.place,
                        column=name,
                        size=self._size,
                        most=self._most,
                    ),
                    hint="categories have short names: shorten them, or leave the column out",
                )
            if long:
                cells[:] = [self._known.get(c, c) if isinstance(c, str) else c for c in cells]


def joined_chunks(chunks: Sequence[Chunk]) -> Chunk | None:
    """Return all rows of some chunks of one source; None where there are none."""
    if not chunks:
        return None
    first = chunks[0]
    if len(chunks) == 1:
        return first
    columns = [
        (kind, _column([chunk.table for chunk in chunks], j))
        for j, kind in enumerate(first.table.kinds)
    ]
    whole = [all(chunk.table.is_whole(j) for chunk in chunks) for j in range(first.table.width)]
    weights = None
    if first.weights is not None:
        weights = np.concatenate([chunk.weights for chunk in chunks])
    table = table_of_columns(columns, first.table.names, None, whole)
    labels = None if first.labels is None else _joined([chunk.labels for chunk in chunks])
    return Chunk(table, labels, weights, Place(first.place.name))


def _column(tables: Sequence[Table], column: int) -> NDArray[np.generic]:
    """Return the cells of all; whole numbers that are no doubles stay what they are."""
    parts = [table.exact(column) for table in tables]
    kinds = {part.dtype.kind for part in parts}
    if tables[0].kinds[column] != NUMBER or len(kinds) == 1:
        return np.concatenate(parts)
    if not all(table.is_whole(column) for table in tables):
        return np.concatenate([table.column(column) for table in tables])
    return object_array(
        None if cell is None or cell != cell else int(cell)  # noqa: PLR0124  NaN is blank
        for part in parts
        for cell in part.tolist()
    )


def _joined(labels: Sequence[Any]) -> object:
    if isinstance(labels[0], np.ndarray):
        return np.concatenate(labels)
    import pyarrow as pa

    return pa.chunked_array(labels)
