"""Gaussian discriminants that can be checked by pencil, method by method."""

from __future__ import annotations

import warnings
from math import exp, log, pi, sqrt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from suffice import GaussianDiscriminant
from suffice.errors import Approximation, NoPValue, NotLinear, SufficeWarning

# Two classes on a line, means 1 and 5. All four rows lie 1 away from their mean: σ² = 4/4 = 1,
# or 4/(4 - 2) = 2 without bias. θ = (5 - 1)/σ², θ₀ = -(25 - 1)/(2σ²).
LINE = [[0.0], [2.0], [4.0], [6.0]]
SIDES = ["a", "a", "b", "b"]

# Two classes on a line of different spread: N(0, 1) and N(10, 4).
UNEQUAL = [[-1.0], [1.0], [8.0], [12.0]]

# Two classes in the plane, both with scatter (8, 4; 4, 4) about (0, 0) and (10, 20): over four
# rows each, Σ = (2, 1; 1, 1).
SHAPE = np.array([[2.0, 1.0], [-2.0, -1.0], [0.0, 1.0], [0.0, -1.0]])
PLANE = np.vstack([SHAPE, SHAPE + np.array([10.0, 20.0])])
HALVES = np.repeat([0, 1], 4)


@pytest.fixture
def line():
    return GaussianDiscriminant().fit(LINE, SIDES)


# What was learned


def test_means_priors_and_variance_are_those_of_the_rows(line):
    assert list(line.classes_) == ["a", "b"]
    np.testing.assert_allclose(line.means_, [[1.0], [5.0]])
    np.testing.assert_allclose(line.priors_, [0.5, 0.5])
    np.testing.assert_allclose(line.covariance_, [[1.0]])
    unbiased = GaussianDiscriminant(divisor="unbiased").fit(LINE, SIDES)
    np.testing.assert_allclose(unbiased.covariance_, [[2.0]])


