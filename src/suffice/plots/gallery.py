"""Pictures made of several: the same rows under different assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.plots.regions import BOUNDARY_WIDTH, INK, draw_regions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from suffice.plots.regions import Classifier


def side_by_side(
    models: Mapping[str, Classifier],
    rows: ArrayLike,
    labels: Sequence[object] | NDArray[Any],
    *,
    columns: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Return a figure with one panel for each model, titled by its key, and one legend below all.

    No window is opened and no global state of pyplot is touched.

    >>> from suffice import GaussianDiscriminant
    >>> X = [[0.0, 0.1], [1.0, 0.0], [0.2, 1.0], [3.0, 3.2], [4.0, 3.0], [3.1, 4.0]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> forms = {form: GaussianDiscriminant(covariance=form).fit(X, y)
    ...          for form in ("shared", "diagonal")}
    >>> [ax.get_title(loc="left") for ax in side_by_side(forms, X, y).axes]
    ['shared', 'diagonal']
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(5.2 * len(models), 5.2), layout="constrained")
    panels = figure.subplots(1, len(models), sharex=True, sharey=True, squeeze=False)[0]
    for ax, (name, model) in zip(panels, models.items(), strict=True):
        draw_regions(ax, model, rows, labels, columns=columns, classes=classes, legend=False)
        ax.set_title(name, loc="left", fontsize=11)
        ax.label_outer()
        ax.spines[["top", "right"]].set_visible(False)
    handles, names = panels[0].get_legend_handles_labels()
    handles += [
        Line2D([], [], color="0.45", linewidth=1.5),
        Line2D([], [], color="0.45", linewidth=1.5, linestyle=(0, (5, 2))),
        Line2D([], [], color=INK, linewidth=BOUNDARY_WIDTH),
        Line2D([], [], linestyle="none", marker="o", color="white", markeredgecolor=INK),
    ]
    names += ["half of a class", "95 % of a class", "two classes tie", "wrong side"]
    figure.legend(
        handles, names, loc="outside lower center", ncols=len(names), frameon=False,
        fontsize=9, handletextpad=0.5, columnspacing=1.4,
    )  # fmt: skip
    if title is not None:
        figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    return figure
