"""The rows of a source that have a label, as models learn from them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import NotFinite
from suffice.rows.cells import NUMBER
from suffice.sources.arrow_frames import some_rows
from suffice.sources.local import LocalSource
from suffice.sources.parquet import ParquetSource
from suffice.sources.source import Chunk, Wanted
from suffice.training.target_labels import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from suffice.columns.filled import FilledColumns
    from suffice.rows.tables import Table
    from suffice.sources.local import Part
    from suffice.training.hooks import ProgressMeter


class LabelledSource(LocalSource):
    """A source without the rows that have no label: these are counted, and not refused.

    names     the columns to learn from, and the target
    filled    what stands for blank cells, for models that cannot do without
    progress  who is told of rows that were read
    total     how many rows there are, where somebody has counted them

    Rows that are only looked at are searched for infinite cells here, where their place is known;
    whoever learns from a source does that.
    """

    def __init__(
        self,
        source: LocalSource,
        names: Sequence[str],
        target: str,
        filled: FilledColumns | None = None,
        *,
        looked_at: bool = False,
    ) -> None:
        self._source, self._columns, self._target, self._filled = source, names, target, filled
        self.spreads = source.spreads
        self._looked_at = looked_at
        self._all_labelled = isinstance(source, ParquetSource) and source.all_labelled(target)
        marks = () if filled is None else filled.marks
        self.name, self.names = source.name, (*names, *marks, target)
        self.progress: ProgressMeter | None = None
        self.total: int | None = None
        self._count = 0
        self._skipped = 0
        self._read: dict[int, int] = {}
        self._without: dict[int, int] = {}

    @property
    def size(self) -> int | None:
        """How many rows there are, where that is known without reading them."""
        return self._source.size

    @property
    def identity(self) -> Any:
        """Which rows these are."""
        return self._source.identity

    @property
    def read(self) -> int:
        """How many rows were read in the last pass."""
        return sum(self._read.values())

    @property
    def without(self) -> int:
        """How many rows without a label were met in the last pass."""
        return sum(self._without.values())

    @property
    def resumed(self) -> bool:
        """Whether the last pass began where another process had been ended."""
        return bool(self._skipped)

    def share(self) -> float | None:
        """Return which part of a pass over all rows is done; None where that is not known."""
        size = self.total if self._source.size is None else self._source.size
        if size is None:  # bytes of a file tell nothing: they are read long before their rows
            return None
        # Parts that were not read again are taken for as large as the others.
        return self._skipped / max(self._count, 1) + self.read / max(size, 1)

    def some(self, wanted: Wanted, size: int) -> Chunk | None:
        """Return about `size` rows from all over the source; None where there are none."""
        found = self._source.some(self._asked(), size)
        return None if found is None else self._labelled(found, wanted)[0]

    def parts(self, wanted: Wanted) -> Sequence[Part]:
        """Return the parts of the source."""
        parts = self._source.parts(self._asked())
        self._count = self._skipped = len(parts)
        self._read, self._without = {}, {}
        if self.progress is not None:
            self.progress.begin()
        return [partial(self._chunks, place, part, wanted) for place, part in enumerate(parts)]

    def _asked(self) -> Wanted:
        if self._all_labelled:
            return self._source.wanted(self._target, names=self._columns)
        # Read as any other column, for blank labels would be refused.
        return self._source.wanted(names=(*self._columns, self._target))

    def _chunks(self, place: int, part: Part, wanted: Wanted) -> Iterator[Chunk]:
        self._skipped = min(self._skipped, place)
        read = without = 0
        for chunk in part():
            read += chunk.table.size
            found, blank = self._labelled(chunk, wanted)
            without += blank
            self._read[place], self._without[place] = read, without
            if self.progress is not None:
                self.progress.more(chunk.table.size)
            if found.table.size:
                yield found

    def _labelled(self, chunk: Chunk, wanted: Wanted) -> tuple[Chunk, int]:
        """Return the rows of a chunk that have a label, and how many have none."""
        table, labels, blank = chunk.table, chunk.labels, 0
        if self._looked_at:
            refuse_infinite(table, self.names, chunk.place)
        if self._all_labelled:
            if isinstance(labels, np.ndarray):
                labels = labels.astype(np.int64, copy=False)
        else:
            width = len(self._columns)
            labels, there = labels_of(table.exact(width), table.kinds[width])
            table = table.take(range(width))
            blank = int((~there).sum())
            if blank:
                table = some_rows(table, there)
        if self._filled is not None:
            from suffice.estimators.shared.table_recipe import filled_table

            table = filled_table(self._filled, table)
        if wanted.names != self.names[:-1]:
            table = table.take([self.names.index(name) for name in wanted.names])
        return Chunk(table, labels, None, chunk.place), blank


def refuse_infinite(table: Table, names: Sequence[str], place: str) -> None:
    """Refuse a cell that is no finite number, by its row."""
    for j, (kind, name) in enumerate(zip(table.kinds, names, strict=False)):
        bad = np.isinf(table.column(j)) if kind == NUMBER else np.zeros(0, dtype=bool)
        if bad.any():
            row = int(bad.argmax())
            base, _, rows = place.rpartition(", rows ")
            number = f"row {int(rows.partition(' ')[0]) + row}" if base else f"row {row + 1}"
            cell = f"{name}: {table.column(j)[row]:g}"
            raise NotFinite(
                f"{base or place}, {number}, {cell} is not a finite number",
                hint="drop the row, or leave the cell empty: missing values are marginalised",
            )
