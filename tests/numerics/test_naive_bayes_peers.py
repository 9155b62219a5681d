"""Where other naive Bayes fail on legal data, the right answer. T… are the survey's numbers."""

from __future__ import annotations

import pickle
from fractions import Fraction
from math import prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, log_softmax
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from suffice import BernoulliNaiveBayes, ComplementNaiveBayes, MultinomialNaiveBayes, NaiveBayes
from suffice.errors import BadRows, BadSetting, DegenerateData

WORDS = [BernoulliNaiveBayes, MultinomialNaiveBayes, ComplementNaiveBayes]
KINDS = [NaiveBayes, *WORDS]


def normal_log_joint(X, y, rows):
    """Return log p(x, y) of independent normal columns, by the textbook, in the order of labels."""
    out = []
    for c in np.unique(y):
        own = X[y == c]
        z = (rows - own.mean(axis=0)) / own.std(axis=0)
        widths = np.log(own.std(axis=0)) + 0.5 * np.log(2 * np.pi)
        out.append(np.log(len(own) / len(y)) - (0.5 * z**2 + widths).sum(axis=1))
    return np.column_stack(out)


# T1: a label that was never seen is a new class, and no other


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("known", [["ham", "spam"], ["eggs", "ham", "spam"]])
def test_t1_ten_rows_of_an_unknown_label_are_ten_rows_of_a_new_class(kind, known):
    first = np.eye(3)[: len(known)]
    typos = np.tile([0.0, 0.0, 1.0], (10, 1))
    model = kind().partial_fit(first, known, classes=known).partial_fit(typos, ["SPAM"] * 10)
    assert list(model.classes_) == sorted([*known, "SPAM"])
    weights = {label: group.weight for label, group in model.statistics_.groups.items()}
    assert weights == {**dict.fromkeys(known, 1.0), "SPAM": 10.0}
    assert model.predict([[0.0, 0.0, 1.0]]) == ["SPAM"]
    # What scikit-learn does: all ten are counted as the first of two classes, or vanish.
    peer = BernoulliNB().partial_fit(first, known, classes=known)
    peer.partial_fit(typos, ["SPAM"] * 10)
    assert peer.class_count_.tolist() == ([11.0, 1.0] if len(known) == 2 else [1.0, 1.0, 1.0])


# T5: smoothing of variances


def test_t5_a_column_in_small_units_is_as_good_as_any():
    rng = np.random.default_rng(5)
    y = np.arange(2000) % 2
    X = np.column_stack([rng.normal(size=2000), rng.normal(size=2000) * 1e-6 + 4e-6 * y])
    model = NaiveBayes("gaussian").fit(X, y)
    assert model.score(X, y) > 0.97
    assert GaussianNB().fit(X, y).score(X, y) < 0.6
    np.testing.assert_allclose(model.log_joint(X), normal_log_joint(X, y, X), rtol=1e-9)


@given(
    seed=st.integers(0, 2**32 - 1),
    powers=st.lists(st.floats(-140, 140), min_size=3, max_size=3),
    family=st.sampled_from(["gaussian", "shared-gaussian", "binned"]),
)
def test_t5_units_change_no_prediction(seed, powers, family):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 3)) + 0.7 * y[:, np.newaxis]
    units = 10.0 ** np.array(powers)
    here, there = (NaiveBayes(family).fit(rows, y) for rows in (X, X * units))
    np.testing.assert_allclose(
        there.predict_log_proba(X * units), here.predict_log_proba(X), rtol=1e-8, atol=1e-8
    )


def test_t5_batches_have_the_variances_of_the_whole():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 4)) * [1e-6, 1.0, 1e3, 1e6] + y[:, np.newaxis]
    order = np.argsort(X[:, 2])  # the last batch is far wider than the first
    whole, parts = NaiveBayes("gaussian").fit(X, y), NaiveBayes("gaussian")
    for part in np.array_split(order, 3):
        parts.partial_fit(X[part], y[part])
    for name, by_class in whole.parameters_.items():
        for label, expected in by_class.items():
            found = parts.parameters_[name][label]
            assert found["variance"] == pytest.approx(expected["variance"], rel=1e-11)
            own = X[y == label, int(name[1:])]
            assert expected["variance"] == pytest.approx(own.var(), rel=1e-11)


