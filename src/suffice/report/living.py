"""What is added to a page so that it comes alive: a policy, a style, data and one script."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots.palette import COLOURS
from suffice.report.informative_columns import drawn
from suffice.report.ranking import log_odds
from suffice.rows import NUMBER, read_table
from suffice.web.scripts import bundled, data_block, fingerprint, style

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.columns.spellings.spelling import Spelling
    from suffice.evaluation import Comparison
    from suffice.report.figures import Album
    from suffice.report.informative_columns import Informative
    from suffice.rows import FloatArray, IntArray


def living_parts(
    comparison: Comparison, found: Informative | None, album: Album
) -> tuple[str, str, str]:
    """Return what the policy allows besides, the style, and the end of the body.

    Rows are in the page only where boundaries are drawn.
    """
    blocks = data_block("palette", {"colours": list(COLOURS)})
    blocks += data_block("pictures", album.values)
    thresholds = threshold_content(comparison, comparison.recommendation.model)
    if thresholds is not None:
        blocks += data_block("thresholds", thresholds)
    points = points_content(comparison, found, album.spellings) if album.draws else None
    if points is not None:
        blocks += data_block("points", points)
    script = bundled("living/report.js")
    allowed = f"; script-src {fingerprint(script)}"
    return allowed, style("living/living.css"), f"{blocks}<script>{script}</script>"


MOST_ROWS = 1000
"""Rows in the page, drawn at random: about as many as its pictures have dots."""
MOST_COLUMNS = 12
"""Columns to choose from, the most informative: with `MOST_ROWS` at most 64 kB."""
MOST_CLASSES = 12
"""Classes up to which there is a choice: a browser fits them while one waits."""
FEW = 5
"""Different numbers up to which a column is a few stripes of dots, and no picture."""
DRAWN_AS = {
    "gda": "shared", "qda": "per-class", "gda-auto": "per-class", "naive-bayes": "naive-bayes",
    "naive-bayes-shared": "shared-diagonal", "logistic": "logistic", "logistic-penalty": "logistic",
}  # fmt: skip
"""Which model of the page's engine is drawn first, by the key of the recommended one."""


def points_content(
    comparison: Comparison,
    found: Informative | None,
    spellings: Mapping[str, Spelling] | None = None,
) -> dict[str, object] | None:
    """Return cells of the most informative columns of numbers; None where no plane is drawn.

    `spellings` say which columns are dates.

    >>> from sklearn.datasets import load_iris
    >>> from suffice import compare
    >>> from suffice.report.informative_columns import informative_columns
    >>> result = compare(*load_iris(return_X_y=True), models=["gda"], folds=3, curves=False)
    >>> content = points_content(result, informative_columns(result.rows))
    >>> len(content["columns"]), content["model"], content["left"]
    (4, 'shared', 0)
    """
    if found is None or len(comparison.rows.classes) > MOST_CLASSES:
        return None
    rows = drawn(found.rows, MOST_ROWS)
    held = read_table(rows.X)
    columns: list[dict[str, object]] = []
    for j in found.order.tolist():
        if held.kinds[j] != NUMBER or len(columns) == MOST_COLUMNS:
            continue
        cells = np.asarray(held.column(j), np.float64)
        there = cells[np.isfinite(cells)]
        if len(np.unique(there)) > FEW:
            name = found.names[j]
            columns.append(_packed(name, cells, there, (spellings or {}).get(name)))
    if len(columns) < 2:
        return None
    chosen = comparison.candidate(comparison.recommendation.model)
    return {
        "classes": [str(label)[:200] for label in rows.classes.tolist()],
        "codes": base64.b64encode(rows.codes.astype(np.uint8).tobytes()).decode("ascii"),
        "columns": columns,
        "model": DRAWN_AS.get(chosen.key, "shared"),
        "left": len(comparison.rows) - len(rows),
    }


def _packed(name: str, cells: Any, there: Any, spelling: Spelling | None) -> dict[str, object]:
    """Return a column as single floats about its median, in units of its own spread."""
    low, centre, high = (float(one) for one in np.quantile(there, [0.05, 0.5, 0.95]))
    scale = high - low if high > low else float(np.ptp(there))
    with np.errstate(over="ignore", invalid="ignore"):
        small = ((cells - centre) / scale).astype("<f4")
    dates = {"date": spelling.date, "timed": spelling.timed} if spelling and spelling.date else {}
    return {
        "name": str(name)[:200],
        **dates,
        "centre": centre,
        "scale": scale,
        "cells": base64.b64encode(small.tobytes()).decode("ascii"),
    }


MOST_STEPS = 1000
"""Steps of one class. A choice: a step is less than a pixel of its curve."""
ALL_STEPS = 8000
"""Steps of all classes together: about 100 kB."""
CHOICE_CLASSES = 40
"""Classes that can be chosen, the commonest; beyond, steps would become coarse."""
CERTAIN = 1e6
"""Log odds that stand for certainty, as in `engine/decisions.js`: JSON has no infinity."""


def threshold_content(comparison: Comparison, model: str) -> dict[str, object] | None:
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
    shown = np.sort(np.argsort(-rows.counts, kind="stable")[:CHOICE_CLASSES])
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
