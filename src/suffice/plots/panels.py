"""Pictures made of several: the same rows under different assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suffice.errors import BadSetting
from suffice.plots.axes import FULL_DOT, new_figure, tidy
from suffice.plots.palette import INK, PALE, dot_size
from suffice.plots.regions import BOUNDARY_WIDTH, SHARES, draw_regions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray


def side_by_side(
    models: Mapping[str, Any],
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
    if not models:
        raise BadSetting("there are no models to draw", hint="give at least one: {name: model}")
    figure = new_figure(5.2 * len(models), 5.2)
    panels = figure.subplots(1, len(models), sharex=True, sharey=True, squeeze=False)[0]
    for ax, (name, model) in zip(panels, models.items(), strict=True):
        draw_regions(ax, model, rows, labels, columns=columns, classes=classes, legend=False)
        ax.set_title(name, loc="left", fontsize=11)
        ax.label_outer()
        tidy(ax)
    handles, names = panels[0].get_legend_handles_labels()
    for handle, name in zip(*region_lines(), strict=True):
        handles.append(handle)
        names.append(name)
    figure.legend(
        handles, names, loc="outside lower center", ncols=min(len(names), 5 * len(models) - 1),
        frameon=False, fontsize=9, handletextpad=0.5, columnspacing=1.4,
        markerscale=(1.2 * FULL_DOT / dot_size(len(labels))) ** 0.5,
    )  # fmt: skip
    if title is not None:
        figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    return figure


def region_lines() -> tuple[list[Any], list[str]]:
    """Return entries of a legend for what `draw_regions` draws besides rows."""
    from matplotlib.lines import Line2D

    handles = [
        *(Line2D([], [], color=PALE, linewidth=1.5, linestyle=style) for style in SHARES),
        Line2D([], [], color=INK, linewidth=BOUNDARY_WIDTH),
        Line2D([], [], linestyle="none", marker="o", color="white", markeredgecolor=INK),
    ]
    return handles, ["half of a class", "95 % of a class", "two classes tie", "wrong side"]
