"""What matplotlib has drawn, as plain numbers: pages tell the value that one points at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from numpy.typing import NDArray

MOST_ON_LINES = 120
"""Points of a line that a page keeps. A choice: on a screen they are a few pixels apart."""
MOST_DOTS = 1200
"""Dots of a picture that a page keeps; as many as are drawn of two columns."""
DIGITS = 4
"""Significant digits of a value. A choice: more than can be seen."""
LONGEST = 80
"""Characters of a name beside a value."""


def drawn_values(ax: Axes, size: tuple[float, float]) -> dict[str, Any] | None:
    """Return scales, lines, dots and bars of a picture of this size, in points.

    Lines and dots are those with a name, as a legend has them; None where axes have no extent.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> _ = ax.plot([1.0, 2.0], [0.5, 0.25], label="GDA")
    >>> drawn_values(ax, (360.0, 300.0))["series"]
    [{'name': 'GDA', 'at': [[1.0, 0.5], [2.0, 0.25]]}]
    """
    left, bottom, width, height = ax.get_position().bounds
    wide, high = size
    # The view box begins at the top, matplotlib's figure at the bottom.
    top = 1.0 - bottom - height
    box = [left * wide, top * high, (left + width) * wide, (1.0 - bottom) * high]
    scales = {"x": _scale(ax.xaxis), "y": _scale(ax.yaxis)}
    if not all(np.isfinite([one["low"], one["high"]]).all() for one in scales.values()):
        return None
    if any(one["low"] == one["high"] for one in scales.values()):
        return None
    return {
        "box": [round(edge, 2) for edge in box],
        **scales,
        "series": _series(ax),
        "bars": _bars(ax),
    }


def _scale(axis: Axis) -> dict[str, Any]:
    low, high = axis.get_view_interval()
    name = axis.label.get_text().replace("\n", " ")
    return {
        "name": name[:LONGEST],
        "low": float(low),
        "high": float(high),
        "log": axis.get_scale() == "log",
    }


def _series(ax: Axes) -> list[dict[str, Any]]:
    found = []
    for line in ax.get_lines():
        # In a picture of one curve it needs no name; there, matplotlib's own begins with _.
        if not str(line.get_label()).startswith("_"):
            thin = _thinned(np.asarray(line.get_xydata(), np.float64), MOST_ON_LINES)
            found.append({"name": str(line.get_label())[:LONGEST], "at": _numbers(thin)})
    left = MOST_DOTS
    for dots in ax.collections:
        places = np.asarray(dots.get_offsets(), np.float64)
        if str(dots.get_label()).startswith("_") or len(places) == 0 or left <= 0:
            continue
        places = places[:left]
        left -= len(places)
        found.append({"name": str(dots.get_label())[:LONGEST], "at": _numbers(places)})
    return [one for one in found if one["at"]]


def _thinned(points: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    if len(points) <= most:
        return points
    return points[np.unique(np.linspace(0, len(points) - 1, most).round().astype(np.intp))]


def _numbers(points: NDArray[np.float64]) -> list[list[float]]:
    there = points[np.isfinite(points).all(axis=1)]
    return [[float(f"{value:.{DIGITS}g}") for value in one] for one in there.tolist()]


def _bars(ax: Axes) -> list[dict[str, Any]]:
    """Return the ends of bars with what they are called on the other axis."""
    from matplotlib.container import BarContainer

    found = []
    for bars in ax.containers:
        if not isinstance(bars, BarContainer):
            continue
        across = bars.orientation == "horizontal"
        axis = ax.yaxis if across else ax.xaxis
        words = {
            round(float(place), 6): tick.get_text()
            for place, tick in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
        }
        for bar in bars.patches:
            x, y = bar.get_x(), bar.get_y()
            w, h = bar.get_width(), bar.get_height()
            at = [x + w, y + h / 2.0] if across else [x + w / 2.0, y + h]
            value = float(w if across else h)
            if not np.isfinite([*at, value]).all():
                continue
            name = words.get(round(float(at[1] if across else at[0]), 6), "")
            found.append(
                {
                    "name": name.replace("\n", " ")[:LONGEST],
                    "value": float(f"{value:.{DIGITS}g}"),
                    "at": [float(f"{place:.6g}") for place in at],
                }
            )
    return found
