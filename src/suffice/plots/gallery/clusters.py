"""The gallery's picture of a mixture: how it was chosen, its clusters, and its density."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.plots.axes import new_figure
from suffice.plots.clusters import draw_clusters, draw_criteria, draw_mixture_density

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def clusters() -> Figure:
    """Return iris without its species: the choice, three clusters, and the density of two columns.

    Of the forms, four are tried, for the sake of those who wait.
    """
    from sklearn.datasets import load_iris

    from suffice.estimators.mixtures.gaussian_mixture import GaussianMixture

    frame = load_iris(as_frame=True).data
    chosen = GaussianMixture(range(1, 7), ["EII", "EEE", "VEV", "VVV"]).fit(frame)
    three = GaussianMixture(3, "VEV").fit(frame)
    figure = new_figure(10.2, 4.1)
    left, middle, right = figure.subplots(1, 3)
    pair = "petal length (cm)", "sepal width (cm)"
    draw_criteria(left, chosen)
    draw_clusters(middle, three, frame, columns=pair)
    draw_mixture_density(right, three, frame, columns=pair)
    titles = ("two or three clusters", "three of form VEV", "their density")
    for ax, title in zip((left, middle, right), titles, strict=True):
        ax.set_title(title, fontsize=11)
    return figure
