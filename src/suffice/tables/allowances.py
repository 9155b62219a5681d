"""How much a table may ask for: columns, cells, texts, and bytes in all, before memory is taken."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from suffice.errors import BadFile, BadRows, listed

if TYPE_CHECKING:
    from collections.abc import Sequence


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
                f"more, and at most {most:,} are read",
                hint="nearly all of it is repeated: write each row or text once",
            )
        if size > max(AT_ONCE, TIMES * stored):
            raise BadFile(
                f"{self._name}, {place}: {stored:,} bytes unpack to {size:,} at a time, and at "
                f"most {AT_ONCE:,} are read, or {TIMES} times as many as are stored",
                hint="if it is valid, write it again in smaller batches (row groups, pages), of "
                "65,536 rows for example",
            )

    def read(self, rows: int, width: int, place: str) -> None:
        """Count cells; refuse more of them than bytes can mean."""
        self._cells += rows * width
        if self._cells > max(FEW_CELLS, CELLS_STORED * self._stored):
            raise BadFile(
                f"{self._name}, {place}: {self._cells:,} cells in {self._stored:,} bytes, and at "
                f"most {max(FEW_CELLS, CELLS_STORED * self._stored):,} are read",
                hint="nearly all rows are the same: count them, and give each once, with a weight",
            )


def refuse_long(longest: int, place: str) -> None:
    """Refuse a text that is longer than any cell should be."""
    if longest > LONGEST_CELL:
        raise BadRows(
            f"{place}: a text has {longest:,} bytes, and at most {LONGEST_CELL:,} are allowed",
            hint="cut it into several rows, or leave the column out",
        )


MOST_COLUMNS = 1 << 16
"""Columns of one table, at most: three times the genes of a human.

Whatever is done once for each column takes seconds then; a covariance would take 34 GB."""


def checked_names(
    names: Sequence[str], place: str, hint: str = "rename one of them"
) -> tuple[str, ...]:
    """Return the names of the columns of a table, if there are any, not too many, each once.

    `place` says whose they are; `hint` is what to do about two of one name.
    """
    if len(names) > MOST_COLUMNS:
        raise too_wide(place, len(names))
    if not names:
        raise BadFile(f"{place} has no columns", hint="write it again, with some")
    refuse_same_names(names, place, hint)
    return tuple(names)


def refuse_same_names(names: Sequence[str], place: str, hint: str = "rename one of them") -> None:
    """Refuse columns that have one name: nobody knows which of them is meant."""
    if len(set(names)) < len(names):
        twice = sorted(name for name, times in Counter(names).items() if times > 1)
        raise BadRows(f"{place}: more than one column is named {listed(twice)}", hint=hint)


def too_wide(place: str, width: int) -> BadRows:
    """Return the refusal of a table with more columns than any should have."""
    return BadRows(
        f"{place}: {width:,} columns, and at most {MOST_COLUMNS:,} are read",
        hint="is the table transposed, or without line breaks? Otherwise keep only the columns "
        "that matter",
    )
