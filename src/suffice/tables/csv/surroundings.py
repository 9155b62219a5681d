"""What stands around a table in a file of text: lines above its header, under it, and at its end.

Banks write names and periods above the header and balances below the rows, spreadsheets a line
`sep=;`, surveys the questions under their names, laboratories units, others comments and rules.
What is left out is always said.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from suffice.columns.spellings.blank_cells import TRUTHS, is_blank
from suffice.columns.spellings.written_numbers import written_number
from suffice.tables.csv.cells import is_code, number_of
from suffice.tables.csv.inert_cells import plain_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from suffice.tables.csv.dialect import Dialect

LOOK = 60
"""Lines at the top among which the header is looked for, as in sheets."""
MOST_BELOW = 20
"""Lines at the end that are looked at: as many remarks as below a sheet."""
MOST_UNDER = 3
"""Rows under a header that may say what its columns are: questions, identifiers, units."""
ENOUGH = 5
"""Rows from which on it can be told that what stands under the header is none of them."""
_SEP = re.compile(r'\ufeff?"?sep=(.)"?,*;*\s*', re.IGNORECASE)
"""The line by which spreadsheets say what parts cells."""
_RULE = re.compile(r"[\s|+\-=_:]*(?:-{3}|={3}|_{3})[\s|+\-=_:]*")
"""A line that is drawn: above, below or under a header."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """How many lines and rows of a file are no rows of its table.

    above      lines before the header, or before the first row
    under      rows between the header and the first one of cells
    below      lines at the end
    delimiter  what a line `sep=;` says
    boxed      whether lines are drawn between header and rows: cells stand between blanks
    said       what is to be said of it
    """

    above: int = 0
    under: int = 0
    below: int = 0
    delimiter: str | None = None
    boxed: bool = False
    said: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but the table."""
        return not (self.above or self.under or self.below)

    def with_rows(
        self, rows: Sequence[Sequence[str]], width: int, dialect: Dialect, tail: Sequence[str]
    ) -> Surroundings:
        """Return the same, and what stands under the header and at the end.

        `rows` are the first ones below the header, `tail` the last lines of the file.
        """
        few = max(0, len(tail) - MOST_BELOW - 1)
        below, ends = lines_below(tail[few:], dialect.delimiter, width)
        rows = rows[: max(0, len(rows) - below)]  # of a small file all have been seen
        drawn = 0
        while drawn < len(rows) and is_rule("|".join(rows[drawn])):
            drawn += 1
        more = rows_under(rows[drawn:], width) if dialect.header else 0
        under = drawn + more if dialect.header else 0
        said = list(self.said)
        for row in rows[drawn : drawn + more]:
            cell = next(cell for cell in row if cell.strip())
            said.append(f"the row of {cell.strip()!r:.40} under the header is left out: it "
                        "describes columns")  # fmt: skip
        said += [f"{end} and is left out" for end in ends]
        drawn += any(map(is_rule, tail[len(tail) - below :])) if below else 0
        return replace(
            self, under=under, below=below, boxed=self.boxed or drawn > 0, said=tuple(said)
        )

    def rows_only(self, blocks: Iterator[list[str]]) -> Iterator[list[str]]:
        """Yield lines without those above, and without those at the end."""
        above, held = self.above, list[str]()
        for block in blocks:
            lines = [*held, *block[above:]]
            above = max(0, above - len(block))
            end = max(0, len(lines) - self.below)
            held = lines[end:]
            yield lines[:end]


def surroundings_above(
    lines: Sequence[str], delimiters: str, header: bool | None, expected: Collection[str]
) -> Surroundings:
    """Return what stands above a table, given the lines that have been seen."""
    named = separator_said(lines[0]) if lines else None
    first = 0 if named is None else 1
    above = 0
    if header is None:
        above = lines_above(lines[first:], named or delimiters, expected)
    if not above:
        return Surroundings(first, delimiter=named)
    head = lines[first : first + above]
    many = f"{above} lines" if above > 1 else "a line"
    said: tuple[str, ...] = ()
    if not all(is_rule(line) or not line.strip() for line in head):
        above_it = f"{many} above it {'are' if above > 1 else 'is'} left out"
        said = (f"line {first + above + 1:,} names the columns; {above_it}",)
    return Surroundings(first + above, delimiter=named, boxed=is_rule(head[-1]), said=said)


def named_columns(
    header: Sequence[str], rows: Sequence[Sequence[str]], expected: Collection[str]
) -> slice:
    """Return which columns there are: those at the edges without a name and a cell are none.

    >>> named_columns(["", "a", "b", ""], [["", "1", "2", ""]], ())
    slice(1, 3, None)
    """
    width = len(header)
    rows = [row for row in rows if not is_rule("|".join(row))]

    def is_nothing(j: int) -> bool:
        blank = not any(j < len(row) and row[j].strip() for row in rows)
        return not header[j].strip("\ufeff \t") and blank and f"column {j + 1}" not in expected

    start, stop = 0, width
    while stop > 1 and is_nothing(stop - 1):
        stop -= 1
    while rows and start < stop - 1 and is_nothing(start):
        start += 1
    return slice(start, stop)


