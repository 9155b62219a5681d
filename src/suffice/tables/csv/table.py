"""Tables of text: CSV and its relatives, read row by row, refused by line."""

from __future__ import annotations

import csv
import sys
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from suffice.errors import BadFile, BadRows
from suffice.places import LONGEST
from suffice.tables.allowances import MOST_COLUMNS, checked_names, too_wide
from suffice.tables.csv.chunks import (
    LONGEST_RECORD,
    RepeatedHeader,
    TextRows,
    end_of_lines,
    split_lines,
    too_long,
)
from suffice.tables.csv.dialect import DELIMITERS, SEEN_ROWS, Dialect, sniffed
from suffice.tables.csv.inert_cells import may_be_inert, plain_text
from suffice.tables.csv.quotes import is_swallowed, opening
from suffice.tables.csv.surroundings import LOOK, named_columns, surroundings_above
from suffice.tables.table_reading import TableGuess

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from suffice.rows.tables import Table
    from suffice.tables.csv.blocks import CsvBlocks
    from suffice.tables.csv.cells import ColumnEvidence
    from suffice.tables.csv.chunks import Record, TextLines
    from suffice.tables.table_bytes import TableBytes

LONG_RECORD = 1000
"""Lines of one row from which on it is not begun again for every few more."""
MOST_LINES = 100_000
"""Lines of one row: no text in a cell has as many, but the rows below a stray quotation mark do."""
SMALL = 1 << 20
"""Bytes of a file that are read to look at its end, however it is written."""
TAIL = 1 << 14
"""Bytes at the end of a larger file that are looked at: some hundred lines."""
LARGE, LARGE_PACKED = 1 << 23, 1 << 20
"""Bytes of a file from which on it pays to import pyarrow."""


