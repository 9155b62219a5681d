"""The bridge's figures against simulation, small changes, and a fit of logistic regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suffice.families import Gaussian
from suffice.models import GaussianLearner
from suffice.models.bridge import Bridge, bridge_of
from suffice.models.linear.logistic.fit import fit_logistic
from tests.reference.bridge import drawn, p_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

LEARNER = GaussianLearner(Gaussian())


def bridged(rows: Array, labels: Array, weights: Array | None = None, **settings: Any) -> Bridge:
    names = tuple(range(int(labels.max()) + 1))
    fit = LEARNER.fit(LEARNER.summarize(rows, labels, names, weights))
    return bridge_of(fit, rows, labels, weights, **settings)


def three_classes(size: int, rng: np.random.Generator, count: int = 3) -> tuple[Array, Array]:
    """Return rows of unequal classes far from zero, of correlated columns."""
    shares = np.array([0.2, 0.5, 0.3])[:count]
    labels = rng.choice(count, size, p=shares / shares.sum())
    means = np.array([[10.0, -5.0], [12.0, -5.0], [11.0, -2.0]])
    turn = np.array([[1.0, 0.4], [0.0, 2.0]])
    return rng.standard_normal((size, 2)) @ turn + means[labels], labels


# Covariances


@pytest.mark.parametrize("count", [2, 3])
def test_the_delta_method_is_what_simulation_shows(count: int) -> None:
    rng, draws = np.random.default_rng([1, count]), 600
    found = [bridged(*three_classes(1000, rng, count)) for _ in range(draws)]
    of, against = count - 1, count - 2
    estimates = np.array([each.estimate(of, against) for each in found])
    for matrix in ("covariance", "robust_covariance"):
        expected = np.mean([getattr(each, matrix)(of, against) for each in found], axis=0)
        roots = np.sqrt(np.diagonal(expected))
        observed = np.cov(estimates.T) / roots[:, np.newaxis] / roots
        # A variance from 600 draws has a standard error of √(2/600); a correlation has less.
        assert observed == pytest.approx(
            expected / roots[:, np.newaxis] / roots, abs=4.0 * np.sqrt(2.0 / draws)
        )


def test_both_covariances_agree_on_normal_classes() -> None:
    found = bridged(*three_classes(200_000, np.random.default_rng(2)))
    for pair in ((1, 0), (2, 0), (2, 1)):
        normal, robust = found.covariance(*pair), found.robust_covariance(*pair)
        roots = np.sqrt(np.diagonal(normal))
        apart = (robust - normal) / roots[:, np.newaxis] / roots
        assert np.abs(apart).max() < 0.03


def test_the_robust_covariance_holds_where_classes_are_not_normal() -> None:
    rng, draws = np.random.default_rng(3), 600
    found = [bridged(*drawn("exponential", 1000, 2.0, rng, width=2)) for _ in range(draws)]
    observed = np.var([each.estimate(1) for each in found], axis=0)
    robust = np.mean([np.diagonal(each.robust_covariance(1)) for each in found], axis=0)
    normal = np.mean([np.diagonal(each.covariance(1)) for each in found], axis=0)
    # Exponential rows vary as to their own variance more than normal ones do: heavier tails.
    assert robust / observed == pytest.approx(np.ones(3), abs=0.35)
    assert np.abs(np.log(normal / observed)).max() > np.abs(np.log(robust / observed)).max()


def test_an_influence_is_what_one_more_row_does() -> None:
    rows, labels = three_classes(60, np.random.default_rng(4))
    weights, step = np.ones(60), 1e-4
    slopes = []
    for i in range(60):
        more, less = weights.copy(), weights.copy()
        more[i] += step
        less[i] -= step
        up, down = bridged(rows, labels, more), bridged(rows, labels, less)
        slopes.append((up.estimate(2, 1) - down.estimate(2, 1)) / (2.0 * step))
    # Weights that sum to n make a slope ψ/n.
    expected = np.array(slopes).T @ np.array(slopes)
    assert bridged(rows, labels).robust_covariance(2, 1) == pytest.approx(expected, rel=1e-5)


def test_far_columns_keep_their_digits() -> None:
    rows, labels = three_classes(500, np.random.default_rng(5))
    near, far = bridged(rows, labels), bridged(rows + 1e6, labels)
    assert far.test.statistic == pytest.approx(near.test.statistic, rel=1e-6)
    for pair in ((1, 0), (2, 1)):
        before, after = near.covariance(*pair)[1:, 1:], far.covariance(*pair)[1:, 1:]
        assert after == pytest.approx(before, rel=1e-6)


# Columns that say nothing, or say it twice


def test_a_constant_column_has_no_standard_error_and_changes_nothing() -> None:
    rows, labels = three_classes(300, np.random.default_rng(6))
    plain = bridged(rows, labels)
    more = bridged(np.column_stack([rows[:, 0], np.full(300, 7.0), rows[:, 1]]), labels)
    assert more.is_estimable(2, 1).tolist() == [True, True, False, True]
    assert more.estimate(2, 1)[[0, 1, 3]] == pytest.approx(plain.estimate(2, 1), rel=1e-9)
    assert more.estimate(2, 1)[2] == 0.0
    kept = np.ix_([0, 1, 3], [0, 1, 3])
    assert more.covariance(2, 1)[kept] == pytest.approx(plain.covariance(2, 1), rel=1e-9)
    assert more.covariance(2, 1)[2, 2] == np.inf
    assert more.test.degrees_of_freedom == plain.test.degrees_of_freedom
    assert more.test.statistic == pytest.approx(plain.test.statistic, rel=1e-9)


@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_collinear_columns_share_the_smallest_theta_and_change_nothing(offset: float) -> None:
    rows, labels = three_classes(300, np.random.default_rng(7))
    plain = bridged(rows, labels)
    third = rows[:, :1] * 1000.0 + offset
    more = bridged(np.hstack([rows, third]), labels)
    # With an offset, x = 0 is a row that cannot be: its log odds depend on how θ is shared.
    assert more.is_estimable(2, 1).tolist() == [offset == 0.0, False, True, False]
    found = more.estimate(2, 1)
    # The same θ in units of standard deviations for each of the two.
    assert found[3] * 1000.0 == pytest.approx(found[1], rel=1e-6)
    assert found[1] + 1000.0 * found[3] == pytest.approx(plain.estimate(2, 1)[1], rel=1e-6)
    assert more.covariance(2, 1)[2, 2] == pytest.approx(plain.covariance(2, 1)[2, 2], rel=1e-6)
    assert more.test.degrees_of_freedom == plain.test.degrees_of_freedom
    assert more.test.statistic == pytest.approx(plain.test.statistic, rel=1e-6)


def test_indicators_of_every_level_leave_the_other_columns_determined() -> None:
    rng = np.random.default_rng(8)
    rows, labels = three_classes(300, rng)
    level = rng.integers(0, 3, 300)
    dummies = np.eye(3)[level]
    full, reduced = np.hstack([rows, dummies]), np.hstack([rows, dummies[:, 1:]])
    more, plain = bridged(full, labels), bridged(reduced, labels)
    assert more.is_estimable(1, 0).tolist() == [False, True, True, False, False, False]
    assert more.estimate(1)[1:3] == pytest.approx(plain.estimate(1)[1:3], rel=1e-6)
    inner = np.ix_([1, 2], [1, 2])
    assert more.covariance(1)[inner] == pytest.approx(plain.covariance(1)[inner], rel=1e-6)
    assert more.test.degrees_of_freedom == plain.test.degrees_of_freedom
    assert more.test.statistic == pytest.approx(plain.test.statistic, rel=1e-6)


def test_where_a_column_decides_alone_there_is_nothing_to_test() -> None:
    labels = np.arange(60) % 2
    rows = np.column_stack([np.random.default_rng(9).standard_normal(60), labels])
    found = bridged(rows, labels)
    assert found.is_estimable(1).tolist() == [False, True, False]
    assert found.test.degrees_of_freedom == 0
    assert found.test.p_value == 1.0
    assert found.difference_covariance(1) is None


def test_a_class_that_stands_apart_does_not_hide_the_others() -> None:
    rng = np.random.default_rng(10)
    rows, labels = three_classes(600, rng, count=2)
    alone = bridged(rows, labels)
    apart = np.vstack([rows, rows[:50] + 1e3])
    found = bridged(apart, np.concatenate([labels, np.full(50, 2)]))
    assert found.difference_covariance(2, 0) is None
    between = found.difference_covariance(1, 0)
    assert between is not None
    assert np.isfinite(between).all()
    assert found.test.degrees_of_freedom == alone.test.degrees_of_freedom


# The test


@pytest.mark.parametrize("distance", [2.0, 3.0])
def test_the_level_is_kept_on_normal_classes(distance: float) -> None:
    draws = 400
    rejected = np.mean(p_values("normal", 500, distance, draws) < 0.05)
    # Between 3.5 % and 6.5 %, and four standard errors of 400 draws.
    assert 0.035 - 4.0 * np.sqrt(0.035 / draws) < rejected < 0.065 + 4.0 * np.sqrt(0.065 / draws)


def test_the_level_is_kept_with_three_classes() -> None:
    draws = 300
    rejected = np.mean(p_values("normal", 900, 2.0, draws, count=3) < 0.05)
    assert 0.0 < rejected < 0.065 + 4.0 * np.sqrt(0.065 / draws)


@pytest.mark.parametrize("kind", ["unequal covariances", "poisson", "exponential"])
def test_classes_that_are_not_normal_with_one_covariance_are_found(kind: str) -> None:
    assert np.mean(p_values(kind, 2000, 2.0, 25) < 0.05) >= 0.9


def test_the_statistic_agrees_with_that_of_a_fitted_logistic_regression() -> None:
    for seed in range(8):
        rng = np.random.default_rng([11, seed])
        rows, labels = drawn("normal", 4000, 2.0, rng)
        found = bridged(rows, labels)
        gap = fit_logistic(rows, labels, (0, 1)).estimate(1) - found.estimate(1)
        covariance = found.difference_covariance(1)
        assert covariance is not None
        wald = gap @ np.linalg.solve(covariance, gap)
        assert wald == pytest.approx(found.test.statistic, rel=0.15, abs=0.1)


def test_the_bootstrap_is_seeded_and_agrees_with_chi_squared_where_that_holds() -> None:
    rows, labels = drawn("normal", 1000, 2.5, np.random.default_rng(12))
    plain = bridged(rows, labels)
    found = [
        bridged(rows, labels, bootstrap=199, rng=np.random.default_rng(seed)) for seed in (0, 0)
    ]
    assert found[0].test == found[1].test
    assert found[0].test.draws == 199
    assert found[0].test.statistic == plain.test.statistic
    assert found[0].test.p_value == pytest.approx(plain.test.p_value, abs=0.15)


def test_the_bootstrap_draws_no_direction_that_the_rows_do_not_have() -> None:
    rng = np.random.default_rng(13)
    rows, labels = drawn("normal", 400, 2.0, rng, width=2)
    twice = np.hstack([rows, rows[:, :1]])
    seeds = (np.random.default_rng(0) for _ in range(2))
    plain, doubled = (bridged(x, labels, bootstrap=99, rng=next(seeds)) for x in (rows, twice))
    assert doubled.test.degrees_of_freedom == plain.test.degrees_of_freedom
    assert doubled.test.p_value == pytest.approx(plain.test.p_value, abs=0.2)
