"""Where a sheet has its table: titles above, the header, totals and remarks below."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from suffice.tables.csv.total_rows import says_total

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

LOOK = 60
"""Rows at the top of a sheet among which the header is looked for."""
NEARLY = 0.6
"""The share of the widest of these rows that a header fills: a title fills a cell or two."""


class Layout(NamedTuple):
    """Where the table of a sheet is, in places of its rows.

    header   the row that names the columns; None if none does
    first    the first row of cells
    group    the row above the header whose words stand for several columns; None if none does
    """

    header: int | None
    first: int
    group: int | None = None


def text_of(cell: object) -> str:
    """Return a cell of a sheet as a table of text has it.

    >>> [text_of(cell) for cell in (2.0, 2.5, True, date(2024, 1, 5), time(10, 30), "a", None)]
    ['2', '2.5', 'true', '2024-01-05', '10:30:00', 'a', '']
    """
    if isinstance(cell, str):
        return cell
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, (int, float)):
        whole = float(cell).is_integer() and abs(cell) < 1e15
        return str(int(cell)) if whole else repr(float(cell))
    if isinstance(cell, datetime):
        return cell.isoformat(sep="T") if cell.time() != time() else f"{cell.date()}T00:00:00"
    if isinstance(cell, timedelta):
        seconds = round(cell.total_seconds())
        if seconds < 0:
            return repr(seconds / 3600.0)
        return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return cell.isoformat() if isinstance(cell, (date, time)) else str(cell)


def without_point(number: str) -> str:
    """Return a number that has a decimal point in a notation that has none.

    >>> without_point("20.25"), without_point("-1.5e-07")
    ('2025e-2', '-15e-8')
    """
    sign, digits, exponent = Decimal(number).as_tuple()
    return f"{'-' * sign}{''.join(map(str, digits))}e{exponent}"


def is_there(cell: object) -> bool:
    """Whether a cell holds anything."""
    return cell is not None and not (isinstance(cell, str) and not cell.strip())


def layout_of(
    rows: Sequence[Sequence[object]], header: bool | None, expected: Collection[str]
) -> Layout:
    """Find the header among the first rows of a sheet.

    It is the row that has the columns somebody asks for; else the first one of words alone that
    is about as wide as the table, unless another row of words follows which is as wide.

    >>> rows = [["Sales 2024", "", ""], ["", "", ""], ["shop", "size", "y"], ["a", 1.0, "b"]]
    >>> layout_of(rows, None, ())
    Layout(header=2, first=3, group=None)
    >>> layout_of([[1.0, 2.0], [3.0, 4.0]], None, ())
    Layout(header=None, first=0, group=None)
    """
    there = [[cell for cell in row if is_there(cell)] for row in rows[:LOOK]]
    filled = [place for place, cells in enumerate(there) if cells]
    if not filled:
        return Layout(None, 0)
    widest = max(len(cells) for cells in there)
    wide = [place for place in filled if len(there[place]) >= max(1, NEARLY * widest)]
    if header is False:
        return Layout(None, wide[0])
    wanted = set(expected)
    if wanted:
        names = [{text_of(cell).strip() for cell in cells} for cells in there]
        best = max(filled, key=lambda place: (len(names[place] & wanted), -place))
        if names[best] & wanted:
            return _with_group(rows, best)
    if header is True:
        return _with_group(rows, wide[0])
    place = wide[0]
    if not all(isinstance(cell, str) for cell in there[place]):
        return Layout(None, place)
    return _with_group(rows, place)


def _with_group(rows: Sequence[Sequence[object]], header: int) -> Layout:
    """Return a header, with the row of groups above or below it that makes its names different."""
    names = [text_of(cell).strip() for cell in rows[header]]
    known = [name for name in names if name]
    below = rows[header + 1] if header + 1 < len(rows) else ()
    lower = [text_of(cell).strip() for cell in below]
    words = (
        bool(below)
        and all(isinstance(c, str) for c in below)
        and sum(map(bool, lower)) > len(known)
    )
    if (
        words
        and len(known) > 1
        and all(lower[j] or not names[j] for j in range(min(len(lower), len(names))))
    ):
        return Layout(header + 1, header + 2, header)  # groups that each stand for several columns
    if len(set(known)) < len(known) and header and any(map(is_there, rows[header - 1])):
        return Layout(header, header + 1, header - 1)
    return Layout(header, header + 1)


def names_of(
    rows: Sequence[Sequence[object]], layout: Layout, spans: Mapping[int, int] | None = None
) -> list[str]:
    """Return the names of columns; empty for those without one.

    `spans` says of columns how many the merged cell above it takes: what stands there goes before
    their names. Without any, it goes before names that are not different by themselves.

    >>> names_of([["2023", "", "2024", ""], ["Q1", "Q2", "Q1", "Q2"]], Layout(1, 2, 0))
    ['2023 Q1', '2023 Q2', '2024 Q1', '2024 Q2']
    >>> names_of([["2023", "", "", ""], ["Q1", "Q2", "shop", "y"]], Layout(1, 2, 0), {0: 2})
    ['2023 Q1', '2023 Q2', 'shop', 'y']
    """
    if layout.header is None:
        return []
    names = [" ".join(text_of(cell).split()) for cell in rows[layout.header]]
    if layout.group is None:
        return names
    words = [text_of(cell).strip() for cell in rows[layout.group]]
    if spans:
        above = [""] * len(names)
        for first, many in spans.items():
            above[first : first + many] = [words[first]] * len(above[first : first + many])
        words = [
            word or (text if names[j] == "" else "")
            for j, (word, text) in enumerate(zip(above, words, strict=True))
        ]
    else:
        group, often = "", Counter(names)
        for j, word in enumerate(words):
            group = word or group
            words[j] = group if often[names[j]] > 1 or not names[j] else ""
    pairs = zip(words, names, strict=True)
    return [f"{word} {name}".strip() if word != name else name for word, name in pairs]


def is_total(row: Sequence[object]) -> bool:
    """Whether a last row says that it holds sums.

    >>> is_total(["Total", "", 12.0]), is_total(["Totnes", 3.0, 12.0]), is_total(["Summe:", 5.0])
    (True, False, True)
    """
    there = [cell for cell in row if is_there(cell)]
    if not there or not isinstance(there[0], str):
        return False
    numbers = any(isinstance(cell, (int, float)) for cell in there[1:])
    return numbers and says_total(there[0])
