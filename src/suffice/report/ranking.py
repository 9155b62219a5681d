"""How well a model ranks rows: ROC, precision and recall, and the areas under them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import SufficeError
from suffice.plots.rates import Ranking
from suffice.report.figures import HEIGHT, WIDTH
from suffice.report.markup import bar, name, quoted, table
from suffice.report.planes import class_words

if TYPE_CHECKING:
    from collections.abc import Hashable

    from matplotlib.axes import Axes

    from suffice.evaluation import Comparison
    from suffice.report.figures import Album
    from suffice.rows import FloatArray

MOST_CURVES = 6
"""Classes that have a curve of their own, the commonest. A choice: more are a thicket."""
MOST_LISTED = 12
"""Classes whose areas are listed, the smallest first. A choice: what fits a screen."""


def areas(comparison: Comparison, model: str) -> dict[Hashable, float]:
    """Return the area under the ROC curve of each class against the rest, of held-out rows.

    Of two classes one has it, the second: that of the other is the same. A class without rows, or
    with all of them, has none; nor has a model without probabilities.

    >>> from sklearn.datasets import load_iris
    >>> from suffice import compare
    >>> found = compare(*load_iris(return_X_y=True), models=["gda"], folds=3, curves=False)
    >>> {label: round(area, 2) for label, area in areas(found, found.best).items()}
    {0: 1.0, 1: 1.0, 2: 1.0}
    """
    held, rows = comparison.held_out[model], comparison.rows
    if held.log_posterior is None:
        return {}
    labels = rows.classes.tolist()
    found = {}
    for c in range(1 if len(labels) == 2 else 0, len(labels)):
        try:
            ranking = Ranking.of(log_odds(held.log_posterior, c), rows.codes == c, rows.weights)
        except SufficeError:
            continue
        found[labels[c]] = ranking.area
    return found


def mean_area(comparison: Comparison, model: str) -> float | None:
    """Return the area of two classes, or the mean over classes, each against the rest."""
    found = areas(comparison, model)
    return float(np.mean(list(found.values()))) if found else None


def log_odds(log_posterior: FloatArray, c: int) -> FloatArray:
    """Return log odds of a class: probabilities close to 1 would tie where odds do not."""
    others = np.delete(log_posterior, c, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = log_posterior[:, c] - np.logaddexp.reduce(others, axis=1)
    return np.where(np.isnan(found), -np.inf, found)


def ranking_pictures(comparison: Comparison, model: str, album: Album) -> list[str]:
    """Return ROC and precision–recall curves of held-out rows."""
    held, rows = comparison.held_out[model], comparison.rows
    if not album.draws or held.log_posterior is None:
        return []
    log_posterior = held.log_posterior
    labels = rows.classes.tolist()
    words = class_words(labels)
    two = len(labels) == 2
    order = np.argsort(-rows.counts, kind="stable")[:MOST_CURVES]
    shown = [1] if two else sorted(int(c) for c in order)

    def rankings() -> dict[str, Ranking]:
        return {
            "" if two else words[c]: Ranking.of(
                log_odds(log_posterior, c), rows.codes == c, rows.weights
            )
            for c in shown
        }

    def roc(ax: Axes) -> None:
        from suffice.plots.rates import draw_roc_of

        draw_roc_of(ax, rankings())

    def precision(ax: Axes) -> None:
        from suffice.plots.rates import draw_precision_recall_of

        draw_precision_recall_of(ax, rankings())

    size = WIDTH, HEIGHT + 0.16 * len(shown) * (len(shown) > 4)  # room for a legend below
    of = f"of {quoted(labels[1])}" if two else "of each class against the rest"
    few = "" if two or len(shown) == len(labels) else f" The {len(shown)} most common are drawn."
    return [
        album.picture(
            roc, f"ROC curve of {model}",
            f"ROC curve {of}, on held-out rows: every threshold for the probability is a point. "
            f"The diagonal is guessing.{few}",
            size,
        ),
        album.picture(
            precision, f"precision and recall of {model}",
            f"Precision (share of the rows predicted as the class that belong to it) against "
            f"recall "
            f"(share of the class that is found), {of}, on held-out rows.{few}",
            size,
        ),
    ]  # fmt: skip


def areas_table(comparison: Comparison, model: str) -> str:
    """Return the areas of all classes where there are several; nothing for two."""
    found = areas(comparison, model)
    if len(comparison.rows.classes) == 2 or not found:
        return ""
    order = sorted(found, key=lambda label: found[label])
    rows = [
        (name(label, 40), f"{found[label]:.3f}", bar(2.0 * found[label] - 1.0))
        for label in order[:MOST_LISTED]
    ]
    left = len(order) - MOST_LISTED
    more = f'<p class="soft">… and {left:,} more classes, with larger areas.</p>'
    return (
        "<h3>Area under the ROC curve</h3><p>How often a row of the class gets a higher "
        "probability of it than a row of another class: 0.5 is guessing, 1 is perfect.</p>"
        + table(("class", "AUC", "0.5 to 1"), rows, figures=(1,))
        + (more if left > 0 else "")
    )
