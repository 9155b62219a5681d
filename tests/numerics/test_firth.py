"""Firth's correction against laws that can be checked by hand, and against plain maximisation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize, root
from scipy.sparse import csr_array
from scipy.special import chdtrc, chdtri, log_softmax

from suffice import LogisticRegression
from suffice.errors import BadSetting
from suffice.models.linear.logistic import firth
from suffice.models.linear.logistic.firth import fit_firth
from suffice.models.linear.logistic.fit import standardised_loss
from suffice.models.linear.logistic.loss import LogisticLoss
from suffice.models.linear.logistic.objective import Objective
from suffice.models.linear.logistic.search import objective_of
from suffice.rows import read_sparse


def loss_of(rows, codes, weights=None):
    codes = np.asarray(codes, dtype=np.intp)
    rows = np.asarray(rows, dtype=np.float64)
    return standardised_loss(rows, codes, int(codes.max()) + 1, weights)


def fit_of(rows, codes, weights=None, **settings):
    return fit_firth(objective_of(loss_of(rows, codes, weights), 0.0), **settings)


def log_odds(fit, loss):
    """Return the scores of every class but the first, row by row."""
    return loss.design(slice(0, len(loss))) @ fit.theta.T


def penalised_loss(loss, theta):
    """Return -ℓ - ½ log|I|, written down as it is."""
    design, weights = loss.design(slice(0, len(loss))), loss.weights
    weights = np.ones(len(loss)) if weights is None else weights
    scores = np.column_stack([np.zeros(len(loss)), design @ theta.T])
    log_p = log_softmax(scores, axis=1)
    p = np.exp(log_p[:, 1:])
    bends = np.einsum("na,ab->nab", p, np.eye(p.shape[1])) - np.einsum("na,nb->nab", p, p)
    information = np.einsum("n,nab,ni,nj->aibj", weights, bends, design, design)
    size = theta.size
    log_determinant = np.linalg.slogdet(information.reshape(size, size))[1]
    return -weights @ log_p[np.arange(len(loss)), loss.codes] - 0.5 * log_determinant


def score(loss, theta):
    """Return the gradient of ℓ + ½ log|I| by the third cumulants κ_abc of a multinomial draw."""
    design, weights = loss.design(slice(0, len(loss))), loss.weights
    weights = np.ones(len(loss)) if weights is None else weights
    scores = np.column_stack([np.zeros(len(loss)), design @ theta.T])
    p = np.exp(log_softmax(scores, axis=1))[:, 1:]
    m, width = theta.shape
    same = np.eye(m)
    bends = np.einsum("na,ab->nab", p, same) - np.einsum("na,nb->nab", p, p)
    information = np.einsum("n,nab,ni,nj->aibj", weights, bends, design, design)
    inverse = np.linalg.inv(information.reshape(m * width, -1)).reshape(m, width, m, width)
    g = np.einsum("ni,aibj,nj->nab", design, inverse, design)
    cumulants = (
        np.einsum("ab,ac,na->nabc", same, same, p)
        - np.einsum("ab,na,nc->nabc", same, p, p)
        - np.einsum("ac,na,nb->nabc", same, p, p)
        - np.einsum("bc,na,nb->nabc", same, p, p)
        + 2.0 * np.einsum("na,nb,nc->nabc", p, p, p)
    )
    own = loss.codes[:, np.newaxis] == np.arange(1, m + 1)
    pull = own - p + 0.5 * np.einsum("nabc,nab->nc", cumulants, g)
    return (weights[:, np.newaxis] * pull).T @ design


counts = st.integers(0, 9)


@given(st.lists(counts, min_size=4, max_size=4).filter(lambda n: n[0] + n[1] and n[2] + n[3]))
def test_a_two_by_two_table_gets_half_a_row_in_every_cell(table):
    a, b, c, d = table  # level 0: a of class 0, b of class 1; level 1: c and d
    rows = np.array([[0.0]] * (a + b) + [[1.0]] * (c + d))
    codes = np.array([0] * a + [1] * b + [0] * c + [1] * d)
    if codes.min() == codes.max():
        return
    loss = loss_of(rows, codes)
    found = log_odds(fit_of(rows, codes), loss)[:, 0]
    np.testing.assert_allclose(found[0], np.log((b + 0.5) / (a + 0.5)), atol=1e-8)
    np.testing.assert_allclose(found[-1], np.log((d + 0.5) / (c + 0.5)), atol=1e-8)


@given(
    st.integers(2, 4),
    st.integers(1, 3),
    st.lists(st.floats(0.1, 20.0), min_size=12, max_size=12),
    st.sets(st.integers(0, 11), max_size=5),
)
def test_a_table_of_levels_and_classes_gets_half_a_row_in_every_cell(size, levels, cells, empty):
    # Weights stand for counts; cells without weight are rows that are not there.
    table = np.where([i in empty for i in range(12)], 0.0, cells)[: size * levels]
    table = table.reshape(levels, size)
    table[0] = np.maximum(table[0], 0.5)  # every class has a row
    table[:, 0] = np.maximum(table[:, 0], 0.5)  # and every level
    level, code = np.nonzero(table)
    loss = loss_of(np.eye(levels)[level], code, table[level, code])
    found = fit_firth(objective_of(loss, 0.0))
    assert found.converged
    expected = np.log(table + 0.5)[level]
    np.testing.assert_allclose(log_odds(found, loss), expected[:, 1:] - expected[:, :1], atol=1e-7)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("kind", ["overlapping", "weighted", "separated"])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_maximum_of_the_likelihood_under_jeffreys_prior(classes, kind, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, 2))
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, 40 - classes)])
    if kind == "separated":
        codes = np.digitize(rows[:, 0], np.quantile(rows[:, 0], np.arange(1, classes) / classes))
    weights = rng.uniform(0.2, 3.0, 40) if kind == "weighted" else None
    loss = loss_of(rows, codes, weights)
    found = fit_of(rows, codes, weights)
    assert found.converged
    np.testing.assert_allclose(found.penalized_loss, penalised_loss(loss, found.theta), rtol=1e-10)
    # SciPy's root of a score that is written differently, from somewhere else nearby.
    start = found.theta + 0.01 * rng.normal(size=loss.shape)
    other = root(lambda t: score(loss, t.reshape(loss.shape)).ravel(), start.ravel(), tol=1e-13)
    errors = np.sqrt(np.diagonal(found.covariance))
    assert (np.abs(other.x - found.theta.ravel()) < 1e-8 * np.maximum(errors, 1.0)).all()
    # And a maximum, not any other place without slope.
    for step in 0.1 * rng.normal(size=(20, *loss.shape)):
        assert penalised_loss(loss, found.theta + step) > found.penalized_loss


@given(st.integers(0, 2**16), st.integers(2, 4), st.booleans())
def test_the_score_is_the_slope_of_the_penalised_likelihood(seed, classes, weighted):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(25, 2))
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, 25 - classes)])
    loss = loss_of(rows, codes, rng.uniform(0.2, 3.0, 25) if weighted else None)
    problem = firth._Problem(Objective(loss), 100)
    theta = rng.normal(size=loss.shape)
    slope = problem.slope(problem.first_pass(theta.ravel())).reshape(loss.shape)
    np.testing.assert_allclose(slope, -score(loss, theta), rtol=1e-8, atol=1e-9)
    step = 1e-5 * rng.normal(size=loss.shape)
    difference = penalised_loss(loss, theta + step) - penalised_loss(loss, theta - step)
    np.testing.assert_allclose(difference, 2.0 * (slope * step).sum(), rtol=1e-5, atol=1e-9)


def test_ten_numbers_split_in_the_middle_have_finite_estimates():
    rows = np.arange(10.0)[:, np.newaxis]
    loss = loss_of(rows, rows[:, 0] > 4.5)
    found = fit_of(rows, rows[:, 0] > 4.5)
    assert found.converged
    assert found.decrement <= 1e-10
    np.testing.assert_allclose(score(loss, found.theta), 0.0, atol=1e-9)
    assert 1.0 < found.theta[0, 1] < 10.0
    assert abs(found.theta[0, 0]) < 1e-9  # the split is symmetric


@given(st.integers(0, 2**16), st.integers(2, 4), st.integers(1, 3))
def test_separated_classes_have_finite_estimates(seed, classes, width):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, width))
    codes = np.digitize(rows[:, 0], np.quantile(rows[:, 0], np.arange(1, classes) / classes))
    found = fit_of(rows, codes)
    assert found.converged
    assert np.isfinite(found.theta).all()
    assert (np.diagonal(found.covariance) > 0.0).all()


def test_a_weight_of_two_is_two_rows():
    rng = np.random.default_rng(0)
    rows, codes = rng.normal(size=(30, 2)), np.arange(30) % 3
    times = rng.integers(1, 4, 30)
    weighted = fit_of(rows, codes, times.astype(float))
    repeated = fit_of(np.repeat(rows, times, axis=0), np.repeat(codes, times))
    np.testing.assert_allclose(weighted.theta, repeated.theta, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(weighted.loss, repeated.loss, rtol=1e-12)


def test_units_and_offsets_do_not_matter():
    rng = np.random.default_rng(1)
    rows, codes = rng.normal(size=(50, 3)), np.arange(50) % 2
    here, there = fit_of(rows, codes), fit_of(rows * [1e-6, 1e9, -3.0] + [1.0, 1e10, -7.0], codes)
    np.testing.assert_allclose(there.theta, here.theta * [1.0, 1.0, 1.0, -1.0], rtol=1e-7)


def test_sparse_rows_have_the_estimates_of_filled_ones():
    rng = np.random.default_rng(2)
    rows = rng.poisson(0.5, size=(80, 4)).astype(float)
    codes = np.arange(80) % 3
    loss = standardised_loss(read_sparse(csr_array(rows)), codes, 3, None)
    found = fit_firth(objective_of(loss, 0.0))
    np.testing.assert_allclose(found.theta, fit_of(rows, codes).theta, atol=1e-9)


def test_many_rows_are_the_same_in_blocks_as_at_once(monkeypatch):
    rng = np.random.default_rng(3)
    rows, codes = rng.normal(size=(30_000, 8)), rng.integers(0, 3, 30_000)
    whole = fit_of(rows, codes)
    monkeypatch.setattr("suffice.models.linear.logistic.loss.CELLS", 5_000)
    np.testing.assert_allclose(fit_of(rows, codes).theta, whole.theta, rtol=1e-9, atol=1e-11)


def test_collinear_columns_share_their_coefficient():
    rng = np.random.default_rng(4)
    rows, codes = rng.normal(size=(60, 2)), np.arange(60) % 3
    plain = fit_of(rows, codes)
    twice = fit_of(np.column_stack([rows, 5.0 * rows[:, 0], np.ones(60)]), codes)
    assert twice.converged
    np.testing.assert_allclose(twice.theta[:, 1], plain.theta[:, 1] / 2.0, atol=1e-9)
    np.testing.assert_allclose(twice.theta[:, 3], plain.theta[:, 1] / 2.0, atol=1e-9)
    np.testing.assert_allclose(twice.theta[:, [0, 2]], plain.theta[:, [0, 2]], atol=1e-9)
    np.testing.assert_allclose(twice.theta[:, 4], 0.0, atol=1e-12)
    np.testing.assert_allclose(twice.loss, plain.loss, rtol=1e-10)


def test_more_columns_than_rows_have_finite_estimates():
    rng = np.random.default_rng(5)
    found = fit_of(rng.normal(size=(12, 30)), np.arange(12) % 2)
    assert found.converged
    assert np.isfinite(found.theta).all()


def test_covariance_is_the_inverse_of_the_information():
    rng = np.random.default_rng(6)
    found = fit_of(rng.normal(size=(40, 3)), np.arange(40) % 3)
    np.testing.assert_allclose(found.covariance @ found.information, np.eye(8), atol=1e-9)


def test_where_it_starts_does_not_matter():
    rng = np.random.default_rng(7)
    rows, codes = rng.normal(size=(40, 2)), np.arange(40) % 2
    plain = fit_of(rows, codes)
    for start in (plain.theta, plain.theta + 1.0, np.full((1, 3), 1e3), np.full((1, 3), np.nan)):
        again = fit_of(rows, codes, start=start)
        np.testing.assert_allclose(again.theta, plain.theta, atol=1e-8)
    assert fit_of(rows, codes, start=plain.theta).iterations <= 1


def test_too_few_passes_are_said():
    rows = np.arange(10.0)[:, np.newaxis]
    found = fit_of(rows, rows[:, 0] > 4.5, most=4)
    assert not found.converged
    assert found.passes <= 6
    assert found.decrement > 1e-6


def test_information_without_an_inverse_is_refused():
    rows = np.ones((4, 1)) * [[1.0], [2.0], [3.0], [4.0]] * [1.0, 2.0]
    with pytest.raises(BadSetting, match="the information about 3 coefficients is singular"):
        fit_firth(Objective(loss_of(rows, [0, 1, 0, 1])))


def test_more_coefficients_than_a_matrix_can_hold_are_refused(monkeypatch):
    monkeypatch.setattr(firth, "MOST_COEFFICIENTS", 2)
    with pytest.raises(BadSetting, match="of 3 coefficients"):
        fit_of(np.random.default_rng(0).normal(size=(9, 2)), np.arange(9) % 2)


# Profiles of the penalised likelihood


def plain_score(rows, codes, weights):
    """Return -ℓ - ½ log|I| and its slope in the user's units: `score` with columns as they are."""
    held = loss_of(rows, codes, weights)
    none = np.zeros_like(held.origin)
    plain = LogisticLoss(held.rows, held.codes, held.size, weights, none, none + 1.0)

    def look(theta):
        theta = theta.reshape(plain.shape)
        try:
            return penalised_loss(plain, theta), -score(plain, theta).ravel()
        except np.linalg.LinAlgError:  # a first step of SciPy's that was much too long
            return 1e6, np.zeros(theta.size)

    return look


