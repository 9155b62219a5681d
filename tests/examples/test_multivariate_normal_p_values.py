"""p-values of a fitted law are uniform, however few rows there were."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suffice.errors import BadSetting, DegenerateData, NoPValue
from suffice.estimators.multivariate_normal import MultivariateNormal
from suffice.models.gaussian.normal_fit import predictive_p_values
from tests.searches import repeats


def distance_from_uniform(p: np.ndarray) -> float:
    """Return Kolmogorov's statistic times √n: above 1.95 once in a thousand."""
    grid = np.arange(len(p) + 1) / len(p)
    ordered = np.sort(p)
    return float(max((grid[1:] - ordered).max(), (ordered - grid[:-1]).max()) * math.sqrt(len(p)))


@pytest.mark.slow
def test_fresh_rows_have_uniform_p_values_even_with_thirty_rows_of_ten_columns() -> None:
    rng = np.random.default_rng(4)
    mix = rng.normal(size=(10, 10))
    fresh, chi_squared = [], []
    for _ in range(repeats(1200, 4000)):
        rows = rng.normal(size=(31, 10)) @ mix + 5.0
        law = MultivariateNormal.fit(rows[:30])
        fresh.append(law.typicality(rows[30:])[0])
        chi_squared.append(law._law.typicality(rows[30:])[0])
    assert distance_from_uniform(np.array(fresh)) < 1.95
    assert distance_from_uniform(np.array(chi_squared)) > 5.0


@pytest.mark.slow
def test_training_rows_have_uniform_p_values_of_their_own() -> None:
    rng = np.random.default_rng(5)
    p = []
    for _ in range(repeats(1200, 4000)):
        rows = rng.normal(size=(30, 10))
        p.append(MultivariateNormal.fit(rows).typicality(rows[:1], training=True)[0])
    assert distance_from_uniform(np.array(p)) < 1.95


@pytest.mark.slow
def test_p_values_stay_uniform_with_missing_cells_marginally_and_given_other_columns() -> None:
    rng = np.random.default_rng(6)
    mix = rng.normal(size=(5, 5))
    holed, part, rest = [], [], []
    for _ in range(repeats(1000, 3000)):
        rows = rng.normal(size=(13, 5)) @ mix
        law, new = MultivariateNormal.fit(rows[:12]), rows[12]
        holed.append(law.typicality([[new[0], None, new[2], new[3], None]])[0])
        part.append(law.marginal([4, 1]).typicality([new[[4, 1]]])[0])
        rest.append(law.conditional({1: new[1], 3: new[3]}).typicality([new[[0, 2, 4]]])[0])
    for p in (holed, part, rest):
        assert distance_from_uniform(np.array(p)) < 1.95


def test_too_few_rows_have_no_p_value_and_say_so() -> None:
    rows = np.random.default_rng(7).normal(size=(4, 5))
    with pytest.warns(DegenerateData):
        law = MultivariateNormal.fit(rows)
    with pytest.warns(NoPValue, match=r"4 row\(s\).*5 columns.*3 degrees"):
        assert np.isnan(law.typicality(rows)).all()
    nearly = [[None] * 5, [0.1, 0.2, None, None, None]]
    p = law.typicality(nearly)
    assert p[0] == 1.0
    assert 0.0 < p[1] < 1.0
    with pytest.warns(DegenerateData):
        light = MultivariateNormal.fit(rows, sample_weight=0.1)
    assert light.typicality([[None] * 5])[0] == 1.0
    with pytest.warns(NoPValue, match="0 degrees"):
        assert np.isnan(light.typicality(rows, training=True)).all()
    with pytest.warns(DegenerateData):
        one = MultivariateNormal.fit(rows[:1])
    with pytest.warns(NoPValue):
        assert np.isnan(one.typicality(rows)).all()


def test_given_parameters_have_no_training_rows() -> None:
    given = MultivariateNormal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    rows = np.random.default_rng(0).normal(size=(9, 3))
    for law in (given, MultivariateNormal.fit(rows).conditional({0: 0.5})):
        with pytest.raises(BadSetting, match="training=True"):
            law.typicality(np.zeros((1, law.n_features_in_)), training=True)


def test_far_training_rows_have_p_value_zero_without_overflow() -> None:
    law = MultivariateNormal.fit(np.random.default_rng(9).normal(size=(20, 2)))
    rows = [[1e153, 0.0], [1e200, 0.0], [0.0, 1e300]]
    for training in (False, True):
        np.testing.assert_array_equal(law.typicality(rows, training=training), np.zeros(3))


def test_a_very_far_condition_leaves_p_values_finite() -> None:
    law = MultivariateNormal.fit(np.random.default_rng(11).normal(size=(20, 2)))
    rest = law.conditional({0: 1e200})
    assert not np.isnan(rest.typicality([[0.0], [1e300]])).any()


def test_as_many_rows_as_directions_leave_every_training_row_at_the_edge() -> None:
    rows = np.random.default_rng(10).normal(size=(4, 3))
    law = MultivariateNormal.fit(rows)
    np.testing.assert_allclose(law.typicality(rows, training=True), np.ones(4))
    assert ((law.typicality(rows) > 0.0) & (law.typicality(rows) < 1.0)).all()


# The mathematics behind them, which classifiers share


def test_tails_are_those_of_f_and_beta() -> None:
    stats = pytest.importorskip("scipy.stats")
    q, ranks = np.array([0.01, 0.3, 0.8]), np.array([1, 2, 4])
    freedom, weight = 20.0, 9.0
    second = freedom - ranks + 1.0
    f = stats.f(ranks, second).sf(q * weight / (weight + 1.0) * second / ranks)
    np.testing.assert_allclose(predictive_p_values(q, ranks, freedom, 1.0 / weight), f, rtol=1e-12)
    beta = stats.beta(ranks / 2.0, (freedom - ranks) / 2.0).sf(q * weight / (weight - 1.0))
    found = predictive_p_values(q, ranks, freedom, 1.0 / weight, training=True)
    np.testing.assert_allclose(found, beta, rtol=1e-12)


def test_the_limits_are_numbers_and_too_few_rows_are_none() -> None:
    q = [0.0, 1e-300, 1e300, np.inf]
    for training in (False, True):
        p = predictive_p_values(q, 3, 12.0, 0.1, training=training)
        np.testing.assert_allclose(p, [1.0, 1.0, 0.0, 0.0], atol=1e-12)
        p = predictive_p_values(q, 0, 0.0, 1.0, training=training)
        np.testing.assert_array_equal(p, [1.0, 0.0, 0.0, 0.0])
        assert np.isnan(predictive_p_values(q, 3, 1.5, 0.1, training=training)).all()
    # The only row of its class is its own mean: nothing strange about it.
    assert predictive_p_values(0.0, 2, 8.0, 1.0, training=True) == 1.0
