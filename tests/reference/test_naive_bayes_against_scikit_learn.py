"""Naive Bayes beside scikit-learn's five, wherever those are right, and under its own checks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, softmax
from sklearn import naive_bayes
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

from suffice import BernoulliNaiveBayes, ComplementNaiveBayes, MultinomialNaiveBayes, NaiveBayes
from suffice.errors import BadRows

CLOSE = 1e-10
LABELS = np.array(["eggs", "ham", "spam"])
PRIORS = {"eggs": 0.2, "ham": 0.3, "spam": 0.5}
ALPHAS = [1e-3, 0.5, 1.0, 10.0]
TABLES = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}


def documents(seed=0, n=200, d=40):
    """Return counts of three classes, with labels and weights."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    counts = rng.poisson(rng.gamma(0.4, 2.0, size=(3, d))[codes]).astype(float)
    return counts, LABELS[codes], rng.gamma(2.0, size=n)


def held(counts, kind):
    return sparse.csr_array(counts) if kind == "sparse" else counts


def agree(ours, theirs, rows):
    """Compare everything that both answer; log probabilities relative to their size."""
    expected = theirs.predict_log_proba(rows)
    np.testing.assert_allclose(ours.predict_log_proba(rows), expected, rtol=CLOSE, atol=CLOSE)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=CLOSE)
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


def joint(theirs, rows):
    return theirs.predict_joint_log_proba(rows)


# The five


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_gaussian_columns_agree_with_gaussian_nb(name, weighted, given):
    X, y = TABLES[name](return_X_y=True)
    weights = np.random.default_rng(1).gamma(2.0, size=len(y)) if weighted else None
    k = len(np.unique(y))
    shares = np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()
    ours = NaiveBayes("gaussian", priors=dict(enumerate(shares)) if given else None)
    theirs = naive_bayes.GaussianNB(var_smoothing=0, priors=shares if given else None)
    ours.fit(X, y, sample_weight=weights)
    theirs.fit(X, y, sample_weight=weights)
    agree(ours, theirs, X)
    np.testing.assert_allclose(ours.log_joint(X), joint(theirs, X), rtol=CLOSE, atol=CLOSE)
    for j, by_class in enumerate(ours.parameters_.values()):
        for c in range(k):
            assert by_class[c]["mean"] == pytest.approx(theirs.theta_[c, j], rel=CLOSE)
            assert by_class[c]["variance"] == pytest.approx(theirs.var_[c, j], rel=CLOSE)


