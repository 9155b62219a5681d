"""Tables of results, as the page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.report.markup import name, table, text

if TYPE_CHECKING:
    from suffice.printing.result_table import TextTable

MOST_ROWS = 40


def results_table(found: TextTable, marked: str = "") -> str:
    """Return a table of results with its title above and its notes below.

    The row that begins with `marked` stands out.

    >>> from suffice.printing.result_table import TableColumn, TextTable
    >>> html = results_table(TextTable("Two", (TableColumn("model"),), (("a",), ("b",))), "b")
    >>> html[:12], "<strong><bdi>b</bdi></strong>" in html
    ('<h3>Two</h3>', True)
    """
    shown = found.rows[:MOST_ROWS]
    texts = [column.texts([row[j] for row in shown]) for j, column in enumerate(found.columns)]
    rows = []
    for cells in zip(*texts, strict=True):
        first = f"<strong>{name(cells[0])}</strong>" if cells[0] == marked else name(cells[0])
        rows.append((first, *(text(cell.strip()) for cell in cells[1:])))
    figures = [j for j, column in enumerate(found.columns) if column.format is not None]
    heads = [text(column.head) for column in found.columns]
    left = len(found.rows) - len(shown)
    notes = [*([f"… and {left:,} more rows."] if left else []), *found.notes]
    below = "".join(f'<p class="soft">{text(note)}</p>' for note in notes if note)
    title = f"<h3>{text(found.title)}</h3>" if found.title else ""
    return title + table(heads, rows, figures=figures) + below
