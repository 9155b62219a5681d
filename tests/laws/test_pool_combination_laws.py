"""A pool's answer is a sum of what its members say and, in part, a product."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from suffice.models.pool.combined.combination import (
    DEVIATION,
    DEVIATION_ROWS,
    DOUBT,
    LEAST_FACTOR,
    PRODUCT,
    PRODUCT_ROWS,
    TOTAL,
    Combination,
    cross_fitted_pool,
)
from suffice.models.pool.combined.exponents import INTERCEPT_VARIANCE

if TYPE_CHECKING:
    from suffice.rows import FloatArray, IntArray


def said(seed: int, members: int, rows: int, classes: int) -> tuple[FloatArray, IntArray]:
    """Return what members say, the last of them the class shares, and labels that they know of."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), rng.integers(classes, size=rows - classes)])
    scores = rng.normal(scale=1.5, size=(members, rows, classes))
    scores[:, np.arange(rows), codes] += rng.uniform(0.0, 3.0, size=(members, 1))
    scores[-1] = np.log(np.bincount(codes, minlength=classes))
    raised = np.exp(scores - scores.max(axis=2, keepdims=True))
    return raised / raised.sum(axis=2, keepdims=True), codes


cases = st.tuples(st.integers(0, 10**6), st.integers(2, 5), st.integers(12, 60), st.integers(2, 4))


def loss(posterior: FloatArray, codes: IntArray) -> float:
    return float(-np.log(posterior[np.arange(len(codes)), codes]).mean())


@given(cases)
def test_answers_are_probabilities(case: tuple[int, int, int, int]) -> None:
    judged, codes = said(*case)
    found = Combination.of(judged, codes, np.ones(len(codes)), len(judged) - 1)
    p = found.posterior(list(judged[found.answering]))
    assert p.min() > 0.0
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)


@given(cases)
def test_a_weight_of_two_is_the_row_twice(case: tuple[int, int, int, int]) -> None:
    judged, codes = said(*case)
    weights = np.random.default_rng(case[0]).integers(1, 3, size=len(codes)).astype(float)
    often = np.repeat(np.arange(len(codes)), weights.astype(int))
    one = Combination.of(judged, codes, weights, len(judged) - 1)
    two = Combination.of(judged[:, often], codes[often], np.ones(len(often)), len(judged) - 1)
    np.testing.assert_allclose(one.shares, two.shares, atol=1e-9)
    assert (one.exponents is None) == (two.exponents is None)
    if one.exponents is not None and two.exponents is not None:
        np.testing.assert_allclose(one.exponents, two.exponents, atol=1e-6)


@given(cases)
def test_rows_of_weight_zero_say_nothing(case: tuple[int, int, int, int]) -> None:
    judged, codes = said(*case)
    weights = np.ones(len(codes))
    weights[-3:] = 0.0
    known = np.unique(codes[:-3], return_inverse=True)[1]
    if known.max() < codes.max():
        return  # a class is gone: the answers have other columns
    one = Combination.of(judged, codes, weights, len(judged) - 1)
    two = Combination.of(judged[:, :-3], codes[:-3], weights[:-3], len(judged) - 1)
    np.testing.assert_allclose(one.shares, two.shares, atol=1e-9)
    if one.exponents is not None and two.exponents is not None:
        np.testing.assert_allclose(one.exponents, two.exponents, atol=1e-6)


@given(cases)
def test_the_order_of_members_does_not_matter(case: tuple[int, int, int, int]) -> None:
    judged, codes = said(*case)
    order = np.r_[np.random.default_rng(case[0]).permutation(len(judged) - 1), len(judged) - 1]
    one = Combination.of(judged, codes, np.ones(len(codes)), len(judged) - 1)
    two = Combination.of(judged[order], codes, np.ones(len(codes)), len(judged) - 1)
    np.testing.assert_allclose(one.shares[order], two.shares, atol=1e-6)
    here, there = (
        one.posterior(list(judged[one.answering])),
        two.posterior(list(judged[order][two.answering])),
    )
    np.testing.assert_allclose(here, there, atol=1e-3)  # steps end within 1e-4 nats of the minimum


