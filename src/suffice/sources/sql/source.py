"""Tables, views and queries of a database: added up there, or streamed out as Arrow batches."""

# ruff: noqa: S608  every name and every text in these queries is quoted by the dialect
from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, TypeVar

from suffice.columns import Columns
from suffice.columns.column import Column
from suffice.engines.parts import Mergeable
from suffice.errors import BadLabels, BadRows, BadWeights, SufficeError, listed
from suffice.models.naive_bayes.asked_of_families import Levels
from suffice.places import Phrase
from suffice.rows.cells import CATEGORY, DOUBLES, NUMBER
from suffice.sources.arrow_streams import ArrowSource
from suffice.sources.partitions import CIRCLE, TURN, counts, no_weight
from suffice.sources.source import SumsFound
from suffice.sources.sql.columns import (
    MOST_CODED,
    TARGET,
    ColumnExpressions,
    warn_of_streaming,
    without_context,
)
from suffice.sql.asked import Parts, Products
from suffice.sql.dialects import Cell, SqlRows, any_of
from suffice.sql.sum_statistics import parts_of, products_of, squares_of
from suffice.sql.windows import BeyondWindows
from suffice.statistics import ByPattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from suffice.engines.parts import Progress
    from suffice.sources.local import Part
    from suffice.sources.source import Chunk, Wanted
    from suffice.sources.sql.columns import Database
    from suffice.sql.asked import Asked
    from suffice.tables.arrow_types import ArrowBatch

__all__ = ["SqlSource", "without_context"]

S = TypeVar("S", bound=Mergeable)

NEEDS_ROWS = "this model does not use sums over columns"
"""Why rows are read out of a database, unless a source knows a better reason."""


@dataclass(slots=True)
class _Names:
    """What a source needs of a schema: names."""

    names: list[str] = field(default_factory=list)


