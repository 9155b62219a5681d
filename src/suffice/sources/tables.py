"""CSV, JSON lines and Arrow files: what each column holds is found out once, by all rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from suffice.errors import ColumnMismatch
from suffice.files.tables import TableFile, open_table
from suffice.rows.cells import CATEGORY
from suffice.sources.labels import labels_of_cells, weights_of_cells
from suffice.sources.local import LocalSource, identity_of
from suffice.sources.source import Chunk, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from suffice.sources.local import Part


class TableSource(LocalSource):
    """One file of text, or several with the same columns: a part for each file."""

    def __init__(self, paths: Sequence[str | Path], name: str | None = None) -> None:
        self._paths = tuple(paths)
        self._files = [open_table(path) for path in paths]
        self.name = name or self._files[0].name
        self.names = self._files[0].names
        for file in self._files[1:]:
            if set(file.names) != set(self.names):
                raise ColumnMismatch(
                    f"{file.name} has other columns than {self._files[0].name}",
                    hint="all files of a source need the same columns",
                )
        self._kinds: dict[str, str] | None = None

    @property
    def identity(self) -> Any:
        """Which rows these are: the files, if they are files."""
        return None if "-" in map(str, self._paths) else identity_of(self._paths)

    def kinds(self) -> dict[str, str]:
        """Return what each column holds, by all rows of all files."""
        if self._kinds is None:
            found = [dict(zip(f.names, f.kinds(), strict=True)) for f in self._files]
            self._kinds = {name: _joint([kinds[name] for kinds in found]) for name in self.names}
        return self._kinds

    def parts(self, wanted: Wanted) -> Sequence[Part]:
        """Return every file, in order."""
        return [partial(self._chunks, file, wanted) for file in self._files]

    def _chunks(self, file: TableFile, wanted: Wanted) -> Iterator[Chunk]:
        kinds = self.kinds()
        names, width, start = wanted.all, len(wanted.names), 1
        for table in file.chunks(names, [kinds[name] for name in names]):
            place = f"{file.name}, rows {start} to {start + table.size - 1}"
            start += table.size
            labels = weights = None
            if wanted.target is not None:
                at = names.index(wanted.target)
                labels = labels_of_cells(table.column(at), table.kinds[at], wanted.target, place)
            if wanted.weight is not None:
                at = names.index(wanted.weight)
                weights = weights_of_cells(table.column(at), table.kinds[at], wanted.weight, place)
            yield Chunk(table.take(range(width)), labels, weights, place)


def _joint(kinds: Sequence[str]) -> str:
    """Return what a column holds over several files: what is text in one is text in all."""
    return kinds[0] if len(set(kinds)) == 1 else CATEGORY
