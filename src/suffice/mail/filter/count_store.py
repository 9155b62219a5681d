"""Counts in a database: looked up by key without reading the rest, changed without rewriting it.

Counts lie in a few *runs*, each of them sorted and cut into pages; a count is the sum over all of
them. A change is a run of its own, written at the end. Where it has grown to a quarter of the run
before it, the two become one: so there are few runs, each far smaller than the one before, and on
average every entry is rewritten a few times only. What comes to nothing vanishes on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from suffice.mail.filter.entries import (
    Damage,
    Entries,
    packed,
    sealed,
    unpacked,
    unpacked_within,
    unsealed,
    width_of,
)

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    from suffice.mail.filter.entries import Counts, Keys

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
            raise Damage("a run of counts is not what it should be")
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
