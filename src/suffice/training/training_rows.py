"""Labelled rows to learn from, and what is decided about their columns.

Rows are held where that is possible, and read again where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.columns.spellings.date_parts import without_parts
from suffice.errors import BadRows, BadSetting, listed
from suffice.rows.cells import CATEGORY, NUMBER, object_array
from suffice.rows.labels import similar_labels
from suffice.sources import open_source
from suffice.sources.arrow_frames import frame_of
from suffice.sources.local import LocalSource
from suffice.sources.samples import first_rows, spread_rows
from suffice.sources.table_files import TableSource
from suffice.tables.table_file import missing_columns
from suffice.tables.table_reading import TableGuess
from suffice.training.labelled_source import LabelledSource
from suffice.training.table_columns.kept_columns import (
    DroppedColumn,
    asked_to_drop,
    kept_columns,
)
from suffice.training.table_columns.spelled_columns import (
    check_numbers,
    declared_categories,
    say_dates,
    say_orders,
    say_spellings,
)
from suffice.training.table_columns.told_columns import told_columns
from suffice.training.target_labels import check_classes, check_quantity, plain_labels, totals_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.columns.filled import FilledColumns
    from suffice.columns.spellings.spelling import Spelling
    from suffice.rows.tables import Table
    from suffice.statistics.quantile_bins import ColumnBins
    from suffice.tables.table_reading import TableReading
    from suffice.training.hooks import Hooks
    from suffice.training.table_columns.label_bins import LabelBins

IN_MEMORY = 1 << 25
"""Cells of a table that are held at once, for models that need all rows or are compared on them."""
LOOK = 1 << 22
"""Cells that are looked at where rows are read one by one, or are too many."""
FROM_AFAR = 10_000
"""Rows that are looked at where the others stay in their database."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Labelled rows to fit a model on.

    table, labels   all rows, if they are `whole`, or some that stand for them
    place           what the table is called
    target          the column of labels; None for labels that came beside the rows
    dropped         columns that were left out, and why
    unlabelled      how many rows without a label were left out, as far as is known
    texts           whether columns of text are documents, and no categories
    source          where all of them are; None for rows that are here
    counted         how many rows there are, where they were counted on the way
    given           rows that are here as the frame they came in; None for others
    spellings       how the texts of columns are written that are numbers or truths
    text_columns    columns of texts beside others, which some models read
    without         rows without a label, where they are learned from
    bins            how a quantity is cut into classes; None where labels are classes
    """

    table: Table
    labels: NDArray[np.generic]
    whole: bool
    place: str
    target: str | None
    dropped: tuple[DroppedColumn, ...]
    unlabelled: int = 0
    texts: bool = False
    source: LocalSource | None = None
    counted: int | None = None
    given: Any = None
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    text_columns: tuple[str, ...] = ()
    without: Table | None = None
    bins: LabelBins | None = None

    @classmethod
    def read(
        cls,
        data: object,
        target: str,
        reading: TableReading,
        drop: Sequence[str],
        hooks: Hooks,
        *,
        once: bool = False,
        seed: int | None = None,
        texts: bool = False,
        beside: bool = False,
    ) -> TrainingRows:
        """Open a source, and look at its rows; the kinds of its columns are found out from all.

        `once` says that rows will be read one by one, so that few have to be held. With a `seed`
        the rows that stand for too many are drawn from all over the source. `beside` says that
        the model reads texts beside other columns.
        """
        source, without = opened_source(data, target, reading, drop, hooks)
        names = [name for name in source.names if name != target and name not in drop]
        if not names:
            raise BadRows(
                f"{source.name} has no column besides the target {target!r}",
                hint=f"is the delimiter the right one? {hooks.option('delimiter')} names it",
            )
        counted, spellings = kinds_of(source, names, target, hooks, reading)
        how = spellings.pop(target, None)
        labelled = LabelledSource(source, names, target, looked_at=True, spellings=spellings)
        labelled.total = counted
        most = min(LOOK, IN_MEMORY) if once else IN_MEMORY
        size = max(1, most // (len(names) + 1))
        if once and source.adds_up:
            size = min(size, FROM_AFAR)
        wanted = labelled.wanted(target)
        with hooks.progress(f"reading {source.name}", labelled.share) as labelled.progress:
            if seed is None:
                found, whole = first_rows(labelled, wanted, size)
            else:
                found, whole = spread_rows(labelled, wanted, size, seed)
        if found is None or not found.table.size:
            raise _nothing_to_learn(labelled, target)
        check_numbers(found.table, reading.columns, source.name)
        say_orders(found.table, reading.columns, source.name, hooks)
        labels = plain_labels(found.labels)
        bins = None
        if reading.bins is not None:
            from suffice.training.table_columns.label_bins import LabelBins

            bins = LabelBins.of(labels, reading.bins, how, f"{source.name}, target {target!r}")
            labels = bins.cut(labels)
            hooks.note(f"{target} {bins.said}")
        check_labels(labels, source.name, target, hooks, whole=whole, declared=reading.columns)
        if whole:
            without += labelled.without
            tell_unlabelled(labelled, hooks)
        kept, dropped, worded = kept_columns(
            found.table, source.name, target, hooks, texts=texts, declared=reading.columns,
            beside=beside and not source.in_database,
        )  # fmt: skip
        if not texts:
            kept, spellings = told_columns(
                kept, labels, spellings, reading, hooks, typed=source.in_database
            )
        return cls(
            kept, labels, whole, source.name, target, (*asked_to_drop(drop), *dropped),
            without, texts, source, counted, spellings=spellings, text_columns=worded, bins=bins,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """How many rows there are, as far as that is known: at least those that are held."""
        return max(self.table.size, self.known_size or 0)

    @property
    def known_size(self) -> int | None:
        """How many rows there are, held or not; None where nobody has counted them."""
        return self.table.size if self.whole or self.source is None else self.source.size

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to learn from."""
        assert self.table.names is not None
        return self.table.names

    @property
    def frame(self) -> Any:
        """The rows that are held, as estimators take them."""
        return frame_of(self.table) if self.given is None else self.given

    def labelled(self, filled: FilledColumns | None = None) -> LabelledSource:
        """Return all rows that have a label, with blanks filled where the model needs that."""
        assert self.source is not None
        assert self.target is not None
        found = LabelledSource(
            self.source, self.names, self.target, filled, spellings=self.spellings,
            bins=self.bins,
        )  # fmt: skip
        found.total = self.counted
        return found

    def as_given(self) -> tuple[Table, NDArray[np.generic]]:
        """Return labelled rows as their source has them, in the order of `table`, and labels.

        All columns are there, those that nothing is learned from too, and cells are written as
        they were: a model that was fitted on the source can read them. Of rows that were too many
        to be held, columns that were left out stay out, and cells are written anew.
        """
        names: list[str] = list(without_parts(self.names, self.spellings))
        table, labels = self.table, self.labels
        if self.whole and self.source is not None and self.target is not None:
            there = {*names, *(column.name for column in self.dropped)} - {self.target}
            every = [name for name in self.source.names if name in there]
            origin = self.source.as_text() if isinstance(self.source, TableSource) else self.source
            source = LabelledSource(origin, every, self.target)
            found, _ = first_rows(source, source.wanted(self.target), len(labels))
            if found is not None and found.table.size == len(labels):
                if origin is not self.source:
                    return found.table, np.asarray(found.labels)
                table, labels, names = found.table, np.asarray(found.labels), every
        table = table.take([(table.names or ()).index(name) for name in names])
        cells = [np.asarray(table.exact(j)) for j in range(table.width)]
        for j, name in enumerate(names):
            if name in self.spellings:
                how = self.spellings[name]
                cells[j] = object_array(how.written(cell) for cell in cells[j].tolist())
        return replace(table, cells=tuple(cells), matrix=None, whole=None), labels

    @property
    def columns_described(self) -> str:
        """How many columns of which type there are, in words."""
        worded = set(self.text_columns)
        names = self.table.names or (None,) * self.table.width
        pairs = zip(names, self.table.kinds, strict=True)
        kinds = ["text" if name in worded else kind for name, kind in pairs]
        types = (
            ("number", "numeric"),
            ("boolean", "yes/no"),
            (CATEGORY, "text" if self.texts else "categorical"),
            ("text", "text"),
        )
        found = [(kinds.count(kind), word) for kind, word in types if kind in kinds]
        many = "s" * (len(kinds) != 1)
        if len(found) == 1:
            return f"{len(kinds):,} {found[0][1]} column{many}"
        return f"{len(kinds):,} column{many}: {listed(f'{n:,} {word}' for n, word in found)}"


