"""Tables of text: rows in chunks, cut into columns, and the tables they stand for."""

from __future__ import annotations

import codecs
import io
import time
from abc import ABC, abstractmethod
from array import array
from dataclasses import dataclass
from sys import getsizeof
from typing import IO, TYPE_CHECKING

from suffice.errors import BadRows, SufficeError
from suffice.rows.tables import Table, table_of_columns
from suffice.tables.byte_streams import PATIENCE
from suffice.tables.csv.cells import ColumnEvidence
from suffice.tables.csv.typed_cells import typed_cells
from suffice.tables.encodings import OTHERWISE
from suffice.tables.table_reading import TableGuess

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from suffice.tables.table_bytes import TableBytes

    Record = tuple[int, list[str]]


CHARACTERS = 1 << 25
"""Bytes of memory that text takes at a time, one for each character of ASCII and up to four for
others: fewer rows, where these are long."""


class _Line:
    """Says on which line of a file a row is, and remembers the row that was asked for."""

    def __init__(self, file: str, lines: Sequence[int], unit: str) -> None:
        self._file = file
        self._lines = lines
        self._unit = unit
        self.row = 0

    def __call__(self, row: int) -> str:
        self.row = row
        return f"{self._file}, {self._unit} {self._lines[row]}"


@dataclass(frozen=True, slots=True, eq=False)
class TextChunk:
    """Columns of text, and on which line of the file each row ends; `unit` is what it counts."""

    columns: list[list[str]]
    lines: Sequence[int]
    unit: str = "line"

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.lines)

    def table(
        self, places: Sequence[int], names: Sequence[str], kinds: Sequence[str], file: str
    ) -> Table:
        """Return some columns as a table; a cell of another kind is refused by its line.

        Of several such cells the first one of the file, whatever came in one chunk.
        """
        columns, size, refusal = [], self.size, None
        for place, name, kind in zip(places, names, kinds, strict=True):
            line = _Line(file, self.lines, self.unit)
            cells = self.columns[place]
            try:
                # Rows from a refused one on cannot hold an earlier cell.
                some = cells if refusal is None else cells[:size]
                columns.append((str(kind), typed_cells(some, kind, name, line)))
            except SufficeError as error:
                size, refusal = line.row, error
        if refusal is not None:
            raise refusal
        return table_of_columns(columns, tuple(names), None)

    def after(self, rows: int) -> TextChunk:
        """Return the chunk without its first rows."""
        if not rows:
            return self
        return TextChunk([column[rows:] for column in self.columns], self.lines[rows:], self.unit)


class TextRows(ABC):
    """A table whose cells are text until all of them have been seen."""

    names: tuple[str, ...]
    unit = "line"
    _encoding = "utf-8-sig"

    def __init__(self, source: TableBytes) -> None:
        self._source = source
        self.name = source.name

    @abstractmethod
    def records(self, lines: TextLines) -> Iterator[Record | None]:
        """Yield each row and the line it ends on; None where the next may have to be waited for."""

    def lines(self, file: IO[bytes]) -> TextLines:
        """Return the lines of a file."""
        return TextLines(file, self._encoding, self.name)

    def columns(self, rows: list[list[str]]) -> list[list[str]]:
        """Return rows as columns."""
        return list(map(list, zip(*rows, strict=True)))

    def text_chunks(self, size: int) -> Iterator[TextChunk]:
        """Yield the rows, `size` at a time, cut into columns of text.

        Fewer come where they are long, and where whoever writes them pauses: nobody is kept
        waiting.
        """
        with self._source.open() as file:
            lines = self.lines(file)
            rows: list[list[str]] = []
            ends = array("q")
            since, before = 0.0, 0
            for record in self.records(lines):
                if record is None:
                    since = since or time.monotonic()
                    many = lines.given - before > CHARACTERS
                    if not rows or not (many or lines.pause(since)):
                        continue
                else:
                    ends.append(record[0])
                    rows.append(record[1])
                    if len(rows) < size:
                        continue
                yield TextChunk(self.columns(rows), ends, self.unit)
                rows, ends, since, before = [], array("q"), 0.0, lines.given
            if rows:
                yield TextChunk(self.columns(rows), ends, self.unit)

    @property
    def is_lasting(self) -> bool:
        """Whether it is a file."""
        return self._source.is_lasting

    @property
    def stored(self) -> int:
        """How many bytes there are, packed as they are; 0 where that is not known."""
        return self._source.size

    def share(self) -> float | None:
        """Return which part of the file has been read; None where that is not known."""
        return self._source.share

    def evidence(self, size: int, told: Callable[[int], None]) -> list[ColumnEvidence]:
        """Return what the cells of each column are, all rows; `told` hears how many were read."""
        evidence = [ColumnEvidence() for _ in self.names]
        for chunk in self.text_chunks(size):
            place = _Line(self.name, chunk.lines, self.unit)
            for column, seen in zip(chunk.columns, evidence, strict=True):
                seen.see(column, place)
            told(chunk.size)
        return evidence

    def lines_of(self, rows: Collection[int], size: int) -> dict[int, str]:
        """Return where some rows stand, by their numbers from 1 on, as refusals say it."""
        found, done, last = {}, 0, max(rows, default=0)
        for chunk in self.text_chunks(size):
            found.update(
                {r: _Line(self.name, chunk.lines, self.unit)(r - done - 1)
                 for r in rows if done < r <= done + chunk.size}
            )  # fmt: skip
            done += chunk.size
            if done >= last:
                break
        return found

    def tables(
        self, names: Sequence[str], kinds: Sequence[str], size: int, start: int = 0
    ) -> Iterator[Table]:
        """Yield the rows of some columns, `size` at a time, as these kinds, after `start` rows."""
        place = {name: j for j, name in enumerate(self.names)}
        places = [place[name] for name in names]
        for chunk in self.text_chunks(size):
            if start >= chunk.size:
                start -= chunk.size
                continue
            yield chunk.after(start).table(places, names, kinds, self.name)
            start = 0


