"""Normal laws that live on a line, on a point, or nearly so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suffice.errors import BadSetting, NotLinear
from suffice.models.gaussian.law.normal import Normal

UNIT = Normal([0.0, 0.0], np.eye(2))
TWINS = Normal([1.0, 1.0], [[4.0, 4.0], [4.0, 4.0]])
POINT = Normal([1.0, 2.0], np.zeros((2, 2)))


def test_twins_live_on_a_line() -> None:
    rows = [[1.0, 1.0], [3.0, 3.0], [3.0, 3.1]]
    assert TWINS.rank == 1
    # Along the diagonal the variance is 8, and a step of (2, 2) is one standard deviation.
    at_mean = -0.5 * math.log(2.0 * math.pi * 8.0)
    np.testing.assert_allclose(TWINS.log_density(rows), [at_mean, at_mean - 0.5, -np.inf])
    np.testing.assert_allclose(TWINS.mahalanobis(rows), [0.0, 1.0, np.inf], atol=1e-12)
    np.testing.assert_allclose(TWINS.typicality(rows), [1.0, 0.31731050786291415, 0.0], rtol=1e-9)


def test_one_twin_tells_the_other() -> None:
    rest = TWINS.conditional({1: 7.0})
    np.testing.assert_allclose(rest.mean, [7.0], rtol=1e-14)
    assert rest.rank == 0
    assert rest.covariance.tolist() == [[0.0]]
    np.testing.assert_array_equal(rest.log_density([[7.0], [7.1]]), [0.0, -np.inf])


def test_twins_cannot_be_given_different_values() -> None:
    law = Normal(np.zeros(3), [[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    np.testing.assert_allclose(law.conditional({0: 2.0, 1: 2.0}).mean, [1.0], rtol=1e-12)
    with pytest.raises(BadSetting, match="is impossible"):
        law.conditional({0: 2.0, 1: 2.5})


def test_a_constant_column_is_only_ever_itself() -> None:
    law = Normal([5.0, 0.0], [[0.0, 0.0], [0.0, 1.0]])
    assert np.isneginf(law.log_density([[5.1, 0.0]])[0])
    assert law.log_density([[5.0, 0.0]])[0] == pytest.approx(-0.5 * math.log(2.0 * math.pi))
    assert law.conditional({0: 5.0}) == Normal([0.0], [[1.0]])
    with pytest.raises(BadSetting, match=r"column 0 is given as 6.*nearest possible value is 5"):
        law.conditional({0: 6.0})
    assert (law.sample(5, np.random.default_rng(0))[:, 0] == 5.0).all()


def test_a_law_without_any_spread_is_a_point() -> None:
    assert POINT.rank == 0
    rows = [[1.0, 2.0], [1.0, 2.5]]
    np.testing.assert_array_equal(POINT.log_density(rows), [0.0, -np.inf])
    np.testing.assert_array_equal(POINT.typicality(rows), [1.0, 0.0])
    np.testing.assert_array_equal(POINT.sample(2, np.random.default_rng(0)), [[1.0, 2.0]] * 2)
    np.testing.assert_array_equal(POINT.contour(mass=0.5, points=2), [[1.0, 2.0]] * 2)
    assert POINT.kl_divergence(Normal([1.0, 2.0], np.zeros((2, 2)))) == 0.0
    assert POINT.kl_divergence(Normal([1.0, 2.5], np.zeros((2, 2)))) == math.inf


def test_a_degenerate_law_at_a_large_offset_still_knows_its_own_rows() -> None:
    factor = np.random.default_rng(1).normal(size=(4, 2))
    law = Normal(np.full(4, 1e8), factor @ factor.T)
    rows = law.sample(500, np.random.default_rng(2))
    assert law.rank == 2
    assert np.isfinite(law.log_density(rows)).all()
    rows[:, 0] += 0.1
    assert np.isneginf(law.log_density(rows)).all()


def test_a_degenerate_law_has_no_linear_form() -> None:
    with pytest.raises(NotLinear, match="rank 1 of 2"):
        TWINS.linear_form()
    assert not TWINS.same_carrier(TWINS)
    assert not UNIT.same_carrier(Normal([0.0, 0.0], 2.0 * np.eye(2)))


def test_highly_correlated_columns_are_not_declared_degenerate() -> None:
    law = Normal([0.0, 0.0], [[1.0, 1.0 - 1e-11], [1.0 - 1e-11, 1.0]])
    assert law.rank == 2
    assert law.conditional({0: 1.0}).covariance[0, 0] == pytest.approx(2e-11, rel=1e-4)


def test_a_spread_names_the_columns_that_are_tied() -> None:
    assert TWINS.spread.tied.tolist() == [True, True]
    assert UNIT.spread.tied.tolist() == POINT.spread.tied.tolist() == [False, False]
    mixed = Normal(np.zeros(4), [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]])
    assert mixed.spread.tied.tolist() == [True, True, False, False]