def test_every_form_of_covariance_by_hand():
    rows = np.vstack([SHAPE, [[9.0, 21.0], [11.0, 19.0], [9.0, 19.0], [11.0, 21.0]]])
    first, second = [[2.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]
    for form, expected in {
        "per-class": [first, second],
        "shared": [[[1.5, 0.5], [0.5, 1.0]]] * 2,
        "diagonal": [np.diag([2.0, 1.0]), second],
        "shared-diagonal": [np.diag([1.5, 1.0])] * 2,
        "spherical": [np.eye(2) * 1.5, second],
    }.items():
        model = GaussianDiscriminant(form).fit(rows, HALVES)
        np.testing.assert_allclose(model.covariances_, expected, atol=1e-12, err_msg=form)


def test_pooling_mixes_scatters_as_friedman_does():
    rows = np.vstack([SHAPE, [[9.0, 21.0], [11.0, 19.0], [9.0, 19.0], [11.0, 21.0]]])
    model = GaussianDiscriminant("per-class", pool=0.5).fit(rows, HALVES)
    # [½(4, 0; 0, 4) + ½(12, 4; 4, 8)] / [½·4 + ½·8]
    np.testing.assert_allclose(model.covariances_[1], np.array([[8.0, 2.0], [2.0, 6.0]]) / 6)


def test_shrinking_moves_toward_either_target():
    rows = np.vstack([SHAPE, [[9.0, 21.0], [11.0, 19.0], [9.0, 19.0], [11.0, 21.0]]])
    own = GaussianDiscriminant("per-class", shrink=0.5).fit(rows, HALVES)
    np.testing.assert_allclose(own.covariances_[0], [[2.0, 0.5], [0.5, 1.0]])
    scaled = GaussianDiscriminant("per-class", shrink=1.0, shrink_target="scaled")
    # The shared diagonal is (1.5, 1), class 1's own (1, 1): t = (1/1.5 + 1)/2 = 5/6.
    scaled.fit(rows, HALVES)
    np.testing.assert_allclose(scaled.covariances_[1], np.diag([1.25, 5 / 6]), atol=1e-12)


# Posteriors and densities


def test_the_log_odds_are_linear_with_the_slope_and_intercept_of_the_notes(line):
    implied = line.to_logistic()
    np.testing.assert_allclose(implied.coef_, [[4.0]])
    np.testing.assert_allclose(implied.intercept_, [-12.0])
    np.testing.assert_allclose(line.decision_function([[3.0], [4.0], [0.0]]), [0.0, 4.0, -12.0])
    np.testing.assert_allclose(line.predict_proba([[3.0]]), [[0.5, 0.5]])
    np.testing.assert_allclose(line.predict_proba([[3.5]])[0, 1], 1 / (1 + exp(-2.0)))
    assert list(line.predict([[2.9], [3.1]])) == ["a", "b"]
    np.testing.assert_allclose(line.predict_log_proba([[-97.0]])[0], [0.0, -400.0], atol=1e-99)
    assert line.score(LINE, SIDES) == 1.0
    unbiased = GaussianDiscriminant(divisor="unbiased").fit(LINE, SIDES).to_logistic()
    np.testing.assert_allclose([unbiased.coef_[0, 0], unbiased.intercept_[0]], [2.0, -6.0])


def test_the_implied_logistic_model_answers_like_the_model_itself(line):
    implied = line.to_logistic()
    rows = np.linspace(-5, 12, 30)[:, np.newaxis]
    np.testing.assert_allclose(implied.predict_proba(rows), line.predict_proba(rows), rtol=1e-12)
    np.testing.assert_allclose(implied.decision_function(rows), line.decision_function(rows))
    np.testing.assert_array_equal(implied.predict(rows), line.predict(rows))
    assert list(implied.classes_) == ["a", "b"]
    against_a = implied.against()
    assert against_a.reference == "a"
    assert list(against_a.classes) == ["b"]
    np.testing.assert_array_equal(against_a.coef, implied.coef_)
    np.testing.assert_array_equal(against_a.intercept, implied.intercept_)
    against_b = implied.against("b")
    assert against_b.reference == "b"
    assert list(against_b.classes) == ["a"]
    np.testing.assert_allclose(against_b.coef, [[-4.0]])
    np.testing.assert_allclose(against_b.coef @ [4.0] + against_b.intercept, [-4.0])
    with pytest.raises(NotLinear, match="quadratic"):
        GaussianDiscriminant("per-class").fit(LINE, SIDES).to_logistic()


def test_three_classes_on_a_line_have_a_row_each_and_contrasts_to_any_of_them():
    rows = [*LINE, [8.0], [10.0]]
    implied = GaussianDiscriminant().fit(rows, [*SIDES, "c", "c"]).to_logistic()
    found = implied.against()
    np.testing.assert_allclose(found.coef, [[4.0], [8.0]])
    np.testing.assert_allclose(found.intercept, [-12.0, -(81.0 - 1.0) / 2])
    assert list(found.classes) == ["b", "c"]
    np.testing.assert_allclose(implied.coef_, [[-4.0], [0.0], [4.0]], atol=1e-12)
    np.testing.assert_allclose(implied.intercept_, np.array([52.0, 16.0, -68.0]) / 3)
    np.testing.assert_allclose(implied.against("c").coef, [[-8.0], [-4.0]])


def test_joint_densities_and_the_evidence(line):
    phi = exp(-2.0) / sqrt(2 * pi)  # both means are two deviations from 3
    np.testing.assert_allclose(line.log_joint([[3.0]]), np.log([[phi / 2, phi / 2]]))
    np.testing.assert_allclose(line.log_density([[3.0]]), [log(phi)])


def test_unequal_spreads_give_a_quadratic_boundary():
    for form in ("per-class", "diagonal", "spherical"):
        model = GaussianDiscriminant(form).fit(UNEQUAL, SIDES)
        # log N(2; 10, 4) - log N(2; 0, 1) = -½log 4 - 8 + 2
        np.testing.assert_allclose(model.decision_function([[2.0]]), [-log(2) - 6.0])
        # Far on the left the wide class wins, although its mean lies on the right.
        assert list(model.predict([[0.0], [10.0], [-30.0]])) == ["a", "b", "b"]


def test_missing_cells_are_marginalised():
    model = GaussianDiscriminant().fit(PLANE, HALVES)
    # By the first column alone: variance 2, means 0 and 10.
    np.testing.assert_allclose(model.decision_function([[6.0, np.nan]]), [5.0 * (6.0 - 5.0)])
    # By the second alone: variance 1, means 0 and 20.
    np.testing.assert_allclose(model.decision_function([[np.nan, 9.0]]), [20.0 * (9.0 - 10.0)])
    np.testing.assert_allclose(model.predict_proba([[np.nan, np.nan]]), [[0.5, 0.5]])


def test_other_priors_move_the_log_odds_by_theirs(line):
    moved = line.with_priors({"a": 0.2, "b": 0.8})
    np.testing.assert_allclose(moved.decision_function([[3.0]]), [log(4.0)])
    np.testing.assert_allclose(moved.priors_, [0.2, 0.8])
    np.testing.assert_allclose(line.decision_function([[3.0]]), [0.0], atol=1e-12)
    assert moved.get_params()["priors"] == {"a": 0.2, "b": 0.8}


def test_priors_of_unlabelled_rows_are_estimated(line):
    rows = [[0.5], [1.0], [1.5], [5.0]]  # surely a, a, a, b
    found = line.estimate_priors(rows)
    assert found.priors["a"] == pytest.approx(0.75, abs=0.01)
    assert sum(found.priors.values()) == pytest.approx(1.0)
    assert found.standard_errors["a"] == pytest.approx(sqrt(0.75 * 0.25 / 4), rel=0.2)
    assert found.iterations >= 1


# Typicality


def test_typicality_of_a_new_row_is_the_predictive_f(line):
    # S = 4, ν = 4 - 2, q = (3 - 1)²/4 = 1: F = 1 · 2/3 · 2 with (1, 2) degrees of freedom.
    expected = stats.f.sf(4 / 3, 1, 2)
    np.testing.assert_allclose(line.typicality([[3.0]]), [[expected, expected]])
    np.testing.assert_allclose(line.typicality([[1.0]])[0, 0], 1.0)
    unbiased = GaussianDiscriminant(divisor="unbiased").fit(LINE, SIDES)
    np.testing.assert_allclose(unbiased.typicality([[3.0]]), [[expected, expected]])


def test_typicality_of_a_training_row_is_that_of_a_new_one_to_the_others(line):
    # Row 0 of class a: q = (0 - 1)²/4, q·2/1 = ½ under Beta(½, ½), whose median it is.
    found = line.typicality(LINE, SIDES)
    np.testing.assert_allclose(found[0, 0], 0.5)
    # Without it S = 2 and ν = 1, and class b is 5 away: F = 25/2 · 2/3 · 1 with (1, 1).
    np.testing.assert_allclose(found[0, 1], stats.f.sf(25 / 3, 1, 1))


def test_typicality_by_class_with_its_own_scatter():
    rows = [[-2.0], [0.0], [2.0], [9.0], [10.0], [11.0]]
    model = GaussianDiscriminant("per-class").fit(rows, ["a"] * 3 + ["b"] * 3)
    # Class a: S = 8, ν = 2, at 3: q = 9/8, F = 9/8 · 3/4 · 2 ~ F(1, 2).
    np.testing.assert_allclose(model.typicality([[3.0]])[0, 0], stats.f.sf(9 / 8 * 1.5, 1, 2))


def test_typicality_without_enough_rows_for_a_matrix_is_that_of_the_columns():
    model = GaussianDiscriminant("per-class").fit(PLANE[[0, 2, 3, 4, 6, 7]], [0, 0, 0, 1, 1, 1])
    assert np.isfinite(model.typicality([[0.0, 0.0]])).all()
    rows = np.array([[0.0, 0.0], [2.0, 1.0], [9.0, 5.0], [8.0, 7.0], [7.0, 5.0], [9.0, 8.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        thin = GaussianDiscriminant("per-class").fit(rows, [0, 0, 1, 1, 1, 1])
    found = thin.typicality([[4.0, 0.0]])
    # Class 0: means 1 and ½, scatters 2 and ½, ν = 1: |t| = 3/√3 and ½/√¾, the first is larger.
    assert found[0, 0] == pytest.approx(2 * 2 * stats.t.sf(3 / np.sqrt(3), 1))
    assert np.isfinite(found).all()


def test_of_a_class_of_one_row_nothing_is_known_but_where_it_is():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model = GaussianDiscriminant("per-class").fit([[0.0], [5.0], [6.0], [7.5]], [0, 1, 1, 1])
    with pytest.warns(NoPValue, match="1 of 2 classes have one row"):
        found = model.typicality([[100.0]])
    assert found[0, 0] == 1.0
    assert found[0, 1] < 0.01
    shared = GaussianDiscriminant().fit([[0.0], [5.0], [6.0], [7.5]], [0, 1, 1, 1])
    assert shared.typicality([[100.0]]).max() < 0.01
    with pytest.warns(NoPValue, match="alone in their class"):
        found = shared.typicality([[0.0], [5.0]], [0, 1])
    assert found[0, 0] == 1.0


def test_typicality_of_one_independent_column_is_students():
    model = GaussianDiscriminant("diagonal").fit(
        [[0.0], [2.0], [4.0], [7.0], [9.0]], [0, 0, 0, 1, 1]
    )
    # Class 0: mean 2, scatter 8, ν = 2: t = (x - 2)/√(4·(1 + 1/3)).
    found = model.typicality([[2.0], [5.0], [1e300]])[:, 0]
    np.testing.assert_allclose(
        found, [1.0, 2 * stats.t.sf(3 / np.sqrt(16 / 3), 2), 0.0], atol=1e-12
    )


# Explanations


def test_flat_contributions_by_pencil(line):
    found = line.explain([[4.0], [1.0]])
    # θ(x - c) about the mean of the means, 3; equal priors: the baseline is 0.
    assert list(found.of) == ["b", "a"]
    assert list(found.against) == ["a", "b"]
    np.testing.assert_allclose(found.baseline, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.contributions, [[4.0], [8.0]])
    np.testing.assert_allclose(found.log_odds, [4.0, 8.0])
    assert found.pairs is None
    assert "log odds of b against a +4.000" in str(found)
    moved = line.with_priors({"a": 0.2, "b": 0.8}).explain([[4.0]], of="b")
    np.testing.assert_allclose(moved.baseline, log(4.0))
    np.testing.assert_allclose(moved.contributions, [[4.0]])


def test_quadratic_contributions_by_pencil():
    for form in ("per-class", "diagonal", "spherical"):
        model = GaussianDiscriminant(form).fit(UNEQUAL, SIDES)
        found = model.explain([[2.0]], of="b", against="a")
        np.testing.assert_allclose(found.baseline, [-log(2.0)])
        np.testing.assert_allclose(found.contributions, [[2.0 - 8.0]])
        np.testing.assert_allclose(found.pairs, [[[-6.0]]])


@pytest.mark.parametrize(
    "form", ["shared", "per-class", "diagonal", "shared-diagonal", "spherical"]
)
def test_the_parts_add_up_to_the_log_odds_against_the_runner_up(form):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    X = rng.normal(size=(120, 3)) + rng.normal(size=(4, 3))[y]
    model = GaussianDiscriminant(form).fit(X, y)
    rows = X.copy()
    rows[::3, 1] = np.nan
    found = model.explain(rows)
    scores = np.sort(model.predict_log_proba(rows), axis=1)
    np.testing.assert_allclose(found.log_odds, scores[:, -1] - scores[:, -2], atol=1e-9)
    np.testing.assert_array_equal(found.of, model.predict(rows))
    assert not found.contributions[::3, 1].any()
    if found.pairs is not None:
        np.testing.assert_allclose(found.pairs, found.pairs.transpose(0, 2, 1), atol=1e-12)
        np.testing.assert_allclose(found.pairs.sum(axis=2), found.contributions, atol=1e-9)
    moved = GaussianDiscriminant(form).fit(X * 8.0 - 100.0, y).explain(rows * 8.0 - 100.0)
    np.testing.assert_allclose(moved.contributions, found.contributions, atol=1e-8)
    named = model.explain(rows, of=2, against=0)
    log_proba = model.predict_log_proba(rows)
    np.testing.assert_allclose(named.log_odds, log_proba[:, 2] - log_proba[:, 0], atol=1e-9)


# Cells and samples


def test_missing_cells_are_filled_in_by_regression():
    model = GaussianDiscriminant().fit(PLANE, HALVES)
    rows = [[4.0, np.nan], [np.nan, 3.0], [14.0, np.nan], [1.0, 2.0], [np.nan, np.nan]]
    found = model.impute(rows, [0, 0, 1, 0, 1])
    # x₁ = m₁ + ½(x₀ - m₀), x₀ = m₀ + 1·(x₁ - m₁)
    np.testing.assert_allclose(found, [[4, 2], [3, 3], [14, 22], [1, 2], [10, 20]])
    # Without a label, averaged: at 5 both classes are as likely, 2.5 and 17.5.
    np.testing.assert_allclose(model.impute([[5.0, np.nan]]), [[5.0, 10.0]])
    np.testing.assert_allclose(model.impute([[np.nan, np.nan]]), [[5.0, 10.0]])


def test_draws_of_missing_cells_have_the_conditional_spread():
    model = GaussianDiscriminant().fit(PLANE, HALVES)
    tables = model.impute([[4.0, np.nan]] * 2000, [0] * 2000, draws=2, random_state=0)
    assert len(tables) == 2
    cells = np.concatenate([table[:, 1] for table in tables])
    # 1 - ½·1 is left of the variance.
    assert cells.mean() == pytest.approx(2.0, abs=0.05)
    assert cells.var() == pytest.approx(0.5, rel=0.1)
    assert model.impute([[1.0, np.nan]], draws=0) == []


@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal"])
def test_samples_follow_the_classes(form):
    model = GaussianDiscriminant(form, priors={0: 0.25, 1: 0.75}).fit(PLANE, HALVES)
    rows, labels = model.sample(20_000, random_state=1)
    assert labels.dtype == model.classes_.dtype
    assert labels.mean() == pytest.approx(0.75, abs=0.02)
    for c in (0, 1):
        np.testing.assert_allclose(rows[labels == c].mean(axis=0), model.means_[c], atol=0.1)
        np.testing.assert_allclose(np.cov(rows[labels == c].T), model.covariances_[c], atol=0.15)
    again, _ = model.sample(20_000, random_state=1)
    np.testing.assert_array_equal(rows, again)
    ones, only = model.sample(50, y=1, random_state=2)
    assert set(only) == {1}
    assert ones.mean(axis=0) == pytest.approx([10.0, 20.0], abs=1.0)
    assert model.sample(0)[0].shape == (0, 2)


# Learning, merging, forgetting


def test_batches_merged_models_and_sums_are_the_same_model():
    whole = GaussianDiscriminant().fit(PLANE, HALVES)
    parts = [GaussianDiscriminant().partial_fit(PLANE[i::3], HALVES[i::3]) for i in range(3)]
    streamed = GaussianDiscriminant()
    for i in range(3):
        streamed.partial_fit(PLANE[i::3], HALVES[i::3])
    for model in (parts[0] + parts[1] + parts[2], sum(parts), streamed):
        np.testing.assert_allclose(model.means_, whole.means_, atol=1e-12)
        np.testing.assert_allclose(model.covariance_, whole.covariance_, atol=1e-12)
    assert parts[0].statistics_.weight == 3.0  # merging changes neither


def test_what_was_learned_by_mistake_is_forgotten():
    model = GaussianDiscriminant().fit(LINE, SIDES)
    model.partial_fit([[100.0], [-70.0]], ["b", "zebra"])
    assert list(model.classes_) == ["a", "b", "zebra"]
    model.forget([[100.0], [-70.0]], ["b", "zebra"])
    assert list(model.classes_) == ["a", "b"]
    np.testing.assert_allclose(model.to_logistic().coef_, [[4.0]], rtol=1e-9)


def test_leaving_a_row_out_by_pencil(line):
    found = line.leave_one_out(LINE, SIDES)
    # Without row 0, class a is the row at 2: σ² = 2/3, priors 1/3 and 2/3.
    odds = 4.5 * 0.0 - 1.5 * (25.0 - 4.0) / 2 + log(2.0)
    np.testing.assert_allclose(
        found.log_posterior[0], [-np.log1p(exp(odds)), odds - np.log1p(exp(odds))]
    )
    assert found.error == 0.0
    assert found.excluded == 0
    assert found.log_loss > 0.0


@pytest.mark.parametrize(
    "form", ["shared", "per-class", "diagonal", "shared-diagonal", "spherical"]
)
def test_leaving_out_is_refitting(form):
    rng = np.random.default_rng(3)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 2)) + rng.normal(size=(3, 2))[y]
    found = GaussianDiscriminant(form).fit(X, y).leave_one_out(X, y)
    for i in range(0, 30, 7):
        kept = np.arange(30) != i
        refit = GaussianDiscriminant(form).fit(X[kept], y[kept]).predict_log_proba(X[[i]])[0]
        np.testing.assert_allclose(found.log_posterior[i], refit, atol=1e-9)


def test_auto_says_what_it_chose():
    rng = np.random.default_rng(4)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) * np.where(y, 3.0, 1.0)[:, np.newaxis]
    model = GaussianDiscriminant("auto").fit(X, y)
    assert model.settings_.covariance == "per-class"
    assert model.settings_.pool < 1.0
    twin = GaussianDiscriminant(
        "per-class", pool=model.settings_.pool, shrink=model.settings_.shrink,
        shrink_target=model.settings_.shrink_target,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))
    assert issubclass(Approximation, SufficeWarning)


