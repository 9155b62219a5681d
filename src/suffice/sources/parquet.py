"""Parquet files: a part for each row group, columns that nobody asked for left alone."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile, ColumnMismatch, listed
from suffice.sources.arrow_chunks import chunks_of, kind_of_type
from suffice.sources.local import LocalSource, chunk_rows, identity_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from suffice.sources.local import Part
    from suffice.sources.source import Chunk, Wanted


class ParquetSource(LocalSource):
    """One Parquet file, or several with the same columns: read row group by row group.

    Nothing is read ahead, so that memory does not grow with the file, and every row group has a
    reader of its own: that is what threads share out.
    """

    def __init__(self, paths: Sequence[Path], name: str | None = None) -> None:
        self._paths = tuple(paths)
        self.name = name or str(self._paths[0])
        self._groups: list[int] = []
        self._size = 0
        schema: Any = None
        for path in self._paths:
            with _opened(path) as file:
                found = file.schema_arrow
                self._groups.append(file.num_row_groups)
                self._size += file.metadata.num_rows
            schema = found if schema is None else _same(schema, found, self._paths[0], path)
        self.names = tuple(schema.names)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return self._size

    @property
    def identity(self) -> Any:
        """Which rows these are: the files, and how many row groups each has."""
        return [identity_of(self._paths), self._groups]

    def parts(self, wanted: Wanted) -> Sequence[Part]:
        """Return every row group of every file, in order."""
        return [
            partial(self._group, path, group, wanted)
            for path, groups in zip(self._paths, self._groups, strict=True)
            for group in range(groups)
        ]

    def _group(self, path: Path, group: int, wanted: Wanted) -> Iterator[Chunk]:
        rows = chunk_rows(len(wanted.all))
        with _opened(path) as file:
            # use_threads: the threads are ours, one row group each.
            batches = file.iter_batches(
                rows, row_groups=[group], columns=list(wanted.all), use_threads=False
            )
            yield from chunks_of(batches, wanted, f"{path}, row group {group}")


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    pa: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path, pre_buffer=False, memory_map=False) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        words = " ".join(str(error).split())
        raise BadFile(
            f"{path} cannot be read: {words:.160}", hint="it may be damaged: write it again"
        ) from None


def _same(first: Any, other: Any, path: Path, another: Path) -> Any:
    """Return the columns of both, which must be the same."""
    if set(first.names) != set(other.names):
        gone = [name for name in first.names if name not in other.names]
        new = [name for name in other.names if name not in first.names]
        said = f"lacks {listed(gone)}" if gone else f"has {listed(new)} as well"
        raise ColumnMismatch(
            f"{another} {said}, unlike {path}", hint="all files of a source need the same columns"
        )
    for name in first.names:
        one, two = kind_of_type(first.field(name).type), kind_of_type(other.field(name).type)
        if one != two:
            raise ColumnMismatch(
                f"{another}: {name} is {other.field(name).type}, "
                f"but {first.field(name).type} in {path}",
                hint="write the files again with one type for the column",
            )
    return first
