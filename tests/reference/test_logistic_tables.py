"""Logistic regression as R, statsmodels, scikit-learn and the books have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from statsmodels import api

from suffice import LogisticRegression
from suffice.errors import SeparationWarning
from tests.reference import data_sets
from tests.reference.data_sets import load, r_reference
from tests.reference.logistic_peers import scikit_learn, standard
from tests.reference.logistic_tables import ERRORS, SAHEART, counted, heart_disease, outcome

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROWS = 120
WIDE = {"mnist_5k", "phoneme_esl", "mfeat_factors", "dna_binary", "optdigits", "connect4"}
"""These are for the evidence, at full length."""


def part(name: str, which: str = "train") -> tuple[Floats, NDArray[Any]]:
    X, y = load(name).part(which)
    return X.to_numpy(np.float64), y


def two_classes() -> dict[str, tuple[Floats, NDArray[Any]]]:
    """Return tables of numbers with two classes that overlap."""
    heart = load("saheart")
    found = {"pima": part("pima_ripley"), "synth": part("synth_ripley")}
    found["saheart"] = heart.X.drop(columns="famhist").to_numpy(np.float64), heart.y
    for name in ("bupa", "banana", "higgs_7500", "mixture_esl", "boston_median"):
        table = load(name)
        found[name] = table.X.to_numpy(np.float64), table.y
    return found


def many_classes() -> dict[str, tuple[Floats, NDArray[Any]]]:
    """Return tables of numbers with more classes, which overlap."""
    found = {"vowel": part("vowel_esl")}
    for name in ("balance_scale", "waveform_esl"):
        table = load(name)
        found[name] = table.X.to_numpy(np.float64), table.y
    return found


def taken_apart(model: LogisticRegression) -> tuple[Floats, Floats]:
    """Return θ against the first class, intercepts first, and its standard errors."""
    told = model.summary()
    return told.estimates, told.standard_errors


# R


def test_two_classes_are_those_of_r_glm(shared: Path) -> None:
    known = r_reference()["pima_tr_glm"]
    X, y = load("pima_ripley").part("train")
    model = LogisticRegression().fit(X, y)
    assert model.coefficient_names_ == tuple(known["names"][1:])
    estimates, errors = taken_apart(model)
    np.testing.assert_allclose(estimates[0], known["coef"], rtol=1e-8)
    np.testing.assert_allclose(errors[0], known["se"], rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diagonal(model.covariance_)), known["se"], rtol=1e-6)
    assert model.summary().fit.deviance == pytest.approx(known["deviance"], rel=1e-10)


def test_deviances_are_those_of_r_multinom(shared: Path) -> None:
    """On iris its optimizer stops on the way up: setosa is certain in the limit only."""
    from sklearn.datasets import load_iris

    known = r_reference()
    two = LogisticRegression().fit(*part("pima_ripley")).summary().fit.deviance
    assert two == pytest.approx(known["pima_tr"]["softmax_deviance"], rel=1e-10)
    X, y = load_iris(return_X_y=True)
    with pytest.warns(SeparationWarning, match="1 from 0, 2 from 0"):
        model = LogisticRegression().fit(X, y)
    assert model.separated_ is not None
    assert sorted(model.separated_.pairs) == [(1, 0), (2, 0)]
    limit = LogisticRegression().fit(X[50:], y[50:]).summary().fit.deviance
    assert known["iris"]["softmax_deviance"] == pytest.approx(limit, abs=1e-4)
    own = model.predict_log_proba(X)[np.arange(len(y)), y]
    assert -2.0 * own.sum() == pytest.approx(limit, abs=1e-5)


# statsmodels


@pytest.mark.parametrize("name", ["pima", "synth", "saheart", "bupa", "higgs_7500", "mixture_esl"])
def test_two_classes_are_those_of_statsmodels(name: str, shared: Path) -> None:
    X, y = two_classes()[name]
    model = LogisticRegression().fit(X, y)
    codes = (y == model.classes_[1]).astype(float)
    peer = api.Logit(codes, api.add_constant(X)).fit(disp=0, tol=1e-13, maxiter=100)
    estimates, errors = taken_apart(model)
    assert np.abs((estimates[0] - peer.params) / peer.bse).max() < 1e-8
    np.testing.assert_allclose(errors[0], peer.bse, rtol=1e-6)
    np.testing.assert_allclose(model.covariance_, peer.cov_params(), rtol=1e-5, atol=1e-12)
    told = model.summary()
    np.testing.assert_allclose(told.z[0], peer.tvalues, rtol=1e-6)
    np.testing.assert_allclose(told.p[0], peer.pvalues, rtol=1e-5, atol=1e-300)
    np.testing.assert_allclose(np.c_[told.low[0], told.high[0]], peer.conf_int(), rtol=1e-5)
    assert told.fit.log_likelihood == pytest.approx(peer.llf, rel=1e-11)
    assert told.fit.aic == pytest.approx(peer.aic, rel=1e-11)


@pytest.mark.parametrize("name", ["vowel", "balance_scale", "waveform_esl"])
def test_many_classes_are_those_of_statsmodels(name: str, shared: Path) -> None:
    X, y = many_classes()[name]
    Z = standard(X)  # its Newton steps do not survive columns as they are
    model = LogisticRegression().fit(Z, y)
    codes = np.searchsorted(model.classes_, y)
    peer = api.MNLogit(codes, api.add_constant(Z)).fit(disp=0, method="newton", tol=1e-13)
    estimates, errors = taken_apart(model)
    expected, spread = np.asarray(peer.params).T, np.asarray(peer.bse).T
    assert np.abs((estimates - expected) / spread).max() < 1e-8
    np.testing.assert_allclose(errors, spread, rtol=1e-6)
    assert model.summary().fit.log_likelihood == pytest.approx(peer.llf, rel=1e-11)
    plain = LogisticRegression().fit(X, y)
    slopes, own = taken_apart(plain)
    np.testing.assert_allclose(slopes[:, 1:] * X.std(axis=0), expected[:, 1:], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(own[:, 1:] * X.std(axis=0), spread[:, 1:], rtol=1e-6)


# scikit-learn


@pytest.mark.parametrize("name", ["pima", "synth", "saheart", "bupa", "banana", "boston_median"])
def test_two_classes_are_those_of_scikit_learn_without_its_penalty(name: str, shared: Path) -> None:
    X, y = two_classes()[name]
    peer = scikit_learn(standard(X), y, 0.0)
    model = LogisticRegression().fit(X, y)
    errors = np.sqrt(np.diagonal(model.covariance_))[1:]
    apart = peer.coef_[0] / X.std(axis=0) - model.coef_[0]
    assert np.abs(apart / errors).max() < 1e-8
    np.testing.assert_allclose(
        model.predict_proba(X), peer.predict_proba(standard(X)), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("name", ["vowel", "balance_scale", "waveform_esl"])
def test_many_classes_are_those_of_scikit_learn_without_its_penalty(
    name: str, shared: Path
) -> None:
    X, y = many_classes()[name]
    peer = scikit_learn(standard(X), y, 0.0)
    model = LogisticRegression().fit(X, y)
    largest = np.abs(peer.coef_).max()
    assert np.abs(peer.coef_ / X.std(axis=0) - model.coef_).max() < 1e-8 * largest
    assert np.abs(peer.predict_proba(standard(X)) - model.predict_proba(X)).max() < 1e-8


@pytest.mark.parametrize("penalty", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("name", ["pima", "saheart", "vowel", "balance_scale"])
def test_a_penalty_is_that_of_scikit_learn_on_standardised_columns(
    name: str, penalty: float, shared: Path
) -> None:
    X, y = {**two_classes(), **many_classes()}[name]
    model = LogisticRegression(penalty, tolerance=1e-10).fit(X, y)
    peer = scikit_learn(standard(X), y, penalty)
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), peer.coef_, rtol=1e-7, atol=1e-8)
    at_mean = model.intercept_ + model.coef_ @ X.mean(axis=0)
    np.testing.assert_allclose(
        at_mean,
        peer.intercept_ - peer.intercept_.mean() if len(at_mean) > 1 else peer.intercept_,
        rtol=1e-7,
        atol=1e-8,
    )


# Books


@pytest.mark.parametrize("as_text", [True, False])
def test_the_heart_disease_table_is_the_printed_one(as_text: bool, shared: Path) -> None:
    X, y = heart_disease()
    if not as_text:
        X = X.assign(famhist=(X["famhist"] == "Present").astype(float))
    told = LogisticRegression().fit(X, y).summary()
    names = ["(intercept)", *told.columns]
    assert names == [n if as_text else n.removesuffix("=Present") for n in SAHEART]
    printed = np.array(list(SAHEART.values()))
    assert np.abs(told.estimates[0] - printed[:, 0]).max() <= 0.5e-4 + 1e-9
    assert np.abs(told.standard_errors[0] - printed[:, 1]).max() <= 0.5e-4 + 1e-9
    assert told.fit.deviance == pytest.approx(483.174, abs=5e-4)
    assert told.fit.null_deviance == pytest.approx(596.108, abs=5e-4)


@pytest.mark.parametrize(("name", "penalty"), ERRORS)
def test_errors_are_the_published_ones(name: str, penalty: float, shared: Path) -> None:
    train, test = counted(name, penalty)
    expected_train, expected_test = ERRORS[name, penalty]
    assert expected_train in (None, train)
    assert test == expected_test


def test_a_penalty_would_give_the_vowels_away(shared: Path) -> None:
    """The published errors are those of no penalty: one of 1, the usual default, has others."""
    assert counted("vowel_esl", 0.0) == (118, 237)  # .2235 and .5130
    assert counted("vowel_esl", 1.0) != (118, 237)


def test_pima_has_the_coefficients_of_the_table(shared: Path) -> None:
    model = LogisticRegression().fit(*load("pima_ripley").part("train"))
    known = [0.1031834, 0.0321168, -0.0047675, -0.0019166, 0.0836239, 1.8204104, 0.0411835]
    assert np.abs(model.coef_[0] - known).max() < 0.6e-7
    assert model.intercept_[0] == pytest.approx(-9.7730615, abs=0.6e-7)


# Every table


@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.slow
def test_every_table_converges_or_says_why_not(penalty: float, shared: Path) -> None:
    """The score is checked by hand where a fit converged, a separation by a program of its own."""
    names = [name for name in data_sets.names() if name not in WIDE]
    assert len(names) > 40
    found = [outcome(load(name).taken(ROWS), penalty) for name in names]
    assert {o.name: o.complaint for o in found if o.complaint} == {}
    kinds = {o.what for o in found}
    assert kinds == {"converged"} if penalty else kinds >= {"converged", "separated (complete)"}
    assert any(o.refused_blanks for o in found)


def test_a_frame_and_its_numbers_have_the_same_answer(shared: Path) -> None:
    """Categories become columns by the first level's leave, as R's treatment contrasts do."""
    table = load("saheart")
    frame = LogisticRegression().fit(table.X, table.y)
    numbers = table.X.assign(famhist=(table.X["famhist"] == "Present").astype(float))
    assert isinstance(numbers, pd.DataFrame)
    by_hand = LogisticRegression().fit(numbers.to_numpy(np.float64), table.y)
    np.testing.assert_allclose(frame.coef_, by_hand.coef_, rtol=1e-9)
    np.testing.assert_allclose(frame.covariance_, by_hand.covariance_, rtol=1e-7, atol=1e-14)
