"""The learning curve of the recommended model, where the comparison has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import SufficeError
from suffice.evaluation import learning_curves

if TYPE_CHECKING:
    from suffice.evaluation import Comparison, LearningCurves

SIZES, SPLITS = 4, 2
"""Points of a pool's curve and splits of each, few of both: it fits ten models for every one."""
SINGLE_SPLITS = 8
"""Splits of a single model's curve. A choice: as many as have a band that tells something."""
DEAREST = 6.0
"""Seconds that judging the model may have taken for a curve to be made: the curve takes about
twice as long."""
TESTED = 500
"""Rows that each split is tested on: √(0.25/500) < 0.025 is the largest standard error of a share
of errors."""


def own_curve(comparison: Comparison) -> LearningCurves | None:
    """Return the learning curve of the recommended model; None where there is one, or none at all.

    >>> from sklearn.datasets import load_iris
    >>> from suffice import compare
    >>> found = compare(*load_iris(return_X_y=True), models=["gda"], folds=3)
    >>> own_curve(found) is None
    True
    """
    curves = comparison.curves
    model = comparison.recommendation.model
    if curves is None or model in curves.names or comparison.scores[model].seconds > DEAREST:
        return None
    one = comparison.candidate(model)
    points = SIZES if one.is_pool else len(curves.sizes)
    kept = np.unique(np.linspace(0, len(curves.sizes) - 1, points).round().astype(int))
    try:
        return learning_curves(
            {model: one.estimator}, comparison.rows, sizes=curves.sizes[kept],
            repeats=SPLITS if one.is_pool else SINGLE_SPLITS, most_tested=TESTED,
        )  # fmt: skip
    except SufficeError:  # a page without this curve is still a page
        return None
