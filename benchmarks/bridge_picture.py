"""The picture of docs/bridge.md: two schools on normal rows, on rows that are not, and on flowers.

python -m benchmarks.bridge_picture
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from suffice import bridge
from suffice.plots import draw_bridge, save_figure
from suffice.printing.result_table import p_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"


def picture() -> Figure:
    """Return three panels, each with the p-value of the test on its rows."""
    from matplotlib.figure import Figure
    from sklearn.datasets import load_iris

    rng = np.random.default_rng(5)
    labels = np.arange(400) % 2
    words = np.array(["class 0", "class 1"])[labels]
    shifted = np.array([[0.0, 0.0], [2.0, 1.0]])[labels]
    normal = shifted + rng.standard_normal((400, 2)) @ np.array([[1.0, 0.5], [0.0, 0.9]])
    waiting = rng.exponential(np.array([[1.0, 1.0], [3.0, 2.0]])[labels])
    iris = load_iris(as_frame=True)
    species = iris.target_names[iris.target]
    figure = Figure(figsize=(13.5, 5.6), layout="constrained")
    panels = figure.subplots(1, 3)
    for ax, title, rows, y, names in (
        (panels[0], "Normal classes", normal, words, ("first column", "second column")),
        (panels[1], "Exponential classes", waiting, words, ("first column", "second column")),
        (panels[2], "Iris, leading coordinates", iris.data, species, None),
    ):
        draw_bridge(ax, rows, y)
        ax.set_title(f"{title}: p = {p_value(bridge(rows, y).test.p_value)}", loc="left")
        if names is not None:
            ax.set_xlabel(names[0])
            ax.set_ylabel(names[1])
        ax.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    print(save_figure(picture(), IMAGES / "bridge.png", dpi=120.0))