@pytest.mark.parametrize("far", [1e6, 1e200, np.inf])
def test_t5_a_row_of_no_weight_is_no_row(far):
    rng = np.random.default_rng(7)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 2)) + y[:, np.newaxis]
    more, labels = np.vstack([X, [[far, far]]]), np.append(y, 1)
    weights = np.append(np.ones(200), 0.0)
    model = NaiveBayes("gaussian").fit(more, labels, sample_weight=weights)
    np.testing.assert_array_equal(
        model.predict_log_proba(X), NaiveBayes("gaussian").fit(X, y).predict_log_proba(X)
    )


# T6: no smoothing is the limit of little smoothing


def limit(factors):
    """Return the posterior for α → 0 of classes given as products of (N + α)/(T + αK).

    `factors` holds, for each class, its weight and the pairs (N, T) of its events: exactly,
    by the power of α that each product has and by what stands beside it.
    """
    orders = [sum(n == 0 for n, _ in events) for _, events in factors]
    beside = [
        weight * prod((Fraction(n or 1) / Fraction(t) for n, t in events), start=Fraction(1))
        for weight, events in factors
    ]
    kept = [b if o == min(orders) else Fraction(0) for b, o in zip(beside, orders, strict=True)]
    return [float(k / sum(kept)) for k in kept]


def test_t6_without_smoothing_the_answer_is_the_limit():
    rows, y = [[1, 0], [0, 1]], ["a", "b"]
    bernoulli = BernoulliNaiveBayes(smoothing=0).fit(rows, y)
    np.testing.assert_array_equal(bernoulli.predict_proba([[1, 0]]), [[1.0, 0.0]])
    with np.errstate(all="ignore"):
        peer = BernoulliNB(alpha=0).fit(rows, y)
        assert np.isnan(peer.predict_proba([[1, 0]])).all()
    multinomial = MultinomialNaiveBayes(smoothing=0).fit([*rows, [0, 1]], ["a", "b", "b"])
    np.testing.assert_allclose(multinomial.predict_proba([[0, 0]]), [[1 / 3, 2 / 3]])
    np.testing.assert_array_equal(multinomial.predict_proba([[1, 0], [0, 1]]), [[1, 0], [0, 1]])


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["dense", "sparse"]))
def test_t6_bernoulli_has_the_limit_for_every_row(seed, kind):
    rng = np.random.default_rng(seed)
    X = (rng.random((12, 5)) < rng.choice([0.0, 0.2, 0.5, 1.0], size=5)).astype(int)
    y = np.append([0, 1, 2], rng.integers(0, 3, 9))
    rows = rng.integers(0, 2, size=(20, 5))
    hold = sparse.csr_array if kind == "sparse" else np.asarray
    model = BernoulliNaiveBayes(smoothing=0).fit(hold(X), y)
    expected = []
    for row in rows:
        factors = []
        for c in range(3):
            own = X[y == c]
            events = [(int((own[:, j] == v).sum()), len(own)) for j, v in enumerate(row)]
            factors.append((len(own), events))
        expected.append(limit(factors))
    np.testing.assert_allclose(model.predict_proba(hold(rows)), expected, atol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["dense", "sparse"]))
def test_t6_multinomial_has_the_limit_for_every_row(seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.choice([0.0, 0.3, 1.0], size=5), size=(12, 5))
    y = np.append([0, 1, 2], rng.integers(0, 3, 9))
    X[:3, 0] += 1  # each class has a word
    rows = rng.poisson(0.7, size=(20, 5))
    hold = sparse.csr_array if kind == "sparse" else np.asarray
    model = MultinomialNaiveBayes(smoothing=0).fit(hold(X), y)
    expected = []
    for row in rows:
        factors = []
        for c in range(3):
            counts = X[y == c].sum(axis=0)
            events = [
                (int(counts[j]), int(counts.sum())) for j, f in enumerate(row) for _ in range(f)
            ]
            factors.append((int((y == c).sum()), events))
        expected.append(limit(factors))
    np.testing.assert_allclose(model.predict_proba(hold(rows)), expected, atol=1e-12)


@pytest.mark.parametrize("family", ["categorical", "poisson", "bernoulli", "multinomial"])
def test_t6_a_little_smoothing_is_close_to_none(family):
    rng = np.random.default_rng(8)
    y = np.arange(60) % 3
    X = rng.integers(0, 2, size=(60, 3)) * (rng.random((3, 3)) < 0.6)[y]
    rows = rng.integers(0, 2, size=(50, 3))
    none, little = (NaiveBayes(family, smoothing=a).fit(X, y) for a in (0, 1e-12))
    np.testing.assert_allclose(none.predict_proba(rows), little.predict_proba(rows), atol=1e-9)
    assert np.isfinite(none.predict_proba(rows)).all()


