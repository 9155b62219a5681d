"""Rows as a linear classifier sees them: numbers, with categories as indicator columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns.schema import Columns, PlainColumns
from suffice.errors import DifferentKinds, NotANumber, listed
from suffice.rows import CATEGORY, sorted_levels
from suffice.rows.sparse import SparseRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.rows import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The columns of a fit, and which of their coded ones are used.

    kept   the coded columns that are used, None for all. Without a penalty the first level of a
           category is the one that others are compared with, as in R: all of them together would
           add up to the intercept.
    usual  the means of the columns that are used. They stand for a level that was never seen: it
           speaks for no class. None codes it as zeros.
    """

    columns: Columns | PlainColumns
    kept: IntArray | None = None
    usual: FloatArray | None = None

    @classmethod
    def infer(cls, table: Any, every_level: bool, intercept: bool = True) -> Self:
        """Read it off a table."""
        if isinstance(table, SparseRows):
            return cls(PlainColumns(table.width))
        columns = Columns.infer(table)
        if not every_level:
            columns = _with_used_levels(columns, table)
        return cls.of(columns, every_level, intercept)

    @classmethod
    def of(cls, columns: Columns, every_level: bool, intercept: bool = True) -> Self:
        """Return the design of columns whose levels are known.

        Without an intercept the first category has a column for every level, as in R: they add up
        to what would be one.
        """
        if every_level or columns.is_plain:
            return cls(columns)
        kept: list[int] = []
        start, compared = 0, intercept
        for column in columns.columns:
            first = 1 if column.kind == CATEGORY and compared else 0
            compared = compared or column.kind == CATEGORY
            kept += range(start + first, start + column.width)
            start += column.width
        return cls(columns, np.array(kept, dtype=np.intp))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that are used."""
        if isinstance(self.columns, PlainColumns):
            return self.columns.names
        names = self.columns.coded_names
        return names if self.kept is None else tuple(names[j] for j in self.kept)

    @property
    def owners(self) -> IntArray:
        """For each column that is used, the one of the user's that it codes."""
        if isinstance(self.columns, PlainColumns):
            return np.arange(self.columns.width)
        owners = self.columns.owners
        return owners if self.kept is None else owners[self.kept]

    def same_as(self, other: Design) -> bool:
        """Whether the same columns are used, in the same order."""
        if self.columns != other.columns or (self.kept is None) != (other.kept is None):
            return False
        return self.kept is None or np.array_equal(self.kept, other.kept)  # type: ignore[arg-type]

    def widened(self, table: Any) -> Design:
        """Return the design that knows the levels of a table too; references stay what they are."""
        columns = self.columns
        if isinstance(table, SparseRows) or isinstance(columns, PlainColumns) or columns.is_plain:
            return self
        try:
            union, ours, _ = columns.widened(Columns.infer(table))
        except DifferentKinds:
            return self  # reading the rows says what is wrong, in scikit-learn's words
        if union == columns:
            return self
        if self.kept is None:
            return Design(union)
        references = np.delete(ours, self.kept)
        return Design(union, np.delete(np.arange(union.width), references))

    def places_in(self, wider: Design) -> IntArray:
        """Return where the columns that are used stand in a design that knows more levels."""
        ours = self.columns.widened(wider.columns)[1]  # type: ignore[union-attr, arg-type]
        found: IntArray = ours if self.kept is None else ours[self.kept]
        return found if wider.kept is None else np.searchsorted(wider.kept, found)

    def rows(self, table: Any, reader: str) -> FloatArray | SparseRows:
        """Return a table as the rows that θ multiplies; plain ones are not copied."""
        columns = self.columns
        if isinstance(columns, PlainColumns) or isinstance(table, SparseRows):
            matched = columns.matched(table, reader)
            if isinstance(matched, SparseRows):
                self._refuse_sparse()
                return matched
            if matched.matrix is None:
                raise NotANumber(
                    "these rows hold categories, the model was fitted on numbers",
                    hint="give numbers in every column",
                )
            return matched.matrix  # type: ignore[return-value]
        coded: Any = columns.encode(table, reader)
        if columns.is_plain:
            return coded  # type: ignore[no-any-return]
        used: FloatArray = coded if self.kept is None else np.ascontiguousarray(coded[:, self.kept])
        if self.usual is not None:
            every, owners = columns.owners, self.owners
            for j, column in enumerate(columns.columns):
                unseen = ~coded[:, every == j].any(axis=1)
                if column.kind == CATEGORY and unseen.any():
                    used[np.ix_(unseen, owners == j)] = self.usual[owners == j]
        return used

    def _refuse_sparse(self) -> None:
        columns = self.columns
        if isinstance(columns, Columns):
            words = [n for n, c in zip(columns.names, columns.columns, strict=True) if c.levels]
            if words:
                raise NotANumber(
                    f"these rows are sparse numbers, but {listed(words)} held categories so far",
                    hint="pass a frame, with the columns as they were when the model was fitted",
                )


def _with_used_levels(columns: Columns, table: object) -> Columns:
    """Return a schema without levels that are declared, but in no row.

    As the level that others are compared with, it would leave these to add up to the intercept, and
    no standard error would be known. Where every level has a column there is none to compare with,
    and the level may stay: its coefficient is 0.
    """
    return DeclaredLevels.of(table).used(columns)


@dataclass(frozen=True, slots=True)
class DeclaredLevels:
    """Which levels rows have, of columns that declare some; they merge by `+`.

    seen  for each column the levels that are in some row, None where no levels are declared: there
          all are. Those have no order of their own either, but the sorted one.
    """

    seen: tuple[frozenset[Any] | None, ...]

    @classmethod
    def of(cls, table: Any) -> Self:
        """Read them off a table."""
        declared = [None] * table.width if table.levels is None else table.levels
        return cls(
            tuple(
                None if levels is None else frozenset(table.column(j).tolist())
                for j, levels in enumerate(declared)
            )
        )

    def __add__(self, other: Self) -> Self:
        """Return those of both: what only one declares is not declared."""
        return type(self)(
            tuple(
                None if a is None or b is None else a | b
                for a, b in zip(self.seen, other.seen, strict=True)
            )
        )

    def used(self, columns: Columns) -> Columns:
        """Return a schema without levels that no row has."""
        return self._with(
            columns,
            lambda levels, seen: levels if seen is None else [v for v in levels if v in seen],
        )

    def in_order(self, columns: Columns) -> Columns:
        """Return a schema merged from parts of the rows as all of them together would have it.

        Parts that have no declared levels know those of their own rows, in sorted order; one
        after the other they come in the order in which they were met.
        """
        return self._with(columns, lambda levels, seen: _sorted(levels) if seen is None else levels)

    def _with(self, columns: Columns, chosen: Callable[[Any, Any], Any]) -> Columns:
        if all(column.kind != CATEGORY for column in columns.columns):
            return columns
        return Columns(
            tuple(
                replace(column, levels=tuple(chosen(column.levels, seen)))
                if column.kind == CATEGORY
                else column
                for column, seen in zip(columns.columns, self.seen, strict=True)
            )
        )


def _sorted(levels: tuple[object, ...]) -> list[object]:
    """Return levels in sorted order, blanks last."""
    words = [level for level in levels if level is not None]
    blank = [None] * (len(levels) - len(words))
    return [*(words[place] for place in sorted_levels(words)), *blank]
