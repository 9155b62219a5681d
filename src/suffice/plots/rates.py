"""How well scores rank rows: ROC and precision–recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import BadLabels, BadRows, BadSetting, NotFinite, listed
from suffice.plots.axes import given_axes, legend_below, make_room, shortened, tidy
from suffice.plots.palette import colour, dashes
from suffice.plots.planes import read_numbers
from suffice.rows import read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]


def draw_roc(
    ax: Axes | None,
    labels: object,
    scores: object,
    *,
    positive: object = None,
    classes: Sequence[object] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw the true positive rate against the false positive rate, for every threshold.

    Rows that tie enter together, so that the area, given in the legend, is P(a positive scores
    more than a negative) + ½ P(they tie), exactly.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    labels : array_like (n,)
        The classes (n,) that rows have.
    scores : array_like (n,) or (n, k), or mapping
        One number for each row, the higher the more likely `positive`; or one column for each of
        `classes`, each against the rest; or {name: scores} of several models.
    positive : label, optional, default=None
        The class that is looked for; None is the second of two labels.
    classes : sequence of object or None, default=None
        The labels that columns of scores stand for.
    legend : bool, default=True
        Whether to draw the legend.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_roc_from_estimator : The same from a fitted classifier.
    draw_precision_recall : The other curve of the same scores.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> ax = draw_roc(ax, ["ham", "spam", "ham", "spam"], [0.1, 0.8, 0.4, 0.4])
    >>> ax.get_legend().get_texts()[0].get_text()
    'area 0.875'
    """
    return draw_roc_of(given_axes(ax), rankings(labels, scores, positive, classes), legend=legend)


def draw_roc_of(ax: Axes, found: Mapping[str, Ranking], *, legend: bool = True) -> Axes:
    """Draw the ROC curves of rankings, by their names; one without a name needs none."""
    ax.plot([0.0, 1.0], [0.0, 1.0], color="0.7", linewidth=1.0, linestyle=(0, (5, 3)), zorder=1)
    for k, (name, ranking) in enumerate(found.items()):
        said = f"area {ranking.area:.3f}"
        ax.plot(
            ranking.false_rate, ranking.true_rate, color=colour(k), linestyle=dashes(k),
            linewidth=2.0, label=f"{shortened(name)}: {said}" if name else said, zorder=2,
            clip_on=False,
        )  # fmt: skip
    ax.set_xlabel("false positive rate")
    ax.set_ylabel("true positive rate")
    _square(ax, len(found), "lower right", legend)
    return ax


