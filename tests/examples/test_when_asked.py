"""Members of a pool that learn when somebody asks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from suffice import Pool
from suffice.models.pool import logistic
from suffice.models.pool.member import when_asked


def test_it_is_learned_once_however_many_ask_and_what_it_learns_from_is_let_go() -> None:
    made = []

    class Rows:
        alive = 0

        def __init__(self) -> None:
            Rows.alive += 1

        def __del__(self) -> None:
            Rows.alive -= 1

    def learner(rows: Rows) -> Any:
        def make() -> Any:
            made.append(rows.alive)
            return lambda new: new + 1

        return make

    answer = when_asked(learner(Rows()))
    assert made == []
    assert Rows.alive == 1
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(answer, range(40)))
    assert found == list(range(1, 41))
    assert made == [1]
    assert Rows.alive == 0


@pytest.mark.slow
def test_a_fit_searches_no_maximum_that_only_answers_need(monkeypatch: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + y[:, None]
    searched = []
    whole = logistic.softmax_path

    def watched(features: Any, members: Any, weights: Any, *more: Any) -> Any:
        searched.append(len(weights))
        return whole(features, members, weights, *more)

    monkeypatch.setattr(logistic, "softmax_path", watched)
    model = Pool().fit(X, y)
    assert searched
    assert 1 not in searched  # only folds
    model.predict(X)
    assert searched.count(1) >= 1
