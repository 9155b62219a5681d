"""Parquet files: parts of whole row groups, columns that nobody asked for left alone."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.errors import ColumnMismatch
from suffice.files.arrow_checks import arrow_at_work, checked_text
from suffice.files.table_columns import checked_names
from suffice.rows.cells import NUMBER
from suffice.sources import local
from suffice.sources.arrow_chunks import chunks_of, kind_of_type
from suffice.sources.local import LocalSource, chunk_rows, identity_of
from suffice.sources.parquet_labels import are_all_labelled
from suffice.sources.tables import check_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from suffice.sources.local import Part
    from suffice.sources.source import Chunk, Wanted

LARGER = 3
"""How many times as many rows as from elsewhere are read at a time if all columns are numbers.

What is done once for each chunk is then lost in the time that its rows take; and numbers, unlike
words, take little memory."""

AHEAD = 1 << 18
"""Bytes of a column that are read from the disk at a time, and not all that the row group has."""


MUCH_TEXT = 1 << 25
"""Bytes of text that are read at a time, at most, by what the file says of its columns."""
BARE_LENGTH, DICTIONARY = 4, 1 << 20
"""Bytes that an empty text takes where it is written out, and that a row group's dictionary takes.

A column that has dictionaries, and beside them takes fewer bytes for each cell, is one of codes,
each of which stands for a text. They are read as such: that is ten times as fast, and a long text
does not take memory for each of its rows."""


class ParquetSource(LocalSource):
    """One Parquet file, or several with the same columns: read row group by row group.

    Nothing is read ahead, so that memory does not grow with the file, and every part has a reader
    of its own: that is what threads share out. Small row groups that follow each other are one
    part, for to open a file takes time as well.
    """

    def __init__(self, paths: Sequence[Path], name: str | None = None) -> None:
        self._paths = tuple(paths)
        self.name = name or str(self._paths[0])
        self._groups: list[list[int]] = []
        self._text: Counter[str] = Counter()  # bytes of each column of text
        self._written: Counter[str] = Counter()  # bytes of them that are in no dictionary
        self._last: tuple[Path | None, Any] = None, None
        schema: Any = None
        for path in self._paths:
            with _opened(path) as file:
                found, held = file.schema_arrow, file.metadata
                checked_names(found.names, str(path))
                rows = [held.row_group(group).num_rows for group in range(held.num_row_groups)]
                self._groups.append(rows)
                self._add_text(held, found)
            schema = found if schema is None else _same(schema, found, self._paths[0], path)
        self.names = tuple(schema.names)
        self._kinds = {field.name: kind_of_type(field.type) for field in schema}

    @property
    def size(self) -> int:
        """How many rows there are."""
        return sum(map(sum, self._groups))

    @property
    def identity(self) -> Any:
        """Which rows these are, and where they are cut: the files, and their row groups."""
        groups = [len(rows) for rows in self._groups]
        return [identity_of(self._paths), groups, [local.CELLS, local.MOST_ROWS, LARGER, MUCH_TEXT]]

    def all_labelled(self, target: str) -> bool:
        """Whether every row has a label; False where only the rows can tell."""
        return are_all_labelled(self._paths, target)

    def parts(self, wanted: Wanted) -> Sequence[Part]:
        """Return row groups of every file, in order, as many together as make a chunk."""
        rows = self._rows_at_once(wanted)
        return [
            partial(self._part, path, groups, wanted, rows)
            for path, sizes in zip(self._paths, self._groups, strict=True)
            for groups in _runs(sizes, rows)
        ]

    def _rows_at_once(self, wanted: Wanted) -> int:
        numbers = all(self._kinds[name] == NUMBER for name in wanted.names)
        rows = chunk_rows(len(wanted.all)) * (LARGER if numbers else 1)
        text = sum(self._text[name] for name in wanted.all)
        return max(1, min(rows, MUCH_TEXT * self.size // max(text, 1)))

    def _add_text(self, held: Any, schema: Any) -> None:
        """Count the bytes of columns of text, unpacked, as the file says itself."""
        types: Any = import_module("pyarrow").types
        text = {f.name for f in schema if types.is_string(f.type) or types.is_large_string(f.type)}
        named = [(held.schema.column(j).path, j) for j in range(held.num_columns if text else 0)]
        for name, place in ((name, place) for name, place in named if name in text):
            for group in range(held.num_row_groups):
                column = held.row_group(group).column(place)
                size = column.total_uncompressed_size
                self._text[name] += size
                self._written[name] += max(0, size - DICTIONARY * column.has_dictionary_page)

    def _part(self, path: Path, groups: range, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        last, known = self._last
        coded = [
            name
            for name in wanted.all
            if name in self._text and self._written[name] < BARE_LENGTH * self.size
        ]
        with _opened(path, known if last == path else None, coded) as file:
            self._last = path, file.metadata  # the next part needs not read it once more
            # use_threads: the threads are ours, one part each.
            batches = file.iter_batches(
                rows, row_groups=list(groups), columns=list(wanted.all), use_threads=False
            )
            yield from chunks_of(map(checked_text, batches), wanted, f"{path}, {_named(groups)}")


def _runs(sizes: Sequence[int], rows: int) -> Iterator[range]:
    """Yield row groups that follow each other, until they have so many rows.

    >>> list(_runs([2, 3, 9, 1], 5))
    [range(0, 2), range(2, 3), range(3, 4)]
    """
    first = held = 0
    for group, size in enumerate(sizes):
        held += size
        if held >= rows or group == len(sizes) - 1:
            yield range(first, group + 1)
            first, held = group + 1, 0


def _named(groups: range) -> str:
    if len(groups) == 1:
        return f"row group {groups[0]}"
    return f"row groups {groups[0]} to {groups[-1]}"


@contextmanager
def _opened(path: Path, metadata: Any = None, coded: Sequence[str] | None = None) -> Iterator[Any]:
    parquet: Any = import_module("pyarrow.parquet")
    with (
        arrow_at_work(str(path)),
        parquet.ParquetFile(
            path,
            metadata=metadata,
            read_dictionary=coded,
            pre_buffer=False,
            memory_map=False,
            buffer_size=AHEAD,
        ) as file,
    ):
        yield file


def _same(first: Any, other: Any, path: Path, another: Path) -> Any:
    """Return the columns of both, which must be the same."""
    check_names(first.names, other.names, str(path), str(another))
    for name in first.names:
        one, two = kind_of_type(first.field(name).type), kind_of_type(other.field(name).type)
        if one != two:
            raise ColumnMismatch(
                f"{another}: {name} is {other.field(name).type}, "
                f"but {first.field(name).type} in {path}",
                hint="write the files again with one type for the column",
            )
    return first
