"""Counts in a database: sorted keys packed into pages, looked up without reading the rest."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Self
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Counts = NDArray[np.int64]


RATIO: Final = 4
"""A run is at least so many times as large as the one after it."""
ASKED: Final = 900
"""Pages asked for at a time: no SQLite takes fewer."""
TABLES: Final = (
    """CREATE TABLE runs (id INTEGER PRIMARY KEY, store TEXT NOT NULL, entries INTEGER NOT NULL,
    width INTEGER NOT NULL, firsts BLOB NOT NULL)""",
    "CREATE TABLE pages (id INTEGER PRIMARY KEY, entries BLOB NOT NULL)",
)
"""A page is known by its run and its place there: run · 2³² + place."""


class Run(NamedTuple):
    """A sorted run of entries: its number, their number, bytes of a count, first keys of pages."""

    number: int
    entries: int
    width: int
    firsts: Keys


@dataclass(frozen=True, slots=True)
class CountStore:
    """The counts of one kind of thing, such as terms, in an open database."""

    connection: sqlite3.Connection
    name: str

    def add(self, change: Entries) -> None:
        """Add to the counts; the caller has begun a transaction."""
        sizes = self._sizes()
        while sizes and RATIO * change.size > sizes[-1][1]:
            number, _ = sizes.pop()
            change = self._whole(number) + change
            self._remove(number)
        if change.size:
            self._write(change)

    def of_keys(self, keys: Keys) -> Counts:
        """Return the counts of ascending keys (n, 2)."""
        return self.within(keys, keys).of_keys(keys)

    def within(self, lows: Keys, highs: Keys) -> Entries:
        """Return all entries of some ranges, which ascend and do not overlap."""
        found = Entries.empty()
        for number, _ in self._sizes():
            run = self._run(number)
            pages = _covering(run.firsts, lows, highs)
            read = self._pages(run, pages)
            found = found + unpacked_within(read, run.width, lows, highs)
        return found

    def every(self) -> Entries:
        """Return all entries."""
        found = Entries.empty()
        for number, _ in self._sizes():
            found = found + self._whole(number)
        return found

    def sizes(self) -> list[int]:
        """Return how many entries each run has, the largest first."""
        return [entries for _, entries in self._sizes()]

    def _sizes(self) -> list[tuple[int, int]]:
        query = "SELECT id, entries FROM runs WHERE store = ? ORDER BY id"
        return list(self.connection.execute(query, (self.name,)))

    def _run(self, number: int) -> Run:
        query = "SELECT id, entries, width, firsts FROM runs WHERE id = ?"
        number, entries, width, firsts = self.connection.execute(query, (number,)).fetchone()
        if not isinstance(firsts, bytes) or width not in (4, 8):
            raise Damage("a run of counts is damaged")
        keys = np.frombuffer(unsealed(firsts), dtype="<u8").astype(np.uint64)
        return Run(number, entries, width, keys)

    def _whole(self, number: int) -> Entries:
        run = self._run(number)
        return unpacked(self._pages(run, np.arange(len(run.firsts))), run.width)

    def _pages(self, run: Run, pages: NDArray[np.intp]) -> list[bytes]:
        """Return the bytes of some pages of a run."""
        start = run.number << 32
        if len(pages) == len(run.firsts):
            query = "SELECT entries FROM pages WHERE id BETWEEN ? AND ? ORDER BY id"
            rows = self.connection.execute(query, (start, start | 0xFFFFFFFF)).fetchall()
        else:
            rows = []
            for at in range(0, len(pages), ASKED):
                some = (pages[at : at + ASKED] + start).tolist()
                marks = ",".join("?" * len(some))
                query = f"SELECT entries FROM pages WHERE id IN ({marks}) ORDER BY id"  # noqa: S608
                rows += self.connection.execute(query, some).fetchall()
        found = [row[0] for row in rows]
        if len(found) != len(pages) or not all(isinstance(page, bytes) for page in found):
            raise Damage("pages of counts are missing")
        return found

    def _write(self, entries: Entries) -> None:
        width = width_of(entries)
        pages, firsts = packed(entries, width)
        number = self.connection.execute("SELECT coalesce(max(id), 0) + 1 FROM runs").fetchone()[0]
        self.connection.execute(
            "INSERT INTO runs VALUES (?, ?, ?, ?, ?)",
            (number, self.name, entries.size, width, sealed(firsts.astype("<u8").tobytes())),
        )
        self.connection.executemany(
            "INSERT INTO pages VALUES (?, ?)", enumerate(pages, start=number << 32)
        )

    def _remove(self, number: int) -> None:
        self.connection.execute("DELETE FROM runs WHERE id = ?", (number,))
        self.connection.execute(
            "DELETE FROM pages WHERE id BETWEEN ? AND ?", (number << 32, number << 32 | 0xFFFFFFFF)
        )


def _covering(firsts: Keys, lows: Keys, highs: Keys) -> NDArray[np.intp]:
    """Return the pages that may hold keys of some ranges."""
    starts = np.maximum(np.searchsorted(firsts, lows, side="right") - 1, 0)
    stops = np.searchsorted(firsts, highs, side="right")
    steps = np.zeros(len(firsts) + 1, dtype=np.intp)
    asked = starts < stops
    np.add.at(steps, starts[asked], 1)
    np.add.at(steps, stops[asked], -1)
    return np.flatnonzero(np.cumsum(steps[:-1]) > 0)


CLASSES: Final = 2
"""Ham and spam."""
PAGE_BYTES: Final = 3968
"""Of the entries of a page: a row of this size lies on one page of SQLite's 4,096 bytes."""
CHECK: Final = 4
"""Bytes of the checksum that each page begins with: SQLite has none."""


