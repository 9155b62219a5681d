"""The picture of the subject: rows, the density of each class, and where the classes tie."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadSetting, OutsideSupport
from suffice.models.gaussian.law.normal import Normal
from suffice.plots.axes import FULL_DOT, dot_size, given_axes, legend_below, new_figure, tidy
from suffice.plots.palette import COLOURS, INK, MARKERS, PALE, colour, marker
from suffice.plots.planes import class_codes, class_names, read_plane

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from suffice.plots.planes import Plane

    FloatArray = NDArray[np.float64]


__all__ = ["BOUNDARY_WIDTH", "COLOURS", "INK", "INSIDE", "MARKERS", "draw_regions"]

BOUNDARY_WIDTH = 1.3
"""Points. A choice: wider than the 0.8 of matplotlib's axes."""

INSIDE = (0.5, 0.95)
"""How much of a class lies inside each of its contours."""
SHARES: tuple[Any, ...] = ("-", (0, (5, 2)))
"""The line styles of these contours."""
CROWD = 5
"""Classes from which each is named where it lies: a legend alone would be a puzzle."""
SHORT = 12
"""Letters up to which a name has room between the rows."""
DRAWS = 4000
"""Rows drawn from a class whose contours have no formula."""
FEW_VALUES = 60
"""Different whole numbers up to which a column is stripes of dots on top of each other."""
NUDGE = 0.36
"""How far a dot of such a column is moved at most, in steps of its numbers: stripes stay apart."""


def draw_regions(
    ax: Axes | None,
    model: object,
    rows: ArrayLike,
    labels: Sequence[object] | NDArray[np.generic],
    *,
    columns: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    grid: int = 400,
    legend: bool = True,
    jitter: bool | None = None,
) -> Axes:
    """Draw a model of two columns on `ax`: rows, contours of each class, and decision boundary.

    The contours hold 50 % and 95 % of their class. For normal classes they are the ellipses {x :
    (x - μ)ᵀΣ⁻¹(x - μ) = -2 log(1 - p)}, all of one shape where Σ is shared; for naive Bayes those
    of the density that so many draws exceed; a model of p(y | x) alone has none. The boundary is
    where the two most likely classes have the same posterior; on either side the plane has the
    colour of the winner. Rows that the model gets wrong are ringed.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    model : classifier
        A fitted classifier of two columns.
    rows : array_like (n, 2)
        Rows (n, 2).
    labels : array_like (n,)
        Their labels (n,).
    columns : sequence of str or None, default=None
        Names of the axes.
    classes : sequence of str or None, default=None
        Names of the classes in the legend, in the order of the labels; None takes the labels.
    grid : int, default=400
        Points along each side of the grid on which the model is asked.
    legend : bool, default=True
        Whether to draw the legend. It stands below the Axes and covers no row.
    jitter : bool or None, default=None
        Whether to move dots in columns of whole numbers a little, always by the same amounts, so
        that equal rows can be seen; None does where most rows share their place with others.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    side_by_side : Several models beside each other.
    draw_typicality : Where a model has seen no rows.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.plots import draw_regions
    >>> X = [[0.0, 0.1], [1.0, 0.0], [0.2, 1.0], [3.0, 3.2], [4.0, 3.0], [3.1, 4.0]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = GaussianDiscriminant().fit(X, y)
    >>> ax = draw_regions(Figure().add_subplot(), model, X, y, columns=("width", "height"))
    >>> ax.get_xlabel(), len(ax.get_legend().get_texts())
    ('width', 2)
    """
    ax = given_axes(ax)
    plane = read_plane(rows, columns, grid)
    points, x, y = plane.points, plane.x, plane.y
    codes = class_codes(model, labels, len(points))
    known = class_names(model, classes)
    scores = plane.shaped(_scores(model, plane.grid))
    winner = _scores(model, points).argmax(axis=1)

    dots = dot_size(len(points))
    at = nudged(points) if (is_crowded(points) if jitter is None else jitter) else points
    for k, name in enumerate(known):
        lead = _lead(scores, k)
        if len(known) > 1 and lead.min() < 0.0 < lead.max():
            ax.contourf(x, y, lead, levels=[0.0, np.inf], colors=[colour(k)], alpha=0.10, zorder=0)
            ax.contour(x, y, lead, levels=[0.0], colors=[INK], linewidths=BOUNDARY_WIDTH, zorder=3)
        _draw_contours(ax, model, k, plane, scores)
        ours = codes == k
        for chosen, ring, label in ((ours, "white", name), (ours & (winner != codes), INK, None)):
            ax.scatter(
                at[chosen, 0], at[chosen, 1], s=dots, c=colour(k), marker=marker(k),
                label=label, edgecolors=ring, linewidths=0.7, zorder=4,
            )  # fmt: skip
    if len(known) >= CROWD and max(map(len, known)) <= SHORT:
        _name_classes(ax, points, codes, known)

    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(y[0], y[-1])
    if any(plane.names):
        ax.set_xlabel(plane.names[0])
        ax.set_ylabel(plane.names[1])
    if legend:
        legend_below(ax, columns=4 if len(known) < CROWD else 5, dots=dots)
    return ax


