"""The family of every column by held-out conditional log-loss: densities and masses side by side.

A density and a mass cannot be compared by likelihood, but what each says about the class can:
for every candidate, log p(y | x_j) of rows that its statistics have not seen. That takes rows and
not only statistics, so it takes two readings: one that summarizes every candidate by fold, and one
that judges each fold by the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.families.bernoulli import Bernoulli
from suffice.families.binned import Binned
from suffice.families.categorical import Categorical
from suffice.families.gaussian_columns import GaussianColumns, LogNormal
from suffice.families.poisson import Poisson
from suffice.linear_algebra import normalized
from suffice.models.column_types import are_counts, has_cells, has_few_values, is_positive
from suffice.rows.cells import BOOLEAN, CATEGORY
from suffice.rows.content import content_hashes, joined_hashes, label_hashes
from suffice.rows.levels import coded_columns
from suffice.statistics.algebra import leave_one_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suffice.families.laws import ColumnFamily
    from suffice.rows import FloatArray, IntArray, Label, Table

FOLDS = 5
MOST_VALUES = 50
"""Whole numbers with more values than this are no categories."""
SWEEP_CELLS = 60_000_000
"""Scores of all candidates that may be held for the sweeps over the whole model."""
SWEEPS = 3


def candidates(table: Table, column: int, weights: FloatArray | None) -> tuple[ColumnFamily, ...]:
    """Return the families that a column could have."""
    kind = table.kinds[column]
    if kind == BOOLEAN:
        return (Bernoulli(),)
    if kind == CATEGORY:
        return (Categorical(),)
    cells = table.column(column)
    if not has_cells(cells):
        return (GaussianColumns(),)
    found: list[ColumnFamily] = [GaussianColumns(), GaussianColumns("shared")]
    if np.isinf(cells).any():
        return tuple(found)
    if is_positive(cells):
        found += [LogNormal(), LogNormal("shared")]
    if are_counts(cells):
        found.append(Poisson())
        if has_few_values(cells, MOST_VALUES):
            found.append(Categorical())
    found += [Binned(bins).cut(cells, weights) for bins in (4, 8, 16)]
    return tuple(dict.fromkeys(found))


def select_families(
    table: Table,
    codes: IntArray,
    labels: Sequence[Label],
    weights: FloatArray | None,
    asked: Sequence[Sequence[ColumnFamily]],
    alpha: float,
) -> list[ColumnFamily]:
    """Return the best of the families asked for, column by column, then all together.

    First each column by itself, then sweeps: each column in turn takes the family with which
    the whole model predicts best, as long as any gains. Sweeps are left out where the scores of
    all candidates would not fit into memory.
    """
    size = len(labels)
    folds = _folds(table, codes, labels)
    w = np.ones(len(codes)) if weights is None else weights
    priors = _training_priors(folds, codes, size, w)
    losses: list[list[float]] = []
    kept: list[list[FloatArray]] = []
    cells = len(codes) * size * sum(len(families) for families in asked if len(families) > 1)
    sweep = cells <= SWEEP_CELLS
    base = np.zeros((len(codes), size))
    for j, families in enumerate(asked):
        if len(families) == 1 and not sweep:
            losses.append([0.0])
            continue
        scores = [_held_out(table, j, f, codes, size, weights, folds, alpha) for f in families]
        losses.append([_loss(s + priors, codes, w) for s in scores])
        if sweep:
            if len(families) == 1:
                base += scores[0]
            kept.append(scores if len(families) > 1 else [])
    best = [int(np.argmin(column)) for column in losses]
    if sweep:
        best = _swept(best, kept, base + priors, codes, w)
    return [families[place] for families, place in zip(asked, best, strict=True)]


def _swept(
    best: list[int],
    scores: list[list[FloatArray]],
    base: FloatArray,
    codes: IntArray,
    weights: FloatArray,
) -> list[int]:
    total = base.copy()
    for held, place in zip(scores, best, strict=True):
        if held:
            total += held[place]
    lowest = _loss(total, codes, weights)
    for _ in range(SWEEPS):
        before = lowest
        for j, held in enumerate(scores):
            if not held:
                continue
            rest = total - held[best[j]]
            found = [_loss(rest + s, codes, weights) for s in held]
            place = int(np.argmin(found))
            if found[place] < lowest:
                best[j], lowest = place, found[place]
            total = rest + held[best[j]]
        if not lowest < before * (1.0 - 1e-6):
            break
    return best


def _loss(joint: FloatArray, codes: IntArray, weights: FloatArray) -> float:
    found = normalized(joint)[np.arange(len(codes)), codes]
    # A class that only its own fold has shown is nobody's fault.
    return float(np.average(-np.maximum(found, -745.0), weights=weights))


def _held_out(
    table: Table,
    column: int,
    family: Any,
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
            logs = logs + np.log(1e-10) * scores.orders
        out[rows[:, np.newaxis], np.array(there)] = logs
    return out


def _folds(table: Table, codes: IntArray, labels: Sequence[Label]) -> IntArray:
    """Return the fold of each row: a hash of what it says."""
    text = [j for j in range(table.width) if table.kinds[j] != "number"]
    other = [j for j in range(table.width) if table.kinds[j] == "number"]
    parts: list[NDArray[np.uint64]] = [label_hashes(labels)[codes]]
    if other:
        cells = np.column_stack([table.column(j) for j in other])
        parts.append(content_hashes(cells, other))
    if text:
        parts.append(content_hashes(coded_columns(table, text), text))
    return (joined_hashes(parts) % np.uint64(FOLDS)).astype(np.intp)


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
