"""Rows that a page holds so that its reader can choose the two columns of the boundary picture."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.report.informative_columns import drawn
from suffice.rows import NUMBER, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice.columns.spellings.spelling import Spelling
    from suffice.evaluation import Comparison
    from suffice.report.informative_columns import Informative

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
) -> dict[str, Any] | None:
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
