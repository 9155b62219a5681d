"""Pages of Parquet files: what they ask for is known before any of them is unpacked.

The end of a file says how large its columns are, once unpacked; each page says so again, and a
reader believes the page. So the pages are walked through here: a few bytes each.
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from suffice.kernels.thrift.compact import Compact
from suffice.tables.allowances import AT_ONCE, MUCH_TEXT, Allowance
from suffice.tables.parquet_footer import ColumnChunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from suffice.tables.parquet_footer import Footer

HEADER = 1 << 16
"""Bytes of the header of a page, at most; there may be statistics in it."""
FRONT = 1 << 9
"""Bytes that nearly all headers are shorter than."""
LEAST_PACKED = {0: 1, 1: 24}
"""Bytes that one packed byte can mean, at most, where that is less than `TIMES`.

By the numbers of codecs: 0 is none, 1 is Snappy, in which a copy of 64 bytes takes three."""
TYPE, CODEC, PACKED = (
    ColumnChunk._fields.index(name) for name in ("physical_type", "codec", "total_compressed_size")
)
"""Where these are among what is said of a column."""
BYTE_ARRAY = 6
"""The number of the type of texts."""
BARE_LENGTH, DICTIONARY = 4, 1 << 20
"""Bytes that an empty text takes where it is written out, and that a row group's dictionary takes.