class Damage(sqlite3.DatabaseError):
    """What a filter holds is not what was written."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Keys, ascending, each once; and how often each was counted in ham and in spam (n, 2).

    Counts are whole and exact. As a change of other counts they may be negative.

    >>> one = Entries.of(np.array([2, 5], dtype=np.uint64), np.array([[1, 0], [2, 1]]))
    >>> other = Entries.of(np.array([5, 7], dtype=np.uint64), np.array([[-2, -1], [0, 4]]))
    >>> (one + other).keys, (one + other).counts.tolist()
    (array([2, 7], dtype=uint64), [[1, 0], [0, 4]])
    """

    keys: Keys
    counts: Counts

    @classmethod
    def of(cls, keys: Keys, counts: Counts) -> Self:
        """Return entries without those that count nothing."""
        kept = counts.any(axis=1)
        if kept.all():
            return cls(keys, counts)
        return cls(keys[kept], counts[kept])

    @classmethod
    def empty(cls) -> Self:
        """Return no entries."""
        return cls(np.empty(0, dtype=np.uint64), np.empty((0, CLASSES), dtype=np.int64))

    @classmethod
    def of_class(cls, keys: Keys, counts: Counts, code: int) -> Self:
        """Return entries of one class."""
        both = np.zeros((len(keys), CLASSES), dtype=np.int64)
        both[:, code] = counts
        return cls(keys, both)

    @property
    def size(self) -> int:
        """The number of keys."""
        return len(self.keys)

    def __add__(self, other: Self) -> Self:
        """Add up key by key; what comes to nothing is gone."""
        if self.size < other.size:
            return other + self
        if not other.size:
            return self
        places = np.searchsorted(self.keys, other.keys)
        known = places < self.size
        known[known] = self.keys[places[known]] == other.keys[known]
        counts = self.counts.copy()
        counts[places[known]] += other.counts[known]
        new = ~known
        keys = self.keys
        if new.any():
            keys = np.insert(keys, places[new], other.keys[new])
            counts = np.insert(counts, places[new], other.counts[new], axis=0)
        return type(self).of(keys, counts)

    def times(self, factor: int) -> Self:
        """Return the entries so many times."""
        return type(self).of(self.keys, self.counts * factor)

    def of_keys(self, keys: Keys) -> Counts:
        """Return the counts of some keys (n, 2): zeros where there are none."""
        found = np.zeros((len(keys), CLASSES), dtype=np.int64)
        if self.size:
            places = np.minimum(np.searchsorted(self.keys, keys), self.size - 1)
            known = self.keys[places] == keys
            found[known] = self.counts[places[known]]
        return found

    def within(self, lows: Keys, highs: Keys) -> Self:
        """Return all entries of some ranges, which ascend and do not overlap."""
        starts = np.searchsorted(self.keys, lows)
        many = np.searchsorted(self.keys, highs, side="right") - starts
        places = np.repeat(starts - (np.cumsum(many) - many), many) + np.arange(many.sum())
        return type(self)(self.keys[places], self.counts[places])


