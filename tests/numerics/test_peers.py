"""Where other libraries fail on legal data, the right answer. T… are the survey's numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

from suffice import GaussianDiscriminant, MultivariateNormal
from suffice.errors import BadMatrix, BadRows, BadSetting, DegenerateData, OneClass, SufficeWarning

FORMS = ["shared", "per-class", "diagonal", "shared-diagonal", "spherical"]


def two_classes(rng, n=600, d=4, gap=1.0):
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.4 * rng.normal(size=(d, d)))
    return X + gap * np.outer(y, rng.normal(size=d)), y


# T2: full-rank data are not refused because of their units


def test_t2_per_class_covariances_fit_the_breast_cancer_data():
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GaussianDiscriminant("per-class").fit(X, y)
    assert 0.97 < model.score(X, y) < 0.98
    assert (np.linalg.eigvalsh(model.covariances_[0] / np.outer(X.std(0), X.std(0))) > 0).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("unit", [1e-150, 1e-2, 1e-6, 1e6, 1e140])
def test_t2_iris_is_iris_in_any_unit(form, unit):
    X, y = load_iris(return_X_y=True)
    here, there = GaussianDiscriminant(form).fit(X, y), GaussianDiscriminant(form).fit(X * unit, y)
    np.testing.assert_allclose(
        there.predict_log_proba(X * unit), here.predict_log_proba(X), rtol=1e-8, atol=1e-9
    )
    assert there.score(X * unit, y) == here.score(X, y)


def test_t2_columns_of_very_different_units_do_not_drown_each_other():
    X, y = load_wine(return_X_y=True)
    units = 10.0 ** np.linspace(-120, 120, X.shape[1])
    for form in ("shared", "per-class", "diagonal"):
        here, there = (GaussianDiscriminant(form).fit(rows, y) for rows in (X, X * units))
        np.testing.assert_allclose(
            there.predict_proba(X * units), here.predict_proba(X), rtol=1e-7, atol=1e-12
        )


# T3: priors do not change the covariance, and covariance_ is the one used


@given(seed=st.integers(0, 2**32 - 1), prior=st.floats(0.01, 0.99))
def test_t3_priors_move_the_intercept_by_their_log_odds_and_nothing_else(seed, prior):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(900, 2)), [2.0, 1.0] + rng.normal(size=(100, 2)) * [3.0, 0.3]])
    y = np.repeat([0, 1], [900, 100])
    free = GaussianDiscriminant().fit(X, y)
    given_priors = GaussianDiscriminant(priors={0: 1 - prior, 1: prior}).fit(X, y)
    np.testing.assert_array_equal(free.covariance_, given_priors.covariance_)
    a, b = free.to_logistic(), given_priors.to_logistic()
    np.testing.assert_allclose(b.coef_, a.coef_, rtol=1e-12)
    moved = np.log(prior / (1 - prior)) - np.log(100 / 900)
    np.testing.assert_allclose(b.intercept_ - a.intercept_, moved, atol=1e-9)
    # covariance_ is the pooled one, by rows, and it is what coef_ comes from.
    pooled = sum(
        (X[y == c] - X[y == c].mean(0)).T @ (X[y == c] - X[y == c].mean(0)) for c in (0, 1)
    )
    np.testing.assert_allclose(given_priors.covariance_, pooled / 1000, rtol=1e-9)
    gap = given_priors.means_[1] - given_priors.means_[0]
    np.testing.assert_allclose(
        b.coef_[0], np.linalg.solve(given_priors.covariance_, gap), rtol=1e-9
    )


# T4: one definition of coef_ for any number of classes


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_t4_coefficients_are_contrasts_to_a_named_class(name):
    X, y = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)
    model = GaussianDiscriminant().fit(X, y)
    log_proba = model.predict_log_proba(X)
    implied = model.to_logistic()
    np.testing.assert_allclose(implied.predict_proba(X), model.predict_proba(X), atol=1e-9)
    for reference in range(3):
        found = implied.against(reference)
        assert found.reference == reference
        others = [c for c in range(3) if c != reference]
        np.testing.assert_array_equal(found.classes, others)
        odds = log_proba[:, others] - log_proba[:, [reference]]
        np.testing.assert_allclose(X @ found.coef.T + found.intercept, odds, rtol=1e-7, atol=1e-7)
    first, second = implied.against(0), implied.against(1)
    np.testing.assert_allclose(first.coef[0], -second.coef[0], rtol=1e-8)
    # All classes together, as scikit-learn has them: what is added to every class is taken out.
    odds = log_proba - log_proba.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(X @ implied.coef_.T + implied.intercept_, odds, rtol=1e-7, atol=1e-7)


# T7: far away


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("x", [1e155, -1e155, 1e200, -1e300, 1.7e308])
def test_t7_far_points_have_a_class_and_no_nan(form, x):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(0, 1, 300), rng.normal(3, 2, 300)])[:, np.newaxis]
    model = GaussianDiscriminant(form).fit(X, np.repeat(["narrow", "wide"], 300))
    proba = model.predict_proba([[x]])
    # The wide class owns both ends where variances differ; with one variance, each its side.
    shared = form.startswith("shared")
    winner = "narrow" if shared and x < 0 else "wide"
    assert model.predict([[x]]) == [winner]
    np.testing.assert_array_equal(np.sort(proba[0]), [0.0, 1.0])
    assert model.predict_log_proba([[x]]).max() == 0.0


@pytest.mark.parametrize("form", FORMS)
def test_t7_far_points_do_not_tie_at_minus_708(form):
    rng = np.random.default_rng(2)
    X, y = two_classes(rng)
    model = GaussianDiscriminant(form).fit(X, y)
    ray = np.multiply.outer(10.0 ** np.arange(3, 150, 3), rng.normal(size=4))
    lesser = model.predict_log_proba(ray).min(axis=1)
    assert np.isfinite(lesser).all()
    assert lesser[-1] < -1e100
    assert (np.diff(lesser) < 0).all()


def test_t7_the_log_odds_far_out_are_those_of_the_formula():
    rng = np.random.default_rng(3)
    X, y = two_classes(rng)
    model = GaussianDiscriminant().fit(X, y)
    implied = model.to_logistic()
    rows = rng.normal(size=(20, 4)) * 1e6
    odds = rows @ implied.coef_[0] + implied.intercept_[0]
    log_proba = model.predict_log_proba(rows)
    np.testing.assert_allclose(log_proba[:, 1] - log_proba[:, 0], odds, rtol=1e-9)
    np.testing.assert_allclose(log_proba[:, 1], -np.logaddexp(0.0, -odds), rtol=1e-9, atol=1e-300)


# T8: large offsets


@pytest.mark.parametrize("form", FORMS)
def test_t8_an_offset_of_1e8_costs_no_accuracy(form):
    rng = np.random.default_rng(4)
    X, y = two_classes(rng, n=2000, d=5)
    here, there = GaussianDiscriminant(form).fit(X, y), GaussianDiscriminant(form).fit(X + 1e8, y)
    assert abs(there.score(X + 1e8, y) - here.score(X, y)) <= 0.001
    np.testing.assert_allclose(there.predict_proba(X + 1e8), here.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_t8_float32_at_an_offset_of_1e6_keeps_the_signal_that_the_data_hold(form):
    rng = np.random.default_rng(5)
    y = np.arange(4000) % 2
    X = rng.normal(size=(4000, 4)) + 0.8 * y[:, np.newaxis]
    single = (X + 1e6).astype(np.float32)
    model = GaussianDiscriminant(form).fit(single, y)
    best = GaussianDiscriminant(form).fit(single.astype(np.float64) - 1e6, y)
    assert abs(model.score(single, y) - best.score(single.astype(np.float64) - 1e6, y)) < 0.005
    np.testing.assert_allclose(
        model.predict_proba(single), best.predict_proba(single.astype(np.float64) - 1e6), atol=1e-4
    )
    assert model.score(single, y) > GaussianDiscriminant(form).fit(X, y).score(X, y) - 0.01


def test_t8_an_offset_of_1e10_leaves_what_rounding_leaves():
    rng = np.random.default_rng(6)
    X, y = two_classes(rng, n=2000, gap=2.0)
    moved = X + 1e10
    left = moved - 1e10  # exactly what is left of the data
    for form in FORMS:
        there, best = (GaussianDiscriminant(form).fit(rows, y) for rows in (moved, left))
        np.testing.assert_allclose(there.predict_proba(moved), best.predict_proba(left), atol=1e-6)


# T14: degenerate classes, one class


@pytest.mark.parametrize("form", FORMS)
def test_t14_separable_data_of_three_rows_are_separated(form):
    with pytest.warns(DegenerateData):
        model = GaussianDiscriminant(form).fit([[0.0], [1.0], [1.0]], [0, 1, 1])
    np.testing.assert_array_equal(model.predict([[0.0], [1.0]]), [0, 1])
    if form.startswith("shared"):  # the nearest mean; else the class of one row is the wider one
        rows = [[-5.0], [0.49], [0.51], [9.0]]
        np.testing.assert_array_equal(model.predict(rows), [0, 0, 1, 1])
    proba = model.predict_proba([[0.0], [1.0]])
    np.testing.assert_allclose(proba, np.eye(2), atol=1e-6)
    assert np.isfinite(model.predict_log_proba([[0.0], [1.0]])).all()


@pytest.mark.parametrize("form", FORMS)
def test_t14_a_single_class_is_a_model(form):
    X = np.random.default_rng(7).normal(size=(20, 2))
    with pytest.warns(OneClass):
        model = GaussianDiscriminant(form).fit(X, np.zeros(20))
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((20, 1)))


# T15: constant and duplicated columns


@pytest.mark.parametrize("form", FORMS)
def test_t15_a_constant_column_changes_nothing(form):
    X, y = load_iris(return_X_y=True)
    plain = GaussianDiscriminant(form).fit(X, y)
    for value in (0.0, 0.1, -1e9, 1e-300):
        rows = np.column_stack([X, np.full(150, value)])
        with pytest.warns(DegenerateData, match="x4; they are left out"):
            model = GaussianDiscriminant(form).fit(rows, y)
        np.testing.assert_allclose(model.predict_proba(rows), plain.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("form", ["shared", "per-class"])
def test_t15_a_duplicated_column_changes_nothing(form):
    X, y = load_iris(return_X_y=True)
    plain = GaussianDiscriminant(form).fit(X, y)
    for copy in (X[:, 2], 10.0 * X[:, 2] - 3.0, X[:, 0] + X[:, 1]):
        rows = np.column_stack([X, copy])
        with pytest.warns(DegenerateData, match="x4"):
            model = GaussianDiscriminant(form).fit(rows, y)
        np.testing.assert_allclose(model.predict_proba(rows), plain.predict_proba(X), atol=1e-5)


# T16: priors are checked


@pytest.mark.parametrize(
    ("priors", "words"),
    [
        ({0: 2.0, 1: 1.0, 2: 1.0}, "add up to 4"),
        ({0: 0.2, 1: 0.2, 2: 0.2}, "add up to 0.6"),
        ({0: 1.5, 1: -0.5, 2: 0.0}, "at least 0"),
        ({0: 0.5, 1: np.nan, 2: 0.5}, "nan"),
        ({0: 0.5, 1: 0.5}, "are missing for 2"),
        ({0: 0.5, 1: 0.2, 2: 0.2, 3: 0.1}, "name 3"),
        ({"0": 0.5, "1": 0.2, "2": 0.3}, "'0'"),
        ([0.5, 0.2, 0.3], "list"),
        (np.full(3, 1 / 3), "ndarray"),
        ("uniform", "str"),
        ({0: "much", 1: 0.2, 2: 0.3}, "much"),
    ],
)
def test_t16_priors_that_are_no_priors_are_refused(priors, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(BadSetting, match=words) as caught:
        GaussianDiscriminant(priors=priors).fit(X, y)
    assert "\nHint: " in str(caught.value)
    model = GaussianDiscriminant().fit(X, y)
    with pytest.raises(BadSetting, match=words):
        model.with_priors(priors)


def test_t16_priors_go_by_label():
    X, y = load_iris(return_X_y=True)
    names = np.array(["z", "m", "a"])[y]  # the sorted order is not the order of appearance
    model = GaussianDiscriminant(priors={"z": 0.7, "m": 0.2, "a": 0.1}).fit(X, names)
    assert list(model.classes_) == ["a", "m", "z"]
    np.testing.assert_allclose(model.priors_, [0.1, 0.2, 0.7])


# T20: rows with missing cells keep their labels


@pytest.mark.parametrize("form", FORMS)
def test_t20_dropping_or_blanking_cells_never_shifts_labels_against_rows(form):
    rng = np.random.default_rng(8)
    X, y = two_classes(rng, n=300, gap=4.0)
    holed = X.copy()
    holed[rng.random(X.shape) < 0.15] = np.nan
    holed[::50] = np.nan  # whole rows: they tell the prior, and nothing else
    model = GaussianDiscriminant(form).fit(holed, y)
    whole = GaussianDiscriminant(form).fit(X, y)
    np.testing.assert_allclose(model.means_, whole.means_, atol=0.6)
    np.testing.assert_allclose(model.priors_, whole.priors_)
    assert model.score(X, y) > whole.score(X, y) - 0.02
    np.testing.assert_allclose(model.predict_proba(np.full((1, 4), np.nan))[0], model.priors_)


# T21: priors are read; more classes than columns; leave-one-out far out


@pytest.mark.parametrize("form", FORMS)
def test_t21_more_classes_than_columns(form):
    rng = np.random.default_rng(9)
    y = np.arange(700) % 7
    X = rng.normal(size=(700, 1)) + 5.0 * y[:, np.newaxis]
    model = GaussianDiscriminant(form, priors={c: (c + 1) / 28 for c in range(7)}).fit(X, y)
    np.testing.assert_allclose(model.priors_, np.arange(1, 8) / 28)
    assert model.score(X, y) > 0.97


@pytest.mark.parametrize("form", FORMS)
def test_t21_leave_one_out_of_a_row_that_is_far_away(form):
    rng = np.random.default_rng(10)
    X = np.vstack([rng.normal(size=(60, 2)), [[1e4, -1e4]]])
    y = np.append(np.arange(60) % 3, 0)
    loo = GaussianDiscriminant(form).fit(X, y).leave_one_out(X, y)
    alone = GaussianDiscriminant(form).fit(X[:60], y[:60]).predict_log_proba(X[60:])[0]
    scale = max(1.0, np.abs(alone).max())
    np.testing.assert_allclose(loo.log_posterior[60], alone, atol=1e-6 * scale)
    np.testing.assert_allclose(np.exp(loo.log_posterior).sum(axis=1), 1.0)


@pytest.mark.parametrize("form", FORMS)
def test_t21_leave_one_out_has_no_nan_however_far_a_row_is(form):
    rng = np.random.default_rng(10)
    for far in (1e9, 1e80, 1e140):
        X = np.vstack([rng.normal(size=(60, 2)), [[1e4, -1e4]], [[far, far]]])
        y = np.append(np.arange(60) % 3, [0, 1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            loo = GaussianDiscriminant(form).fit(X, y).leave_one_out(X, y)
        assert not np.isnan(loo.log_posterior).any()
        np.testing.assert_allclose(np.exp(loo.log_posterior).sum(axis=1), 1.0)


# T22: matrices that are no covariances


def test_t22_an_asymmetric_matrix_is_refused_with_its_entries():
    with pytest.raises(BadMatrix, match=r"0\.5.*0\.4|0\.4.*0\.5"):
        MultivariateNormal([0.0, 0.0], [[1.0, 0.5], [0.4, 1.0]])


@pytest.mark.parametrize("small", [1e-11, 1e-30, 1e-200])
def test_t22_a_small_variance_is_a_variance(small):
    normal = MultivariateNormal([0.0, 0.0], np.diag([1.0, small]))
    x = np.array([[0.3, 2.0 * np.sqrt(small)]])
    expected = -0.5 * (0.09 + 4.0) - np.log(2 * np.pi) - 0.5 * np.log(small)
    np.testing.assert_allclose(normal.log_density(x), expected, rtol=1e-12)


# Agreement with scikit-learn wherever that is right. Which divisor it uses (n, or n - k and
# n_k - 1) depends on its version and solver: one of our two must agree, in everything.


def well_conditioned():
    rng = np.random.default_rng(11)
    X, y = load_iris(return_X_y=True)
    yield pytest.param(X, y, id="iris")
    X, y = load_wine(return_X_y=True)
    yield pytest.param((X - X.mean(0)) / X.std(0), y, id="wine")
    X, y = two_classes(rng)
    yield pytest.param(X, np.array(["no", "yes"])[y], id="two")
    y = np.minimum(np.arange(500) % 10, 3)
    yield pytest.param(rng.normal(size=(500, 6)) + 0.7 * y[:, np.newaxis], y, id="unequal")


def agreeing(form, theirs, X, y):
    """Return our model with the divisor of theirs."""
    models = [GaussianDiscriminant(form, divisor=d).fit(X, y) for d in ("mle", "unbiased")]
    gaps = [np.abs(m.predict_proba(X) - theirs.predict_proba(X)).max() for m in models]
    return models[int(np.argmin(gaps))]


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize(("X", "y"), list(well_conditioned()))
def test_flat_boundaries_agree_with_scikit_learns(X, y, solver):
    theirs = LinearDiscriminantAnalysis(solver=solver, store_covariance=True).fit(X, y)
    ours = agreeing("shared", theirs, X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.priors_, theirs.priors_, rtol=1e-12)


@pytest.mark.parametrize(("X", "y"), list(well_conditioned()))
def test_quadratic_boundaries_agree_with_scikit_learns(X, y):
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    ours = agreeing("per-class", theirs, X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    theirs_covariances = np.stack(theirs.covariance_)
    np.testing.assert_allclose(ours.covariances_, theirs_covariances, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("X", "y"), list(well_conditioned()))
def test_discriminant_coordinates_agree_with_scikit_learns_up_to_sign(X, y):
    theirs = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    ours = agreeing("shared", theirs, X, y)
    np.testing.assert_allclose(
        np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-6, atol=1e-8
    )
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8
    )


def test_the_logistic_function_is_exact_for_two_flat_classes():
    X, y = two_classes(np.random.default_rng(12))
    model = GaussianDiscriminant().fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], expit(model.decision_function(X)), rtol=1e-12
    )
    with pytest.raises(BadRows):
        model.predict([[1.0, 2.0]])
