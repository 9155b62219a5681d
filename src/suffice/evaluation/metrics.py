"""How good held-out answers are: accuracy, log-loss, Brier score, calibration; over folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suffice.special_functions import normal_quantile

if TYPE_CHECKING:
    from suffice.evaluation.cross_validation import HeldOut
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.rows import FloatArray, IntArray


CLIP = float(np.finfo(np.float64).eps)
"""Log-loss counts no probability as smaller than this: one row that was ruled out costs 36.

scikit-learn's bound, so that its figures are the same.
"""
BINS = 10
"""Bins of equal width into which calibration parts the probabilities."""


def accuracy(predicted: IntArray, codes: IntArray, weights: FloatArray | None = None) -> float:
    """Return the share of rows whose class was predicted.

    Parameters
    ----------
    predicted : ndarray of int
        The place (n,) of the predicted class.
    codes : ndarray of int
        The place (n,) of the true class.
    weights : ndarray of float or None, default=None
        Weights (n,) of the rows; None counts each once.

    Returns
    -------
    float
        The share of rows that are right.

    See Also
    --------
    log_loss : What certainty that was wrong costs.

    Examples
    --------
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
    """Return the mean of -log p(true class).

    Parameters
    ----------
    log_posterior : ndarray of float
        Log-probabilities (n, k), a column for each class.
    codes : ndarray of int
        The place (n,) of the class of each row among the columns.
    weights : ndarray of float or None, default=None
        Weights (n,) of the rows; None counts each once.
    clip : float, default=CLIP
        The least probability: without it a single row that a model ruled out would make every
        comparison infinite.

    Returns
    -------
    float
        The mean of -log p(true class): 0 is certainty that was right.

    See Also
    --------
    brier : Squared errors of probabilities.
    accuracy : The share of rows that are right.

    Examples
    --------
    >>> round(log_loss(np.log([[0.5, 0.5], [0.9, 0.1]]), np.array([0, 0])), 4)
    0.3993
    """
    return float(np.average(log_losses(log_posterior, codes, clip), weights=weights))


