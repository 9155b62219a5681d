"""What a model file says about its table, and columns whose kind has changed since."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.columns.spellings.spelling import Spelling, spellings_from, spellings_to
from suffice.errors import BadFile, NotANumber
from suffice.rows.cells import CATEGORY, NUMBER
from suffice.rows.sparse import SparseRows
from suffice.rows.tables import Table, table_of_columns
from suffice.statistics import ByColumn, Tallies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.columns.filled import FilledColumns
    from suffice.columns.shown import ColumnShown
    from suffice.learning.learned import Learned
    from suffice.models.typicality.outlier_rates import OutlierRates
    from suffice.statistics.quantile_bins import ColumnBins


BINS = "bins"
"""Under which name a file says how its columns of numbers are spread. Older files do not."""
LABEL_BINS = "label_bins"
"""Under which name a file says how its target, a quantity, is cut into classes."""
RATES = "rates"
"""Under which name a file says how far out its rows lie. It is read when somebody asks."""
SHOWN = "shown"
"""Under which name a file says what its columns have shown."""
STATE = "table"
"""Under which name it is kept beside what was learned."""
KNOWN = {"target", "filled", "dropped", "spellings"}
"""What this version writes. A file of a later one may hold more, which is kept and written
again."""


@dataclass(frozen=True, slots=True)
class TableNotes:
    """How rows of a table become rows of the model.

    target   the column that holds the labels; None where it is not known
    filled   what stands for blank numbers, where the model cannot do without
    dropped  columns that were left out, and are left out again without a word
    more     what else the file says, kept as it is for whoever wrote it
    spellings  how the texts of columns are written that are numbers or truths

    `suffice fit` writes them. A model that is loaded in Python heeds them too, so that it takes
    the rows of the same table: with the target or without, and with its blanks.

    >>> from suffice.rows import read_table
    >>> rows = np.array([[1.0, 5.0], [np.nan, 7.0]])
    >>> from suffice.columns.filled import FilledColumns
    >>> notes = TableNotes(filled=FilledColumns.of(rows))
    >>> notes.rows(read_table(rows)).matrix
    array([[1., 5., 0.],
           [1., 7., 1.]])
    """

    target: str | None = None
    filled: FilledColumns | None = None
    dropped: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict, hash=False)
    spellings: Mapping[str, Spelling] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values."""
        return {
            "target": self.target,
            "filled": None if self.filled is None else self.filled.to_dict(),
            "dropped": list(self.dropped),
            **({"spellings": spellings_to(self.spellings)} if self.spellings else {}),
            **self.more,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self | None:
        """Return what a model file says; None if it says nothing."""
        held = state.get(STATE)
        if held is None:
            return None
        try:
            target, dropped, filled = held["target"], tuple(held["dropped"]), held["filled"]
        except (KeyError, TypeError):
            raise _damaged() from None
        names = (*dropped, *(() if target is None else (target,)))
        if not all(isinstance(name, str) for name in names):
            raise _damaged()
        more = {name: value for name, value in held.items() if name not in KNOWN}
        spellings = spellings_from(held["spellings"]) if "spellings" in held else {}
        if filled is None:
            return cls(target, None, dropped, more, spellings)
        from suffice.columns.filled import FilledColumns

        found = FilledColumns.from_dict(filled)
        if not all(mean is None or isfinite(mean) for mean in found.means):
            raise _damaged()
        pairs = zip(found.means, found.blank, found.columns.columns, strict=True)
        if any(blank and (mean is None or c.kind == CATEGORY) for mean, blank, c in pairs):
            raise _damaged()  # what is not filled has no column that says where it was
        return cls(target, found, dropped, more, spellings)

    def unlike(self, other: TableNotes) -> str | None:
        """Return which column is written in another way there, in words; None if none is."""
        for name in sorted({*self.spellings, *other.spellings}):
            ours, theirs = (
                one.words if one is not None else "plain"
                for one in (self.spellings.get(name), other.spellings.get(name))
            )
            if ours != theirs:
                return f"{name} uses two notations: {ours}; {theirs}"
        return None

    @property
    def rates(self) -> OutlierRates | None:
        """How far out training rows lie, each by a model of the others; None if nobody knows."""
        if RATES not in self.more:
            return None
        from suffice.models.typicality.outlier_rates import OutlierRates

        return OutlierRates.from_list(self.more[RATES])

    @property
    def shown(self) -> dict[str, ColumnShown] | None:
        """What columns of numbers have shown, by name; None if nobody knows."""
        if SHOWN not in self.more:
            return None
        from suffice.columns.shown import shown_from

        return shown_from(self.more[SHOWN])

    @property
    def bins(self) -> ColumnBins | None:
        """How columns of numbers are spread; None if nobody knows."""
        if BINS not in self.more:
            return None
        from suffice.statistics.quantile_bins import ColumnBins

        return ColumnBins.from_dict(self.more[BINS])

    def knowing(
        self,
        *,
        rates: OutlierRates | None = None,
        shown: Mapping[str, ColumnShown] | None = None,
        bins: ColumnBins | None = None,
    ) -> Self:
        """Return it with what rows were like; what is None is not known any more."""
        known = (RATES, SHOWN, BINS)
        more = {name: held for name, held in self.more.items() if name not in known}
        if bins is not None:
            more[BINS] = bins.to_dict()
        if rates is not None:
            more[RATES] = rates.to_list()
        if shown is not None:
            from suffice.columns.shown import shown_to

            more[SHOWN] = shown_to(shown)
        return replace(self, more=more)

    def merged(self, other: TableNotes) -> Self:
        """Return what is known of the rows of both; how they are read is read off the first."""
        from suffice.columns.shown import shown_by_both

        rates, more = self.rates, other.rates
        ours, theirs = self.shown, other.shown
        bins, others = self.bins, other.bins
        return self.knowing(
            rates=None if rates is None or more is None else rates + more,
            shown=None if ours is None or theirs is None else shown_by_both(ours, theirs),
            bins=None if bins is None or others is None else bins + others,
        )

    def check_columns(self, state: object) -> None:
        """Refuse to fill columns that are not those of the model."""
        if self.filled is None:
            return
        design = getattr(state, "design", None)  # of linear classifiers
        if design is None:
            raise _damaged()
        known, names = design.columns, (*self.filled.columns.names, *self.filled.marks)
        named = self.filled.columns.named
        if len(known.columns) != len(names) or (named and known.names != names):
            raise _damaged()

    def rows(self, table: Any) -> Any:
        """Return a table as the model learned from it; one that is so already as it is."""
        names = getattr(table, "names", None)
        if names is not None:
            known = () if self.filled is None else self.filled.columns.names
            others = {self.target, *self.dropped} - set(known)
            kept = [j for j, name in enumerate(names) if name not in others]
            table = table.take(kept)
            if self.spellings:
                from suffice.columns.spellings.spelled_tables import read_spelled

                table = read_spelled(table, self.spellings)
        return table if self.filled is None else filled_table(self.filled, table)


def filled_table(filled: FilledColumns, table: object) -> Any:
    """Return a table without blank numbers, and with the columns that say where they were.

    A table that has these columns already is filled, and stays as it is.
    """
    marks = filled.marks
    if not isinstance(table, Table) or table.width == len(filled.means) + len(marks) > len(
        filled.means
    ):
        return table
    table = filled.columns.matched(table, "a model of filled columns")
    columns: list[tuple[str, Any]] = []
    added: list[tuple[str, Any]] = []
    for j, mean in enumerate(filled.means):
        if mean is None or table.kinds[j] == CATEGORY:
            # Text among numbers is refused by the model, by name.
            columns.append((table.kinds[j], table.column(j)))
            continue
        values = np.asarray(table.column(j), dtype=np.float64)  # None becomes NaN
        missing = np.isnan(values)
        columns.append((NUMBER, np.where(missing, mean, values)))
        if filled.blank[j]:
            added.append((NUMBER, missing.astype(np.float64)))
    names = (*filled.columns.names, *marks) if filled.columns.named else None
    return table_of_columns([*columns, *added], names, None)


def _damaged() -> BadFile:
    return BadFile(
        "the model file does not record how its table is read", hint="it is damaged: fit again"
    )


HINT = "pass the column with the same type as in training"
"""For cells whose kind is not the one that was learned."""


def check_kinds(learned: Learned, table: Table) -> None:
    """Refuse columns of categories whose cells have become numbers, or stopped being some.

    Other families refuse text by themselves. A column that was all blank had no kind.
    """
    if isinstance(table, SparseRows):
        return
    product = learned.learner.chosen.product
    for place, (family, group) in enumerate(zip(product.families, product.columns, strict=True)):
        if not family.name.endswith("categorical"):
            continue
        for column, j in enumerate(group):
            known, kind = learned.columns.columns[j].kind, table.kinds[j]
            if known == kind or (CATEGORY not in (known, kind)):
                continue
            levels = _levels(learned.statistics, place, column)
            name = learned.columns.names[j]
            if levels and kind == CATEGORY:
                _refuse_text(table.column(j), levels, name)
            elif levels and not any(isinstance(level, Real) for level in levels):
                _refuse_numbers(table.column(j), kind, name)


def _levels(statistics: Any, place: int, column: int) -> set[Any]:
    """Return the levels that any class has shown of one column."""
    held = getattr(statistics, "held", statistics)
    found: set[object] = set()
    for part in getattr(held, "parts", (held,)):
        for group in part.groups.values():
            assert isinstance(group, ByColumn)
            tallies = group.parts[place]
            assert isinstance(tallies, Tallies)
            found.update(tallies.levels[column])
    return found


def _refuse_text(cells: NDArray[np.generic], levels: set[object], name: str) -> None:
    if any(isinstance(level, str) for level in levels):
        return
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            what = f"{cell!r} is text: {name} held numbers"
            raise NotANumber.of_cell(row, name, what, value=cell, hint=HINT)


def _refuse_numbers(cells: NDArray[np.generic], kind: str, name: str) -> None:
    there = ~np.isnan(cells) if kind == NUMBER else np.array([c is not None for c in cells])
    if there.any():
        row = int(there.argmax())
        what = f"{cells[row]} is a {kind}: {name} holds other categories"
        raise NotANumber.of_cell(row, name, what, value=cells[row], hint=HINT)
