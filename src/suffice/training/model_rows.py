"""Rows that a model is asked about or learns from, in the columns and kinds that it knows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from suffice.columns.spellings.spelling import SpelledKind, Spelling
from suffice.columns.spellings.written_numbers import POINT
from suffice.errors import ColumnMismatch, listed
from suffice.learning.table_recipe import LABEL_BINS
from suffice.rows.cells import CATEGORY, NUMBER
from suffice.tables.table_file import TableFile, missing_columns, open_table
from suffice.tables.table_reading import TableGuess

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from suffice.learning.table_recipe import TableNotes
    from suffice.rows.tables import Table
    from suffice.sources.local import LocalSource
    from suffice.tables.table_reading import TableReading
    from suffice.training.table_columns.label_bins import LabelBins


@dataclass(frozen=True, slots=True, eq=False)
class ModelRows:
    """A table, read as a model needs it.

    table    the file, or files, or table of a database
    names    the columns of the table that the model takes, in its order
    kinds    what they hold
    named    whether the model knows its columns by name
    spellings  how columns are written, and which are made of others
    target   the column of labels, where it is known
    bins     how a quantity is cut into classes; None where labels are classes
    """

    table: ModelTable
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    named: bool
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    target: str | None = None
    bins: LabelBins | None = None

    @classmethod
    def open(
        cls,
        tables: Sequence[str],
        columns: Any,
        notes: TableNotes,
        reading: TableReading,
        note: Callable[[str], object],
        *,
        others: Sequence[str] = (),
        quiet: bool = False,
        opened: ModelTable | None = None,
    ) -> ModelRows:
        """Open tables for a model that knows these columns; what does not fit is refused by name.

        `note` hears of columns that are not used. `others` are columns that somebody else will
        ask for: they are not spoken of. `opened` is a table that is open already.
        """
        wanted = tuple(columns.names) if columns.named else ()
        target = (notes.target,) if notes.target else ()
        there = _there(wanted, notes.spellings)
        expected = (*there, *others, *target)
        table = open_tables(tables, reading, expected, note) if opened is None else opened
        known = {notes.target, *others}
        bins = None
        if LABEL_BINS in notes.more:
            from suffice.training.table_columns.label_bins import label_bins_in

            bins = label_bins_in(notes)
        if not columns.named:
            found = cls._unnamed(table, columns, known)
            return replace(found, target=notes.target, bins=bins)
        lacking = [name for name in there if name not in table.names]
        if lacking:
            raise _lacking(table, lacking, there, {*there, *target})
        extra = [n for n in table.names if n not in {*wanted, *known, *notes.dropped}]
        if extra and not quiet:
            note(f"not used by the model: {listed(extra)}")
        pairs = zip(wanted, columns.columns, strict=True)
        kinds = tuple(_kind(column.kind, notes.spellings.get(n), reading) for n, column in pairs)
        return cls(table, wanted, kinds, True, notes.spellings, notes.target, bins)

    @classmethod
    def _unnamed(cls, table: ModelTable, columns: Any, known: set[str | None]) -> ModelRows:
        """Match columns by their place: the model was made of arrays."""
        names = tuple(name for name in table.names if name not in known)
        width = len(columns.columns)
        if len(names) != width:
            raise ColumnMismatch(
                f"{table.name} has {len(names)} columns, the model takes {width}",
                hint="it was fitted on an array, so columns are matched by position",
            )
        kinds = tuple(getattr(column, "kind", NUMBER) for column in columns.columns)
        return cls(table, names, kinds, False)

    def chunks(
        self, others: Sequence[str] = (), other_kinds: Sequence[str] | None = None
    ) -> Iterator[tuple[Table, list[tuple[str, NDArray[np.generic]]]]]:
        """Yield rows in chunks, and beside them the cells of other columns, each with its kind."""
        lacking = [name for name in others if name not in self.table.names]
        if lacking:
            raise missing_columns(self.table.name, lacking, self.table.names)
        kinds = [CATEGORY] * len(others) if other_kinds is None else list(other_kinds)
        # A column may be among both, as another kind: it is read twice.
        known = dict(zip(self.names, self.kinds, strict=True))
        there = _there(self.names, self.spellings) if self.named else self.names
        width = len(there)
        for chunk in self.table.chunks((*there, *others), (*map(known.__getitem__, there), *kinds)):
            rows = chunk.take(range(width))
            if there != self.names:
                rows = _with_parts(rows, self.names, self.spellings)
            beside = [(chunk.kinds[j], chunk.exact(j)) for j in range(width, chunk.width)]
            if self.bins is not None:
                beside = [
                    (CATEGORY, self.bins.named(cells, name))
                    if name == self.target
                    else (kind, cells)
                    for (kind, cells), name in zip(beside, others, strict=True)
                ]
            yield (rows if self.named else _without_names(rows)), beside


def _kind(kind: str, spelling: Spelling | None, reading: TableReading) -> str:
    """Return what a column holds, with how it is written; decimals as somebody says now."""
    if reading.decimal is not None and kind == NUMBER:
        given = None if spelling is None and reading.decimal == POINT else Spelling(NUMBER)
        spelling = given and replace(spelling or given, decimal=reading.decimal)
    return kind if spelling is None or spelling.kind != kind else SpelledKind(spelling)


def _there(names: tuple[str, ...], spellings: Mapping[str, Spelling]) -> tuple[str, ...]:
    """Return the columns that a table has; others are made of them."""
    if not any(one.part for one in spellings.values()):
        return names
    from suffice.columns.spellings.date_parts import without_parts

    return without_parts(names, spellings)


def _with_parts(table: Table, names: Sequence[str], spellings: Mapping[str, Spelling]) -> Table:
    """Return a table with the columns that are made of others, in the order of a model."""
    from suffice.columns.spellings.date_parts import with_date_parts

    rows = with_date_parts(table, spellings)
    place = {name: j for j, name in enumerate(rows.names or ())}
    return rows.take([place[name] for name in names])


def _without_names(table: Table) -> Table:
    return replace(table, names=None)


def _lacking(
    table: ModelTable, lacking: Sequence[str], wanted: Sequence[str], known: Collection[str]
) -> ColumnMismatch:
    """Return the refusal of a table without the model's columns.

    Only what the model does not know can have been meant by a name that it knows.
    """
    strange = [name for name in table.names if name not in known]
    known = f"the model was fitted to {listed(wanted)}; this table has {listed(table.names)}"
    return missing_columns(table.name, lacking, strange, known)


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


def open_tables(
    given: Sequence[str],
    reading: TableReading,
    expected: Collection[str],
    note: Callable[[str], object],
) -> ModelTable:
    """Open files, patterns, folders of files, a pipe or a database; a pipe is read as it comes.

    `note` hears of a file that is not UTF-8, as soon as that is seen.
    """
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
            path,
            delimiter=reading.delimiter,
            header=reading.header,
            expected=expected,
            encoding=reading.encoding,
            sheet=reading.sheet,
            once=True,
            on_guess=lambda said: note(_changeable(said)),
        )
        for path in paths
    ]
    return files[0] if len(files) == 1 else SeveralFiles(files, given)


def _changeable(said: str) -> str:
    """Return what was decided about a table, with how to change it."""
    option = said.option if isinstance(said, TableGuess) else "encoding"
    return f"{said}; --{option} names another" if option else said


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
