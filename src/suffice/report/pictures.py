"""Pictures of what was measured: curves, calibration, and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.report.figures import WIDTH
from suffice.report.markup import name, quoted
from suffice.report.notation import write_ticks
from suffice.report.planes import class_words
from suffice.rows import NUMBER, read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from suffice.evaluation import Comparison, LearningCurves
    from suffice.report.figures import Album
    from suffice.report.informative_columns import Informative
    from suffice.rows import FloatArray

COLUMNS = 4
"""Columns that are drawn, the most informative ones."""
FEW_CLASSES = 12
"""Classes up to which columns are drawn: more curves are a thicket."""
STEEP = 10.0
"""Times that the largest loss is the smallest, from which a straight scale hides where curves end:
they are then within a tenth of its height."""
TAILS = 0.01
"""The share of a column's cells on either side that may lie outside of its picture."""


def curve_pictures(comparison: Comparison, own: LearningCurves | None, album: Album) -> list[str]:
    """Return the learning curves, of errors and of log-loss.

    `own` is that of the recommended model where it is not among them.
    """
    curves = comparison.curves
    if curves is None:
        return []
    pictures = []
    for losses, measure in ((False, "error rate"), (True, "log-loss")):
        bands = {one: curves.band(one, losses=losses) for one in curves.names}
        shown = {one: band for one, band in bands.items() if np.isfinite(band[0]).all()}
        if not shown:
            continue

        added = _own(own, losses)
        means = [*(band[0] for band in shown.values()), *([] if added is None else [added[1]])]
        steep = losses and _steep(means)
        # No share and no loss is below zero, and a logarithmic scale has no room for zero.
        floor = 0.6 * min(float(mean.min()) for mean in means) if steep else 0.0

        def draw(
            ax: Axes,
            shown: dict[str, Any] = shown,
            losses: bool = losses,
            steep: bool = steep,
            floor: float = floor,
            added: tuple[FloatArray, FloatArray] | None = added,
        ) -> None:
            from suffice.plots import draw_learning_curves
            from suffice.plots.axes import legend_below
            from suffice.plots.palette import colour, dashes, marker

            draw_learning_curves(
                ax, curves.sizes, {one: band[0] for one, band in shown.items()},
                bands={one: _ends(band, floor) for one, band in shown.items()},
                crossing=None if losses else _crossing(comparison),
                measure="log-loss" if losses else "error rate", legend=False,
            )  # fmt: skip
            if added is not None and own is not None:
                k = len(shown)
                ax.plot(
                    *added, color=colour(k), linestyle=dashes(k), marker=marker(k), linewidth=2.4,
                    markersize=6, markeredgecolor="white", markeredgewidth=0.6, zorder=4,
                    label=own.names[0],
                )  # fmt: skip
            legend_below(ax)
            if steep:
                _set_logarithmic(ax, floor)

        marked = not losses and _crossing(comparison) is not None
        first = comparison.crossings[0] if comparison.crossings else None
        crossed = (
            f" Grey: where {name(first.second)} reaches the error of {name(first.first)}."
            if marked and first is not None
            else ""
        )
        caption = (
            f"Held-out {measure} by the number of training rows, with 95&nbsp;% bands over "
            f"random splits.{crossed}{_own_caption(own)}{' The scale is logarithmic.' * steep}"
        )
        pictures.append(album.picture(draw, f"learning curves, {measure}", caption, (WIDTH, 4.5)))
    return pictures


def _own(own: LearningCurves | None, losses: bool) -> tuple[FloatArray, FloatArray] | None:
    """Return sizes and means of the recommended model's curve, if it has one of this measure."""
    if own is None:
        return None
    mean = own.band(own.names[0], losses=losses)[0]
    return (own.sizes.astype(np.float64), mean) if np.isfinite(mean).all() else None


def _own_caption(own: LearningCurves | None) -> str:
    """Return what is different about the recommended model's curve."""
    if own is None:
        return ""
    splits = own.errors.shape[2]
    return f" {name(own.names[0])}: the mean of {splits} splits, without a band."


def _steep(curves: list[FloatArray]) -> bool:
    """Return whether losses fall so far that only a logarithmic scale shows where they end."""
    means = np.concatenate(curves)
    return bool(means.min() > 0.0 and means.max() > STEEP * means.min())