class CsvTable(TextRows):
    r"""A table of text, and how it is written; the names of its columns are known at once.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice.tables.table_bytes import TableBytes
    >>> place = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = place.write_text('size,colour\n1,"light\nred"\n2,blue\n')
    >>> table = CsvTable(TableBytes(place))
    >>> table.names
    ('size', 'colour')
    >>> [chunk.columns for chunk in table.text_chunks(100)]
    [[['1', '2'], ['light\nred', 'blue']]]
    """

    def __init__(
        self,
        source: TableBytes,
        *,
        delimiter: str | None = None,
        header: bool | None = None,
        expected: Collection[str] = (),
        note: Callable[[TableGuess], object] | None = None,
    ) -> None:
        super().__init__(source)
        _refuse_nul(source)
        self._sound: object = None  # the version of the file whose quotation marks are
        self._codeless: Collection[str] = ()  # and its columns in which there is no code
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_RECORD))
        # A dialect is judged by two rows at least; where it is known that the first of them holds
        # cells, by that one: whoever writes it may wait for an answer.
        wanted = 1 if header is False else 2
        while True:
            sample = source.peek(wanted).decode(self._encoding, errors="ignore").lstrip("\ufeff")
            lines = _seen_lines(sample, whole=source.is_all_seen)
            if lines and len(lines[0]) > LONGEST_RECORD:
                raise too_long(f"{self.name}, line 1")
            self._around = surroundings_above(
                lines, DELIMITERS if delimiter is None else delimiter, header, expected
            )
            lines = lines[self._around.above :]
            self.dialect: Dialect = sniffed(
                lines[:SEEN_ROWS], delimiter=delimiter or self._around.delimiter, header=header,
                expected=expected,
            )  # fmt: skip
            first = self._first_row(lines, last=source.is_all_seen)
            if first is not None or source.is_all_seen:
                break
            wanted = 2 * max(wanted, len(lines))
        if first is None:
            raise BadFile(f"{self.name} is empty", hint="a table has a header and rows")
        if len(first) > MOST_COLUMNS:
            raise too_wide(self.name, len(first))
        seen = [row for row in self._seen_rows(lines) if row]
        self._again = RepeatedHeader(first if self.dialect.header else [], self.name, note)
        self._is_short = self.dialect.header and _lacks_a_name(first, seen[1:], self.dialect)
        if self._is_short:
            first = ["", *first]
        self._wide = len(first)
        self._kept = slice(0, self._wide)
        if self.dialect.header:
            self._kept = named_columns(first, seen[1:], expected)
            line = f"{self.name}, line {self._around.above + 1}"
            names = _names(first)[self._kept]
            hint = f"rename one of them; if {line.rpartition(', ')[2]} is not a header, say "
            self.names = checked_names(names, line, f"{hint}--no-header")
        else:
            self.names = _numbered(len(first))
        self._around = self._around.with_rows(
            seen[1:] if self.dialect.header else seen, self._wide, self.dialect, self._tail()
        )
        if note is not None:
            if self._is_short:
                said = f"line {self._around.above + 1} has no name for the first column of rows"
                note(TableGuess(f"{self.name}: {said}", ""))
            for said in self._around.said:
                note(TableGuess(f"{self.name}: {said}", ""))

    def _seen_rows(self, lines: list[str]) -> list[list[str]]:
        """Return the rows of some lines that have come whole."""
        found: list[list[str]] = []
        with suppress(_NothingYet, csv.Error):
            found.extend(self.dialect.rows(_not_all(lines[:SEEN_ROWS])))
        return found

    def _tail(self) -> list[str]:
        """Return the last lines of a file; none of what comes only once."""
        source = self._source
        if source.is_live:
            return []
        if source.is_all_seen or (source.size <= SMALL and not source.is_packed):
            text = source.peek(sys.maxsize).decode(self._encoding, errors="ignore")
        else:
            text = source.tail(TAIL).decode("utf-8", errors="ignore")
        lines = split_lines(text)
        return lines[-LOOK:] if source.is_all_seen else lines[1:][-LOOK:]

    def _first_row(self, lines: list[str], *, last: bool) -> list[str] | None:
        """Return the first row, if it has come whole."""
        reader: Any = self.dialect.rows(lines if last else _not_all(lines))
        try:
            return next((row for row in reader if row), None)
        except _NothingYet:
            return None
        except csv.Error as error:
            raise self._unreadable(lines[: reader.line_num], 0, error) from None

    def columns(self, rows: list[list[str]]) -> list[list[str]]:
        """Return rows as columns; apostrophes that made a text inert are taken away."""
        if self._around.boxed or self.dialect.spaced:
            rows = [list(map(str.strip, row)) for row in rows]
        return [
            list(map(plain_text, column)) if may_be_inert(column) else list(column)
            for column in zip(*rows, strict=True)
        ]

    def records(self, lines: TextLines) -> Iterator[Record | None]:
        """Yield each row and the line it ends on; None where the next may have to be waited for."""
        width, around = self._wide, self._around
        kept = None if len(self.names) == width else self._kept
        passed_over = around.under + 1 if self.dialect.header else 0
        blocks = lines if around.is_plain else around.rows_only(iter(lines))
        for record in self._again.rows_only(self._cut(blocks, around.above)):
            if record is not None:
                if passed_over:
                    passed_over -= 1
                    continue
                if len(record[1]) != width or kept is not None:
                    record = record[0], self._fitted(*record)  # noqa: PLW2901
            yield record

    def _fitted(self, line: int, row: list[str]) -> list[str]:
        """Return the cells of a row that are in columns; blank ones beside the table are none."""
        width = self._wide
        if len(row) < width or any(map(str.strip, row[width:])):
            raise self._ragged(line, row)
        outside = [*row[: self._kept.start], *row[self._kept.stop :]]
        if any(map(str.strip, outside)):
            odd = next(cell for cell in outside if cell.strip())
            raise BadRows(
                f"{self.name}, line {line}: {odd[:LONGEST]!r} is in a column without a name",
                hint=f"name the column in line {self._around.above + 1}, or empty the cell",
            )
        return row[self._kept]

    def _cut(self, blocks: Iterable[list[str]], done: int = 0) -> Iterator[Record | None]:
        """Yield rows that are not empty, each with its line, and None after each block of lines.

        `done` lines stand before the first.
        A quoted cell may go on in the next block: then its row is begun again, once there are more
        lines.
        """
        begun: list[str] = []
        due = held = 0
        for block in chain(blocks, [None]):
            if block is not None:
                begun += block
                if due:
                    held += _length(block)
                    if len(begun) < due and held <= LONGEST_RECORD:
                        continue
            reader: Any = self.dialect.rows(begun if block is None else _not_all(begun))
            start = end = 0
            try:
                for row in reader:
                    start, end = end, reader.line_num
                    if end - start > 1:
                        self._check_long(begun[start:end], done + start)
                    if row:
                        yield done + end, row
            except _NothingYet:
                pass
            except csv.Error as error:
                raise self._unreadable(begun[end : reader.line_num], done + end, error) from None
            begun = begun[end:]
            done += end
            # A row that has not ended is not begun again for every line: only once it is twice as
            # long. What would never end is not waited for.
            due = held = 0
            if begun:
                due, held = (2 * len(begun) if len(begun) > LONG_RECORD else 0), _length(begun)
                self._check_size(held, begun, done)
            yield None

    def _check_long(self, record: list[str], before: int) -> None:
        """Refuse a row of several lines that is not a row: too long, or made of others."""
        self._check_size(_length(record), record, before)
        if is_swallowed(record, len(self.names), self.dialect):
            line = before + 1 + opening(record[:1], self.dialect)
            raise BadRows(
                f"{self.name}, line {line}: a quotation mark opens here, and all lines up to line "
                f"{before + len(record)}, where the next one is, look like rows of the table",
                hint="is the quotation mark a mistake? Remove it, or double it inside quotation "
                "marks; cells that contain tables can be read from Parquet or JSON lines",
            )

    def _check_size(self, size: int, record: list[str], before: int) -> None:
        """Refuse a row of more lines or characters than any row should have."""
        if len(record) > MOST_LINES or size > LONGEST_RECORD:
            line = before + 1 + opening(record, self.dialect)
            is_long = size > LONGEST_RECORD
            most = f"{LONGEST_RECORD:,} characters" if is_long else f"{MOST_LINES:,} lines"
            raise BadRows(
                f"{self.name}, line {line}: a quotation mark opens here, and its row goes on for "
                f"more than {most}",
                hint="is it a mistake? A quotation mark inside a quoted cell is written twice",
            )

    def _unreadable(self, record: list[str], before: int, error: csv.Error) -> BadRows:
        """Return the refusal of a row, of which these lines have been read, after `before` others.

        It names the line in which the quoted cell opens that cannot be read.
        """
        line = before + 1 + opening(record, self.dialect)
        hint = "is it a mistake? A quotation mark inside a quoted cell is written twice"
        if "unexpected end" in str(error):
            return BadRows(
                f"{self.name}, line {line}: a quotation mark opens here and is never closed",
                hint=hint,
            )
        if "expected after" in str(error):
            last = before + max(1, len(record))
            where = "" if last == line else f" in line {last}"
            return BadRows(
                f"{self.name}, line {line}: a quotation mark opens here, and what closes it{where} "
                "is not the end of the cell",
                hint=hint,
            )
        return BadRows(f"{self.name}, line {line}: {error}", hint="is it a CSV at all?")

    # Large files

    def _blocks(self) -> CsvBlocks | None:
        """Return the quicker reader, where the file is large enough to pay for it."""
        source, dialect = self._source, self.dialect
        packed = source.is_packed
        if source.size < (LARGE_PACKED if packed else LARGE):
            return None
        plain = not source.beginning.startswith((b"\n", b"\r"))
        marked = source.beginning.startswith(b"\xef\xbb\xbf") and not dialect.header
        if dialect.spaced or marked or not plain or not dialect.delimiter.isascii():
            return None
        if (
            self._again.found
            or not self._around.is_plain
            or len(self.names) < self._wide
            or self._is_short
        ):
            return None
        from suffice.tables.csv.blocks import CsvBlocks

        if self._sound != source.version:
            return CsvBlocks(source, dialect, self.names)
        return CsvBlocks(source, dialect, self.names, vouched=True, codeless=self._codeless)

    def evidence(self, size: int, told: Callable[[int], None]) -> list[ColumnEvidence]:
        """Return what the cells of each column are, all rows; `told` hears how many were read."""
        blocks = self._blocks()
        version = self._source.version
        found = None if blocks is None else blocks.evidence(told)
        if found is None or blocks is None:
            return super().evidence(size, told)
        self._sound, self._codeless = version, blocks.codeless
        return found

    def tables(
        self, names: Sequence[str], kinds: Sequence[str], size: int, start: int = 0
    ) -> Iterator[Table]:
        """Yield the rows of some columns, about `size` at a time, as these kinds."""
        blocks = self._blocks()
        if blocks is not None and not start:
            for done, table in blocks.tables(names, kinds):
                start = done
                if table is not None:
                    yield table
                    continue
                break
            else:
                return
        yield from super().tables(names, kinds, size, start)

    def _ragged(self, line: int, row: list[str]) -> BadRows:
        width = self._wide
        what = "the header names" if self.dialect.header else "the first row has"
        return BadRows(
            f"{self.name}, line {line}: {len(row)} cell(s) where {what} {width}",
            hint="every row needs the same number of cells; quote cells that contain "
            f"{'a comma' if self.dialect.delimiter == ',' else 'the delimiter'}"
            ", and leave blank ones empty",
        )


