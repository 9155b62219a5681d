"""Where something is, as fields: rows, columns, cells, parts of a source.

A refusal is raised by whoever sees a bad cell, and often somebody else knows the name of its
column, or how the caller counts rows. So a sentence is a `Phrase`, a template and its fields, and
places in it are filled in by those who know more. Nobody reads a sentence again.

>>> said = Phrase("{cell}: {value:g} is negative", cell=CellAt(1, ColumnAt(0)), value=-3.0)
>>> str(said), str(said.filled(names=["income"], rows=[4, 7]))
('row 1, column 0: -3 is negative', 'row 7, income: -3 is negative')
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, SupportsInt, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

SHOWN = 8
"""How many names a message lists before it says how many more there are."""
LONGEST = 200
"""Characters of one name in a message."""


def listed(names: Iterable[object]) -> str:
    """Return names as one readable phrase, cut short when there are many.

    >>> listed(["a", "b"])
    'a, b'
    """
    words = [
        text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" for text in map(str, names)
    ]
    if len(words) <= SHOWN:
        return ", ".join(words)
    return ", ".join(words[:SHOWN]) + f" and {len(words) - SHOWN} more"


def counted(size: int, one: str, many: str) -> str:
    """Return how many there are, with the word for one or for several.

    >>> counted(1, "row", "rows"), counted(1200, "row", "rows")
    ('1 row', '1,200 rows')
    """
    return f"{size:,} {one if size == 1 else many}"


@dataclass(frozen=True, slots=True)
class ColumnAt:
    """A column: by its position, and by its name once that is known."""

    position: int
    name: str | None = None
    kind: str = ""

    def __str__(self) -> str:
        """Return its name, or its position in words."""
        if self.name is not None:
            return self.name
        return f"{self.kind} column {self.position}" if self.kind else f"column {self.position}"


@dataclass(frozen=True, slots=True)
class RowAt:
    """A row, by its number among those that somebody looked at."""

    number: int

    def __str__(self) -> str:
        """Return its number in words."""
        return f"row {self.number}"


@dataclass(frozen=True, slots=True)
class CellAt:
    """A cell: the number of its row, None where that means nothing to the caller; its column."""

    row: int | None
    column: ColumnAt | str

    def __str__(self) -> str:
        """Return row and column."""
        return str(self.column) if self.row is None else f"row {self.row}, {self.column}"


@dataclass(frozen=True, slots=True)
class CellsAt:
    """Some cells of one column, by the numbers of their rows."""

    rows: tuple[int, ...]
    column: str

    def __str__(self) -> str:
        """Return the column, and the first few rows."""
        return f"{self.column} (row {listed(self.rows)})"


@dataclass(frozen=True, slots=True)
class PartAt:
    """A group of columns, in which columns are counted until their names are known."""

    number: int

    def __str__(self) -> str:
        """Return its number in words."""
        return f"part {self.number}"


@dataclass(frozen=True, slots=True)
class Place:
    """Some rows of a source: its name, and the numbers of the first and the last, from 1 on.

    >>> place = Place("data.csv", 501, 1000)
    >>> str(place), place.row(3)
    ('data.csv, rows 501 to 1000', 'data.csv, row 504')
    >>> Place("a frame").row(3)
    'a frame, row 4'
    """

    name: str
    first_row: int | None = None
    last_row: int | None = None

    def __str__(self) -> str:
        """Return the name and the rows."""
        if self.first_row is None:
            return self.name
        return f"{self.name}, rows {self.first_row} to {self.last_row}"

    def row(self, place: int) -> str:
        """Return how one of these rows is called."""
        return f"{self.name}, row {(self.first_row or 1) + place}"


class Numbers(Protocol):
    """Whole numbers by their place: a list, or an array."""

    def __getitem__(self, place: int, /) -> SupportsInt:
        """Return one of them."""


Filling: TypeAlias = "Callable[[object], object]"
"""What puts into a place what is known now."""


class Phrase:
    """A sentence, or a part of one: a template of `str.format`, and the fields in it.

    Fields are places, other phrases, or plain values; of those in a tuple the first few are listed.
    """

    __slots__ = ("fields", "template")

    def __init__(self, template: str, /, **fields: object) -> None:
        self.template = template
        self.fields: Mapping[str, object] = fields

    def __str__(self) -> str:
        """Return the words."""
        shown = {k: listed(v) if isinstance(v, tuple) else v for k, v in self.fields.items()}
        return self.template.format_map(shown)

    def __format__(self, how: str) -> str:
        """Return the words, within other words."""
        return format(str(self), how)

    def __repr__(self) -> str:
        """Return how it is made."""
        return "".join(
            [f"Phrase({self.template!r}", *(f", {k}={v!r}" for k, v in self.fields.items()), ")"]
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip between processes."""
        return _phrase, (self.template, {k: portable(v) for k, v in self.fields.items()})

    def each(self, fill: Filling) -> Phrase:
        """Return the phrase with every place in it filled in."""
        return Phrase(self.template, **{k: _each(v, fill) for k, v in self.fields.items()})

    def filled(self, names: Sequence[str] | None = None, rows: Numbers | None = None) -> Phrase:
        """Return the phrase in which columns have their names, and rows the numbers in `rows`."""
        return self.each(lambda place: _filled(place, names, rows))


def _phrase(template: str, fields: Mapping[str, object]) -> Phrase:
    return Phrase(template, **fields)


def portable(value: object) -> object:
    """Return what another process can read: of a cell of any other type, how it is written."""
    if isinstance(value, tuple):
        return tuple(map(portable, value))
    known = (str, int, float, ColumnAt, RowAt, CellAt, CellsAt, PartAt, Place, Phrase, type(None))
    return value if isinstance(value, known) else repr(value)


def _each(value: object, fill: Filling) -> object:
    if isinstance(value, Phrase):
        return value.each(fill)
    if isinstance(value, tuple):
        return tuple(_each(one, fill) for one in value)
    return fill(value)


def _filled(value: object, names: Sequence[str] | None, rows: Numbers | None) -> object:
    if isinstance(value, ColumnAt) and value.name is None and names is not None:
        return replace(value, name=str(names[value.position]))
    if isinstance(value, RowAt) and rows is not None:
        return RowAt(int(rows[value.number]))
    if isinstance(value, CellAt):
        row = value.row if value.row is None or rows is None else int(rows[value.row])
        return CellAt(row, _filled(value.column, names, None))  # type: ignore[arg-type]
    return value


def without_row(value: object) -> object:
    """Return a cell of which only the column means something to the caller.

    >>> str(without_row(CellAt(0, "income")))
    'income'
    """
    return replace(value, row=None) if isinstance(value, CellAt) else value


def among(columns: Sequence[int], value: object) -> object:
    """Return a column that was counted among some others as one of them all.

    >>> str(among([0, 2, 5], ColumnAt(1)))
    'column 2'
    """
    if isinstance(value, ColumnAt):
        return replace(value, position=columns[value.position])
    if isinstance(value, CellAt) and isinstance(value.column, ColumnAt):
        return replace(value, column=replace(value.column, position=columns[value.column.position]))
    return value
