"""How probabilities are judged: four scores of the rows of a draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOOR = 2.2e-16
"""The least probability of a class: the spacing of doubles at 1, about what 1 - p can still say. An
error at p = 0 costs 36 nats, and not infinity."""
BINS = 10
"""Bins of the calibration error, each with the same number of test rows."""


def aligned(p: Any, classes: Any, labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return floored probabilities of `labels`, a column each, that add up to 1 in every row.

    A class that the classifier does not know gets the floor, and so does what is not a number.

    >>> aligned([[1.0, 0.0]], ["b", "a"], np.array(["a", "b", "c"])).round(3)
    array([[0., 1., 0.]])
    """
    given = np.asarray(p, dtype=np.float64)
    place = {str(label): j for j, label in enumerate(np.asarray(classes).ravel().tolist())}
    whole = np.zeros((len(given), len(labels)))
    for k, label in enumerate(labels):
        if str(label) in place:
            whole[:, k] = given[:, place[str(label)]]
    whole = np.maximum(np.nan_to_num(whole, nan=0.0), FLOOR)
    return np.asarray(whole / whole.sum(axis=1, keepdims=True))


def scores(p: NDArray[np.float64], truth: NDArray[np.intp]) -> dict[str, float]:
    """Return log-loss, Brier score, share of right answers and calibration error.

    p       probabilities, shape (rows, classes); they add up to 1 in every row
    truth   the column of the true class of each row

    The Brier score is the sum over classes of (p - 1[true])², from 0 to 2. The calibration error is
    that of the most probable class: rows are sorted by its probability and cut into ten bins of
    equal count; it is the mean over rows of |mean probability - share of right answers| of the bin.

    >>> found = scores(np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([0, 0]))
    >>> {name: round(value, 3) for name, value in found.items()}
    {'log_loss': 0.57, 'brier': 0.4, 'accuracy': 0.5, 'calibration': 0.4}
    """
    rows = np.arange(len(p))
    target = np.zeros_like(p)
    target[rows, truth] = 1.0
    top = p.max(axis=1)
    right = (p.argmax(axis=1) == truth).astype(np.float64)
    order = np.argsort(top, kind="stable")
    gaps = [
        len(some) * abs(top[some].mean() - right[some].mean())
        for some in np.array_split(order, BINS)
        if len(some)
    ]
    return {
        "log_loss": float(-np.log(np.maximum(p[rows, truth], FLOOR)).mean()),
        "brier": float(((p - target) ** 2).sum(axis=1).mean()),
        "accuracy": float(right.mean()),
        "calibration": float(sum(gaps) / len(p)),
    }