def profile_by_brute_force(look, estimates, place, level):
    """Return ends and likelihood-ratio statistic of one coefficient, by SciPy's BFGS."""
    start = estimates.ravel()
    others = np.arange(len(start)) != place
    solved = {start[place]: start[others]}
    best = look(start)[0]
    target = best + chdtri(1, 1.0 - level) / 2.0

    def refitted(value):
        def held(free):
            theta = np.empty(len(start))
            theta[place], theta[others] = value, free
            found, slope = look(theta)
            return found, slope[others]

        nearest = min(solved, key=lambda t: abs(t - value))
        options = {"gtol": 1e-9, "maxiter": 1000}
        found = minimize(held, solved[nearest], jac=True, method="BFGS", options=options)
        solved[value] = found.x
        return found.fun

    ends = []
    for side in (-1.0, 1.0):
        reach = 0.1
        while refitted(start[place] + side * reach) < target:
            reach *= 1.25  # from near to far: separated classes have long valleys
        inside, outside = start[place] + side * reach / 1.25, start[place] + side * reach
        ends.append(brentq(lambda t: refitted(t) - target, inside, outside, xtol=1e-10))
    at_zero = [refitted(t) for t in np.linspace(start[place], 0.0, 8)[1:]][-1]
    return *ends, 2.0 * (at_zero - best)