def test_batches_of_gaussian_columns_agree_with_gaussian_nb():
    X, y = load_iris(return_X_y=True)
    X = X + np.arange(4) * 10.0
    ours, theirs = NaiveBayes("gaussian"), naive_bayes.GaussianNB(var_smoothing=0)
    for part in np.array_split(np.random.default_rng(2).permutation(150), 5):
        ours.partial_fit(X[part], y[part])
        theirs.partial_fit(X[part], y[part], classes=[0, 1, 2])
    agree(ours, theirs, X)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_bernoulli_agrees_with_bernoulli_nb(alpha, kind, weighted, threshold):
    counts, y, weights = documents(3)
    X, w = held(counts, kind), weights if weighted else None
    for priors in (None, PRIORS):
        shares = None if priors is None else list(priors.values())
        ours = BernoulliNaiveBayes(threshold, smoothing=alpha, priors=priors)
        theirs = naive_bayes.BernoulliNB(alpha=alpha, binarize=threshold, class_prior=shares)
        ours.fit(X, y, sample_weight=w)
        theirs.fit(X, y, sample_weight=w)
        agree(ours, theirs, X)
        np.testing.assert_allclose(ours.log_joint(X), joint(theirs, X), rtol=CLOSE, atol=CLOSE)
        np.testing.assert_allclose(
            ours.feature_log_prob_, theirs.feature_log_prob_, rtol=CLOSE, atol=CLOSE
        )


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fractions", [False, True])
def test_multinomial_agrees_with_multinomial_nb(alpha, kind, weighted, fractions):
    counts, y, weights = documents(4)
    if fractions:
        counts = TfidfTransformer().fit_transform(counts).toarray()
    X, w = held(counts, kind), weights if weighted else None
    # Ours has the multinomial coefficient in the density; it is the same for all classes.
    coefficient = gammaln(counts.sum(axis=1) + 1.0) - gammaln(counts + 1.0).sum(axis=1)
    for priors in (None, PRIORS):
        shares = None if priors is None else list(priors.values())
        ours = MultinomialNaiveBayes(smoothing=alpha, priors=priors).fit(X, y, sample_weight=w)
        theirs = naive_bayes.MultinomialNB(alpha=alpha, class_prior=shares)
        theirs.fit(X, y, sample_weight=w)
        agree(ours, theirs, X)
        np.testing.assert_allclose(
            ours.log_joint(X) - coefficient[:, np.newaxis],
            joint(theirs, X),
            rtol=CLOSE,
            atol=CLOSE,
        )
        np.testing.assert_allclose(
            ours.feature_log_prob_, theirs.feature_log_prob_, rtol=CLOSE, atol=CLOSE
        )


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_boolean_multinomial_is_multinomial_nb_on_presences(kind):
    counts, y, weights = documents(5)
    ours = MultinomialNaiveBayes(boolean=True).fit(held(counts, kind), y, sample_weight=weights)
    present = (counts > 0).astype(float)
    theirs = naive_bayes.MultinomialNB().fit(present, y, sample_weight=weights)
    np.testing.assert_allclose(
        ours.predict_log_proba(held(counts, kind)), theirs.predict_log_proba(present), atol=CLOSE
    )


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_complement_agrees_with_complement_nb(alpha, kind, weighted, classes):
    counts, y, weights = documents(6)
    kept = np.isin(y, LABELS[:classes])
    X, w = held(counts[kept], kind), weights[kept] if weighted else None
    ours = ComplementNaiveBayes(smoothing=alpha).fit(X, y[kept], sample_weight=w)
    theirs = naive_bayes.ComplementNB(alpha=alpha).fit(X, y[kept], sample_weight=w)
    agree(ours, theirs, X)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("weighted", [False, True])
def test_categories_agree_with_categorical_nb(alpha, weighted):
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, 400)
    X = (rng.integers(0, 4, size=(400, 5)) + codes[:, np.newaxis] * (rng.random(5) < 0.5)) % 4
    y, w = LABELS[codes], rng.gamma(2.0, size=400) if weighted else None
    for priors in (None, PRIORS):
        shares = None if priors is None else list(priors.values())
        ours = NaiveBayes("categorical", smoothing=alpha, priors=priors)
        theirs = naive_bayes.CategoricalNB(alpha=alpha, class_prior=shares)
        ours.fit(X, y, sample_weight=w)
        theirs.fit(X, y, sample_weight=w)
        agree(ours, theirs, X)
        np.testing.assert_allclose(ours.log_joint(X), joint(theirs, X), rtol=CLOSE, atol=CLOSE)
    assert NaiveBayes().fit(X, y).families_ == dict.fromkeys(["x0", "x1", "x2", "x3", "x4"],
                                                             "categorical")  # fmt: skip


def test_uniform_priors_are_scikit_learns_fit_prior_false():
    counts, y, _ = documents(8)
    uniform = dict.fromkeys(LABELS.tolist(), 1 / 3)
    ours = MultinomialNaiveBayes(priors=uniform).fit(counts, y)
    agree(ours, naive_bayes.MultinomialNB(fit_prior=False).fit(counts, y), counts)


