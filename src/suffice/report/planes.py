"""Pictures of boundaries: two telling columns under either school, and all columns at once."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
from suffice.estimators.naive_bayes import NaiveBayes
from suffice.evaluation.candidates import GENERATIVE
from suffice.report.data_summary import column_names
from suffice.report.informative_columns import drawn
from suffice.report.markup import name, names
from suffice.report.notation import write_ticks
from suffice.rows import NUMBER, is_sparse, read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from suffice.evaluation import Candidate, Comparison, LabelledRows
    from suffice.report.figures import Album
    from suffice.report.informative_columns import Informative
    from suffice.rows import FloatArray, IntArray

DOTS = 1200
"""Rows that are drawn: more are a blot, and a large file."""
MOST_CLASSES = 30
"""Classes up to which a plane is drawn. A choice: more have colours and marks that nobody tells
apart."""
ALIKE = 0.9
"""The correlation from which two columns say the same."""
OFTEN = 0.25
"""The share of blanks beyond which a column would cost the picture too many rows."""
GRID = 160
"""Points of the grid on either side. A choice: a region's edge is off by less than 1/160 of the
window."""
FEW = 5
"""Different numbers up to which a column is a few stripes of dots, and no picture."""


def boundary_pictures(comparison: Comparison, found: Informative | None, album: Album) -> list[str]:
    """Return pictures of boundaries, or sentences where there are none; nothing without numbers."""
    rows = comparison.rows
    if not album.draws or is_sparse(rows.X) or len(rows.classes) > MOST_CLASSES:
        return []
    pictures = []
    plane = None if found is None else _plane(found)
    if found is not None and plane is not None:
        pictures += [
            _regions(comparison, one, found, plane, album) for one in _two_schools(comparison)
        ]
    pictures.append(_discriminants(comparison, album))
    return [one for one in pictures if one]


def _two_schools(comparison: Comparison) -> list[Candidate]:
    """Return the recommended candidate and the best of the other school."""
    chosen = comparison.candidate(comparison.recommendation.model)
    others = [
        (float(scores.log_loss.mean()), one.rank, one)
        for one in comparison.candidates
        if one.school and one.school != chosen.school
        if (scores := comparison.scores.get(one.name)) is not None and scores.log_loss is not None
    ]
    return [chosen, *(one for *_, one in sorted(others, key=lambda other: other[:2])[:1])]


def _plane(found: Informative) -> tuple[int, int] | None:
    """Return the two most telling columns of many numbers that do not say the same."""
    held = read_table(found.rows.X)
    numbers = [int(j) for j in found.order if held.kinds[j] == NUMBER and _varies(held.column(j))]
    if len(numbers) < 2:
        return None
    first, *rest = numbers
    for second in rest:
        if abs(_correlation(held.column(first), held.column(second))) < ALIKE:
            return first, second
    return first, rest[0]


def _varies(cells: FloatArray) -> bool:
    return len(np.unique(cells[np.isfinite(cells)])) > FEW


def _correlation(one: FloatArray, other: FloatArray) -> float:
    both = np.isfinite(one) & np.isfinite(other)
    x, y = one[both] - one[both].mean(), other[both] - other[both].mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0.0 else 1.0


def _regions(
    comparison: Comparison, one: Candidate, found: Informative, plane: tuple[int, int], album: Album
) -> str:
    """Return the regions of a candidate that knows these two columns alone."""
    from suffice.plots import draw_regions
    from suffice.plots.regions import is_crowded

    rows = drawn(found.rows, DOTS)
    held = read_table(rows.X)
    points = np.column_stack([np.asarray(held.column(j), np.float64) for j in plane])
    there = _near(points)
    called = tuple(found.names[j] for j in plane)

    def draw(ax: Axes) -> None:
        labels = rows.y[there]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = _of_two_columns(one).fit(points[there], labels)
        draw_regions(
            ax, model, points[there], labels, columns=[_cut(word) for word in called],
            classes=class_words(model.classes_.tolist()), grid=GRID,
        )  # fmt: skip
        for axis, word in zip((ax.xaxis, ax.yaxis), called, strict=True):
            write_ticks(axis, album.spellings.get(word))

    inside = ""
    if one.school == GENERATIVE:
        inside = " Coloured lines hold 50&nbsp;% and 95&nbsp;% of a class."
    dots = f" {int(there.sum()):,} rows are drawn." if there.sum() < len(comparison.rows) else ""
    if is_crowded(points[there]):
        dots += " Points are jittered so that equal rows can be seen."
    return album.picture(
        draw,
        f"{one.name} on two columns",
        f"{name(one.name)} on {name(called[0])} and {name(called[1])} alone: points are rows, "
        f"circled where the model is wrong; uncoloured lines are boundaries.{inside}{dots}",
    )


def _near(points: FloatArray) -> NDArray[np.bool_]:
    """Return the rows that have both cells and are not so far out that the rest is a blot."""
    there: Any = np.isfinite(points).all(axis=1)
    near: NDArray[np.bool_] = there
    for values in points.T:
        low, high = np.quantile(values[there], [0.05, 0.95])
        near = near & (values >= 2.0 * low - high) & (values <= 2.0 * high - low)
    return near if near.sum() > 0.9 * there.sum() else np.asarray(there)


def _of_two_columns(one: Candidate) -> Any:
    """Return the estimator of a candidate for two columns of numbers."""
    from sklearn.base import clone

    if one.key == "naive-bayes-shared":
        return NaiveBayes("shared-gaussian")
    if one.key == "naive-bayes":
        return NaiveBayes("gaussian")
    return clone(one.estimator)


def _discriminants(comparison: Comparison, album: Album) -> str:
    """Return all columns at once: the plane in which the classes differ most."""
    from suffice.plots import draw_bridge

    rows = drawn(comparison.rows, 2 * DOTS)
    complete, left = _complete(rows)
    if len(complete) < max(20, len(rows) // 2):
        return ""
    part = rows.take(complete)

    def draw(ax: Axes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            coded = GaussianDiscriminant().as_learner().read(part.X, part.y)
            cells = np.asarray(coded.rows)
            kept = np.flatnonzero(np.ptp(cells, axis=0) > 0.0)  # nor is NaN, of a blank cell
            draw_bridge(
                ax, cells[:, kept], part.y, grid=GRID,
                classes=class_words(part.classes.tolist()),
            )  # fmt: skip

    two = len(part.classes) == 2
    but = f", but for {names(left)}, often blank" if left else ""
    dots = f" {len(part):,} rows are drawn." if len(part) < len(comparison.rows) else ""
    return album.picture(
        draw,
        "all columns in discriminant coordinates",
        f"All columns at once{but}, seen along "
        + (
            "the direction that separates the two classes"
            if two
            else "the directions in which classes differ most"
        )
        + f", with the boundaries of GDA and of logistic regression.{dots}",
        (5.0, 4.2 + 0.17 * min(len(part.classes) + 4, 12)),
    )


def _complete(rows: LabelledRows) -> tuple[IntArray, list[str]]:
    """Return the rows without a blank number, and the columns that are not asked for one.

    Blank categories are a level, and so never in the way.
    """
    held = read_table(rows.X)
    called = column_names(rows)
    there = np.ones(len(rows), dtype=bool)
    left = []
    for j, kind in enumerate(held.kinds):
        if kind == NUMBER:
            filled = np.isfinite(np.asarray(held.column(j), np.float64))
            if filled.mean() < 1.0 - OFTEN:
                left.append(called[j])
            else:
                there &= filled
    return np.flatnonzero(there), left


def class_words(labels: list[object]) -> list[str]:
    """Return what classes are called in a legend; matplotlib leaves out names that begin with _."""
    return [f"\u2009{label}" if str(label).startswith("_") else str(label) for label in labels]


def _cut(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:39]}…"
