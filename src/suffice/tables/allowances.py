"""How much a file may ask for: by what is stored in it, and before memory is taken.

Packed bytes, codes and runs mean more than they are, a thousand times in honest files and a million
times in others. What is small may be unpacked in any case; what is large has to be large in the
file, too.
"""

from __future__ import annotations

from suffice.errors import BadFile, BadRows

AT_ONCE = 1 << 27
"""Bytes that are unpacked at a time in any case: a batch, the pages of a row group, dictionaries.

With the libraries and the copies that are made of a part of it, a process stays below 512 MB."""
TIMES = 32
"""Bytes for each one stored, where they are more than that: text packs ten times, and numbers that
say little are coded before they are packed."""
IN_ALL, TIMES_IN_ALL = 1 << 30, 1000
"""Bytes that are unpacked of one table, one after the other, in any case; and for each one stored,
where they are more: that takes time, if not memory."""
FEW_CELLS = 50_000_000
"""Cells of a table that may take as little room as they like: they are read in seconds."""
CELLS_STORED = 1000
"""Cells for each byte that is stored, where they are more: the sparsest tables that people write,
one column for each level of a category, have some hundred."""
LONGEST_CELL = 1 << 25
"""Bytes of one text: four times what a row of CSV may have. As Python's text it can take four times
as many, all in one piece."""
MUCH_TEXT = 1 << 25
"""Bytes of text that are made Python's at a time, where rows are long."""


class Allowance:
    """What the rest of one table may ask for; `stored` are its bytes.

    >>> Allowance("a.arrow", 42_000).unpack(1 << 20, 900, "batch 0")
    >>> Allowance("a.arrow", 42_000).unpack(1 << 29, 41_000, "batch 0")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    suffice.errors.BadFile: a.arrow, batch 0: 41,000 bytes unpack to 536,870,912 at a time, ...
    """

    def __init__(self, name: str, stored: int) -> None:
        self._name = name
        self._stored = stored
        self._cells = self._unpacked = 0

    def unpack(self, size: int, stored: int, place: str) -> None:
        """Count bytes; refuse to unpack so many at a time, or in all, out of what is stored."""
        self._unpacked += size
        most = max(IN_ALL, TIMES_IN_ALL * self._stored)
        if self._unpacked > most:
            raise BadFile(
                f"{self._name}, {place}: {self._stored:,} bytes unpack to {self._unpacked:,} and "
                f"more, where {most:,} are the most that are read",
                hint="nearly all of it is the same, again and again: write each row or text once",
            )
        if size > max(AT_ONCE, TIMES * stored):
            raise BadFile(
                f"{self._name}, {place}: {stored:,} bytes unpack to {size:,} at a time, where "
                f"{AT_ONCE:,} are the most that are read, or {TIMES} times as many as are stored",
                hint="write it again in smaller batches (row groups, pages) if it is sound: of "
                "65,536 rows, say",
            )

    def read(self, rows: int, width: int, place: str) -> None:
        """Count cells; refuse more of them than bytes can mean."""
        self._cells += rows * width
        if self._cells > max(FEW_CELLS, CELLS_STORED * self._stored):
            raise BadFile(
                f"{self._name}, {place}: {self._cells:,} cells in {self._stored:,} bytes, where "
                f"{max(FEW_CELLS, CELLS_STORED * self._stored):,} are the most that are read",
                hint="nearly all rows are the same: count them, and give each once, with a weight",
            )


def refuse_long(longest: int, place: str) -> None:
    """Refuse a text that is longer than any cell should be."""
    if longest > LONGEST_CELL:
        raise BadRows(
            f"{place}: a text has {longest:,} bytes, where {LONGEST_CELL:,} are the most",
            hint="cut it into several rows, or leave the column out",
        )