def test_a_mixed_table_is_the_product_of_scikit_learns_parts():
    rng = np.random.default_rng(9)
    codes = rng.integers(0, 3, 300)
    measured = rng.normal(size=(300, 2)) + codes[:, np.newaxis]
    levels = rng.integers(0, 3, size=(300, 2))
    truths = rng.random((300, 2)) < 0.2 + 0.2 * codes[:, np.newaxis]
    rows = np.column_stack([measured, levels, truths])
    families = dict(enumerate(["gaussian"] * 2 + ["categorical"] * 2 + ["bernoulli"] * 2))
    ours = NaiveBayes(families).fit(rows, codes)
    parts = [
        (naive_bayes.GaussianNB(var_smoothing=0), measured),
        (naive_bayes.CategoricalNB(), levels),
        (naive_bayes.BernoulliNB(), truths),
    ]
    total = sum(joint(part.fit(X, codes), X) for part, X in parts) - 2 * np.log(ours.priors_)
    np.testing.assert_allclose(ours.log_joint(rows), total, rtol=CLOSE, atol=CLOSE)
    np.testing.assert_allclose(ours.predict_proba(rows), softmax(total, axis=1), atol=CLOSE)


# Its own checks

SETTINGS = [
    (NaiveBayes, {}),
    (NaiveBayes, {"families": "gaussian"}),
    (NaiveBayes, {"families": "shared-gaussian"}),
    (NaiveBayes, {"families": "binned"}),
    (NaiveBayes, {"families": "select"}),
    (NaiveBayes, {"smoothing": 0}),
    (NaiveBayes, {"smoothing": "held-out"}),
    (NaiveBayes, {"temperature": "held-out"}),
    (NaiveBayes, {"smoothing": "held-out", "temperature": "held-out"}),
    (BernoulliNaiveBayes, {}),
    (BernoulliNaiveBayes, {"smoothing": 0}),
    (BernoulliNaiveBayes, {"smoothing": "held-out", "temperature": "held-out"}),
    (MultinomialNaiveBayes, {}),
    (MultinomialNaiveBayes, {"boolean": True}),
    (MultinomialNaiveBayes, {"smoothing": 0}),
    (MultinomialNaiveBayes, {"smoothing": "held-out", "temperature": "held-out"}),
    (ComplementNaiveBayes, {}),
    (ComplementNaiveBayes, {"boolean": True}),
    (ComplementNaiveBayes, {"smoothing": 0}),
    (ComplementNaiveBayes, {"smoothing": "held-out"}),
]
COUNTS = (MultinomialNaiveBayes, ComplementNaiveBayes)
# The check hands rows below zero to every classifier, also to those whose tags say that they take
# none; scikit-learn's own have no decision_function, so that it passes them over.
WITH_NEGATIVE_ROWS = "check_decision_proba_consistency"


def name_of(kind, setting):
    return "-".join([kind.__name__, *map(str, setting.values())])


def checks():
    for kind, setting in SETTINGS:
        for estimator, check in estimator_checks_generator(kind(**setting)):
            name = getattr(check, "func", check).__name__
            if not (kind in COUNTS and name == WITH_NEGATIVE_ROWS):
                yield pytest.param(estimator, check, id=f"{name_of(kind, setting)}-{name}")


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", COUNTS)
def test_the_one_check_that_is_left_out_hands_negative_counts_over(kind):
    left_out = [
        (estimator, check)
        for estimator, check in estimator_checks_generator(kind())
        if getattr(check, "func", check).__name__ == WITH_NEGATIVE_ROWS
    ]
    assert len(left_out) == 1
    for estimator, check in left_out:
        with pytest.raises(BadRows, match="is negative"):
            check(estimator)


@pytest.mark.parametrize("kind", [BernoulliNaiveBayes, *COUNTS])
def test_scores_and_probabilities_rank_rows_alike(kind):
    counts, y, _ = documents(10)
    kept = y != "eggs"
    model = kind().fit(counts[kept], y[kept])
    scores, proba = model.decision_function(counts), model.predict_proba(counts)[:, 1]
    order = np.argsort(scores, kind="stable")
    assert (np.diff(proba[order]) >= 0).all()
    np.testing.assert_array_equal(model.predict(counts) == "spam", scores > 0)
    np.testing.assert_allclose(1 / (1 + np.exp(-scores)), proba, rtol=1e-9, atol=1e-300)
