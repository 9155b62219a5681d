"""The rows of a source that have a label, as models learn from them."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.columns.spellings.date_parts import without_parts
from suffice.columns.spellings.spelled_tables import read_spelled
from suffice.errors import NotFinite
from suffice.places import Phrase, Place
from suffice.rows.cells import NUMBER
from suffice.sources.arrow_frames import some_rows
from suffice.sources.local import LocalSource, joined_chunks
from suffice.sources.source import Chunk, Wanted
from suffice.training.target_labels import labels_of, plain_labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.columns.filled import FilledColumns
    from suffice.columns.spellings.spelling import Spelling
    from suffice.evaluation.work_progress import ProgressMeter
    from suffice.rows.tables import Table
    from suffice.sources.local import Part
    from suffice.statistics.quantile_bins import ColumnBins
    from suffice.training.table_columns.label_bins import LabelBins


class LabelledSource(LocalSource):
    """A source without the rows that have no label: these are counted, and not refused.

    names     the columns to learn from, and the target
    filled    what stands for blank cells, for models that cannot do without
    progress  who is told of rows that were read
    total     how many rows there are, where somebody has counted them
    drawn     who keeps some of the rows that are read
    binned    who tallies how their columns are spread
    bins      how a quantity is cut into classes; None where labels are classes
    blank     who keeps the rows without a label, in the order of the source; None: nobody

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
        spellings: Mapping[str, Spelling] | None = None,
        bins: LabelBins | None = None,
    ) -> None:
        self._bins = bins
        self._spellings = spellings or {}
        self._source, self._target, self._filled = source, target, filled
        self._columns = without_parts(tuple(names), self._spellings)
        self.spreads = source.spreads
        self._looked_at = looked_at
        self._all_labelled = source.all_labelled(target)
        marks = () if filled is None else filled.marks
        self.name, self.names = source.name, (*names, *marks, target)
        self.progress: ProgressMeter | None = None
        self.total: int | None = None
        self.drawn: DrawnRows | None = None
        self.binned: BinnedRows | None = None
        self.blank: dict[tuple[int, int], Table] | None = None
        self._count = 0
        self._skipped = 0
        self._read: dict[int, int] = {}
        self._without: dict[int, int] = {}

    @property
    def size(self) -> int | None:
        """How many rows there are, where that is known without reading them."""
        return self._source.size

    @property
    def identity(self) -> object:
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
        if self.binned is not None:
            self.binned.begin()
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
        for number, chunk in enumerate(part()):
            read += chunk.table.size
            found, blank = self._labelled(chunk, wanted, self.binned, (place, number))
            without += blank
            self._read[place], self._without[place] = read, without
            if self.progress is not None:
                self.progress.more(chunk.table.size)
            if found.table.size:
                if self.drawn is not None:
                    self.drawn.add(place, number, found)
                yield found

    def _labelled(
        self,
        chunk: Chunk,
        wanted: Wanted,
        binned: BinnedRows | None = None,
        place: tuple[int, int] = (0, 0),
    ) -> tuple[Chunk, int]:
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
                if self.blank is not None:
                    self.blank[place] = self._as_read(some_rows(table, ~there), wanted)
                table = some_rows(table, there)
        if self._bins is not None and len(labels):
            labels = self._bins.cut(plain_labels(labels))
        return Chunk(self._as_read(table, wanted, binned), labels, None, chunk.place), blank

    def _as_read(self, table: Table, wanted: Wanted, binned: BinnedRows | None = None) -> Table:
        """Return rows as models learn from them."""
        if self._spellings:
            table = read_spelled(table, self._spellings)
        if binned is not None:
            binned.add(table, self.names)
        if self._filled is not None:
            from suffice.learning.table_recipe import filled_table

            table = filled_table(self._filled, table)
        if wanted.names != self.names[:-1]:
            table = table.take([self.names.index(name) for name in wanted.names])
        return table


def refuse_infinite(table: Table, names: Sequence[str], place: Place) -> None:
    """Refuse a cell that is no finite number, by its row."""
    for j, (kind, name) in enumerate(zip(table.kinds, names, strict=False)):
        bad = np.isinf(table.column(j)) if kind == NUMBER else np.zeros(0, dtype=bool)
        if bad.any():
            row = int(bad.argmax())
            raise NotFinite(
                Phrase(
                    "{place}, {column}: {value:g} is not a finite number",
                    place=place.row(row),
                    column=name,
                    value=float(table.column(j)[row]),
                ),
                hint="drop the row, or leave the cell empty: missing values are marginalised",
            )


class BinnedRows:
    """How the columns of the rows of one pass are spread; threads may add in any order."""

    def __init__(self, bins: ColumnBins) -> None:
        self._none = bins.none()
        self._lock = threading.Lock()
        self.begin()

    def begin(self) -> None:
        """Begin a pass: what was seen in the last one is seen again."""
        self.bins = self._none

    def add(self, table: Table, names: Sequence[str]) -> None:
        """Tally rows of a chunk, whose first columns have these names."""
        if not table.size:
            return
        found = self._none.tallied(table, names)
        with self._lock:
            self.bins = self.bins + found


class DrawnRows:
    """Some of the rows that are read while a model learns.

    Each row gets a number at random, by its place alone, and the rows of the smallest numbers are
    kept: so they do not depend on which thread was first.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._seed = size, seed
        self._held: dict[tuple[int, int], tuple[Chunk, NDArray[Any]]] = {}
        self._most, self._count = 1.0, 0
        self._lock = threading.Lock()

    def add(self, part: int, number: int, chunk: Chunk) -> None:
        """Take rows of a chunk, the one of this number in this part of the source."""
        keys = np.random.default_rng((self._seed, part, number)).random(chunk.table.size)
        most = self._most
        kept = keys < most
        if not kept.any():
            return
        one, left = _some(chunk, kept), keys[kept]
        with self._lock:
            self._held[part, number] = one, left
            self._count += len(left)
            if self._count > 2 * self._size:
                self._prune()

    def _prune(self) -> None:
        """Keep the rows of the smallest numbers."""
        keys = np.concatenate([keys for _, keys in self._held.values()])
        if len(keys) <= self._size:
            return
        self._most = float(np.partition(keys, self._size)[self._size])
        held = {
            place: (_some(chunk, keys < self._most), keys[keys < self._most])
            for place, (chunk, keys) in self._held.items()
            if (keys < self._most).any()
        }
        self._held, self._count = held, sum(len(keys) for _, keys in held.values())

    def rows(self) -> tuple[Table, NDArray[Any]] | None:
        """Return the rows that were drawn, in the order of the source; None for no rows."""
        self._prune()
        found = joined_chunks([self._held[place][0] for place in sorted(self._held)])
        return None if found is None else (found.table, plain_labels(found.labels))


def _some(chunk: Chunk, kept: NDArray[np.bool_]) -> Chunk:
    """Return some rows of a chunk, with plain labels."""
    return Chunk(chunk.table.rows(kept), plain_labels(chunk.labels)[kept], None, chunk.place)
