"""The cumulative distribution function of a multivariate normal, against SciPy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from suffice import MultivariateNormal

WITHIN = 5e-5
"""SciPy integrates to 1e-5 and both sides do; a few more for rows whose errors add up."""


def law_of(width: int, seed: int) -> MultivariateNormal:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(width, width))
    units = 10.0 ** rng.uniform(-6, 6, size=width)
    return MultivariateNormal(
        rng.normal(size=width) * units, factor @ factor.T * units * units[:, None]
    )


@pytest.mark.parametrize("width", [1, 2, 3, 6])
def test_cdf_is_scipys_in_any_units(width: int) -> None:
    law = law_of(width, width)
    rows = law.sample(8, random_state=1)
    # In these units SciPy takes the covariance for a singular one; in its own it does not.
    units = np.sqrt(np.diagonal(law.covariance))
    correlation = law.covariance / np.outer(units, units)
    expected = stats.multivariate_normal(cov=correlation).cdf((rows - law.mean) / units)
    np.testing.assert_allclose(law.cdf(rows), expected, atol=WITHIN)


@pytest.mark.parametrize("width", [2, 4])
def test_cdf_gives_the_same_answer_again(width: int) -> None:
    law = law_of(width, 7)
    rows = law.sample(5, random_state=2)
    np.testing.assert_array_equal(law.cdf(rows), law.cdf(rows))


def test_the_share_of_draws_below_a_row_is_its_cdf() -> None:
    law = law_of(3, 11)
    draws, rows = law.sample(100_000, random_state=3), law.sample(4, random_state=4)
    below = [(draws <= row).all(axis=1).mean() for row in rows]
    np.testing.assert_allclose(law.cdf(rows), below, atol=4 * 0.5 / np.sqrt(100_000))


def test_a_blank_cell_may_be_anything() -> None:
    law = law_of(3, 5)
    rows = law.sample(4, random_state=6)
    rows[:, 1] = np.nan
    np.testing.assert_allclose(
        law.cdf(rows), law.marginal([0, 2]).cdf(rows[:, [0, 2]]), atol=WITHIN
    )
    assert law.cdf([[np.nan] * 3]) == 1.0


def test_cdf_of_a_degenerate_law() -> None:
    line = MultivariateNormal([0, 1], [[1, 1], [1, 1]])
    np.testing.assert_allclose(line.cdf([[0, 5], [5, 1], [0, -9]]), [0.5, 0.5, 0.0], atol=WITHIN)
    fixed = MultivariateNormal([2, 0], [[0, 0], [0, 1]])
    np.testing.assert_array_equal(fixed.cdf([[2, 0], [1.9, 0], [3, 0]]), [0.5, 0.0, 0.5])


def test_cdf_of_a_far_row_is_zero_or_one() -> None:
    law = law_of(2, 9)
    np.testing.assert_array_equal(law.cdf([[1e300, 1e300], [-1e300, 0.0]]), [1.0, 0.0])