@pytest.mark.parametrize("seed", range(6))
def test_exponents_are_those_of_the_least_penalised_loss(seed: int) -> None:
    """Held against SciPy: the loss of the product, with the penalties of its page."""
    judged, codes = said(seed, 4, 80, 3)
    found = Combination.of(judged, codes, np.ones(80), 3)
    assert found.exponents is not None
    assert found.offsets is not None
    used = np.flatnonzero(found.exponents[:3] + (found.shares[:3] >= 0.01))
    log_prior = np.log((np.bincount(codes) + 0.5) / (80 + 1.5))
    factors = np.log(np.maximum(judged[used], LEAST_FACTOR)) - log_prior
    factors -= factors.mean(axis=2, keepdims=True)

    def penalised(theta: FloatArray) -> float:
        a, b = theta[: len(used)], theta[len(used) :]
        scores = np.tensordot(a, factors, 1) + log_prior + b
        scores -= scores.max(axis=1, keepdims=True)
        log_posterior = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        outside = 80 - np.bincount(codes).max()
        spread = np.square(a - a.mean()).sum() / (2.0 * DEVIATION**2)
        spread *= (outside + DEVIATION_ROWS) / outside
        total = (a.sum() - TOTAL[0]) ** 2 / (2.0 * TOTAL[1] ** 2)
        ridge = 0.5e-6 * np.square(a).sum()
        own = log_posterior[np.arange(80), codes]
        doubt = DOUBT / 81.0
        others = (log_posterior.sum(axis=1) - own) / 2.0
        wanted = -((1.0 - doubt) * own + doubt * others).sum() + total
        return float(wanted + spread + ridge + np.square(b).sum() / (2.0 * INTERCEPT_VARIANCE))

    start = np.r_[np.full(len(used), 0.5), np.zeros(3)]
    bounds = [(0.0, None)] * len(used) + [(None, None)] * 3
    best = minimize(penalised, start, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-13})
    a = found.exponents[used]
    b = found.offsets + (a.sum() - 1.0) * log_prior
    assert penalised(np.r_[a, b]) <= best.fun + 1e-3


def test_members_with_reasons_of_their_own_are_surer_together() -> None:
    """Each of three members sees one of three independent columns: the product knows all three."""
    rng = np.random.default_rng(3)
    codes = rng.integers(2, size=4000)
    cells = rng.normal(size=(4000, 3)) + 1.2 * codes[:, None]
    odds = 1.2 * (cells - 0.6)
    alone = 1.0 / (1.0 + np.exp(-odds))
    judged = np.stack([np.stack([1.0 - p, p], axis=1) for p in alone.T])
    judged = np.concatenate([judged, np.full((1, 4000, 2), 0.5)])
    whole = 1.0 / (1.0 + np.exp(-odds.sum(axis=1)))
    bayes = loss(np.stack([1.0 - whole, whole], axis=1), codes)
    found = Combination.of(judged[:, :2000], codes[:2000], np.ones(2000), 3)
    some = list(judged[found.answering][:, 2000:])
    alone_loss = loss(Combination(found.shares).posterior(some), codes[2000:])
    together = loss(found.posterior(some), codes[2000:])
    assert together < alone_loss - 0.05
    assert 0.98 * PRODUCT < found.product < PRODUCT
    assert together < bayes + found.product * (alone_loss - bayes)


def sure_members(wrong: int, rows: int) -> tuple[FloatArray, IntArray]:
    """Return three members that are right about all rows but some, all the same, and very sure."""
    codes = np.arange(rows) % 2
    p = np.where(np.arange(rows) < wrong, 1e-9, 1.0 - 1e-9)
    own = np.where(codes[:, None] == np.arange(2), p[:, None], 1.0 - p[:, None])
    return np.stack([own, own, own, np.full((rows, 2), 0.5)]), codes


def test_few_rows_outside_the_largest_class_leave_the_product_little() -> None:
    """And what columns say beyond doubt leaves nothing to the chance that they say nothing."""
    rows = 400
    codes = np.where(np.arange(rows) < 2, 1, 0)
    p = np.where(codes[:, None] == np.arange(2), 0.99, 0.01)
    judged = np.stack([p, p, np.tile(np.bincount(codes) / rows, (rows, 1))])
    found = Combination.of(judged, codes, np.ones(rows), 2)
    assert found.product == pytest.approx(PRODUCT * 2 / (2 + PRODUCT_ROWS), rel=1e-2)


