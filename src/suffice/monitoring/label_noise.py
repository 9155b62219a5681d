"""How many labels are wrong, and which: left-out probabilities and the labels that were given.

A label y of a row with true class c was written down with probability Q[c, y]. Rows say what their
class is by P(c | x), left out and calibrated, which wrong labels have blurred: g ∝ P^b, b ≥ 1,
undoes that. Two models: one rate of error for all, and a Q of its own for every pair of classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray

SHARPER = (1.0, 1.6, 2.5, 4.0, 6.0)
"""Exponents that undo the blur of wrong labels."""
LEAST = 1e-7
"""No row is surer than this of any class: models are not."""
TOGETHER = 32
"""Probabilities that are multiplied before their logarithm is taken: 32 of LEAST are 1e-224."""
RATES = np.concatenate([[0.0], np.geomspace(1e-4, 0.02, 24), np.linspace(0.025, 0.7, 109)])
"""Rates of error that are tried: fine near zero, where most tables are."""
MOST_WRONG = 0.9
"""The share of the rate of mere chance, (k - 1)/k, that a rate of error may reach."""
HALF_WIDTH = 1.92
"""Half of the 95 % point of χ² with one degree of freedom: how far a profile may fall."""
STEPS = 30
"""Steps of EM for Q: it changes by less than a thousandth after about twenty."""
SETTLED = 1e-4
"""How little Q may change for EM to end."""
DRAWS = 40
"""Bootstrap draws of rows for the interval of Q: percentiles of 2.5 and 97.5 are its ends."""
MOST_DRAWN = 5_000
"""Rows of a bootstrap draw: of more, the spread is scaled."""
BINS = 1_000
"""Groups of rows of nearly the same odds: a rate is then known to a thousandth of itself."""
IDENTIFIED = 0.9
"""Expected accuracy below which classes overlap so much that noise looks like overlap."""


class WrongLabels(NamedTuple):
    """How many labels are wrong: an estimate and a 95 % interval, in rows."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class NoiseFit:
    """What is known about wrong labels.

    wrong        how many
    chance       (n,) of each label to be wrong
    true         (n, k): the probability of every class, given the row and its label
    identified   whether classes are apart enough to tell noise from overlap
    """

    wrong: WrongLabels
    chance: FloatArray
    true: FloatArray
    identified: bool


def label_noise(posterior: FloatArray, codes: IntArray) -> NoiseFit:
    """Return which labels are probably wrong, from left-out posteriors (n, k) and labels (n,).

    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 400)
    >>> sure = np.where(truth[:, None] == [0, 1], 0.98, 0.02)
    >>> given = np.where(np.arange(400) < 40, 1 - truth, truth)
    >>> found = label_noise(sure, given)
    >>> found.wrong.low < 40 < found.wrong.high, set(np.argsort(-found.chance)[:40] < 40)
    (True, {np.True_})
    """
    n, k = posterior.shape
    at = np.arange(n)
    sharp = [_sharpened(posterior, b) for b in SHARPER]
    profiles = np.stack([_profile(g[at, codes], k) for g in sharp])
    best, place = np.unravel_index(int(np.argmax(profiles)), profiles.shape)
    rate = float(RATES[place])
    if profiles.max() - profiles[:, 0].max() < HALF_WIDTH:
        rate = 0.0  # that labels are wrong at all has to be seen
    # Half a label, at least: so that rows have an order where none seems wrong.
    one = _one_rate(sharp[int(best)], codes, max(rate, 0.5 / n))
    over = profiles.max(axis=0)
    inside = RATES[over >= over.max() - HALF_WIDTH]
    low, high = float(inside.min()) * n, _edge(over, float(inside.max())) * n
    fits, likelihoods = _confusion(sharp, codes)
    chosen = int(np.argmax(likelihoods))
    confusion, likelihood = fits[chosen], likelihoods[chosen]
    pairs = _given_label(sharp[chosen], codes, confusion)
    free = k * (k - 1)
    # How much either model is believed: BIC, whose penalty is for the numbers that Q has more.
    gain = (likelihood - float(over.max())) - 0.5 * (free - 1) * np.log(n)
    share = 1.0 / (1.0 + np.exp(-np.clip(gain, -50.0, 50.0))) if k > 2 or free > 1 else 0.0
    true = (1.0 - share) * one + share * pairs
    chance = np.clip(1.0 - true[at, codes], 0.0, 1.0)
    spread = _bootstrap(sharp[chosen], codes, confusion)
    low, high = min(low, spread[0]), max(high, spread[1])
    sure = float(sharp[int(best)].max(axis=1).mean())
    identified = sure >= IDENTIFIED
    if not identified:
        low = 0.0
    estimate = float(chance.sum())
    wrong = WrongLabels(estimate, min(low, estimate), max(high, estimate))
    return NoiseFit(wrong, chance, true, identified)


