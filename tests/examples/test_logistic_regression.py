"""LogisticRegression by examples small enough to check by hand, and in the company it keeps."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from suffice import (
    BernoulliNaiveBayes,
    GaussianDiscriminant,
    LogisticRegression,
    MultinomialNaiveBayes,
    NaiveBayes,
)
from suffice.errors import BadSetting, DegenerateData, DidNotConverge, SeparationWarning
from suffice.learning.results import Contrasts
from suffice.models.linear.logistic.fit import fit_logistic
from suffice.models.linear.online.seen_rows import SeenRows
from suffice.models.linear.online.stochastic import seen_at_fit
from suffice.rows.sparse_rows import SparseRows

# Of four rows without the sign one is ill, of five with it four are.
SIGN = np.array([[0.0]] * 4 + [[1.0]] * 5)
ILL = np.array(["no", "no", "no", "yes"] + ["no"] + ["yes"] * 4)
WITHOUT, WITH = log(1 / 3), log(4 / 1)
RATIO = WITH - WITHOUT
VARIANCES = [1 + 1 / 3, 1 + 1 / 3 + 1 / 4 + 1]

# Colour against three answers: 2, 1, 1 of the red, 1, 3, 2 of the blue, 1, 1, 4 of the green.
TALLY = {"red": (2, 1, 1), "blue": (1, 3, 2), "green": (1, 1, 4)}
COLOUR = [c for c, counts in TALLY.items() for _ in range(sum(counts))]
ANSWER = [
    a for counts in TALLY.values() for a, n in zip("abc", counts, strict=True) for _ in "x" * n
]
COLOURS = pd.DataFrame({"colour": COLOUR})

rng = np.random.default_rng(4)
X = rng.normal(size=(300, 3))
TRUTH = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.5], [-0.5, 0.5, 1.0]])
y3 = (X @ TRUTH.T + rng.gumbel(size=(300, 3))).argmax(axis=1)
y = (y3 > 0).astype(int)
NAMES = ["age", "size", "dose"]
FRAME = pd.DataFrame(X, columns=NAMES)


def fitted(labels=y, rows=X, **settings):
    return LogisticRegression(**settings).fit(rows, labels)


def same(left, right, rows=X, rtol=1e-9):
    """Check that two models answer alike."""
    np.testing.assert_array_equal(left.classes_, right.classes_)
    np.testing.assert_allclose(left.coef_, right.coef_, rtol=rtol, atol=1e-10)
    np.testing.assert_allclose(left.intercept_, right.intercept_, rtol=rtol, atol=1e-10)
    np.testing.assert_allclose(left.predict_proba(rows), right.predict_proba(rows), atol=1e-9)


# By hand


def test_a_table_of_two_by_two_has_the_log_odds_ratio():
    model = LogisticRegression().fit(SIGN, ILL)
    np.testing.assert_allclose(model.coef_, [[RATIO]], rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, [WITHOUT], rtol=1e-9)
    np.testing.assert_allclose(
        model.predict_proba([[0.0], [1.0]]), [[3 / 4, 1 / 4], [1 / 5, 4 / 5]], rtol=1e-9
    )
    np.testing.assert_allclose(model.decision_function([[0.5]]), [(WITH + WITHOUT) / 2], rtol=1e-9)
    assert list(model.predict([[0.0], [1.0]])) == ["no", "yes"]
    assert model.score(SIGN, ILL) == 7 / 9
    np.testing.assert_allclose(np.diagonal(model.covariance_), VARIANCES, rtol=1e-8)
    assert model.converged_ is True
    assert model.bound_ < 1e-6
    assert model.n_iter_ >= 1
    assert model.separated_ is None


def test_its_summary_is_that_of_the_textbooks():
    summary = LogisticRegression().fit(SIGN, ILL).summary()
    assert (summary.reference, summary.compared, summary.columns) == ("no", ("yes",), ("x0",))
    np.testing.assert_allclose(summary.estimates, [[WITHOUT, RATIO]], rtol=1e-9)
    np.testing.assert_allclose(summary.standard_errors, [np.sqrt(VARIANCES)], rtol=1e-8)
    np.testing.assert_allclose(summary.z, [[WITHOUT, RATIO] / np.sqrt(VARIANCES)], rtol=1e-8)
    half = 1.959963984540054 * sqrt(VARIANCES[1])
    np.testing.assert_allclose(
        [summary.low[0, 1], summary.high[0, 1]], [RATIO - half, RATIO + half], rtol=1e-8
    )
    like = 3 * log(3 / 4) + log(1 / 4) + log(1 / 5) + 4 * log(4 / 5)
    null = 4 * log(4 / 9) + 5 * log(5 / 9)
    assert summary.fit.log_likelihood == pytest.approx(like, rel=1e-10)
    assert summary.fit.null_deviance == pytest.approx(-2 * null, rel=1e-12)
    assert summary.fit.aic == pytest.approx(4 - 2 * like, rel=1e-10)
    assert summary.fit.mcfadden == pytest.approx(1 - like / null, rel=1e-9)
    assert str(summary).startswith("Logistic regression of yes against no, 9 rows\n")


def test_without_an_effect_there_is_only_the_intercept():
    model = LogisticRegression().fit([[0.0], [1.0], [0.0], [1.0], [0.0], [1.0]], list("aabbbb"))
    np.testing.assert_allclose(model.coef_, [[0.0]], atol=1e-9)
    np.testing.assert_allclose(model.intercept_, [log(2)], rtol=1e-9)


def test_categories_have_the_log_odds_against_the_first_of_them():
    kind = np.where(np.array(ANSWER) == "a", "a", "other")
    model = LogisticRegression().fit(COLOURS, kind)
    assert model.coefficient_names_ == ("colour=green", "colour=red")  # blue is the first
    odds = {c: log((n[1] + n[2]) / n[0]) for c, n in TALLY.items()}
    expected = [[odds["green"] - odds["blue"], odds["red"] - odds["blue"]]]
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, [odds["blue"]], rtol=1e-8)
    assert model.n_features_in_ == 1
    assert list(model.feature_names_in_) == ["colour"]


def test_three_classes_have_shares_of_their_own_in_every_colour():
    model = LogisticRegression().fit(COLOURS, ANSWER)
    asked = pd.DataFrame({"colour": list(TALLY)})
    shares = [np.array(n) / sum(n) for n in TALLY.values()]
    np.testing.assert_allclose(model.predict_proba(asked), shares, rtol=1e-8)
    assert model.coef_.shape == (3, 2)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.intercept_.sum(), 0.0, atol=1e-12)
    blue = np.log(shares[1])
    np.testing.assert_allclose(model.intercept_, blue - blue.mean(), rtol=1e-8, atol=1e-9)
    scores = model.decision_function(asked)
    np.testing.assert_allclose(scores.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.exp(scores) / np.exp(scores).sum(1, keepdims=True), shares)


def test_a_penalty_counts_in_deviations_of_the_column():
    # One column of ±1 (deviation 1): (5 - 10 h(β)) of ten rows pull against penalty · β.
    rows, labels = np.array([[-1.0], [1.0]] * 5), np.array([0, 1] * 4 + [1, 0])
    found = LogisticRegression(penalty=2.0).fit(rows, labels).coef_[0, 0]
    h = 1 / (1 + exp(-found))
    assert 8 - 10 * h == pytest.approx(2.0 * found, rel=1e-8)
    thousandfold = LogisticRegression(penalty=2.0).fit(rows * 1000, labels).coef_[0, 0]
    assert thousandfold == pytest.approx(found / 1000, rel=1e-9)
    free = LogisticRegression().fit(rows, labels).coef_[0, 0]
    assert free == pytest.approx(log(4), rel=1e-8)


def test_with_a_penalty_every_level_has_a_column():
    model = LogisticRegression(penalty=1.0).fit(COLOURS, ANSWER)
    assert model.coefficient_names_ == ("colour=blue", "colour=green", "colour=red")
    assert model.coef_.shape == (3, 3)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)


# Labels, weights, containers


@pytest.mark.parametrize(
    "labels",
    [np.array(["no", "yes"])[y], np.array(["no", "yes"], dtype=object)[y], y.astype(bool),
     y * 7 - 3, y.astype(float), y.astype(np.uint8), pd.Series(y, dtype="category")],
)  # fmt: skip
def test_labels_keep_their_type(labels):
    model = fitted(labels)
    assert list(model.classes_) == sorted(set(labels))
    np.testing.assert_allclose(model.coef_, fitted().coef_, rtol=1e-9)
    assert list(model.predict(X)) == [model.classes_[c] for c in fitted().predict(X)]
    if isinstance(labels, np.ndarray) and labels.dtype != object:
        assert model.predict(X).dtype == labels.dtype


@pytest.mark.parametrize("labels", [y, y3])
@pytest.mark.parametrize("settings", [{}, {"penalty": 3.0}])
def test_a_weight_is_a_number_of_rows(labels, settings):
    weights = np.arange(300) % 4
    repeated = np.repeat(np.arange(300), weights)
    weighted = LogisticRegression(**settings).fit(X, labels, weights)
    same(weighted, fitted(labels[repeated], X[repeated], **settings), rtol=1e-8)
    assert weighted.summary().fit.weight == weights.sum()
    if not settings:
        halved = LogisticRegression().fit(X, labels, weights / 2)
        same(weighted, halved, rtol=1e-8)
        np.testing.assert_allclose(
            halved.summary().standard_errors,
            sqrt(2) * weighted.summary().standard_errors,
            rtol=1e-7,
        )


@pytest.mark.parametrize("factor", [1e-300, 1e-14, 1e-6, 1e6, 1e300])
def test_the_maximum_does_not_depend_on_what_weights_add_up_to(factor):
    weights = factor * (1.0 + np.arange(300) % 4)
    for labels in (y, y3):
        plain = LogisticRegression().fit(X, labels, 1.0 + np.arange(300) % 4)
        found = LogisticRegression().fit(X, labels, weights)
        np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-7)
        assert found.converged_


@pytest.mark.parametrize("penalty", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2]])
def test_penalised_fits_of_separated_classes_converge(penalty, labels):
    apart = np.repeat(labels, 40)
    rows = X[: len(apart)] + 8.0 * apart[:, np.newaxis]
    model = LogisticRegression(penalty).fit(rows, apart)  # without a warning
    assert model.converged_
    assert model.separated_ is None
    # At the maximum the pull of the rows is that of the penalty, in deviations of the columns.
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    rest = (apart[:, np.newaxis] == labels) - model.predict_proba(rows)
    pull = z.T @ rest
    theta = (model.coef_ * rows.std(axis=0)).T
    np.testing.assert_allclose(pull[:, -theta.shape[1] :], penalty * theta, atol=1e-6 * penalty)


def test_rows_of_weight_zero_are_no_rows():
    weights = np.ones(300)
    weights[:5] = 0.0
    spoiled, labels = X.copy(), y.astype(object)
    spoiled[:5] = np.nan
    labels[:5] = "never mind"
    labels[5:] = [str(label) for label in labels[5:]]
    model = LogisticRegression().fit(spoiled, labels, weights)
    assert list(model.classes_) == ["0", "1"]
    np.testing.assert_allclose(model.coef_, fitted(y[5:], X[5:]).coef_, rtol=1e-9)


@pytest.mark.parametrize("labels", [y, y3])
@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("hold", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_are_rows(labels, penalty, hold):
    rows = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = fitted(labels, rows, penalty=penalty)
    found = LogisticRegression(penalty=penalty).fit(hold(rows), labels)
    same(found, dense, rows, rtol=1e-7)
    np.testing.assert_array_equal(found.predict(hold(rows)), found.predict(rows))
    np.testing.assert_allclose(found.decision_function(hold(rows)), dense.decision_function(rows))
    np.testing.assert_allclose(
        found.explain(hold(rows)).contributions, dense.explain(rows).contributions, atol=1e-7
    )
    np.testing.assert_allclose(
        found.summary().standard_errors, dense.summary().standard_errors, rtol=1e-6
    )


@pytest.mark.parametrize("labels", [y, y3])
def test_single_precision_is_read_as_it_is(labels):
    rows = X.astype(np.float32)
    exact = fitted(labels, rows.astype(np.float64))
    found = LogisticRegression().fit(rows, labels)
    np.testing.assert_allclose(found.coef_, exact.coef_, rtol=1e-6)
    np.testing.assert_allclose(found.predict_proba(rows), exact.predict_proba(rows), atol=1e-6)
    assert found.coef_.dtype == np.float64


@pytest.mark.parametrize("order", [np.asfortranarray, lambda x: x[::-1][::-1], np.ndarray.tolist])
def test_the_layout_of_rows_does_not_matter(order):
    same(LogisticRegression().fit(order(X), y), fitted())


# Frames


def test_frames_of_either_library_are_read_by_name():
    model = LogisticRegression().fit(FRAME, y)
    assert list(model.feature_names_in_) == NAMES
    assert model.coefficient_names_ == tuple(NAMES)
    np.testing.assert_allclose(model.coef_, fitted().coef_, rtol=1e-12)
    other = LogisticRegression().fit(pl.from_pandas(FRAME), y)
    np.testing.assert_array_equal(other.coef_, model.coef_)
    turned = FRAME[NAMES[::-1]]
    for rows in (turned, pl.from_pandas(turned), X):
        np.testing.assert_allclose(model.predict_proba(rows), fitted().predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_numbers_words_and_truths_go_in_together(library, penalty):
    frame = pd.DataFrame({
        "dose": X[:, 0],
        "colour": np.array(["red", "green", "blue"])[np.arange(300) % 3],
        "old": X[:, 1] > 0,
    })  # fmt: skip
    coded = np.column_stack([
        X[:, 0], *(frame["colour"] == c for c in ("blue", "green", "red")), X[:, 1] > 0
    ]).astype(float)  # fmt: skip
    coded = coded if penalty else np.delete(coded, 1, axis=1)
    rows = frame if library == "pandas" else pl.from_pandas(frame)
    model = LogisticRegression(penalty).fit(rows, y3)
    every = ("dose", "colour=blue", "colour=green", "colour=red", "old")
    assert model.coefficient_names_ == tuple(n for n in every if penalty or n != "colour=blue")
    plain = LogisticRegression(penalty).fit(coded, y3)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(rows), plain.predict_proba(coded), atol=1e-10)
    assert model.n_features_in_ == 3
    why = model.explain(rows, of=2, against=0)
    assert why.columns == ("dose", "colour", "old")
    np.testing.assert_allclose(
        why.log_odds, np.log(plain.predict_proba(coded)) @ [-1.0, 0.0, 1.0], atol=1e-9
    )


@pytest.mark.parametrize("settings", [{}, {"penalty": 1.0}, {"solver": "sgd", "random_state": 0}])
@pytest.mark.parametrize("never", ["violet", None])
def test_a_level_that_was_never_seen_speaks_for_no_class(settings, never):
    frame = pd.DataFrame({"dose": X[:, 0], "colour": np.array(["r", "g", "b"])[np.arange(300) % 3]})
    model = LogisticRegression(**settings).fit(frame, y3)
    asked = frame[:4].assign(colour=never)
    why = model.explain(asked)
    np.testing.assert_array_equal(why.contributions[:, 1], 0.0)
    np.testing.assert_allclose(
        model.decision_function(asked),
        np.mean([model.decision_function(frame[:4].assign(colour=c)) for c in "rgb"], axis=0),
        atol=1e-9,
    )
    blue = model.decision_function(frame[:4].assign(colour="b"))
    assert np.abs(blue - model.decision_function(asked)).max() > 1e-3


def test_a_blank_is_a_level_where_it_was_seen():
    words = [None if c == "red" else c for c in COLOUR]
    model = LogisticRegression().fit(pd.DataFrame({"colour": words}), ANSWER)
    assert model.coefficient_names_ == ("colour=green", "colour=blank")
    found = model.predict_proba(pd.DataFrame({"colour": [None]}))
    np.testing.assert_allclose(found, [[2 / 4, 1 / 4, 1 / 4]], rtol=1e-8)


def test_declared_levels_that_never_came_have_no_column():
    declared = pd.DataFrame({"colour": pd.Categorical(COLOUR, ["blue", "green", "red", "violet"])})
    model = LogisticRegression().fit(declared, ANSWER)
    plain = LogisticRegression().fit(COLOURS, ANSWER)
    assert model.coefficient_names_ == plain.coefficient_names_
    np.testing.assert_array_equal(model.coef_, plain.coef_)


# Where to begin


def test_a_warm_start_begins_where_the_last_fit_ended():
    cold = fitted(y3)
    again = fitted(y3, warm_start=True)
    first = again.n_iter_
    same(again.fit(X, y3), cold, rtol=1e-8)
    assert again.n_iter_ < first
    same(again.fit(X[:150], y3[:150]), fitted(y3[:150], X[:150]), rtol=1e-7)
    # Other columns, other classes: as if cold, or with what is known of the others.
    same(again.fit(X[:, :2], y3), fitted(y3, X[:, :2]), X[:, :2], rtol=1e-7)
    same(again.fit(X[:, :2], y3 + 1), fitted(y3 + 1, X[:, :2]), X[:, :2], rtol=1e-7)
    same(again.fit(FRAME, y), fitted(y, FRAME), FRAME, rtol=1e-7)


def test_a_warm_start_may_be_the_model_that_another_implies():
    implied = GaussianDiscriminant().fit(X, y3).to_logistic().set_params(warm_start=True)
    same(implied.fit(X, y3), fitted(y3), rtol=1e-8)
    assert implied.converged_


# Streams


@pytest.mark.slow
@pytest.mark.parametrize("labels", [y, y3])
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
def test_a_stream_comes_near_the_maximum(labels, hold):
    many = np.random.default_rng(0).integers(0, 300, 20_000)
    model = LogisticRegression()
    for some in np.array_split(many, 40):
        assert model.partial_fit(hold(X[some]), labels[some]) is model
    exact = fitted(labels)
    assert np.abs(model.predict_proba(X) - exact.predict_proba(X)).max() < 0.03
    np.testing.assert_array_equal(model.classes_, exact.classes_)


@pytest.mark.parametrize("labels", [y, y3])
def test_the_notes_steps_come_near_the_maximum(labels):
    model = fitted(labels, solver="sgd", random_state=0)
    assert np.abs(model.predict_proba(X) - fitted(labels).predict_proba(X)).max() < 0.05
    np.testing.assert_array_equal(model.coef_, fitted(labels, solver="sgd", random_state=0).coef_)


def test_a_stream_of_single_rows_is_a_stream():
    model = LogisticRegression()
    for row, label in zip(X, y3, strict=True):
        model.partial_fit([row], [label])
    assert model.score(X, y3) > fitted(y3).score(X, y3) - 0.05


def test_a_stream_learns_new_labels_and_new_levels():
    frame = pd.DataFrame({"dose": X[:, 0], "colour": np.array(["r", "g", "b"])[np.arange(300) % 3]})
    model = LogisticRegression()
    first, later = frame["colour"] == "r", frame["colour"] != "r"
    model.partial_fit(frame[first & (y3 < 2)], y3[first & (y3 < 2)])
    assert list(model.classes_) == [0, 1]
    assert model.coefficient_names_ == ("dose",)
    model.partial_fit(frame[later], y3[later])
    assert list(model.classes_) == [0, 1, 2]
    assert model.coefficient_names_ == ("dose", "colour=b", "colour=g")
    model.partial_fit(frame[:3].assign(colour=["r", None, "b"]), y3[:3])
    assert model.coefficient_names_ == ("dose", "colour=b", "colour=g", "colour=blank")
    for _ in range(40):
        model.partial_fit(frame, y3)
    exact = LogisticRegression().fit(frame, y3)
    assert np.abs(model.predict_proba(frame) - exact.predict_proba(frame)).max() < 0.05


@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("labels", [y, y3])
def test_a_stream_goes_on_from_a_fit(labels, hold):
    rows = np.where(np.abs(X) > 0.7, X + 3.0, 0.0)
    model = fitted(labels, hold(rows))
    before = model.predict_proba(rows)
    model.partial_fit(hold(rows[:1]), labels[:1])
    moved = np.abs(model.predict_proba(rows) - before).max()
    assert 0.0 < moved < 0.02  # one row more after three hundred
    for _ in range(20):
        model.partial_fit(hold(rows), labels)
    assert np.abs(model.predict_proba(rows) - before).max() < 0.02
    with pytest.raises(AttributeError, match="no convergence"):
        _ = model.converged_


@pytest.mark.parametrize("weights", [None, 1.0 + np.arange(300) % 3])
@pytest.mark.parametrize("held", ["dense", "sparse"])
def test_after_a_fit_a_stream_knows_what_it_would_know_of_the_rows(held, weights):
    rows = np.where(np.abs(X) > 0.7, X + 3.0, 0.0)
    if held == "sparse":
        stored = sparse.csr_array(rows)
        rows = SparseRows(stored.data, stored.indices, stored.indptr, 3)
    labels = ("a", "b", "c")
    found = seen_at_fit(fit_logistic(rows, y3, labels, weights), rows, y3, weights)
    truth = SeenRows.of(rows, y3, labels, weights)
    assert (found.labels, found.size, found.sparse) == (truth.labels, truth.size, truth.sparse)
    np.testing.assert_allclose(found.weights, truth.weights)
    np.testing.assert_allclose(found.scale.origin, truth.scale.origin, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.scale.inverse, truth.scale.inverse, rtol=1e-10)
    np.testing.assert_allclose(found.variances, truth.variances, rtol=1e-10)
    assert found.mean_square == pytest.approx(truth.mean_square)


def test_a_new_class_may_come_after_a_fit():
    new, label = X[:30] + 5.0, np.full(30, 2)
    model = fitted().partial_fit(new, label)
    assert list(model.classes_) == [0, 1, 2]
    assert model.score(X, y) > fitted().score(X, y) - 0.03  # the others are not forgotten
    for _ in range(3):
        model.partial_fit(np.concatenate([X, new]), np.concatenate([y, label]))
    assert (model.predict(new) == 2).all()
    assert model.score(X, y) > fitted().score(X, y) - 0.03


# Contrasts and explanations


def test_any_class_may_be_the_one_that_others_are_compared_with():
    model = fitted(np.array(["a", "b", "c"])[y3], FRAME)
    log_proba = model.predict_log_proba(FRAME)
    for place, reference in enumerate("abc"):
        found = model.against(reference)
        assert isinstance(found, Contrasts)
        assert found.reference == reference
        assert list(found.classes) == [c for c in "abc" if c != reference]
        assert found.columns == tuple(NAMES)
        odds = np.delete(log_proba - log_proba[:, [place]], place, axis=1)
        np.testing.assert_allclose(X @ found.coef.T + found.intercept, odds, atol=1e-9)
    assert model.against().reference == "a"
    two = fitted()
    np.testing.assert_array_equal(two.against().coef, two.coef_)
    np.testing.assert_array_equal(two.against(1).coef, -two.coef_)
    np.testing.assert_array_equal(two.against(1).intercept, -two.intercept_)


@pytest.mark.parametrize("labels", [y, y3])
def test_explanations_add_up_to_the_decision(labels):
    model = fitted(labels)
    why = model.explain(X)
    scores = model.decision_function(X)
    ranked = np.sort(scores, axis=1) if scores.ndim == 2 else np.sort(np.c_[0 * scores, scores])
    np.testing.assert_allclose(why.log_odds, ranked[:, -1] - ranked[:, -2], atol=1e-9)
    np.testing.assert_array_equal(why.of, model.predict(X))
    named = model.explain(X, of=1, against=0)
    odds = model.predict_log_proba(X)[:, 1] - model.predict_log_proba(X)[:, 0]
    np.testing.assert_allclose(named.log_odds, odds, atol=1e-9)
    theta = model.against().coef[0]
    np.testing.assert_allclose(named.contributions, (X - X.mean(axis=0)) * theta, atol=1e-9)
    np.testing.assert_allclose(model.explain([X.mean(axis=0)], of=1, against=0).contributions, 0,
                               atol=1e-12)  # fmt: skip
    assert named.columns == ("x0", "x1", "x2")
    top, _ = named.reasons(0)
    assert all(strength > 0 for _, strength in top)


# Summaries


def test_a_summary_may_be_text_a_frame_or_html():
    summary = fitted(np.array(["no", "yes"])[y], FRAME).summary()
    text = str(summary)
    for word in (
        "yes against no, 300 rows",
        "(intercept)",
        *NAMES,
        "std. error",
        "AIC",
        "McFadden",
    ):
        assert word in text
    frame = summary.to_frame()
    assert list(frame["column"]) == ["(intercept)", *NAMES]
    np.testing.assert_array_equal(frame["estimate"], summary.estimates[0])
    assert isinstance(summary.to_frame("polars"), pl.DataFrame)
    html = summary._repr_html_()
    assert html.count("<tr") == 5
    assert "dose" in html


def test_a_summary_of_three_classes_compares_each_with_the_reference():
    model = fitted(y3, FRAME)
    for reference in (0, 1, 2):
        summary = model.summary(reference=reference)
        found = model.against(reference)
        assert summary.reference == reference
        assert list(summary.compared) == list(found.classes)
        np.testing.assert_allclose(summary.estimates[:, 1:], found.coef, rtol=1e-9)
        np.testing.assert_allclose(summary.estimates[:, 0], found.intercept, rtol=1e-9)
    # 1 against 2 and 2 against 1 are as uncertain.
    assert model.summary(reference=1).standard_errors[1] == pytest.approx(
        model.summary(reference=2).standard_errors[1], rel=1e-9
    )
    assert "Softmax regression of 2 classes against 0" in str(model.summary())
    assert len(model.summary().to_frame()) == 8


def test_levels_odds_ratios_and_profiles_on_request():
    model = fitted()
    wald = model.summary(level=0.9)
    np.testing.assert_allclose(
        wald.high - wald.low, 2 * 1.6448536269514722 * wald.standard_errors, rtol=1e-9
    )
    ratios = model.summary(level=0.9, exponentiate=True)
    for part in ("estimates", "low", "high"):
        np.testing.assert_allclose(getattr(ratios, part), np.exp(getattr(wald, part)), rtol=1e-12)
    assert "odds ratio" in str(ratios)
    profile = model.summary(X, y, intervals="profile", level=0.9)
    assert profile.intervals == "profile"
    np.testing.assert_allclose(profile.low, wald.low, atol=0.1)
    assert np.abs(profile.low - wald.low).max() > 1e-4
    assert "profile likelihood" in str(profile)


def test_standard_errors_may_be_had_later_from_the_rows_of_the_fit():
    model, asked = fitted(), fitted()
    kept = asked.learned_.statistics
    without = replace(kept, found=replace(kept.found, covariance_=None))
    asked = asked.with_learned(asked.learned_.holding(without))
    with pytest.raises(BadSetting, match=r"no standard errors.*\nHint: summary\(X, y\)"):
        asked.summary()
    shuffled = np.random.default_rng(1).permutation(300)
    found = asked.summary(X[shuffled], y[shuffled])
    np.testing.assert_allclose(found.standard_errors, model.summary().standard_errors, rtol=1e-7)
    np.testing.assert_allclose(asked.covariance_, model.covariance_, rtol=1e-7)


def test_a_penalty_is_noted_and_takes_the_figures_that_have_no_meaning():
    summary = fitted(penalty=5.0).summary()
    assert "penalty=5" in str(summary)
    assert summary.fit.aic is None
    assert (summary.standard_errors < fitted().summary().standard_errors)[0, 1:].all()


def test_a_fit_that_did_not_converge_says_so_and_has_no_standard_errors():
    with pytest.warns(DidNotConverge, match=r"did not converge in \d+ passes"):
        model = fitted(y3, max_passes=1, tolerance=0.0)
    assert model.converged_ is False
    assert model.bound_ == np.inf
    summary = model.summary()
    assert np.isnan(summary.standard_errors).all()
    assert np.isfinite(summary.estimates).all()
    assert "Not converged" in str(summary)
    with pytest.raises(AttributeError, match="not the maximum"):
        _ = fitted_quietly(max_passes=1, tolerance=0.0).covariance_


def fitted_quietly(labels=y, rows=X, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DidNotConverge)
        warnings.simplefilter("ignore", SeparationWarning)
        return fitted(labels, rows, **settings)


def test_separated_classes_are_told_and_their_summary_is_refused():
    rows, labels = np.arange(10.0)[:, np.newaxis], np.array(["low"] * 5 + ["high"] * 5)
    with pytest.warns(SeparationWarning, match=r"complete separation of .* by x0"):
        model = LogisticRegression().fit(rows, labels)
    assert model.converged_ is False
    assert model.separated_.kind == "complete"
    assert [set(pair) for pair in model.separated_.pairs] == [{"low", "high"}]
    assert model.separated_.columns == ("x0",)
    assert model.score(rows, labels) == 1.0
    assert np.isfinite(model.coef_).all()
    with pytest.raises(BadSetting, match=r"separated.*\nHint: correction=\"firth\""):
        model.summary()
    with pytest.raises(AttributeError, match="firth"):
        _ = model.covariance_
    profile = model.summary(rows, labels, intervals="profile")
    ends = sorted([profile.low[0, 1], profile.high[0, 1]], key=abs)
    assert np.isfinite(ends[0])
    assert np.isinf(ends[1])


def test_quasi_complete_separation_is_told_apart():
    frame = pd.DataFrame({"dose": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "sign": [0, 0, 0, 0, 1, 1]})
    model = fitted_quietly(list("abbaaa"), frame)
    assert model.separated_.kind == "quasi-complete"
    assert "sign" in model.separated_.columns


# Firth's correction: in a table, half a row more in every cell


def test_firths_correction_adds_half_a_row_to_every_cell_of_a_table():
    model = LogisticRegression(correction="firth").fit(SIGN, ILL)
    without, with_it = log(1.5 / 3.5), log(4.5 / 1.5)
    np.testing.assert_allclose(model.intercept_, [without], rtol=1e-6)
    np.testing.assert_allclose(model.coef_, [[with_it - without]], rtol=1e-6)
    assert model.converged_
    assert "Firth" in str(model.summary())
    colours = LogisticRegression(correction="firth").fit(COLOURS, ANSWER)
    shares = [(np.array(n) + 0.5) / (sum(n) + 1.5) for n in TALLY.values()]
    asked = pd.DataFrame({"colour": list(TALLY)})
    np.testing.assert_allclose(colours.predict_proba(asked), shares, rtol=1e-6)


def test_firths_estimates_of_separated_classes_are_finite_and_have_a_summary():
    labels = np.where(SIGN[:, 0] == 1, "yes", "no")
    model = LogisticRegression(correction="firth").fit(SIGN, labels)  # not a warning
    slope = log(5.5 / 0.5) - log(0.5 / 4.5)
    np.testing.assert_allclose(model.coef_, [[slope]], rtol=1e-6)
    assert model.converged_
    assert model.separated_ is None
    summary = model.summary()
    assert np.isfinite(summary.standard_errors).all()
    assert (summary.low < summary.estimates).all()
    assert str(model.summary(SIGN, labels)) == str(summary)
    profile = model.summary(SIGN, labels, intervals="profile")
    assert (profile.low < profile.estimates).all()
    assert (profile.high > profile.estimates).all()
    assert np.isfinite([profile.low, profile.high]).all()
    with pytest.raises(BadSetting, match=r"profile intervals need the rows.*\nHint: summary"):
        model.summary(intervals="profile")


# What a fitted model goes through


MODELS = {
    "two": lambda: fitted(y, FRAME),
    "three": lambda: fitted(y3, FRAME),
    "stream": lambda: LogisticRegression().partial_fit(FRAME, y3),
    "steps": lambda: fitted(y3, FRAME, solver="sgd", random_state=0),
    "implied by GDA": lambda: GaussianDiscriminant().fit(FRAME, y3).to_logistic(),
    "implied by naive Bayes": lambda: NaiveBayes("shared-gaussian").fit(FRAME, y3).to_logistic(),
    "implied by words": lambda: MultinomialNaiveBayes().fit(FRAME.abs(), y3).to_logistic(),
    "implied by truths": lambda: BernoulliNaiveBayes().fit(FRAME.abs(), y3).to_logistic(),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "through", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy]
)
def test_a_fitted_model_survives_pickles_and_copies(name, through):
    model = MODELS[name]()
    asked = FRAME.abs()
    before = model.predict_proba(asked)
    back = through(model)
    np.testing.assert_array_equal(back.predict_proba(asked), before)
    np.testing.assert_array_equal(back.coef_, model.coef_)
    np.testing.assert_array_equal(back.classes_, model.classes_)
    assert back.coefficient_names_ == tuple(NAMES)
    if name in ("two", "three"):
        assert str(back.summary()) == str(model.summary())
    np.testing.assert_array_equal(back.explain(asked).log_odds, model.explain(asked).log_odds)
    # What the copy learns afterwards, the original does not.
    back.fit(FRAME[::2], y3[::2])
    np.testing.assert_array_equal(model.predict_proba(asked), before)


@pytest.mark.parametrize("name", MODELS)
def test_a_clone_has_the_settings_and_nothing_learned(name):
    model = MODELS[name]().set_params(penalty=0.5, tolerance=1e-6)
    other = clone(model)
    assert other.get_params() == model.get_params()
    assert not hasattr(other, "coef_")
    assert not hasattr(other, "n_features_in_")
    other.fit(FRAME, y)


@pytest.mark.parametrize("name", [n for n in MODELS if n.startswith("implied")])
def test_an_implied_model_has_no_convergence_and_no_summary(name):
    model = MODELS[name]()
    for attribute in ("converged_", "bound_", "n_iter_", "separated_", "covariance_"):
        assert not hasattr(model, attribute)
    with pytest.raises(AttributeError, match=r"no summary.*\nHint: "):
        model.summary()
    with pytest.raises(BadSetting, match=r"implied by another model.*\nHint: "):
        model.partial_fit(FRAME, y3)
    why = model.explain(FRAME.abs(), of=2, against=0)
    odds = model.predict_log_proba(FRAME.abs()) @ [-1.0, 0.0, 1.0]
    np.testing.assert_allclose(why.log_odds, odds, atol=1e-8)
    # A fit takes its place.
    np.testing.assert_allclose(model.fit(FRAME, y3).coef_, fitted(y3).coef_, rtol=1e-9)
    assert model.converged_


def test_it_works_in_pipelines_and_grids():
    iris, kinds = load_iris(return_X_y=True, as_frame=True)
    iris, kinds = iris[50:], kinds[50:]
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, LogisticRegression()).fit(iris, kinds)
    alone = LogisticRegression().fit(iris, kinds)
    # Units change coefficients, and nothing else.
    np.testing.assert_allclose(pipeline.predict_proba(iris), alone.predict_proba(iris), atol=1e-8)
    assert list(pipeline[-1].feature_names_in_) == list(iris.columns)
    grid = GridSearchCV(
        LogisticRegression(), {"penalty": [0.01, 1.0, 100.0]}, cv=3, error_score="raise",
        scoring="neg_log_loss",
    ).fit(iris, kinds)  # fmt: skip
    assert grid.best_params_["penalty"] in (0.01, 1.0, 100.0)
    proba = cross_val_predict(LogisticRegression(1.0), iris, kinds, cv=3, method="predict_proba")
    assert proba.shape == (100, 2)
    assert repr(LogisticRegression(2.0)) == "LogisticRegression(penalty=2.0)"


def test_there_is_no_partial_fit_with_a_correction_that_needs_all_rows():
    model = LogisticRegression(correction="firth")
    assert not hasattr(model, "partial_fit")
    assert hasattr(model.set_params(correction=None), "partial_fit")


# Levels that no row has


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("unused", [("a",), ("z",), ("a", "c", "z"), ()])
def test_levels_that_no_row_has_change_nothing(unused, library):
    """R drops them too: as a reference they would leave the others to add up to the intercept."""
    rng = np.random.default_rng(0)
    cells, y = rng.choice(["b", "d", "e"], 80), rng.integers(2, size=80)
    x = rng.normal(size=80)
    levels = sorted({"b", "d", "e", *unused})
    X = pd.DataFrame({"c": pd.Categorical(cells, categories=levels), "x": x})
    plain = pd.DataFrame({"c": cells, "x": x})
    if library == "polars":
        X = pl.DataFrame({"c": pl.Series(cells, dtype=pl.Enum(levels)), "x": x})
    found = LogisticRegression().fit(X, y)
    expected = LogisticRegression().fit(plain, y)
    assert found.coefficient_names_ == expected.coefficient_names_
    told, known = found.summary(), expected.summary()
    np.testing.assert_array_equal(told.estimates, known.estimates)
    np.testing.assert_array_equal(told.standard_errors, known.standard_errors)
    assert np.isfinite(told.standard_errors).all()
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(plain))
    if "a" in unused:  # later it speaks for no class, as any level that was never seen
        row = pd.DataFrame({"c": pd.Categorical(["a"], categories=levels), "x": [0.3]})
        never = pd.DataFrame({"c": ["never seen"], "x": [0.3]})
        np.testing.assert_array_equal(found.predict_proba(row), expected.predict_proba(never))


def test_with_a_penalty_a_level_that_no_row_has_is_there_and_says_nothing():
    """Every level has a column then, so that none is the one that others are compared with."""
    rng = np.random.default_rng(2)
    cells, y = rng.choice(["b", "d", "e"], 80), rng.integers(2, size=80)
    X = pd.DataFrame({"c": pd.Categorical(cells, categories=["a", "b", "d", "e"])})
    with pytest.warns(DegenerateData, match="c=a never varies"):
        found = LogisticRegression(1.0).fit(X, y)
    expected = LogisticRegression(1.0).fit(pd.DataFrame({"c": cells}), y)
    assert set(found.coefficient_names_) - set(expected.coefficient_names_) == {"c=a"}
    np.testing.assert_allclose(found.coef_, [[0.0, *expected.coef_[0]]], atol=1e-12)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("passes", [1, 2, 3])
def test_fits_of_few_passes_go_on_where_the_last_ended(passes, penalty, classes):
    rng = np.random.default_rng(1)
    y = rng.integers(classes, size=300)
    X = rng.normal(size=(300, 4)) + 0.5 * y[:, np.newaxis]
    end = LogisticRegression(penalty).fit(X, y)
    model = LogisticRegression(penalty, max_passes=passes, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DidNotConverge)
        for _ in range(12):
            model.fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.coef_, end.coef_, rtol=1e-6, atol=1e-8)
