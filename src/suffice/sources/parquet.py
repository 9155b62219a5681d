"""Parquet files: parts of whole row groups, columns that nobody asked for left alone."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.errors import ColumnMismatch
from suffice.rows.cells import NUMBER
from suffice.sources import local
from suffice.sources.chunks import chunks_of, kind_of_type
from suffice.sources.local import LocalSource, chunk_rows, identity_of
from suffice.sources.table_files import check_names
from suffice.tables.allowances import MUCH_TEXT, Allowance, checked_names
from suffice.tables.arrow_checks import arrow_at_work, checked_text, portions
from suffice.tables.arrow_dates import date_spellings
from suffice.tables.parquet_footer import Footer
from suffice.tables.parquet_pages import PageChecks, TextSizes, text_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from suffice.columns.spellings.spelling import Spelling
    from suffice.sources.local import Part
    from suffice.sources.source import Chunk, Wanted
    from suffice.tables.arrow_types import ArrowBatch, ArrowSchema


LARGER = 3
"""How many times as many rows as from elsewhere are read at a time if all columns are numbers.

What is done once for each chunk is then lost in the time that its rows take; and numbers, unlike
words, take little memory."""

JOINED = 1 << 24
"""Bytes of small batches that are joined at most: a copy of them is held for a moment."""

AHEAD = 1 << 18
"""Bytes of a column that are read from the disk at a time, and not all that the row group has."""


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
        self._sizes = TextSizes(Counter(), Counter())
        self._last: tuple[object, object, Footer] | None = None
        schema: ArrowSchema | None = None
        for path in self._paths:
            with _opened(path) as file:
                found, held = file.schema_arrow, file.metadata
                checked_names(found.names, str(path))
                rows = [held.row_group(group).num_rows for group in range(held.num_row_groups)]
                self._groups.append(rows)
                footer = _footer(path)
                self._sizes += text_sizes(held, found, footer)
                self._last = _stamp(path), held, footer
            schema = found if schema is None else _same(schema, found, self._paths[0], path)
        assert schema is not None  # there is one file at least
        self.names = tuple(schema.names)
        self._kinds = {field.name: kind_of_type(field.type) for field in schema}
        self._dates = date_spellings(schema)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return sum(map(sum, self._groups))

    @property
    def dates(self) -> Mapping[str, Spelling]:
        """Which columns are dates or times by their type."""
        return self._dates

    @property
    def stored(self) -> int:
        """Bytes of the files."""
        return sum(path.stat().st_size for path in self._paths)

    @property
    def identity(self) -> object:
        """Which rows these are, and where they are cut: the files, and their row groups."""
        groups = [len(rows) for rows in self._groups]
        limits = [local.CELLS, local.MOST_ROWS, LARGER, MUCH_TEXT, JOINED]
        return [identity_of(self._paths), groups, limits]

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
        return self._sizes.rows_at_once(wanted.all, self.size, rows)

    def _part(self, path: Path, groups: range, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        stamp, last = _stamp(path), self._last  # as it is now: other threads have other parts
        known, footer = last[1:] if last is not None and last[0] == stamp else (None, None)
        coded = self._sizes.coded(wanted.all, self.size, sum(map(len, self._groups)))
        place = f"{path}, {_named(groups)}"
        with _opened(path, known, coded) as file:
            footer = footer or _footer(path)
            self._last = stamp, file.metadata, footer  # the next part needs not read it once more
            # Unbuffered: a few bytes here and there are read.
            with path.open("rb", buffering=0) as held:
                allowed = Allowance(str(path), footer.size)
                checks = PageChecks(held, footer, file.metadata, allowed, coded)
                rows = min(rows, checks.rows_at_once(wanted.all, groups))
            # use_threads: the threads are ours, one part each.
            batches = file.iter_batches(
                rows, row_groups=list(groups), columns=list(wanted.all), use_threads=False
            )
            checked = _joined(map(checked_text, batches), rows)
            parts = (part for batch in checked for part in portions(batch, place))
            yield from chunks_of(parts, wanted, place)


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


def _joined(batches: Iterable[ArrowBatch], rows: int) -> Iterator[ArrowBatch]:
    """Yield batches of so many rows at most, of which small ones that follow each other are one.

    Where columns are read as codes, each row group has words of its own, and a batch ends with it.
    """
    waiting: list[ArrowBatch] = []
    held = size = 0
    for batch in batches:
        if waiting and (held + batch.num_rows > rows or size + batch.nbytes > JOINED):
            yield _one(waiting)
            waiting, held, size = [], 0, 0
        waiting.append(batch)
        held, size = held + batch.num_rows, size + batch.nbytes
    if waiting:
        yield _one(waiting)


def _one(batches: list[ArrowBatch]) -> ArrowBatch:
    if len(batches) == 1:
        return batches[0]
    pa = import_module("pyarrow")
    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    batch: ArrowBatch
    (batch,) = table.to_batches()
    return batch


def _named(groups: range) -> str:
    if len(groups) == 1:
        return f"row group {groups[0]}"
    return f"row groups {groups[0]} to {groups[-1]}"


def _stamp(path: Path) -> tuple[Path, int, int]:
    """Return which file this is: what is known of its end holds until it is written again."""
    held = path.stat()
    return path, held.st_size, held.st_mtime_ns


def _footer(path: Path) -> Footer:
    with path.open("rb") as held:
        return Footer(held, path.stat().st_size, str(path))


@contextmanager
def _opened(
    path: Path, metadata: object = None, coded: Sequence[str] | None = None
) -> Iterator[Any]:
    parquet = import_module("pyarrow.parquet")
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


def _same(first: ArrowSchema, other: ArrowSchema, path: Path, another: Path) -> ArrowSchema:
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


def are_all_labelled(paths: Iterable[Path], column: str) -> bool:
    """Whether every row has a label of text or a whole number, by the statistics of the files.

    False where they do not say so: then somebody has to look at the rows.
    """
    parquet = import_module("pyarrow.parquet")
    return all(_is_labelled(parquet.read_metadata(path), path, column) for path in paths)


def _is_labelled(held: Any, path: Path, column: str) -> bool:
    types = import_module("pyarrow").types
    given = held.schema.to_arrow_schema().field(column).type
    given = given.value_type if types.is_dictionary(given) else given
    named = types.is_string(given) or types.is_large_string(given)
    if not (named or types.is_signed_integer(given)):
        return False
    place = {held.schema.column(j).path: j for j in range(held.num_columns)}.get(column)
    if place is None:
        return False
    return all(chunk.nulls == 0 for chunk in _footer(path).chunks(place))
