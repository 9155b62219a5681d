"""The picture of docs/event-models.md: accuracy as the vocabulary grows.

python -m benchmarks.event_models_picture
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.evidence_text import SPLITS
from suffice.plots import save_figure
from suffice.plots.regions import COLOURS, INK, MARKERS
from tests.reference import newsgroups
from tests.reference.event_models import BERNOULLI, MULTINOMIAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "event-models.png"
STYLES = {
    BERNOULLI: (COLOURS[0], MARKERS[0], (5, 2)),
    MULTINOMIAL: (COLOURS[4], MARKERS[1], (1, 0)),
}
"""Colour, marker and dashes: any one of them tells the models apart."""


def draw_curves(
    ax: Axes, curves: Sequence[newsgroups.Curve], shorter: Sequence[newsgroups.Curve]
) -> None:
    """Draw mean accuracies and their spread over splits, against the number of words.

    The last size of each of `curves`, the whole vocabulary, varies a little from split to split:
    its mean is drawn. The last of `shorter`, of words seen twice or more, is an open marker.
    """
    sizes = np.mean([found.sizes for found in curves], axis=0)
    fewer = np.mean([found.sizes[-1] for found in shorter])
    for name, (colour, marker, dashes) in STYLES.items():
        accuracy = np.array([found.accuracy(name) for found in curves])
        mean, spread = accuracy.mean(axis=0), accuracy.std(axis=0, ddof=1)
        ax.errorbar(
            sizes, mean, spread, color=colour, marker=marker, markersize=7, linewidth=2.0,
            dashes=dashes, capsize=3.5, elinewidth=1.2,
        )  # fmt: skip
        best = int(mean.argmax())
        ax.annotate(
            f"{name}\nbest: {100 * mean[best]:.1f} %", (sizes[best], mean[best] + spread[best]),
            xytext=(0, 7), textcoords="offset points", ha="center", color=INK,
            fontsize=11, fontweight="bold",
        )  # fmt: skip
        ax.annotate(
            f"{100 * mean[-1]:.1f} %", (sizes[-1], mean[-1]), xytext=(10, 0),
            textcoords="offset points", va="center", color=INK, fontsize=11,
        )  # fmt: skip
        left = np.mean([found.accuracy(name)[-1] for found in shorter])
        ax.plot(
            fewer, left, marker=marker, markersize=9, color="white", markeredgecolor=colour,
            markeredgewidth=1.8, linestyle="none", zorder=3,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xticks([*newsgroups.SIZES, sizes[-1]], [*map("{:,}".format, newsgroups.SIZES), "all"])
    ax.minorticks_off()
    ax.set_ylim(top=0.93)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    ax.set_xlabel("words, the most informative first")
    ax.set_ylabel("accuracy on posts not learned from")
    ax.grid(axis="y", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.text(
        0.99, 0.03, f"mean of {len(curves)} random splits; bars: standard deviation\n"
        "open: all words but those seen only once",
        transform=ax.transAxes, ha="right", color=INK, fontsize=10, linespacing=1.5,
        bbox={"color": "white", "pad": 2},
    )  # fmt: skip


def picture() -> Figure:
    """Return the figure, from random splits of 20 Newsgroups."""
    from matplotlib.figure import Figure

    splits = [newsgroups.random_split(seed) for seed in range(SPLITS)]
    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    ax = figure.add_subplot()
    draw_curves(
        ax,
        [newsgroups.curve(split) for split in splits],
        [newsgroups.curve(split, sizes=(), least=2) for split in splits],
    )
    figure.suptitle(
        "20 Newsgroups: what more words do to two event models",
        x=0.01, ha="left", fontsize=13, fontweight="bold",
    )  # fmt: skip
    return figure


if __name__ == "__main__":
    print(save_figure(picture(), PICTURE, dpi=150.0))
