"""Independent columns given the class: one family for each group of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import (
    BadRows,
    NotFinite,
    OutsideSupport,
    listed,
    warn,
)
from suffice.models.naive_bayes.column_blocks import Block, Blocks
from suffice.models.notes import Note
from suffice.places import CellsAt, Phrase
from suffice.rows import refuse_infinite
from suffice.rows.cells import CATEGORY, NUMBER, place_of
from suffice.rows.row_hashes import content_hashes, joined_hashes, label_hashes
from suffice.rows.tables import Table, table_of_columns
from suffice.statistics import ByClass, ByColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.families.protocol import ColumnFamily, ColumnLaws
    from suffice.rows import FloatArray, IntArray, Label, Table


@dataclass(frozen=True, slots=True)
class Product:
    """A product of families: p(x | c) = ∏ over groups of p(x_group | c).

    Parameters
    ----------
    families : tuple of ColumnFamily
        The families.
    columns : tuple of sequence of int
        The columns of each, by position.

    See Also
    --------
    suffice.NaiveBayes : Takes it as a family of columns.

    Examples
    --------
    >>> from suffice.families import Categorical, Poisson, Product
    >>> Product((Poisson(), Categorical()), ((0, 2), (1,))).described(["calls", "plan", "faults"])
    {'calls': 'poisson', 'plan': 'categorical', 'faults': 'poisson'}
    """

    families: tuple[ColumnFamily, ...]
    columns: tuple[Sequence[int], ...]

    @classmethod
    def of_columns(cls, families: Sequence[ColumnFamily], groups: Iterable[int] = ()) -> Self:
        """Put columns of equal families together; `groups` says which share one law anyway."""
        at: dict[Any, list[int]] = {}
        tied = list(groups) or [-1] * len(families)
        for j, (family, group) in enumerate(zip(families, tied, strict=True)):
            at.setdefault((type(family).__name__, family, group), []).append(j)
        return cls(tuple(key[1] for key in at), tuple(tuple(columns) for columns in at.values()))

    @property
    def width(self) -> int:
        """The number of columns."""
        return sum(len(group) for group in self.columns)

    def described(self, names: Sequence[str]) -> dict[str, str]:
        """Return the family of every column, in the order of the columns."""
        found = {j: f.name for f, group in zip(self.families, self.columns, strict=True)
                 for j in group}  # fmt: skip
        return {names[j]: found[j] for j in sorted(found)}

    def family_of(self, column: int) -> tuple[int, int]:
        """Return the group that has a column, and the column's place in it."""
        for place, group in enumerate(self.columns):
            if column in group:
                return place, group.index(column)
        raise IndexError(column)

    # Rows

    def read(
        self,
        table: Table,
        *,
        learning: bool = True,
        chosen: Callable[[], Collection[int]] | None = None,
    ) -> Blocks:
        """Return a table cut into blocks; cells that cannot belong to their family are refused.

        `chosen()` are columns whose families nobody asked for: of rows that are only asked about,
        no number is refused there.
        """
        try:
            return self._blocks(table, learning=learning)
        except BadRows:
            if learning or chosen is None:
                raise
            kept = within_support(table, self.families, self.columns, chosen())
            if kept is table:
                raise
        return self._blocks(kept, learning=learning)

    def _blocks(self, table: Table, *, learning: bool) -> Blocks:
        pairs = zip(self.families, self.columns, strict=True)
        return Blocks(
            tuple(family.read(table, group, learning=learning) for family, group in pairs)
        )

    def hashes(self, rows: Blocks, codes: IntArray, labels: Sequence[Label]) -> NDArray[np.uint64]:
        """Return a hash of what each row says, its label included."""
        pairs = zip(rows.parts, self.columns, strict=True)
        parts = [content_hashes(block, group) for block, group in pairs]
        return joined_hashes([*parts, label_hashes(labels)[codes]])

    def summarize(
        self,
        rows: Blocks,
        codes: IntArray,
        labels: Sequence[Label],
        weights: FloatArray | None = None,
        names: Sequence[str] | None = None,
    ) -> ByClass[Any]:
        """Summarize labelled rows: row i belongs to labels[codes[i]]. Weights are positive."""
        size = len(labels)
        found: list[Sequence[Any]] = []
        for family, block, group in zip(self.families, rows.parts, self.columns, strict=True):
            try:
                found.append(family.summarize(block, codes, size, weights))
            except NotFinite as error:
                raise self._named(error, block, group, names) from None
        return ByClass(
            {
                label: ByColumn(found[0][c].weight, tuple(parts[c] for parts in found))
                for c, label in enumerate(labels)
                if found[0][c].weight > 0.0
            }
        )

    def _named(
        self, error: NotFinite, block: Block, group: Sequence[int], names: Sequence[str] | None
    ) -> NotFinite:
        """Return a refusal that calls columns by their names, and finds the infinite cell."""
        called = [place_of(column, names) for column in group]
        if isinstance(block, np.ndarray):
            try:
                refuse_infinite(block, called)
            except NotFinite as found:
                return found
        return error.filled(called)

    # Statistics

    def groups(self, statistics: ByClass[Any], labels: Sequence[Label]) -> list[list[object]]:
        """Return, for each group of columns, the statistics of every class."""
        held = [statistics.groups[label].parts for label in labels]
        return [[parts[g] for parts in held] for g in range(len(self.families))]

    def empty_like(self, part: Any) -> object:
        """Return statistics of no rows with the same columns."""
        return part.scaled(0.0)

    def estimate(
        self, groups: Sequence[Sequence[object]], alphas: Sequence[float]
    ) -> tuple[tuple[ColumnLaws, ...], tuple[Note, ...]]:
        """Return the laws of every group of columns, and reservations about columns by position."""
        laws, notes = [], []
        blank = self.blank(groups)
        if blank:
            notes.append(Note("columns without any cell", "they are ignored", blank))
        for family, parts, alpha, columns in zip(
            self.families, groups, alphas, self.columns, strict=True
        ):
            found, said = family.estimate(parts, alpha)
            laws.append(found)
            for note in said:
                places = tuple(columns[j] for j in note.columns if columns[j] not in blank)
                if note.columns and not places:
                    continue
                notes.append(Note(note.problem, note.done, places, note.classes, note.silent))
        return tuple(laws), tuple(notes)

    def blank(self, groups: Sequence[Sequence[Any]]) -> tuple[int, ...]:
        """Return the columns of which no class has shown a cell."""
        found: list[int] = []
        for parts, columns in zip(groups, self.columns, strict=True):
            seen = np.any([part.observed for part in parts], axis=0)
            if not seen.all():
                found += [columns[int(j)] for j in np.flatnonzero(~seen)]
        return tuple(sorted(found))

    def differences(self, other: Product, names: Sequence[str]) -> str:
        """Return in words where two products disagree."""
        ours, theirs = self._by_column(), other._by_column()
        return listed(
            f"{names[j]} is {ours[j]!r} in one and {theirs[j]!r} in the other"
            for j in sorted(ours)
            if ours[j] != theirs.get(j)
        )

    def _by_column(self) -> Mapping[int, object]:
        pairs = zip(self.families, self.columns, strict=True)
        return {j: family for family, group in pairs for j in group}