def _length(lines: Iterable[str]) -> int:
    """Return how many characters lines have."""
    return sum(map(len, lines))


class _NothingYet(Exception):
    """The lines that are there end, but not the table."""


def _not_all(lines: list[str]) -> Iterator[str]:
    """Yield lines that are not the last of their table."""
    yield from lines
    raise _NothingYet


def _seen_lines(sample: str, *, whole: bool) -> list[str]:
    """Return the lines of the beginning of a table, without one that is cut short."""
    end = len(sample) if whole else end_of_lines(sample)
    return split_lines(sample[:end])


def _numbered(width: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(width))


def _names(first: list[str]) -> list[str]:
    """Return the names of columns; one without a name is called after its place."""
    given = [plain_text(cell).strip() for cell in first]
    return [name or f"column {j + 1}" for j, name in enumerate(given)]


def _lacks_a_name(first: Sequence[str], rows: Sequence[Sequence[str]], dialect: Dialect) -> bool:
    """Whether a header has no name for the names of rows, as R's `write.table` writes it.

    Blanks or tabs part cells, every row has one more than the header, and the first of each is
    another one. With commas rows may be longer for a decimal comma: those are refused.
    """
    names = [row[0] for row in rows]
    return (
        dialect.delimiter in " \t"
        and len(rows) > 1
        and all(len(row) == len(first) + 1 for row in rows)
        and all(map(str.strip, names))
        and len(set(names)) == len(names)
        and any(row[-1].strip() for row in rows)
    )


def _refuse_nul(source: TableBytes) -> None:
    """Refuse what is not text, by how it begins."""
    head = source.beginning
    if b"\0" in head:
        line = head[: head.index(b"\0")].count(b"\n") + 1
        raise BadFile(
            f"{source.name}, line {line}: NUL is not a character of a text: it is not a table "
            "format suffice can read",
            hint="tables are CSV, Parquet, Arrow, JSON or .xlsx; save or export it as one",
        )