# Fisher's coordinates


def test_the_coordinate_of_a_line_is_the_line_in_deviations(line):
    np.testing.assert_allclose(line.transform(LINE)[:, 0], [-3.0, -1.0, 1.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(line.explained_variance_ratio_, [1.0])
    np.testing.assert_allclose(line.scalings_, [[1.0]])


def test_coordinates_make_classes_round():
    rng = np.random.default_rng(5)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4)) + 3.0 * rng.normal(size=(3, 4))[y]
    model = GaussianDiscriminant().fit(X, y)
    z = model.transform(X)
    assert z.shape == (300, 2)
    within = sum(
        (z[y == c] - z[y == c].mean(0)).T @ (z[y == c] - z[y == c].mean(0)) for c in range(3)
    )
    np.testing.assert_allclose(within / 300, np.eye(2), atol=1e-9)
    assert (np.diff(model.explained_variance_ratio_) <= 0).all()
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1.0)
    holed = X.copy()
    holed[0, 2] = np.nan
    np.testing.assert_allclose(model.transform(holed)[0], model.transform(model.impute(holed))[0])


# A mixed frame, from its strings and blanks to samples and explanations


def people(seed=0, n=240):
    rng = np.random.default_rng(seed)
    likes = rng.random(n) < 0.5
    drink = np.where(
        likes, rng.choice(["tea", "milk"], n, p=[0.8, 0.2]), rng.choice(["tea", "ale"], n)
    )
    drink = drink.astype(object)
    drink[rng.random(n) < 0.1] = None
    age = np.where(likes, 40.0, 30.0) + rng.normal(size=n) * 6.0
    age[rng.random(n) < 0.1] = np.nan
    frame = pd.DataFrame({"age": age, "drink": drink, "tall": rng.random(n) < 0.3 + 0.4 * likes})
    return frame, np.where(likes, "yes", "no")


