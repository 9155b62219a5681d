"""The law of one column in every class, and the rows it was learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from suffice.errors import BadSetting, NotADensity, listed
from suffice.models.naive_bayes.pictures import (
    ColumnLaw,
    CountsLaw,
    LevelsLaw,
    normal_density,
)
from suffice.plots.axes import BELOW, given_axes, legend_below, make_room, shortened
from suffice.plots.palette import INK, colour, dashes, hatch, marker
from suffice.plots.planes import class_codes, class_names
from suffice.plots.tables import draw_shares
from suffice.rows import read_table
from suffice.rows.cells import is_blank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    FloatArray: TypeAlias = NDArray[np.float64]


FEW_COUNTS = 40
"""Up to so many whole numbers each one gets a marker."""
LONG = 36
"""Letters from which names of levels, all together, are written aslant."""
MANY_BARS = 40
"""Bars beyond which a table is drawn instead."""
BINS = 30
"""Bars of a histogram. A choice: enough for a shape, wide enough to be seen."""


def draw_column(
    ax: Axes | None,
    model: object,
    column: str | int,
    rows: object = None,
    labels: object = None,
    *,
    classes: Sequence[str] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw p(x | y) of one column, by name or position, for every class of a fitted model.

    Numbers are drawn as densities, counts as the chance of each whole number, and levels as bars.
    What was observed is drawn behind: histograms, dots, or dots beside bars. Where both agree in
    every class, the model describes the column well.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    model : classifier
        A fitted `GaussianDiscriminant` or `NaiveBayes`.
    column : str or int
        The column, by name or position.
    rows : array_like (n, d), optional, default=None
        The table (n, d), to draw what was observed behind the model; None draws the model alone.
    labels : array_like (n,), optional, default=None
        The labels (n,) of the rows.
    classes : sequence of str or None, default=None
        Names of the classes in the legend, in the order of the labels; None takes the labels.
    legend : bool, default=True
        Whether to draw the legend.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_regions : Two columns of a model at once.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import NaiveBayes
    >>> X = [["red", 3], ["red", 5], ["blue", 9], ["red", 8]]
    >>> model = NaiveBayes({"x1": "poisson"}).fit(X, ["plum", "plum", "grape", "grape"])
    >>> ax = draw_column(Figure().add_subplot(), model, "x0")
    >>> [tick.get_text() for tick in ax.get_xticklabels()], ax.get_ylabel()
    (['blue', 'red'], 'probability')
    """
    ax = given_axes(ax)
    name, j, law = column_law(model, column)
    known = class_names(model, classes)
    cells, codes = None, None
    if rows is not None:
        if labels is None:
            raise BadSetting("rows are given without their labels", hint="give both, or neither")
        cells = read_table(rows).column(j)
        codes = class_codes(model, labels, len(cells))
    parts = None if cells is None else [cells[codes == k] for k in range(len(known))]
    below = BELOW
    if isinstance(law, LevelsLaw) and law.heights.size > MANY_BARS:
        return _draw_level_table(ax, law, known, name)
    if isinstance(law, LevelsLaw):
        below += _draw_levels(ax, law, parts, known)
    elif isinstance(law, CountsLaw):
        _draw_counts(ax, law, parts, known)
    else:
        _draw_curves(ax, law.at, law.heights, parts, known)
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(name)
    ax.set_ylabel("probability" if isinstance(law, (LevelsLaw, CountsLaw)) else "density")
    make_room(ax)
    if legend:
        legend_below(ax, columns=5, below=below)
    return ax


def _draw_curves(ax: Axes, at: Any, heights: Any, parts: Any, known: list[str]) -> None:
    """Draw a density for each class, and histograms of the rows behind."""
    if parts is not None:
        seen = np.concatenate([_numbers(part) for part in parts])
        inside = seen[(seen >= at[0]) & (seen <= at[-1])]
        edges: Any = 1
        if len(inside) and np.ptp(inside) > 0.0:
            edges = np.linspace(inside.min(), inside.max(), BINS + 1)
    for k, name in enumerate(known):
        if parts is not None and len(_numbers(parts[k])):
            ax.hist(
                _numbers(parts[k]), edges, density=True, histtype="stepfilled", alpha=0.25,
                facecolor=colour(k), edgecolor=colour(k), hatch=hatch(k), linewidth=0.0, zorder=1,
            )  # fmt: skip
        ax.plot(
            at, heights[:, k], color=colour(k), linestyle=dashes(k), linewidth=2.0, label=name,
            zorder=3,
        )  # fmt: skip
    ax.set_xlim(at[0], at[-1])


