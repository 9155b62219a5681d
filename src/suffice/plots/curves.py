"""Curves: the sigmoid, ROC and precision–recall, and error against the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.plots.axes import given_axes, legend_below, make_room, tidy
from suffice.plots.palette import COLOURS, INK, colour, dashes
from suffice.plots.rankings import rankings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def draw_sigmoid(ax: Axes | None, *, reach: float = 6.0) -> Axes:
    """Draw the logistic function g(z) = 1 / (1 + e⁻ᶻ), its limits and its middle.

    >>> from matplotlib.figure import Figure
    >>> ax = draw_sigmoid(Figure().add_subplot())
    >>> ax.get_xlabel(), [tick.get_text() for tick in ax.get_yticklabels()]
    ('z = θᵀx', ['0', '½', '1'])
    """
    ax = given_axes(ax)
    if not 0.0 < reach <= 700.0:
        raise BadSetting(f"reach={reach:g} shows no curve", hint="6 shows where it bends")
    z = np.linspace(-reach, reach, 401)
    for level in (0.0, 1.0):
        ax.axhline(level, color="0.7", linewidth=1.0, linestyle=(0, (5, 3)), zorder=1)
    ax.plot([-reach, 0.0, 0.0], [0.5, 0.5, 0.0], color="0.7", linewidth=1.0, zorder=1)
    ax.plot(z, 1.0 / (1.0 + np.exp(-z)), color=COLOURS[0], linewidth=2.4, zorder=2)
    ax.plot([0.0], [0.5], marker="o", color=INK, markersize=6, zorder=3)
    ax.set_yticks([0.0, 0.5, 1.0], ["0", "½", "1"])
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-0.06, 1.06)
    ax.set_xlabel("z = θᵀx")
    ax.set_ylabel("g(z) = 1 / (1 + e⁻ᶻ)")
    tidy(ax)
    return ax


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
        ax.plot(
            ranking.false_rate, ranking.true_rate, color=colour(k), linestyle=dashes(k),
            linewidth=2.0, label=f"{name}: area {ranking.area:.3f}" if name else
            f"area {ranking.area:.3f}", zorder=2, clip_on=False,
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
            label=f"{name}: {said}" if name else said,
        )  # fmt: skip
    if len(blind := {ranking.prevalence for ranking in found.values()}) == 1:
        ax.axhline(blind.pop(), color="0.6", linewidth=1.0, linestyle=(0, (1, 2)), zorder=1)
    ax.set_xlabel("positives found (recall)")
    ax.set_ylabel("positives among the found (precision)")
    _square(ax, len(found), "lower left", legend)
    return ax


def _square(ax: Axes, many: int, corner: str, legend: bool) -> None:
    """Give both rates the same scale, and name the curves: in a corner, or below if many."""
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.02)
    ax.set_aspect("equal", adjustable="box")
    tidy(ax)
    make_room(ax)
    if legend and many <= 4:
        ax.legend(loc=corner, frameon=True, framealpha=0.85, edgecolor="none", fontsize=9)
    elif legend:
        legend_below(ax, columns=2)


def draw_learning_curves(
    ax: Axes | None,
    sizes: ArrayLike,
    curves: Mapping[str, ArrayLike],
    *,
    bands: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    crossing: float | tuple[float, float] | None = None,
    measure: str = "error",
    legend: bool = True,
) -> Axes:
    """Draw error, or another `measure`, against the number of rows learned from.

    `curves` are {name: one value for each size}, or (repetitions, sizes): the mean is then drawn
    with a band of two standard errors on either side. `bands` are {name: (lower, upper)} that are
    known otherwise. `crossing` marks the size at which two curves cross, or the range it lies in.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> ax = draw_learning_curves(ax, [10, 100, 1000], {"GDA": [0.2, 0.15, 0.14]})
    >>> ax.get_xscale(), ax.get_xlabel()
    ('log', 'rows learned from')
    """
    from suffice.plots.learning import read_curves

    ax = given_axes(ax)
    at, found = read_curves(sizes, curves, bands or {})
    if crossing is not None:
        _draw_crossing(ax, crossing)
    for k, (name, (low, middle, high)) in enumerate(found.items()):
        if (low < high).any():
            ax.fill_between(at, low, high, color=colour(k), alpha=0.18, linewidth=0.0, zorder=1)
            for edge in (low, high):
                ax.plot(at, edge, color=colour(k), linewidth=0.7, alpha=0.7, zorder=2)
        ax.plot(
            at, middle, color=colour(k), linestyle=dashes(k), linewidth=2.0, zorder=3, label=name,
            marker=marker(k), markersize=6, markeredgecolor="white", markeredgewidth=0.6,
        )  # fmt: skip
    ax.set_xscale("log")
    _name_sizes(ax, at)
    ax.set_xlabel("rows learned from")
    ax.set_ylabel(measure)
    ax.grid(axis="y", color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    tidy(ax)
    make_room(ax)
    if legend and len(found) <= 4:
        ax.legend(frameon=True, framealpha=0.85, edgecolor="none", fontsize=9)
    elif legend:
        legend_below(ax)
    return ax
