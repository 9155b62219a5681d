"""The weight of each class in statistics, whatever else they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.statistics.by_class import ByClass
from suffice.statistics.by_pattern import ByPattern
from suffice.statistics.folds import Folds
from suffice.statistics.row_sample import WithRows

if TYPE_CHECKING:
    from suffice.rows import FloatArray


def class_weights(statistics: Any) -> FloatArray:
    """Return the weight of the rows of each class (k,), in the order of the labels.

    >>> from suffice.statistics.totals import Totals
    >>> one = Totals.of(np.array([[1.0], [2.0]]), None)
    >>> class_weights(ByClass({"ham": one}))
    array([2.])
    """
    if isinstance(statistics, WithRows):
        return class_weights(statistics.held)
    if isinstance(statistics, Folds):
        return class_weights(statistics.whole)
    if isinstance(statistics, ByClass):
        groups = statistics.groups
        return np.array([groups[label].weight for label in statistics.labels], dtype=np.float64)
    if isinstance(statistics, ByPattern):
        labels = statistics.labels
        places = {label: i for i, label in enumerate(labels)}
        found = np.zeros(len(labels))
        for held in statistics.groups.values():
            for label, weight in zip(held.labels, class_weights(held), strict=True):
                found[places[label]] += weight
        return found
    weights: FloatArray = statistics.weights
    return weights
