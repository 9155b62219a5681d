"""Which columns go together, and where cells are blank."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.report.data_summary import column_names
from suffice.report.informative_columns import drawn
from suffice.report.markup import bar, name, quoted, table
from suffice.rows import NUMBER, is_sparse, read_table

if TYPE_CHECKING:
    from suffice.evaluation import LabelledRows
    from suffice.report.data_summary import ColumnGlance
    from suffice.report.informative_columns import Informative
    from suffice.rows import FloatArray

MOST_ROWS = 5000
"""Rows that correlations are computed from: their standard error is then below 0.015."""
MOST_COLUMNS = 20
"""Columns of the table, the most informative ones. A choice: what fits a page."""
WIDEST = 400
"""Columns of numbers up to which every pair is looked at."""
STRONG = 0.8
"""The correlation from which a pair is named: two thirds of the variance are shared."""
MOST_PAIRS = 12
"""Pairs that are named, the strongest first. A choice."""
DARKEST = 0.6
"""How strong the colour of a correlation of 1 is: its figure can still be read."""
BLUE, ORANGE = "0, 114, 178", "213, 94, 0"
"""The colours of positive and negative correlations, apart for every kind of colour vision."""


@dataclass(frozen=True, slots=True, eq=False)
class Correlations:
    """Pearson's correlations of columns of numbers, each pair over the rows that have both.

    names    the columns of the table, the most informative ones first
    table    (columns, columns); NaN where one of the two does not vary
    pairs    the strongest of all pairs: two names and the correlation
    whole    how many columns of numbers there are
    """

    names: tuple[str, ...]
    table: FloatArray
    pairs: tuple[tuple[str, str, float], ...]
    whole: int


def correlations(rows: LabelledRows, found: Informative | None) -> Correlations | None:
    """Return how columns of numbers go together; None where there are fewer than two.

    >>> from suffice.evaluation import LabelledRows
    >>> X = [[float(i), 2.0 * i, float(i % 3)] for i in range(12)]
    >>> seen = correlations(LabelledRows.read(X, list("ab") * 6), None)
    >>> seen.names, seen.table.round(2)[0].tolist(), seen.pairs
    (('x0', 'x1', 'x2'), [1.0, 1.0, 0.24], (('x0', 'x1', 1.0),))
    """
    if is_sparse(rows.X):
        return None
    part = drawn(rows, MOST_ROWS)
    held = read_table(part.X)
    called = column_names(part)
    telling = range(len(called)) if found is None else found.order.tolist()
    numbers = [int(j) for j in telling if held.kinds[j] == NUMBER]
    if len(numbers) < 2:
        return None
    looked = numbers[:WIDEST]
    whole = _pearson(np.column_stack([np.asarray(held.column(j), np.float64) for j in looked]))
    i, j = np.triu_indices(len(looked), 1)
    sizes = np.nan_to_num(np.abs(whole[i, j]))
    order = [p for p in np.argsort(-sizes, kind="stable")[:MOST_PAIRS] if sizes[p] >= STRONG]
    pairs = tuple(
        (called[looked[i[p]]], called[looked[j[p]]], float(whole[i[p], j[p]])) for p in order
    )
    shown = tuple(called[c] for c in looked[:MOST_COLUMNS])
    k = len(shown)
    return Correlations(shown, whole[:k, :k], pairs, len(numbers))


def _pearson(cells: FloatArray) -> FloatArray:
    """Return correlations, each over the rows that have both cells.

    Columns are scaled first, so that squares are neither too large nor too small.
    """
    there = np.isfinite(cells)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of columns that are blank in every row
        scaled = cells / np.nanmax(np.abs(cells), axis=0)
        z = scaled - np.nanmean(scaled, axis=0)
        z = np.where(there, z / np.nanstd(z, axis=0), 0.0)
        z = np.where(np.isfinite(z), z, 0.0)
        held = there.astype(np.float64)
        n, sums, squares = held.T @ held, z.T @ held, np.square(z).T @ held
        top = z.T @ z - sums * sums.T / n
        spread = (squares - np.square(sums) / n) * (squares - np.square(sums) / n).T
        found: FloatArray = np.where(
            (n > 2.0) & (spread > 1e-18 * np.square(n)), top / np.sqrt(spread), np.nan
        )
    return np.clip(found, -1.0, 1.0)


def correlations_section(seen: Correlations) -> str:
    """Return the table of correlations, and the strongest pairs in words."""
    heads = "".join(f'<th scope="col">{j + 1}</th>' for j in range(len(seen.names)))
    body = []
    for i, called in enumerate(seen.names):
        cells = "".join(_cell(seen.table[i, j], i == j) for j in range(len(seen.names)))
        body.append(f'<tr><th scope="row">{i + 1}&ensp;{name(called, 40)}</th>{cells}</tr>')
    left = seen.whole - len(seen.names)
    more = (
        f" The {len(seen.names)} most informative of {seen.whole:,} numeric columns are shown."
        if left
        else ""
    )
    strongest = ""
    if seen.pairs:
        strongest = (
            "<p>Nearly the same information: "
            + "; ".join(
                f"{name(one, 40)} and {name(other, 40)} ({_signed(r)})"
                for one, other, r in seen.pairs
            )
            + ".</p>"
        )
    return (
        "<h3>Correlations</h3>"
        f"<p>Between numeric columns, over all rows that have both values.{more}</p>{strongest}"
        '<div class="wide"><table class="confusion correlations"><thead><tr>'
        f'<th scope="col">column</th>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(r: float, same: bool) -> str:
    if same:
        return "<td>·</td>"
    if not np.isfinite(r):
        return "<td>–</td>"
    colour = BLUE if r > 0.0 else ORANGE
    return f'<td style="background:rgba({colour},{DARKEST * abs(r):.3f})">{_signed(r)}</td>'


def _signed(r: float) -> str:
    return f"{r:.2f}".replace("-", "−").replace("−0.00", "0.00")


MOST_BLANK = 20
"""Columns with blanks that are listed, the emptiest first. A choice."""
FEW_CLASSES = 5
"""Classes up to which blanks are told class by class."""


def blanks_section(rows: LabelledRows, columns: tuple[ColumnGlance, ...]) -> str:
    """Return where cells are blank: how many, and in which classes; nothing if none are."""
    gaps = [(j, one) for j, one in enumerate(columns) if one.blanks]
    if not gaps:
        return ""
    held = read_table(rows.X)
    size = len(rows)
    complete = np.ones(size, dtype=bool)
    empty: dict[int, Any] = {}
    for j, _ in gaps:
        empty[j] = _blank(held, j)
        complete &= ~empty[j]
    gaps.sort(key=lambda gap: -gap[1].blanks)
    few = len(rows.classes) <= FEW_CLASSES
    labels = rows.classes.tolist() if few else []
    lines = []
    for j, one in gaps[:MOST_BLANK]:
        shares = [f"{100.0 * empty[j][rows.codes == c].mean():.0f} %" for c in range(len(labels))]
        share = one.blanks / size
        lines.append(
            (name(one.name, 40), f"{one.blanks:,}", f"{100.0 * share:.1f} %", bar(share), *shares)
        )
    heads = ("column", "blank", "share", "", *(f"in {quoted(label, 16)}" for label in labels))
    left = len(gaps) - MOST_BLANK
    more = f'<p class="soft">… and {left:,} more columns with blanks.</p>' if left > 0 else ""
    return (
        f"<h3>Blanks</h3><p>{int(complete.sum()):,} of {size:,} rows are complete.</p>"
        + table(heads, lines, figures=(1, 2, *range(4, 4 + len(labels))))
        + more
    )


def _blank(held: Any, j: int) -> object:
    cells = held.column(j)
    if held.kinds[j] == NUMBER:
        return ~np.isfinite(np.asarray(cells, np.float64))
    return np.array([cell is None for cell in cells.tolist()])
