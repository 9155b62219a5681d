"""Pages of Parquet files: what they ask for is known before any of them is unpacked.

The end of a file says how large its columns are, once unpacked; each page says so again, and a
reader believes the page. So the pages are walked through here: a few bytes each.
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import struct
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from suffice.errors import BadFile, SufficeError
from suffice.tables.allowances import AT_ONCE, MUCH_TEXT, Allowance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HEADER = 1 << 16
"""Bytes of the header of a page, at most; there may be statistics in it."""
FRONT = 1 << 9
"""Bytes that nearly all headers are shorter than."""
LEAST_PACKED = {0: 1, 1: 24}
"""Bytes that one packed byte can mean, at most, where that is less than `TIMES`.

By the numbers of codecs: 0 is none, 1 is Snappy, in which a copy of 64 bytes takes three."""
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

    def coded(self, names: Iterable[str], rows: int) -> list[str]:
        """Return which columns are read as codes: those that mostly are."""
        return [
            name for name in names if name in self.text and self.written[name] < BARE_LENGTH * rows
        ]

    def rows_at_once(self, names: Iterable[str], rows: int, most: int) -> int:
        """Return how many of the rows are read at a time, so that their text is not too much."""
        text = sum(self.text[name] for name in set(names))
        return max(1, min(most, MUCH_TEXT * rows // max(text, 1)))


def text_sizes(held: Any, schema: Any, footer: Footer) -> TextSizes:
    """Count the bytes of columns of text, unpacked, as the file says itself."""
    types: Any = import_module("pyarrow").types
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
        types: Any = import_module("pyarrow").types
        schema = held.schema.to_arrow_schema()
        self._coded = {f.name for f in schema if types.is_dictionary(f.type)}.union(coded)

    def rows_at_once(self, names: Sequence[str], groups: Iterable[int]) -> int:
        """Return how many rows may be read at a time; refuse what asks for too much.

        Of text all pages count, for they may all be in one batch; of the rest, the largest one.
        """
        with self._footer.damage_refused():
            return self._rows_at_once(names, groups)

    def _rows_at_once(self, names: Sequence[str], groups: Iterable[int]) -> int:
        stored, most = _stored(self._held, names), MANY_ROWS
        known = self._footer.groups
        for group in groups:
            place = f"row group {group}"
            rows = max(0, self._held.row_group(group).num_rows)
            self._allowed.read(rows, len(stored), place)
            size = packed = 0
            for name, j in stored:
                column = known[group][j]
                packed += column.total_compressed_size
                is_text = column.physical_type == BYTE_ARRAY
                if column.codec in LEAST_PACKED and not is_text:
                    # Whatever the pages say, it cannot become more than this.
                    size += LEAST_PACKED[column.codec] * column.total_compressed_size
                    continue
                pages = _pages(self._file, column)
                sizes = [page.unpacked for page in pages]
                size += sum(sizes) if is_text else max(sizes, default=0)
                if is_text:
                    most = min(most, self._rows_of_text(name, column, pages, rows))
            if size > AT_ONCE:
                self._allowed.unpack(size, packed, place)
        return max(1, most)

    def _rows_of_text(self, name: str, column: _Chunk, pages: list[_Page], rows: int) -> int:
        """Return how many texts may be read at a time, each perhaps as long as the longest."""
        longest = 0
        for page in pages:
            if page.encoding == FRONT_CODED:
                longest = max(longest, page.unpacked)
            is_long = min(rows, MANY_ROWS) * page.unpacked > MUCH_TEXT
            if page.kind == DICTIONARY_PAGE and is_long and name not in self._coded:
                longest = max(longest, _longest_word(self._file, page, column.codec))
        return MUCH_TEXT // longest if longest else MANY_ROWS


def _longest_word(file: IO[bytes], page: _Page, how: int) -> int:
    """Return how many bytes the longest word of a dictionary has, at most."""
    pa: Any = import_module("pyarrow")
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


def _pages(file: IO[bytes], column: _Chunk) -> list[_Page]:
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


class _Chunk(NamedTuple):
    """What the end of a file says of one column in one row group; `nulls` is -1 if it does not."""

    physical_type: int
    codec: int
    num_values: int
    total_uncompressed_size: int
    total_compressed_size: int
    data_page_offset: int
    dictionary_page_offset: int
    nulls: int


class Footer:
    """The end of a file, read once for all that is read of it: the columns of each row group.

    pyarrow ends the process where it is asked about columns that are damaged. So they are read
    here, and it is asked for names and numbers of rows alone.
    """

    def __init__(self, file: IO[bytes], size: int, name: str) -> None:
        self.size, self._name = size, name
        with self.damage_refused():
            self.groups = _row_groups(file, size)

    @contextmanager
    def damage_refused(self) -> Iterator[None]:
        """Turn what cannot be read inside the block into a refusal about the file."""
        try:
            yield
        except SufficeError:
            raise
        except (struct.error, ValueError, OverflowError, IndexError, OSError):
            raise BadFile(
                f"{self._name} cannot be read: what it says of its pages is damaged",
                hint="it is cut short or damaged: write or fetch it again",
            ) from None

    def chunks(self, column: int) -> list[_Chunk]:
        """Return what is said of one column, for every row group."""
        with self.damage_refused():
            return [group[column] for group in self.groups]


def _row_groups(file: IO[bytes], size: int) -> list[list[_Chunk]]:
    """Return the columns of each row group."""
    file.seek(max(0, size - 8))
    (length,) = struct.unpack_from("<I", file.read(8))
    if length > size - 8:
        raise struct.error("the end of the file is damaged")
    file.seek(size - 8 - length)
    reader = _Compact(file.read(length))
    found: list[list[_Chunk]] = []
    for field, kind in reader.fields():
        if field != 4 or kind != 9:
            reader.skip(kind)
            continue
        for _ in reader.items():
            found.append([])
            for inner, of in reader.fields():
                if inner == 1 and of == 9:
                    found[-1].extend(_chunk(reader, j) for j, _ in enumerate(reader.items()))
                else:
                    reader.skip(of)
    return found


SIZES = (1, 4, 5, 6, 7, 9, 11)
"""The fields of a column that are its type, its codec, its sizes and its places."""


def _chunk(reader: _Compact, column: int) -> _Chunk:
    values, nulls = dict.fromkeys(SIZES, 0), -1
    for field, kind in reader.fields():
        if field != 3 or kind != 12:
            reader.skip(kind)
            continue
        for inner, of in reader.fields():
            if inner in values and of in (5, 6):
                values[inner] = reader.number()
            elif of == 9:  # encodings, names: the same in every row group
                reader.skip_known((column, inner))
            elif inner == 12 and of == 12:  # statistics
                for innermost, told in reader.fields():
                    if innermost == 3 and told == 6:
                        nulls = reader.number()
                    else:
                        reader.skip(told)
            else:
                reader.skip(of)
    if min(values.values()) < 0:
        raise struct.error("a size is negative")
    return _Chunk._make([*values.values(), nulls])


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
        reader = _Compact(front := front + file.read(more))
        try:
            page = _page(reader)
        except IndexError:  # the header is longer than that
            continue
        if page.unpacked < 0 or page.packed < 0 or page.values < 0:
            break
        return page, reader.at
    raise struct.error("the header of a page is damaged")


def _page(reader: _Compact) -> _Page:
    page = _Page()
    plain = {1: "kind", 2: "unpacked", 3: "packed"}
    for field, kind in reader.fields():
        if field in plain:
            setattr(page, plain[field], reader.number())
        elif field in (5, 7, 8):  # data, a dictionary, data of the second version
            for inner, of in reader.fields():
                if inner == 1:
                    page.values = reader.number()
                elif inner == (4 if field == 8 else 2):
                    page.encoding = reader.number()
                else:
                    reader.skip(of)
        else:
            reader.skip(kind)
    return page


class _Compact:
    """Values in Thrift's compact protocol, one after the other."""

    def __init__(self, held: bytes) -> None:
        self._held = held
        self._known: dict[tuple[int, int], bytes] = {}
        self.at = 0

    def _varint(self) -> int:
        at, held = self.at, self._held
        value = held[at]
        if value >= 128:
            value, shift = value & 127, 7
            while (byte := held[at := at + 1]) >= 128:
                value |= (byte & 127) << shift
                shift += 7
                if shift > 63:
                    raise struct.error("a number is too long")
            value |= byte << shift
        self.at = at + 1
        return value

    def number(self) -> int:
        """Return a whole number."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1) if value & 1 else value >> 1

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the type of each field of a struct; whoever asks reads it."""
        field, held = 0, self._held
        while head := held[self.at]:
            self.at += 1
            field = field + (head >> 4) if head >> 4 else self.number()
            yield field, head & 15
        self.at += 1

    def skip(self, kind: int, depth: int = 0) -> None:
        """Pass over a value."""
        if kind == 8:
            size = self._varint()
            self.at += size
        elif kind in (4, 5, 6):
            self._varint()
        elif kind in (1, 2):
            return  # a truth: it is its type
        elif kind in (3, 7):  # a byte, a double
            self.at += 1 if kind == 3 else 8
        elif depth > 8:
            raise struct.error("structs are nested too deeply")
        elif kind == 12:
            for _, of in self.fields():
                self.skip(of, depth + 1)
        elif kind in (9, 10):
            for of in self.items():
                self.skip(3 if of in (1, 2) else of, depth + 1)  # a truth in a list is a byte
        else:  # there are no maps in Parquet
            raise struct.error("a field is of no known type")

    def skip_known(self, key: tuple[int, int]) -> None:
        """Pass over a list; if it is the one that was met under this key before, at once."""
        known = self._known.get(key)
        if known is not None and self._held.startswith(known, self.at):
            self.at += len(known)
            return
        start = self.at
        self.skip(9)
        self._known[key] = self._held[start : self.at]

    def items(self) -> Iterator[int]:
        """Yield the type of each item of a list; whoever asks reads it."""
        head = self._held[self.at]
        self.at += 1
        size = head >> 4 if head >> 4 < 15 else self._varint()
        for _ in range(size):
            if self.at > len(self._held):
                raise IndexError
            yield head & 15