def within_support(
    table: Table,
    families: Sequence[ColumnFamily],
    columns: Sequence[Sequence[int]],
    chosen: Collection[int],
) -> Table:
    """Return rows to ask about in which no cell of a column in `chosen` can be refused.

    A fraction in a column of categories is a level that was never seen. A fraction or a negative
    number among counts is as impossible in one class as in any other: it says nothing, as a blank
    does. An `OutsideSupport` warning names them. A table without any comes back as it is.
    """
    found: dict[int, tuple[str, NDArray[np.generic]]] = {}
    told = []
    for family, group in zip(families, columns, strict=True):
        for j in group:
            if j not in chosen or table.kinds[j] != NUMBER:
                continue
            other = family.outside(table.column(j))
            if other is not None:
                rows = tuple(np.flatnonzero(other.mask).tolist())
                told.append(CellsAt(rows, place_of(j, table.names)))
                found[j] = other.kind, other.cells
    if not found:
        return table
    said = (
        "cells that are not whole numbers, in columns that held only whole numbers so far: "
        "{cells}; they "
        "are ignored"
    )
    warn(Phrase(said, cells=tuple(told)), OutsideSupport)
    every = range(table.width)
    held = [found.get(j, (table.kinds[j], table.exact(j))) for j in every]
    known = table.levels or (None,) * table.width
    # Levels that are declared may be fractions: declaring none says so, and no more.
    levels = tuple(() if held[j][0] == CATEGORY and j in found else known[j] for j in every)
    return table_of_columns(held, table.names, levels)
