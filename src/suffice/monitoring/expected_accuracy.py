"""How often a model will be right about rows without labels, by kept rows that were left out.

Nothing about labels follows from cells alone: either p(y | x) is taken to have stayed, or p(x | y).
Under the first, how often kept rows of this probability are classified rightly says it; under the
second, how often those of each class are, and which shares explain the new rows' posteriors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.monitoring.p_values import of_counts, of_two_means
from suffice.monitoring.watch_result import Interval

if TYPE_CHECKING:
    from suffice.monitoring.kept_cells import LeftOut
    from suffice.rows import FloatArray, IntArray

RARE = 20.0
"""Expected rows of a class below which means of posteriors are too skewed to be compared as normal
ones. A choice."""
PRIOR = 4.0
"""Kept rows, half of them right, that are added to those that are there: where all are right, some
errors are still possible (Agresti and Coull)."""
CHANGE = 1.0
"""Standard deviation of the logarithm by which the share of a class changes where nothing tells it:
to a third or to three times in one of three classes."""
DRAWS = 60
"""Draws of kept rows, new means and shares from which the spread follows: its error is a tenth."""
FEWEST_DRAWS, LONG = 16, 3_000
"""The same for many classes: LONG / classes, since each draw takes the cube of their number."""
RESOLVED = 1e-3
"""Error of mean posteriors below which nothing is gained: an equation is never surer than that."""
MOST_LOOKED_AT = 50_000
"""New rows whose posteriors are looked at, from all over them: they miss others by a fifth of a
percent, which the interval counts."""
TOGETHER = 1e3
"""How surely shares add up to 1, beside equations in units of their errors."""


def share_tests(judged: LeftOut, posterior: FloatArray) -> FloatArray:
    """Return for each class the p-value of its share being that of the kept rows (k,).

    Estimated shares cannot be compared with those of the training labels: a model that does not fit
    puts them wrong before anything has moved. Kept rows that were left out are judged as wrongly as
    new ones: their mean posteriors are compared, and of rare classes how often they are the
    likeliest, by an exact test.
    """
    kept, _, weights = judged
    size, rows = kept.shape[1], float(weights.sum())
    named = np.round([
        np.bincount(some.argmax(axis=1), held, minlength=size)
        for some, held in ((kept, weights), (posterior, np.ones(len(posterior))))
    ])  # fmt: skip
    found = np.ones(size)
    then, now = weights @ kept / rows, posterior.mean(axis=0)
    free = np.maximum([rows - 1.0, len(posterior) - 1.0], 1.0)
    for c in range(size):
        if min(then[c] * rows, posterior[:, c].sum()) >= RARE:
            squares = weights @ np.square(kept[:, c] - then[c]), np.square(posterior[:, c] - now[c])
            spreads = np.array([float(squares[0]), float(squares[1].sum())]) / free
            found[c] = of_two_means(np.array([then[c], now[c]]), spreads, free + 1.0)
        else:
            found[c] = of_counts(np.array([[each[c], each.sum() - each[c]] for each in named]))
    return found


def expected_accuracy(judged: LeftOut, posterior: FloatArray) -> Interval:
    """Return how many of the new rows the model will be right about, with a 95 % interval.

    The estimate takes p(y | x) to have stayed. The interval also holds what follows if p(x | y) has
    stayed instead: shifts of shares are hardly seen where a model tells classes badly apart.
    """
    posterior = posterior[:: -(-len(posterior) // MOST_LOOKED_AT)]
    middle, half = by_probability(judged, posterior)
    low, high = middle - half, middle + half
    if posterior.shape[1] > 1:  # few shifts of shares can be ruled out by new rows
        other, far = by_class_shares(judged, posterior)
        low, high = min(low, other - far), max(high, other + far)
    return Interval(*(min(max(value, 0.0), 1.0) for value in (middle, low, high)))


def by_probability(judged: LeftOut, posterior: FloatArray) -> tuple[float, float]:
    """Return the accuracy if p(y | x) has stayed, and half the width of its interval.

    Kept rows tell by how much the largest probability promises too much: on average, by how large
    it is, and for each class that is predicted; the rest of that is taken at the new rows' means.
    """
    kept, codes, weights = judged
    sure, rows = kept.max(axis=1), float(weights.sum())
    right = (kept.argmax(axis=1) == codes).astype(np.float64)
    gaps = right - sure
    usual = (weights @ right + PRIOR / 2.0) / (rows + PRIOR)
    spread = float(weights @ np.square(gaps - weights @ gaps / rows)) / rows
    spread = max(spread, usual * (1.0 - usual))
    design, asked = _about(kept), _about(posterior)
    centre = weights @ design / rows
    design, asked = design - centre, asked - centre
    # Effects have the prior N(0, spread); the mean gap is as free as it is known.
    inner = design.T @ (weights[:, np.newaxis] * design) + np.eye(design.shape[1])
    effects = np.linalg.solve(inner, design.T @ (weights * gaps))
    mean_gap = float(weights @ gaps) / rows
    place = asked.mean(axis=0)
    middle = float(posterior.max(axis=1).mean()) + mean_gap + float(place @ effects)
    known = spread * (1.0 / rows + float(place @ np.linalg.solve(inner, place)))
    chances = np.clip(posterior.max(axis=1) + mean_gap + asked @ effects, 0.02, 0.98)
    drawn = float((chances * (1.0 - chances)).mean()) / len(posterior)
    return middle, 1.96 * float(np.sqrt(known + drawn))


def _about(posterior: FloatArray) -> FloatArray:
    """Return what may tell how wrong the largest probability is (n, 2k + 3)."""
    size = posterior.shape[1]
    sure = np.clip((posterior.max(axis=1) - 1.0 / size) / max(1.0 - 1.0 / size, 1e-12), 0.0, 1.0)
    named = _named(posterior)
    beside = np.column_stack([sure, np.square(sure), np.sqrt(sure)])
    return np.hstack([beside, named, named * sure[:, np.newaxis]])


def _named(posterior: FloatArray) -> FloatArray:
    """Return which class is the likeliest, as zeros and ones (n, k)."""
    found: FloatArray = np.eye(posterior.shape[1])[posterior.argmax(axis=1)]
    return found


def by_class_shares(judged: LeftOut, posterior: FloatArray) -> tuple[float, float]:
    """Return the accuracy if p(x | y) has stayed, and half the width of its interval.

    Shares π solve mean of new posteriors = Σ π_c mean of kept ones of class c, in units of errors,
    near those of training. Everything is drawn again for the spread: kept rows by Bayes' bootstrap,
    the new means, where shares are put if nothing tells them, and how often each class is right.
    """
    kept, codes, weights = judged
    size, rows = kept.shape[1], float(weights.sum())
    rng = np.random.default_rng(0)
    old, new = (np.hstack([some, _named(some)]) for some in (kept, posterior))
    errors = np.atleast_2d(np.cov(new.T, ddof=0)) / len(new)
    noise = np.cov(old.T, ddof=0, aweights=weights) / rows + errors
    noise[np.diag_indices_from(noise)] += RESOLVED**2
    units = np.linalg.cholesky(np.linalg.inv(noise)).T
    root = np.linalg.cholesky(errors + 1e-12 * np.eye(len(errors)))
    count = np.bincount(codes, weights, minlength=size)
    right = np.bincount(codes, weights * (kept.argmax(axis=1) == codes), minlength=size)
    pooled = (right.sum() + 1.0) / (rows + 2.0)
    shares = (count + 0.5) / (count + 0.5).sum()
    means = new.mean(axis=0)
    found = _shares(units, old, codes, weights, means, shares)
    middle = float(found @ ((right + pooled) / (count + 1.0)))
    drawn = []
    for _ in range(max(FEWEST_DRAWS, min(DRAWS, LONG // size))):
        centre = shares * np.exp(CHANGE * rng.normal(size=size))
        again = rng.standard_gamma(weights)
        at = means + root @ rng.normal(size=len(means))
        some = _shares(units, old, codes, again, at, centre / centre.sum())
        drawn.append(some @ rng.beta(right + pooled, count - right + 1.0 - pooled))
    spread = float(np.var(drawn)) + middle * (1.0 - middle) / len(posterior)
    return float(np.mean(drawn)), 1.96 * float(np.sqrt(spread))


def _shares(
    units: FloatArray,
    old: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    means: FloatArray,
    centre: FloatArray,
) -> FloatArray:
    """Return the shares (k,) that explain new means best, and are near the centre."""
    from scipy.optimize import nnls  # for models that keep rows: it takes a while to import

    size = len(centre)
    held = np.maximum(np.bincount(codes, weights, minlength=size), 1e-300)
    by_class = np.zeros((size, old.shape[1]))
    np.add.at(by_class, codes, weights[:, np.newaxis] * old)
    near = 1.0 / (CHANGE * np.maximum(centre, RESOLVED))
    left = np.vstack([
        units @ (by_class / held[:, np.newaxis]).T, np.diag(near), np.full((1, size), TOGETHER)
    ])  # fmt: skip
    right = np.concatenate([units @ means, near * centre, [TOGETHER]])
    found = nnls(left, right, maxiter=100 * size)[0]
    return np.asarray(found / max(found.sum(), 1e-300))
