"""What thresholds do to held-out rows, in a few steps: a page moves them without any row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.report.ranking import log_odds

if TYPE_CHECKING:
    from suffice.evaluation import Comparison
    from suffice.rows import FloatArray, IntArray

MOST_STEPS = 1000
"""Steps of one class. A choice: a step is less than a pixel of its curve."""
ALL_STEPS = 8000
"""Steps of all classes together: about 100 kB."""
MOST_CLASSES = 40
"""Classes that can be chosen, the commonest; beyond, steps would become coarse."""
CERTAIN = 1e6
"""Log odds that stand for certainty, as in `engine/decisions.js`: JSON has no infinity."""


def threshold_content(comparison: Comparison, model: str) -> dict[str, Any] | None:
    """Return the steps of each class against the rest; None of a model without probabilities.

    Every held-out row counts. Rows with the same log odds are one step; where there are more than
    `MOST_STEPS` of a class, or `ALL_STEPS` of all, neighbours are joined, never across even odds.

    >>> from sklearn.datasets import load_iris
    >>> from suffice import compare
    >>> found = compare(*load_iris(return_X_y=True), models=["gda"], folds=3, curves=False)
    >>> content = threshold_content(found, found.best)
    >>> [sum(one["yes"]) for one in content["steps"]], content["merged"]
    ([50, 50, 50], False)
    """
    held, rows = comparison.held_out[model], comparison.rows
    if held.log_posterior is None:
        return None
    shown = np.sort(np.argsort(-rows.counts, kind="stable")[:MOST_CLASSES])
    most = min(MOST_STEPS, ALL_STEPS // len(shown))
    steps = []
    merged = False
    for c in shown.tolist():
        belongs = rows.codes == c
        if not belongs.any() or belongs.all():
            continue
        odds = np.clip(log_odds(held.log_posterior, c), -CERTAIN, CERTAIN)
        found, joined = _steps(odds, belongs, rows.weights, most)
        steps.append({"of": c, **found})
        merged |= joined
    if not steps:
        return None
    two = len(rows.classes) == 2
    return {
        "model": model,
        "classes": [str(label)[:200] for label in rows.classes.tolist()],
        "positive": len(steps) - 1 if two else 0,
        "steps": steps,
        "merged": merged,
    }


def _steps(
    odds: FloatArray, belongs: Any, weights: FloatArray | None, most: int
) -> tuple[dict[str, list[float]], bool]:
    """Return steps from the highest odds down, and whether any were joined."""
    rounded = np.array([float(f"{one:.6g}") for one in odds.tolist()])
    values, place = np.unique(-rounded, return_inverse=True)
    each = np.ones(len(odds)) if weights is None else weights
    yes: FloatArray = np.bincount(place, each * belongs, len(values)).astype(np.float64)
    no: FloatArray = np.bincount(place, each * ~belongs, len(values)).astype(np.float64)
    starts = np.arange(len(values))
    if len(values) > most:
        starts = _starts(-values, yes + no, most)
        yes, no = np.add.reduceat(yes, starts), np.add.reduceat(no, starts)
    # A step is reached when all of its rows are: its odds are those of the last.
    ends = np.append(starts[1:], len(values)) - 1
    return {
        "odds": (-values[ends]).tolist(),
        "yes": [_short(one) for one in yes.tolist()],
        "no": [_short(one) for one in no.tolist()],
    }, len(starts) < len(values)


def _starts(odds: FloatArray, weight: FloatArray, most: int) -> IntArray:
    """Return where steps begin: about equal weights, and a cut at even odds."""
    share = (np.cumsum(weight) - weight) / weight.sum()
    groups = np.minimum((share * (most - 1)).astype(np.intp), most - 2)
    cut = np.flatnonzero(np.diff(groups) | np.diff((odds >= 0.0).astype(np.intp)) != 0)
    return np.append(0, cut + 1)


def _short(weight: float) -> float | int:
    return int(weight) if weight.is_integer() else float(f"{weight:.8g}")