def brier(log_posterior: FloatArray, codes: IntArray, weights: FloatArray | None = None) -> float:
    """Return the mean of Σ (p - indicator)²; with two classes half of it, as is usual.

    Parameters
    ----------
    log_posterior : ndarray of float
        Log-probabilities (n, k), a column for each class.
    codes : ndarray of int
        The place (n,) of the class of each row among the columns.
    weights : ndarray of float or None, default=None
        Weights (n,) of the rows; None counts each once.

    Returns
    -------
    float
        The mean squared error, 0 at best.

    See Also
    --------
    log_loss : What certainty that was wrong costs.

    Examples
    --------
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

    The confidence of a row is the probability of its most likely class. Rows are put into bins of
    equal width by it; within each the mean confidence is compared with the share that is right,
    and the gaps are averaged by the weight of their bins. Chance alone makes it positive, the more
    so the fewer rows there are: compare it between models, not with 0.

    Parameters
    ----------
    log_posterior : ndarray of float
        Log-probabilities (n, k), a column for each class.
    codes : ndarray of int
        The place (n,) of the class of each row among the columns.
    weights : ndarray of float or None, default=None
        Weights (n,) of the rows; None counts each once.
    bins : int, default=BINS
        The number of bins.

    Returns
    -------
    float
        The expected calibration error.

    See Also
    --------
    reliability : The bins themselves.

    Examples
    --------
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


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """One entry for each bin that holds a row.

    Parameters
    ----------
    predicted : ndarray (b,) of float
        The mean probability that was given.
    observed : ndarray (b,) of float
        The share of rows in which it came true.
    low : ndarray (b,) of float
        The lower end of Wilson's interval for that share, at `level`.
    high : ndarray (b,) of float
        The upper end of Wilson's interval for that share, at `level`.
    rows : ndarray (b,) of float
        How many rows there are, each counted with its weight.
    of : str
        Whose probability: that of one class, or of the likeliest one.
    level : float, default=0.95
        The confidence level of the intervals.

    See Also
    --------
    reliability : Makes it.
    """

    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    rows: FloatArray
    of: str
    level: float = 0.95

    @property
    def error(self) -> float:
        """The gaps between predicted and observed, averaged by the rows behind them."""
        gaps = np.abs(self.predicted - self.observed)
        return float(np.average(gaps, weights=self.rows))


def reliability(
    log_posterior: FloatArray,
    codes: IntArray,
    weights: FloatArray | None = None,
    *,
    of: int | None = None,
    bins: int = BINS,
    level: float = 0.95,
) -> Reliability:
    """Return predicted probabilities beside observed shares, in bins of equal width.

    Parameters
    ----------
    log_posterior : ndarray of float
        Log-probabilities (n, k), a column for each class.
    codes : ndarray of int
        The place (n,) of the class of each row among the columns.
    weights : ndarray of float or None, default=None
        Repetitions (n,) of the rows; None counts each once.
    of : int or None, default=None
        The place of the class whose probability is judged; None judges the most likely class of
        each row.
    bins : int, default=BINS
        The number of bins.
    level : float, default=0.95
        The level of the intervals.

    Returns
    -------
    Reliability
        One entry for each bin that holds a row.

    See Also
    --------
    calibration_error : The gaps in one number.
    suffice.plots.draw_reliability : The same as a picture.

    Examples
    --------
    >>> found = reliability(np.log([[0.2, 0.8]] * 4), np.array([1, 1, 1, 0]), of=1)
    >>> found.predicted.round(3), found.observed, found.low.round(3), found.high.round(3)
    (array([0.8]), array([0.75]), array([0.301]), array([0.954]))
    """
    if of is None:
        given, true = confidences(log_posterior, codes)
    else:
        given, true = np.exp(log_posterior[:, of]), (codes == of).astype(np.float64)
    w = np.ones(len(codes)) if weights is None else weights
    place = bin_of(given, bins)
    held = np.bincount(place, weights=w, minlength=bins).astype(np.float64)
    kept = held > 0.0
    rows = held[kept]
    predicted = np.bincount(place, weights=w * given, minlength=bins)[kept] / rows
    observed = np.bincount(place, weights=w * true, minlength=bins)[kept] / rows
    low, high = wilson(observed, rows, level)
    named = "the likeliest class" if of is None else f"class {of}"
    return Reliability(predicted, observed, low, high, rows, named, level)


def wilson(
    share: FloatArray, rows: FloatArray, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's interval for a share: inside [0, 1], and not empty at its ends.

    >>> [end.round(3).tolist() for end in wilson(np.array([0.0]), np.array([10.0]))]
    [[0.0], [0.278]]
    """
    z = float(normal_quantile(0.5 + level / 2.0))
    z2 = z * z / rows
    middle = (share + z2 / 2.0) / (1.0 + z2)
    half = z * np.sqrt((share * (1.0 - share) + z2 / 4.0) / rows) / (1.0 + z2)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class FoldScores:
    """Accuracy, log-loss and Brier score in every fold; calibration error over all rows.

    The calibration error of a few rows is mostly chance. So it is computed once, of all held-out
    rows together, and its standard error by leaving out one fold after the other (jackknife).
    """

    accuracy: FloatArray
    log_loss: FloatArray | None
    brier: FloatArray | None
    calibration: float | None
    calibration_error: float | None
    seconds: float

    @classmethod
    def of(cls, held: HeldOut, rows: LabelledRows, folds: IntArray) -> FoldScores:
        """Judge held-out answers."""
        size = int(folds.max()) + 1
        parts = [np.flatnonzero(folds == f) for f in range(size)]
        w = rows.weights

        def own(places: IntArray) -> FloatArray | None:
            return None if w is None else w[places]

        right = [accuracy(held.predicted[p], rows.codes[p], own(p)) for p in parts]
        found = held.log_posterior
        if found is None:
            return cls(np.array(right), None, None, None, None, held.seconds)
        losses = [log_loss(found[p], rows.codes[p], own(p)) for p in parts]
        briers = [brier(found[p], rows.codes[p], own(p)) for p in parts]
        others = [np.flatnonzero(folds != f) for f in range(size)]
        left = np.array([calibration_error(found[p], rows.codes[p], own(p)) for p in others])
        spread = float(np.sqrt((size - 1.0) / size * np.square(left - left.mean()).sum()))
        whole = calibration_error(found, rows.codes, w)
        return cls(np.array(right), np.array(losses), np.array(briers), whole, spread, held.seconds)

    def cells(self) -> tuple[float | None, ...]:
        """Return means and standard errors by turns, then the seconds."""
        found: list[float | None] = []
        for values in (self.accuracy, self.log_loss, self.brier):
            found += [None, None] if values is None else [float(values.mean()), _error(values)]
        return (*found, self.calibration, self.calibration_error, self.seconds)


def _error(values: FloatArray) -> float:
    """Return the standard error of a mean over folds."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))