def _set_logarithmic(ax: Axes, floor: float) -> None:
    """Let losses have a logarithmic scale with plain numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_yscale("log")
    ax.set_ylim(bottom=floor)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _ends(
    band: tuple[FloatArray, FloatArray, FloatArray], floor: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of a band, above a floor; where one split has none, the curve itself."""
    mean, low, high = band
    ends = np.where(np.isfinite(low), low, mean), np.where(np.isfinite(high), high, mean)
    return np.maximum(ends[0], floor), ends[1]


def _crossing(comparison: Comparison) -> tuple[float, float] | None:
    """Return the range in which the first pair of curves crosses, if it does within the sizes."""
    if not comparison.crossings or comparison.crossings[0].size is None:
        return None
    one = comparison.crossings[0]
    low = one.smallest if one.low is None else one.low
    high = one.largest if one.high is None else one.high
    return float(low), float(high)


def reliability_picture(comparison: Comparison, model: str, album: Album) -> str:
    """Return the reliability diagram of held-out rows."""
    held = comparison.held_out[model]
    rows = comparison.rows
    if held.log_posterior is None:
        return ""
    two = len(rows.classes) == 2
    chances = np.exp(held.log_posterior)
    whose = quoted(rows.classes[1]) if two else "the class that was predicted"

    def draw(ax: Axes) -> None:
        from suffice.plots import draw_reliability

        draw_reliability(ax, rows.codes, chances, classes=list(range(len(rows.classes))))
        of = str(rows.classes[1]) if two else "what was predicted"
        ax.set_xlabel(f"predicted probability of {of if len(of) <= 28 else of[:27] + '…'}")

    return album.picture(
        draw,
        f"reliability of {model}",
        f"Held-out probabilities of {whose}, and how often they were right, with 95&nbsp;% bands. "
        "On the diagonal probabilities are well calibrated; the bars below count rows.",
    )


def column_pictures(found: Informative, album: Album) -> list[str]:
    """Return the laws of the most informative columns, with what was observed behind."""
    if len(found.rows.classes) > FEW_CLASSES:
        return []
    pictures = []
    for j in found.order[:COLUMNS]:
        if found.bits[j] <= 0.0:
            continue
        called = found.names[j]

        def draw(ax: Axes, j: int = int(j), called: str = called) -> None:
            from suffice.plots import draw_column

            # Shares are of cells that are there, as the law is.
            rows = found.rows.take(np.flatnonzero(_there(found, j)))
            draw_column(
                ax, found.model, j, rows.X, rows.y,
                classes=class_words(found.model.classes_.tolist()),
            )  # fmt: skip
            ax.set_xlabel(called if len(called) <= 60 else f"{called[:59]}…")
            write_ticks(ax.xaxis, album.spellings.get(called))
            span = _middle(found, j)
            if span is not None:
                ax.set_xlim(*span)

        law = getattr(found.model, "families_", {}).get(called, "")
        words = f" Distribution: {name(law)}." if law else ""
        if _middle(found, int(j)) is not None:
            words += " The outermost cells are not drawn."
        pictures.append(
            album.picture(
                draw,
                f"column {called} by class",
                f"{name(called)} in every class: lines or bars show the model; filled or "
                f"dotted areas behind them show the data.{words}",
            )
        )
    return pictures


def _there(found: Informative, j: int) -> NDArray[np.bool_]:
    """Return which rows have a cell in a column."""
    held = read_table(found.rows.X)
    cells = held.column(j)
    if held.kinds[j] == NUMBER:
        return np.isfinite(np.asarray(cells, np.float64))
    return np.array([cell is not None for cell in cells.tolist()])


def _middle(found: Informative, j: int) -> tuple[float, float] | None:
    """Return the part of a column that is drawn where tails would make it a spike; else None."""
    held = read_table(found.rows.X)
    if held.kinds[j] != NUMBER:
        return None
    cells = np.asarray(held.column(j), np.float64)[_there(found, j)]
    low, first, last, high = np.quantile(cells, [0.0, TAILS, 1.0 - TAILS, 1.0])
    room = 0.15 * (last - first)
    if last - first <= 0.0 or high - low < 2.0 * (last - first):
        return None
    return max(float(first - room), float(low - room)), min(float(last + room), float(high + room))
