"""What was claimed and what came true: the reliability diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from suffice.errors import BadLabels, BadRows, BadSetting, NotFinite, listed
from suffice.plots.axes import given_axes, make_room, tidy
from suffice.plots.palette import COLOURS, INK
from suffice.plots.planes import read_numbers
from suffice.rows import read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

DEPTH = 0.20
"""How far below 0 the counts reach."""
FEW = 10
"""Rows below which a point is hollow: it says little."""
ROUNDING = 1e-9
"""How far beyond 0 and 1 a probability may lie: far more than sums of doubles are off by, and far
less than a picture shows."""
SURE = 1.959963984540054
"""Standard deviations on either side that hold 95 % of a normal law."""


class ReliabilityCurve(NamedTuple):
    """Bins of rows by what was claimed: its mean, the share that came true with its band, rows."""

    claimed: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    rows: FloatArray
    edges: FloatArray


def draw_reliability(
    ax: Axes | None,
    labels: object,
    probabilities: object,
    *,
    positive: object = None,
    classes: Sequence[object] | None = None,
    bins: int = 10,
    equal: str = "width",
) -> Axes:
    """Draw the observed frequency of rows against the probability that was predicted.

    Bands hold 95 % by Wilson's formula; the numbers below count the rows of each bin, and points
    of fewer than ten are hollow. On the diagonal probabilities are well calibrated.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    labels : array_like (n,)
        The classes (n,) that rows have.
    probabilities : array_like (n,) or (n, k)
        Those of `positive` (n,), or one column for each of `classes` (n, k): then the probability
        of the predicted class is judged.
    positive : label, optional, default=None
        The class that is looked for; None is the second of two labels.
    classes : sequence of object or None, default=None
        The labels that columns of probabilities stand for.
    bins : int, default=10
        The number of bins.
    equal : {"width", "count"}, default="width"
        Whether bins are equally wide, or have equally many rows: "width" or "count".

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_reliability_from_estimator : The same from a fitted classifier.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> ax = draw_reliability(ax, [0, 0, 1, 1], [0.12, 0.31, 0.64, 0.93])
    >>> [text.get_text() for text in ax.texts]
    ['1', '1', '1', '1']
    """
    ax = given_axes(ax)
    claims, hits, what = _claims(labels, probabilities, positive, classes)
    found = reliability(claims, hits, bins, equal)
    ax.plot([0.0, 1.0], [0.0, 1.0], color="0.6", linewidth=1.2, linestyle=(0, (5, 3)), zorder=1)
    ax.vlines(found.claimed, found.low, found.high, color=COLOURS[0], linewidth=1.6, zorder=2)
    n = found.rows[found.rows > 0.0]
    for chosen, face, edge in ((n >= FEW, COLOURS[0], "white"), (n < FEW, "white", COLOURS[0])):
        ax.plot(
            found.claimed[chosen], found.observed[chosen], linestyle="none", marker="o",
            markersize=6.5, markerfacecolor=face, markeredgecolor=edge, zorder=3,
        )  # fmt: skip
    if equal == "width":
        _draw_rows(ax, found)
    else:
        each = sorted({int(rows) for rows in (found.rows.min(), found.rows.max())})
        said = f"{' to '.join(map(str, each))} rows each"
        ax.text(0.5, -DEPTH / 2.0, said, ha="center", va="center", color=INK, fontsize=9)
    ax.axhline(0.0, color="0.8", linewidth=0.8, zorder=1)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-DEPTH, 1.02)
    ax.set_yticks(np.linspace(0.0, 1.0, 6))
    ax.set_xlabel(f"predicted probability of {what}")
    ax.set_ylabel("observed frequency; row counts below")
    tidy(ax)
    make_room(ax)
    return ax


def _draw_rows(ax: Axes, found: ReliabilityCurve) -> None:
    """Draw how many rows each bin has, below 0 and on a scale of their own."""
    heights = 0.7 * DEPTH * found.rows / found.rows.max()
    starts, ends = found.edges[:-1], found.edges[1:]
    middles = (starts + ends) / 2.0
    ax.bar(middles, heights, 0.9 * (ends - starts), bottom=-DEPTH, color="0.8", zorder=2)
    size = 7.5 if len(middles) <= 12 else 5.5
    for middle, height, rows in zip(middles, heights, found.rows, strict=True):
        if rows and len(middles) <= 25:
            ax.text(
                middle, height - DEPTH + 0.008, f"{rows:.0f}", ha="center", va="bottom",
                color=INK, fontsize=size,
            )  # fmt: skip


def reliability(
    claims: FloatArray, hits: NDArray[np.bool_], bins: int = 10, equal: str = "width"
) -> ReliabilityCurve:
    """Return rows by bins of what was claimed, with Wilson's 95 % bands.

    >>> found = reliability(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, True, True, True]), 2)
    >>> found.observed, found.rows
    (array([0.5, 1. ]), array([2., 2.]))
    """
    if int(bins) != bins or bins < 1:
        raise BadSetting(
            f"bins={bins!r} is not a number of bins", hint="use a whole number, such as 10"
        )
    if equal == "width":
        edges = np.linspace(0.0, 1.0, int(bins) + 1)
    elif equal == "count":
        edges = np.unique(np.quantile(claims, np.linspace(0.0, 1.0, int(bins) + 1)))
        edges = edges if len(edges) > 1 else np.array([0.0, 1.0])
    else:
        raise BadSetting(f"equal={equal!r} is not known", hint='choose "width" or "count"')
    place = np.clip(np.searchsorted(edges, claims, side="right") - 1, 0, len(edges) - 2)
    count = np.bincount(place, minlength=len(edges) - 1).astype(np.float64)
    full = count > 0.0
    n = count[full]
    claimed = np.bincount(place, claims, len(count))[full] / n
    observed = np.bincount(place, hits, len(count))[full] / n
    # Wilson: the shares whose own standard error does not rule the observed one out.
    middle = (observed + SURE**2 / (2.0 * n)) / (1.0 + SURE**2 / n)
    reach = np.sqrt(observed * (1.0 - observed) / n + SURE**2 / (4.0 * n * n))
    reach *= SURE / (1.0 + SURE**2 / n)
    low, high = np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)
    return ReliabilityCurve(claimed, observed, low, high, count, edges)


def _claims(
    labels: object, probabilities: object, positive: object, classes: Sequence[object] | None
) -> tuple[FloatArray, NDArray[np.bool_], str]:
    """Return what was claimed of each row, whether it came true, and of what it was claimed."""
    known = read_labels(labels)
    names = known.classes.tolist() if classes is None else list(classes)
    table = read_numbers(probabilities, "probabilities")
    if table.ndim not in (1, 2) or len(table) != len(known.codes):
        raise BadRows(
            f"probabilities of shape {table.shape} for {len(known.codes)} labels",
            hint="give one for each row, or one column for each class",
        )
    good = (table >= -ROUNDING) & (table <= 1.0 + ROUNDING)  # NaN is neither
    if not good.all():
        raise NotFinite(
            f"{float(table[~good][0]):g} is not a probability",
            hint="probabilities lie between 0 and 1",
        )
    table = np.clip(table, 0.0, 1.0)
    truth = np.array([names.index(c) if c in names else -1 for c in known.classes.tolist()])
    codes = truth[known.codes]
    if table.ndim == 2:
        if table.shape[1] != len(names):
            raise BadRows(
                f"{table.shape[1]} columns of probabilities for {len(names)} classes: "
                f"{listed(names)}",
                hint="name the columns: classes=model.classes_",
            )
        if len(names) != 2 and positive is None:
            best = table.argmax(axis=1)
            return table.max(axis=1), codes == best, "what was predicted"
    if positive is None:
        if len(names) != 2:
            raise BadLabels(
                f"the labels are {listed(names)}, and one column of probabilities is given",
                hint="say which class it is for: positive=…",
            )
        positive = names[1]
    if positive not in names:
        raise BadSetting(f"there is no class {positive!r}", hint=f"there are {listed(names)}")
    k = names.index(positive)
    return (table[:, k] if table.ndim == 2 else table), codes == k, str(positive)
