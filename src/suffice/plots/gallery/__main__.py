"""The gallery: every picture of docs/gallery.md, drawn again by `python -m suffice.plots.gallery`.

python -m suffice.plots.gallery                      all pictures, into docs/images/gallery
python -m suffice.plots.gallery -o folder sigmoid    this one, elsewhere
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import SufficeError
from suffice.plots.axes import new_figure, save_figure
from suffice.plots.curves import draw_sigmoid
from suffice.plots.densities import draw_contours, draw_surface
from suffice.plots.gallery.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    Law = tuple[list[float], list[list[float]]]


ORIGIN = [0.0, 0.0]
"""The mean of the standard normal law."""
UNIT = [[1.0, 0.0], [0.0, 1.0]]
"""Its covariance."""
WINDOW = ((-3.3, 3.3), (-3.3, 3.3))
"""What is shown of either column: of a standard normal law, the contour of 99 % has the radius
√(-2 log 0.01) = 3.03."""
WIDE = ((-4.7, 4.7), (-4.7, 4.7))
"""The same for means up to 1.5 away, 1.5 + 3.03 = 4.53, and for surfaces with a variance of 3."""
WIDEST = ((-5.4, 5.4), (-5.4, 5.4))
"""The same for contours of 99 % with a variance of 3: 3.03·√3 = 5.25."""
WIDTH = 10.2
"""Inches of a picture of three panels. A choice."""


def _times(factor: float) -> Law:
    return ORIGIN, [[factor, 0.0], [0.0, factor]]


def _correlated(rho: float) -> Law:
    return ORIGIN, [[1.0, rho], [rho, 1.0]]


def _surfaces(laws: Sequence[tuple[str, Law]], window: Any, top: float) -> Figure:
    """Return surfaces of laws beside each other, with one scale for all."""
    figure = new_figure(WIDTH, 3.1)
    for place, (title, law) in enumerate(laws, 1):
        ax = figure.add_subplot(1, len(laws), place, projection="3d")
        draw_surface(ax, law, limits=window, top=top)
        ax.set_title(title, fontsize=11, pad=0.0)
    return figure


def _contours(laws: Sequence[tuple[str, Law]], window: Any) -> Figure:
    """Return contours of laws beside each other, with one scale for all."""
    figure = new_figure(WIDTH, 4.0)
    for ax, (title, law) in zip(figure.subplots(1, len(laws), sharey=True), laws, strict=True):
        draw_contours(ax, law, limits=window)
        ax.set_title(title, fontsize=11)
        ax.label_outer()
    return figure


SPREADS = [(rf"$\Sigma = {factor}I$", _times(float(factor or 1))) for factor in ("", "0.6", "2")]
"""Covariances that shrink and grow: examples, as are those below."""
CORRELATIONS = [(f"correlation {rho:g}", _correlated(rho)) for rho in (0.0, 0.5, 0.8)]
"""Correlations from none to strong."""
SHAPES = [
    ("correlation −0.5", _correlated(-0.5)),
    ("correlation −0.8", _correlated(-0.8)),
    ("variances 3 and 1, covariance 0.8", (ORIGIN, [[3.0, 0.8], [0.8, 1.0]])),
]
"""Correlations the other way, and variances that differ."""
MEANS: list[tuple[str, Law]] = [
    (r"$\mu = (1, 0)$", ([1.0, 0.0], UNIT)),
    (r"$\mu = (-0.5, 0)$", ([-0.5, 0.0], UNIT)),
    (r"$\mu = (-1, {-}1.5)$", ([-1.0, -1.5], UNIT)),
]
"""Means that move in one direction, back, and in both."""


def sigmoid() -> Figure:
    """Return the sigmoid."""
    figure = new_figure(5.6, 3.4)
    draw_sigmoid(figure.add_subplot())
    return figure


NORMALS: dict[str, Callable[[], Figure]] = {
    "normal-spread": lambda: _surfaces(SPREADS, WINDOW, 0.27),
    "normal-correlation": lambda: _surfaces(CORRELATIONS, WINDOW, 0.27),
    "normal-correlation-contours": lambda: _contours(CORRELATIONS, WINDOW),
    "normal-shape": lambda: _surfaces(SHAPES, WIDE, 0.27),
    "normal-shape-contours": lambda: _contours(SHAPES, WIDEST),
    "normal-mean": lambda: _surfaces(MEANS, WIDE, 0.17),
    "normal-mean-contours": lambda: _contours(MEANS, WIDE),
    "sigmoid": sigmoid,
}
"""What draws each picture of normal laws. The number is the height of the axes, a little above the
highest density: 1/(2π·0.6) = 0.265, or 1/(2π) = 0.159."""


PICTURES: dict[str, Callable[[], Figure]] = {**NORMALS, **MODELS}
"""What draws each picture, by the name of its file."""
FOLDER = Path("docs/images/gallery")
"""Where the pages of the documentation look for their pictures."""
COLOURS = 256
"""Colours of a picture's palette: enough for a surface, and a third of the size."""


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the pictures that are named, or all, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m suffice.plots.gallery", description="Draw the pictures of the gallery."
    )
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(PICTURES))
    parser.add_argument(
        "-o", "--output", type=Path, default=FOLDER, help=f"the folder (default: {FOLDER})"
    )
    parser.add_argument("--dpi", type=float, default=110.0, help="dots an inch (default: 110)")
    asked = parser.parse_args(argv)
    unknown = [name for name in asked.names if name not in PICTURES]
    if unknown:
        parser.error(f"there is no picture {unknown[0]!r}; there are {', '.join(PICTURES)}")
    try:
        asked.output.mkdir(parents=True, exist_ok=True)
        for name in asked.names or PICTURES:
            path = asked.output / f"{name}.png"
            save_figure(PICTURES[name](), path, dpi=asked.dpi, colours=COLOURS)
            sys.stderr.write(f"{path}\n")
    except (SufficeError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
