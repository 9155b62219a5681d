"""Tables of the page: what was taken for what, and the figures of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.report.markup import listing, name, quoted, table, text

if TYPE_CHECKING:
    from suffice.evaluation import Comparison
    from suffice.printing.result_table import TextTable
    from suffice.rows import FloatArray


MOST_CLASSES = 30
"""Classes up to which there is a whole table; the commonest mistakes are told of more."""
NAMED = 8
"""Classes up to which columns have names; of more they have the number of the row."""
MOST_MISTAKES = 15
"""Mistakes that are listed, the commonest first. A choice: what fits on a screen."""
DARKEST = 0.55
"""How dark a cell is that holds its whole row: its figures can still be read."""


def confusion_counts(comparison: Comparison, model: str) -> FloatArray:
    """Return how many held-out rows of each class were given to which: rows are the classes."""
    rows = comparison.rows
    k = len(rows.classes)
    counts = np.zeros((k, k))
    np.add.at(
        counts,
        (rows.codes, comparison.held_out[model].predicted),
        1.0 if rows.weights is None else rows.weights,
    )
    return counts


def confusion_table(counts: FloatArray, classes: list[object]) -> str:
    """Return the table, each cell as dark as its share of the row; or a list of mistakes."""
    if len(classes) > MOST_CLASSES:
        return _mistakes(counts, classes)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0.0)
    named = len(classes) <= NAMED
    heads = "".join(
        f'<th scope="col">{name(label, 24) if named else j + 1}</th>'
        for j, label in enumerate(classes)
    )
    body = []
    for i, label in enumerate(classes):
        cells = []
        for j in range(len(classes)):
            share = shares[i, j]
            right = ' class="right"' if i == j else ""
            cells.append(
                f'<td{right} style="background:rgba(var(--cell),{DARKEST * share:.3f})">'
                f"{_count(counts[i, j], named)}</td>"
            )
        wrong = 100.0 * (1.0 - shares[i, i])
        number = "" if named else f"{i + 1}&ensp;"
        body.append(
            f'<tr><th scope="row">{number}{name(label, 24)}</th>{"".join(cells)}'
            f'<td class="figure">{wrong:.1f} %</td></tr>'
        )
    kind = "confusion" if named else "confusion many"
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>'
        f'<th scope="col">class ↓, predicted →</th>{heads}<th scope="col">wrong</th></tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _count(count: float, named: bool) -> str:
    """Return a count; nothing for none in a large table, where zeros would hide the mistakes."""
    return f"{count:,.6g}" if count or named else ""


def _mistakes(counts: FloatArray, classes: list[object]) -> str:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0.0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_MISTAKES]
    pairs = [divmod(int(place), len(classes)) for place in order]
    lines = [
        f"{quoted(classes[i])} was predicted as {quoted(classes[j])} "
        f"in {wrong[i, j]:,.6g} of {counts[i].sum():,.6g} rows"
        for i, j in pairs
        if wrong[i, j] > 0.0
    ]
    return f"<p>The most common mistakes:</p>{listing(lines)}" if lines else "<p>No mistakes.</p>"


MOST_ROWS = 40
"""Rows of a table of results that are shown. A choice: about a page."""


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