def is_crowded(points: FloatArray) -> bool:
    """Return whether most rows lie on top of others, in columns of whole numbers.

    >>> is_crowded(np.array([[1.0, 0.5], [1.0, 0.5], [2.0, 0.5]]))
    True
    >>> is_crowded(np.array([[1.0, 0.5], [1.0, 0.7], [2.0, 0.5]]))
    False
    """
    places = np.unique(points, axis=0)
    return bool(_whole(points).any()) and 2 * len(places) < len(points) + 2


def _whole(points: FloatArray) -> NDArray[np.bool_]:
    """Return which columns hold few whole numbers."""
    return np.array([
        bool((column == np.floor(column)).all()) and len(np.unique(column)) <= FEW_VALUES
        for column in points.T
    ])  # fmt: skip


def nudged(points: FloatArray) -> FloatArray:
    """Return points moved a little in columns of few whole numbers, always by the same amounts.

    >>> moved = nudged(np.array([[1.0, 0.25], [1.0, 0.25], [3.0, 0.25]]))
    >>> bool((moved[:, 1] == 0.25).all()), moved[:, 0].round().tolist()
    (True, [1.0, 1.0, 3.0])
    """
    lots = np.random.default_rng(0).uniform(-NUDGE, NUDGE, points.shape)
    return np.where(_whole(points), points + lots, points)


def _scores(model: object, rows: FloatArray) -> FloatArray:
    """Return what decides between classes: log p(x, y), log p(y | x), or scores without either."""
    for name in ("log_joint", "predict_log_proba", "decision_function"):
        if hasattr(model, name):
            with warnings.catch_warnings():
                # The plane reaches beyond where a law has a density: its rows are nobody's.
                warnings.simplefilter("ignore", OutsideSupport)
                found: FloatArray = np.asarray(getattr(model, name)(rows))
            return np.stack([np.zeros_like(found), found], axis=1) if found.ndim == 1 else found
    raise BadSetting(
        f"{type(model).__name__} has neither probabilities nor scores",
        hint="give a fitted model: GaussianDiscriminant, NaiveBayes, LogisticRegression",
    )


def _draw_contours(ax: Axes, model: Any, k: int, plane: Plane, scores: FloatArray) -> None:
    """Draw what holds 50 % and 95 % of a class, if the model has a density of classes."""
    if hasattr(model, "covariances_"):
        for share, style in zip(INSIDE, SHARES, strict=True):
            edge = Normal(model.means_[k], model.covariances_[k]).contour(mass=share)
            ax.plot(
                *edge.T, color=colour(k), linewidth=1.5, linestyle=style, zorder=2,
                solid_capstyle="butt",
            )  # fmt: skip
    elif hasattr(model, "log_joint"):
        drawn, _ = model.sample(DRAWS, y=np.asarray(model.classes_).tolist()[k], random_state=0)
        heights = np.quantile(_scores(model, drawn)[:, k], [1.0 - share for share in INSIDE])
        levels = sorted({float(height) for height in heights})
        ax.contour(
            plane.x, plane.y, scores[..., k], levels=levels, colors=[colour(k)], linewidths=1.5,
            linestyles=list(SHARES[::-1][: len(levels)]), zorder=2,
        )  # fmt: skip


LETTER, LINE = 0.009, 0.05
"""Half the width of a letter and the height of a line, in parts of the picture."""


