"""Whether members of a pool see the rows that they are judged by: refits from nothing must agree.

A member's judged loss is compared with that of brute refits: a fold's rows are taken away before
anything is looked at, means, ranks, levels and settings included, and the member learns anew.
By 21 tables and all folds: logistic regression +.027 with columns prepared by all rows, +.010 with
columns prepared by the other folds, and -.005 with settings weighed without the fold as well.
`SUFFICE_PROFILE=evidence` tries twenty tables and all folds; else there are few, and the bounds are
wider by two standard errors of what so few can tell.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from suffice.models.pool.averages import LEAST
from suffice.models.pool.coding import Coding
from suffice.models.pool.combined.combination import cross_fitted_pool
from suffice.models.pool.folded_rows import FoldedRows
from suffice.models.pool.members import FALLBACK, MEMBERS
from suffice.rows import read_table

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray, Table

pytestmark = pytest.mark.slow
FULL = os.environ.get("SUFFICE_PROFILE") == "evidence"
ROWS = 50
TABLES = 21 if FULL else 7
"""Three, or one, of each kind."""
FOLDS = 10 if FULL else 4
"""Folds that are refitted: rows of them are judged twice, so both losses are of the same rows."""
MOST_LEAK, MOST_GAIN = 0.01, 0.03
"""Nats a row: what judging may hide, and what may be gained from labels that say nothing."""
PERMUTED, TRUE = "permuted labels", "true labels"


def made(kind: int, rng: np.random.Generator) -> tuple[Table, IntArray]:
    """Return 50 rows of numbers and categories with blanks, or of a table that everybody knows."""
    if kind >= 4:
        X, y = (load_iris, load_wine, load_breast_cancer)[kind - 4](return_X_y=True)
        some = rng.permutation(len(y))[:ROWS]
        return read_table(X[some]), y[some]
    classes = 2 + kind % 2
    codes = rng.integers(classes, size=ROWS)
    numbers = rng.normal(size=(ROWS, 4)) @ rng.normal(size=(4, 4))
    numbers[:, :2] += rng.normal(size=(classes, 2))[codes]
    if kind >= 2:
        numbers = np.exp(numbers)
    frame = pd.DataFrame(numbers, columns=list("abcd"))
    frame.loc[rng.random(ROWS) < 0.1, "a"] = np.nan
    tilt = rng.dirichlet(np.ones(3), size=classes)
    words = np.array(["x", "y", "z"], dtype=object)
    frame["level"] = [words[rng.choice(3, p=tilt[c])] for c in codes]
    frame["many"] = rng.choice([f"level {i}" for i in range(15)], size=ROWS)
    frame["truth"] = rng.random(ROWS) < np.where(codes == 0, 0.3, 0.6)
    return read_table(frame), codes


def folded(table: Table, codes: IntArray) -> tuple[Coding, FoldedRows]:
    """Return rows as members see them, coded by themselves alone."""
    weights = np.ones(len(codes))
    coding = Coding.of(table, weights)
    return coding, FoldedRows(coding.code(table), codes, weights, int(codes.max()) + 1)


def losses(posterior: FloatArray, codes: IntArray) -> FloatArray:
    found: FloatArray = -np.log(np.maximum(posterior[np.arange(len(codes)), codes], LEAST))
    return found


@dataclass(frozen=True)
class Trial:
    """What one table says about each member: leak on refitted folds, and gain over the shares."""

    leaks: dict[str, float]
    gains: dict[str, float]
    pool_gain: float


def trial(kind: int, seed: int, labels: str) -> Trial:
    rng = np.random.default_rng([kind, seed])
    table, codes = made(kind, rng)
    order = rng.permutation(ROWS)
    table, codes = table.rows(order), np.unique(codes[order], return_inverse=True)[1]
    if labels == PERMUTED:
        codes = rng.permutation(codes)
    _, rows = folded(table, codes)
    judged = {name: member.judge(rows).posterior for name, member in MEMBERS.items()}
    shares = losses(judged[FALLBACK], codes)
    gains = {name: float((shares - losses(p, codes)).mean()) for name, p in judged.items()}
    fallback = list(MEMBERS).index(FALLBACK)
    posteriors = np.stack(list(judged.values()))
    _, pooled = cross_fitted_pool(posteriors, codes, rows.weights, rows.folds, fallback)
    leaks: dict[str, list[Any]] = {name: [] for name in MEMBERS}
    for fold in rng.permutation(rows.count)[:FOLDS]:
        held = rows.folds == fold
        coding, training = folded(table.rows(np.flatnonzero(~held)), codes[~held])
        if training.size < rows.size:
            continue  # a class is gone: there is nothing to compare
        new = training.new(coding.code(table.rows(np.flatnonzero(held))))
        for name, member in MEMBERS.items():
            found = member.judge(training)
            answer = found.answer or member.ready(training, found.grid)
            brute = losses(answer(new), codes[held])
            leaks[name] += (brute - losses(judged[name][held], codes[held])).tolist()
    means = {name: float(np.mean(held)) for name, held in leaks.items() if held}
    return Trial(means, gains, float((shares - losses(pooled, codes)).mean()))


@cache
def trials(labels: str) -> list[Trial]:
    return [trial(place % 7, place // 7, labels) for place in range(TABLES)]


def _bound(found: list[float], most: float) -> float:
    """Return the bound for a mean: with few tables, two standard errors more."""
    if FULL:
        return most
    return most + 2.0 * float(np.std(found, ddof=1)) / np.sqrt(len(found))


@pytest.mark.parametrize("labels", [TRUE, PERMUTED])
@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_is_judged_as_refits_would_judge_it(member: str, labels: str) -> None:
    found = [one.leaks[member] for one in trials(labels) if member in one.leaks]
    assert np.mean(found) <= _bound(found, MOST_LEAK)


@pytest.mark.parametrize("member", MEMBERS)
def test_nothing_is_gained_from_labels_that_say_nothing(member: str) -> None:
    found = [one.gains[member] for one in trials(PERMUTED)]
    assert np.mean(found) <= _bound(found, MOST_GAIN)


def test_a_pool_neither_gains_nor_loses_by_labels_that_say_nothing() -> None:
    found = [one.pool_gain for one in trials(PERMUTED)]
    assert abs(np.mean(found)) <= _bound(found, MOST_GAIN)
