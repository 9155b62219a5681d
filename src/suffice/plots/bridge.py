"""Both schools in one picture: what GDA believes of the classes, and where each school divides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadRows, BadSetting, listed
from suffice.models.gaussian.family import Gaussian
from suffice.models.gaussian.law.normal import Normal
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.gaussian.whitened_classes import WhiteClasses, discriminants
from suffice.models.linear.logistic.fit import fit_logistic
from suffice.plots.axes import given_axes, legend_below
from suffice.plots.palette import INK, PALE, colour, marker
from suffice.plots.planes import axis
from suffice.plots.regions import INSIDE
from suffice.rows.bad_cells import refuse_blanks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from suffice.learning.labelled_batch import LabelledBatch

    FloatArray = NDArray[np.float64]

GDA_LINE: dict[str, object] = {"colors": INK, "linestyles": "-", "linewidths": 1.6}
"""A whole line, below the other one; its width, in points, is a choice: it fills the gaps."""
LOGISTIC_LINE: dict[str, Any] = {
    "colors": "#D55E00",
    "linestyles": [(0, (4, 2))],
    "linewidths": 2.4,
}
"""A wider dashed line (points) in vermilion of Okabe and Ito's colours: where both agree, both are
seen."""
MANY = 1000
"""Rows from which dots are drawn smaller."""


def draw_bridge(
    ax: Axes | None,
    X: object,
    y: object,
    *,
    columns: Sequence[str | int] | None = None,
    classes: Sequence[str] | None = None,
    grid: int = 400,
    legend: bool = True,
) -> Axes:
    """Draw GDA's boundary and that of logistic regression on `ax`, over rows and GDA's ellipses.

    The plane is that of two columns; else of the two leading discriminant coordinates, in which
    GDA is unchanged (up to three classes). With two classes there is only one such coordinate,
    along GDA's θ: the other axis is then the direction in which the θ of logistic regression
    leaves it, and both boundaries are shown in full. Both models are fitted to the rows in this
    plane.

    The ellipses hold 50 % and 95 % of their class, if it is normal with the common covariance.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    X : array_like (n, d)
        Rows (n, d), as `bridge` takes them.
    y : array_like (n,)
        Their labels (n,).
    columns : sequence of str or int or None, default=None
        Two columns, by name or position; None takes the only two, or else discriminant
        coordinates.
    classes : sequence of str or None, default=None
        Names of the classes in the legend, in the order of the labels; None takes the labels.
    grid : int, default=400
        Points along each side of the grid on which the model is asked.
    legend : bool, default=True
        Whether to draw the legend. It stands below the Axes.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    suffice.bridge : The same comparison in figures.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from suffice.plots import draw_bridge
    >>> iris = load_iris(as_frame=True)
    >>> ax = draw_bridge(Figure().add_subplot(), iris.data, iris.target, columns=(0, 1))
    >>> ax.get_xlabel(), len(ax.get_legend().get_texts())
    ('sepal length (cm)', 7)
    """
    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.learning.learners.gaussian import GaussianClassifierLearner

    ax = given_axes(ax)
    batch = GaussianClassifierLearner().read(X, y)
    refuse_blanks(batch.rows, batch.columns.coded_names)
    points, names = _plane(batch, columns)
    labels = batch.classes[batch.codes]
    model = GaussianDiscriminant().fit(points, labels)
    known = model.model_.labels
    codes = np.array([known.index(label) for label in batch.labels])[batch.codes]
    form = fit_logistic(points, codes, known, standard_errors=False).form
    shown = [str(label) for label in known] if classes is None else list(classes)

    horizontal, vertical = (axis(values, grid) for values in points.T)
    plane = np.stack(np.meshgrid(horizontal, vertical), axis=-1).reshape(-1, 2)
    for scores, style, above in (
        (model.log_joint(plane), GDA_LINE, 3),
        (form.scores(plane), LOGISTIC_LINE, 4),
    ):
        _draw_boundary(ax, horizontal, vertical, scores.reshape(grid, grid, -1), style, above)
    for k, name in enumerate(shown):
        law = Normal(model.means_[k], model.covariance_)
        for share, dashes in zip(INSIDE, ("-", (0, (1, 1.2))), strict=True):
            ax.plot(*law.contour(mass=share).T, color=colour(k), linewidth=1.4, linestyle=dashes)
        ours = points[codes == k]
        ax.scatter(
            ours[:, 0], ours[:, 1], s=26 if len(points) < MANY else 7, c=colour(k),
            marker=marker(k), edgecolors="white", linewidths=0.5 if len(points) < MANY else 0.2,
            label=name, zorder=2,
        )  # fmt: skip
    ax.set_xlim(horizontal[0], horizontal[-1])
    ax.set_ylim(vertical[0], vertical[-1])
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    if legend:
        _draw_legend(ax)
    return ax


def _draw_boundary(
    ax: Axes, x: FloatArray, y: FloatArray, scores: FloatArray, style: dict[str, Any], above: int
) -> None:
    """Draw where the two best scores are equal, each piece once: two dashed lines make a solid."""
    for b in range(1, scores.shape[-1]):
        for a in range(b):
            lead = scores[..., a] - scores[..., b]
            others = np.delete(scores, [a, b], axis=-1)
            best = np.maximum(scores[..., a], scores[..., b])
            behind = others.max(axis=-1, initial=-np.inf) > best
            seen = lead[~behind]
            if seen.size and seen.min() < 0.0 < seen.max():
                shown = np.ma.masked_where(behind, lead)
                ax.contour(x, y, shown, levels=[0.0], zorder=above, **style)


def _draw_legend(ax: Axes) -> None:
    """Put classes, boundaries and ellipses into a legend below the axes."""
    from matplotlib.lines import Line2D

    handles, names = ax.get_legend_handles_labels()
    lines = {
        "boundary: GDA": Line2D([], [], color=INK, linewidth=1.6),
        "boundary: logistic regression": Line2D(
            [], [], color=LOGISTIC_LINE["colors"], linewidth=2.4, linestyle=(0, (4, 2))
        ),
        "50 % ellipse (GDA)": Line2D([], [], color=PALE, linewidth=1.4),
        "95 % ellipse (GDA)": Line2D([], [], color=PALE, linewidth=1.4, linestyle=(0, (1, 1.2))),
    }
    legend_below(ax, [*handles, *lines.values()], [*names, *lines], columns=2)


# The plane


def _plane(
    batch: LabelledBatch, columns: Sequence[str | int] | None
) -> tuple[FloatArray, tuple[str, str]]:
    """Return rows in two columns or coordinates, and what these are called."""
    names, rows = batch.columns.coded_names, batch.rows
    if columns is None and len(names) != 2:
        return _coordinates(batch)
    chosen = [0, 1] if columns is None else [_place(column, names) for column in columns]
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise BadSetting(
            f"columns={columns!r} are not two columns", hint=f"name two of {listed(names)}"
        )
    return np.asarray(rows[:, chosen], dtype=np.float64), (names[chosen[0]], names[chosen[1]])


def _place(column: str | int, names: tuple[str, ...]) -> int:
    """Return the position of a column that is given by name or position."""
    if column in names:
        return names.index(str(column))
    number = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
    if number and -len(names) <= int(column) < len(names):
        return int(column) % len(names)
    raise BadSetting(f"there is no column {column!r}", hint=f"they are {listed(names)}")


def _coordinates(batch: LabelledBatch) -> tuple[FloatArray, tuple[str, str]]:
    """Return the two leading discriminant coordinates, or one and where logistic leaves it."""
    learner = GaussianLearner(Gaussian())
    fit = learner.fit(learner.summarize(batch.rows, batch.codes, batch.labels))
    white = WhiteClasses.of(fit)
    if white.rank < 2:
        raise BadRows(
            f"the rows vary within classes in {white.rank} direction"
            f"{'s' * (white.rank != 1)}, and a plane needs two",
            hint="give two columns or more that vary",
        )
    found = discriminants(fit.model)
    if found.scalings.shape[1] >= 2:
        return found.coordinates(batch.rows)[:, :2], (
            "first discriminant coordinate",
            "second discriminant coordinate",
        )
    labels = fit.model.labels
    codes = np.array([labels.index(label) for label in batch.labels])[batch.codes]
    logistic = fit_logistic(batch.rows, codes, labels, batch.weights, standard_errors=False)
    slopes = (logistic.form.weights[1] - logistic.form.weights[0]) * white.scale
    gap, other = white.means[1] - white.means[0], white.factor.T @ slopes
    turn = np.stack([_unit(gap), np.zeros(len(gap))])
    turn[1] = _unit(other - turn[0] * (turn[0] @ other), across=turn[0])
    centred = batch.rows - white.form.origin - white.origin_low
    return centred @ white.whitening @ turn.T, (
        "along GDA's θ, in standard deviations",
        "across it, toward logistic regression's θ",
    )


def _unit(vector: FloatArray, across: FloatArray | None = None) -> FloatArray:
    """Return a vector of length one; where there is none, any one that is orthogonal to another."""
    length = float(np.sqrt(vector @ vector))
    if length > 1e-8:
        return vector / length
    other = np.zeros(len(vector)) if across is None else across
    axis = np.eye(len(vector))[int(np.abs(other).argmin())]
    return _unit(axis - other * (other @ axis))