def _name_classes(ax: Axes, points: FloatArray, codes: NDArray[np.intp], known: list[str]) -> None:
    """Write the name of each class over the middle of its rows, unless another stands there."""
    from matplotlib.patheffects import withStroke

    taken: list[tuple[float, float, float]] = []
    for k, name in enumerate(known):
        if (codes == k).any():
            x, y = np.median(points[codes == k], axis=0)
            across, up = ax.transAxes.inverted().transform(ax.transData.transform((x, y)))
            half = LETTER * len(name)
            if any(abs(across - a) < half + h and abs(up - u) < LINE for a, u, h in taken):
                continue  # the legend names it
            taken.append((across, up, half))
            ax.text(
                x, y, name,
                color=INK, fontsize=10, fontweight="bold", ha="center", va="center", zorder=5,
                path_effects=[withStroke(linewidth=3.0, foreground="white")], clip_on=True,
            )  # fmt: skip


def _lead(joint: FloatArray, k: int) -> FloatArray:
    """Return by how much class k's log p(x, y) exceeds the best of the others: zero is a tie."""
    others = np.delete(joint, k, axis=-1)
    if others.shape[-1] == 0:
        return np.ones(joint.shape[:-1])
    with np.errstate(invalid="ignore"):  # impossible for both: nobody leads
        lead: FloatArray = joint[..., k] - others.max(axis=-1)
    return np.where(np.isnan(lead), 0.0, lead)


def side_by_side(
    models: Mapping[str, object],
    rows: ArrayLike,
    labels: Sequence[object] | NDArray[np.generic],
    *,
    columns: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Return a figure with one panel for each model, titled by its key, and one legend below all.

    No window is opened and no global state of pyplot is touched.

    Parameters
    ----------
    models : mapping of str to classifier
        Fitted classifiers of two columns, by the titles of their panels.
    rows : array_like (n, 2)
        Rows (n, 2).
    labels : array_like (n,)
        Their labels (n,).
    columns : sequence of str or None, default=None
        Names of the axes.
    classes : sequence of str or None, default=None
        Names of the classes in the legend, in the order of the labels; None takes the labels.
    title : str or None, default=None
        The title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        A figure with one panel for each model, and one legend below all.

    See Also
    --------
    draw_regions : One of the panels.

    Examples
    --------
    >>> from suffice import GaussianDiscriminant
    >>> X = [[0.0, 0.1], [1.0, 0.0], [0.2, 1.0], [3.0, 3.2], [4.0, 3.0], [3.1, 4.0]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> forms = {form: GaussianDiscriminant(covariance=form).fit(X, y)
    ...          for form in ("shared", "diagonal")}
    >>> [ax.get_title(loc="left") for ax in side_by_side(forms, X, y).axes]
    ['shared', 'diagonal']
    """
    if not models:
        raise BadSetting("there are no models to draw", hint="give at least one: {name: model}")
    figure = new_figure(5.2 * len(models), 5.2)
    panels = figure.subplots(1, len(models), sharex=True, sharey=True, squeeze=False)[0]
    for ax, (name, model) in zip(panels, models.items(), strict=True):
        draw_regions(ax, model, rows, labels, columns=columns, classes=classes, legend=False)
        ax.set_title(name, loc="left", fontsize=11)
        ax.label_outer()
        tidy(ax)
    handles, names = panels[0].get_legend_handles_labels()
    for handle, name in zip(*region_lines(), strict=True):
        handles.append(handle)
        names.append(name)
    figure.legend(
        handles, names, loc="outside lower center", ncols=min(len(names), 5 * len(models) - 1),
        frameon=False, fontsize=9, handletextpad=0.5, columnspacing=1.4,
        markerscale=(1.2 * FULL_DOT / dot_size(len(labels))) ** 0.5,
    )  # fmt: skip
    if title is not None:
        figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    return figure


def region_lines() -> tuple[list[Any], list[str]]:
    """Return entries of a legend for what `draw_regions` draws besides rows."""
    from matplotlib.lines import Line2D

    handles = [
        *(Line2D([], [], color=PALE, linewidth=1.5, linestyle=style) for style in SHARES),
        Line2D([], [], color=INK, linewidth=BOUNDARY_WIDTH),
        Line2D([], [], linestyle="none", marker="o", color="white", markeredgecolor=INK),
    ]
    return handles, ["50 % of a class", "95 % of a class", "two classes tie", "wrong side"]
