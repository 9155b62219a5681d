"""How a text is cut into cells: which delimiter, and whether the first row names the columns."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suffice.tables.allowances import MOST_COLUMNS
from suffice.tables.csv.cells import number_of
from suffice.tables.csv.inert_cells import plain_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

DELIMITERS = ",\t;|"
"""What cells may be parted by; the first, where nothing speaks for another."""
BLANK = " "
"""The delimiter of some programs; so it is where it sets free a name that somebody asks for."""
SEEN_ROWS = 200
"""Rows that are looked at."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How rows are written.

    delimiter   what parts cells
    spaced      whether a space follows each delimiter, which belongs to no cell
    header      whether the first row names the columns
    """

    delimiter: str = ","
    spaced: bool = False
    header: bool = True

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Return the rows of some lines: a reader that counts lines, and refuses stray quotes."""
        return csv.reader(
            lines, delimiter=self.delimiter, skipinitialspace=self.spaced, strict=True
        )


def sniffed(
    sample: Sequence[str],
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    expected: Collection[str] = (),
) -> Dialect:
    r"""Return how the first lines of a table are written.

    `delimiter` and `header` are what is known already; `expected` are names of columns that
    should be there: the delimiter that sets most of them free in the first row is the right one,
    and that row is a header.

    >>> sniffed(["a;b\n", "1;2\n"])
    Dialect(delimiter=';', spaced=False, header=True)
    >>> sniffed(["5.1, 3.5\n", "4.9, 3.0\n"])
    Dialect(delimiter=',', spaced=True, header=False)
    >>> sniffed(["a,b;c\n", "1,5;2\n"], expected=["c"]).delimiter
    ';'
    >>> sniffed(["a y\n", "1 x\n"], expected=["y"]).delimiter
    ' '
    """
    found = _delimiter(sample, expected) if delimiter is None else delimiter
    spaced = found != " " and _spaced(sample, found)
    rows = _rows(sample, found, spaced)
    named = _has_header(rows, expected) if header is None else header
    return Dialect(found, spaced, named)


def _rows(sample: Sequence[str], delimiter: str, spaced: bool) -> list[list[str]]:
    try:
        cut = csv.reader(sample, delimiter=delimiter, skipinitialspace=spaced)
        return [row[: MOST_COLUMNS + 1] for row in cut if row]  # more are refused anyway
    except csv.Error:  # the reader proper says which line it is
        return []


def _delimiter(sample: Sequence[str], expected: Collection[str]) -> str:
    """Return what names expected columns, or else cuts most rows into as many cells as the first.

    Two cells at least, where nothing is expected.
    """
    best, most = DELIMITERS[0], (0, 0.0, 0)
    for candidate in DELIMITERS + BLANK * bool(expected):
        rows = _rows(sample, candidate, False)
        if not rows or len(rows[0]) < 2:
            continue
        width = len(rows[0])
        named = {plain_text(cell.strip()) for cell in rows[0]}
        even = sum(len(row) == width for row in rows) / len(rows)
        found = (len(named.intersection(expected)), round(even, 2), width)
        if candidate == BLANK and found[0] <= most[0]:
            continue
        if found > most:
            best, most = candidate, found
    return best


def _spaced(sample: Sequence[str], delimiter: str) -> bool:
    """Whether every cell but the first of each row begins with a space."""
    cells = [cell for row in _rows(sample, delimiter, False) for cell in row[1:]]
    return bool(cells) and all(cell.startswith(" ") for cell in cells)


def _has_header(rows: Sequence[Sequence[str]], expected: Collection[str]) -> bool:
    """Whether the first row names columns.

    It does if a name that is expected is among them, or if it could: no cell of it is a number,
    and each is different. Numbers name columns only when they count them: 0, 1, 2 …
    """
    if not rows:
        return True
    first = [plain_text(cell).strip() for cell in rows[0]]
    if not set(first).isdisjoint(expected):
        return True
    if any(number_of(cell) is not None for cell in first):
        counted = [str(j) for j in range(len(first))]
        more = len(first) > 1 and list(rows[1][: len(first)]) != counted if len(rows) > 1 else False
        return more and first == counted
    named = [cell for cell in first if cell]
    if len(set(named)) == len(named):
        return bool(named)
    # The same word twice: still a header, if what is below one of them is a number.
    below = rows[1:]
    return any(
        all(j < len(row) and number_of(row[j]) is not None for row in below)
        for j in range(len(first))
    ) and bool(below)
