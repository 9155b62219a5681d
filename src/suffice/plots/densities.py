"""One normal law in two columns: as a surface, and as contours with its principal axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadMatrix, BadSetting
from suffice.models.gaussian.law.ellipses import radius
from suffice.models.gaussian.law.normal import Normal
from suffice.plots.axes import given_axes, solid_axes
from suffice.plots.palette import INK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    Limits = tuple[float, float]

REACH = 3.0
"""How many standard deviations of each column are shown, if nobody says."""
MASSES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
"""The parts of a law inside each contour, if nobody says. A choice: most of the law in even
steps, and its tail."""
APART = 0.055
"""How far two masses are written from each other, in parts of the window."""
LEVELS = "viridis"
"""Colours that climb in brightness, for every kind of colour vision and in grey."""


def draw_surface(
    ax: Axes | None,
    law: object,
    *,
    limits: tuple[Limits, Limits] | None = None,
    top: float | None = None,
    grid: int = 49,
) -> object:
    """Draw the density of a normal law of two columns as a surface, on a three-dimensional Axes.

    A new figure is made where `ax` is None.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    law : Normal, MultivariateNormal or tuple
        A `Normal`, a `MultivariateNormal`, or (mean, covariance), of two columns.
    limits : tuple of two tuples of float, optional, default=None
        The ends of both columns.
    top : float or None, default=None
        The height of the vertical axis; the same for several distributions makes them comparable,
        as the volume under each is 1.
    grid : int, default=49
        Points along each side of the grid on which the model is asked.

    Returns
    -------
    mpl_toolkits.mplot3d.axes3d.Axes3D
        The Axes that was drawn on.

    See Also
    --------
    draw_contours : The same from above.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot(projection="3d")
    >>> ax = draw_surface(ax, ([0, 0], [[1, 0.8], [0.8, 1]]), top=0.3)
    >>> round(float(ax.get_zlim()[1]), 2)
    0.3
    """
    solid: Any = solid_axes(ax)
    law, names = plane_law(law)
    if law.rank < 2:
        raise BadMatrix(
            f"the covariance has rank {law.rank}: the distribution has no density in the plane",
            hint="draw_contours draws the line or the point that is left",
        )
    x, y = (np.linspace(*ends, grid) for ends in _limits(law, limits))
    plane = np.stack(np.meshgrid(x, y), axis=-1)
    heights = law.density(plane.reshape(-1, 2)).reshape(grid, grid)
    peak = float(law.density(law.mean[np.newaxis])[0])
    top = peak if top is None else top
    if not 0.0 < top < math.inf:
        raise BadSetting(f"top={top:g} is not a height", hint=f"the density reaches {peak:.3g}")
    solid.plot_surface(
        *np.meshgrid(x, y), heights, cmap=LEVELS, vmin=0.0, vmax=top, rcount=grid, ccount=grid,
        edgecolor=(1.0, 1.0, 1.0, 0.25), linewidth=0.25, antialiased=True,
    )  # fmt: skip
    solid.set_xlim(x[0], x[-1])
    solid.set_ylim(y[0], y[-1])
    solid.set_zlim(0.0, top)
    solid.set_box_aspect((4.0, 4.0, 2.6), zoom=1.12)
    solid.view_init(elev=28.0, azim=-58.0)
    for axis in (solid.xaxis, solid.yaxis, solid.zaxis):
        axis.pane.set(facecolor="white", edgecolor="0.85")
        axis._axinfo["grid"].update(color="0.9", linewidth=0.6)
    solid.locator_params(nbins=5)
    solid.tick_params(labelsize=8, pad=0)
    solid.set_xlabel(names[0], labelpad=0.0)
    solid.set_ylabel(names[1], labelpad=0.0)
    return solid


def draw_contours(
    ax: Axes | None,
    law: Any,
    *,
    limits: tuple[Limits, Limits] | None = None,
    masses: Sequence[float] = MASSES,
    axes: bool = True,
    colour: str | None = None,
    named: bool = True,
) -> Axes:
    """Draw curves of equal density that hold `masses` of a normal law, and its principal axes.

    The curves are ellipses about μ; their axes are the eigenvectors of Σ, drawn as arrows one
    standard deviation √λ long. Both columns have the same scale, so that right angles look right.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    law : Normal, MultivariateNormal or tuple
        A `Normal`, a `MultivariateNormal`, or (mean, covariance), of two columns.
    limits : tuple of two tuples of float, optional, default=None
        The ends of both columns.
    masses : sequence of float, default=MASSES
        The shares that the curves hold.
    axes : bool, default=True
        Whether to draw the principal axes.
    colour : str or None, default=None
        One colour for all curves; None makes the denser ones brighter.
    named : bool, default=True
        Whether to write its mass on each curve.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_surface : The same as a surface.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = draw_contours(Figure().add_subplot(), ([0, 0], [[1, 0.5], [0.5, 1]]))
    >>> len(ax.lines)
    6
    """
    ax = given_axes(ax)
    law, names = plane_law(law)
    if not masses:
        raise BadSetting("no contours are requested", hint="masses=(0.5, 0.95) draws two")
    from matplotlib import colormaps

    (left, right), (low, high) = _limits(law, limits)
    spread, directions = law.principal_axes()
    # Masses stand along the long axis, where curves are farthest apart, unless that is so flat
    # that words beside each other would meet.
    away = spread[0] * directions[0]
    if law.rank == 2 and abs(directions[0, 1]) < 0.4:
        away = math.sqrt(0.5) * (away + spread[1] * directions[1])
    shades = colormaps[LEVELS](np.linspace(0.0, 0.85, len(masses)))
    last = np.full(2, np.inf)
    for mass, shade in zip(sorted(masses, reverse=True), shades, strict=True):
        if law.rank == 0:
            break
        ax.plot(
            *law.contour(mass=mass).T, color=shade if colour is None else colour, linewidth=1.5,
            zorder=2, solid_capstyle="butt",
        )  # fmt: skip
        at = law.mean - radius(mass, None, law.rank) * away
        room = math.hypot(*((last - at) / (right - left, high - low))) > APART
        if named and room and left < at[0] < right and low < at[1] < high:
            last = at
            ax.annotate(
                f"{mass:.0%}".replace("%", " %"), at, fontsize=7.5, color=INK, ha="center",
                va="center", zorder=5, bbox={"boxstyle": "round,pad=0.12", "fc": "w", "ec": "none"},
            )  # fmt: skip
    if axes:
        for length, direction in zip(spread, directions, strict=True):
            if length > 0.0:
                ax.annotate(
                    "", law.mean + length * direction, law.mean, zorder=4,
                    arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1.5,
                                "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11},
                )  # fmt: skip
    ax.scatter(law.mean[:1], law.mean[1:], s=22, c=INK, zorder=4)
    ax.set_xlim(left, right)
    ax.set_ylim(low, high)
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    return ax


def plane_law(law: object) -> tuple[Normal, tuple[str, str]]:
    """Return a law of two columns, however it is given, and what its columns are called."""
    names = getattr(law, "feature_names_in_", None)
    if isinstance(law, (tuple, list)) and len(law) == 2:
        law = Normal(*law)
    elif not isinstance(law, Normal):
        if not hasattr(law, "covariance_") or not hasattr(law, "mean_"):
            raise BadSetting(
                f"{type(law).__name__} is not a normal distribution",
                hint="give a Normal, a MultivariateNormal, or (mean, covariance)",
            )
        law = Normal(law.mean_, law.covariance_)
    if law.width != 2:
        raise BadSetting(
            f"a plane needs 2 columns, this distribution has {law.width}",
            hint="take marginal([i, j]) first",
        )
    return law, ("x₁", "x₂") if names is None else (str(names[0]), str(names[1]))


def _limits(law: Normal, limits: tuple[Limits, Limits] | None) -> tuple[Limits, Limits]:
    """Return the ends of both columns: as given, or so many standard deviations about the mean."""
    if limits is None:
        deviations = np.sqrt(np.diagonal(law.covariance))
        wide = np.where(deviations > 0.0, REACH * deviations, 1.0)
        # A line has one direction: a window of very different sides would hide it.
        wide = np.maximum(wide, 0.05 * wide.max())
        (a, b), (c, d) = zip(law.mean - wide, law.mean + wide, strict=True)
        return (float(a), float(b)), (float(c), float(d))
    for ends in limits:
        if not -math.inf < ends[0] < ends[1] < math.inf:
            raise BadSetting(f"limits {ends!r} are not a range", hint="write ((-3, 3), (-3, 3))")
    return limits