def draw_precision_recall(
    ax: Axes | None,
    labels: object,
    scores: object,
    *,
    positive: object = None,
    classes: Sequence[object] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw precision, the share of positives among the rows found, against recall.

    The curve is drawn in steps, as nothing was measured between two thresholds; the legend gives
    the average precision. The dotted line is the precision of guessing, where it is the same for
    all curves.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None is the current Axes.
    labels : array_like (n,)
        The classes (n,) that rows have.
    scores : array_like (n,) or (n, k), or mapping
        One number for each row, the higher the more likely `positive`; or one column for each of
        `classes`, each against the rest; or {name: scores} of several models.
    positive : label, optional, default=None
        The class that is looked for; None is the second of two labels.
    classes : sequence of object or None, default=None
        The labels that columns of scores stand for.
    legend : bool, default=True
        Whether to draw the legend.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that was drawn on.

    See Also
    --------
    draw_precision_recall_from_estimator : The same from a fitted classifier.
    draw_roc : The other curve of the same scores.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> ax = draw_precision_recall(ax, [0, 1, 0, 1], [0.1, 0.8, 0.4, 0.4])
    >>> ax.get_legend().get_texts()[0].get_text()
    'average precision 0.833'
    """
    found = rankings(labels, scores, positive, classes)
    return draw_precision_recall_of(given_axes(ax), found, legend=legend)


def draw_precision_recall_of(
    ax: Axes, found: Mapping[str, Ranking], *, legend: bool = True
) -> Axes:
    """Draw precision by recall of rankings, by their names; one without a name needs none."""
    for k, (name, ranking) in enumerate(found.items()):
        said = f"average precision {ranking.average_precision:.3f}"
        ax.step(
            ranking.true_rate, np.append(ranking.precision[0], ranking.precision), where="pre",
            color=colour(k), linestyle=dashes(k), linewidth=2.0, zorder=2, clip_on=False,
            label=f"{shortened(name)}: {said}" if name else said,
        )  # fmt: skip
    if len(blind := {ranking.prevalence for ranking in found.values()}) == 1:
        ax.axhline(blind.pop(), color="0.6", linewidth=1.0, linestyle=(0, (1, 2)), zorder=1)
    ax.set_xlabel("recall")
    ax.set_ylabel("precision")
    _square(ax, len(found), "lower left", legend)
    return ax


def _square(ax: Axes, many: int, corner: Any, legend: bool) -> None:
    """Give both rates the same scale, and name the curves: in a corner, or below if many.

    No curve of rates reaches the lower right; several of precision may reach every corner.
    """
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.02)
    ax.set_aspect("equal", adjustable="box")
    tidy(ax)
    make_room(ax)
    if legend and many <= (4 if corner == "lower right" else 1):
        ax.legend(
            loc=corner,
            frameon=True,
            framealpha=0.85,
            edgecolor="none",
            fontsize=9,
            handlelength=2.6,
        )
    elif legend:
        legend_below(ax, columns=2)


@dataclass(frozen=True, eq=False)
class Ranking:
    """How many positives and negatives score at least so much, for every score there is.

    Rows with weights are counted by them.

    The first entry is the threshold above all scores: nothing is found. Rows that tie enter
    together, since no threshold parts them; between two entries a curve is straight.
    """

    found: FloatArray
    wrongly: FloatArray

    @classmethod
    def of(
        cls, scores: ArrayLike, positive: NDArray[np.bool_], weights: FloatArray | None = None
    ) -> Ranking:
        """Count rows from the highest score down.

        >>> ranking = Ranking.of([0.9, 0.4, 0.4, 0.1], np.array([True, True, False, False]))
        >>> ranking.found, ranking.wrongly
        (array([0., 1., 2., 2.]), array([0., 0., 1., 2.]))
        """
        values = read_numbers(scores, "scores")
        if values.ndim != 1 or len(values) != len(positive):
            raise BadRows(
                f"scores of shape {values.shape} for {len(positive)} labels",
                hint="give one score for each row, the higher the likelier",
            )
        if len(values) == 0:
            raise BadRows("there are no rows to rank", hint="give at least one of each class")
        if np.isnan(values).any():
            raise NotFinite(
                f"row {int(np.isnan(values).argmax())} has no score (NaN)",
                hint="drop the row, or score it",
            )
        if positive.all() or not positive.any():
            raise BadLabels(
                f"all {len(values)} rows are {'positive' if positive.all() else 'negative'}",
                hint="a curve needs rows of both kinds",
            )
        order = np.argsort(-values, kind="stable")
        ranked = values[order]
        ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
        each = np.ones(len(values)) if weights is None else weights[order]
        hits, misses = (
            np.cumsum(np.where(chosen, each, 0.0))[ends]
            for chosen in (positive[order], ~positive[order])
        )
        if not (hits[-1] > 0.0 and misses[-1] > 0.0):
            raise BadLabels(
                "the rows of one kind have no weight",
                hint="a curve needs rows of both kinds",
            )
        return cls(np.append(0.0, hits), np.append(0.0, misses))

    @property
    def true_rate(self) -> FloatArray:
        """The share of positives that are found: recall."""
        rate: FloatArray = self.found / self.found[-1]
        return rate

    @property
    def false_rate(self) -> FloatArray:
        """The share of negatives that are taken for positives."""
        rate: FloatArray = self.wrongly / self.wrongly[-1]
        return rate

    @property
    def precision(self) -> FloatArray:
        """The share of positives among what is found, from the first threshold on."""
        named = (self.found + self.wrongly)[1:]
        # Rows of weight zero name nothing yet: nothing of it is wrong.
        precision: FloatArray = np.divide(
            self.found[1:], named, out=np.ones_like(named), where=named > 0.0
        )
        return precision

    @property
    def area(self) -> float:
        """The area under the ROC curve: P(positive scores more) + ½ P(tie).

        >>> Ranking.of([0.9, 0.4, 0.4, 0.1], np.array([True, True, False, False])).area
        0.875
        """
        middle = (self.true_rate[1:] + self.true_rate[:-1]) / 2.0
        return float(np.diff(self.false_rate) @ middle)

    @property
    def average_precision(self) -> float:
        """The precision averaged over what each threshold adds to recall."""
        return float(np.diff(self.true_rate) @ self.precision)

    @property
    def prevalence(self) -> float:
        """The share of positives among all rows: the precision of a blind guess."""
        return float(self.found[-1] / (self.found[-1] + self.wrongly[-1]))


def rankings(
    labels: object, scores: object, positive: object, classes: Sequence[object] | None
) -> dict[str, Ranking]:
    """Return the ranking of each curve by its name, "" where there is one and it needs none.

    `scores` are one column, one for each class, or {name: either}. Of several models each has
    one curve; a single model of several classes has one for each, against the rest.
    """
    known = read_labels(labels)
    names = known.classes.tolist() if classes is None else list(classes)
    if isinstance(scores, Mapping):
        if not scores:
            raise BadSetting("there are no scores to draw", hint="give at least one: {name: …}")
        chosen = _positive(names, positive)
        truth = _truth(known, chosen)
        return {
            str(name): Ranking.of(_column(values, names, chosen), truth)
            for name, values in scores.items()
        }
    table = read_numbers(scores, "scores")
    if table.ndim == 2 and table.shape[1] > 2 and positive is None:
        if table.shape[1] != len(names):
            raise BadRows(
                f"{table.shape[1]} columns of scores for {len(names)} classes: {listed(names)}",
                hint="name the columns: classes=model.classes_",
            )
        return {
            str(name): Ranking.of(table[:, k], _truth(known, name)) for k, name in enumerate(names)
        }
    chosen = _positive(names, positive)
    return {"": Ranking.of(_column(table, names, chosen), _truth(known, chosen))}


def _positive(names: list[object], positive: object) -> object:
    """Return the label that scores speak for: the one named, or the second of two."""
    if positive is None and len(names) == 2:
        return names[1]
    if positive is None and len(names) == 1:
        raise BadLabels(
            f"every label is {names[0]!r}",
            hint="a curve needs rows of two classes",
        )
    if positive is None:
        raise BadSetting(
            f"there are {len(names)} classes, {listed(names)}, and one column of scores",
            hint="say which class they are for: positive=…",
        )
    if positive not in names:
        raise BadSetting(f"there is no class {positive!r}", hint=f"there are {listed(names)}")
    return positive


def _truth(known: Any, positive: Any) -> NDArray[np.bool_]:
    """Return which rows are of the positive class."""
    hit = np.array([label == positive for label in known.classes.tolist()], dtype=bool)
    truth: NDArray[np.bool_] = hit[known.codes]
    return truth


def _column(scores: object, names: list[object], positive: object) -> FloatArray:
    """Return the scores of one class: its column, if there is one for each."""
    table = read_numbers(scores, "scores")
    if table.ndim == 2 and table.shape[1] == len(names):
        column: FloatArray = table[:, names.index(positive)]
        return column
    return table
