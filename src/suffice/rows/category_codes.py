"""Columns of categories as codes: a small table of levels, and one number for every cell."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from itertools import islice
from sys import getsizeof
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from suffice.errors import BadRows, NotFinite
from suffice.rows.cells import NUMBER, place_of
from suffice.rows.labels import sorted_levels

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from suffice.rows.cells import IntArray, Label
    from suffice.rows.tables import Table

MOST_LEVELS = 1_000_000
"""Levels of one column that are kept: a column with more is no category."""
LEVEL_MEMORY = 1 << 27
"""Bytes of memory that the texts of a column's levels may take: those of a million short names.

A small packed file can hold any number of long texts, all different; as levels they would all be
kept."""
NEAR = 1_024
"""Whole numbers so close to each other are counted, not sorted, however few there are."""
AT_ONCE = 24_000
"""Cells, and levels, up to which columns of whole numbers are coded together: half the time where
each call of NumPy takes longer than its column; from 32,000 on, new memory for them takes more."""
EXACT = 2**53
"""Whole numbers up to here have doubles of their own."""
STRIDE = 65_536
"""Cells that are coded before levels are counted again. A choice: half a megabyte of pointers."""
WHOLE = "categories are whole numbers, text or true/false; leave unknown cells empty"
"""The hint for categories that are fractions or infinite."""
BLANK = -1
"""The code of a cell that is missing."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumns:
    """Cells of some columns as places in their levels; BLANK where a cell is missing.

    `codes` is (n, columns), laid out by column; `levels` are sorted, one tuple a column.
    """

    codes: NDArray[np.int32]
    levels: tuple[tuple[Label, ...], ...]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    def __getitem__(self, rows: slice | IntArray) -> CodedColumns:
        """Return some of the rows."""
        return CodedColumns(self.codes[rows], self.levels)

    def in_levels(self, known: Sequence[Sequence[Label]]) -> NDArray[np.int32]:
        """Return the codes of other levels: len(known[j]) for a level that is not among them."""
        out = np.empty_like(self.codes)
        for j, (ours, theirs) in enumerate(zip(self.levels, known, strict=True)):
            if ours is theirs or ours == tuple(theirs):
                out[:, j] = self.codes[:, j]
                continue
            at = {level: place for place, level in enumerate(theirs)}
            places = [at.get(level, len(theirs)) for level in ours]
            # BLANK is -1, the last place: it stays what it is.
            out[:, j] = np.array([*places, BLANK], dtype=np.int32)[self.codes[:, j]]
        return out


def coded_columns(table: Table, columns: Sequence[int]) -> CodedColumns:
    """Return some columns of a table as codes; numbers among them have to be whole.

    >>> from suffice.rows import read_table
    >>> coded = coded_columns(read_table([["b", 1.0], ["a", None], ["b", 7.0]]), [0, 1])
    >>> coded.levels, coded.codes.tolist()
    ((('a', 'b'), (1, 7)), [[1, 0], [0, -1], [1, 1]])
    """
    codes = np.empty((table.size, len(columns)), dtype=np.int32, order="F")
    levels = []
    every = [table.exact(j) for j in columns]
    together = _all_near(every) if all(table.kinds[j] == NUMBER for j in columns) else None
    if together is not None:
        codes[:] = together[0].T
        return CodedColumns(codes, together[1])
    for place, (j, cells) in enumerate(zip(columns, every, strict=True)):
        name = place_of(j, table.names)
        declared = table.levels is not None and table.levels[j] is not None
        if table.kinds[j] == NUMBER and cells.dtype != object:
            found = _numbers(cells, name)
        else:
            found = _objects(cells, name, declared=declared)
        codes[:, place] = found[0]
        levels.append(found[1])
    return CodedColumns(codes, tuple(levels))


def _numbers(
    cells: NDArray[np.generic], name: str
) -> tuple[NDArray[np.generic], tuple[Label, ...]]:
    cells = np.ascontiguousarray(cells)  # gone through several times
    found = _near_together(cells)
    if found is not None:
        return found[1], tuple(found[0].tolist())
    seen = ~np.isnan(cells) if cells.dtype.kind == "f" else np.ones(len(cells), dtype=bool)
    held = cells if seen.all() else cells[seen]
    if cells.dtype.kind == "f":
        refuse_fractions(cells, name, WHOLE)
    values, inverse = _near_together(held) or np.unique(held, return_inverse=True)
    if len(values) > MOST_LEVELS:
        _refuse_many(name)
    codes = np.full(len(cells), BLANK, dtype=np.int32)
    codes[seen] = inverse
    return codes, tuple(int(value) for value in values)


