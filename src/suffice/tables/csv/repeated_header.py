"""Headers that stand again between the rows, as on each page of a report, with what parts pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.tables.table_reading import TableGuess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from suffice.tables.csv.chunks import Record

MOST_BETWEEN = 6
"""Rows of fewer cells that may stand between the last row of a page and the header of the next:
page numbers, titles, dates."""


class RepeatedHeader:
    """Passes over rows that are the header once more, and narrower rows right above these.

    header   its cells, as they stand in the file
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
        held: list[Record] = []
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
        yield from held

    def _say(self, line: int, narrower: int) -> None:
        if not self.found and self._note is not None:
            beside = " and what stands above it are" if narrower else " is"
            said = f"{self._name}: line {line:,} is the header again; it{beside} left out"
            self._note(TableGuess(said, ""))
        self.found = True
