"""Handwritten 0s and 1s: real ones, sampled ones, and the plane they lie in."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import DegenerateData
from suffice.plots.axes import new_figure, tidy
from suffice.plots.palette import COLOURS
from suffice.plots.regions import draw_regions, region_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACROSS, DOWN = 5, 3
"""How many digits of each kind a panel shows."""
SIDE = 8
"""Pixels of a digit's side, in scikit-learn's data."""
CELL = SIDE + 3
"""The same with an empty margin."""


def written() -> tuple[Any, Any]:
    """Return scikit-learn's 0s and 1s: 8×8 pixels of ink from 0 to 16, and which they are."""
    from sklearn.datasets import load_digits

    rows, labels = load_digits(n_class=2, return_X_y=True)
    return rows, labels


def digits() -> Figure:
    """Return real digits, and digits sampled from four models that never saw a rule for drawing."""
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.estimators.mixtures.mixture_discriminant import MixtureDiscriminant
    from suffice.estimators.naive_bayes import NaiveBayes

    rows, labels = written()
    models: dict[str, Any] = {
        "one normal law a class": GaussianDiscriminant("per-class"),
        "three components a class": MixtureDiscriminant(3, "EEE"),
        "eight factors a class": GaussianDiscriminant("per-class", factors=8),
        "independent pixels": NaiveBayes("gaussian"),
    }
    figure = new_figure(13.2, 3.9)
    real, *panels = figure.subplots(1, 1 + len(models))
    many = ACROSS * DOWN
    _draw_digits(real, [rows[labels == k][:many] for k in (0, 1)], "written")
    for ax, (title, model) in zip(panels, models.items(), strict=True):
        with warnings.catch_warnings():
            # Pixels in which nobody has ever written do not vary, and are drawn as they were.
            warnings.simplefilter("ignore", DegenerateData)
            model.fit(rows, labels)
        drawn = [np.asarray(model.sample(many, y=k, random_state=1)[0]) for k in (0, 1)]
        _draw_digits(ax, drawn, f"sampled: {title}")
    return figure


def _draw_digits(ax: Axes, kinds: list[Any], title: str) -> None:
    """Draw rows of pixels as a sheet of digits, one kind below the other."""
    sheet = np.zeros((2 * DOWN * CELL, ACROSS * CELL))
    for place, row in enumerate(np.clip(np.concatenate(kinds), 0.0, 16.0)):
        down, across = (CELL * part + 1 for part in divmod(place, ACROSS))
        sheet[down : down + SIDE, across : across + SIDE] = row.reshape(SIDE, SIDE)
    ax.imshow(sheet, cmap="gray_r", vmin=0.0, vmax=16.0, interpolation="nearest")
    ax.axhline(DOWN * CELL - 0.5, color=COLOURS[0], linewidth=1.5)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=9.5)


def two_ways() -> Figure:
    """Return the two schools on digits: one draws a line, the other learns where digits lie."""
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.estimators.linear.logistic_regression import LogisticRegression

    rows, labels = written()
    centred = rows - rows.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    points = centred @ (directions[:2] * np.sign(directions[:2].sum(axis=1, keepdims=True))).T
    line = LogisticRegression(penalty=1.0).fit(points, labels)
    laws = GaussianDiscriminant("per-class").fit(points, labels)
    figure = new_figure(10.2, 5.2)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, model, title in zip(
        panels, (line, laws), ("p(y | x): a line", "p(x | y): where each digit lies"), strict=True
    ):
        draw_regions(
            ax, model, points, labels, classes=("zeros", "ones"), legend=False,
            columns=("first principal coordinate", "second principal coordinate"),
        )  # fmt: skip
        _draw_thumbnails(ax, rows, points)
        ax.set_title(title, fontsize=11)
        ax.label_outer()
        tidy(ax)
    handles, names = panels[0].get_legend_handles_labels()
    lines, said = region_lines()
    figure.legend(
        [*handles, *lines], [*names, *said], loc="outside lower center", ncols=6, frameon=False,
        fontsize=9,
    )  # fmt: skip
    return figure


def _draw_thumbnails(ax: Axes, rows: Any, points: Any, apart: float = 0.11) -> None:
    """Put some digits where they lie, none of them over another."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    size = np.ptp(points, axis=0)
    placed: list[object] = []
    for row, point in zip(rows, points, strict=True):
        if all(np.abs((point - other) / size).max() >= apart for other in placed):
            placed.append(point)
            ink = OffsetImage(row.reshape(SIDE, SIDE), zoom=2.3, cmap="gray_r")
            frame = {"edgecolor": "0.6", "linewidth": 0.6, "boxstyle": "square,pad=0.06"}
            ax.add_artist(AnnotationBbox(ink, point, bboxprops=frame, pad=0.0, zorder=6))
