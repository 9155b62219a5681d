"""The family of every column by held-out conditional log-loss: densities and masses side by side.

A density and a mass cannot be compared by likelihood, but what each says about the class can:
for every candidate, log p(y | x_j) of rows that its statistics have not seen. That takes rows and
not only statistics, so it takes two readings: one that summarizes every candidate by fold, and one
that judges each fold by the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.linear_algebra import normalized
from suffice.models.naive_bayes.column_blocks import numbers
from suffice.models.naive_bayes.families.binned import Binned
from suffice.models.naive_bayes.families.categorical import Categorical
from suffice.models.naive_bayes.families.gaussian import GaussianColumns
from suffice.models.naive_bayes.families.lognormal import LogNormal
from suffice.models.naive_bayes.families.poisson import Poisson
from suffice.models.naive_bayes.families.same_in_all_classes import Common
from suffice.models.naive_bayes.families_by_looks import (
    family_like,
    has_cells,
    has_few_values,
    holds_counts,
    is_positive,
)
from suffice.models.naive_bayes.registered_families import FAMILIES
from suffice.rows.category_codes import coded_columns
from suffice.rows.cells import NUMBER
from suffice.rows.row_hashes import content_hashes, joined_hashes, label_hashes
from suffice.statistics.algebra import leave_one_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.models.naive_bayes.families.protocol import ColumnFamily
    from suffice.rows import FloatArray, IntArray, Label, Table

FOLDS = 5
"""Parts of the rows, each judged by the statistics of the others. A choice, the usual one: five
leave 80 % of the rows to learn from."""
IMPOSSIBLE = 1e-10
"""What stands for a probability of zero, where nothing is smoothed. A choice."""
MOST_VALUES = 50
"""Whole numbers with more values than this are no categories. A choice."""
SWEEP_CELLS = 60_000_000
"""Scores of all candidates that may be held for the sweeps over the whole model (480 MB)."""
SWEEPS = 3
"""Times that every column's family is chosen anew, given the others', at most: it ends when a sweep
changes nothing. A choice."""
MOST_ROWS = 20_000
"""Rows by which families are compared; of more, those with the smallest hashes."""
LEAST_LOG = 745.0
"""What a certain error costs at most: the logarithm of the smallest double."""
CHANCE = 1.0
"""Standard errors by which a family has to be better than the one before: the rule of one standard
error (Breiman, Friedman, Olshen and Stone 1984)."""


def candidates(
    table: Table, column: int, codes: IntArray, weights: FloatArray | None
) -> tuple[ColumnFamily, ...]:
    """Return the families that a column could have, the one it looks like first.

    The last is always that the column has one law for all classes, and so says nothing.
    """
    first = family_like(table, column, codes, weights)
    if first.cells_are_texts:
        return (first,)
    if table.kinds[column] != NUMBER:
        return first, Common(first)
    cells = table.column(column)
    if table.exact(column) is not cells and isinstance(first, Categorical):
        return first, Common(first)  # as doubles they would be others
    found: list[ColumnFamily] = [first, GaussianColumns(), GaussianColumns("shared")]
    if np.isinf(cells).any() or not has_cells(cells):
        return (GaussianColumns(),)
    if is_positive(cells):
        found += [LogNormal(), LogNormal("shared")]
    if holds_counts(table, column):
        found.append(Poisson())
        if has_few_values(table.exact(column), MOST_VALUES):
            found.append(Categorical())
    found += [family for family in FAMILIES.values() if family.suits(cells)]
    found += [Binned(bins).cut(cells, weights) for bins in (4, 8, 16)]
    return (*dict.fromkeys(found), Common(first))


def select_families(
    table: Table,
    codes: IntArray,
    labels: Sequence[Label],
    weights: FloatArray | None,
    asked: Sequence[Sequence[ColumnFamily]],
    alpha: float,
) -> list[ColumnFamily]:
    """Return the best of the families asked for, column by column, then all together.

    The first family of each column is where it starts. First each column is judged by itself,
    then come sweeps: each column in turn takes the family with which the whole model predicts
    best, as long as any gains. A family is left for another only if that predicts better by
    more than chance: by a standard error of the difference. Sweeps are left out where the
    scores of all candidates would not fit into memory.
    """
    size = len(labels)
    hashes = _hashes(table, codes, labels)
    w = np.ones(len(codes)) if weights is None else weights
    chosen = np.arange(len(codes))
    if len(codes) > MOST_ROWS:
        chosen = np.sort(np.argsort(hashes, kind="stable")[:MOST_ROWS])
    shares = _fold_weights(hashes[chosen], w[chosen])
    places, folds = np.nonzero(shares)
    table, codes, w = table.rows(chosen[places]), codes[chosen[places]], shares[places, folds]
    priors = _training_priors(folds, codes, size, w)
    # A class that only its own fold has shown cannot be predicted, by whatever family.
    judged = np.where(np.isneginf(priors[np.arange(len(codes)), codes]), 0.0, w)
    if not judged.any():
        return [families[0] for families in asked]
    cells = len(codes) * size * sum(len(families) for families in asked if len(families) > 1)
    sweep = cells <= SWEEP_CELLS
    best: list[int] = []
    kept: list[list[FloatArray]] = []
    total = priors.copy()
    for j, families in enumerate(asked):
        if len(families) == 1 and not sweep:
            best.append(0)
            continue
        scores = [_held_out(table, j, f, codes, size, w, folds, alpha) for f in families]
        losses = [_losses(s + priors, codes) for s in scores]
        best.append(_better(losses, 0, judged))
        kept.append(scores if sweep else [])
    if sweep:
        best = _start(best, asked, kept, priors, codes, judged)
        total = priors + sum(scores[place] for scores, place in zip(kept, best, strict=True))
    for _ in range(SWEEPS if sweep else 0):
        before = list(best)
        for j, scores in enumerate(kept):
            if len(scores) > 1:
                rest = total - scores[best[j]]
                best[j] = _better([_losses(rest + s, codes) for s in scores], best[j], judged)
                total = rest + scores[best[j]]
        if best == before:
            break
    return [families[place] for families, place in zip(asked, best, strict=True)]


def _start(
    best: list[int],
    asked: Sequence[Sequence[ColumnFamily]],
    scores: list[list[FloatArray]],
    priors: FloatArray,
    codes: IntArray,
    weights: FloatArray,
) -> list[int]:
    """Return where the sweeps start: what columns look like, or one family wherever it can be.

    Many small gains, none beyond chance by itself, show when all columns take them together.
    """
    options = [[0] * len(asked), best]
    options += [
        [families.index(family) if family in families else 0 for families in asked]
        for family in dict.fromkeys(f for families in asked for f in families)
        if not isinstance(family, (Binned, Common))
    ]
    losses = []
    for places in options:
        joint = priors + sum(held[place] for held, place in zip(scores, places, strict=True))
        losses.append(_losses(joint, codes))
    return options[_better(losses, 0, weights)]


def _better(losses: list[FloatArray], held: int, weights: FloatArray) -> int:
    """Return the candidate of the lowest loss, if it beats the one held by more than chance."""
    means = [float(np.average(loss, weights=weights)) for loss in losses]
    place = int(np.argmin(means))
    gain = losses[held] - losses[place]
    mean = float(np.average(gain, weights=weights))
    error = np.sqrt(np.average(np.square(gain - mean), weights=weights) / weights.sum())
    rounding = 1e-9 * max(1.0, abs(means[held]))
    return place if mean > max(CHANCE * error, rounding) else held


def _losses(joint: FloatArray, codes: IntArray) -> FloatArray:
    """Return -log p(y | x) of every row."""
    found = normalized(joint)[np.arange(len(codes)), codes]
    return -np.maximum(found, -LEAST_LOG)


def _held_out(
    table: Table,
    column: int,
    family: ColumnFamily,
    codes: IntArray,
    size: int,
    weights: FloatArray | None,
    folds: IntArray,
    alpha: float,
) -> FloatArray:
    """Return log p(x_j | c) of every row under the statistics of the other folds."""
    block = family.read(table, [column])
    parts = family.summarize(block, folds * size + codes, FOLDS * size, weights)
    by_class = [leave_one_out([parts[f * size + c] for f in range(FOLDS)]) for c in range(size)]
    out = np.zeros((len(codes), size))
    for f in range(FOLDS):
        rows = np.flatnonzero(folds == f)
        groups = [by_class[c][f] for c in range(size)]
        there = [c for c in range(size) if groups[c].weight > 0.0]
        if not len(rows) or not there:
            continue
        laws, _ = family.estimate([groups[c] for c in there], alpha)
        scores = laws.scores(block[rows])
        logs = scores.logs
        if scores.orders is not None:
            logs = logs + np.log(IMPOSSIBLE) * scores.orders
        out[rows[:, np.newaxis], np.array(there)] = logs
    return out


def _hashes(table: Table, codes: IntArray, labels: Sequence[Label]) -> NDArray[np.uint64]:
    """Return a hash of what each row says: a sample by it does not depend on order."""
    text = [j for j in range(table.width) if table.kinds[j] != NUMBER]
    other = [j for j in range(table.width) if table.kinds[j] == NUMBER]
    parts: list[NDArray[np.uint64]] = [label_hashes(labels)[codes]]
    if other:
        parts.append(content_hashes(numbers(table, other), other))
    if text:
        parts.append(content_hashes(coded_columns(table, text), text))
    return joined_hashes(parts)


def _fold_weights(hashes: NDArray[np.uint64], weights: FloatArray) -> FloatArray:
    """Return how much of each row belongs to each fold, (n, folds).

    The fold of a row is a hash of what it says. Of rows that say the same, one after the other
    goes into the next fold, and a weight of 2 is two such rows: so equal rows vouch for each
    other, and weights count repetitions.
    """
    order = np.argsort(hashes, kind="stable")
    held = weights[order]
    ends = np.cumsum(held)
    starts = ends - held
    first = np.concatenate([[True], hashes[order][1:] != hashes[order][:-1]])
    starts = starts - np.maximum.accumulate(np.where(first, starts, 0.0))
    out = np.empty((len(weights), FOLDS))
    own = (hashes[order] % np.uint64(FOLDS)).astype(np.intp)

    def below(end: FloatArray, turn: int) -> FloatArray:
        """Return how much of [0, end) lies in intervals [m, m + 1) with m = turn modulo FOLDS."""
        rounds = np.floor(end / FOLDS)
        found: FloatArray = rounds + np.clip(end - rounds * FOLDS - turn, 0.0, 1.0)
        return found

    for turn in range(FOLDS):
        share = below(starts + held, turn) - below(starts, turn)
        out[order, (own + turn) % FOLDS] = share
    return np.where(out > 1e-9, out, 0.0)


def _training_priors(
    folds: IntArray, codes: IntArray, size: int, weights: FloatArray
) -> FloatArray:
    """Return the log priors of the other folds, for every row."""
    held = np.bincount(folds * size + codes, weights, minlength=FOLDS * size).reshape(FOLDS, size)
    rest = held.sum(axis=0) - held
    with np.errstate(divide="ignore", invalid="ignore"):
        priors = np.log(rest / np.maximum(rest.sum(axis=1, keepdims=True), 1e-300))
    found: FloatArray = priors[folds]
    return found