class RowsMet(NamedTuple):
    """What was seen of rows that were read again to learn from them.

    without   how many had no label
    drawn     some of the others, and their labels
    resumed   whether the first ones were learned by another process
    bins      how their columns of numbers are spread
    """

    without: int = 0
    drawn: tuple[Table, NDArray[np.generic]] | None = None
    resumed: bool = False
    bins: ColumnBins | None = None


def opened_source(
    data: object, target: str | None, reading: TableReading, drop: Sequence[str], hooks: Hooks
) -> tuple[LocalSource, int]:
    """Return where the rows are, and how many are left out already.

    Of a database, those that have a label, if there is a target.
    """
    labels = () if target is None else (target,)
    source = open_source(
        data,
        delimiter=reading.delimiter,
        header=reading.header,
        encoding=reading.encoding,
        sheet=reading.sheet,
        expected=(*labels, *drop),
    )
    asked = dict.fromkeys((*labels, *drop, *reading.columns))
    lacking = [name for name in asked if name not in source.names]
    if lacking:
        raise missing_columns(source.name, lacking, source.names)
    if not isinstance(source, LocalSource):
        raise BadSetting(
            f"{source.name} is on a cluster: rows are used here before a model is trained",
            hint='an estimator learns where rows are: GaussianDiscriminant().fit(rows, target="y")',
        )
    if source.once:
        from suffice.sources.arrow_streams import spooled

        found = spooled(source, source.wanted())
        assert isinstance(found, LocalSource)
        return found, 0
    if target is None or not source.in_database:
        return source, 0
    labelled = source.labelled(target)
    without = (source.size or 0) - (labelled.size or 0)
    if without and labelled.size:
        hooks.note_unlabelled(unlabelled_rows(without))
    return labelled, without


