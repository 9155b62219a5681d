"""Small tables of results, as aligned text, as HTML and as a frame, and formats of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from suffice.errors import BadSetting, listed
from suffice.printing.terminal_words import WIDTH, cut, printable, width, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable


Cell: TypeAlias = object
"""A word, a number, or None where there is no answer; NaN counts as None."""

GAP = "  "
"""What parts two columns."""
NARROWEST = 12
"""Columns of words are cut no further than this, as long as the rest finds room."""
SHOWN = 200
"""Rows that are printed; a frame holds them all."""
Library: TypeAlias = Literal["pandas", "polars"]
LIBRARIES: tuple[Library, ...] = ("pandas", "polars")
"""Where frames come from, in the order in which they are looked for."""
ABSENT = "–"
"""What stands where there is no answer: a dash, which no number begins with."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a table.

    head        what stands above it
    format      value → text for a column of numbers; None for a column of words
    name        its name in a frame, where the head is not a good one
    heading     its cells are printed over the rows that share them, after the head, not beside
    """

    head: str
    format: Callable[[float], str] | None = None
    name: str | None = None
    heading: bool = False

    def texts(self, cells: list[Cell]) -> list[str]:
        """Return the cells as they are printed, numbers aligned at their points."""
        if self.format is None:
            return [ABSENT if _absent(cell) else printable(cell) for cell in cells]
        shown = [ABSENT if _absent(cell) else self.format(float(cell)) for cell in cells]  # type: ignore[arg-type]
        tails = [len(text) - text.index(".") if "." in text else 0 for text in shown]
        # Figures without a point are lined up with the last digit before the others' points.
        longest = max(tails, default=0)
        return [text + " " * (longest - tail) for text, tail in zip(shown, tails, strict=True)]


@dataclass(frozen=True, slots=True, repr=False)
class TextTable:
    """A table of results: `print` it, show it in a notebook, or take it as a frame.

    title       one line above
    columns     what each column is
    rows        the cells
    notes       sentences below

    >>> from suffice.printing.result_table import Significant
    >>> print(TextTable(
    ...     "Two slopes",
    ...     (TableColumn("column"), TableColumn("estimate", Significant(3))),
    ...     (("height", 1.25), ("weight", -0.0371), ("age", None)),
    ...     ("age is constant",),
    ... ))
    Two slopes
    <BLANKLINE>
    column  estimate
    height    1.25
    weight   -0.0371
    age          –
    <BLANKLINE>
    age is constant
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse rows that do not fit the columns."""
        for i, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise BadSetting(
                    f"row {i} of the table has {len(row)} cells for {len(self.columns)} columns",
                    hint="give every row one cell per column, None where there is no answer",
                )

    def __str__(self) -> str:
        """Return aligned text, at most 100 columns wide."""
        blocks = [wrapped(self.title)] if self.title else []
        shown, left_out = self._shown()
        panels = _panels(self.columns, shown)
        for heads, lines in panels:
            printed = [heads]
            for i, line in enumerate(lines):
                over = _headings(self.columns, shown, i)
                printed += ([""] if over and i else []) + [wrapped(word) for word in over]
                printed.append(line)
            blocks.append("\n".join(line.rstrip() for line in printed))
        if left_out:
            blocks[-1] += f"\n{_left_out(left_out)}"
        if self.notes:
            blocks.append("\n".join(wrapped(note) for note in self.notes))
        return "\n\n".join(blocks)

    def __repr__(self) -> str:
        return str(self)

    def to_html(self) -> str:
        """Return one HTML table that needs no style sheet and takes the colours of its page."""
        line = "1px solid rgba(128,128,128,.6)"
        side = "text-align:left;padding:.15em .6em;vertical-align:top;overflow-wrap:anywhere"
        figure = "text-align:right;padding:.15em .6em;white-space:nowrap"
        shown, left_out = self._shown()
        seen = [j for j, column in enumerate(self.columns) if not column.heading]
        styles = [side if self.columns[j].format is None else figure for j in seen]
        heads = "".join(
            f'<th scope="col" style="{style};border-bottom:{line}">'
            f"{_html(self.columns[j].head)}</th>"
            for j, style in zip(seen, styles, strict=True)
        )
        texts = [self.columns[j].texts([row[j] for row in shown]) for j in seen]
        body = []
        for i in range(len(shown)):
            body += [
                f'<tr><th scope="rowgroup" colspan="{len(seen)}" '
                f'style="{side};padding-top:.7em;border-bottom:{line}">{_html(word)}</th></tr>'
                for word in _headings(self.columns, shown, i)
            ]
            cells = "".join(
                f'<td style="{style}">{_html(text[i])}</td>'
                if style == figure
                else f'<th scope="row" style="{style};font-weight:normal">{_html(text[i])}</th>'
                for text, style in zip(texts, styles, strict=True)
            )
            body.append(f"<tr>{cells}</tr>")
        below = [*([_left_out(left_out)] if left_out else []), *self.notes]
        title = f'<caption style="{side};caption-side:top;font-weight:bold">{_html(self.title)}'
        return (
            '<div style="overflow-x:auto;color:inherit;background:transparent">'
            '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums;'
            f'border-bottom:{line}">'
            + (f"{title}</caption>" if self.title else "")
            + f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>"
            + "".join(f'<p style="margin:.3em .6em">{_html(note)}</p>' for note in below if note)
            + "</div>"
        )

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_frame(self, library: str | None = None) -> Any:
        """Return all rows as a frame of pandas or polars, whichever is asked for or installed.

        Numbers are numbers, not text; where there is no answer the cell is empty.
        """
        import narwhals as nw

        backend = _installed(library)
        data: dict[str, list[object]] = {}
        schema: dict[str, Any] = {}
        for j, column in enumerate(self.columns):
            name = column.head if column.name is None else column.name
            cells = [None if _absent(row[j]) else _plain(row[j]) for row in self.rows]
            kinds = {type(cell) for cell in cells}
            if column.format is not None:
                schema[name] = nw.Int64() if kinds == {int} else nw.Float64()
            elif kinds == {int}:
                schema[name] = nw.Int64()
            elif kinds == {bool}:
                schema[name] = nw.Boolean()
            else:
                schema[name] = nw.String()
                cells = [None if cell is None else str(cell) for cell in cells]
            data[name] = cells
        if len(data) < len(self.columns):
            raise BadSetting(
                f"the table has two columns of one name among {listed(data)}",
                hint="give each TableColumn a different name",
            )
        return nw.from_dict(data, schema=schema, backend=backend).to_native()

    def _shown(self) -> tuple[list[tuple[Cell, ...]], int]:
        """Return the rows to print and how many are left out: each group shows its first ones."""
        over = [j for j, column in enumerate(self.columns) if column.heading]
        groups = [tuple(str(row[j]) for j in over) for row in self.rows]
        most = max(5, SHOWN // max(1, len(set(groups))))
        taken: dict[tuple[str, ...], int] = {}
        shown = []
        for row, group in zip(self.rows, groups, strict=True):
            taken[group] = taken.get(group, 0) + 1
            if taken[group] <= most:
                shown.append(row)
        return shown, len(self.rows) - len(shown)


def _panels(
    columns: tuple[TableColumn, ...], rows: list[tuple[Cell, ...]]
) -> list[tuple[str, list[str]]]:
    """Return heads and lines, below one another where they are too wide to stand side by side."""
    seen = [j for j, column in enumerate(columns) if not column.heading]
    texts = {j: columns[j].texts([row[j] for row in rows]) for j in seen}
    heads = {j: printable(columns[j].head) for j in seen}
    wide = {j: min(max(map(width, (heads[j], *texts[j]))), WIDTH) for j in seen}
    words = [j for j in seen if columns[j].format is None]
    while sum(wide.values()) + len(GAP) * (len(seen) - 1) > WIDTH:
        longest = max(words, key=lambda j: wide[j], default=-1)
        if longest < 0 or wide[longest] <= NARROWEST:
            break
        wide[longest] -= 1
    named = [j for j in seen[:1] if columns[j].format is None]
    panels: list[list[int]] = [[*named]]
    for j in seen[len(named) :]:
        wide[j] = min(wide[j], WIDTH - sum(wide[i] + len(GAP) for i in named))
        taken = sum(wide[i] + len(GAP) for i in panels[-1])
        if taken + wide[j] > WIDTH and len(panels[-1]) > len(named):
            panels.append([*named])
        panels[-1].append(j)

    def line(panel: list[int], cells: dict[int, str]) -> str:
        """Return one line: words to the left, numbers to the right."""
        parts = []
        for j in panel:
            text = cut(cells[j], wide[j])
            room = " " * (wide[j] - width(text))
            parts.append(text + room if columns[j].format is None else room + text)
        return GAP.join(parts)

    return [
        (line(p, heads), [line(p, {j: texts[j][i] for j in p}) for i in range(len(rows))])
        for p in panels
    ]


def _headings(columns: tuple[TableColumn, ...], rows: list[tuple[Cell, ...]], i: int) -> list[str]:
    """Return the headings over row i: those of its cells that differ from the row before."""
    over = [j for j, column in enumerate(columns) if column.heading]
    if i and all(str(rows[i][j]) == str(rows[i - 1][j]) for j in over):
        return []
    return [f"{columns[j].head} {rows[i][j]}".strip() for j in over]


def _left_out(rows: int) -> str:
    return f"… and {rows:,} more rows: to_frame() has them all"


def _html(text: str) -> str:
    """Escape a text; the blanks that align numbers become ones as wide as a digit and a point."""
    from html import escape  # which loads the names of two thousand characters

    stem = text.rstrip(" ")
    blanks = len(text) - len(stem)
    point = blanks > 0 and "." not in stem
    return escape(printable(stem)) + "\u2008" * point + "\u2007" * (blanks - point)


def _absent(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, (float, np.floating)) and bool(np.isnan(cell)))


def _plain(cell: Cell) -> object:
    return cell.item() if isinstance(cell, np.generic) else cell


def _installed(library: str | None) -> Library:
    """Return the name of the frame library to use."""
    if library is not None and library not in LIBRARIES:
        raise BadSetting(
            f"there is no frame of {library!r}", hint='use library="pandas" or library="polars"'
        )
    for name in LIBRARIES:
        if library in {None, name} and find_spec(name) is not None:
            return name
    raise BadSetting(
        f"{library or 'neither pandas nor polars'} is {'not ' if library else ''}installed",
        hint=f"pip install {library or 'pandas'}, or take str() of the table",
    )


SMALLEST, LARGEST = 1e-4, 1e7
"""Beyond these a number is printed with an exponent: the zeros would hide it."""


@dataclass(frozen=True, slots=True)
class Significant:
    """So many significant digits, trailing zeros kept: they say how much is known.

    >>> [Significant(4)(x) for x in (-9.7730, 0.1, 12345.6, 1.23456e-7, float("inf"))]
    ['-9.773', '0.1000', '12346', '1.235e-07', 'inf']
    """

    digits: int = 4

    def __call__(self, value: float) -> str:
        """Return the number as text."""
        if value == 0.0 or not math.isfinite(value):
            return f"{abs(value) if value == 0.0 else value:g}"
        # Rounded first, so that 9.99996 is 10.00 and not 10.000.
        shown = f"{value:.{self.digits - 1}e}"
        rounded, power = float(shown), int(shown.partition("e")[2])
        if not SMALLEST <= abs(rounded) < LARGEST:
            return shown
        return f"{rounded if power < self.digits else value:.{max(0, self.digits - 1 - power)}f}"


@dataclass(frozen=True, slots=True)
class Decimals:
    """So many digits after the point, for numbers of one scale; large ones get their commas.

    >>> Decimals(2)(3.14159), Decimals(0)(1234567), Decimals(2)(-0.001)
    ('3.14', '1,234,567', '0.00')
    """

    digits: int = 3

    def __call__(self, value: float) -> str:
        """Return the number as text."""
        if not math.isfinite(value) or abs(value) >= 1e15:
            return f"{value:.4g}"
        text = f"{value:,.{self.digits}f}"
        return text.removeprefix("-") if float(text.replace(",", "")) == 0.0 else text


def p_value(value: float) -> str:
    """Return a p-value as text: four decimals while they say something, then the magnitude.

    >>> p_value(0.04951), p_value(2.345e-6), p_value(0.0)
    ('0.0495', '2.3e-06', '<1e-99')
    """
    if value < 1e-99:
        return "<1e-99"
    return f"{value:.4f}" if value >= 0.001 else f"{value:.1e}"