BLOCK = 1 << 18
"""Bytes that are read at a time."""
LONGEST_RECORD = 1 << 23
"""Characters of one row, its line or its lines together.

The longest novels have six million. A row has to be in memory at once, in several copies: a small
packed file could otherwise take all there is."""


class TextLines:
    r"""Whole lines, as many at a time as there are; ends of lines stay as they are.

    >>> list(TextLines(io.BytesIO(b"a,b\r\n1,2"), "utf-8-sig", "a.csv"))
    [['a,b\r\n'], ['1,2']]
    """

    def __init__(self, file: IO[bytes], encoding: str, name: str) -> None:
        self._file = file
        self._encoding = encoding
        self._name = name
        self.given = 0
        """How many bytes of memory the characters take that have come."""

    def __iter__(self) -> Iterator[list[str]]:
        decoder = codecs.getincrementaldecoder(self._encoding)(errors="strict")
        begun: list[str] = []  # of a line that has not ended yet
        held = 0  # its characters
        done = 0
        block = b" "
        while block:
            block = self._file.read1(BLOCK)  # type: ignore[attr-defined]
            wrong = ""
            try:
                text = decoder.decode(block, not block)
            except UnicodeDecodeError as error:
                wrong = (
                    f"the byte 0x{error.object[error.start]:02x} is not "
                    f"{self._encoding.removesuffix('-sig')}"
                )
                sound = len(block) - (len(error.object) - error.start)
                text = decoder.decode(block[: max(0, sound)])
            if "\0" in text:
                wrong = "the character NUL is not text"
                text = text[: text.index("\0")]
            self.given += len(text) if text.isascii() else getsizeof(text)
            end = end_of_lines(text)
            if end:
                lines = split_lines("".join((*begun, text[:end])))
                if held + end > LONGEST_RECORD:  # else none of them can be as long
                    self._refuse_long(lines, done)
                begun, held = [], 0
                done += len(lines)
                yield lines
            begun.append(text[end:])
            held += len(text) - end
            if held > LONGEST_RECORD:
                raise too_long(f"{self._name}, line {done + 1}")
            if wrong:
                raise BadRows(
                    f"{self._name}, line {done + 1}: {wrong}",
                    hint=OTHERWISE,
                )
        rest = split_lines("".join(begun))
        if rest:
            yield rest

    def _refuse_long(self, lines: list[str], done: int) -> None:
        for number, line in enumerate(lines, start=done + 1):
            if len(line) > LONGEST_RECORD:
                raise too_long(f"{self._name}, line {number}")

    def pause(self, since: float) -> bool:
        """Whether nothing more has come for a while, now or some time after `since`."""
        waits = getattr(self._file, "waits", None)
        return waits is not None and bool(waits(since + PATIENCE - time.monotonic()))


MOST_BETWEEN = 6
"""Rows of fewer cells that may stand between the last row of a page and the header of the next:
page numbers, titles, dates."""


class RepeatedHeader:
    """Passes over rows that are the header once more, and narrower rows right above these.

    header   its cells, as they stand in the file; none where there is no header
    name     of the file; `note` hears once where the header stands again
    """

    def __init__(
        self, header: list[str], name: str, note: Callable[[TableGuess], object] | None
    ) -> None:
        self._header, self._name, self._note = header, name, note
        self.found = False

    def rows_only(self, records: Iterator[Record | None]) -> Iterator[Record | None]:
        """Yield the header and the rows; what is narrower and stands elsewhere is a row."""
        width, begun = len(self._header), False
        if width < 2:  # a cell that is the name of its column is a cell
            yield from records
            return
        held: list[Record] = []
        try:
            for record in records:
                if record is None:
                    if not held:
                        yield None
                elif not begun:
                    begun = True
                    yield record
                elif len(record[1]) < width and len(held) < MOST_BETWEEN:
                    held.append(record)
                elif record[1] == self._header:
                    self._say(record[0], len(held))
                    held = []
                else:
                    yield from held
                    held = []
                    yield record
        except BadRows:
            yield from held  # what is wrong with them stands further up
            raise
        yield from held

    def _say(self, line: int, narrower: int) -> None:
        if not self.found and self._note is not None:
            beside = " and what stands above it are" if narrower else " is"
            said = f"{self._name}: line {line:,} is the header again; it{beside} left out"
            self._note(TableGuess(said, ""))
        self.found = True


def too_long(place: str) -> BadRows:
    """Return the refusal of a row that is longer than any row should be."""
    return BadRows(
        f"{place}: a row has more than {LONGEST_RECORD:,} characters",
        hint="is a line break or a quotation mark missing? Longer texts can be read from Parquet",
    )


def end_of_lines(text: str) -> int:
    r"""Return where the last whole line ends; after a `\r` that is last, a `\n` may come.

    >>> end_of_lines("a\nb"), end_of_lines("a\r\nb\r"), end_of_lines("a")
    (2, 3, 0)
    """
    return max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1


def split_lines(text: str) -> list[str]:
    r"""Return the lines of a text, parted by `\n`, `\r\n` or `\r` and nothing else.

    >>> split_lines("a\r\nb\x0bc\rd")
    ['a\r\n', 'b\x0bc\r', 'd']
    """
    return list(io.StringIO(text, newline=""))
