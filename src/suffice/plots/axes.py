"""The Axes that is drawn on, the room around it, and how classes are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from suffice.errors import BadSetting, listed
from suffice.storage.atomic_writes import whole_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BELOW = 36.0
"""Points between the axes and a legend below them: ticks and a label fit in between."""
MANY_ENTRIES = 4
"""Entries beside each other in a legend. A choice: names of usual length fit under one picture."""
FULL_DOT = 30.0
"""The area of a dot that is large enough for a legend."""


def given_axes(ax: Axes | None) -> Axes:
    """Return the Axes to draw on: the one given, or for None pyplot's current one."""
    if ax is None:
        with_matplotlib()
        from matplotlib import pyplot as plt

        return plt.gca()
    if not hasattr(ax, "transAxes"):
        raise BadSetting(
            f"{type(ax).__name__} is not an Axes",
            hint="the first argument is the Axes to draw on, or None for the current one",
        )
    return ax


def solid_axes(ax: Axes | None) -> object:
    """Return the three-dimensional Axes to draw on; for None a new one in the current figure."""
    if ax is None:
        with_matplotlib()
        from matplotlib import pyplot as plt

        return plt.figure(layout="constrained").add_subplot(projection="3d")
    if getattr(given_axes(ax), "name", "") != "3d":
        raise BadSetting(
            "a surface needs a three-dimensional Axes, and this one is flat",
            hint='make it with figure.add_subplot(projection="3d")',
        )
    return ax


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, in inches, that keeps room for labels and legends."""
    with_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def with_matplotlib() -> None:
    """Refuse to draw where there is nothing to draw with."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise BadSetting(
            "pictures need matplotlib, which is not installed",
            hint="pip install 'suffice[plots]'",
        )


def make_room(ax: Axes) -> None:
    """Let a figure without a layout of its own leave room for what stands beside the axes.

    Otherwise a legend below the axes, or a long name at their side, ends at the figure's edge.
    """
    from matplotlib.figure import Figure

    figure = ax.figure
    if isinstance(figure, Figure) and figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")


def legend_below(
    ax: Axes,
    handles: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    columns: int = MANY_ENTRIES,
    below: float = BELOW,
    dots: float = FULL_DOT,
) -> None:
    """Put a legend `below` points under the axes, where it covers nothing.

    `dots` is the size of dots in the picture: in the legend they are never small.
    """
    from matplotlib.transforms import ScaledTranslation

    make_room(ax)
    if handles is None or names is None:
        handles, names = ax.get_legend_handles_labels()
    names = [shortened(name, 44) for name in names]
    # In points and not in parts of the axes: those of a small picture are smaller than its labels.
    drop = ScaledTranslation(0.0, -below / 72.0, ax.figure.dpi_scale_trans)
    ax.legend(
        handles, names, loc="upper center", bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + drop, borderaxespad=0.0, ncols=_fitting(ax, names, columns),
        frameon=False, fontsize=9, handletextpad=0.5, columnspacing=1.4, handlelength=2.6,
        markerscale=(1.2 * FULL_DOT / dots) ** 0.5,
    )  # fmt: skip


def _fitting(ax: Axes, names: Sequence[str], most: int) -> int:
    """Return how many entries of a legend, `most` at most, have room beside each other."""
    spec = ax.get_subplotspec()
    width = 72.0 * float(ax.figure.bbox.width) / float(ax.figure.dpi)
    if spec is not None:
        width *= (spec.colspan.stop - spec.colspan.start) / spec.get_gridspec().ncols
    # A letter is about 0.6 of its size wide; a handle and the spaces around it take five letters.
    entry = 9.0 * (0.6 * max(map(len, names), default=0) + 4.6)
    return max(1, min(len(names), most, int(width / entry)))


def shortened(name: object, most: int = 28) -> str:
    """Return a name that leaves room for others.

    >>> shortened("sepal length"), shortened("a name that never comes to an end", 12)
    ('sepal length', 'a name that…')
    """
    words = str(name)
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def two_lines(name: object, most: int = 26) -> str:
    r"""Return a name in at most two lines, broken at a space where there is one; the rest is cut.

    >>> two_lines("worst concave points = 0.265")
    'worst concave points =\n0.265'
    >>> two_lines("sepal length")
    'sepal length'
    """
    words = str(name)
    if len(words) <= most:
        return words
    at = words.rfind(" ", most // 2, most + 1)
    first, rest = (words[:most], words[most:]) if at < 0 else (words[:at], words[at + 1 :])
    return f"{first}\n{shortened(rest, most)}"


def tidy(ax: Axes) -> None:
    """Take away the lines that frame nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def save_figure(
    figure: Figure, path: str | Path, *, dpi: float = 160.0, colours: int | None = None
) -> Path:
    """Write `figure` to `path` whole or not at all, and return the path.

    The picture is written beside its destination, flushed to the disk and then renamed: a crash, a
    full disk or Ctrl-C leaves the old file as it was. The name of the program that drew it is left
    out, so that the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to write.
    path : str or Path
        Where to: PNG, SVG or PDF, by the ending.
    dpi : float, default=160.0
        Dots an inch.
    colours : int or None, default=None
        At most 256: a PNG then has a palette of so many, which makes it a third of the size; None
        keeps all colours.

    Returns
    -------
    Path
        The path.

    See Also
    --------
    draw_regions : Draws on an Axes of a figure.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from matplotlib.figure import Figure
    >>> from suffice.plots import draw_sigmoid
    >>> figure = Figure()
    >>> ax = draw_sigmoid(figure.add_subplot())
    >>> save_figure(figure, Path(tempfile.mkdtemp()) / "sigmoid.png").name
    'sigmoid.png'
    """
    path = Path(path)
    kind = path.suffix.removeprefix(".").lower() or "png"
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise BadSetting(
            f"{path}: pictures cannot be written as {kind!r}", hint=f"it can be {listed(known)}"
        )
    if colours is not None and (kind != "png" or not 2 <= colours <= 256):
        raise BadSetting(
            f"{path}: colours={colours!r} is for PNG alone, and at most 256", hint="leave it out"
        )
    with whole_file(path, f".{kind}") as file:
        if colours is None:
            metadata = {"Software": None} if kind == "png" else None
            figure.savefig(file, format=kind, dpi=dpi, metadata=metadata)
        else:
            _save_palette(figure, file, dpi, colours)
    return path


def _save_palette(figure: Figure, file: IO[bytes], dpi: float, colours: int) -> None:
    """Write a PNG of a palette."""
    from io import BytesIO

    from PIL import Image

    whole = BytesIO()
    figure.savefig(whole, format="png", dpi=dpi, facecolor="white")
    with Image.open(whole) as picture:
        few = picture.convert("RGB").quantize(
            colours, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
        )
    few.save(file, format="png", optimize=True)


def dot_size(rows: int) -> float:
    """Return the area of a dot, in square points: many rows must not become a blot.

    >>> dot_size(100), dot_size(1000), dot_size(10_000)
    (30.0, 15.0, 7.0)
    """
    return 30.0 if rows < 500 else 15.0 if rows < 3000 else 7.0