def test_rows_that_are_all_told_apart_do_not_drive_exponents_up() -> None:
    """Left free, they would add up to as much as makes any answer certain."""
    judged, codes = sure_members(0, 50)
    judged[:3] = np.where(judged[:3] > 0.5, 0.8, 0.2)
    found = Combination.of(judged, codes, np.ones(50), 3)
    assert found.exponents is not None
    assert TOTAL[0] < found.exponents.sum() < TOTAL[0] + 3 * TOTAL[1]


def test_members_that_were_never_wrong_are_doubted() -> None:
    """That 50 rows were told apart does not make one of a million certain."""
    judged, codes = sure_members(0, 50)
    found = Combination.of(judged, codes, np.ones(50), 3)
    new = found.posterior([np.array([[1.0 - 1e-9, 1e-9]])] * 3 + [np.array([[0.5, 0.5]])])
    often, codes = sure_members(0, 5000)
    many = Combination.of(often, codes, np.ones(5000), 3)
    sure = many.posterior([np.array([[1.0 - 1e-9, 1e-9]])] * len(many.answering))
    assert found.exponents is not None
    assert found.exponents.sum() < TOTAL[0]
    assert sure[0, 1] <= new[0, 1]


def test_columns_that_say_nothing_leave_the_answer_to_the_class_shares() -> None:
    """Judged losses that are those of the class shares leave more to them than beforehand."""
    rng = np.random.default_rng(8)
    codes = rng.integers(2, size=25)
    noise = rng.normal(size=(5, 25))
    p = 1.0 / (1.0 + np.exp(-noise))
    judged = np.concatenate([np.stack([p, 1.0 - p], axis=2), np.full((1, 25, 2), 0.5)])
    found = Combination.of(judged, codes, np.ones(25), 5)
    told = judged.copy()
    own = np.where(codes[:, None] == np.arange(2), 0.9, 0.1)
    told[:5] = own
    assert found.shares[5] > 0.25
    assert Combination.of(told, codes, np.ones(25), 5).shares[5] < 0.1


def test_few_rows_leave_shares_nearer_to_each_other() -> None:
    """The best of five members by 25 rows is not nearly as surely the best as by 250."""
    judged, codes = said(1, 6, 25, 2)
    few = Combination.of(judged, codes, np.ones(25), 5)
    often = np.tile(np.arange(25), 10)
    many = Combination.of(judged[:, often], codes[often], np.ones(250), 5)
    assert few.shares.max() < 0.85
    assert many.shares.max() > 0.95


@pytest.mark.parametrize("sure", [0.0, 1e-300])
def test_a_member_that_is_wrong_and_sure_costs_the_pool_little(sure: float) -> None:
    judged, codes = said(5, 3, 60, 2)
    judged[0, :, 1], judged[0, :, 0] = sure, 1.0 - sure
    found = Combination.of(judged, codes, np.ones(60), 2)
    p = found.posterior(list(judged[found.answering]))
    assert np.isfinite(np.log(p)).all()
    assert loss(p, codes) < loss(judged[2], codes)


def test_hundreds_of_classes_have_no_intercepts_and_take_no_time() -> None:
    judged, codes = said(1, 4, 700, 200)
    found, posterior = cross_fitted_pool(judged, codes, np.ones(700), np.arange(700) % 5, 3)
    assert found.exponents is not None
    assert posterior.shape == (700, 200)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, atol=1e-9)


@given(cases)
def test_what_judges_a_fold_has_not_seen_it(case: tuple[int, int, int, int]) -> None:
    """Other labels in a fold change what is said of all other folds, and not of this one."""
    judged, codes = said(*case)
    folds = np.arange(len(codes)) % 4
    other = codes.copy()
    other[folds == 0] = other[folds == 0][::-1]
    weights = np.ones(len(codes))
    _, before = cross_fitted_pool(judged, codes, weights, folds, len(judged) - 1)
    _, after = cross_fitted_pool(judged, other, weights, folds, len(judged) - 1)
    np.testing.assert_array_equal(before[folds == 0], after[folds == 0])