def kinds_of(
    source: LocalSource,
    names: Sequence[str],
    target: str | None,
    hooks: Hooks,
    reading: TableReading,
) -> tuple[int | None, dict[str, Spelling]]:
    """Look at what the columns of text files hold.

    Returns how many rows were read for that, and how columns are written that are not plain. The
    target is taken as it is: its texts name classes.
    """
    found = declared_categories(reading.columns, names)
    if not isinstance(source, TableSource):
        if found and source.in_database:
            raise BadSetting(
                f"{source.name}: {listed(found)} cannot be declared a category: a database uses "
                f"the "
                "types of its columns",
                hint="cast it in a query: ?query=SELECT CAST(code AS VARCHAR) AS code, …",
            )
        found |= say_dates(source.dates, names, reading, hooks)
        return None, found | _typed_texts(source, names, hooks, reading)
    with hooks.progress(f"looking at {source.name}") as progress:
        source.kinds(progress.more)
    for said in source.guesses():
        option = said.option if isinstance(said, TableGuess) else "encoding"
        hooks.note(f"{said}; {hooks.option(option)} names another" if option else said)
    declared, every = reading.columns, names
    if reading.bins is not None and target is not None:
        declared, every = {**declared, target: NUMBER}, [*names, target]
    decided = source.spell(every, reading.decimal, declared)
    say_spellings(decided, hooks, reading.decimal)
    if source.is_typed:
        found |= _typed_texts(source, names, hooks, reading)
    for said in source.odd_cells((*names, *(() if target is None else (target,)))):
        hooks.note(said)
    return progress.rows or None, found | source.spellings


def _typed_texts(
    source: LocalSource, names: Sequence[str], hooks: Hooks, reading: TableReading
) -> dict[str, Spelling]:
    """Say how the texts of a typed table are written, and return it; of a database, check dates."""
    from suffice.training.table_columns.typed_texts import typed_texts

    decided = typed_texts(source, names, reading, is_read=not source.in_database)
    say_spellings(decided, hooks)
    return {name: one.spelling for name, one in decided.items() if one.spelling is not None}


def check_labels(
    labels: NDArray[np.generic],
    place: str,
    target: str | None,
    hooks: Hooks,
    *,
    whole: bool = True,
    declared: Mapping[str, str] | None = None,
) -> None:
    """Refuse labels that name no classes, and say which classes differ in what nobody sees."""
    is_declared = target in (declared or {})
    check_classes(
        labels, place, target, whole=whole, cut=hooks.option("bins", "4"), declared=is_declared
    )
    if target is not None and not is_declared:
        check_quantity(labels, place, target, hooks)
    if whole and (sums := totals_row(labels)):
        hooks.note(sums)
    for said in similar_labels(labels):
        hooks.note(said if target is None else f"{target}: {said}")


def tell_unlabelled(rows: LabelledSource, hooks: Hooks) -> None:
    """Say how many rows had no label."""
    if rows.without:
        more = " since the run was resumed" * rows.resumed
        hooks.note_unlabelled(unlabelled_rows(rows.without) + more)


def unlabelled_rows(count: int) -> str:
    """Return in words that rows had no label."""
    return f"{count:,} row{'s' * (count > 1)} without a label left out"


def _nothing_to_learn(rows: LabelledSource, target: str) -> BadRows:
    """Return the refusal of a table without rows, or without labels."""
    count = rows.size or rows.read
    if not count:
        return BadRows(f"{rows.name} has no rows", hint="there is a header, but no rows below it")
    return BadRows(
        f"{rows.name}, target {target!r}: none of {count:,} rows has a label",
        hint="is it the right column? Blank cells are not labels",
    )