class SqlSource(ArrowSource):
    """Rows of a database.

    `sums` adds up there whatever has a form in SQL; `collect` streams rows out, and says so. From a
    database in this process rows have no way to go, and reading them is several times as quick as
    its own sums: there they are read, unless `adds_up` is True.

    taken  what the last fit took: "sums", "rows", or "sums and rows"; None before the first
    """

    spreads = True
    in_database = True

    def __init__(
        self,
        database: Database,
        where: str | None = None,
        why: str = NEEDS_ROWS,
        adds_up: bool | None = None,
    ) -> None:
        super().__init__(_Names([c.name for c in database.columns]), self._batches, database.name)
        self.database = database
        self._where = where
        self._why = why
        self._said = False
        self.adds_up = not database.here if adds_up is None else adds_up
        self.taken: str | None = None
        self._expressions = ColumnExpressions(database)
        self._columns = self._expressions.columns

    def wanted(
        self,
        target: str | None = None,
        weight: str | None = None,
        names: Sequence[str] | None = None,
    ) -> Wanted:
        """Return which columns to read; those of types that are not read are refused by name."""
        found = super().wanted(target, weight, names)
        for name in found.all:
            refusal = self._columns[name].refusal(self.name, TARGET if name == target else "column")
            if refusal is not None:
                raise refusal
        return found

    def labelled(self, target: str) -> SqlSource:
        """Return the rows that have a label."""
        column = self.database.dialect.identifier(target)
        return SqlSource(self.database, f"{column} IS NOT NULL", adds_up=self.adds_up)

    # Streams

    def collect(
        self,
        summarize: Callable[[Chunk], S],
        wanted: Wanted,
        progress: Progress[S] | None = None,
        told: Callable[[Progress[S]], object] | None = None,
    ) -> S | None:
        """Return the merged summary of all rows, streamed out of the database."""
        if self.size == 0:
            return None
        self.taken = "rows"
        if self.adds_up and not self._said:
            self._said = True  # once, however often they are read
            warn_of_streaming(self.name, self._why)
        with self.database.snapshot():
            found = super().collect(summarize, wanted, progress, told)
        if found is None:
            self._refuse_nothing()
        return found

    def parts(self, wanted: Wanted) -> Sequence[Part]:
        """Return the whole as one part, but for stretches of rows that do not count."""
        return [lambda: filter(counts, self._chunks(wanted))]

    def some(self, wanted: Wanted, size: int) -> Chunk | None:
        """Return all rows if there are no more than `size`; else about so many, from all over."""
        with self.database.snapshot():
            count = self.size
            if count == 0:
                return None
            source = self if count <= size else self._scattered(size / count)
            return super(SqlSource, source).some(wanted, size)

    @property
    def size(self) -> int:
        """How many rows there are: the database counts them."""
        return self._count(self._where)

    def _scattered(self, share: float) -> SqlSource:
        numbered = (
            f"(SELECT *, row_number() OVER () AS suffice_number FROM {self.database.rows}"
            f"{_where(self._where)}) AS suffice_some"
        )
        number = f"(suffice_number % {CIRCLE}) * {TURN} % {CIRCLE}"
        return SqlSource(_Other(self.database, numbered), f"{number} < {int(share * CIRCLE)}")

    def _batches(self, names: list[str]) -> Iterator[ArrowBatch]:
        chosen = ", ".join(map(self.database.dialect.identifier, names))
        rows = f"{self.database.rows}{_where(self._where)}"
        return self.database.batches(f"SELECT {chosen} FROM {rows}")

    # Sums

    def sums(
        self, asked: Asked, wanted: Wanted, summarize: Callable[[Chunk], object]
    ) -> SumsFound | None:
        """Return statistics that the database adds up; None where rows have to be streamed.

        `summarize` is what would be done with rows: one that cannot be learned from is given to
        it, for it to say why.
        """
        if not self.adds_up:
            return None
        try:
            with self.database.snapshot():
                found = self._sums(asked, wanted, summarize)
        except BeyondWindows as beyond:
            self._why = str(beyond)
            return None
        except SufficeError as error:
            raise error.at(self.name) from None
        if found is not None:
            self.taken = "sums" if found.rest is None else "sums and rows"
        return found

    def _sums(
        self, asked: Asked, wanted: Wanted, summarize: Callable[[Chunk], object]
    ) -> SumsFound | None:
        rows = self._rows(wanted, summarize)
        self._check(rows, wanted)
        if isinstance(asked, Parts):
            coded = [j for kind, places in asked.parts if isinstance(kind, Levels) for j in places]
            if self._are_beyond_doubles(rows, [wanted.names[j] for j in coded]):
                return None
            return self._parts(rows, asked, wanted)
        columns = self._expressions.coded(rows, wanted)
        most = self.database.dialect.widest // 2 - 10 if isinstance(asked, Products) else MOST_CODED
        if columns.width > most:
            self._why = f"one query cannot hold the {columns.width} numbers of a row"
            return None
        cells = self._expressions.cells(columns, wanted)
        if not isinstance(asked, Products):
            return SumsFound(columns, *squares_of(rows, cells))
        classes, moments, blank = products_of(rows, cells, pooled=asked.pooled)
        statistics = ByPattern.complete(columns.width, moments)
        if not blank:
            return SumsFound(columns, classes, statistics)
        gaps = [name for name in wanted.names if self._columns[name].kind != CATEGORY]
        some = any_of([f"({self._expressions.number(name)}) IS NULL" for name in gaps])
        held = self._where
        rest = SqlSource(
            self.database,
            some if held is None else f"({held}) AND ({some})",
            f"{blank:,} with missing cells: a full covariance needs their patterns",
            adds_up=True,
        )
        return SumsFound(columns, classes, statistics, rest)

    def _are_beyond_doubles(self, rows: SqlRows, names: Sequence[str]) -> bool:
        """Whether a column of categories holds whole numbers that sums of doubles would merge."""
        quoted = rows.dialect.identifier
        wide = [quoted(name) for name in names if not self._columns[name].exact]
        if not wide:
            return False
        limit = int(DOUBLES)
        beyond = any_of([f"({name} > {limit} OR {name} < -{limit})" for name in wide])
        found = self.database.run(
            f"SELECT count(*) AS n FROM {rows.rows}{rows.narrowed(beyond).filter()}"
        )
        self._why = "whole numbers beyond 2**53, which doubles cannot distinguish"
        return bool(found.column("n").to_pylist()[0])

    def _parts(self, rows: SqlRows, asked: Parts, wanted: Wanted) -> SumsFound | None:
        columns = Columns(tuple(Column(n, self._columns[n].kind) for n in wanted.names))
        for kind, places in asked.parts:
            names = [wanted.names[j] for j in places]
            if not isinstance(kind, Levels) or kind.edges is not None:
                words = [n for n in names if self._columns[n].kind == CATEGORY]
                if words:
                    self._why = f"{listed(words)} of text"
                    return None
        texts = [
            self._expressions.text(name) if self._columns[name].kind == CATEGORY else None
            for name in wanted.names
        ]
        null = f"CAST(NULL AS {rows.dialect.double})"
        cells = [
            Cell(null) if text is not None else self._expressions.cell(name)
            for name, text in zip(wanted.names, texts, strict=True)
        ]
        return SumsFound(columns, *parts_of(rows, asked, cells, texts))

    def _rows(self, wanted: Wanted, summarize: Callable[[Chunk], object]) -> SqlRows:
        assert wanted.target is not None
        dialect = self.database.dialect
        label = dialect.identifier(wanted.target)
        weight = None if wanted.weight is None else self._expressions.number(wanted.weight)

        def refuse(condition: str) -> None:
            where = f"{rows.narrowed(condition).filter().removeprefix(' WHERE ')} LIMIT 1"
            some = SqlSource(self.database, where)
            for part in some.parts(wanted):
                for chunk in part():
                    self._refuse(chunk, summarize)

        rows = SqlRows(
            dialect, self.database.rows, label, weight, self._where, self.database.run, refuse
        )
        return rows

    def _refuse(self, chunk: Chunk, summarize: Callable[[Chunk], object]) -> NoReturn:
        """Let whoever would have learned from a row say why it cannot be."""
        try:
            summarize(chunk)
        except SufficeError as error:
            raise error.without_rows() from None
        raise BadRows("a row cannot be used", hint="look for infinite or negative cells")

    def _check(self, rows: SqlRows, wanted: Wanted) -> None:
        """Refuse weights and labels that are none, and tables without rows."""
        if wanted.weight is not None:
            self._check_weights(rows, wanted.weight)
        label = rows.label
        if self._columns[str(wanted.target)].floating:  # NaN is not a label either
            label = f"CASE WHEN NOT ({rows.dialect.is_nan(label)}) THEN {label} END"
        asked = f"SELECT count(*) AS n, count({label}) AS known FROM {rows.rows}{rows.filter()}"
        found = self.database.run(asked)
        count, known = (found.column(name).to_pylist()[0] for name in ("n", "known"))
        if count == 0:
            self._refuse_nothing()
        if known < count:
            raise BadLabels(
                f"{count - known:,} of {count:,} rows have no {wanted.target}",
                hint="leave out rows without a label: they cannot be used for training",
            )

    def _refuse_nothing(self) -> NoReturn:
        """Refuse a table without rows, or without one that counts."""
        count = self.size
        if count:
            raise no_weight(self.name, count)
        said = Phrase("{place} has no rows", place=self.name)
        raise BadRows(said, hint="there is nothing to learn from")

    def _check_weights(self, rows: SqlRows, name: str) -> None:
        if self._columns[name].kind != NUMBER:
            raise BadWeights(f"the weights {name!r} are not numbers", hint="name another column")
        number = rows.dialect.number
        weight = rows.weight
        bad = f"{weight} IS NULL OR {weight} < {number(0.0)} OR {weight} > {number(1e300)}"
        count = self._count(bad if self._where is None else f"({self._where}) AND ({bad})")
        if count:
            raise BadWeights(
                f"{count:,} rows have a weight {name!r} that is missing, negative or infinite",
                hint="weights count rows: finite numbers from 0 on",
            )

    def _count(self, where: str | None) -> int:
        found = self.database.run(f"SELECT count(*) AS n FROM {self.database.rows}{_where(where)}")
        return int(found.column("n").to_pylist()[0])


class _Other:
    """The same database with other rows after FROM."""

    def __init__(self, database: Database, rows: str) -> None:
        self._database = database
        self.rows = rows
        self.name, self.dialect, self.columns = database.name, database.dialect, database.columns
        self.here = database.here
        self.run, self.batches = database.run, database.batches

    def snapshot(self) -> AbstractContextManager[object]:
        """Stay within the snapshot that there is."""
        return nullcontext()


def _where(condition: str | None) -> str:
    return "" if condition is None else f" WHERE {condition}"
