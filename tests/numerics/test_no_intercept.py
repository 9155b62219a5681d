"""Logistic regression without an intercept: against peers, laws, and brute force."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression as Theirs

from suffice import LogisticRegression, load
from suffice.errors import BadSetting, SeparationWarning
from suffice.learning import collect as collecting
from suffice.models.linear.logistic import search as logistic_search


def drawn(seed, classes, n=300):
    """Return rows away from zero, labels and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal([0.0, 2.0, -1.0], [1.0, 0.5, 3.0], size=(n, 3))
    scores = X @ (0.4 * rng.normal(size=(3, classes))) + rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1), rng.uniform(0.5, 2.0, n)


def model_of(penalty=0.0, **settings):
    return LogisticRegression(penalty, intercept=False, **settings)


@pytest.mark.parametrize("kind", ["dense", "sparse", "many"])
@pytest.mark.parametrize("seed", range(2))
def test_two_classes_have_the_estimates_and_errors_of_statsmodels(seed, kind, monkeypatch):
    X, y, _ = drawn(seed, 2)
    if kind == "many":  # as where there is too much for Newton's steps
        monkeypatch.setattr(logistic_search, "MODERATE_WORK", 0.0)
    given_rows = X * (X > 0.0) if kind == "sparse" else X
    theirs = sm.Logit(y, given_rows).fit(disp=0, method="newton", tol=1e-14)
    ours = model_of(standard_errors=True)
    ours.fit(csr_array(given_rows) if kind == "sparse" else given_rows, y)
    np.testing.assert_allclose(ours.coef_[0], theirs.params, rtol=1e-8, atol=1e-8)
    assert ours.intercept_ == 0.0
    assert ours.converged_
    told = ours.summary()
    np.testing.assert_allclose(told.standard_errors[0, 1:], theirs.bse, rtol=1e-6)
    np.testing.assert_allclose(told.p[0, 1:], theirs.pvalues, rtol=1e-6)
    np.testing.assert_allclose(told.fit.log_likelihood, theirs.llf, rtol=1e-10)
    np.testing.assert_allclose(told.fit.aic, theirs.aic, rtol=1e-10)
    # R's null model has no parameter either: all classes are as likely.
    assert told.fit.null_deviance == pytest.approx(2.0 * 300 * np.log(2.0))
    assert told.fit.degrees == 3
    assert "(intercept)" not in str(told)
    assert len(told.to_frame()) == 3


