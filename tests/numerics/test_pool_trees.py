"""Boosted trees of a pool against loops over rows, and the head start of the class shares."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.models.pool.combined.combination import pool_shares, prior_rows
from suffice.models.pool.trees.boosted import RATE, SHRINKAGE, _grown


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_asks_what_a_search_finds_and_its_values_are_newton_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, questions, scores = 30, 7, 1 + seed % 3
    sides = rng.random((questions, rows)) < 0.4
    slopes, curves = rng.normal(size=(rows, scores)), rng.random((rows, scores))
    offered = rng.random(questions) < 0.7
    offered[0] = True
    tree = _grown(sides.astype(float), slopes, curves, offered)
    for score in range(scores):

        def part(kept: np.ndarray, s: int = score) -> tuple[float, float]:
            return float(slopes[kept, s].sum()), float(curves[kept, s].sum()) + SHRINKAGE

        def worth(kept: np.ndarray) -> list[float]:
            found = []
            for question in range(questions):
                sums = [part(kept & side) for side in (sides[question], ~sides[question])]
                gain = sum(slope**2 / curve for slope, curve in sums)
                found.append(gain if offered[question] else -1.0)
            return found

        everyone = np.ones(rows, dtype=bool)
        first = int(np.argmax(worth(everyone)))
        assert tree.first[score] == first
        added = tree.added(sides)[:, score]
        for kept, asked in ((sides[first], tree.yes), (~sides[first], tree.no)):
            gains = worth(kept)
            assert gains[asked[score]] == pytest.approx(max(gains))
            for leaf in (kept & sides[asked[score]], kept & ~sides[asked[score]]):
                slope, curve = part(leaf)
                assert added[leaf] == pytest.approx(RATE * slope / curve)


def test_thresholds_of_two_columns_are_learned_where_a_line_is_not_enough() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    y = (X["a"] > 0.3) & (X["b"] < 0.5)
    losses = suffice.Pool(["boosted trees", "logistic"]).fit(X, y).log_losses_
    assert losses["boosted trees"] < losses["logistic"] - 0.1


def test_one_row_of_a_class_does_not_prefer_the_member_that_denies_it() -> None:
    # 24 rows are told .999 and the one of the other class .03; the class shares say .96 and .04.
    denies, shares = np.full(25, 0.999), np.full(25, 0.96)
    denies[7], shares[7] = 0.03, 0.04
    judged, weights = np.stack([denies, shares]), np.ones(25)
    codes = (np.arange(25) == 7).astype(np.intp)
    alone = pool_shares(judged, weights, prior_rows(2, 1, codes, weights))
    assert alone[1] > 0.5
    # Twelve rows of a class judge by themselves: hardly anything is added to what each member has.
    even = (np.arange(25) % 2).astype(np.intp)
    each = (1.0 + 25.0 / 12.0) / 2.0
    assert prior_rows(2, 1, even, weights) == pytest.approx([each, each + 6 / 144])
