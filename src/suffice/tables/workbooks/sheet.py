"""A sheet of a workbook as a table: its cells as text, its rows by their numbers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from suffice.columns.spellings.spelling import spelling_of
from suffice.errors import BadFile, BadRows, BadSetting, listed
from suffice.rows.cells import CATEGORY
from suffice.tables.allowances import checked_names, refuse_long
from suffice.tables.csv.chunks import TextRows
from suffice.tables.table_reading import TableGuess
from suffice.tables.workbooks.archive import check_archive, damaged, sheet_claim
from suffice.tables.workbooks.layout import (
    LOOK,
    is_there,
    is_total,
    layout_of,
    names_of,
    text_of,
    without_point,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from suffice.rows.tables import Table
    from suffice.tables.csv.chunks import Record, TextLines
    from suffice.tables.table_bytes import TableBytes

PAUSE = 1000
"""Rows after which it is looked whether those that are held have become long."""
MOST_REMARKS = 20
"""Rows below a table that are taken for remarks: each with one text alone."""
MOST_MERGED = 100_000
"""Ranges of merged cells that are filled."""


class SheetTable(TextRows):
    """A sheet of a workbook. Real dates, times and numbers are what they are.

    `note` hears what was decided: which sheet, where its header is, what was left out.
    """

    unit = "row"

    def __init__(
        self,
        source: TableBytes,
        *,
        sheet: str | None = None,
        header: bool | None = None,
        expected: Collection[str] = (),
        note: Callable[[TableGuess], object],
    ) -> None:
        super().__init__(source)
        # Columns whose texts are no plain numbers; None as long as that is to be found out.
        self._spelled: frozenset[str] | None = None
        self._note = note
        with source.open() as file:
            check_archive(file, self.name)
        chosen, opened = self._opened(source, sheet)
        with source.open() as file:
            claim = sheet_claim(file, chosen, f"{self.name}, sheet {chosen!r:.60}")
        self._sheet = opened()
        self._top = (self._sheet.start or (0, 0))[0]
        head = self._rows(LOOK)
        if not any(any(map(is_there, row)) for row in head):
            raise BadFile(f"{self.name}, sheet {chosen!r:.60} is empty", hint=self._others(chosen))
        layout = layout_of(head, header, expected)
        self._first = layout.first
        given = names_of(head, layout, self._spans(layout.group))
        self._look_at_rows(layout.first, given or [""] * len(head[0]))
        kept = [(j, given[j] if given else "") for j in self._columns]
        names = [name or f"column {j + 1}" for j, name in kept] if given else [
            f"x{place}" for place in range(len(kept))
        ]  # fmt: skip
        place = f"{self.name}, row {self._number(layout.header or 0)}"
        self.names = checked_names(names, place, "rename one of them in the sheet")
        self._say(layout.header, layout.group, claim.empty, claim.formulas)

    def _opened(self, source: TableBytes, asked: str | None) -> tuple[str, Any]:
        """Return the name of the sheet to be read, and what opens it."""
        try:
            reader = import_module("python_calamine")
        except ImportError:
            raise BadFile(
                f"{self.name} is a workbook, and python-calamine, which reads it, is not installed",
                hint="pip install 'suffice[xlsx]'; or export the sheet as CSV",
            ) from None
        try:
            with source.open() as file:
                book = reader.CalamineWorkbook.from_filelike(file)
        except Exception as error:  # noqa: BLE001  whatever a reader of strange bytes raises
            raise damaged(self.name, str(error)) from None
        names: list[str] = list(book.sheet_names)
        self._sheets = names
        if not names:
            raise BadFile(f"{self.name} has no sheets", hint="save it again, with one")
        visible = [
            one.name for one in book.sheets_metadata if str(one.visible).endswith(".Visible")
        ] or names
        chosen = visible[0] if asked is None else self._named(asked)
        if asked is None and len(visible) > 1:
            self._note(
                TableGuess(
                    f"{self.name} has {len(visible)} sheets, {listed(visible)}: {chosen!r:.60} is "
                    "read",
                    "sheet",
                )
            )

        def opened() -> Any:
            try:
                return book.get_sheet_by_name(chosen)
            except Exception as error:  # noqa: BLE001
                raise damaged(self.name, str(error)) from None

        return chosen, opened

    def _named(self, asked: str) -> str:
        """Return the sheet of a name, or of a number from 1 on."""
        if asked in self._sheets:
            return asked
        if asked.isdigit() and 1 <= int(asked) <= len(self._sheets):
            return self._sheets[int(asked) - 1]
        raise BadSetting(
            f"{self.name} has no sheet {asked!r:.60}", hint=f"it has {listed(self._sheets)}"
        )

    def _others(self, chosen: str) -> str:
        others = [one for one in self._sheets if one != chosen]
        return f"--sheet names another: {listed(others)}" if others else "it has no cells"

    def _rows(self, most: int | None = None) -> list[list[Any]]:
        held: list[list[object]] = self._sheet.to_python(skip_empty_area=True, nrows=most)
        return held

    def _number(self, place: int) -> int:
        """Return the number of a row, as the spreadsheet has it."""
        return int(self._top + place + 1)

    def _look_at_rows(self, first: int, names: Sequence[str]) -> None:
        """Look at all rows once: which columns hold anything, and what stands below the table."""
        used = [bool(name) for name in names]
        texts, numbers = set[int](), set[int]()
        last: list[tuple[int, list[object]]] = []
        for place, row in enumerate(self._sheet.iter_rows()):
            if place < first or not any(map(is_there, row)):
                continue
            for j, cell in enumerate(row):
                used[j] = used[j] or is_there(cell)
                if isinstance(cell, str):
                    texts.add(j)
                elif isinstance(cell, float):
                    numbers.add(j)
            last.append((place, row))
            last = last[-MOST_REMARKS:]
        if not last:
            raise BadRows(
                f"{self.name} has no rows", hint="there is a header, but no rows below it"
            )
        self._columns = [j for j, one in enumerate(used) if one]
        self._mixed = texts & numbers  # columns of typed numbers, and of texts that may be some
        self._left_out: list[str] = []
        self._last = last[-1][0]
        remarks = []
        while len(last) > 1 and len(self._columns) > 2 and _is_remark(last[-1][1]):
            remarks.append(last.pop()[0])
        if remarks:
            self._left_out.append(_rows_said([self._number(p) for p in remarks], "a remark"))
        while len(last) > 1 and is_total(last[-1][1]):
            place, row = last.pop()
            first_cell = next(cell for cell in row if is_there(cell))
            said = f"row {self._number(place)}, {first_cell!r:.40}, holds totals and is left out"
            self._left_out.append(said)
        self._last = last[-1][0]

    def _say(self, header: int | None, group: int | None, empty: str | None, many: int) -> None:
        """Tell what was decided about the sheet."""
        if header is not None and self._number(header) > 1 and header:
            above = f" under {self._number(group)}" if group is not None else ""
            self._note(
                TableGuess(f"{self.name}: row {self._number(header)}{above} names the columns", "")
            )
        elif group is not None:
            self._note(TableGuess(f"{self.name}: column names take up two rows", ""))
        filled = sorted({column for ones in self._merged().values() for column, _ in ones})
        told = [self.names[self._columns.index(j)] for j in filled if j in self._columns]
        if told:
            said = f"merged cells of {listed(told)} are repeated in each of their rows"
            self._note(TableGuess(f"{self.name}: {said}", ""))
        for said in self._left_out:
            self._note(TableGuess(f"{self.name}: {said}", ""))
        if empty is not None:
            more = f", and {many - 1:,} others" if many > 1 else ""
            self._note(
                TableGuess(
                    f"{self.name}: the formula in {empty}{more} has no stored value and is blank; "
                    "open it in a spreadsheet and save it to have one",
                    "",
                )
            )

    def records(self, lines: TextLines) -> Iterator[Record | None]:
        """Yield each row and its number; None where it may be looked whether there are many."""
        merged = self._merged()
        is_known = self._spelled is not None
        spelled = [name in (self._spelled or ()) for name in self.names]
        filled: dict[int, tuple[int, object]] = {}
        for place, row in enumerate(self._sheet.iter_rows()):
            if place < self._first or place > self._last:
                continue
            for column, end in merged.get(place, ()):
                filled[column] = (end, row[column])
            for column in [c for c, (end, _) in filled.items() if end < place]:
                del filled[column]
            there = any(map(is_there, row))
            if not there:
                continue
            cells = []
            for j, as_number in zip(self._columns, spelled, strict=True):
                cell = row[j]
                if j in filled and not is_there(cell):
                    cell = filled[j][1]
                text = text_of(cell)
                if isinstance(cell, (int, float)) and not isinstance(cell, bool):
                    if as_number:
                        text = text if "e" in text else f"{text}e0"  # it is what it is
                    elif not is_known and j in self._mixed and "." in text:
                        text = without_point(text)  # which mark texts have, it does not say
                refuse_long(len(text), f"{self.name}, row {self._number(place)}")
                lines.given += len(text)
                cells.append(text)
            yield self._number(place), cells
            if place % PAUSE == 0:
                yield None

    def _merged(self) -> dict[int, list[tuple[int, int]]]:
        """Return columns in which merged cells begin and the row in which they end, by row."""
        found: dict[int, list[tuple[int, int]]] = {}
        ranges = self._sheet.merged_cell_ranges or []
        left = (self._sheet.start or (0, 0))[1]
        for (top, first), (bottom, last) in ranges[:MOST_MERGED]:
            start, end = top - self._top, bottom - self._top
            if end > start >= self._first and left <= first == last:
                found.setdefault(start, []).append((first - left, end))
        return found

    def _spans(self, group: int | None) -> dict[int, int]:
        """Return of the columns where merged cells of a row begin how many they take."""
        left = (self._sheet.start or (0, 0))[1]
        ranges = (self._sheet.merged_cell_ranges or [])[:MOST_MERGED]
        return {
            first - left: last - first + 1
            for (top, first), (_, last) in ranges
            if group is not None and top - self._top == group and first >= left
        }

    def tables(
        self, names: Sequence[str], kinds: Sequence[str], size: int, start: int = 0
    ) -> Iterator[Table]:
        """Yield the rows of some columns, `size` at a time, as these kinds, after `start` rows."""
        pairs = zip(names, kinds, strict=True)
        self._spelled = frozenset(
            name for name, kind in pairs if kind != CATEGORY and spelling_of(kind) is not None
        )
        yield from super().tables(names, kinds, size, start)


def _is_remark(row: Sequence[object]) -> bool:
    there = [cell for cell in row if is_there(cell)]
    return len(there) == 1 and isinstance(there[0], str)


def _rows_said(numbers: list[int], what: str) -> str:
    if len(numbers) == 1:
        return f"row {numbers[0]} is {what} and is left out"
    return f"rows {numbers[-1]} to {numbers[0]} are remarks and are left out"
