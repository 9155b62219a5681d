"""Curves: the sigmoid, and error against the number of rows learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadRows, BadSetting, NotFinite
from suffice.plots.axes import given_axes, legend_below, make_room, tidy
from suffice.plots.palette import COLOURS, INK, colour, dashes, marker
from suffice.plots.planes import read_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]
    Curve = tuple[FloatArray, FloatArray, FloatArray]


def draw_sigmoid(ax: Axes | None, *, reach: float = 6.0) -> Axes:
    """Draw the logistic function g(z) = 1 / (1 + e⁻ᶻ), its limits and its middle.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    reach : float, default=6.0
        The ends of the horizontal axis: from -reach to reach.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_regions : A model of two columns.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = draw_sigmoid(Figure().add_subplot())
    >>> ax.get_xlabel(), [tick.get_text() for tick in ax.get_yticklabels()]
    ('z = θᵀx', ['0', '½', '1'])
    """
    ax = given_axes(ax)
    if not 0.0 < reach <= 700.0:
        raise BadSetting(
            f"reach={reach:g} is too small to show a curve",
            hint="use for instance 6, which shows where it bends",
        )
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

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    sizes : array_like
        Numbers of training rows, ascending.
    curves : mapping of str to array_like
        For each name one value for each size, or (repetitions, sizes): the mean is then drawn with
        a band of two standard errors on either side.
    bands : mapping of str to tuple of array_like or None, default=None
        For each name (lower, upper), where bands are known otherwise.
    crossing : float or tuple of float or None, default=None
        The size at which two curves cross, or the range in which it lies; None marks none.
    measure : str, default="error"
        What the values are: the name of the vertical axis.
    legend : bool, default=True
        Whether to draw the legend.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    suffice.evaluation.learning_curves : Makes such curves.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> ax = draw_learning_curves(ax, [10, 100, 1000], {"GDA": [0.2, 0.15, 0.14]})
    >>> ax.get_xscale(), ax.get_xlabel()
    ('log', 'training rows')
    """
    ax = given_axes(ax)
    at, found = _read_curves(sizes, curves, bands or {})
    for k, (name, (low, middle, high)) in enumerate(found.items()):
        if (low < high).any():
            ax.fill_between(at, low, high, color=colour(k), alpha=0.18, linewidth=0.0, zorder=1)
            for edge in (low, high):
                ax.plot(at, edge, color=colour(k), linewidth=0.7, alpha=0.7, zorder=2)
        ax.plot(
            at, middle, color=colour(k), linestyle=dashes(k), linewidth=2.0, zorder=3, label=name,
            marker=marker(k), markersize=6, markeredgecolor="white", markeredgewidth=0.6,
        )  # fmt: skip
    if crossing is not None:  # last, and so the last entry of the legend
        _draw_crossing(ax, crossing)
    ax.set_xscale("log")
    _name_sizes(ax, at)
    ax.set_xlabel("training rows")
    ax.set_ylabel(measure)
    ax.grid(axis="y", color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    tidy(ax)
    make_room(ax)
    if legend and len(found) <= 4:
        ax.legend(frameon=True, framealpha=0.85, edgecolor="none", fontsize=9, handlelength=2.6)
    elif legend:
        legend_below(ax)
    return ax


def _read_curves(
    sizes: ArrayLike,
    curves: Mapping[str, ArrayLike],
    bands: Mapping[str, tuple[ArrayLike, ArrayLike]],
) -> tuple[FloatArray, dict[str, Curve]]:
    """Return sizes and, for each name, lower end, middle and upper end; or refuse them."""
    at = read_numbers(sizes, "sizes")
    if at.ndim != 1 or len(at) == 0 or not (np.isfinite(at) & (at > 0.0)).all():
        raise BadRows(f"{sizes!r:.60} are not sizes", hint="give numbers of rows, above 0")
    if (np.diff(at) <= 0.0).any():
        raise BadRows(f"the sizes {sizes!r:.60} do not grow", hint="sort them, each once")
    if not curves:
        raise BadSetting("there are no curves to draw", hint="give at least one: {name: values}")
    for name in bands:
        if name not in curves:
            raise BadSetting(
                f"there is a band of {name!r}, but no curve", hint="use the same name for both"
            )
    found: dict[str, Curve] = {}
    for name, values in curves.items():
        rows = np.atleast_2d(read_numbers(values, f"values of {name}"))
        middle = _checked(rows, at, name).mean(axis=0)
        low = high = middle
        if name in bands:
            low, high = (
                _checked(np.atleast_2d(read_numbers(edge, f"bands of {name}")), at, name)[0]
                for edge in bands[name]
            )
        elif len(rows) > 1:
            reach = 2.0 * rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
            low, high = middle - reach, middle + reach
            if (rows >= 0.0).all():
                low = np.maximum(low, 0.0)  # errors and losses: none is below nothing
        found[name] = (low, middle, high)
    return at, found


def _checked(rows: FloatArray, at: FloatArray, name: str) -> FloatArray:
    """Return the values of a curve, or refuse those that are too few or not finite."""
    if rows.ndim != 2 or rows.shape[1] != len(at) or len(rows) == 0:
        raise BadRows(
            f"{name}: values of shape {rows.shape} for {len(at)} sizes",
            hint="give one value for each size, or (repetitions, sizes)",
        )
    if not np.isfinite(rows).all():
        size = at[int((~np.isfinite(rows)).any(axis=0).argmax())]
        raise NotFinite(
            f"{name} has no finite value at {size:g} rows", hint="leave the size out of all curves"
        )
    return rows


def _draw_crossing(ax: Axes, crossing: float | tuple[float, float]) -> None:
    """Mark where curves cross: a line, or the range it lies in."""
    ends = np.atleast_1d(read_numbers(crossing, "crossings"))
    if len(ends) > 2 or not (np.isfinite(ends) & (ends > 0.0)).all() or ends[0] > ends[-1]:
        raise BadSetting(f"crossing={crossing!r} is not a size", hint="give one, or (lower, upper)")
    if len(ends) == 2 and ends[0] < ends[1]:
        ax.axvspan(*ends, color="0.9", linewidth=0.0, zorder=0, label="the curves cross")
    else:
        ax.axvline(
            ends[0], color="0.6", linewidth=1.2, linestyle=(0, (2, 2)), zorder=0,
            label="the curves cross",
        )  # fmt: skip


def _name_sizes(ax: Axes, at: FloatArray) -> None:
    """Write sizes as plain numbers, as many as have room beside each other."""
    from matplotlib.ticker import NullLocator

    kept, last = [], -np.inf
    width = np.log(at[-1] / at[0]) or 1.0
    for size in at:
        if np.log(size) - last >= 0.07 * width:
            kept.append(size)
            last = np.log(size)
    ax.set_xticks(kept, [f"{size:,.0f}" if size == round(size) else f"{size:g}" for size in kept])
    ax.xaxis.set_minor_locator(NullLocator())