def _near_together(
    cells: NDArray[np.generic],
) -> tuple[NDArray[np.generic], NDArray[np.generic]] | None:
    """Return distinct values and places among them, counted; None where a sort has to do it.

    That is where some are blank or no whole numbers, or further apart than they are many.
    """
    if not len(cells) or cells.dtype.kind == "b":
        return None
    low, high = cells.min().item(), cells.max().item()
    if not (
        low >= -EXACT and high <= EXACT and high - low < min(max(NEAR, len(cells)), MOST_LEVELS)
    ):
        return None
    least = int(low)
    places = cells.astype(np.int64)
    if cells.dtype.kind == "f" and not (places == cells).all():
        return None
    places -= least
    present = np.bincount(places) > 0
    rank = np.cumsum(present, dtype=np.int32) - 1
    return np.flatnonzero(present) + least, rank[places]


def _all_near(
    columns: Sequence[NDArray[np.generic]],
) -> tuple[NDArray[np.int32], tuple[tuple[Label, ...], ...]] | None:
    """Return codes (columns, n) and levels as `_near_together` finds them, of all columns at once.

    None where it would not find them for some column, or where that would take no less time.
    """
    kinds = {cells.dtype for cells in columns}
    if len(columns) < 2 or len(kinds) > 1 or not kinds <= {np.dtype("f8"), np.dtype("i8")}:
        return None
    if not 0 < len(columns) * len(columns[0]) <= AT_ONCE:
        return None
    cells = np.array(columns)
    lows, highs = cells.min(axis=1), cells.max(axis=1)
    if not (lows.min() >= -EXACT and highs.max() <= EXACT and (highs - lows).max() < NEAR):
        return None
    least = lows.astype(np.int64)
    places = cells.astype(np.int64)
    if cells.dtype.kind == "f" and not (places == cells).all():
        return None
    spans = highs.astype(np.int64) - least + 1
    if spans.sum() > AT_ONCE:
        return None
    starts = np.cumsum(spans) - spans
    places += (starts - least)[:, np.newaxis]
    present = np.bincount(places.ravel()) > 0
    rank = np.cumsum(present, dtype=np.int32)
    levels = tuple(
        tuple((np.flatnonzero(present[start : start + span]) + low).tolist())
        for start, span, low in zip(starts.tolist(), spans.tolist(), least.tolist(), strict=True)
    )
    codes: NDArray[np.int32] = rank[places] - rank[starts][:, np.newaxis]
    return codes, levels


def refuse_fractions(cells: NDArray[np.generic], name: str, hint: str) -> None:
    """Refuse the first cell that is not a whole number; blanks are no cells."""
    with np.errstate(invalid="ignore"):
        bad = (cells != np.floor(cells)) & ~np.isnan(cells) | np.isinf(cells)
    if not bad.any():
        return
    row = int(bad.argmax())
    _refuse_fraction(row, name, float(cells[row]), hint)


def _refuse_fraction(row: int, name: str, value: float, hint: str) -> NoReturn:
    if np.isinf(value):
        raise NotFinite.of(row, name, value)
    raise BadRows.of_cell(row, name, f"{value:g} is not a whole number", value=value, hint=hint)


def _objects(
    cells: NDArray[np.generic], name: str, *, declared: bool
) -> tuple[NDArray[np.generic], tuple[Label, ...]]:
    """Code cells one by one, in strides, so that endless levels are refused before memory ends.

    Levels that a frame has declared may be anything, fractions too.
    """
    places: dict[object, int] = {None: BLANK}
    codes = np.empty(len(cells), dtype=np.int32)
    waiting = iter(cells.tolist())
    for start in range(0, len(cells), STRIDE):
        part = list(islice(waiting, STRIDE))
        for value in dict.fromkeys(part):
            if value not in places:
                places[value] = len(places) - 1
        if len(places) > MOST_LEVELS + 1:
            _refuse_many(name)
        refuse_long_levels(places, name)
        codes[start : start + len(part)] = [places[value] for value in part]
    del places[None]
    levels = [plain_level(level) for level in places]
    for level in () if declared else levels:
        if isinstance(level, float):
            row = next(i for i, cell in enumerate(cells) if cell == level)
            _refuse_fraction(row, name, level, WHOLE)
    order = sorted_levels(levels)
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    rank[BLANK] = BLANK
    return rank[codes], tuple(levels[place] for place in order)


def plain_level(level: Label) -> Label:
    """Return a level in its plainest form: 1, 1.0 and True are one level, written 1."""
    if isinstance(level, numbers.Integral):
        return int(level)
    if isinstance(level, numbers.Real):
        number = float(level)
        return int(number) if number.is_integer() else number
    return level


def refuse_long_levels(levels: Collection[object], name: str) -> None:
    """Refuse levels whose texts take more memory than names can."""
    held = sum(getsizeof(level) for level in levels if isinstance(level, str))
    if held > LEVEL_MEMORY:
        raise BadRows(
            f"{name}: {len(levels):,} different levels are texts of {held:,} bytes in all, and at "
            f"most {LEVEL_MEMORY:,} are kept",
            hint="categories have short names: shorten them, or leave the column out; long texts "
            "are for TextClassifier",
        )


def _refuse_many(name: str) -> None:
    raise BadRows(
        f"{name} has more than {MOST_LEVELS:,} different levels",
        hint="a column with a different value in almost every row is not useful: drop it, or "
        "group its levels",
    )
