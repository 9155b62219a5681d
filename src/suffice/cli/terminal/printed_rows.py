"""Rows on standard output: CSV that is safe to open in a spreadsheet, or JSON lines.

These are data, and are written as they are, in UTF-8, whatever else the terminal's encoding is; on
a terminal itself, what it would obey is written out.
"""

from __future__ import annotations

import csv
import errno
import json
import math
import sys
from typing import TYPE_CHECKING, Any

from suffice.tables.csv.inert_cells import inert

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TextIO


class PrintedRows:
    """Prints rows with named cells, one at a time.

    In CSV, a text that a spreadsheet would take for a formula is preceded by an apostrophe, which
    is taken away again when such a table is read here. With `digits`, numbers have so many
    significant digits in CSV, which people read; in JSON they have all.
    """

    def __init__(self, names: Sequence[str], *, as_json: bool, digits: int | None = None) -> None:
        self._names = list(names)
        self._digits = digits
        self._json = as_json
        self._out = _standard_output()
        self._seen = self._out.isatty()
        self._writer = csv.writer(self._out, lineterminator="\n")
        if not as_json:
            self._writer.writerow(self._shown([inert(name) for name in names]))

    def write(self, rows: Iterable[Sequence[object]]) -> None:
        """Print some rows."""
        if self._json:
            for row in rows:
                cells = dict(zip(self._names, map(plain, row), strict=True))
                self._out.write(json_text(cells, self._seen) + "\n")
        else:
            self._writer.writerows(
                self._shown([cell_text(cell, self._digits) for cell in row]) for row in rows
            )

    def _shown(self, cells: list[str]) -> list[str]:
        """Return cells as a terminal may have them, if there is one."""
        if not self._seen or all(map(str.isprintable, cells)):
            return cells
        from suffice.printing.terminal_words import printable

        return [printable(cell) for cell in cells]


def cell_text(cell: object, digits: int | None = None) -> str:
    """Return a cell as CSV has it: numbers in as few digits as name them, blanks empty.

    With `digits`, numbers are rounded to so many significant ones.

    >>> cell_text(3.0), cell_text(0.1), cell_text(None), cell_text("=1+1"), cell_text(True)
    ('3', '0.1', '', "'=1+1", 'true')
    >>> cell_text(2 / 3, 6), cell_text(1e-9 / 3, 6)
    ('0.666667', '3.33333e-10')
    """
    cell = plain(cell)
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        cell = cell if digits is None else float(f"{cell:.{digits}g}")
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    return inert(cell) if isinstance(cell, str) else str(cell)


def plain(cell: object) -> Any:
    """Return a cell as a plain value that JSON has a word for."""
    cell = cell.item() if hasattr(cell, "item") else cell
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def print_json(content: object) -> None:
    """Print one JSON document."""
    out = _standard_output()
    out.write(json_text(content, out.isatty(), indent=1) + "\n")


def print_line(content: object) -> None:
    """Print one line of JSON."""
    out = _standard_output()
    out.write(json_text(content, out.isatty()) + "\n")


def print_text(text: str) -> None:
    """Print a text that programs read, as it is."""
    out = _standard_output()
    if out.isatty():
        from suffice.cli.terminal.messages import say

        say(text.removesuffix("\n"))
    else:
        out.write(text)


def json_text(content: object, terminal: bool = False, indent: int | None = None) -> str:
    r"""Return JSON; for a `terminal`, with escapes for what it would obey, which mean the same.

    >>> print(json_text("caf\u00e9 \u202e", terminal=True))
    "café \u202e"
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent, default=str)
    if not terminal or text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _standard_output() -> TextIO:
    """Return standard output as a stream of UTF-8: a table must be one that can be read again."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "Standard output is closed")
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="surrogateescape")
    return sys.stdout
