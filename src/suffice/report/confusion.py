"""What was taken for what, as a table of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.report.markup import listing, name

if TYPE_CHECKING:
    from suffice.evaluation import Comparison
    from suffice.rows import FloatArray

MOST_CLASSES = 12
"""Classes up to which there is a whole table; of more the commonest mistakes are told."""
MOST_MISTAKES = 15
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


def confusion_table(counts: FloatArray, classes: list[Any]) -> str:
    """Return the table, each cell as dark as its share of the row; or a list of mistakes."""
    if len(classes) > MOST_CLASSES:
        return _mistakes(counts, classes)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0.0)
    heads = "".join(f'<th scope="col">{name(label, 24)}</th>' for label in classes)
    body = []
    for i, label in enumerate(classes):
        cells = []
        for j in range(len(classes)):
            share = shares[i, j]
            right = ' class="right"' if i == j else ""
            cells.append(
                f'<td{right} style="background:rgba(var(--cell),{DARKEST * share:.3f})">'
                f"{counts[i, j]:,.6g}</td>"
            )
        wrong = 100.0 * (1.0 - shares[i, i])
        body.append(
            f'<tr><th scope="row">{name(label, 24)}</th>{"".join(cells)}'
            f'<td class="figure">{wrong:.1f} %</td></tr>'
        )
    return (
        '<div class="wide"><table class="confusion"><thead><tr>'
        f'<th scope="col">class ↓, predicted →</th>{heads}<th scope="col">wrong</th></tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _mistakes(counts: FloatArray, classes: list[Any]) -> str:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0.0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_MISTAKES]
    pairs = [divmod(int(place), len(classes)) for place in order]
    lines = [
        f"{name(classes[i])} was taken for {name(classes[j])} "
        f"{wrong[i, j]:,.6g} of {counts[i].sum():,.6g} times"
        for i, j in pairs
        if wrong[i, j] > 0.0
    ]
    return f"<p>The commonest mistakes:</p>{listing(lines)}" if lines else "<p>No mistakes.</p>"
