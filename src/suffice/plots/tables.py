"""Tables as pictures: what was taken for what, and what spoke for a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadLabels, BadRows, BadSetting, listed
from suffice.plots.axes import given_axes, make_room, shortened, two_lines
from suffice.plots.palette import COLOURS, HATCHES, INK
from suffice.plots.planes import read_numbers
from suffice.rows import read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from suffice.learning.results import Explanation

    FloatArray = NDArray[np.float64]

MANY = 12
"""Classes beyond which names stand upright, are cut shorter, and zeros are left out of cells."""


def draw_confusion(
    ax: Axes | None,
    labels: object,
    predicted: object,
    *,
    classes: Sequence[str] | None = None,
) -> Axes:
    """Draw how often each class was predicted as which: rows are labels, columns predictions.

    Cells hold counts and are as dark as their share of the row, so that a rare class is as visible
    as a frequent one; right answers lie on the framed diagonal.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    labels : array_like (n,)
        The classes (n,) that rows have.
    predicted : array_like (n,)
        The classes (n,) that were predicted.
    classes : sequence of str or None, default=None
        Names of the sorted labels; None takes the labels.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_confusion_from_estimator : The same from a fitted classifier.
    draw_confusion_counts : From counts.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> ax = draw_confusion(ax, ["ham", "ham", "spam"], ["ham", "spam", "spam"])
    >>> [text.get_text() for text in ax.texts]
    ['1', '1', '0', '1']
    """
    given, said = read_labels(labels), read_labels(predicted)
    if len(given.codes) != len(said.codes):
        raise BadLabels(
            f"{len(given.codes)} labels and {len(said.codes)} predictions",
            hint="give one prediction for each label",
        )
    both = read_labels([*given.classes.tolist(), *said.classes.tolist()])
    place = {label: k for k, label in enumerate(both.classes.tolist())}
    counts = np.zeros((len(place), len(place)))
    rows = np.array([place[label] for label in given.classes.tolist()])[given.codes]
    columns = np.array([place[label] for label in said.classes.tolist()])[said.codes]
    np.add.at(counts, (rows, columns), 1.0)
    return draw_confusion_counts(ax, counts, list(place) if classes is None else classes)


def draw_confusion_counts(
    ax: Axes | None, counts: ArrayLike, classes: Sequence[object] | None = None
) -> Axes:
    """Draw a confusion matrix from its counts.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    counts : array_like
        Counts (k, k): a row for each class, a column for each prediction.
    classes : sequence of object or None, default=None
        Names of the classes; None numbers them.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_confusion : From labels and predictions.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = draw_confusion_counts(Figure().add_subplot(), [[40, 2], [5, 30]], ["no", "yes"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted', 'class')
    """
    ax = given_axes(ax)
    table = read_numbers(counts, "counts")
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.size == 0:
        raise BadRows(
            f"a confusion matrix is square, this table has shape {table.shape}",
            hint="count rows by class and columns by prediction, in the same order",
        )
    if not (np.isfinite(table).all() and (table >= 0.0).all()):
        raise BadRows("a confusion matrix counts rows", hint="its cells are 0 or more")
    names = range(len(table)) if classes is None else classes
    if len(names) != len(table):
        raise BadSetting(f"{len(names)} names for {len(table)} classes", hint="name each once")
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.zeros_like(table), where=totals > 0.0)
    shown = [shortened(name, 28 if len(table) <= MANY else 20) for name in names]
    draw_shares(ax, shares, table, shown, shown)
    from matplotlib.patches import Rectangle

    for k in range(len(table)):
        ax.add_patch(
            Rectangle((k - 0.5, k - 0.5), 1.0, 1.0, fill=False, edgecolor=INK, linewidth=1.2)
        )
    ax.set_aspect("equal", adjustable="box")
    ax.set_xlabel("predicted")
    ax.set_ylabel("class")
    make_room(ax)
    return ax


def draw_shares(
    ax: Axes, shares: FloatArray, figures: FloatArray, rows: list[str], columns: list[str]
) -> None:
    """Draw a table: every cell as dark as its share, with a figure in it."""
    from matplotlib.colors import LinearSegmentedColormap

    dark = LinearSegmentedColormap.from_list("share", ["white", COLOURS[0], "#003A5C"])
    ax.imshow(shares, cmap=dark, vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    size = float(np.clip(110.0 / max(figures.shape), 4.5, 11.0))
    many = max(figures.shape) > MANY
    for i, j in np.ndindex(figures.shape):
        value = float(figures[i, j])
        if value or not many:
            ax.text(
                j, i, _figure(value), ha="center", va="center", fontsize=size,
                color=_readable(dark(float(shares[i, j]))) if value else "0.55",
            )  # fmt: skip
    aslant = sum(map(len, columns)) > 36
    turned = 90 if aslant and len(columns) > MANY else 40 if aslant else 0
    ax.set_xticks(
        range(len(columns)), columns, rotation=turned,
        ha="right" if aslant else "center", va="center" if turned == 90 else "top",
        rotation_mode="anchor" if aslant else "default",
    )  # fmt: skip
    ax.set_yticks(range(len(rows)), rows)
    # Names are no taller than the rows they stand beside.
    ax.tick_params(axis="x", length=0, labelsize=float(np.clip(160.0 / len(columns), 4.5, 10.0)))
    ax.tick_params(axis="y", length=0, labelsize=float(np.clip(160.0 / len(rows), 4.5, 10.0)))
    ax.spines[:].set_color("0.7")


def _readable(background: tuple[float, ...]) -> str:
    """Return black or white, whichever stands out more from a colour: at least 4.5 to 1.

    >>> _readable((1.0, 1.0, 1.0, 1.0)), _readable((0.0, 0.45, 0.7, 1.0))
    ('black', 'white')
    """
    light = np.array(background[:3])
    linear = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    return "black" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"


def _figure(value: float) -> str:
    """Return a count in full, a long one in short, and a share with two digits."""
    if value == round(value):
        return f"{value:.0f}" if value < 1e5 else f"{value:.1e}".replace("e+0", "e")
    return f"{value:.2f}".removeprefix("0") if value < 1.0 else f"{value:.1f}"


# Reasons


def draw_explanation(
    ax: Axes | None, explanation: Explanation, row: int = 0, *, most: int = 10
) -> Axes:
    """Draw the log odds of one row, split by column.

    Bars to the right speak for the class, hatched ones to the left against it. The strongest come
    first, the rest is one bar, and together with the odds before any column they add up to the
    last bar.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    explanation : Explanation
        What `explain` of a fitted model has returned.
    row : int, default=0
        Which of its rows, from 0.
    most : int, default=10
        How many columns have a bar of their own.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_column : One column of a model.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import GaussianDiscriminant
    >>> X, y = [[1.0, 2.0], [2.0, 1.5], [5.0, 2.5], [6.5, 2.0]], ["low", "low", "high", "high"]
    >>> found = GaussianDiscriminant().fit(X, y).explain([[5.5, 2.2]])
    >>> ax = draw_explanation(Figure().add_subplot(), found)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['before any column', 'x0', 'x1', 'in all']
    """
    ax = given_axes(ax)
    if not hasattr(explanation, "contributions"):
        raise BadSetting(
            f"{type(explanation).__name__} is not an explanation", hint="give model.explain(rows)"
        )
    if not -len(explanation.of) <= row < len(explanation.of):
        raise BadSetting(
            f"there is no row {row} among {len(explanation.of)} explained",
            hint="rows are counted from 0, in the order they were given",
        )
    if most < 1:
        raise BadSetting(f"most={most} is not a number of columns", hint="ask for at least one")
    parts = np.asarray(explanation.contributions[row], dtype=np.float64)
    total, first = float(explanation.log_odds[row]), float(explanation.baseline[row])
    if not (np.isfinite(parts).all() and np.isfinite([total, first]).all()):
        blame = [name for name, part in zip(explanation.columns, parts, strict=True)
                 if not np.isfinite(part)]  # fmt: skip
        raise BadRows(
            f"the odds of this row are infinite, by {listed(blame or ['the priors'])}",
            hint="infinite bars cannot be drawn: with smoothing above 0 nothing is impossible",
        )
    order = np.argsort(-np.abs(parts), kind="stable")
    kept, rest = order[:most], order[most:]
    if len(rest) == 1:  # as long as its own bar
        kept, rest = order[: most + 1], order[most + 1 :]
    names = ["before any column", *(str(explanation.columns[j]) for j in kept)]
    values = [first, *(float(parts[j]) for j in kept)]
    if len(rest):
        names.append(f"{len(rest)} other columns")
        values.append(float(parts[rest].sum()))
    _draw_bars(ax, [*names, "in all"], np.array([*values, total]))
    of, against = (shortened(c[row]) for c in (explanation.of, explanation.against))
    ax.set_xlabel(f"log odds of {of}{chr(10) if len(of + against) > 20 else ' '}against {against}")
    make_room(ax)
    return ax


def _signed(value: float, reach: float) -> str:
    """Return a figure with its sign: the minus of the axes, not a hyphen."""
    return (f"{value:+.2f}" if reach < 1e4 else f"{value:+.2g}").replace("-", "−")


def _draw_bars(ax: Axes, names: list[str], values: FloatArray) -> None:
    """Draw a bar for each part and the sum below a line, with its figure at the end."""
    at = np.arange(len(names))
    last = at == at[-1]
    for chosen, face, marks in (
        ((values >= 0.0) & ~last, COLOURS[0], ""),
        ((values < 0.0) & ~last, COLOURS[1], HATCHES[1]),
        (last, "0.35", ""),
    ):
        ax.barh(
            at[chosen], values[chosen], 0.72, facecolor=face, edgecolor="white", hatch=marks,
            linewidth=0.0, zorder=2,
        )  # fmt: skip
    reach = float(np.abs(values).max()) or 1.0
    for y, value in zip(at, values, strict=True):
        ax.annotate(
            _signed(value, reach), (value, y), fontsize=9,
            xytext=(4 if value >= 0.0 else -4, 0), textcoords="offset points", va="center",
            ha="left" if value >= 0.0 else "right", color=INK,
        )  # fmt: skip
    # Room for the figures beyond the bars.
    left, right = min(0.0, values.min()), max(0.0, values.max())
    margin = 0.22 * (right - left) or 1.0
    ax.set_xlim(left - (margin if left < 0.0 else 0.02), right + (margin if right > 0.0 else 0.02))
    ax.axvline(0.0, color=INK, linewidth=1.0, zorder=3)
    ax.axhline(at[-1] - 0.5, color="0.7", linewidth=0.8)
    ax.set_yticks(at, [two_lines(name) for name in names])
    ax.set_ylim(at[-1] + 0.6, -0.6)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
