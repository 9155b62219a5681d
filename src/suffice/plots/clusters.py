"""Mixtures: what number and form cost, clusters with their ellipses, and the density of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, NotFinite
from suffice.estimators.multivariate_normal_columns import place
from suffice.plots.axes import given_axes, legend_below, shortened, tidy
from suffice.plots.palette import INK, colour, dashes, marker
from suffice.plots.planes import axis
from suffice.rows import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

RADII = (1.0, 2.448)
"""Radii of ellipses in standard deviations: one, and √(-2 log 0.05), which holds 95 % of a normal
law in a plane."""
SMALLEST_DOT, LARGEST_DOT = 14.0, 70.0
"""Areas of the dots of rows that are sure of their cluster, and of those that are not at all."""
MASSES = (0.25, 0.5, 0.75, 0.95)
"""Shares of the rows inside of each line of equal density. A choice."""
NOISE = -1
"""What `predict` says of rows that belong to no cluster."""


def draw_criteria(ax: Axes | None, model: Any) -> Axes:
    """Draw the criterion of every number and form that a mixture was chosen among.

    One line for each form, over the number of clusters; the best is ringed. Where a line has a gap
    a component collapsed, and the likelihood has no maximum.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    model : GaussianMixture
        A fitted `GaussianMixture`.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_clusters : The rows of each cluster.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import GaussianMixture
    >>> rows = [[0.0], [0.2], [0.5], [0.3], [5.0], [5.2], [5.3], [5.9]]
    >>> model = GaussianMixture(range(1, 3), ["EEE", "VVV"]).fit(rows)
    >>> len(draw_criteria(Figure().add_subplot(), model).lines) >= 2
    True
    """
    ax = given_axes(ax)
    trials = model.trials_
    if len(trials) < 2:
        raise BadSetting(
            "only one number and form was tried: there is nothing to compare",
            hint='GaussianMixture(components="auto") tries several',
        )
    forms = list(dict.fromkeys(sorted(trial["form"] for trial in trials)))
    numbers = sorted({trial["components"] for trial in trials})
    for k, form in enumerate(forms):
        values = {t["components"]: t["criterion"] for t in trials if t["form"] == form}
        ax.plot(
            numbers, [values.get(number, np.nan) for number in numbers], color=colour(k),
            linestyle=dashes(k), marker=marker(k), markersize=4.5, linewidth=1.3,
            label=form,
        )  # fmt: skip
    best = trials[0]
    ax.plot(
        best["components"], best["criterion"], "o", markersize=13, markerfacecolor="none",
        markeredgecolor=INK, markeredgewidth=1.4, zorder=5,
    )  # fmt: skip
    ax.annotate(
        f"{best['form']}, {best['components']}", (best["components"], best["criterion"]),
        xytext=(9, -7), textcoords="offset points", ha="left", va="top", fontsize=9, color=INK,
    )  # fmt: skip
    ax.set_xticks(numbers)
    ax.margins(y=0.12)
    ax.set_xlabel("clusters")
    ax.set_ylabel(f"{model.criterion.upper()}: less is better")
    legend_below(ax, columns=7)
    tidy(ax)
    return ax


def draw_clusters(
    ax: Axes | None, model: Any, X: object, *, columns: tuple[Any, Any] = (0, 1)
) -> Axes:
    """Draw rows over two columns, each in the colour of its cluster, with the clusters' ellipses.

    The larger a dot, the less certain the row's cluster, by all columns. Ellipses are those of
    each cluster's distribution in these two columns, at one standard deviation and around 95 % of
    it. Rows without one of the two cells are not drawn; noise is drawn as grey crosses.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    model : GaussianMixture
        A fitted `GaussianMixture`.
    X : array_like (n, d)
        Rows (n, d).
    columns : tuple of two str or int, default=(0, 1)
        Two columns, by name or position.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_mixture_density : Lines of equal density over the same columns.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import GaussianMixture
    >>> rows = [[0, 0], [1, 1], [0, 1], [1, 0], [8, 5], [9, 6], [8, 6], [9, 5]]
    >>> model = GaussianMixture(2, "EEE").fit(rows)
    >>> len(draw_clusters(Figure().add_subplot(), model, rows).collections)
    2
    """
    ax = given_axes(ax)
    points, names = _points(model, X, columns)
    there = np.isfinite(points).all(axis=1)
    codes, unsure = model.predict(X), model.uncertainty(X)
    areas = SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * np.minimum(2.0 * unsure, 1.0)
    plane = model.marginal(list(columns))
    order = np.argsort([place(model.schema, one) for one in columns])
    for c in range(model.components_):
        own = (codes == c) & there
        ax.scatter(
            points[own, 0], points[own, 1], s=areas[own], color=colour(c), marker=marker(c),
            alpha=0.65, linewidths=0.0, label=f"cluster {c}", zorder=2,
        )  # fmt: skip
        mean = plane.means_[c][np.argsort(order)]
        spread = plane.covariances_[c][np.ix_(np.argsort(order), np.argsort(order))]
        values, turns = np.linalg.eigh(spread)
        angle = np.linspace(0.0, 2.0 * np.pi, 181)
        ring = np.stack([np.cos(angle), np.sin(angle)])
        for radius, style in zip(RADII, ("-", "--"), strict=True):
            curve = turns @ (np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * radius * ring)
            ax.plot(
                *(mean[:, np.newaxis] + curve), color=INK, linestyle=style, linewidth=1.1, zorder=4
            )
    noise = (codes == NOISE) & there
    if noise.any():
        ax.scatter(
            points[noise, 0], points[noise, 1], s=24.0, color="0.55", marker="x", linewidths=1.0,
            label="noise", zorder=1,
        )  # fmt: skip
    _name(ax, names)
    legend_below(ax, columns=5, dots=SMALLEST_DOT)
    return ax


def draw_mixture_density(
    ax: Axes | None,
    model: Any,
    X: object,
    *,
    columns: tuple[Any, Any] = (0, 1),
    grid: int = 150,
) -> Axes:
    """Draw lines of equal density of a mixture over two columns, and the rows below them.

    Each line holds the share of the rows that is written on it. The density is that of these two
    columns, whatever the others are.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    model : GaussianMixture
        A fitted `GaussianMixture`.
    X : array_like (n, d)
        Rows (n, d).
    columns : tuple of two str or int, default=(0, 1)
        Two columns, by name or position.
    grid : int, default=150
        Points along each side of the grid on which the model is asked.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_clusters : The rows, each in the colour of its cluster.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import GaussianMixture
    >>> rows = [[0, 0], [1, 1], [0, 1], [1, 0], [8, 5], [9, 6], [8, 6], [9, 5]]
    >>> model = GaussianMixture(2, "EEE").fit(rows)
    >>> len(draw_mixture_density(Figure().add_subplot(), model, rows, grid=20).collections)
    2
    """
    ax = given_axes(ax)
    from matplotlib import colormaps

    if grid < 2:
        raise BadSetting(
            f"grid={grid} is not a grid",
            hint="use a whole number such as 150, the points along each side",
        )
    points, names = _points(model, X, columns)
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        raise NotFinite("no row has values in both columns", hint="choose other columns")
    plane = model.marginal(list(columns))
    order = np.argsort([place(model.schema, one) for one in columns])
    x, y = axis(points[:, 0], grid), axis(points[:, 1], grid)
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    logs = plane.score_samples(_framed(plane, places[:, order])).reshape(grid, grid)
    own = np.sort(plane.score_samples(_framed(plane, points[:, order])))
    levels = np.unique(np.quantile(own, 1.0 - np.sort(MASSES)[::-1]))
    ax.scatter(points[:, 0], points[:, 1], s=5.0, color="0.6", linewidths=0.0, zorder=1)
    shades = colormaps["viridis"](np.linspace(0.0, 0.7, len(levels)))
    lines = ax.contour(x, y, logs, levels=levels, colors=shades, linewidths=1.3, zorder=2)
    said = dict(zip(levels, [f"{m:.0%}" for m in np.sort(MASSES)[::-1]], strict=False))
    ax.clabel(lines, fmt={level: said.get(level, "") for level in levels}, fontsize=7.5)
    _name(ax, names)
    return ax


def _points(
    model: Any, X: object, columns: tuple[object, object]
) -> tuple[FloatArray, tuple[str, str]]:
    """Return two columns of rows, blanks as NaN, and what they are called."""
    if columns[0] == columns[1]:
        raise BadSetting(f"columns={columns!r} are not two", hint="name two different columns")
    known = model.schema
    first, second = (place(known, one) for one in columns)
    cells = known.encode(read_table(X), type(model).__name__)
    names = [known.names[j] if known.named else f"column {j}" for j in (first, second)]
    return np.asarray(cells[:, [first, second]], dtype=np.float64), (names[0], names[1])


def _framed(plane: object, rows: FloatArray) -> object:
    """Return rows as a mixture knows them: by name, where it has names."""
    if not hasattr(plane, "feature_names_in_"):
        return rows
    import narwhals as nw

    cells = {str(name): rows[:, j] for j, name in enumerate(plane.feature_names_in_)}
    return nw.from_dict(cells, backend="pyarrow").to_native()


def _name(ax: Axes, names: tuple[str, str]) -> None:
    ax.set_xlabel(shortened(names[0], 40))
    ax.set_ylabel(shortened(names[1], 40))
    tidy(ax)