A column that has dictionaries, and beside them takes fewer bytes for each cell, is one of codes,
each of which stands for a text. They are read as such: that is ten times as fast, and a long text
does not take memory for each of its rows."""
FRONT_CODED, DICTIONARY_PAGE = 7, 2
"""The encoding of texts each of which says how much it has in common with the one before; and the
kind of page that holds words which others mean by codes."""
SMALL_GROUP = 1 << 13
"""Rows of a row group for which words of its own do not pay: 300 groups of 1,000 rows were read in
nine tenths of the time without."""
MANY_ROWS = 1 << 20
"""Rows that are read at a time, at most."""
MANY_WORDS = 1 << 18
"""Words of a dictionary up to which the longest is looked for: that takes a tenth of a second."""
CODECS = {0: "", 1: "snappy", 2: "gzip", 6: "zstd"}
"""How pyarrow calls what pages are packed by."""


@dataclass(frozen=True, slots=True)
class TextSizes:
    """What columns of text take, as the end of a file says: all bytes, and those in no code."""

    text: Counter[str]
    written: Counter[str]

    def __add__(self, other: TextSizes) -> TextSizes:
        """Return what the columns of both files take."""
        return TextSizes(self.text + other.text, self.written + other.written)

    def coded(self, names: Iterable[str], rows: int, groups: int) -> list[str]:
        """Return which columns are read as codes: those that mostly are.

        None are where row groups are small: each has words of its own, and its rows would come by
        themselves.
        """
        if rows < SMALL_GROUP * groups:
            return []
        return [
            name for name in names if name in self.text and self.written[name] < BARE_LENGTH * rows
        ]

    def rows_at_once(self, names: Iterable[str], rows: int, most: int) -> int:
        """Return how many of the rows are read at a time, so that their text is not too much."""
        text = sum(self.text[name] for name in set(names))
        return max(1, min(most, MUCH_TEXT * rows // max(text, 1)))


def text_sizes(held: object, schema: Any, footer: Footer) -> TextSizes:
    """Count the bytes of columns of text, unpacked, as the file says itself."""
    types = import_module("pyarrow").types
    text = {f.name for f in schema if types.is_string(f.type) or types.is_large_string(f.type)}
    found = TextSizes(Counter(), Counter())
    for name, place in _stored(held, text):
        for column in footer.chunks(place):
            size = max(1, column.total_uncompressed_size)
            found.text[name] += size
            found.written[name] += max(0, size - DICTIONARY * (column.dictionary_page_offset > 0))
    return found


def _stored(held: Any, names: Iterable[str]) -> list[tuple[str, int]]:
    """Return the columns that are stored of some columns of the table, with their numbers."""
    wanted = set(names)
    paths = ((held.schema.column(j).path, j) for j in range(held.num_columns if wanted else 0))
    # A name may have points in it, and so has the path of what is nested.
    return [(path, j) for path, j in paths if path in wanted or path.partition(".")[0] in wanted]


class PageChecks:
    """What row groups of one file ask for; `coded` are columns that are read as codes."""

    def __init__(
        self, file: IO[bytes], footer: Footer, held: Any, allowed: Allowance, coded: Iterable[str]
    ) -> None:
        self._file, self._footer, self._held, self._allowed = file, footer, held, allowed
        types = import_module("pyarrow").types
        schema = held.schema.to_arrow_schema()
        self._coded = {f.name for f in schema if types.is_dictionary(f.type)}.union(coded)

    def rows_at_once(self, names: Sequence[str], groups: Sequence[int]) -> int:
        """Return how many rows may be read at a time; refuse what asks for too much.

        Of text all pages count, for they may all be in one batch; of the rest, the largest one.
        """
        with self._footer.damage_refused():
            return self._rows_at_once(names, groups)

    def _rows_at_once(self, names: Sequence[str], groups: Sequence[int]) -> int:
        stored, most = _stored(self._held, names), MANY_ROWS
        held = self._footer.numbers(groups, [j for _, j in stored])
        # Whatever the pages say, numbers cannot become more than their codec makes of their bytes.
        # As doubles: what a damaged file says may be too large to be added up otherwise.
        packed = held[:, :, PACKED].astype(np.float64)
        times = sum(
            np.where(held[:, :, CODEC] == how, means, 0) for how, means in LEAST_PACKED.items()
        )
        bounded = (held[:, :, TYPE] != BYTE_ARRAY) & (times > 0)
        sizes = np.where(bounded, times * packed, 0.0).sum(axis=1).tolist()
        rows = [max(0, self._held.row_group(group).num_rows) for group in groups]
        together = min(sum(rows), MANY_ROWS)  # small row groups are read as one
        for i, group in enumerate(groups):
            place = f"row group {group}"
            self._allowed.read(rows[i], len(stored), place)
            size = int(sizes[i])
            for k in np.flatnonzero(~bounded[i]).tolist():
                column = ColumnChunk(*held[i, k].tolist())
                pages = _pages(self._file, column)
                unpacked = [page.unpacked for page in pages]
                is_text = column.physical_type == BYTE_ARRAY
                size += sum(unpacked) if is_text else max(unpacked, default=0)
                if is_text:
                    most = min(most, self._rows_of_text(stored[k][0], column, pages, together))
            if size > AT_ONCE:
                self._allowed.unpack(size, int(packed[i].sum()), place)
        return max(1, most)

    def _rows_of_text(self, name: str, column: ColumnChunk, pages: list[_Page], rows: int) -> int:
        """Return how many texts may be read at a time, each perhaps as long as the longest.

        `rows` are those of all row groups that are read together, or as many as that may be.
        """
        longest = 0
        for page in pages:
            if page.encoding == FRONT_CODED:
                longest = max(longest, page.unpacked)
            is_long = rows * page.unpacked > MUCH_TEXT
            if page.kind == DICTIONARY_PAGE and is_long and name not in self._coded:
                longest = max(longest, _longest_word(self._file, page, column.codec))
        return MUCH_TEXT // longest if longest else MANY_ROWS


def _longest_word(file: IO[bytes], page: _Page, how: int) -> int:
    """Return how many bytes the longest word of a dictionary has, at most."""
    pa = import_module("pyarrow")
    if page.values > MANY_WORDS or page.unpacked > AT_ONCE or how not in CODECS:
        return page.unpacked
    file.seek(page.at)
    words = file.read(page.packed)
    if CODECS[how]:
        words = pa.decompress(words, page.unpacked, codec=CODECS[how], asbytes=True)
    longest = at = 0
    for _ in range(page.values):
        (size,) = struct.unpack_from("<I", words, at)
        longest = max(longest, size)
        at += 4 + size
    return longest


def _pages(file: IO[bytes], column: ColumnChunk) -> list[_Page]:
    """Return the pages of a column."""
    at = column.data_page_offset
    if 0 < column.dictionary_page_offset < at:
        at = column.dictionary_page_offset
    end, values, found = at + column.total_compressed_size, column.num_values, []
    while at < end and values > 0:
        file.seek(at)
        page, length = _header(file)
        page.at, at = at + length, at + length + page.packed
        found.append(page)
        if page.kind != DICTIONARY_PAGE:
            values -= page.values
    return found


@dataclass(slots=True)
class _Page:
    """What the header of a page says, and where the page is."""

    kind: int = 0
    unpacked: int = 0
    packed: int = 0
    values: int = 0
    encoding: int = 0
    at: int = 0


def _header(file: IO[bytes]) -> tuple[_Page, int]:
    """Return the next page, and the bytes of its header."""
    front = b""
    for more in (FRONT, HEADER):
        reader = Compact(front := front + file.read(more))
        try:
            page = _page(reader)
        except IndexError:  # the header is longer than that
            continue
        if page.unpacked < 0 or page.packed < 0 or page.values < 0:
            break
        return page, reader.at
    raise struct.error("the header of a page is damaged")


def _page(reader: Compact) -> _Page:
    page = _Page()
    for field, kind in reader.fields():
        if field == 1:
            page.kind = reader.number()
        elif field == 2:
            page.unpacked = reader.number()
        elif field == 3:
            page.packed = reader.number()
        elif field in (5, 7, 8):  # data, a dictionary, data of the second version
            encoding = 4 if field == 8 else 2
            for inner, of in reader.fields():
                if inner == 1:
                    page.values = reader.number()
                elif inner == encoding:
                    page.encoding = reader.number()
                else:
                    reader.skip(of)
        else:
            reader.skip(kind)
    return page