def is_rule(line: str) -> bool:
    """Whether a line is drawn: `-----`, `|---|---|`, `===`.

    >>> [is_rule(line) for line in ("+----+---+", "|:---|---:|", "-5,-3", "a---")]
    [True, True, False, False]
    """
    return _RULE.fullmatch(line) is not None


def separator_said(line: str) -> str | None:
    r"""Return the delimiter that a first line of a spreadsheet names: `sep=;`.

    >>> separator_said("sep=;\n"), separator_said('"sep=\t"'), separator_said("sep,a")
    (';', '\t', None)
    """
    found = _SEP.fullmatch(line)
    return None if found is None else found[1]


def lines_above(lines: Sequence[str], delimiters: str, expected: Collection[str]) -> int:
    r"""Return how many lines stand above the header.

    The header is the first row with most of the names that are expected, if those above it have
    fewer cells; or, where none has any, the first as wide as the table, if it is made of different
    words, if those above have half as many cells at most, and if numbers stand below it.

    >>> lines_above(["Account;12\n", "\n", "day;sum;y\n", "1;2;a\n"], ",;", ["y"])
    2
    >>> lines_above(["x,y\n", "1,a\n"], ",;", ["y"]), lines_above(["1,2\n", "y,2\n"], ",;", ["y"])
    (0, 0)
    """
    best, most = 0, 0
    wanted = set(expected)
    for delimiter in delimiters:
        rows = _rows(lines[:LOOK], delimiter)
        if not rows:
            continue
        found = {line: len(wanted.intersection(_names(row))) for line, row in rows}
        line = max(found, key=lambda line: (found[line], -line))
        if found[line] > most and (line == rows[0][0] or _is_below_narrower(lines, rows, line)):
            best, most = line, found[line]
    if most:
        return best
    shapes = [_by_shape(lines, delimiter) for delimiter in delimiters]
    return max(shapes, default=(0, 0))[1]


def _rows(lines: Sequence[str], delimiter: str) -> list[tuple[int, list[str]]]:
    """Return rows that are not blank, each with the number of the line where it begins, from 0."""
    reader = csv.reader(lines, delimiter=delimiter)
    found, start = [], 0
    try:
        for row in reader:
            if any(map(str.strip, row)):
                found.append((start, row))
            start = reader.line_num
    except csv.Error:
        return []
    return found


def _names(row: Sequence[str]) -> list[str]:
    return [plain_text(cell.lstrip("\ufeff").strip()) for cell in row]


def _filled(row: Sequence[str]) -> int:
    """Return how many cells of a row hold anything."""
    return sum(bool(cell.strip()) for cell in row)


def _is_below_narrower(
    lines: Sequence[str], rows: Sequence[tuple[int, list[str]]], header: int, share: float = 1.0
) -> bool:
    """Whether all rows above a header have fewer cells, are drawn, or are comments."""
    width = _filled(dict(rows)[header])
    comments = not lines[header].startswith("#")
    return width > 1 and all(
        _filled(row) <= share * width - (share == 1.0)
        or is_rule(lines[line])
        or (comments and lines[line].startswith("#"))
        for line, row in rows
        if line < header
    )


