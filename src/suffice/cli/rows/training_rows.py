"""Labelled rows of a source, to learn from: held where that is possible, read again where not."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.cli.rows.labelled_source import LabelledSource
from suffice.cli.rows.target_labels import check_classes, plain_labels
from suffice.cli.terminal.messages import ProgressLine, note
from suffice.errors import BadRows, SimilarLabels, listed
from suffice.rows.cells import CATEGORY
from suffice.rows.labels import similar_labels
from suffice.sources import open_source
from suffice.sources.local import LocalSource
from suffice.sources.samples import first_rows, spread_rows
from suffice.sources.sql.source import SqlSource
from suffice.sources.table_files import TableSource
from suffice.tables.table_file import missing_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.cli.terminal.options import TableReading
    from suffice.columns.filled import FilledColumns
    from suffice.rows.tables import Table

IN_MEMORY = 1 << 25
"""Cells of a table that are held at once, for models that need all rows or are compared on them."""
LOOK = 1 << 22
"""Cells that are looked at where rows are read one by one, or are too many."""
FROM_AFAR = 10_000
"""Rows that are looked at where the others stay in their database."""
MOST_LEVELS = 1000
"""Texts of one column that are coded; a column with more is left out."""
FEW = 20
"""Columns with fewer different texts than this are never left out."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Labelled rows to fit a model on.

    table, labels   all rows, if they are `whole`, or some that stand for them
    source          where all of them are
    target          the column of labels
    dropped         columns that were left out
    texts           whether columns of text are documents, and no categories
    counted         how many rows there are, where they were counted on the way
    """

    table: Table
    labels: NDArray[Any]
    whole: bool
    source: LocalSource
    target: str
    dropped: tuple[str, ...]
    texts: bool = False
    counted: int | None = None

    @classmethod
    def read(
        cls,
        tables: Sequence[str],
        target: str,
        reading: TableReading,
        drop: Sequence[str] = (),
        *,
        once: bool = False,
        seed: int | None = None,
        texts: bool = False,
    ) -> TrainingRows:
        """Open a source, and look at its rows; the kinds of its columns are found out from all.

        `once` says that rows will be read one by one, so that few have to be held. With a `seed`
        the rows that stand for too many are drawn from all over the source.
        """
        source = _opened(tables, target, reading, drop)
        names = [name for name in source.names if name != target and name not in drop]
        if not names:
            raise BadRows(
                f"{source.name} has no column besides the target {target!r}",
                hint="is the delimiter the right one? --delimiter names it",
            )
        counted = None
        if isinstance(source, TableSource):
            with ProgressLine(f"looking at {source.name}") as progress:
                source.kinds(progress.more)
                counted = progress.rows or None
            _tell_odd_cells(source, (*names, target))
        labelled = LabelledSource(source, names, target, looked_at=True)
        labelled.total = counted
        most = min(LOOK, IN_MEMORY) if once else IN_MEMORY
        size = max(1, most // (len(names) + 1))
        if once and isinstance(source, SqlSource) and source.adds_up:
            size = min(size, FROM_AFAR)
        wanted = labelled.wanted(target)
        with ProgressLine(f"reading {source.name}", labelled.share) as labelled.progress:
            if seed is None:
                found, whole = first_rows(labelled, wanted, size)
            else:
                found, whole = spread_rows(labelled, wanted, size, seed)
        if found is None or not found.table.size:
            raise _nothing_to_learn(labelled, target)
        table, labels = found.table, plain_labels(found.labels)
        check_classes(labels, source.name, target, whole=whole)
        _tell_similar_labels(labels, target)
        if whole:
            tell_unlabelled(labelled)
        useless = {} if texts else _useless(table)
        numbers = [j for j, kind in enumerate(table.kinds) if texts and kind != CATEGORY]
        kept = [j for j in range(table.width) if j not in useless and j not in numbers]
        if numbers:
            note(f"left out, for there is no text in it: {listed(names[j] for j in numbers)}")
        if not kept and texts:
            raise BadRows(
                f"{source.name} has no column of text besides the target {target!r}",
                hint="--model auto is for columns of numbers and categories",
            )
        if not kept:
            raise BadRows(
                f"{source.name}: every column is different in almost every row",
                hint=_about_texts(table),
            )
        for j, count in useless.items():
            note(
                f"{names[j]} is left out: {count} different texts in {table.size} rows "
                "tell nothing about other rows"
            )
        dropped = (*drop, *(names[j] for j in (*useless, *numbers)))
        return cls(table.take(kept), labels, whole, source, target, dropped, texts, counted)

    @property
    def place(self) -> str:
        """What the table is called."""
        return self.source.name

    @property
    def size(self) -> int:
        """How many rows there are, as far as that is known: at least those that are held."""
        return max(self.table.size, 0 if self.whole else self.source.size or 0)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to learn from."""
        assert self.table.names is not None
        return self.table.names

    def labelled(self, filled: FilledColumns | None = None) -> LabelledSource:
        """Return all rows that have a label, with blanks filled where the model needs that."""
        found = LabelledSource(self.source, self.names, self.target, filled)
        found.total = self.counted
        return found


