"""`score`: scikit-learn's own knows neither tuples nor bytes nor decimals as labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import BadLabels, BadRows
from suffice.learning.label_types import label_kind
from suffice.rows import check_lengths, read_labels, read_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.rows import IntArray


def share_right(
    classes: NDArray[np.generic], predicted: NDArray[np.generic], y: object, sample_weight: object
) -> float:
    """Return the share of rows, by weight, whose class is predicted rightly."""
    labels = read_labels(y)
    check_lengths(len(predicted), len(labels.codes))
    if not len(predicted):
        raise BadRows("there are no rows to score", hint="pass at least one row")
    weights = read_weights(sample_weight, len(predicted))
    known, given = label_kind(classes), label_kind(labels.classes)
    if (known == "text") != (given == "text"):
        raise BadLabels(
            f"the classes are {known}, the labels are {given}: no prediction can be right",
            hint="pass labels of the same type as in training",
        )
    places = {label: i for i, label in enumerate(classes.tolist())}
    true = np.array([places.get(label, -1) for label in labels.classes.tolist()], dtype=np.intp)
    right = true[labels.codes] == _codes(predicted, places)
    return float(np.average(right, weights=weights))


def _codes(predicted: NDArray[np.generic], places: dict[object, int]) -> IntArray:
    """Return the places of predicted labels; objects are looked up one by one."""
    if predicted.dtype.kind == "O":
        return np.array([places[label] for label in predicted.tolist()], dtype=np.intp)
    found, inverse = np.unique(predicted, return_inverse=True)
    codes: IntArray = np.array([places[label] for label in found.tolist()], dtype=np.intp)[inverse]
    return codes