def _sharpened(posterior: FloatArray, b: float) -> FloatArray:
    # Class by class: of few numbers a row, sums along rows take ten times as long.
    logs = b * np.log(np.maximum(np.ascontiguousarray(posterior.T), LEAST))
    logs -= logs.max(axis=0)
    found = np.exp(logs)
    found = np.maximum(found / found.sum(axis=0), LEAST)
    return np.ascontiguousarray((found / found.sum(axis=0)).T)


def _profile(own: FloatArray, k: int) -> FloatArray:
    """Return the log-likelihood of every rate, given the probability of each label (n,)."""
    values, counts = own, np.ones(len(own))
    if len(own) > 4 * BINS:
        # Many rows: those of nearly the same odds are one, with their mean.
        odds = np.log(own) - np.log1p(-np.minimum(own, 1.0 - LEAST))
        odds -= odds.min()
        bins = np.minimum(odds * (BINS / max(float(odds.max()), LEAST)), BINS - 1).astype(np.intp)
        counts = np.bincount(bins, minlength=BINS).astype(np.float64)
        sums = np.bincount(bins, own, minlength=BINS)
        values = np.where(counts > 0.0, sums / np.maximum(counts, 1.0), 0.5)
    other = (1.0 - values) / max(1, k - 1)
    mixed = np.multiply.outer(RATES, other - values) + values
    if len(own) > 4 * BINS:
        found = np.log(np.maximum(mixed, 1e-300)) @ counts
    else:  # the logarithm of a product is one logarithm; none of the factors is below LEAST
        starts = np.arange(0, len(own), TOGETHER)
        found = np.log(np.multiply.reduceat(mixed, starts, axis=1)).sum(axis=1)
    # Labels that are wrong more often than by chance would only be names that were exchanged.
    return np.where(MOST_WRONG * (k - 1) / max(1, k) > RATES, found, -np.inf)


def _edge(over: FloatArray, last: float) -> float:
    """Return the end of an interval: the first rate beyond it, where there is one."""
    place = int(np.searchsorted(RATES, last))
    return float(RATES[min(place + 1, len(RATES) - 1)]) if place + 1 < len(over) else last


def _one_rate(g: FloatArray, codes: IntArray, rate: float) -> FloatArray:
    """Return p(true class | row, label) where every label is wrong at the same rate (n, k)."""
    k = g.shape[1]
    found = g * (rate / max(1, k - 1))
    at = np.arange(len(g))
    found[at, codes] = g[at, codes] * (1.0 - rate)
    total = found.sum(axis=1, keepdims=True)
    return np.asarray(found / np.maximum(total, 1e-300))


