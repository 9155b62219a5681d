"""A normal law of which the mean or the covariance is given: SciPy's estimates, exact p-values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import suffice
from suffice import MultivariateNormal
from suffice.errors import BadRows, SufficeError

FACTOR = np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [-0.5, 0.3, 0.7]])
MEAN, COVARIANCE = np.array([1.0, -2.0, 1e6]), FACTOR @ FACTOR.T
DRAWS = 4_000
"""5 % of so many have a standard error of 0.0034: bounds are four of them."""


def rows_of(size: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((size, 3)) @ FACTOR.T + MEAN


def test_estimates_are_scipys() -> None:
    rows = rows_of(40, 1)
    law = MultivariateNormal.fit(rows, mean=MEAN)
    _, expected = stats.multivariate_normal.fit(rows, fix_mean=MEAN)
    np.testing.assert_array_equal(law.mean, MEAN)
    np.testing.assert_allclose(law.covariance, expected, rtol=1e-9)
    law = MultivariateNormal.fit(rows, covariance=COVARIANCE)
    expected, _ = stats.multivariate_normal.fit(rows, fix_cov=COVARIANCE)
    np.testing.assert_allclose(law.mean, expected, rtol=1e-14)
    np.testing.assert_array_equal(law.covariance, COVARIANCE)


@pytest.mark.parametrize("given", [{"mean": MEAN}, {"covariance": COVARIANCE}])
def test_a_weight_of_two_is_two_rows(given: dict[str, np.ndarray]) -> None:
    rows = rows_of(9, 2)
    weights = np.array([1.0, 2.0, 1.0, 0.0, 2.0, 1.0, 1.0, 3.0, 1.0])
    one = MultivariateNormal.fit(rows, weights, **given)
    two = MultivariateNormal.fit(np.repeat(rows, weights.astype(int), axis=0), **given)
    np.testing.assert_allclose(one.covariance, two.covariance, rtol=1e-12)
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-14)
    asked = rows_of(5, 3)
    np.testing.assert_allclose(one.typicality(asked), two.typicality(asked), rtol=1e-9)


@pytest.mark.parametrize("size", [4, 7, 20])
@pytest.mark.parametrize("given", [{"mean": MEAN}, {"covariance": COVARIANCE}])
@pytest.mark.parametrize("training", [False, True])
def test_p_values_are_uniform_however_few_rows_there_were(
    size: int, given: dict[str, np.ndarray], training: bool
) -> None:
    found = []
    for draw in range(DRAWS // size):
        rows = rows_of(size, 1000 + draw)
        law = MultivariateNormal.fit(rows, **given)
        asked = rows if training else rows_of(size, 500_000 + draw)
        found.append(law.typicality(asked, training=training))
    p = np.concatenate(found)
    # Rows asked of one law share it, so that they are not independent: twice the error.
    for level in (0.05, 0.5):
        error = 2 * np.sqrt(level * (1 - level) / len(p))
        assert abs((p < level).mean() - level) < 4 * error


def test_a_law_of_a_given_covariance_has_a_conditional() -> None:
    law = MultivariateNormal.fit(rows_of(6, 4), covariance=COVARIANCE)
    part = law.conditional({0: 2.0})
    assert (part.typicality(part.sample(50, random_state=1)) > 0.0).all()


@pytest.mark.parametrize("given", [{"mean": MEAN}, {"covariance": COVARIANCE}])
def test_a_law_of_given_parameters_is_saved_and_loaded(
    given: dict[str, np.ndarray], tmp_path: object
) -> None:
    law = MultivariateNormal.fit(rows_of(6, 5), **given)
    place = f"{tmp_path}/law.suffice"
    law.save(place)
    again = suffice.load(place)
    assert again == law
    asked = rows_of(5, 6)
    np.testing.assert_array_equal(again.typicality(asked), law.typicality(asked))


def test_what_cannot_be_fitted_is_refused() -> None:
    rows = rows_of(5, 7)
    with pytest.raises(SufficeError, match="nothing left to fit"):
        MultivariateNormal.fit(rows, mean=MEAN, covariance=COVARIANCE)
    with pytest.raises(SufficeError, match="2 numbers"):
        MultivariateNormal.fit(rows, mean=[0.0, 1.0])
    with pytest.raises(SufficeError):
        MultivariateNormal.fit(rows, covariance=np.eye(2))
    rows[1, 1] = np.nan
    with pytest.raises(BadRows, match="empty cells"):
        MultivariateNormal.fit(rows, mean=MEAN)