def _opened(
    tables: Sequence[str], target: str, reading: TableReading, drop: Sequence[str]
) -> LocalSource:
    """Return where the rows are; of a database, only those that have a label."""
    source = open_source(
        list(tables),
        delimiter=reading.delimiter,
        header=reading.header,
        expected=(target, *drop),
    )
    lacking = [name for name in (target, *drop) if name not in source.names]
    if lacking:
        raise missing_columns(source.name, lacking, source.names)
    assert isinstance(source, LocalSource)
    if not isinstance(source, SqlSource):
        return source
    column = source.database.dialect.identifier(target)
    labelled = SqlSource(source.database, f"{column} IS NOT NULL", adds_up=source.adds_up)
    without = source.size - labelled.size
    if without and labelled.size:
        note(_unlabelled(without))
    return labelled


def _tell_odd_cells(source: TableSource, names: Sequence[str]) -> None:
    """Say which columns of numbers are read as categories, and for which cell."""
    for said in source.odd_cells(names):
        note(said)


def _tell_similar_labels(labels: NDArray[Any], target: str) -> None:
    """Say which classes differ in what nobody sees."""
    for said in similar_labels(labels):
        note(f"{target}: {said}")
    warnings.simplefilter("ignore", SimilarLabels)  # they have been told


def tell_unlabelled(rows: LabelledSource) -> None:
    """Say how many rows had no label."""
    if rows.without:
        note(_unlabelled(rows.without) + " since the run was taken up again" * rows.resumed)


def _unlabelled(count: int) -> str:
    return f"{count:,} row{'s' * (count > 1)} without a label left out"


def _nothing_to_learn(rows: LabelledSource, target: str) -> BadRows:
    """Return the refusal of a table without rows, or without labels."""
    count = rows.size or rows.read
    if not count:
        return BadRows(f"{rows.name} has no rows", hint="there is a header, but nothing below")
    return BadRows(
        f"{rows.name}, target {target!r}: none of {count:,} rows has a label",
        hint="is it the right column? Blank cells are no labels",
    )


def _useless(table: Table) -> dict[int, int]:
    """Return columns of text that name single rows, and how many texts each holds."""
    found = {}
    for j, kind in enumerate(table.kinds):
        if kind != CATEGORY:
            continue
        cells = table.column(j)
        levels = len(set(cells.tolist()) - {None})
        if levels > MOST_LEVELS or levels > max(FEW, table.size // 2):
            found[j] = levels
    return found


def _about_texts(table: Table) -> str:
    """Return what may be the matter with a table of nothing but different texts."""
    comma = re.compile(r"\s*[+-]?\d+,\d+\s*")
    for j, kind in enumerate(table.kinds):
        cells = [cell for cell in table.column(j).tolist() if isinstance(cell, str)]
        if kind == CATEGORY and cells and all(map(comma.fullmatch, cells)):
            return f"are these numbers with decimal commas, such as {cells[0]!r:.40}? Write points"
    return "are these names or sentences? Columns of numbers or categories are needed"


def describe(rows: TrainingRows, size: int | None = None) -> str:
    """Return in words what there is to learn from; `size` rows, where more than were held."""
    kinds = rows.table.kinds
    words_of = "text" if rows.texts else "categories"
    words = [
        f"{kinds.count(kind)} of {plural}"
        for kind, plural in (("number", "numbers"), ("boolean", "truths"), (CATEGORY, words_of))
        if kind in kinds
    ]
    many = "s" * (len(kinds) != 1)
    count = rows.table.size if size is None else size
    return f"{count:,} rows, {len(kinds):,} column{many}: {listed(words)}"