# T11: seven standard deviations and more


def test_t11_far_from_both_classes_the_odds_are_those_of_the_formula():
    # N(0, 1) and N(3, 1): log odds 3x - 4.5.
    model = NaiveBayes("gaussian").fit([[-1.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1])
    x = np.array([[10.0], [20.0], [-30.0], [1e3], [1e9]])
    odds = 3.0 * x[:, 0] - 4.5
    np.testing.assert_allclose(model.decision_function(x), odds, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(x)[:, 1], expit(odds), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(x)[:, 0], expit(-odds), rtol=1e-9)


def test_t11_two_equal_rows_in_each_class_are_told_apart():
    with pytest.warns(DegenerateData):
        model = NaiveBayes("gaussian").fit([[0.0], [0.0], [3.0], [3.0]], ["a", "a", "b", "b"])
    np.testing.assert_array_equal(model.predict([[0.1], [2.9]]), ["a", "b"])
    assert model.predict_proba([[0.1], [2.9]]).max(axis=1).min() > 0.99


def test_t11_a_missing_cell_is_skipped_and_probabilities_sum_to_one():
    rng = np.random.default_rng(11)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 4)) + y[:, np.newaxis]
    rows = np.where(rng.random(X.shape) < 0.3, np.nan, X * 30.0)
    proba = NaiveBayes("gaussian").fit(X, y).predict_proba(rows)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-15)


# T12: many columns


@pytest.mark.parametrize("labels", [np.array([7, -3]), np.array(["no", "yes"])])
def test_t12_four_hundred_normal_columns_do_not_underflow(labels):
    rng = np.random.default_rng(12)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 400)) * 50.0 + 8.0 * y[:, np.newaxis]
    model = NaiveBayes("gaussian").fit(X, labels[y])
    order = np.argsort(labels)
    expected = log_softmax(normal_log_joint(X, y, X)[:, order], axis=1)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=1e-9, atol=1e-9)
    assert model.score(X, labels[y]) > 0.95


def test_t12_an_unseen_category_has_its_smoothed_share():
    rows = [["red", 1.0], ["red", 2.0], ["blue", 5.0], ["green", 7.0], [None, 8.0]]
    model = NaiveBayes({1: "gaussian"}).fit(rows, ["a", "a", "a", "b", "b"])
    # One level more than the three known: 1/(3 + 4) in a, 1/(1 + 4) in b.
    found = model.log_joint([["violet", None]])
    np.testing.assert_allclose(found, [[np.log(3 / 5 / 7), np.log(2 / 5 / 5)]])


# T13: columns far from zero keep their variance


@pytest.mark.parametrize("offset", [1e3, 1e4, 1e6])
@pytest.mark.parametrize("family", ["gaussian", "shared-gaussian"])
def test_t13_variances_of_single_precision_far_from_zero_are_those_of_the_cells(offset, family):
    rng = np.random.default_rng(13)
    y = np.arange(2000) % 2
    X = (rng.normal(size=(2000, 3)) + 0.5 * y[:, np.newaxis] + offset).astype(np.float32)
    model = NaiveBayes(family).fit(X, y)
    exact = X.astype(np.float64) - offset
    own = np.stack([exact[y == c].var(axis=0) for c in (0, 1)])
    for j in range(3):
        for c in (0, 1):
            expected = own[c, j] if family == "gaussian" else own[:, j].mean()
            found = model.parameters_[f"x{j}"][c]["variance"]
            assert found == pytest.approx(expected, rel=1e-9)
            assert found > 0.0


def test_t13_raw_sums_would_have_been_negative():
    rng = np.random.default_rng(13)
    x = (rng.normal(size=2000) + 1e4).astype(np.float32)
    raw = np.mean(x * x, dtype=np.float32) - np.mean(x, dtype=np.float32) ** 2
    assert abs(raw - x.astype(np.float64).var()) > 0.5


# T16: priors are given by label, and are probabilities


@pytest.mark.parametrize("kind", [NaiveBayes, BernoulliNaiveBayes, MultinomialNaiveBayes])
@pytest.mark.parametrize(
    "priors", [[2, 1, 1], {0: 2, 1: 1, 2: 1}, {0: 0.5, 1: 0.5}, {0: -0.5, 1: 1.0, 2: 0.5}]
)
def test_t16_priors_that_are_none_are_refused(kind, priors):
    with pytest.raises(BadSetting, match=r"prior.*\nHint: "):
        kind(priors=priors).fit(np.eye(3), [0, 1, 2])


