"""Two rows explained: a right answer and the surest mistake, column by column."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import SufficeError
from suffice.estimators.saving import estimator_of
from suffice.evaluation.cross_validation import Preparation, fitted_on
from suffice.printing.terminal_words import cut, printable
from suffice.report.data_summary import column_names
from suffice.report.figures import WIDTH
from suffice.report.markup import quoted, text
from suffice.report.notation import in_notation
from suffice.rows import NUMBER, is_sparse, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from suffice.columns.spellings.spelling import Spelling
    from suffice.evaluation import Comparison
    from suffice.learning.results import Explanation
    from suffice.report.figures import Album

REASONS = 8
"""Columns that a picture names. A choice: what is read at a glance."""
WIDEST_POOL = 60
"""Columns up to which answers of a pool are explained here: each column costs an answer of all its
members, which takes the cube of the columns."""
BOUNDLESS = 1e4
"""Log odds of one column beyond which they are those of a class without any spread."""


def explained_rows(comparison: Comparison, model: str, album: Album) -> list[str]:
    """Return why a sure and right answer was given, and why the surest of the wrong ones."""
    held = comparison.held_out[model]
    rows = comparison.rows
    candidate = comparison.candidate(model)
    if not album.draws or held.log_posterior is None:
        return []
    if not hasattr(candidate.estimator, "explain"):
        return []
    if candidate.is_pool and len(column_names(rows)) > WIDEST_POOL:
        words = (
            f"Explaining predictions of the pool with {len(column_names(rows)):,} columns would "
            "take long here; suffice explain does it for the rows you choose."
        )
        return [f'<p class="soft">{text(words)}</p>']
    sure = held.log_posterior.max(axis=1)
    right = held.predicted == rows.codes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if held.fitted is None:
            fitted, preparation = fitted_on(candidate.estimator, rows)
        else:
            fitted, preparation = estimator_of(held.fitted), Preparation()
    pictures = []
    for chosen, kind in ((right, "right"), (~right, "wrong")):
        places = np.flatnonzero(chosen)
        if not len(places):
            continue
        order = places[np.argsort(sure[places], kind="stable")]
        place = order[-1] if kind == "wrong" else order[len(order) // 2]
        own, said = rows.classes[rows.codes[place]], rows.classes[held.predicted[place]]
        share = 100.0 * float(np.exp(sure[place]))
        chance = f"{share:.4g}&nbsp;%" if share < 99.99 else "over 99.99&nbsp;%"
        try:
            cells = _cells(comparison, int(place), album.spellings)
            found = _explained(comparison, fitted, preparation, int(place), said, cells)
        except SufficeError:  # a page without this part is still a page
            continue
        if not np.abs(found.contributions).max() < BOUNDLESS:
            odds = f"e<sup>{float(found.log_odds[0]):.2g}</sup>"
            words = (
                f"The odds of row {place + 1:,} are {odds}: the classes do not overlap in these "
                "rows, so contributions of columns have no meaning."
            )
            return [f'<p class="soft">{words}</p>']

        def draw(ax: Axes, found: Explanation = found) -> None:
            from suffice.plots import draw_explanation

            draw_explanation(ax, found, most=REASONS)
            low, high = ax.get_xlim()
            if low < 0.0:  # room for what stands beside a bar to the left
                ax.set_xlim(left=low - 0.08 * (high - low))

        what = "a typical correct row" if kind == "right" else "the most confident mistake"
        caption = (
            f"Row {place + 1:,}, {what}: {quoted(own)}, predicted as {quoted(said)} with "
            f"probability {chance} when held out. The bars are those of the model of all rows, "
            "including this one, and add up to its log odds."
        )
        label = f"row {place + 1} explained, {kind}"
        pictures.append(album.picture(draw, label, caption, (WIDTH, 4.0)))
    return pictures


def _explained(
    comparison: Comparison,
    fitted: Any,
    preparation: Any,
    place: int,
    said: object,
    cells: dict[str, str],
) -> Explanation:
    """Return what speaks for an answer, columns named with their cells."""
    one = preparation.rows(comparison.rows.take(np.array([place])).X)
    found: Explanation = fitted.explain(one, of=_plain(said))
    labels = tuple(_with_cell(column, cells) for column in found.columns)
    return replace(found, of=found.of.astype(object), columns=labels)


def _cells(comparison: Comparison, place: int, spellings: Mapping[str, Spelling]) -> dict[str, str]:
    """Return the cells of one row in their columns' notation, by the names of the columns."""
    rows = comparison.rows
    if is_sparse(rows.X):
        return {}
    held = read_table(rows.take(np.array([place])).X)
    found = {}
    for j, called in enumerate(column_names(rows)):
        cell = held.column(j)[0]
        blank = cell is None or cell != cell  # noqa: PLR0124 - NaN is a blank
        spelling = spellings.get(called)
        if blank:
            found[called] = "blank"
        elif held.kinds[j] == NUMBER:
            found[called] = in_notation(float(cell), spelling)
        else:
            found[called] = str(cell if spelling is None else spelling.written(cell))
    return found


def _with_cell(column: str, cells: dict[str, str]) -> str:
    """Return a column with its cell, both cut, so that the cell is still seen."""
    if column not in cells:
        return column
    cell = cut(printable(cells[column]), 12)
    return f"{cut(printable(column), 45 - len(cell))} = {cell}"


def _plain(label: object) -> object:
    return label.item() if isinstance(label, np.generic) else label
