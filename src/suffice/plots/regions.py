"""The picture of the subject: rows, the density of each class, and where the classes tie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from suffice.errors import BadLabels, BadRows
from suffice.families.normal import Normal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

# Okabe and Ito's colours stay apart for every kind of colour vision; the markers do so in grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#5B4A9E", "#8C8C00")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "p")
INK = "#222222"
BOUNDARY_WIDTH = 1.3

INSIDE = (0.5, 0.95)
"""How much of a class lies inside each of its ellipses."""


class Classifier(Protocol):
    """A fitted model of normal classes: means, covariances, and log p(x, y)."""

    @property
    def classes_(self) -> Any:
        """The labels."""

    @property
    def means_(self) -> Any:
        """One mean for each class, (k, 2)."""

    @property
    def covariances_(self) -> Any:
        """One covariance for each class, (k, 2, 2), equal where it is shared."""

    def log_joint(self, X: Any, /) -> Any:
        """Return log p(x, y), one column for each class."""


def draw_regions(
    ax: Axes,
    model: Classifier,
    rows: ArrayLike,
    labels: Sequence[object] | NDArray[Any],
    *,
    columns: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    grid: int = 400,
    legend: bool = True,
) -> Axes:
    """Draw a model of two columns on `ax`: rows, ellipses of each class, and the decision boundary.

    The ellipses hold 50 % and 95 % of their class: {x : (x - μ)ᵀΣ⁻¹(x - μ) = -2 log(1 - p)}. The
    boundary is where the two likeliest classes have the same posterior; on either side the plane
    wears the colour of the winner. Rows the model gets wrong are ringed. `columns` names the
    axes, `classes` the entries of the legend, which stands below the axes and covers no row.

    >>> from matplotlib.figure import Figure
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.plots import draw_regions
    >>> X = [[0.0, 0.1], [1.0, 0.0], [0.2, 1.0], [3.0, 3.2], [4.0, 3.0], [3.1, 4.0]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = GaussianDiscriminant().fit(X, y)
    >>> ax = draw_regions(Figure().add_subplot(), model, X, y, columns=("width", "height"))
    >>> ax.get_xlabel(), len(ax.get_legend().get_texts())
    ('width', 2)
    """
    points = np.asarray(rows, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise BadRows(
            f"a plane has 2 columns, these rows have shape {points.shape}",
            hint="fit on two columns and draw those, for instance X[:, [0, 3]]",
        )
    if len(labels) != len(points):
        raise BadLabels(
            f"{len(labels)} labels for {len(points)} rows", hint="give one label for each row"
        )
    known = [str(label) for label in model.classes_] if classes is None else list(classes)
    codes = _codes(model, labels)

    x, y = (_axis(values, grid) for values in points.T)
    plane = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    joint = np.asarray(model.log_joint(plane)).reshape(grid, grid, -1)
    winner = np.asarray(model.log_joint(points)).argmax(axis=1)

    for k, name in enumerate(known):
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        lead = _lead(joint, k)
        if len(known) > 1 and lead.min() < 0.0 < lead.max():
            ax.contourf(x, y, lead, levels=[0.0, np.inf], colors=[colour], alpha=0.10, zorder=0)
            ax.contour(x, y, lead, levels=[0.0], colors=[INK], linewidths=BOUNDARY_WIDTH, zorder=3)
        for share, style in zip(INSIDE, ("-", (0, (5, 2))), strict=True):
            edge = Normal(model.means_[k], model.covariances_[k]).contour(mass=share)
            ax.plot(*edge.T, color=colour, linewidth=1.5, linestyle=style, zorder=2)
        ours = codes == k
        for chosen, ring, label in ((ours, "white", name), (ours & (winner != codes), INK, None)):
            ax.scatter(
                points[chosen, 0], points[chosen, 1], s=30, c=colour, marker=marker, label=label,
                edgecolors=ring, linewidths=0.7, zorder=4,
            )  # fmt: skip

    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(y[0], y[-1])
    if columns is not None:
        ax.set_xlabel(columns[0])
        ax.set_ylabel(columns[1])
    if legend:
        ax.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=min(len(known), 4), frameon=False
        )
    return ax


def _codes(model: Classifier, labels: Sequence[object] | NDArray[Any]) -> NDArray[np.intp]:
    """Return the position of each label among the classes; -1 for a label the model never saw."""
    place = {label: k for k, label in enumerate(list(model.classes_))}
    return np.array([place.get(label, -1) for label in list(labels)], dtype=np.intp)


def _axis(values: FloatArray, grid: int) -> FloatArray:
    """Return `grid` positions over the observed range and a little more; NaN does not count."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.1 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, grid)


def _lead(joint: FloatArray, k: int) -> FloatArray:
    """Return by how much class k's log p(x, y) exceeds the best of the others: zero is a tie."""
    others = np.delete(joint, k, axis=-1)
    if others.shape[-1] == 0:
        return np.ones(joint.shape[:-1])
    lead: FloatArray = joint[..., k] - others.max(axis=-1)
    return lead