def _draw_counts(ax: Axes, law: CountsLaw, parts: Any, known: list[str]) -> None:
    """Draw the chance of every whole number, and the shares that were observed as hollow dots."""
    from matplotlib.ticker import MaxNLocator

    few = len(law.at) <= FEW_COUNTS
    for k, name in enumerate(known):
        ax.plot(
            law.at, law.heights[:, k], color=colour(k), linestyle=dashes(k), linewidth=1.6,
            marker=marker(k) if few else "", markersize=5, label=name, zorder=3,
        )  # fmt: skip
        if parts is not None and len(cells := _numbers(parts[k])):
            found, often = np.unique(cells, return_counts=True)
            shown = (found >= law.at[0]) & (found <= law.at[-1])
            ax.plot(
                found[shown], often[shown] / len(cells), linestyle="none", marker=marker(k),
                markersize=7 if few else 4, markerfacecolor="none", markeredgecolor=colour(k),
                alpha=0.8, zorder=2,
            )  # fmt: skip
    ax.set_xlim(law.at[0] - 0.5, law.at[-1] + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_levels(ax: Axes, law: LevelsLaw, parts: Any, known: list[str]) -> float:
    """Draw a bar for each level and class, and the shares that were observed as dots.

    Returns how many points the names of levels take below the axes, beyond those of numbers.
    """
    width = 0.84 / len(known)
    middle = np.arange(len(law.names))
    for k, name in enumerate(known):
        at = middle + (k - (len(known) - 1) / 2.0) * width
        ax.bar(
            at, law.heights[:, k], 0.92 * width, facecolor=colour(k), edgecolor="white",
            hatch=hatch(k), linewidth=0.0, label=name, zorder=2,
        )  # fmt: skip
        cells = [] if parts is None else [c for c in parts[k].tolist() if not is_blank(c)]
        if cells:
            shares = [np.mean([cell == level for cell in cells]) for level in law.known]
            ax.scatter(
                at[: len(shares)], shares, s=22, c="white", edgecolors=INK, linewidths=1.0, zorder=3
            )
    names = [shortened(level) for level in law.names]
    aslant = sum(map(len, names)) > LONG
    ax.set_xticks(
        middle, names, rotation=30 if aslant else 0, ha="right" if aslant else "center",
        rotation_mode="anchor" if aslant else "default",
    )  # fmt: skip
    ax.set_xlim(-0.6, len(law.names) - 0.4)
    return 3.0 * max(map(len, names)) if aslant else 0.0


def _draw_level_table(ax: Axes, law: LevelsLaw, known: list[str], name: str) -> Axes:
    """Draw the shares of many levels in many classes as a table: so many bars are a fence."""
    draw_shares(
        ax,
        law.heights.T,
        law.heights.T,
        [shortened(c) for c in known],
        [shortened(level) for level in law.names],
    )
    ax.set_xlabel(name)
    ax.set_ylabel("class")
    make_room(ax)
    return ax


def _numbers(cells: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return the cells that are there, as numbers."""
    found = np.array([np.nan if cell is None else cell for cell in cells.tolist()], np.float64)
    return found[np.isfinite(found)]


def column_law(model: Any, column: str | int) -> tuple[str, int, ColumnLaw]:
    """Return a column's name, its place, and its law in every class of a fitted model."""
    if hasattr(model, "families_"):
        names = list(model.families_)
        j = _place(column, names)
        return names[j], j, _of_family(model, j, names[j])
    if hasattr(model, "covariances_"):
        names = list(model.learned_.columns.coded_names)
        j = _place(column, names)
        means, variances = model.means_[:, j], model.covariances_[:, j, j]
        return names[j], j, normal_density(means, variances, names[j])
    raise BadSetting(
        f"{type(model).__name__} has no densities of columns",
        hint="give a fitted GaussianDiscriminant or NaiveBayes",
    )


def _place(column: str | int, names: list[str]) -> int:
    """Return the position of a column that is given by name or position."""
    if column in names:
        return names.index(str(column))
    number = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
    if number and -len(names) <= int(column) < len(names):
        return int(column) % len(names)
    raise BadSetting(f"there is no column {column!r}", hint=f"they are {listed(names)}")


def _of_family(model: Any, j: int, name: str) -> ColumnLaw:
    """Return the law of a column of naive Bayes, as its family draws it."""
    learned = model.model_
    group, place = learned.product.family_of(j)
    law = learned.laws[group]
    if law.is_density and not law.by_column:
        raise NotADensity(
            f"{name} is one of {len(learned.product.columns[group])} counts that form one "
            "distribution: it has no distribution of its own",
            hint=f"parameters_[{name!r}] has its share in every class",
        )
    found: ColumnLaw = law.picture(place, name)
    return found