@pytest.mark.parametrize("kind", [NaiveBayes, BernoulliNaiveBayes, MultinomialNaiveBayes])
def test_t16_priors_are_given_by_label_in_any_order(kind):
    priors = {"c": 0.5, "a": 0.2, "b": 0.3}
    model = kind(priors=priors).fit(np.eye(3), ["b", "c", "a"])
    np.testing.assert_allclose(model.priors_, [0.2, 0.3, 0.5], rtol=1e-15)
    free = kind().fit(np.eye(3), ["b", "c", "a"])
    moved = model.log_joint(np.eye(3)) - free.log_joint(np.eye(3))
    np.testing.assert_allclose(moved, np.tile(np.log([0.6, 0.9, 1.5]), (3, 1)), atol=1e-12)


# T17: a class that was only announced


@pytest.mark.parametrize("kind", KINDS)
def test_t17_a_class_that_was_only_announced_is_none_until_it_is_seen(kind):
    X, y = np.eye(3), ["a", "b", "c"]
    model = kind().partial_fit(X[:2], y[:2], classes=y)
    assert list(model.classes_) == ["a", "b"]
    assert (model.predict_proba(X) > 0).all()
    model.partial_fit(X[2:], y[2:])
    assert list(model.classes_) == y
    assert np.isfinite(model.predict_log_proba(X)).all()
    np.testing.assert_allclose(model.predict_proba(X), kind().fit(X, y).predict_proba(X))
    peer = MultinomialNB().partial_fit(X[:2], y[:2], classes=y)
    assert peer.predict_proba(X)[:, 2].max() == 0.0


# T18: categories are what they are


def test_t18_fractions_are_no_categories_and_are_not_cut_off():
    assert CategoricalNB().fit([[0.9], [1.7]], [0, 1]).category_count_[0].shape == (2, 2)
    with pytest.raises(BadRows, match=r"row 0, column 0: 0\.9 is not a whole number\nHint: "):
        NaiveBayes("categorical").fit([[0.9], [1.7]], [0, 1])
    model = NaiveBayes("categorical").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(BadRows, match=r"row 1, column 0: 0\.5 is not a whole number\nHint: "):
        model.predict([[1.0], [0.5]])


def test_t18_minus_one_and_words_are_levels_like_any_other():
    numbers = NaiveBayes("categorical").fit([[-1], [0], [-1], [5]], [0, 0, 1, 1])
    words = NaiveBayes("categorical").fit([["none"], ["no"], ["none"], ["yes"]], [0, 0, 1, 1])
    assert list(numbers.parameters_["x0"][0]) == [-1, 0, 5]
    np.testing.assert_array_equal(
        numbers.predict_proba([[-1], [0], [5], [9]]),
        words.predict_proba([["none"], ["no"], ["yes"], ["new"]]),
    )


# T19: half precision, constant columns, classes of one row


def test_t19_half_precision_is_read_as_it_is():
    rng = np.random.default_rng(19)
    y = np.arange(500) % 2
    X = (300.0 * rng.normal(size=(500, 3)) + 500.0 * y[:, np.newaxis]).astype(np.float16)
    wide = X.astype(np.float64)
    model = NaiveBayes("gaussian").fit(X, y)
    expected = log_softmax(normal_log_joint(wide, y, wide), axis=1)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("value", [0.0, 7.0, -1e6])
def test_t19_constant_columns_leave_the_priors(value):
    with pytest.warns(DegenerateData, match="x0, x1"):
        model = NaiveBayes("gaussian").fit(np.full((4, 2), value), [0, 0, 0, 1])
    found = model.predict_proba([[value, value], [3.0, 4.0]])
    np.testing.assert_allclose(found, [[0.75, 0.25]] * 2)


def test_t19_a_class_of_one_row_is_no_spike():
    rng = np.random.default_rng(20)
    X = np.append(rng.normal(0.0, 1.0, 500), 10.0)[:, np.newaxis]
    y = np.append(np.zeros(500, dtype=int), 1)
    with pytest.warns(DegenerateData):
        model = NaiveBayes("gaussian").fit(X, y)
    near = np.array([[9.0], [9.5], [10.0], [10.5], [11.0]])
    np.testing.assert_array_equal(model.predict(near), [1] * 5)
    assert model.predict([[0.5]]) == [0]
    # Its variance is that of the rows that have one.
    pooled = 500 * X[:500].var() / 501
    assert model.parameters_["x0"][1]["variance"] == pytest.approx(pooled, rel=1e-6)


# T25: four faults of four libraries


