"""How often a model will be right about rows without labels, by kept rows that were left out.

Nothing about labels follows from cells alone: either p(y | x) is taken to have stayed, or p(x | y).
Under the first, how often kept rows of this probability are classified rightly says it; under the
second, what kept rows of each class are named, and which shares explain what new rows are named.
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
CELLS = 2
"""Parts of the rows named as one class, by how sure of it they are."""
UNSEEN = 2.0
"""Rows of a prior on where the rows of a class go, half of it to the right one: a class of which no
row was kept may be told always or never. A choice: 1 gives the same intervals to a hundredth."""
ANY, USUAL = 0.5, 1.0
"""Prior of the shares of classes: half a row of each, and one that is as training rows are. With a
whole row of each and none of the other, intervals were wider by a fifth where nothing has moved."""
CHAINS, STEPS, SETTLING = 4, 300, 3
"""Chains of Gibbs' sampler, their steps, and which share of them is let go (a third): twice as many
draws give the same intervals to a hundredth."""
FEWEST_STEPS, MOST_DRAWN = 30, 10_000_000
"""The same for many classes: so many counts are drawn, which takes half a second to a second; of a
thousand classes one chain does."""
MOST_COUNTED = 2_000
"""New rows that are counted, from all over them: the more there are, the less chains move, and a
share is known to a hundredth."""
EDGE = 0.01
"""The percentile at which an interval ends: from 2.5 to 97.5 held .886 of the batches of any shares
on the tables that it was chosen by, since kept rows are judged by models of one row less."""
MOST_LOOKED_AT = 50_000
"""New rows whose posteriors are looked at, from all over them: they miss others by a fifth of a
percent, which the interval counts."""


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
        least, most = by_class_shares(judged, posterior)
        low, high = min(low, least), max(high, most)
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
    """Return the ends of an interval of the accuracy if p(x | y) has stayed.

    Rows fall into cells: which class they are named as, and whether surely. Where kept rows of a
    class went tells, as far as there are any, where new ones of it go; shares may be any. Which
    class each new row is of, how many of each there are, and where each class goes are drawn in
    turn (Gibbs), with priors of a few rows.
    """
    posterior = posterior[:: -(-len(posterior) // MOST_COUNTED)]
    kept, codes, weights = judged
    size = kept.shape[1]
    rng = np.random.default_rng(0)
    order = np.argsort(kept.max(axis=1))
    half = int(np.searchsorted(np.cumsum(weights[order]), 0.5 * weights.sum()))
    middle = float(kept[order[half]].max())
    known = np.zeros((size, CELLS * size))
    np.add.at(known, (codes, _cells(kept, middle)), weights)
    # Rows that were all their class had are judged by models that do not know it.
    unknown = codes[kept[np.arange(len(codes)), codes] == 0.0]
    known[unknown[known[unknown].sum(axis=1) <= 1.0]] = 0.0
    known += _where_unseen_go(known)
    counts = np.bincount(_cells(posterior, middle), minlength=CELLS * size)
    live = np.flatnonzero(counts)
    counts = counts[live]
    named = live // CELLS
    count = np.bincount(codes, weights, minlength=size)
    prior = ANY + USUAL * count / count.sum()
    each = len(live) * size
    chains = max(1, min(CHAINS, MOST_DRAWN // (FEWEST_STEPS * each)))
    steps = max(FEWEST_STEPS, min(STEPS, MOST_DRAWN // (chains * each)))
    going = np.repeat(known[np.newaxis], chains, axis=0)
    shares = rng.dirichlet(prior, chains)
    right = []
    for step in range(steps):
        goes = rng.standard_gamma(going)
        goes /= goes.sum(axis=2, keepdims=True)
        chances = (goes[:, :, live] * shares[:, :, np.newaxis]).transpose(0, 2, 1) + 1e-300
        drawn = rng.multinomial(counts, chances / chances.sum(axis=2, keepdims=True))
        going = np.repeat(known[np.newaxis], chains, axis=0)
        going[:, :, live] += drawn.transpose(0, 2, 1)
        shares = rng.standard_gamma(prior + drawn.sum(axis=1))
        shares /= shares.sum(axis=1, keepdims=True)
        if step >= steps // SETTLING:
            right.append(drawn[:, np.arange(len(live)), named].sum(axis=1) / counts.sum())
    low, high = np.quantile(np.concatenate(right), [EDGE, 1.0 - EDGE])
    return float(low), float(high)


def _cells(posterior: FloatArray, middle: float) -> IntArray:
    """Return the cell of each row: the class that it is named as, and whether it is sure of it."""
    sure = posterior.max(axis=1) > middle
    return np.asarray(CELLS * posterior.argmax(axis=1) + sure, dtype=np.intp)


def _where_unseen_go(known: FloatArray) -> FloatArray:
    """Return the prior on where rows of each class go, as so many rows (k, cells).

    Half to its own cells and half to those of other classes, as kept rows that are right, or wrong,
    are spread over them.
    """
    size = len(known)
    by_class = known.reshape(size, size, CELLS)
    own = np.eye(size, dtype=bool)
    held = by_class.sum(axis=(0, 2)) + 0.5 * CELLS
    found = np.empty((size, size, CELLS))
    for which, share in ((own, np.eye(size)), (~own, np.where(own, 0.0, held))):
        sure = by_class[which].sum(axis=0) + 1.0 / CELLS
        each = share / np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
        found[which] = (each[:, :, np.newaxis] * (sure / sure.sum()))[which]
    return np.asarray(0.5 * UNSEEN * found.reshape(size, -1))
