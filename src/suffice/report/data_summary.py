"""The data at a glance: rows, columns with their kinds and blanks, classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.report.column_strips import ClassColours, level_strip, number_strip
from suffice.report.markup import bar, name, names, table, text
from suffice.report.notation import in_notation
from suffice.rows import BOOLEAN, CATEGORY, is_sparse, read_table

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from numpy.typing import NDArray

    from suffice.columns.spellings.spelling import Spelling
    from suffice.evaluation import LabelledRows
    from suffice.rows import FloatArray

MOST_COLUMNS = 60
"""Columns that are described at once; the others are behind a line that opens."""
MOST_FOLDED = 1000
"""Columns that are described in all. A choice: a page of about a megabyte."""
MOST_CLASSES = 40
"""Classes that are listed one by one, the commonest first. A choice: about a page."""
MOST_LEVELS = 4
"""Levels of a category that are named, the commonest first."""


@dataclass(frozen=True, slots=True)
class ColumnGlance:
    """One column.

    kind     what its cells are, in a word
    blanks   rows without a cell
    values   how many different cells there are
    words    what they look like, as HTML
    strip    a small histogram of them by class, as HTML
    """

    name: str
    kind: str
    blanks: int
    values: int
    words: str
    strip: str = ""


def glance(
    rows: LabelledRows, spellings: Mapping[str, Spelling] | None = None
) -> tuple[ColumnGlance, ...]:
    """Return what each column looks like, in its own notation; nothing for sparse rows.

    >>> from suffice.evaluation import LabelledRows
    >>> rows = LabelledRows.read([[1.5, "red"], [None, "red"], [2.5, "blue"]], ["a", "b", "a"])
    >>> [(one.name, one.kind, one.blanks, one.values) for one in glance(rows)]
    [('x0', 'number', 1, 2), ('x1', 'category', 0, 2)]
    """
    if is_sparse(rows.X):
        return ()
    held = read_table(rows.X)
    called = column_names(rows)
    colours = ClassColours.of(rows)
    return tuple(
        _column(
            called[j],
            kind,
            held.column(j),
            colours if j < MOST_FOLDED else None,
            (spellings or {}).get(called[j]),
        )
        for j, kind in enumerate(held.kinds)
    )


def column_names(rows: LabelledRows) -> tuple[str, ...]:
    """Return the names of the columns; x0, x1, … where they have none."""
    if is_sparse(rows.X):
        return tuple(f"x{j}" for j in range(rows.X.shape[1]))
    held = read_table(rows.X)
    return held.names or tuple(f"x{j}" for j in range(held.width))


def _column(
    called: str,
    kind: str,
    cells: NDArray[np.generic],
    colours: ClassColours | None,
    spelling: Spelling | None,
) -> ColumnGlance:
    if kind in (BOOLEAN, CATEGORY):
        every = cells.tolist()
        there = [cell for cell in every if cell is not None]
        counts: dict[Hashable, int] = {}
        for cell in there:
            counts[cell] = counts.get(cell, 0) + 1
        order = sorted(counts, key=lambda level: (-counts[level], str(level)))
        told = spelling.written if spelling is not None and kind == BOOLEAN else lambda cell: cell
        shown = [
            f"{name(told(level), 30)} {_percent(counts[level], len(there))}"
            for level in order[:MOST_LEVELS]
        ]
        if len(order) > MOST_LEVELS:
            shown.append(f"{len(order) - MOST_LEVELS:,} more")
        word = "yes/no" if kind == BOOLEAN else "category"
        strip = "" if colours is None else level_strip(colours, called, every, counts)
        return ColumnGlance(
            called, word, len(cells) - len(there), len(order), ", ".join(shown) or "all blank",
            strip,
        )  # fmt: skip
    every = np.asarray(cells, dtype=np.float64)
    numbers = every[~np.isnan(every)]
    blanks = len(cells) - len(numbers)
    if not len(numbers):
        return ColumnGlance(called, "number", blanks, 0, "all blank")
    different = np.unique(numbers)
    whole = bool((numbers == np.floor(numbers)).all())
    strip = "" if colours is None else number_strip(colours, called, every)
    word = "whole number" if whole else "number"
    if spelling is not None and spelling.date:
        word = "time" if spelling.is_clock else "date"
    return ColumnGlance(
        called, word, blanks, len(different), _range(numbers, spelling), strip
    )  # fmt: skip


def _range(numbers: FloatArray, spelling: Spelling | None) -> str:
    def written(figure: float) -> str:
        return text(in_notation(figure, spelling))

    if numbers.min() == numbers.max():
        return f"{written(float(numbers[0]))} in every row"
    return " … ".join(written(float(q)) for q in np.quantile(numbers, [0.0, 0.5, 1.0]))


def _percent(part: float, whole: float) -> str:
    share = 100.0 * part / whole if whole else 0.0
    return f"{share:.0f}&nbsp;%" if share >= 1.0 or not part else "&lt;&nbsp;1&nbsp;%"


# HTML


def glance_section(rows: LabelledRows, columns: tuple[ColumnGlance, ...], target: str) -> str:
    """Return the tables of classes and columns."""
    total = float(rows.counts.sum())
    order = np.argsort(-rows.counts, kind="stable")
    classes = [
        (
            name(rows.classes[c]),
            f"{rows.counts[c]:,.0f}",
            f"{100.0 * rows.counts[c] / total:.1f} %",
            bar(float(rows.counts[c] / rows.counts.max())),
        )
        for c in order[:MOST_CLASSES]
    ]
    parts = [
        f"<p>{_words(rows, columns)}</p>",
        f"<h3>Classes of {name(target)}</h3>" if target else "<h3>Classes</h3>",
        table(("class", "rows", "share", ""), classes, figures=(1, 2)),
    ]
    if len(order) > MOST_CLASSES:
        parts.append(f'<p class="soft">… and {len(order) - MOST_CLASSES:,} more classes.</p>')
    if columns:
        parts += [
            "<h3>Columns</h3>",
            ClassColours.of(rows).legend,
            _columns_table(columns, len(rows)),
        ]
    return "".join(parts)


def _words(rows: LabelledRows, columns: tuple[ColumnGlance, ...]) -> str:
    if not columns:
        width = len(column_names(rows))
        filled = 100.0 * rows.X.nnz / (width * len(rows))
        return (
            f"{len(rows):,} rows and {width:,} columns of sparse numbers, {filled:.2g} % of them "
            f"not zero; {len(rows.classes)} classes."
        )
    kinds = [one.kind for one in columns]
    said = [
        f"{kinds.count(kind)} {adjective}"
        for kind, adjective in (
            ("number", "numeric"),
            ("whole number", "whole-number"),
            ("date", "date"),
            ("time", "time of day"),
            ("yes/no", "yes/no"),
            ("category", "categorical"),
        )
        if kind in kinds
    ]
    cells = len(rows) * len(columns)
    blanks = sum(one.blanks for one in columns)
    held = [one for one in columns if one.blanks]
    gaps = "No cell is blank."
    if blanks:
        gaps = f"{blanks:,} of {cells:,} cells are blank, in {names(one.name for one in held)}."
    return (
        f"{len(rows):,} rows, {len(rows.classes)} classes, {len(columns):,} "
        f"column{'s' * (len(columns) != 1)}: {text(', '.join(said))}. {gaps}"
    )


def _columns_table(columns: tuple[ColumnGlance, ...], size: int) -> str:
    """Return all columns, those beyond a page behind a line that opens without a script."""
    found = _described(columns[:MOST_COLUMNS], size)
    folded = columns[MOST_COLUMNS:MOST_FOLDED]
    if folded:
        found += (
            f"<details><summary>{len(folded):,} more columns</summary>"
            f"{_described(folded, size)}</details>"
        )
    left = len(columns) - MOST_FOLDED
    return found + (f'<p class="soft">… and {left:,} more columns.</p>' if left > 0 else "")


def _described(columns: tuple[ColumnGlance, ...], size: int) -> str:
    shown = [
        (
            name(one.name),
            one.kind,
            f"{one.blanks:,} ({_percent(one.blanks, size)})" if one.blanks else "–",
            f"{one.values:,}",
            one.strip or "–",
            one.words,
        )
        for one in columns
    ]
    heads = (
        "column", "kind", "blank", "different", "by class", "min … median … max, or most common",
    )  # fmt: skip
    return table(heads, shown, figures=(2, 3), kind="cards")
