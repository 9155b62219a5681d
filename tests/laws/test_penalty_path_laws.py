"""What holds for every path of penalties, whatever the rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import LogisticRegression
from suffice.models.linear.penalty_path.walk import PENALTIES, walked
from tests.searches import examples

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.DegenerateData")

seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int) -> tuple[Any, Any, Any]:
    """Return rows in odd units, some of them constant or doubled, labels and weights."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(4, 40)), int(rng.integers(1, 6)), int(rng.integers(2, 4))
    codes = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    rows = rng.normal(size=(n, d)) + 0.7 * codes[:, np.newaxis] * rng.normal(size=d)
    if rng.random() < 0.3:
        rows = rows.round()
    rows = rows * 10.0 ** rng.integers(-6, 7, size=d) + rng.normal(size=d)
    if rng.random() < 0.2:
        rows[:, 0] = 3.0
    weights = rng.integers(1, 5, size=n) / 2.0 if rng.random() < 0.5 else None
    return rows, codes, weights


@given(seed=seeds)
def test_the_chosen_penalty_has_the_least_judged_loss(seed: int) -> None:
    rows, codes, weights = drawn(seed)
    model = LogisticRegression("auto").fit(rows, codes, weights)
    path = model.path_
    assert model.penalty_ in path.penalties
    assert path.losses[list(path.penalties).index(model.penalty_)] == path.losses.min()
    assert np.isfinite(path.losses).all()
    assert (np.diff(path.penalties) < 0.0).all()
    alone = LogisticRegression(model.penalty_).fit(rows, codes, weights)
    np.testing.assert_allclose(
        model.predict_log_proba(rows), alone.predict_log_proba(rows), atol=1e-6
    )


@pytest.mark.slow
@given(seed=seeds)
@examples(10)
def test_the_average_is_that_of_the_fits_on_the_path(seed: int) -> None:
    rows, codes, weights = drawn(seed)
    model = LogisticRegression("average").fit(rows, codes, weights)
    path = model.path_
    assert path.shares.sum() == pytest.approx(1.0)
    told = sum(
        share * LogisticRegression(penalty).fit(rows, codes, weights).predict_proba(rows)
        for share, penalty in zip(path.shares, path.penalties, strict=True)
    )
    np.testing.assert_allclose(model.predict_proba(rows), told, atol=1e-3)  # small shares are left
    np.testing.assert_allclose(
        np.exp(model.predict_log_proba(rows)), model.predict_proba(rows), atol=1e-9
    )
    assert np.array_equal(
        model.predict(rows), model.classes_[model.predict_log_proba(rows).argmax(axis=1)]
    )


@given(seed=seeds, power=st.integers(-30, 30))
def test_units_of_columns_and_of_weights_do_not_matter(seed: int, power: int) -> None:
    rows, codes, weights = drawn(seed)
    weights = np.ones(len(codes)) if weights is None else weights
    path = LogisticRegression("auto").fit(rows, codes, weights).path_
    units = 2.0 ** np.random.default_rng(seed).integers(-20, 21, size=rows.shape[1])
    other = LogisticRegression("auto").fit(rows * units, codes, np.ldexp(weights, power)).path_
    np.testing.assert_allclose(other.penalties, np.ldexp(path.penalties, power))
    np.testing.assert_allclose(other.losses, path.losses, atol=1e-6)


@given(seed=seeds)
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    rows, codes, weights = drawn(seed)
    order = np.random.default_rng(seed + 1).permutation(len(codes))
    own = None if weights is None else weights[order]
    if weights is not None and len(np.unique(rows, axis=0)) < len(rows):
        return  # equal rows of other weights are told apart by their places
    path = walked(rows, codes, codes.max() + 1, weights).path
    other = walked(rows[order], codes[order], codes.max() + 1, own).path
    np.testing.assert_allclose(other.losses, path.losses, atol=1e-6)
    assert path.penalties[0] == pytest.approx(
        PENALTIES[0] * (1.0 if weights is None else (weights @ weights) / weights.sum())
    )