@pytest.mark.parametrize(
    ("kind", "classes", "seed"),
    # Every kind with two classes and with three, and with either level.
    [
        (kind, classes, (place + classes) % 2)
        for place, kind in enumerate(["overlapping", "weighted", "separated", "sparse"])
        for classes in (2, 3)
    ],
)
def test_profiles_and_their_tests_are_those_of_refitting_by_brute_force(classes, kind, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal([0.0, 3.0], size=(25, 2))
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, 25 - classes)])
    if kind == "separated":
        codes = np.digitize(rows[:, 0], np.quantile(rows[:, 0], np.arange(1, classes) / classes))
    if kind == "sparse":
        rows = rng.poisson(0.4, size=(25, 2)).astype(float)
    weights = rng.uniform(0.5, 2.0, 25) if kind == "weighted" else None
    X = csr_array(rows) if kind == "sparse" else rows
    model = LogisticRegression(correction="firth", tolerance=1e-10).fit(X, codes, weights)
    level = (0.95, 0.8)[seed]
    told = model.summary(X, codes, weights, intervals="profile", level=level)
    look = plain_score(rows, codes, weights)
    place = 1 + seed + 3 * (classes - 2) * seed
    low, high, statistic = profile_by_brute_force(look, told.estimates, place, level)
    np.testing.assert_allclose(
        [told.low.flat[place], told.high.flat[place]], [low, high], rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(told.z.flat[place] ** 2, statistic, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(told.p.flat[place], chdtrc(1, statistic), rtol=1e-5)
    np.testing.assert_array_equal(np.sign(told.z), np.sign(told.estimates))
    assert "profile penalised likelihood" in str(told)


def test_a_level_that_is_not_significant_has_zero_inside_its_interval():
    """An interval of 1 - p ends at 0: profile and test are one and the same."""
    rows, codes = np.arange(10.0)[:, np.newaxis], np.repeat([0, 1], 5)
    model = LogisticRegression(correction="firth", tolerance=1e-10).fit(rows, codes)
    told = model.summary(rows, codes, intervals="profile")
    for j in range(2):
        edge = model.summary(rows, codes, intervals="profile", level=1.0 - told.p[0, j])
        nearest = edge.low[0, j] if told.estimates[0, j] > 0.0 else edge.high[0, j]
        assert nearest == pytest.approx(0.0, abs=1e-6)


def test_other_rows_are_not_those_of_the_fit():
    rows, codes = np.arange(10.0)[:, np.newaxis], np.repeat([0, 1], 5)
    model = LogisticRegression(correction="firth").fit(rows, codes)
    assert str(model.summary(rows, codes)) == str(model.summary())
    with pytest.raises(BadSetting, match="these are not the rows of the fit"):
        model.summary(rows, codes[[1, 2, 3, 4, 5, 0, 6, 7, 8, 9]], intervals="profile")


def test_profiles_have_a_budget(monkeypatch):
    rows, codes = np.arange(10.0)[:, np.newaxis], np.repeat([0, 1], 5)
    model = LogisticRegression(correction="firth").fit(rows, codes)
    monkeypatch.setattr(firth, "PROFILE_WORK", 7000.0)  # 2·40·2·12·2² = 7,680
    with pytest.raises(BadSetting, match="profiles of 2 coefficients by 10 rows"):
        model.summary(rows, codes, intervals="profile")