def _by_shape(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    """Return how wide a table is below some lines, and how many they are; 0, 0 for none."""
    rows = _rows(lines, delimiter)
    rows = [(line, row) for line, row in rows if not is_rule(lines[line])]
    if len(rows) < 3:
        return 0, 0
    width, often = Counter(len(row) for _, row in rows).most_common(1)[0]
    line, header = next((line, row) for line, row in rows if len(row) == width)
    below = [row for place, row in rows if place > line]
    names = _names(header)
    sound = (
        0 < line < LOOK
        and width > 1
        and often > len(rows) / 2
        and all(names)
        and len(set(names)) == width
        and all(number_of(name) is None for name in names)
        and _is_below_narrower(lines, rows, line, 0.5)
        and any(all(j < len(row) and is_quantity(row[j]) for row in below) for j in range(width))
    )
    return (width, line) if sound and below else (0, 0)


def is_quantity(cell: str) -> bool:
    """Whether a cell is a number, a date or blank, in whatever way it is written."""
    if is_blank(cell) or number_of(cell) is not None or written_number(cell) is not None:
        return True
    from suffice.columns.spellings.written_dates import written_date

    return written_date(cell) is not None


def rows_under(rows: Sequence[Sequence[str]], width: int) -> int:
    """Return how many of the first rows under a header say more about its columns.

    Such a row has words alone: one in every column whose cells below are all numbers or dates,
    and in the others none that comes again. Either there are two columns of numbers at least, or
    one beside a column whose cells do come again.

    >>> below = [[f"{i}.5", f"{i}", "ab"[i % 2]] for i in range(8)]
    >>> rows_under([["kg", "mm", ""], *below], 3), rows_under(below, 3)
    (1, 0)
    >>> rows_under([["refused", "12", "a"], *below], 3)
    0
    """
    for many in range(min(MOST_UNDER, len(rows) - ENOUGH), 0, -1):
        below = rows[many:]
        if all(len(row) == width for row in rows) and all(
            _says_more(row, below) for row in rows[:many]
        ):
            return many
    return 0


def _says_more(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row is of words that no cells of its columns are."""
    measured = again = 0
    for cell, column in zip(row, zip(*below, strict=True), strict=True):
        there = [other for other in column if not is_blank(other)]
        numbers = len(there) >= ENOUGH and all(map(is_quantity, there))
        numbers = numbers and not any(map(is_code, there))
        word = bool(cell.strip()) and not is_quantity(cell) and cell not in TRUTHS
        if numbers and not word:
            return False
        if not numbers and cell.strip() and (cell in column or not (word or is_blank(cell))):
            return False
        measured += numbers
        again += not numbers and len(there) >= ENOUGH and len(set(there)) <= len(there) / 2
    return measured > 1 or (measured == 1 and again > 0)


def lines_below(tail: Sequence[str], delimiter: str, width: int) -> tuple[int, list[str]]:
    r"""Return how many of the last lines are no rows, and what they are, in words.

    Sums say so in their first cell, and other cells of theirs are numbers; remarks are one cell
    of several words, or stand below a blank line and have half as many cells as rows at most.
    A last line without its end may be a row that was cut off, and is no remark.

    >>> lines_below(["a,2,x\n", "b,3,y\n", "Total,5,\n"], ",", 3)
    (1, ["'Total' holds totals"])
    >>> lines_below(["a,2,x\n", "b,3,y\n", "\n", "End of list\n"], ",", 3)
    (2, ["'End of list' is a remark"])
    >>> lines_below(["a,2,x\n", "b,3\n"], ",", 3)
    (0, [])
    """
    lines = list(tail)
    if any(line.count('"') % 2 for line in lines) or width < 2:
        return 0, []
    rows = [next(iter(csv.reader([line], delimiter=delimiter)), []) for line in lines]
    place, said = len(lines), list[str]()
    while place > 1 and len(lines) - place < MOST_BELOW:
        row, line = rows[place - 1], lines[place - 1]
        there = [cell.strip() for cell in row if cell.strip()]
        if not there or is_rule(line):  # left out where something below is
            place -= 1
            continue
        gap = _has_gap(rows, lines, place, width)
        whole = gap or line.endswith(("\n", "\r"))
        above = rows[: place - 1]
        if _is_total(row, above, there, width):
            said.append(f"{there[0]!r:.40} holds totals")
        elif (whole and _is_remark(row, there, width, gap)) or _is_balance(
            row, above, there, width
        ):
            said.append(f"{there[0]!r:.40} is a remark")
        else:
            break
        place -= 1
    if not said:
        # Blank rows at the end are rows; blank lines and rules are none.
        drawn = 0
        while drawn < len(lines) - 1 and (is_rule(lines[-1 - drawn]) or not rows[-1 - drawn]):
            drawn += 1
        return (drawn, []) if any(map(is_rule, lines[len(lines) - drawn :])) else (0, [])
    return len(lines) - place, said[::-1]


def _is_total(
    row: Sequence[str], above: Sequence[Sequence[str]], there: Sequence[str], width: int
) -> bool:
    """Whether a row says that it holds sums, in a word that no row above it has there."""
    numbers = any(written_number(cell) is not None for cell in there[1:])
    if not numbers or len(row) > width + 1 or any(there[0] in other for other in above):
        return False
    from suffice.tables.csv.total_rows import says_total

    return says_total(there[0])


def _is_remark(row: Sequence[str], there: Sequence[str], width: int, gap: bool) -> bool:
    """Whether a row of fewer cells is a remark; `gap` says whether it stands apart."""
    number = written_number(there[0])
    plain = is_quantity(there[0]) and (number is None or not number.unit)
    if width < 3 or plain or len(row) >= width:
        return False
    return gap or (len(there) == 1 and " " in there[0])


def _is_balance(
    row: Sequence[str], rows: Sequence[Sequence[str]], there: Sequence[str], width: int
) -> bool:
    """Whether a row below a blank one has a word where all others have numbers or dates."""
    if len(row) != width or len(there) == width or not rows or any(map(str.strip, rows[-1])):
        return False
    first = [other[0] for other in rows if other and other[0].strip()]
    return len(first) >= ENOUGH and not is_quantity(row[0]) and all(map(is_quantity, first))


def _has_gap(rows: Sequence[Sequence[str]], lines: Sequence[str], place: int, width: int) -> bool:
    """Whether a blank line or a rule stands above a row, or above those that it belongs to."""
    while place > 1 and len(rows[place - 1]) < width:
        if not rows[place - 2] or is_rule(lines[place - 2]):
            return True
        place -= 1
    return False
