"""How well scores rank rows: ROC and precision–recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots.axes import given_axes, legend_below, make_room, shortened, tidy
from suffice.plots.palette import colour, dashes
from suffice.plots.ranking import rankings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


def draw_roc(
    ax: Axes | None,
    labels: object,
    scores: Any,
    *,
    positive: Any = None,
    classes: Sequence[object] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw the share of positives found against that of negatives taken for them.

    `scores` is one number for each row, the higher the likelier `positive` (of two labels the
    second, if nobody says); or one column for each of `classes`, each then against the rest; or
    {name: scores} of several models. Rows that tie enter together, so that the area, given in
    the legend, is P(a positive scores more than a negative) + ½ P(they tie), exactly.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> ax = draw_roc(ax, ["ham", "spam", "ham", "spam"], [0.1, 0.8, 0.4, 0.4])
    >>> ax.get_legend().get_texts()[0].get_text()
    'area 0.875'
    """
    ax = given_axes(ax)
    found = rankings(labels, scores, positive, classes)
    ax.plot([0.0, 1.0], [0.0, 1.0], color="0.7", linewidth=1.0, linestyle=(0, (5, 3)), zorder=1)
    for k, (name, ranking) in enumerate(found.items()):
        said = f"area {ranking.area:.3f}"
        ax.plot(
            ranking.false_rate, ranking.true_rate, color=colour(k), linestyle=dashes(k),
            linewidth=2.0, label=f"{shortened(name)}: {said}" if name else said, zorder=2,
            clip_on=False,
        )  # fmt: skip
    ax.set_xlabel("negatives taken for positives")
    ax.set_ylabel("positives found")
    _square(ax, len(found), "lower right", legend)
    return ax


def draw_precision_recall(
    ax: Axes | None,
    labels: object,
    scores: Any,
    *,
    positive: Any = None,
    classes: Sequence[object] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw the share of positives among what is found against the share of positives found.

    Arguments are those of `draw_roc`. The curve is drawn in steps, for between two thresholds
    nothing was measured; the legend gives the average precision. The dotted line is the
    precision of a blind guess, where one line is that of all curves.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> ax = draw_precision_recall(ax, [0, 1, 0, 1], [0.1, 0.8, 0.4, 0.4])
    >>> ax.get_legend().get_texts()[0].get_text()
    'average precision 0.833'
    """
    ax = given_axes(ax)
    found = rankings(labels, scores, positive, classes)
    for k, (name, ranking) in enumerate(found.items()):
        said = f"average precision {ranking.average_precision:.3f}"
        ax.step(
            ranking.true_rate, np.append(ranking.precision[0], ranking.precision), where="pre",
            color=colour(k), linestyle=dashes(k), linewidth=2.0, zorder=2, clip_on=False,
            label=f"{shortened(name)}: {said}" if name else said,
        )  # fmt: skip
    if len(blind := {ranking.prevalence for ranking in found.values()}) == 1:
        ax.axhline(blind.pop(), color="0.6", linewidth=1.0, linestyle=(0, (1, 2)), zorder=1)
    ax.set_xlabel("positives found (recall)")
    ax.set_ylabel("positives among the found (precision)")
    _square(ax, len(found), "lower left", legend)
    return ax


def _square(ax: Axes, many: int, corner: Any, legend: bool) -> None:
    """Give both rates the same scale, and name the curves: in a corner, or below if many."""
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.02)
    ax.set_aspect("equal", adjustable="box")
    tidy(ax)
    make_room(ax)
    if legend and many <= 4:
        ax.legend(
            loc=corner,
            frameon=True,
            framealpha=0.85,
            edgecolor="none",
            fontsize=9,
            handlelength=2.6,
        )
    elif legend:
        legend_below(ax, columns=2)
