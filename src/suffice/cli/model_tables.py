"""Tables that a model is asked about, or learns more from: one file, several, or a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from suffice.tables.table_file import TableFile, open_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from suffice.cli.options import Reading
    from suffice.rows.tables import Table
    from suffice.sources.local import LocalSource


class ModelTable(Protocol):
    """What is read in chunks, as kinds that are known from a model."""

    @property
    def name(self) -> str:
        """How it is called in a refusal."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        ...

    def chunks(self, names: Sequence[str], kinds: Sequence[str]) -> Iterator[Table]:
        """Yield the rows of some columns."""
        ...


def open_tables(given: Sequence[str], reading: Reading, expected: Collection[str]) -> ModelTable:
    """Open files, patterns, folders of files, a pipe or a database; a pipe is read as it comes."""
    paths: list[str] = list(given)
    if any("://" in one or set("*?[") & set(one) or _is_folder(one) for one in given):
        from suffice.sources.local import LocalSource
        from suffice.sources.opening import is_address, open_source, paths_of

        if any(map(is_address, given)):
            source = open_source(paths)
            assert isinstance(source, LocalSource)
            return DatabaseTable(source)
        paths = [str(path) for path in paths_of(paths)]
    files = [
        open_table(
            path, delimiter=reading.delimiter, header=reading.header, expected=expected, once=True
        )
        for path in paths
    ]
    return files[0] if len(files) == 1 else SeveralFiles(files, given)


def _is_folder(given: str) -> bool:
    from pathlib import Path

    return Path(given).is_dir()


class SeveralFiles:
    """Files of the same columns, one after the other."""

    def __init__(self, files: Sequence[TableFile], given: Sequence[str]) -> None:
        from suffice.sources.table_files import check_names

        for file in files[1:]:
            check_names(files[0].names, file.names, files[0].name, file.name)
        self._files = files
        self.name = given[0] if len(given) == 1 else f"{len(files)} files"
        self.names = files[0].names

    def chunks(self, names: Sequence[str], kinds: Sequence[str]) -> Iterator[Table]:
        """Yield the rows of some columns."""
        for file in self._files:
            yield from file.chunks(names, kinds)


class DatabaseTable:
    """A table of a database, whose rows come here; its columns have the types that they have."""

    def __init__(self, source: LocalSource) -> None:
        self._source = source
        self.name, self.names = source.name, source.names

    def chunks(self, names: Sequence[str], kinds: Sequence[str]) -> Iterator[Table]:
        """Yield the rows of some columns."""
        del kinds
        once = tuple(dict.fromkeys(names))
        places = [once.index(name) for name in names]
        for part in self._source.parts(self._source.wanted(names=once)):
            for chunk in part():
                yield chunk.table.take(places)