@pytest.mark.parametrize("seed", range(2))
def test_many_classes_have_the_estimates_and_errors_of_statsmodels(seed):
    X, y, _ = drawn(seed, 4)
    theirs = sm.MNLogit(y, X).fit(disp=0, method="newton", tol=1e-14)
    told = model_of(standard_errors=True).fit(X, y).summary()
    np.testing.assert_allclose(told.estimates[:, 1:], theirs.params.T, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(told.standard_errors[:, 1:], theirs.bse.T, rtol=1e-6)
    assert (told.estimates[:, 0] == 0.0).all()


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_penalty_is_that_of_scikit_learn_on_columns_of_mean_square_one(classes, kind, weighted):
    X, y, weights = drawn(3, classes)
    X = X * (X > 0.0) if kind == "sparse" else X
    weights = weights if weighted else None
    Z = X / np.sqrt(np.average(X**2, axis=0, weights=weights))
    theirs = Theirs(C=1 / 3.0, fit_intercept=False, tol=1e-12, solver="newton-cholesky")
    theirs.fit(Z, y, weights)
    ours = model_of(3.0).fit(csr_array(Z) if kind == "sparse" else Z, y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(Z), theirs.predict_proba(Z), atol=1e-8)
    in_units = model_of(3.0).fit(X * [1e-3, 1.0, 1e6], y, weights)  # units do not matter
    np.testing.assert_allclose(in_units.predict_proba(X * [1e-3, 1.0, 1e6]), ours.predict_proba(Z))


@given(st.integers(0, 2**16), st.integers(2, 4), st.booleans(), st.booleans())
def test_a_column_of_ones_is_an_intercept(seed, classes, firth, weighted):
    X, y, weights = drawn(seed, classes, 80)
    y[:classes] = np.arange(classes)
    weights = weights if weighted else None
    settings = {"correction": "firth" if firth else None, "tolerance": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("error", SeparationWarning)
        try:
            plain = LogisticRegression(**settings).fit(X, y, weights)
        except SeparationWarning:
            return
    ones = model_of(**settings).fit(np.column_stack([np.ones(80), X]), y, weights)
    told, known = ones.summary(), plain.summary()
    np.testing.assert_allclose(told.estimates[:, 1:], known.estimates, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(told.standard_errors[:, 1:], known.standard_errors, rtol=1e-5)
    np.testing.assert_allclose(told.fit.deviance, known.fit.deviance, rtol=1e-9)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_source_gives_what_its_rows_do(penalty, monkeypatch):
    X, y, weights = drawn(4, 3)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(
        d=pl.Series(rng.choice(["u", "v", "w"], 300)), e=pl.Series(rng.choice(["p", "q"], 300))
    )
    here = model_of(penalty).fit(frame, y, weights)
    monkeypatch.setattr(collecting, "MOST_CELLS", 0)
    whole = frame.with_columns(y=y, weight=weights)
    there = model_of(penalty).fit(whole.lazy(), target="y", sample_weight="weight")
    assert there.coefficient_names_ == here.coefficient_names_
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-8, atol=1e-8)
    ours, theirs = there.summary().standard_errors, here.summary().standard_errors
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert (there.intercept_ == 0.0).all()


def test_the_first_category_has_every_level_and_the_others_do_not():
    """As R's model.matrix(~ 0 + ...): the same space as with an intercept, and the same fit."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({
        "x": rng.normal(size=200), "d": rng.choice(["u", "v", "w"], 200),
        "e": rng.choice(["p", "q"], 200),
    })  # fmt: skip
    y = rng.integers(2, size=200)
    ours, plain = model_of().fit(X, y), LogisticRegression().fit(X, y)
    assert ours.coefficient_names_ == ("x", "d=u", "d=v", "d=w", "e=q")
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(X), atol=1e-9)
    at = dict(zip(ours.coefficient_names_, ours.coef_[0], strict=True))
    assert at["d=u"] == pytest.approx(plain.intercept_[0], abs=1e-7)
    # A level that was never seen speaks for no class: it counts as the average of the rows.
    row = pd.DataFrame({"x": [0.0], "d": ["never"], "e": ["p"]})
    shares = X.d.value_counts(normalize=True)
    expected = sum(shares[level] * at[f"d={level}"] for level in "uvw")
    assert ours.decision_function(row)[0] == pytest.approx(expected)


@pytest.mark.parametrize("classes", [2, 3])
def test_firth_is_the_maximum_of_the_penalised_likelihood(classes):
    X, y, _ = drawn(5, classes, 40)
    m = classes - 1

    def loss(flat):
        theta = flat.reshape(m, 3)
        log_p = log_softmax(np.column_stack([np.zeros(40), X @ theta.T]), axis=1)
        p = np.exp(log_p[:, 1:])
        bends = np.einsum("na,ab->nab", p, np.eye(m)) - np.einsum("na,nb->nab", p, p)
        information = np.einsum("nab,ni,nj->aibj", bends, X, X).reshape(3 * m, 3 * m)
        return -log_p[np.arange(40), y].sum() - 0.5 * np.linalg.slogdet(information)[1]

    told = model_of(correction="firth", tolerance=1e-10).fit(X, y)
    best = minimize(loss, np.zeros(3 * m), method="BFGS", options={"gtol": 1e-7})
    found = told.summary(X, y, intervals="profile")
    np.testing.assert_allclose(found.estimates[:, 1:].ravel(), best.x, atol=1e-5)
    assert loss(found.estimates[:, 1:].ravel()) <= best.fun + 1e-12
    assert (found.low[:, 1:] < found.estimates[:, 1:]).all()
    assert (found.high[:, 1:] > found.estimates[:, 1:]).all()


def test_profiles_have_ends_where_the_likelihood_has_fallen_enough():
    X, y, _ = drawn(6, 2, 60)
    model = model_of().fit(X, y)
    told = model.summary(X, y, intervals="profile")
    for j in range(3):
        others = np.delete(np.arange(3), j)
        for end in (told.low[0, 1 + j], told.high[0, 1 + j]):
            offset = sm.GLM(y, X[:, others], sm.families.Binomial(), offset=end * X[:, j]).fit()
            fallen = 2.0 * (model.summary().fit.log_likelihood - offset.llf)
            assert fallen == pytest.approx(3.841458820694124, rel=1e-6)


@given(
    st.lists(st.integers(-2, 2), min_size=14, max_size=14),
    st.lists(st.integers(0, 1), min_size=7, max_size=7).filter(lambda y: 0 < sum(y) < 7),
)
def test_separated_are_classes_that_a_plane_through_zero_parts(cells, labels):
    X, y = np.array(cells, dtype=float).reshape(7, 2), np.array(labels)
    signed = X * np.where(y == 1, 1.0, -1.0)[:, np.newaxis]
    best = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(7), bounds=(-1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model_of().fit(X, y)
    found = model.learned_.statistics.found.separation
    assert (found is not None) == (best.fun < -1e-9)
    if found is not None:
        assert (found.direction[:, 0] == 0.0).all()
        assert (
            signed @ (found.direction[0, 1:] * model.learned_.statistics.found.inverse) > -1e-9
        ).all()
        assert (model.intercept_ == 0.0).all()
    else:
        assert model.converged_


def test_a_line_that_only_an_intercept_could_part_overlaps():
    X, y = np.arange(10.0)[:, np.newaxis] + 1.0, np.repeat([0, 1], 5)
    model = model_of().fit(X, y)  # not a warning
    assert model.converged_
    with pytest.warns(SeparationWarning, match="complete separation"):
        model_of().fit(X - 5.5, y)


def test_one_of_four_classes_may_be_apart_by_a_plane_through_zero():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(400, 5)), np.arange(400) % 4
    X[:, 0] = np.where(y == 2, 1.0, -1.0) * rng.uniform(0.5, 1.0, 400)
    with pytest.warns(SeparationWarning, match="quasi-complete"):
        model = model_of().fit(X, y)
    assert model.separated_.pairs == ((2, 0), (2, 1), (3, 2))
    assert (model.intercept_ == 0.0).all()


@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_saved_and_loaded(tmp_path, penalty, classes):
    X, y, weights = drawn(7, classes)
    model = model_of(penalty).fit(X, y, weights)
    model.save(tmp_path / "model.suffice")
    again = load(tmp_path / "model.suffice")
    assert again.intercept is False
    assert not again.learned_.statistics.found.intercept
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert str(again.summary()) == str(model.summary())
    ours, theirs = (m.summary(X, y, weights, intervals="profile") for m in (model, again))
    assert str(ours) == str(theirs)


def test_what_steps_of_single_rows_cannot_do_is_said():
    X, y, _ = drawn(8, 2)
    with pytest.raises(BadSetting, match="intercept=False cannot be combined with partial_fit"):
        model_of().partial_fit(X, y)
    with pytest.raises(BadSetting, match="intercept=False cannot be combined with partial_fit"):
        model_of().fit(X, y).partial_fit(X, y)
    with pytest.raises(BadSetting, match='intercept=False cannot be combined with solver="sgd"'):
        model_of(solver="sgd").fit(X, y)
    with pytest.raises(BadSetting, match="intercept='no' is not known"):
        LogisticRegression(intercept="no").fit(X, y)


def test_the_last_fit_is_where_the_next_begins():
    X, y, _ = drawn(9, 3)
    model = model_of(warm_start=True).fit(X, y)
    passes = model.n_iter_
    found = model.coef_
    assert model.fit(X, y).n_iter_ < passes
    np.testing.assert_allclose(model.coef_, found, atol=1e-9)
    plain = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(
        model.set_params(intercept=True).fit(X, y).coef_, plain.coef_, atol=1e-7
    )
