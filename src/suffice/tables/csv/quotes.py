"""Quotation marks in CSV: which cells they hold together, and whether each of them is sound.

The grammar is the strict one of Python's `csv`: a quotation mark opens a quoted cell only where a
cell begins, `""` inside it stands for one, and a single one closes it, where the cell has to end.
Anywhere else it is a character like any other. A quoted cell that never ends, or one that something
follows, is refused: read in any other way, it would take the rows below it for its own.

Two stray marks may still make one sound cell of all rows between them. That is told by the lines in
it: if each of many would be a row of the table, they are its rows, and not a text.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import numpy as np

from suffice.tables.csv.cells import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from numpy.typing import NDArray

    from suffice.tables.csv.dialect import Dialect

QUOTE, NEWLINE, RETURN = b'"\n\r'
"""Bytes as numbers, as arrays of bytes hold them."""
FEWEST_SWALLOWED = 4
"""Lines inside a record from which on they may be rows that a stray quotation mark swallowed."""
DELIMITERS_OF_ROWS = 16
"""Delimiters in them, all where those of rows would be, that are no accident any more.

One line in a few has as many commas as a table of two columns: it takes 16 such lines, one after
the other, to refuse it; of ten columns it takes 4."""
SHORT_CELL = FEWEST_SWALLOWED + DELIMITERS_OF_ROWS
"""Bytes of a quoted cell up to which there cannot be as many lines and delimiters in it."""
CLOSING = re.compile(rb'[^"]*+(?:""[^"]*+)*+"')
"""From behind an opening mark up to the closing one."""


def opening(lines: Sequence[str], dialect: Dialect) -> int:
    r"""Return which line of a record, from 0, opens the last quoted cell in it.

    >>> from suffice.tables.csv.dialect import Dialect
    >>> opening(['1,"a\n', 'b","c\n', 'd\n'], Dialect())
    1
    """
    delimiter = re.escape(dialect.delimiter)
    opens = re.compile(rf'(?:\A|{delimiter}){" *" if dialect.spaced else ""}"')
    closes = re.compile(r'[^"]*+(?:""[^"]*+)*+"')
    found, inside = 0, False
    for number, line in enumerate(lines):
        at = 0
        while True:
            met = (closes.match if inside else opens.search)(line, at)
            if met is None:
                break
            at, inside = met.end(), not inside
            if inside:
                found = number
            elif line[at : at + 1] not in (dialect.delimiter, "\r", "\n", ""):
                return found  # something follows: this is the cell that is not sound
    return found


def is_swallowed(record: Sequence[str], width: int, dialect: Dialect) -> bool:
    r"""Whether the lines inside a record of several lines are rows of a table of that width.

    All of them have to be: as many cells, and numbers where the cells before or behind the quoted
    one have numbers.

    >>> from suffice.tables.csv.dialect import Dialect
    >>> rows = [f"{i},2,x\n" for i in range(20)]
    >>> is_swallowed(['1,2,"\n', *rows, '7,8,"\n'], 3, Dialect())
    True
    >>> is_swallowed(['1,2,"\n', *rows, "yours, sincerely\n", '"\n'], 3, Dialect())
    False
    """
    inner = record[1:-1]
    if len(inner) < FEWEST_SWALLOWED or len(inner) * (width - 1) < DELIMITERS_OF_ROWS:
        return False
    try:
        before = _cells(record[0][: record[0].rfind('"')], dialect)[:-1]
        behind = _cells(record[-1].partition('"')[2], dialect)[1:]
        known = [*before, *[""] * (width - len(before) - len(behind)), *behind]
        return all(
            len(row) == width and all(map(_alike, known, row))
            for row in (_cells(line, dialect) for line in inner)
        )
    except csv.Error:
        return False


def _cells(line: str, dialect: Dialect) -> list[str]:
    """Return the cells of one line; one that is blank, if it is empty."""
    return next(iter(dialect.rows([line])), []) or [""]


def _alike(cell: str, other: str) -> bool:
    """Whether both are numbers, or both are not; a blank one is like any."""
    if not cell.strip() or not other.strip():
        return True
    return (number_of(cell) is None) == (number_of(other) is None)


class UnsoundQuotes(Exception):
    """The quick reader cannot vouch for these quotation marks; the ordinary one judges them."""


class CheckedQuotes:
    r"""Bytes of a CSV file, handed on as they are read, as long as nothing is wrong in them.

    For a reader that takes any quotation mark as it comes: pyarrow's ends a quoted cell at the end
    of the file. What has no quotation mark costs a look for one; NUL is refused too. Bytes that
    somebody has `vouched` for are not checked once more.

    >>> import io
    >>> CheckedQuotes(io.BytesIO(b'a,b\n1,"2\n"\n'), ",", 2).read(100)
    b'a,b\n1,"2\n"\n'
    >>> checked = CheckedQuotes(io.BytesIO(b'a,b\n1,"2\n'), ",", 2)
    >>> checked.read(100)
    b'a,b\n1,"2\n'
    >>> checked.read(100)
    Traceback (most recent call last):
    ...
    suffice.tables.csv.quotes.UnsoundQuotes
    """

    closed = False

    def __init__(
        self,
        held: IO[bytes],
        delimiter: str,
        width: int,
        *,
        longest: int = 1 << 22,
        vouched: bool = False,
    ) -> None:
        self._held = held
        self._vouched = vouched
        self._delimiter = delimiter.encode()
        self._width = width
        self._longest = longest
        self._open = b""  # from the quotation mark on that is not closed yet
        self._before = NEWLINE  # the byte before whatever comes next
        self._is_beginning = True
        self._kept = b""
        self._opens = re.compile(rb"(?:\A|(?<=[\r\n" + re.escape(self._delimiter) + rb']))"')

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return False."""
        return False

    def close(self) -> None:
        """Do nothing: whoever opened the file closes it."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, as many at most, if they are sound."""
        block = self._kept + self._held.read(size - len(self._kept))
        # pyarrow (26 at least) takes `\n` away from the beginning of a block after one that ends
        # with `\r`, also inside of quotation marks: both go into one block.
        self._kept = b"\r" if block.endswith(b"\r") and len(block) > 1 else b""
        block = block[: len(block) - len(self._kept)]
        if self._vouched:
            return block
        if not block:
            if self._open and not self._ends_closed():
                raise UnsoundQuotes
            return block
        if b"\0" in block:
            raise UnsoundQuotes
        if self._open or b'"' in block:
            self._check(block)
        else:
            self._before = block[-1]
        self._is_beginning = False
        return block

    def _check(self, block: bytes) -> None:
        """Judge every quoted cell that is whole; keep the rest."""
        text = self._open + block
        if self._is_beginning:
            text = text.removeprefix(b"\xef\xbb\xbf")
        quotes = np.flatnonzero(np.frombuffer(text, np.uint8) == QUOTE)
        cells = self._cells(text, quotes)
        if cells is None:
            cells = self._cells_in_turn(text)
        starts, stops, rest = cells
        if len(text) - rest > self._longest:
            raise UnsoundQuotes  # too long for blocks
        self._refuse_swallowed(text, starts, stops)
        self._open = text[rest:]
        self._before = text[rest - 1] if rest else self._before

    def _cells(
        self, text: bytes, quotes: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], int] | None:
        """Return where quoted cells begin and end, and where what is not whole begins.

        Where all of them are short, only the latter.

        Where all marks belong to quoted cells, every other one opens, and `""` closes and opens
        again: None, where that is not so.
        """
        seen = np.frombuffer(text, np.uint8)
        opens, closes = quotes[::2], quotes[1::2]
        before = seen[opens - 1]
        if opens[0] == 0:
            before[0] = self._before
        is_whole = len(opens) == len(closes) and closes[-1] < len(text) - 1
        follow = seen[closes[: np.searchsorted(closes, len(text) - 1)] + 1]
        if before[0] == QUOTE or not (self._are_sound(before) and self._are_sound(follow)):
            return None
        lengths = closes - opens[: len(closes)]
        if lengths.max(initial=0) <= SHORT_CELL and not (before == QUOTE).any():
            return quotes[:0], quotes[:0], len(text) if is_whole else int(opens[-1])
        first = np.flatnonzero(before != QUOTE)
        whole, rest = len(closes), len(text)
        if not is_whole:  # the last cell goes on, or it is not known yet what follows it
            whole, rest = int(first[-1]), int(opens[first[-1]])
            first = first[:-1]
        return opens[first], closes[np.append(first[1:], whole)[: len(first)] - 1], rest

    def _are_sound(self, beside: NDArray[np.uint8]) -> bool:
        """Whether these may stand beside a mark that opens or closes."""
        sound = (beside == self._delimiter[0]) | (beside == NEWLINE) | (beside == QUOTE)
        return bool((sound | (beside == RETURN)).all())

    def _cells_in_turn(self, text: bytes) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
        """Return the same where marks stand inside cells that are not quoted: one by one."""
        starts, stops, at, rest = [], [], 0, len(text)
        if self._before not in self._delimiter + b"\r\n":
            at = 1  # what begins the text begins no cell
        while (met := self._opens.search(text, at)) is not None:
            end = CLOSING.match(text, met.end())
            if end is None or end.end() == len(text):
                rest = met.start()
                break
            at = end.end()
            if text[at : at + 1] not in (self._delimiter, b"\r", b"\n"):
                raise UnsoundQuotes
            starts.append(met.start())
            stops.append(at - 1)
        return np.array(starts, np.intp), np.array(stops, np.intp), rest

    def _refuse_swallowed(
        self, text: bytes, starts: NDArray[np.intp], stops: NDArray[np.intp]
    ) -> None:
        """Leave cells to the ordinary reader whose lines have the delimiters of rows."""
        if not (stops - starts > SHORT_CELL).any():
            return
        seen = np.frombuffer(text, np.uint8)
        newlines = np.flatnonzero(seen == (NEWLINE if b"\n" in text else RETURN))
        cell = np.searchsorted(starts, newlines, side="right") - 1
        inside = cell[(cell >= 0) & (newlines < stops[cell])] if len(starts) else cell[:0]
        for number in np.flatnonzero(np.bincount(inside) > FEWEST_SWALLOWED).tolist():
            lines = text[starts[number] : stops[number]].splitlines()[1:-1]
            delimiters = self._width - 1
            if len(lines) * delimiters >= DELIMITERS_OF_ROWS and all(
                b'"' in line or line.count(self._delimiter) == delimiters for line in lines
            ):
                raise UnsoundQuotes

    def _ends_closed(self) -> bool:
        """Whether the last cell is closed by the last byte of the file."""
        end = CLOSING.match(self._open, 1)
        return end is not None and end.end() == len(self._open)
