"""The typicality map: where rows are like some class, and where they are like none."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting
from suffice.plots.axes import dot_size, given_axes, legend_below
from suffice.plots.palette import INK, colour, marker
from suffice.plots.planes import class_codes, class_names, read_plane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

LEVELS = (0.001, 0.01, 0.05, 0.25)
"""p-values at which the map changes its shade."""
SHADES = tuple(str(shade) for shade in np.linspace(0.62, 0.98, len(LEVELS) + 1).round(2))
"""Greys from dark to nearly white. A choice: rows are drawn over them."""
NONE = 0.01
"""The p-value below which a row is like none of the classes."""


def draw_typicality(
    ax: Axes | None,
    model: object,
    rows: ArrayLike,
    labels: object = None,
    *,
    columns: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    grid: int = 200,
    legend: bool = True,
) -> Axes:
    """Draw how typical each point of a plane is of the class that it is most typical of.

    Typicality is a p-value: the chance that a row of the class lies at least as far out. The
    posterior can be certain far away from all rows; this map is not. Rows below 1 % for every
    class are ringed: "none of these".

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    model : classifier
        A fitted generative classifier of two columns.
    rows : array_like (n, 2)
        Rows (n, 2).
    labels : array_like (n,), optional, default=None
        Their labels (n,), by which markers differ; None draws all rows alike.
    columns : sequence of str or None, default=None
        Names of the axes.
    classes : sequence of str or None, default=None
        Names of the classes in the legend, in the order of the labels; None takes the labels.
    grid : int, default=200
        Points along each side of the grid on which the model is asked.
    legend : bool, default=True
        Whether to draw the legend.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_regions : What the posterior says of the same plane.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import GaussianDiscriminant
    >>> X = [[0.0, 0.1], [1.0, 0.0], [0.2, 1.0], [3.0, 3.2], [4.0, 3.0], [3.1, 4.0]]
    >>> model = GaussianDiscriminant().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> ax = draw_typicality(Figure().add_subplot(), model, X, columns=("width", "height"))
    >>> ax.get_ylabel()
    'height'
    """
    ax = given_axes(ax)
    if not hasattr(model, "typicality"):
        raise BadSetting(
            f"{type(model).__name__} has no typicality",
            hint="generative models have one: GaussianDiscriminant, NaiveBayes",
        )
    plane = read_plane(rows, columns, grid)
    points = plane.points
    known = class_names(model, classes) if hasattr(model, "classes_") else [""]
    codes = np.zeros(len(points), np.intp)
    if labels is not None:
        codes = class_codes(model, labels, len(points))
    best = plane.shaped(_best(model, plane.grid))
    ax.contourf(plane.x, plane.y, best, levels=[-1.0, *LEVELS, 2.0], colors=SHADES, zorder=0)
    inside = [level for level in LEVELS if best.min() < level < best.max()]
    if inside:
        ax.contour(plane.x, plane.y, best, levels=inside, colors=[INK], linewidths=0.6, zorder=1)
    lost, dots = _best(model, points) < NONE, dot_size(len(points))
    for k in range(len(known)) if labels is not None else (0,):
        ours = codes == k
        for chosen, ring, name in ((ours & ~lost, "white", known[k]), (ours & lost, INK, None)):
            ax.scatter(
                points[chosen, 0], points[chosen, 1], s=dots, c=colour(k), marker=marker(k),
                edgecolors=ring, linewidths=0.7 if name else 1.3, zorder=3,
                label=name if labels is not None else None,
            )  # fmt: skip
    ax.set_xlim(plane.x[0], plane.x[-1])
    ax.set_ylim(plane.y[0], plane.y[-1])
    if any(plane.names):
        ax.set_xlabel(plane.names[0])
        ax.set_ylabel(plane.names[1])
    if legend:
        _draw_legend(ax, dots)
    return ax


def _best(model: Any, rows: object) -> Any:
    """Return the p-value of each row for the class it is most typical of."""
    found = np.asarray(model.typicality(rows))
    return found if found.ndim == 1 else found.max(axis=1)


def _draw_legend(ax: Axes, dots: float) -> None:
    """Put classes, shades and the ring of "none of these" into a legend below the axes."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles, names = ax.get_legend_handles_labels()
    ring = Line2D(
        [], [], linestyle="none", marker="o", color="white", markeredgecolor=INK,
        markeredgewidth=1.3,
    )  # fmt: skip
    patches = [Patch(facecolor=shade, edgecolor=INK, linewidth=0.6) for shade in SHADES]
    said = [f"{100 * low:g} – {100 * high:g} %" for low, high in pairwise((*LEVELS, 1.0))]
    legend_below(
        ax,
        [*handles, ring, *patches],
        [*names, "like none of them", f"p < {100 * LEVELS[0]:g} %", *said],
        columns=3,
        dots=dots,
    )