def test_t25_five_thousand_columns_do_not_underflow_as_naivebayes_in_r_did():
    rng = np.random.default_rng(25)
    y = np.arange(40) % 2
    X = (rng.random((40, 5000)) < 0.01 + 0.01 * y[:, np.newaxis]).astype(float)
    model = BernoulliNaiveBayes().fit(X, y)
    phi = np.stack([(X[y == c].sum(axis=0) + 1) / (20 + 2) for c in (0, 1)])
    logs = X @ np.log(phi).T + (1 - X) @ np.log1p(-phi).T + np.log(0.5)
    assert logs.max() < -200.0  # exp of a few times this is zero
    np.testing.assert_allclose(model.log_joint(X), logs, rtol=1e-11)
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(logs, axis=1), atol=1e-8)


@pytest.mark.parametrize("scale", [1e-120, 1e-3, 1e3, 1e120])
def test_t25_determinants_of_many_columns_do_not_overflow_as_in_mlpack(scale):
    rng = np.random.default_rng(26)
    y = np.arange(60) % 2
    X = (rng.normal(size=(60, 2000)) + 0.05 * y[:, np.newaxis]) * scale
    model = NaiveBayes("gaussian").fit(X, y)
    expected = normal_log_joint(X, y, X)
    assert abs(2000 * np.log10(scale)) > 5000  # the determinant is 10 to twice this power
    np.testing.assert_allclose(model.log_joint(X), expected, rtol=1e-9)
    np.testing.assert_allclose(
        model.predict_log_proba(X), log_softmax(expected, axis=1), rtol=1e-7, atol=1e-7
    )


QUESTIONS = [
    "predict", "predict_proba", "predict_log_proba", "decision_function", "log_joint",
    "log_density", "typicality", "explain", "estimate_priors",
]  # fmt: skip


def arrays(statistics):
    """Return every number that statistics hold."""
    return pickle.dumps(
        {label: [part.to_arrays() for part in group.parts]
         for label, group in statistics.groups.items()}
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_t25_questions_change_no_counts_as_they_did_in_river(kind):
    X, y = np.array([[2, 0, 1], [0, 1, 1], [1, 3, 0], [0, 0, 4]]), ["a", "a", "b", "b"]
    rows = np.array([[5.0, 7.0, 9.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    model = kind().fit(X, y)
    before, proba = arrays(model.statistics_), model.predict_proba(rows)
    for question in QUESTIONS:
        if kind is not ComplementNaiveBayes or not question.startswith(("log_", "typ", "est")):
            getattr(model, question)(rows)
    model.leave_one_out(X, y)
    if kind is not ComplementNaiveBayes:
        model.sample(5, random_state=0)
        model.with_priors({"a": 0.1, "b": 0.9}).predict(rows)
    assert arrays(model.statistics_) == before
    np.testing.assert_array_equal(model.predict_proba(rows), proba)


def test_t25_unseen_levels_that_are_asked_about_are_not_learned():
    frame = pd.DataFrame({"colour": ["red", "blue", "red", None], "n": [1.5, 2.5, 9.5, 8.5]})
    model = NaiveBayes({"n": "gaussian"}).fit(frame, ["a", "a", "b", "b"])
    asked = pd.DataFrame({"colour": ["violet", "red"], "n": [1.0, 2.0]})
    before = model.predict_proba(asked)
    for _ in range(3):
        np.testing.assert_array_equal(model.predict_proba(asked), before)
    assert list(model.parameters_["colour"]["a"]) == ["blue", "red"]


@pytest.mark.parametrize("kind", KINDS)
def test_t25_labels_are_not_coded_batch_by_batch_as_in_cuml(kind):
    rng = np.random.default_rng(27)
    y = rng.choice(["ant", "bee", "cat", "dog"], 200)
    X = rng.poisson(np.array([[1, 5, 2], [5, 1, 2], [2, 2, 6], [4, 4, 1]])[
        np.unique(y, return_inverse=True)[1]]).astype(float)  # fmt: skip
    settings = {"families": "poisson"} if kind is NaiveBayes else {}
    parts = kind(**settings)
    seen = np.zeros(200, dtype=bool)
    for group in (["cat", "dog"], ["ant", "dog"], ["bee"]):  # a batch by itself would say 0 and 1
        batch = np.isin(y, group) & ~seen & (rng.random(200) < 0.7)
        parts.partial_fit(X[batch], y[batch])
        seen |= batch
    whole = kind(**settings).fit(X[seen], y[seen])
    assert list(parts.classes_) == ["ant", "bee", "cat", "dog"]
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
