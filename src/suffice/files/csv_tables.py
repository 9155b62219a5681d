"""Tables of text: CSV and its relatives, read row by row, refused by line."""

from __future__ import annotations

import csv
import io
import sys
from array import array
from itertools import islice
from typing import TYPE_CHECKING, cast

from suffice.errors import BadFile, BadRows, listed
from suffice.files.csv_dialect import SEEN_ROWS, Dialect, sniffed
from suffice.files.text_cells import plain_text
from suffice.files.text_chunks import TextChunk, TextRows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from suffice.files.csv_blocks import CsvBlocks
    from suffice.files.table_bytes import TableBytes
    from suffice.rows.tables import Table

LONGEST_CELL = min(sys.maxsize, (1 << 31) - 1)
"""Characters of one cell: as many as the reader can count."""
LARGE, LARGE_PACKED = 1 << 23, 1 << 20
"""Bytes of a file from which on it pays to import pyarrow."""


class CsvTable(TextRows):
    r"""A table of text, and how it is written; the names of its columns are known at once.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from suffice.files.table_bytes import TableBytes
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
    ) -> None:
        super().__init__(source)
        self._encoding = _encoding(source)
        sample = source.beginning.decode(self._encoding, errors="ignore").lstrip("\ufeff")
        lines = list(islice(io.StringIO(sample, newline=""), SEEN_ROWS))
        if len(lines) > 2 and len(lines) < SEEN_ROWS:
            lines.pop()  # it may have been cut short
        self.dialect: Dialect = sniffed(
            lines, delimiter=delimiter, header=header, expected=expected
        )
        first = next((row for row in self.dialect.rows(_whole(sample)) if row), None)
        if first is None:
            raise BadFile(f"{self.name} is empty", hint="a table has a header and rows")
        self.names = _names(first, self.name) if self.dialect.header else _numbered(len(first))

    def text_chunks(self, size: int) -> Iterator[TextChunk]:
        """Yield the rows, `size` at a time, cut into columns of text."""
        width = len(self.names)
        csv.field_size_limit(LONGEST_CELL)
        with io.TextIOWrapper(
            self._source.open(), self._encoding, errors="strict", newline=""
        ) as text:
            reader = self.dialect.rows(text)
            rows: list[list[str]] = []
            lines = array("q")
            awaiting_header = self.dialect.header
            try:
                for row in reader:
                    if not row:
                        continue
                    if awaiting_header:
                        awaiting_header = False
                        continue
                    line = cast("int", reader.line_num)  # type: ignore[attr-defined]
                    if len(row) != width:
                        raise self._ragged(line, row)
                    rows.append(row)
                    lines.append(line)
                    if len(rows) >= size:
                        yield _chunk(rows, lines)
                        rows, lines = [], array("q")
            except csv.Error as error:
                line = cast("int", reader.line_num)  # type: ignore[attr-defined]
                raise BadRows(
                    f"{self.name}, line {line}: {error}",
                    hint="is a quotation mark left open? Or is it not a CSV at all?",
                ) from None
            except UnicodeDecodeError as error:
                line = cast("int", reader.line_num)  # type: ignore[attr-defined]
                raise BadRows(
                    f"{self.name}, about line {line + 1}: the byte "
                    f"0x{error.object[error.start]:02x} is not {self._encoding}",
                    hint=f"convert it first: iconv -f latin1 -t utf-8 {self.name}",
                ) from None
            if rows:
                yield _chunk(rows, lines)

    # Large files

    def _blocks(self) -> CsvBlocks | None:
        """Return the quicker reader, where the file is large enough to pay for it."""
        source, dialect = self._source, self.dialect
        packed = source.is_packed
        if source.size < (LARGE_PACKED if packed else LARGE):
            return None
        plain = self._encoding == "utf-8-sig" and not source.beginning.startswith((b"\n", b"\r"))
        marked = source.beginning.startswith(b"\xef\xbb\xbf") and not dialect.header
        if dialect.spaced or marked or not plain:
            return None
        from suffice.files.csv_blocks import CsvBlocks

        return CsvBlocks(source, dialect, self.names)

    def kinds(self, size: int, told: Callable[[int], None]) -> tuple[str, ...]:
        """Return what each column holds, by all its rows; `told` hears how many were read."""
        blocks = self._blocks()
        found = None if blocks is None else blocks.kinds(told)
        return super().kinds(size, told) if found is None else found

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
        width = len(self.names)
        what = "the header names" if self.dialect.header else "the first row has"
        return BadRows(
            f"{self.name}, line {line}: {len(row)} cell(s) where {what} {width}",
            hint="every row needs as many cells; quote those that hold "
            f"{'a comma' if self.dialect.delimiter == ',' else 'the delimiter'}"
            ", and leave blank ones empty",
        )


def _chunk(rows: list[list[str]], lines: array[int]) -> TextChunk:
    columns = [
        [plain_text(cell) if cell[:1] == "'" else cell for cell in column]
        for column in zip(*rows, strict=True)
    ]
    return TextChunk(columns, lines)


def _whole(sample: str) -> Iterator[str]:
    return iter(io.StringIO(sample, newline=""))


def _numbered(width: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(width))


def _names(first: list[str], place: str) -> tuple[str, ...]:
    """Return the names of columns; one without a name is called after its place."""
    given = [plain_text(cell).strip() for cell in first]
    names = [name or f"column {j + 1}" for j, name in enumerate(given)]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise BadRows(
            f"{place}, line 1: more than one column is named {listed(twice)}",
            hint="rename one of them; if line 1 is no header, say --no-header",
        )
    return tuple(names)


def _encoding(source: TableBytes) -> str:
    """Return how characters are written, by the mark at the beginning."""
    head = source.beginning
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in head:
        raise BadFile(
            f"{source.name} is not text, and no table that is known",
            hint="tables are CSV, Parquet, Arrow or JSON lines; save or export it as one",
        )
    return "utf-8-sig"
