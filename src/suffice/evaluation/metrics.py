"""How good held-out answers are: accuracy, log-loss, Brier score, calibration error; all weighted.

log_posterior   (n, k): log p(class | row); -inf is a class that was ruled out
codes           (n,): which of the k classes each row is of
weights         (n,), or None where every row counts once
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

CLIP = float(np.finfo(np.float64).eps)
"""Log-loss counts no probability as smaller than this: one row that was ruled out costs 36.

scikit-learn's bound, so that its figures are the same.
"""
BINS = 10
"""Bins of equal width into which calibration parts the probabilities."""


def accuracy(predicted: IntArray, codes: IntArray, weights: FloatArray | None = None) -> float:
    """Return the share of rows whose class was predicted.

    >>> accuracy(np.array([0, 1, 1]), np.array([0, 1, 0]))
    0.6666666666666666
    """
    return float(np.average(predicted == codes, weights=weights))


def log_losses(log_posterior: FloatArray, codes: IntArray, clip: float = CLIP) -> FloatArray:
    """Return -log p(own class) of every row, p being at least `clip`."""
    own = log_posterior[np.arange(len(codes)), codes]
    losses: FloatArray = -np.maximum(own, np.log(clip))
    return losses


def log_loss(
    log_posterior: FloatArray,
    codes: IntArray,
    weights: FloatArray | None = None,
    clip: float = CLIP,
) -> float:
    """Return the mean of -log p(own class): 0 is certainty that was right.

    Without the clip a single row that a model ruled out would make every comparison infinite.

    >>> round(log_loss(np.log([[0.5, 0.5], [0.9, 0.1]]), np.array([0, 0])), 4)
    0.3993
    """
    return float(np.average(log_losses(log_posterior, codes, clip), weights=weights))


def brier(log_posterior: FloatArray, codes: IntArray, weights: FloatArray | None = None) -> float:
    """Return the mean of Σ (p - indicator)²; with two classes half of it, as is the custom.

    >>> round(brier(np.log([[0.5, 0.5], [0.9, 0.1]]), np.array([0, 0])), 4)
    0.13
    """
    gaps = np.exp(log_posterior)
    gaps[np.arange(len(codes)), codes] -= 1.0
    squares = np.square(gaps).sum(axis=1)
    return float(np.average(squares, weights=weights)) / (2.0 if gaps.shape[1] == 2 else 1.0)


def calibration_error(
    log_posterior: FloatArray,
    codes: IntArray,
    weights: FloatArray | None = None,
    bins: int = BINS,
) -> float:
    """Return the expected calibration error: by how much confidence and accuracy differ.

    The confidence of a row is the probability of its likeliest class. Rows are parted into bins of
    equal width by it; within each the mean confidence is compared with the share that is right,
    and the gaps are averaged by the weight of their bins. Chance alone makes it positive,
    the more so the fewer rows there are: compare it between models, not with 0.

    >>> calibration_error(np.log([[0.9, 0.1], [0.9, 0.1]]), np.array([0, 1])).__round__(3)
    0.4
    """
    confidence, right = confidences(log_posterior, codes)
    w = np.ones(len(codes)) if weights is None else weights
    place = bin_of(confidence, bins)
    gap = np.bincount(place, weights=w * (confidence - right), minlength=bins)
    return float(np.abs(gap).sum() / w.sum())


def confidences(log_posterior: FloatArray, codes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the probability of each row's likeliest class, and 1 where that is its own."""
    likeliest = log_posterior.argmax(axis=1)
    confidence: FloatArray = np.exp(log_posterior[np.arange(len(codes)), likeliest])
    return np.minimum(confidence, 1.0), (likeliest == codes).astype(np.float64)


def bin_of(probabilities: FloatArray, bins: int) -> IntArray:
    """Return the bin of every probability: the first has its lower end too, the others do not."""
    places: IntArray = np.ceil(probabilities * bins).astype(np.intp) - 1
    return np.clip(places, 0, bins - 1)
