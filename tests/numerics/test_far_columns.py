"""Columns of linear classifiers that lie too far from where they were: refused, and never NaN."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice.errors import NotFinite
from tests.reference.saved_models import fitted

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")  # constants

KINDS = {
    "perceptron": lambda: suffice.Perceptron(random_state=0),
    "perceptron, last": lambda: suffice.Perceptron(average=False, random_state=0),
    "logistic, sgd": lambda: suffice.LogisticRegression(solver="sgd", random_state=0),
}


@pytest.mark.parametrize("kind", KINDS)
@given(st.floats(1e-300, 1.7e308), st.booleans(), st.booleans(), st.integers(0, 99))
def test_what_is_learned_from_far_constants_is_finite_or_refused(
    kind: str, cell: float, constant_first: bool, streams: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(10, 2)), np.arange(10) % 2
    far = X.copy()
    far[:, 1] = cell
    first, second = (far, X) if constant_first else (X, far)
    model: Any = KINDS[kind]()
    (model.partial_fit if streams else model.fit)(first, y)
    if cell > 1e150:
        with suppress(NotFinite):  # where it is squared
            model.partial_fit(second, y)
    else:
        model.partial_fit(second, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cell", [1e155, 1e200, 1.7e308])
def test_two_constants_too_far_apart_to_be_squared_are_refused_by_name(
    kind: str, cell: float
) -> None:
    X, y = np.random.default_rng(0).normal(size=(10, 2)), np.arange(10) % 2
    model: Any = KINDS[kind]().fit(np.column_stack([X[:, 0], np.full(10, cell)]), y)
    before = model.decision_function(X)
    with pytest.raises(NotFinite, match="the spread of x1 is too large to be squared"):
        model.partial_fit(X, y)
    assert np.array_equal(model.decision_function(X), before)


def test_a_file_whose_column_lies_where_no_cell_can_be_does_not_learn_to_nan(
    tmp_path: Path,
) -> None:
    model, (X, y) = fitted("perceptron, words", np.random.default_rng(0))
    held = model.learned_
    online = held.outcome.online
    mean = online.seen.moments.mean.copy()
    mean[-1] = 1.7e308
    seen = replace(online.seen, moments=replace(online.seen.moments, mean=mean))
    found = replace(held.outcome, online=replace(online, seen=seen))
    model.with_learned(replace(held, statistics=replace(held.statistics, found=found))).save(
        tmp_path / "model"
    )
    back = suffice.load(tmp_path / "model")
    with pytest.raises(NotFinite, match="the spread of member is too large"):
        back.partial_fit(X, y)
    assert np.isfinite(back.decision_function(X)).all()