def _confusion(sharp: list[FloatArray], codes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return Q of largest likelihood for each of some posteriors, and its log-likelihood.

    Q are (s, k, k), with k/2 rows of a prior on their diagonals, by EM.
    """
    parts = _by_label(np.stack(sharp), codes)
    found = _confusions(parts, np.ones((1, len(codes))))
    likelihoods = np.zeros(len(sharp))
    for y, (_, told) in enumerate(parts):
        mixed = np.maximum(_product(told, found[:, :, y]), 1e-300)
        likelihoods += np.log(mixed).sum(axis=1)
    return found, likelihoods


def _by_label(g: FloatArray, codes: IntArray) -> list[tuple[IntArray, FloatArray]]:
    """Return the places of each label's rows, and what they say (…, n_y, k)."""
    places = [np.flatnonzero(codes == y) for y in range(g.shape[-1])]
    return [(rows, g[..., rows, :]) for rows in places]


def _product(told: FloatArray, shares: FloatArray) -> FloatArray:
    """Return Σ_c told[…, i, c]·shares[b, c] (b, n), of one table or of one for every b."""
    if told.ndim == 2:
        return np.asarray(shares @ told.T)
    return np.asarray((told @ shares[:, :, np.newaxis])[:, :, 0])


def _confusions(
    parts: list[tuple[IntArray, FloatArray]], weights: FloatArray, start: FloatArray | None = None
) -> FloatArray:
    """Return Q (b, k, k) for each of some weights of the rows (b, n), or of some tables (b, n, k).

    Only sums over the rows of a label are needed of what rows are given theirs, which are products.
    """
    k, several = len(parts), parts[0][1].ndim == 3
    b = len(parts[0][1]) if several else len(weights)
    found: FloatArray = np.full((b, k, k), 0.05 / max(1, k - 1))
    found[:, np.arange(k), np.arange(k)] = 0.95
    if start is not None:
        found[:] = start
    held = [weights[:, rows] for rows, _ in parts]
    prior = np.diag(np.full(k, k / 2.0))
    for _ in range(STEPS):
        counts = np.empty((b, k, k))
        for y, ((_, told), w) in enumerate(zip(parts, held, strict=True)):
            share = found[:, :, y]
            given = w / np.maximum(_product(told, share), 1e-300)
            sums = (given[:, np.newaxis] @ told)[:, 0] if several else given @ told
            counts[:, :, y] = share * sums
        counts += prior
        before, found = found, counts / np.maximum(counts.sum(axis=2, keepdims=True), 1e-300)
        if np.abs(found - before).max() < SETTLED:
            break
    return found


def _given_label(g: FloatArray, codes: IntArray, confusion: FloatArray) -> FloatArray:
    found = g * confusion[:, codes].T
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300))


def _wrong(
    parts: list[tuple[IntArray, FloatArray]], weights: FloatArray, start: FloatArray
) -> FloatArray:
    """Return how many labels are wrong under Q (b,), for each of some weights of rows (b, n)."""
    found = _confusions(parts, weights, start)
    right = np.zeros(len(weights))
    for y, (rows, told) in enumerate(parts):
        every = np.maximum(found[:, :, y] @ told.T, 1e-300)
        right += found[:, y, y] * ((weights[:, rows] / every) @ told[:, y])
    return np.asarray(weights.sum(axis=1) - right)


def _bootstrap(g: FloatArray, codes: IntArray, start: FloatArray) -> tuple[float, float]:
    """Return a 95 % interval of the number of wrong labels under Q, by rows drawn again.

    `start` is the Q of all rows, from which that of a draw is not far.
    """
    n = len(g)
    rng = np.random.default_rng(0)
    parts = _by_label(g, codes)
    middle = float(_wrong(parts, np.ones((1, n)), start)[0])
    size = min(n, MOST_DRAWN)
    drawn = [rng.integers(0, n, size) for _ in range(DRAWS)]
    if size == n:
        times = np.stack([np.bincount(rows, minlength=n) + 0.0 for rows in drawn])
        told = _wrong(parts, times, start)
    else:
        one = np.ones((1, size))
        told = np.array([_wrong(_by_label(g[rows], codes[rows]), one, start)[0] for rows in drawn])
    low, high = np.quantile(told / size * n, [0.025, 0.975])
    shrink = np.sqrt(size / n)
    return max(0.0, middle + (low - middle) * shrink), middle + (high - middle) * shrink