def width_of(entries: Entries) -> int:
    """Return how many bytes a count of these entries needs: 4 or 8."""
    largest = int(np.abs(entries.counts).max(initial=0))
    return 4 if largest < 2**31 else 8


def packed(entries: Entries, width: int) -> tuple[list[bytes], Keys]:
    """Return the pages of entries, and the first key of each.

    >>> entries = Entries.of_class(np.arange(500, dtype=np.uint64), np.ones(500, np.int64), 1)
    >>> pages, firsts = packed(entries, 4)
    >>> [len(page) for page in pages], firsts
    ([3972, 3972, 68], array([  0, 248, 496], dtype=uint64))
    """
    kind = _kind(width)
    step = PAGE_BYTES // kind.itemsize
    flat = np.empty(entries.size, dtype=kind)
    flat["key"], flat["counts"] = entries.keys, entries.counts
    data = memoryview(flat.tobytes())
    size = step * kind.itemsize
    pages = [sealed(bytes(data[at : at + size])) for at in range(0, len(data), size)]
    return pages, entries.keys[::step]


def sealed(content: bytes) -> bytes:
    """Return bytes with their checksum before them."""
    return crc32(content).to_bytes(CHECK, "little") + content


def unsealed(page: bytes) -> memoryview:
    """Return the bytes that were sealed, or refuse others.

    >>> bytes(unsealed(sealed(b"counts")))
    b'counts'
    """
    content = memoryview(page)[CHECK:]
    if crc32(content) != int.from_bytes(page[:CHECK], "little"):
        raise Damage("a page of counts has the wrong checksum")
    return content


def unpacked(pages: Sequence[bytes], width: int) -> Entries:
    """Return the entries of pages, which follow each other."""
    flat = np.frombuffer(b"".join(map(unsealed, pages)), dtype=_kind(width))
    return Entries(flat["key"].astype(np.uint64), flat["counts"].astype(np.int64))


def unpacked_within(pages: Sequence[bytes], width: int, lows: Keys, highs: Keys) -> Entries:
    """Return the entries of some ranges, which ascend and do not overlap; the rest is not copied.

    >>> entries = Entries.of_class(np.arange(500, dtype=np.uint64), np.ones(500, np.int64), 1)
    >>> lows, highs = np.array([3, 490], dtype=np.uint64), np.array([5, 490], dtype=np.uint64)
    >>> unpacked_within(packed(entries, 4)[0], 4, lows, highs).keys
    array([  3,   4,   5, 490], dtype=uint64)
    """
    flat = np.frombuffer(b"".join(map(unsealed, pages)), dtype=_kind(width))
    keys = flat["key"].astype(np.uint64)
    starts = np.searchsorted(keys, lows)
    many = np.searchsorted(keys, highs, side="right") - starts
    before = np.cumsum(many) - many
    places = np.arange(int(many.sum())) + np.repeat(starts - before, many)
    return Entries(keys[places], flat["counts"][places].astype(np.int64))


def _kind(width: int) -> np.dtype[np.void]:
    return np.dtype([("key", "<u8"), ("counts", f"<i{width}", (CLASSES,))])
