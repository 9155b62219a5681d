"""Pictures of what was measured: curves, calibration, columns, and rows explained."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.evaluation.cross_validation import fitted_on
from suffice.report.drawings import WIDTH
from suffice.report.markup import name
from suffice.report.planes import class_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice.evaluation import Comparison
    from suffice.report.album import Album
    from suffice.report.informative_columns import Informative
    from suffice.rows import FloatArray

COLUMNS = 4
"""Columns that are drawn, the most informative ones."""
FEW_CLASSES = 12
"""Classes up to which columns are drawn: more curves are a thicket."""
REASONS = 8


def curve_pictures(comparison: Comparison, album: Album) -> list[str]:
    """Return the learning curves, of errors and of log-loss."""
    curves = comparison.curves
    if curves is None:
        return []
    pictures = []
    for losses, measure in ((False, "share of errors"), (True, "log-loss")):
        bands = {one: curves.band(one, losses=losses) for one in curves.names}
        shown = {one: band for one, band in bands.items() if np.isfinite(band[0]).all()}
        if not shown:
            continue

        def draw(ax: Axes, shown: dict[str, Any] = shown, losses: bool = losses) -> None:
            from suffice.plots import draw_learning_curves

            draw_learning_curves(
                ax, curves.sizes, {one: band[0] for one, band in shown.items()},
                bands={one: _ends(band) for one, band in shown.items()},
                crossing=None if losses else _crossing(comparison),
                measure="log-loss" if losses else "share of errors",
            )  # fmt: skip

        marked = not losses and _crossing(comparison) is not None
        first = comparison.crossings[0] if comparison.crossings else None
        crossed = (
            f" Grey: where {name(first.second)} comes to err no more than {name(first.first)}."
            if marked and first is not None
            else ""
        )
        caption = (
            f"Held-out {measure} by the number of rows learned from, with 95&nbsp;% bands over "
            f"random splits.{crossed}"
        )
        pictures.append(album.picture(draw, f"learning curves, {measure}", caption))
    return pictures


def _ends(band: tuple[FloatArray, FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the ends of a band; where one split has none, the curve itself."""
    mean, low, high = band
    return np.where(np.isfinite(low), low, mean), np.where(np.isfinite(high), high, mean)


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
    whose = name(rows.classes[1]) if two else "the class that was predicted"

    def draw(ax: Axes) -> None:
        from suffice.plots import draw_reliability

        draw_reliability(ax, rows.codes, chances, classes=list(range(len(rows.classes))))
        of = str(rows.classes[1]) if two else "what was predicted"
        ax.set_xlabel(f"claimed probability of {of if len(of) <= 28 else of[:27] + '…'}")

    return album.picture(
        draw,
        f"reliability of {model}",
        f"Held-out probabilities of {whose}, and how often they came true, with 95&nbsp;% bands. "
        "On the diagonal they can be taken at their word; the bars below count rows.",
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

            draw_column(
                ax, found.model, j, found.rows.X, found.rows.y,
                classes=class_words(found.model.classes_.tolist()),
            )  # fmt: skip
            ax.set_xlabel(called if len(called) <= 60 else f"{called[:59]}…")

        law = getattr(found.model, "families_", {}).get(called, "")
        words = f" Its law: {name(law)}." if law else ""
        pictures.append(
            album.picture(
                draw,
                f"column {called} by class",
                f"{name(called)} in every class: lines or bars are what the model believes, "
                f"what is behind them or dotted was observed.{words}",
            )
        )
    return pictures


def explained_rows(comparison: Comparison, model: str, album: Album) -> list[str]:
    """Return why a sure and right answer was given, and why the surest of the wrong ones."""
    held = comparison.held_out[model]
    rows = comparison.rows
    candidate = comparison.candidate(model)
    if held.log_posterior is None or not hasattr(candidate.estimator, "explain"):
        return []
    sure = held.log_posterior.max(axis=1)
    right = held.predicted == rows.codes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted, preparation = fitted_on(candidate.estimator, rows)
    pictures = []
    for chosen, kind in ((right, "right"), (~right, "wrong")):
        places = np.flatnonzero(chosen)
        if not len(places):
            continue
        order = places[np.argsort(sure[places], kind="stable")]
        place = order[-1] if kind == "wrong" else order[len(order) // 2]
        own, said = rows.classes[rows.codes[place]], rows.classes[held.predicted[place]]
        chance = f"{100.0 * float(np.exp(sure[place])):.4g}&nbsp;%"

        def draw(ax: Axes, place: int = int(place), said: Any = said) -> None:
            from suffice.plots import draw_explanation

            one = preparation.rows(rows.take(np.array([place])).X)
            found = fitted.explain(one, of=_plain(said))
            draw_explanation(ax, replace(found, of=found.of.astype(object)), most=REASONS)

        what = (
            "a row of middling certainty that it gets right"
            if kind == "right"
            else "the mistake it was surest of"
        )
        caption = (
            f"Row {place + 1:,}, {what}: {name(own)}, held out and taken for {name(said)} with a "
            f"probability of {chance}. Bars add up to the log odds, by the model of all rows."
        )
        label = f"row {place + 1} explained, {kind}"
        pictures.append(album.picture(draw, label, caption, (WIDTH, 3.6)))
    return pictures


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
