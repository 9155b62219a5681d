"""Averages instead of choices: over temperatures and over grids of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

LOG_TEMPERATURES = np.linspace(-4.0, 0.2, 22)
"""log β: exponents on a likelihood, from .02 to 1.2. Columns that repeat each other call for less
than 1; a little more than 1 is allowed, for rows that are all told apart would drive it up for
ever."""
TEMPERATURE_PENALTY = 0.5 * np.square(LOG_TEMPERATURES)
"""What is known beforehand: log β is 0, give or take 1."""
LEAST = 1e-12
"""The least judged probability: one row that was thought impossible must not decide alone."""
NEGLIGIBLE = 1e-4
"""Shares of an average below this are left out of it: they move no probability by more."""
LEFT_OUT = 0.01
"""The share of an average that answers may leave out, its smallest parts: no probability moves by
more, and grids have many such parts."""


def log_softmax(scores: FloatArray) -> FloatArray:
    """Return log probabilities over the last axis."""
    away = scores - _over_last(np.maximum, scores)
    found: FloatArray = away - np.log(_over_last(np.add, np.exp(away)))
    return found


FEW_CLASSES = 8
"""Classes up to which NumPy adds them one after the other: column by column is the same sum, and
quicker than a reduction for each row."""


def _over_last(operation: np.ufunc, values: FloatArray) -> FloatArray:
    """Return what an operation makes of the last axis, which stays with length 1."""
    if 0 < values.shape[-1] < FEW_CLASSES:
        found = values[..., :1]
        for c in range(1, values.shape[-1]):
            found = operation(found, values[..., c : c + 1])
        return found
    return np.asarray(operation.reduce(values, axis=-1, keepdims=True))


def softmax(scores: FloatArray) -> FloatArray:
    """Return probabilities over the last axis; of two classes by one exponential a row."""
    if scores.shape[-1] == 2:
        found = np.empty_like(scores)
        with np.errstate(over="ignore"):
            found[..., 0] = 1.0 / (1.0 + np.exp(scores[..., 1] - scores[..., 0]))
        found[..., 1] = 1.0 - found[..., 0]
        return found
    raised: FloatArray = np.exp(scores - scores.max(axis=-1, keepdims=True))
    raised /= raised.sum(axis=-1, keepdims=True)
    return raised


def most_of(shares: FloatArray) -> FloatArray:
    """Return shares without the smallest, which together have less than LEFT_OUT; they sum to one.

    >>> most_of(np.array([0.7, 0.294, 0.002, 0.004])).round(3).tolist()
    [0.704, 0.296, 0.0, 0.0]
    """
    order = np.argsort(shares, kind="stable")
    small = order[np.cumsum(shares[order]) < LEFT_OUT * shares.sum()]
    found = shares.copy()
    found[small] = 0.0
    found /= found.sum()
    return found


def shares_of(losses: FloatArray) -> FloatArray:
    """Return exp(-loss), scaled to sum to one: losses are sums over rows, not means."""
    raised = np.exp(losses.min() - losses)
    found: FloatArray = raised / raised.sum()
    return found


def _by_fold(losses: FloatArray, folds: IntArray, count: int) -> FloatArray:
    """Return the sums of losses (G, n) within each fold: (count, G)."""
    held = np.zeros((len(folds), count))
    held[np.arange(len(folds)), folds] = 1.0
    found: FloatArray = (losses @ held).T
    return found


def cross_fitted(
    log_posteriors: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    folds: IntArray,
    penalty: FloatArray | float = 0.0,
    without: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Average a grid of judged posteriors with weights exp(-Σ loss).

    Parameters
    ----------
    log_posteriors : (G, n, k)
        What each setting says about each row, having seen other rows only.
    codes, weights, folds : (n,)
        Classes, weights and folds of the rows.
    penalty : (G,)
        What a setting costs beforehand.
    without : (folds, G)
        Losses over the rows of all other folds, by models that have not seen the fold either. None:
        those of models that have, which lets a fold judge a little in its own cause.

    Returns
    -------
    shares : (G,)
        The weight of each setting, by all rows.
    judged : (n, k)
        The averages, in which a row's fold has no part in the weights: else choosing among many
        settings on few rows would look better than it is (by .05 at 50 rows).
    """
    count = int(folds.max()) + 1
    rows = np.arange(len(codes))
    losses = -weights * log_posteriors[:, rows, codes]
    sums = _by_fold(losses, folds, count)
    total = sums.sum(axis=0) + penalty
    shares = shares_of(total)
    judged = np.empty(log_posteriors.shape[1:])
    for fold in range(count):
        held = folds == fold
        others = shares_of(total - sums[fold] if without is None else without[fold] + penalty)
        used = others > NEGLIGIBLE
        part = np.exp(log_posteriors[used][:, held])
        judged[held] = np.tensordot(others[used], part, axes=1) / others[used].sum()
    return shares, judged


def tempered(
    log_densities: FloatArray,
    log_priors: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    folds: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Average log π + β log p over settings (G, n, k) and temperatures β; β is never on the prior.

    Returns the shares (G·B,) of pairs, and the judged averages (n, k).
    """
    betas = np.exp(LOG_TEMPERATURES)
    scores = log_priors + betas[None, :, None, None] * log_densities[:, None]
    grid = log_softmax(scores).reshape(-1, *log_densities.shape[1:])
    penalty = np.tile(TEMPERATURE_PENALTY, len(log_densities))
    return cross_fitted(grid, codes, weights, folds, penalty)


def at_temperatures(
    shares: FloatArray, log_densities: FloatArray, log_priors: FloatArray
) -> FloatArray:
    """Return the averages (n, k) of new rows with shares (G·B,) that `tempered` found."""
    betas = np.exp(LOG_TEMPERATURES)
    by_setting = most_of(shares).reshape(len(log_densities), len(betas))
    found = np.zeros(log_densities.shape[1:])
    for setting, beta in zip(*np.nonzero(by_setting), strict=True):
        scores = log_priors + betas[beta] * log_densities[setting]
        found += by_setting[setting, beta] * softmax(scores)
    return found