def as_polars(frame):
    return pl.from_pandas(frame)


def as_arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.parametrize("kind", [pd.DataFrame, as_polars, as_arrow])
@pytest.mark.parametrize(
    "form", ["shared", "per-class", "diagonal", "shared-diagonal", "spherical"]
)
def test_a_frame_of_numbers_words_truths_and_blanks(form, kind):
    frame, y = people()
    model = GaussianDiscriminant(form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model.fit(kind(frame), y)
    assert list(model.feature_names_in_) == ["age", "drink", "tall"]
    assert model.means_.shape == (2, 6)  # age, drink=ale, milk, tea, blank, tall
    assert model.score(kind(frame), y) > 0.75
    reordered = kind(frame[["tall", "age", "drink"]])
    np.testing.assert_array_equal(model.predict(reordered), model.predict(kind(frame)))
    rows, labels = model.sample(40, random_state=0)
    assert type(rows) is type(kind(frame))
    drawn = pd.DataFrame({name: list(rows[name].to_numpy()) for name in ("age", "drink", "tall")})
    assert set(drawn["drink"].dropna()) <= {"tea", "milk", "ale"}
    assert set(drawn["tall"]) <= {True, False}
    assert drawn["age"].between(0, 90).all()
    assert len(labels) == 40
    found = model.explain(kind(frame))
    assert found.columns == ("age", "drink", "tall")
    assert found.contributions.shape == (240, 3)
    log_proba = np.sort(model.predict_log_proba(kind(frame)), axis=1)
    np.testing.assert_allclose(found.log_odds, log_proba[:, 1] - log_proba[:, 0], atol=1e-7)
    filled = model.impute(kind(frame))
    assert type(filled) is type(kind(frame))


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
def test_an_unseen_level_speaks_for_no_level():
    frame, y = people()
    model = GaussianDiscriminant("diagonal").fit(frame, y)
    odd = frame.iloc[:5].assign(drink="mead")
    proba = model.predict_proba(odd)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.parametrize("form", ["shared", "per-class", "diagonal"])
def test_new_levels_can_be_learned_merged_and_forgotten(form):
    frame, y = people()
    first, second = frame.iloc[:120], frame.iloc[120:].assign(drink="mead")
    whole = GaussianDiscriminant(form).fit(pd.concat([first, second]), y)
    grown = GaussianDiscriminant(form).partial_fit(first, y[:120]).partial_fit(second, y[120:])
    merged = GaussianDiscriminant(form).fit(first, y[:120]) + GaussianDiscriminant(form).fit(
        second, y[120:]
    )
    expected = whole.predict_proba(frame)
    for model in (grown, merged):
        np.testing.assert_allclose(model.predict_proba(frame), expected, atol=1e-6)
    grown.forget(second, y[120:])
    alone = GaussianDiscriminant(form).fit(first, y[:120])
    np.testing.assert_allclose(grown.predict_proba(first), alone.predict_proba(first), atol=1e-6)


def test_a_category_is_no_reason_for_a_warning():
    frame, y = people()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianDiscriminant().fit(frame, y)
        GaussianDiscriminant("shared-diagonal").fit(frame, y)


def test_arrays_of_mixed_cells_come_back_as_arrays():
    frame, y = people()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model = GaussianDiscriminant("diagonal").fit(frame.to_numpy(), y)
    rows, _ = model.sample(5, random_state=0)
    assert isinstance(rows, np.ndarray)
    assert rows.dtype == object
    assert rows.shape == (5, 3)
    assert model.explain(frame.to_numpy()[:3]).columns == ("x0", "x1", "x2")
