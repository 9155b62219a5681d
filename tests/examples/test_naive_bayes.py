"""Naive Bayes that can be checked by pencil, family by family and method by method."""

from __future__ import annotations

import itertools
import pickle
import warnings
from math import exp, factorial, log, pi, sqrt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats
from scipy.special import expit, log_softmax
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from suffice import BernoulliNaiveBayes, ComplementNaiveBayes, MultinomialNaiveBayes, NaiveBayes
from suffice.errors import BadRows, BadSetting, DifferentKinds, NotADensity, NotLinear
from suffice.families import Bernoulli, Binned, GaussianColumns, LogNormal, Multinomial

KINDS = [NaiveBayes, BernoulliNaiveBayes, MultinomialNaiveBayes, ComplementNaiveBayes]

# A dictionary of three words: buy, meeting, nips. Three spam messages and four others.
MAIL = [[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]]
KIND = ["spam"] * 3 + ["ham"] * 4

# How often each word was used: two spam messages of four words, one other of three.
COUNTS = [[2, 1, 0], [1, 0, 0], [0, 1, 2]]
SIDES = ["spam", "spam", "ham"]


def parameter(model, column, name):
    return {label: found[name] for label, found in model.parameters_[column].items()}


# The multivariate Bernoulli event model


def test_phi_is_the_share_of_messages_that_hold_the_word():
    model = BernoulliNaiveBayes(smoothing=0).fit(MAIL, KIND)
    assert parameter(model, "x0", "probability") == pytest.approx({"spam": 1.0, "ham": 1 / 4})
    assert parameter(model, "x1", "probability") == pytest.approx({"spam": 1 / 3, "ham": 3 / 4})
    assert parameter(model, "x2", "probability") == {"spam": 0.0, "ham": 0.0}
    np.testing.assert_allclose(model.priors_, [4 / 7, 3 / 7])  # ham, spam


def test_laplace_adds_one_message_with_and_one_without_the_word():
    model = BernoulliNaiveBayes().fit(MAIL, KIND)
    assert parameter(model, "x0", "probability") == pytest.approx({"spam": 4 / 5, "ham": 2 / 6})
    assert parameter(model, "x1", "probability") == pytest.approx({"spam": 2 / 5, "ham": 4 / 6})
    assert parameter(model, "x2", "probability") == pytest.approx({"spam": 1 / 5, "ham": 1 / 6})
    spam, ham = 3 / 7 * 4 / 5 * 3 / 5 * 4 / 5, 4 / 7 * 2 / 6 * 2 / 6 * 5 / 6
    np.testing.assert_allclose(model.log_joint([[1, 0, 0]]), [[log(ham), log(spam)]])
    np.testing.assert_allclose(model.predict_proba([[1, 0, 0]])[0, 1], spam / (ham + spam))
    np.testing.assert_allclose(model.log_density([[1, 0, 0]]), log(ham + spam))


@pytest.mark.parametrize("alpha", [0.1, 2.0, 50.0])
def test_any_smoothing_adds_as_many_messages_of_both_kinds(alpha):
    model = BernoulliNaiveBayes(smoothing=alpha).fit(MAIL, KIND)
    expected = {"spam": (3 + alpha) / (3 + 2 * alpha), "ham": (1 + alpha) / (4 + 2 * alpha)}
    assert parameter(model, "x0", "probability") == pytest.approx(expected)
    assert set(model.smoothing_.values()) == {alpha}


def test_a_word_that_nobody_has_used_does_not_make_the_answer_zero_over_zero():
    # Without smoothing "nips" has probability 0 in both classes: α/3 and α/4, whose ratio stays.
    model = BernoulliNaiveBayes(smoothing=0).fit(MAIL, KIND)
    spam, ham = 3 / 7 * 1 * 2 / 3 * 1 / 3, 4 / 7 * 1 / 4 * 1 / 4 * 1 / 4
    np.testing.assert_allclose(model.predict_proba([[1, 0, 1]])[0, 1], spam / (spam + ham))
    little = BernoulliNaiveBayes(smoothing=1e-9).fit(MAIL, KIND)
    np.testing.assert_allclose(little.predict_proba([[1, 0, 1]])[0, 1], spam / (spam + ham))
    assert model.log_density([[1, 0, 1]]) == [-np.inf]  # it cannot have happened


def test_cells_count_by_the_threshold():
    rows = np.array([[0.0, 0.5], [2.0, 3.0], [0.7, 0.1], [9.0, -1.0]])
    for threshold in (0.0, 0.5, 1.0):
        model = BernoulliNaiveBayes(threshold).fit(rows, [0, 0, 1, 1])
        plain = BernoulliNaiveBayes().fit(rows > threshold, [0, 0, 1, 1])
        np.testing.assert_array_equal(
            model.predict_proba(rows), plain.predict_proba(rows > threshold)
        )


# The multinomial event model


def test_theta_is_the_share_of_the_words():
    plain = MultinomialNaiveBayes(smoothing=0).fit(COUNTS, SIDES)
    assert parameter(plain, "x0", "probability") == pytest.approx({"spam": 3 / 4, "ham": 0.0})
    model = MultinomialNaiveBayes().fit(COUNTS, SIDES)
    expected = {"spam": [4 / 7, 2 / 7, 1 / 7], "ham": [1 / 6, 2 / 6, 3 / 6]}
    for j, column in enumerate(["x0", "x1", "x2"]):
        found = parameter(model, column, "probability")
        assert found == pytest.approx({label: theta[j] for label, theta in expected.items()})
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [expected["ham"], expected["spam"]])


def test_the_density_of_a_message_is_conditional_on_its_length():
    model = MultinomialNaiveBayes().fit(COUNTS, SIDES)
    # "buy meeting buy" in any order: 3!/(2! 1!) of them.
    spam, ham = 2 / 3 * 3 * (4 / 7) ** 2 * 2 / 7, 1 / 3 * 3 * (1 / 6) ** 2 * 2 / 6
    np.testing.assert_allclose(model.log_joint([[2, 1, 0]]), [[log(ham), log(spam)]])
    whole = [row for row in itertools.product(range(4), repeat=3) if sum(row) == 3]
    assert np.exp(model.log_density(whole)).sum() == pytest.approx(1.0)
    for row in ([2, 1, 0], [0, 0, 5]):
        ways = factorial(sum(row)) / np.prod([factorial(f) for f in row])
        assert ways * np.prod(np.power([4 / 7, 2 / 7, 1 / 7], row)) * 2 / 3 == pytest.approx(
            exp(model.log_joint([row])[0, 1])
        )


def test_an_empty_message_has_the_prior():
    for smoothing in (0, 1.0):
        for rows in (COUNTS, sparse.csr_array(COUNTS)):
            model = MultinomialNaiveBayes(smoothing=smoothing).fit(rows, SIDES)
            np.testing.assert_allclose(model.predict_proba([[0, 0, 0]]), [[1 / 3, 2 / 3]])
            np.testing.assert_allclose(model.log_density([[0, 0, 0]]), 0.0, atol=1e-15)


def test_boolean_counts_a_word_once_a_message():
    model = MultinomialNaiveBayes(boolean=True).fit(COUNTS, SIDES)
    # spam holds buy twice and meeting once in its two messages, ham meeting and nips once.
    assert parameter(model, "x0", "probability") == pytest.approx({"spam": 3 / 6, "ham": 1 / 5})
    np.testing.assert_array_equal(
        model.predict_proba([[9, 0, 4]]), model.predict_proba([[1, 0, 1]])
    )


def test_fractions_are_counts_too():
    rows = np.array(COUNTS) * 0.25
    model = MultinomialNaiveBayes().fit(rows, SIDES)
    assert parameter(model, "x0", "probability") == pytest.approx(
        {"spam": 1.75 / 4, "ham": 1 / 3.75}
    )


# Complement


def test_complement_scores_by_the_words_of_the_other_classes():
    rows = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 2], [0, 0, 3]])
    y = np.array(["a", "a", "b", "c"])
    model = ComplementNaiveBayes(smoothing=0.5).fit(rows, y)
    scores = []
    for label in "abc":
        others = rows[y != label].sum(axis=0)
        scores.append(-np.array([1, 0, 2]) @ np.log((others + 0.5) / (others.sum() + 1.5)))
    np.testing.assert_allclose(model.predict_log_proba([[1, 0, 2]]), [log_softmax(scores)])
    assert model.predict([[1, 0, 2]]) == ["abc"[int(np.argmax(scores))]]


@pytest.mark.parametrize("boolean", [False, True])
@pytest.mark.parametrize("smoothing", [0, 0.3, 1.0])
def test_for_two_classes_complement_is_multinomial_with_equal_priors(boolean, smoothing):
    settings = {"boolean": boolean, "smoothing": smoothing}
    complement = ComplementNaiveBayes(**settings).fit(COUNTS, SIDES)
    equal = MultinomialNaiveBayes(**settings, priors={"spam": 0.5, "ham": 0.5}).fit(COUNTS, SIDES)
    rows = list(itertools.product(range(3), repeat=3))
    np.testing.assert_allclose(
        complement.predict_proba(rows), equal.predict_proba(rows), atol=1e-14
    )


def test_complement_has_no_density_and_says_so():
    model = ComplementNaiveBayes().fit(COUNTS, SIDES)
    for what in (
        "log_joint", "log_density", "typicality", "sample", "with_priors", "estimate_priors",
    ):  # fmt: skip
        assert not hasattr(model, what)
        assert hasattr(BernoulliNaiveBayes(), what)
        with pytest.raises(NotADensity, match=r"not a density\nHint: use MultinomialNaiveBayes"):
            getattr(model, what)
    assert not hasattr(model, "priors_")
    np.testing.assert_allclose(
        model.explain(COUNTS, of="spam", against="ham").log_odds, model.decision_function(COUNTS)
    )


# Categories, counts of events, measurements, bins


COLOURS = [["red"], ["red"], ["blue"], ["green"]]


@pytest.mark.parametrize("alpha", [0.25, 1.0, 3.0])
def test_a_level_has_its_share_and_one_never_seen_the_share_of_one_more(alpha):
    model = NaiveBayes(smoothing=alpha).fit(COLOURS, ["a", "a", "a", "b"])
    assert model.families_ == {"x0": "categorical"}
    a, b = 3 + 3 * alpha, 1 + 3 * alpha
    assert model.parameters_["x0"] == {
        "a": pytest.approx({"blue": (1 + alpha) / a, "green": alpha / a, "red": (2 + alpha) / a}),
        "b": pytest.approx({"blue": alpha / b, "green": (1 + alpha) / b, "red": alpha / b}),
    }
    unseen = [0.75 * alpha / (3 + 4 * alpha), 0.25 * alpha / (1 + 4 * alpha)]
    np.testing.assert_allclose(np.exp(model.log_joint([["violet"]])), [unseen])


def test_levels_are_counted_over_all_classes():
    # "green" is a level for class a as well, though only b has shown it.
    alone = NaiveBayes().fit(COLOURS[:3], ["a", "a", "b"]).parameters_["x0"]["a"]
    more = NaiveBayes().fit([*COLOURS[:3], ["green"]], ["a", "a", "b", "b"]).parameters_["x0"]["a"]
    assert alone == pytest.approx({"blue": 1 / 4, "red": 3 / 4})
    assert more == pytest.approx({"blue": 1 / 5, "green": 1 / 5, "red": 3 / 5})


CALLS = np.array([[0, 11], [2, 9], [4, 13], [6, 7], [1, 20], [0, 15]])
TWO = np.array([0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.5])
def test_a_poisson_rate_has_pseudo_rows_at_the_mean_of_all(alpha):
    model = NaiveBayes("poisson", smoothing=alpha).fit(CALLS, TWO)
    means = CALLS.mean(axis=0)
    rates = np.stack([
        (CALLS[c == TWO].sum(axis=0) + alpha * means) / (3 + alpha) for c in (0, 1)
    ])  # fmt: skip
    for j in range(2):
        found = parameter(model, f"x{j}", "rate")
        assert found == pytest.approx({0: rates[0, j], 1: rates[1, j]})
    new = np.array([[3, 12], [0, 0]])
    expected = stats.poisson(rates).logpmf(new[:, np.newaxis]).sum(axis=2) + log(0.5)
    np.testing.assert_allclose(model.log_joint(new), expected)


LENGTHS = np.array([[1.0], [3.0], [7.0], [11.0]])


def test_normal_columns_by_hand():
    # Means 2 and 9, variances 1 and 4, shared (2·1 + 2·4)/4.
    own = NaiveBayes("gaussian").fit(LENGTHS, [0, 0, 1, 1])
    shared = NaiveBayes("shared-gaussian").fit(LENGTHS, [0, 0, 1, 1])
    assert own.parameters_["x0"] == {
        0: pytest.approx({"mean": 2.0, "variance": 1.0}),
        1: pytest.approx({"mean": 9.0, "variance": 4.0}),
    }
    assert parameter(shared, "x0", "variance") == pytest.approx({0: 2.5, 1: 2.5})
    joint = [log(0.5) - log(sqrt(2 * pi * v)) - (4 - m) ** 2 / (2 * v) for m, v in ((2, 1), (9, 4))]
    np.testing.assert_allclose(own.log_joint([[4.0]]), [joint])
    # Log odds (9 - 2)/2.5·(x - 5.5).
    np.testing.assert_allclose(shared.decision_function([[4.0], [5.5]]), [-1.5 * 7 / 2.5, 0.0],
                               atol=1e-13)  # fmt: skip


def test_log_normal_columns_are_normal_in_their_logarithms():
    rows = np.exp(LENGTHS / 10)
    model = NaiveBayes("lognormal").fit(rows, [0, 0, 1, 1])
    assert model.parameters_["x0"][1] == pytest.approx({"log_mean": 0.9, "log_variance": 0.04})
    law = stats.lognorm(s=[0.1, 0.2], scale=np.exp([0.2, 0.9]))
    np.testing.assert_allclose(model.log_joint([[1.7]]), [law.logpdf(1.7) + log(0.5)])


def test_a_bin_has_its_mass_over_its_width():
    rows = [[0.2], [0.8], [1.5], [5.0], [6.0], [2.0]]
    model = NaiveBayes(Binned(edges=(0, 1, 3, 7))).fit(rows, TWO)
    assert model.parameters_["x0"] == {
        0: pytest.approx({(0.0, 1.0): 3 / 6, (1.0, 3.0): 2 / 6, (3.0, 7.0): 1 / 6}),
        1: pytest.approx({(0.0, 1.0): 1 / 6, (1.0, 3.0): 2 / 6, (3.0, 7.0): 3 / 6}),
    }
    # Density: mass/width. An edge belongs to the bin that it begins, the last one to both sides.
    inside = np.exp(model.log_joint([[0.5], [1.0], [2.9], [3.0], [7.0]]))[:, 0] * 2
    np.testing.assert_allclose(inside, [3 / 6, 2 / 12, 2 / 12, 1 / 24, 1 / 24])
    # What lies outside counts as in the outer bin.
    np.testing.assert_array_equal(
        model.log_joint([[-9.0], [99.0]]), model.log_joint([[0.0], [6.5]])
    )


def test_edges_are_quantiles_of_the_first_rows_and_stay():
    x = np.arange(40.0)[:, np.newaxis]
    y = np.arange(40) % 2
    model = NaiveBayes({0: Binned(4)}).fit(x, y)
    edges = sorted({edge for pair in model.parameters_["x0"][0] for edge in pair})
    assert edges == [0.0, 9.0, 19.0, 29.0, 39.0]
    model.partial_fit(x + 100.0, y)
    assert {edge for pair in model.parameters_["x0"][0] for edge in pair} == set(edges)
    weighted = NaiveBayes({0: Binned(4)}).fit(x, y, sample_weight=np.full(40, 2.0))
    np.testing.assert_allclose(
        weighted.predict_proba(x),
        NaiveBayes({0: Binned(4)}).fit(np.vstack([x, x]), np.append(y, y)).predict_proba(x),
    )


# Which family a column looks like


def looks(values, labels=None, **more):
    frame = pd.DataFrame({"it": values})
    y = np.arange(len(frame)) % 2 if labels is None else labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return NaiveBayes().fit(frame, y, **more).families_["it"]


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "family"),
    [
        ([True, False, True, True], "bernoulli"),
        (pd.array([True, None, False, True], dtype="boolean"), "bernoulli"),
        (["a", "b", "", "a"], "categorical"),
        (pd.Categorical(["a", "b", "a", "a"]), "categorical"),
        (pd.Categorical([1.5, 2.5, 1.5, 1.5]), "categorical"),
        ([0, 1, 1, 0], "categorical"),
        ([7.0, np.nan, 3.0, 7.0], "categorical"),
        (pd.array([7, None, 3, 7], dtype="Int64"), "categorical"),
        (np.tile(np.arange(10), 4), "categorical"),  # ten values
        (np.tile(np.arange(4, 15), 4), "poisson"),  # eleven, variance 10 and mean 9
        (RNG.poisson(9, 200), "poisson"),
        (RNG.poisson(RNG.gamma(0.5, 40, 200)), "gaussian"),  # too wide, with zeros
        (1 + RNG.poisson(RNG.gamma(0.5, 40, 200)), "lognormal"),  # too wide, none is zero
        (RNG.integers(-50, 50, 200), "gaussian"),
        (RNG.normal(size=200), "gaussian"),
        (100 + RNG.normal(size=200), "gaussian"),
        (np.exp(RNG.normal(size=200)), "lognormal"),
        (np.append(np.exp(RNG.normal(size=200)), 0.0), "gaussian"),
        ([np.nan] * 4, "gaussian"),
        ([1, "x", 2, "x"], "categorical"),
    ],
)  # fmt: skip
def test_auto_reads_the_family_off_the_first_rows(values, family):
    assert looks(values) == family


def test_counts_are_judged_within_their_classes():
    # Two rates far apart: all together the counts are much too wide for Poisson.
    y = np.arange(400) % 2
    counts = np.random.default_rng(1).poisson(np.where(y, 200, 20))
    assert counts.var() > 20 * counts.mean()
    assert looks(counts, y) == "poisson"
    assert looks(counts, np.arange(400) % 4 > 1) == "lognormal"


def test_what_has_no_weight_decides_nothing():
    values = np.append(np.tile([0.0, 1.0], 200), [0.5, -3.0])
    weights = np.append(np.ones(400), [0.0, 0.0])
    assert looks(values) == "gaussian"
    assert looks(values, sample_weight=weights) == "categorical"


# Families by name, position, group and object


FRAME = pd.DataFrame(
    {
        "red": [0, 2, 1, 0, 3, 1, 0, 2],
        "blue": [1, 0, 2, 2, 0, 3, 1, 1],
        "size": [1.0, 2.5, 0.5, 3.0, 2.0, 4.5, 1.5, 3.5],
    }
)
LABELS = np.array([0, 1, 0, 1, 0, 1, 0, 1])


def test_a_family_is_given_by_name_or_position_or_as_an_object():
    models = [
        NaiveBayes({"size": "gaussian"}),
        NaiveBayes({2: "gaussian"}),
        NaiveBayes({np.int64(2): "gaussian"}),
        NaiveBayes({"size": GaussianColumns()}),
        NaiveBayes({"size": "gaussian", "red": "categorical", 1: "categorical"}),
    ]
    expected = {"red": "categorical", "blue": "categorical", "size": "gaussian"}
    answers = []
    for model in models:
        assert model.fit(FRAME, LABELS).families_ == expected
        answers.append(model.log_joint(FRAME))
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer, answers[0])


def test_one_family_is_for_all_columns():
    for family in ("poisson", "gaussian", "binned"):
        rows = FRAME[["red", "blue"]]
        assert set(NaiveBayes(family).fit(rows, LABELS).families_.values()) == {family}
    as_object = NaiveBayes(Bernoulli(1.0)).fit(FRAME, LABELS)
    plain = BernoulliNaiveBayes(1.0).fit(FRAME, LABELS)
    np.testing.assert_allclose(as_object.predict_proba(FRAME), plain.predict_proba(FRAME))


def test_columns_that_are_named_together_share_one_law():
    tied = NaiveBayes({("red", "blue"): "multinomial", "size": "gaussian"}).fit(FRAME, LABELS)
    words = MultinomialNaiveBayes().fit(FRAME[["red", "blue"]], LABELS)
    sizes = NaiveBayes("gaussian").fit(FRAME[["size"]], LABELS)
    expected = words.log_joint(FRAME[["red", "blue"]]) + sizes.log_joint(FRAME[["size"]])
    np.testing.assert_allclose(tied.log_joint(FRAME), expected - np.log(tied.priors_))
    once = NaiveBayes({("red", "blue"): Multinomial(boolean=True)}).fit(FRAME, LABELS)
    assert once.families_["blue"] == "multinomial"
    assert np.abs(once.predict_proba(FRAME) - tied.predict_proba(FRAME)).max() > 1e-3


def test_two_groups_of_words_have_two_lengths():
    model = NaiveBayes({(0, 1): "multinomial", (2, 3): "multinomial"}).fit(
        [[1, 1, 0, 2], [0, 3, 1, 1], [2, 0, 2, 0]], [0, 0, 1]
    )
    first = MultinomialNaiveBayes().fit([[1, 1], [0, 3], [2, 0]], [0, 0, 1])
    second = MultinomialNaiveBayes().fit([[0, 2], [1, 1], [2, 0]], [0, 0, 1])
    joint = first.log_joint([[1, 2]]) + second.log_joint([[3, 1]]) - np.log(model.priors_)
    np.testing.assert_allclose(model.log_joint([[1, 2, 3, 1]]), joint)


def test_settings_that_were_given_are_kept_though_the_dictionary_changes():
    families = {"size": "gaussian"}
    model = NaiveBayes(families).fit(FRAME, LABELS)
    before = model.predict_proba(FRAME)
    families["size"] = "lognormal"
    with pytest.raises(BadSetting, match=r"fit again"):
        model.predict_proba(FRAME)
    families["size"] = "gaussian"
    np.testing.assert_array_equal(model.predict_proba(FRAME), before)


# Why


def test_log_odds_are_prior_odds_and_one_part_for_each_column():
    model = BernoulliNaiveBayes().fit(MAIL, KIND)
    why = model.explain([[1, 0, 0]], of="spam", against="ham")
    assert why.baseline == pytest.approx([log(3 / 4)])
    parts = [log((4 / 5) / (2 / 6)), log((3 / 5) / (2 / 6)), log((4 / 5) / (5 / 6))]
    np.testing.assert_allclose(why.contributions, [parts])
    np.testing.assert_allclose(why.log_odds, model.decision_function([[1, 0, 0]]))
    top, low = why.reasons(0)
    assert [name for name, _ in top] == ["x0", "x1"]
    assert [name for name, _ in low] == ["x2"]
    assert dict(top + low) == pytest.approx(dict(zip(["x0", "x1", "x2"], parts, strict=True)))
    assert why.reasons(0, most=1) == (top[:1], low[:1])


def test_by_default_the_winner_is_compared_with_the_runner_up():
    model = NaiveBayes({"size": "gaussian"}).fit(FRAME, np.array([0, 1, 2, 2, 0, 1, 2, 1]))
    why = model.explain(FRAME)
    order = np.argsort(-model.predict_log_proba(FRAME), axis=1)
    np.testing.assert_array_equal(why.of, model.classes_[order[:, 0]])
    np.testing.assert_array_equal(why.against, model.classes_[order[:, 1]])
    assert (why.log_odds >= 0).all()
    assert why.columns == ("red", "blue", "size")
    assert str(why).startswith(f"row 0: log odds of {why.of[0]} against {why.against[0]} +")


def test_words_are_the_reasons_where_columns_are_words():
    letters = ["buy buy now", "buy it", "we meet now", "meet me there"]
    words = CountVectorizer()
    counts = words.fit_transform(letters)
    frame = pd.DataFrame(counts.toarray(), columns=words.get_feature_names_out())
    model = MultinomialNaiveBayes().fit(frame, ["spam", "spam", "ham", "ham"])
    top, low = model.explain(frame[:1]).reasons()
    # 5 and 6 words of 7 different ones: "buy buy now" says buy twice, and now a little.
    assert dict(top) == pytest.approx({"buy": 2 * log(4 / 12 * 13), "now": log(2 / 12 / 2 * 13)})
    assert [name for name, _ in top] == ["buy", "now"]
    assert low == []
    top, low = model.explain(frame[2:3]).reasons()
    assert [name for name, _ in top] == ["meet", "we"]
    assert [name for name, _ in low] == ["now"]
    sparse_why = MultinomialNaiveBayes().fit(counts, ["spam", "spam", "ham", "ham"]).explain(counts)
    np.testing.assert_allclose(sparse_why.contributions, model.explain(frame).contributions)


def test_a_missing_cell_is_no_reason():
    model = NaiveBayes({"size": "gaussian"}).fit(FRAME, LABELS)
    gone = FRAME.astype(object)
    gone.loc[0, "size"] = None
    why = model.explain(gone)
    assert why.contributions[0, 2] == 0.0
    np.testing.assert_allclose(why.log_odds, np.abs(model.decision_function(gone)))


# The other school


def odds_agree(model, rows):
    implied = model.to_logistic()
    np.testing.assert_allclose(implied.predict_proba(rows), model.predict_proba(rows), atol=1e-12)
    odds = model.decision_function(rows)
    np.testing.assert_allclose(implied.decision_function(rows), odds, atol=1e-10)
    return implied


def test_bernoulli_implies_a_logistic_model():
    model = BernoulliNaiveBayes().fit(MAIL, KIND)
    implied = odds_agree(model, MAIL)
    phi = np.array([[2 / 6, 4 / 6, 1 / 6], [4 / 5, 2 / 5, 1 / 5]])
    logit = np.log(phi / (1 - phi))
    np.testing.assert_allclose(implied.coef_, [logit[1] - logit[0]])
    nothing = log(3 / 4) + np.log((1 - phi[1]) / (1 - phi[0])).sum()
    np.testing.assert_allclose(implied.intercept_, [nothing])
    assert implied.against().reference == "ham"
    assert list(implied.against().classes) == ["spam"]
    np.testing.assert_array_equal(implied.against().coef, implied.coef_)
    counted = BernoulliNaiveBayes(1.0).fit(COUNTS, SIDES)
    for rows in (np.array(COUNTS), sparse.csr_array(COUNTS)):
        odds_agree(counted.fit(rows, SIDES), rows)


def test_multinomial_poisson_and_shared_variances_imply_one_too():
    words = odds_agree(MultinomialNaiveBayes().fit(COUNTS, SIDES), COUNTS)
    theta = np.array([[1 / 6, 2 / 6, 3 / 6], [4 / 7, 2 / 7, 1 / 7]])
    np.testing.assert_allclose(words.coef_, [np.log(theta[1] / theta[0])])
    np.testing.assert_allclose(words.intercept_, [log(2)])
    events = odds_agree(NaiveBayes("poisson", smoothing=0).fit(CALLS, TWO), CALLS)
    rates = np.stack([CALLS[c == TWO].mean(axis=0) for c in (0, 1)])
    np.testing.assert_allclose(events.coef_, [np.log(rates[1] / rates[0])])
    np.testing.assert_allclose(events.intercept_, [(rates[0] - rates[1]).sum()])
    line = odds_agree(NaiveBayes("shared-gaussian").fit(LENGTHS, [0, 0, 1, 1]), LENGTHS)
    np.testing.assert_allclose(line.coef_, [[7 / 2.5]])
    np.testing.assert_allclose(line.intercept_, [-5.5 * 7 / 2.5])


def test_linear_families_may_be_mixed():
    families = {"red": "poisson", "blue": Bernoulli(0.5), "size": "shared-gaussian"}
    model = NaiveBayes(families, temperature=0.7).fit(FRAME, LABELS)
    implied = odds_agree(model, FRAME)
    assert implied.coefficient_names_ == ("red", "blue", "size")
    assert implied.against().columns == ("red", "blue", "size")
    assert implied.coef_.shape == (1, 3)


def test_each_class_is_compared_with_the_reference():
    model = MultinomialNaiveBayes().fit([*COUNTS, [1, 1, 1]], [*SIDES, "eggs"])
    implied = model.to_logistic().against("ham")
    assert implied.reference == "ham"
    assert list(implied.classes) == ["eggs", "spam"]
    log_proba = model.predict_log_proba(COUNTS)
    odds = log_proba[:, [0, 2]] - log_proba[:, [1]]
    np.testing.assert_allclose(np.array(COUNTS) @ implied.coef.T + implied.intercept, odds)
    complement = ComplementNaiveBayes().fit([*COUNTS, [1, 1, 1]], [*SIDES, "eggs"])
    np.testing.assert_allclose(
        complement.to_logistic().predict_proba(COUNTS), complement.predict_proba(COUNTS)
    )


@pytest.mark.parametrize(
    ("family", "reason"),
    [
        ("gaussian", "each class has its own variances"),
        ("lognormal", "log-normal columns enter by their logarithm"),
        ("categorical", "categorical columns have a table of levels"),
        ("binned", "binned columns have a table of levels"),
    ],
)
def test_other_families_imply_none_and_say_why(family, reason):
    rows = FRAME[["size"]] * (2 if family == "categorical" else 1)
    model = NaiveBayes(family).fit(rows, LABELS)
    with pytest.raises(NotLinear, match=rf"{reason}\nHint: "):
        model.to_logistic()


def test_what_is_impossible_without_smoothing_is_not_linear():
    model = MultinomialNaiveBayes(smoothing=0).fit(COUNTS, SIDES)
    with pytest.raises(NotLinear, match=r"impossible without smoothing\nHint: smoothing=1"):
        model.to_logistic()
    assert model.set_params(smoothing=1.0).to_logistic().coef_.shape == (1, 3)


def test_a_logistic_model_cannot_skip_a_cell():
    implied = NaiveBayes("poisson").fit(CALLS, TWO).to_logistic()
    with pytest.raises(BadSetting, match=r"row 0, x1 is missing"):
        implied.predict([[1.0, np.nan]])


# Draws


def mixed(size=400, seed=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size)
    frame = pd.DataFrame(
        {
            "colour": np.where(rng.random(size) < 0.3 + 0.4 * y, "red", "blue"),
            "calls": rng.poisson(12 + 5 * y),
            "paid": rng.random(size) < 0.7 - 0.3 * y,
            "weight": rng.normal(10 * y, 2.0, size) - 3.0,
            "price": np.exp(rng.normal(y, 0.5, size)),
            "rooms": rng.integers(1, 5, size),
        }
    )
    return frame, np.array(["rent", "sale"])[y]


FAMILIES = {"colour": "categorical", "calls": "poisson", "paid": "bernoulli",
            "weight": "gaussian", "price": "lognormal", "rooms": "categorical"}  # fmt: skip


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_gives_frames_of_the_same_library(library):
    frame, y = mixed()
    given = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
    model = NaiveBayes().fit(given[library](frame), y)
    assert model.families_ == FAMILIES
    rows, labels = model.sample(2000, random_state=3)
    assert type(rows).__module__.startswith(library)
    back = rows if library == "pandas" else rows.to_pandas()
    assert list(back.columns) == list(frame.columns)
    assert set(back["colour"]) == {"red", "blue"}
    assert set(back["rooms"]) == {1, 2, 3, 4}
    assert back["paid"].dtype == bool
    assert set(labels) == {"rent", "sale"}
    # The draws follow the law: shares and means within four standard errors.
    for label in ("rent", "sale"):
        own = back[labels == label]
        p = model.parameters_["colour"][label]["red"]
        assert abs((own["colour"] == "red").mean() - p) < 4 * sqrt(p * (1 - p) / len(own))
        q = model.parameters_["paid"][label]["probability"]
        assert abs(own["paid"].mean() - q) < 4 * sqrt(q * (1 - q) / len(own))
        rate = model.parameters_["calls"][label]["rate"]
        assert abs(own["calls"].mean() - rate) < 4 * sqrt(rate / len(own))
        law = model.parameters_["weight"][label]
        assert abs(own["weight"].mean() - law["mean"]) < 4 * sqrt(law["variance"] / len(own))
        skewed = model.parameters_["price"][label]
        gap = np.log(own["price"]).mean() - skewed["log_mean"]
        assert abs(gap) < 4 * sqrt(skewed["log_variance"] / len(own))
    again, others = model.sample(2000, random_state=3)
    np.testing.assert_array_equal(others, labels)
    assert again.equals(rows)
    assert set(model.sample(5, y="sale", random_state=0)[1]) == {"sale"}


def test_draws_can_be_learned_from():
    frame, y = mixed()
    model = NaiveBayes().fit(frame, y)
    rows, labels = model.sample(3000, random_state=4)
    again = NaiveBayes(FAMILIES).fit(rows, labels)
    np.testing.assert_allclose(again.predict_proba(frame), model.predict_proba(frame), atol=0.2)


def test_arrays_give_arrays():
    rows, labels = BernoulliNaiveBayes().fit(MAIL, KIND).sample(50, random_state=0)
    assert rows.shape == (50, 3)
    assert rows.dtype == float
    assert set(np.unique(rows)) == {0.0, 1.0}
    assert set(labels) == {"ham", "spam"}


def test_messages_are_as_long_as_they_are_told_to_be_or_as_usual():
    model = MultinomialNaiveBayes().fit(COUNTS, SIDES)
    rows, _ = model.sample(4, lengths=[0, 1, 5, 100], random_state=0)
    np.testing.assert_array_equal(rows.sum(axis=1), [0, 1, 5, 100])
    assert (model.sample(3, lengths=7, random_state=0)[0].sum(axis=1) == 7).all()
    free, _ = model.sample(4000, y="spam", random_state=1)
    assert abs(free.sum(axis=1).mean() - 2.0) < 4 * sqrt(2.0 / 4000)  # four words, two messages
    once, _ = MultinomialNaiveBayes(boolean=True).fit(COUNTS, SIDES).sample(200, random_state=0)
    assert set(np.unique(once)) == {0.0, 1.0}


# Priors


def test_other_priors_change_the_priors_alone():
    model = BernoulliNaiveBayes().fit(MAIL, KIND)
    rare = model.with_priors({"spam": 0.01, "ham": 0.99})
    moved = rare.decision_function(MAIL) - model.decision_function(MAIL)
    np.testing.assert_allclose(moved, log(0.01 / 0.99) - log(3 / 4))
    np.testing.assert_allclose(model.priors_, [4 / 7, 3 / 7])
    assert rare.parameters_ == model.parameters_


@pytest.mark.parametrize("family", ["auto", "bernoulli", "poisson", "shared-gaussian", "binned"])
def test_priors_of_new_rows_are_found_without_labels(family):
    rng = np.random.default_rng(5)

    def rows_of(y):
        if family == "bernoulli":
            return rng.random((len(y), 4)) < np.where(y, 0.7, 0.2)[:, np.newaxis]
        if family == "poisson":
            return rng.poisson(np.where(y, 9.0, 4.0)[:, np.newaxis], size=(len(y), 2))
        return rng.normal(1.8 * y, 1.0)[:, np.newaxis]

    y, new = np.arange(2000) % 2, (rng.random(3000) < 0.15).astype(int)
    model = NaiveBayes(family).fit(rows_of(y), y)
    found = model.estimate_priors(rows_of(new))
    assert found.standard_errors[1] < 0.05
    assert abs(found.priors[1] - new.mean()) < 4 * found.standard_errors[1]
    assert sum(found.priors.values()) == pytest.approx(1.0)


# None of these


def test_typicality_is_the_share_of_rows_no_likelier_given_class_and_row_together():
    rows = np.array([[1, 1], [1, 0], [1, 1], [0, 0], [0, 0], [1, 0]])
    model = BernoulliNaiveBayes().fit(rows, TWO)
    every = np.array(list(itertools.product([0, 1], repeat=2)))
    for c in (0, 1):
        here = rows[np.array(TWO) == c]
        for row, found in zip(every, model.typicality(every)[:, c], strict=True):
            # Each of the W + 1 rows is as likely to be the new one, column by column.
            share = (here.sum(axis=0) + row) / (len(here) + 1)
            mass = np.prod(np.where(every, share, 1 - share), axis=1)
            own = np.prod(np.where(row, share, 1 - share))
            assert found == pytest.approx(mass[mass <= own * (1 + 1e-9)].sum(), abs=1e-9)


def test_a_row_like_none_of_the_classes_is_typical_of_none():
    frame, y = mixed()
    model = NaiveBayes().fit(frame, y)
    odd = frame[:1].assign(weight=60.0, calls=90)
    assert model.typicality(odd).max() < 0.001
    assert (model.typicality(frame).max(axis=1) > 0.001).mean() > 0.99
    np.testing.assert_array_equal(model.typicality(frame[:5]), model.typicality(frame[:5]))


def test_long_messages_are_compared_with_long_ones():
    rng = np.random.default_rng(6)
    counts = rng.multinomial(30, [0.5, 0.3, 0.2], size=100)
    model = MultinomialNaiveBayes().fit(counts, np.arange(100) % 2)
    usual = rng.multinomial(300, [0.5, 0.3, 0.2], size=20)
    assert model.typicality(usual).max(axis=1).min() > 0.001
    assert model.typicality([[0, 0, 300]]).max() < 0.001
    with pytest.raises(BadRows, match=r"row 0 holds 0\.5"):
        model.typicality([[0.5, 1.0, 1.0]])


# Missing cells


@pytest.mark.parametrize(
    "family",
    ["gaussian", "shared-gaussian", "lognormal", "poisson", "categorical", "bernoulli", "binned"],
)
@pytest.mark.parametrize("smoothing", [0, 1.0])
def test_a_missing_cell_leaves_the_model_of_the_other_columns(family, smoothing):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 90)
    X = rng.poisson(2 + y[:, np.newaxis], size=(90, 3)) + (1.0 if family != "bernoulli" else 0.0)
    X = np.minimum(X, 1.0) if family == "bernoulli" else X
    model = NaiveBayes(family, smoothing=smoothing).fit(X, y)
    for gone in range(3):
        kept = [j for j in range(3) if j != gone]
        less = NaiveBayes(family, smoothing=smoothing).fit(X[:, kept], y)
        rows = X[:20].copy()
        rows[:, gone] = np.nan
        np.testing.assert_allclose(model.log_joint(rows), less.log_joint(X[:20, kept]), rtol=1e-12)
        np.testing.assert_allclose(
            model.predict_log_proba(rows), less.predict_log_proba(X[:20, kept]), atol=1e-12
        )
    nothing = np.full((1, 3), np.nan)
    np.testing.assert_allclose(model.predict_proba(nothing), [model.priors_])
    np.testing.assert_allclose(model.log_density(nothing), 0.0, atol=1e-12)


@pytest.mark.parametrize("family", ["gaussian", "lognormal", "poisson", "categorical", "bernoulli"])
def test_a_column_is_learned_from_the_cells_that_are_there(family):
    rng = np.random.default_rng(8)
    X, y = rng.integers(0, 2, size=(60, 2)) + (family != "bernoulli"), np.arange(60) % 2
    holes = np.where(rng.random((60, 2)) < 0.3, np.nan, X)
    model = NaiveBayes(family).fit(holes, y)
    for j in range(2):
        there = ~np.isnan(holes[:, j])
        alone = NaiveBayes(family).fit(X[there][:, [j]], y[there])
        for label in (0, 1):
            expected = alone.parameters_["x0"][label]
            assert model.parameters_[f"x{j}"][label] == pytest.approx(expected)


# Learning more, forgetting, merging


def rows_for(kind):
    rng = np.random.default_rng(9)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 120)]
    X = rng.poisson(1.0 + (y == "b")[:, np.newaxis] * [0, 2, 0, 1], size=(120, 4)).astype(float)
    return kind("poisson") if kind is NaiveBayes else kind(), X, y


@pytest.mark.parametrize("kind", KINDS)
def test_batches_shards_and_all_at_once_are_the_same(kind):
    model, X, y = rows_for(kind)
    whole = clone(model).fit(X, y)
    parts = clone(model)
    for i in range(0, 120, 7):
        parts.partial_fit(X[i : i + 7], y[i : i + 7])
    shards = sum(clone(model).fit(X[i::4], y[i::4]) for i in range(4))
    rows = clone(model).partial_fit(X[:3], y[:3])
    for i in range(3, 120):
        rows.partial_fit(X[i : i + 1], y[i : i + 1])
    for other in (parts, shards, rows):
        np.testing.assert_array_equal(other.predict_log_proba(X), whole.predict_log_proba(X))


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_class_may_come_at_any_time(kind):
    model, X, y = rows_for(kind)
    late = y == "c"
    model.partial_fit(X[~late], y[~late])
    assert list(model.classes_) == ["a", "b"]
    assert model.predict_proba(X).shape == (120, 2)
    model.partial_fit(X[late], y[late])
    assert list(model.classes_) == ["a", "b", "c"]
    np.testing.assert_array_equal(
        model.predict_log_proba(X), clone(model).fit(X, y).predict_log_proba(X)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_forgotten_was_never_there(kind):
    model, X, y = rows_for(kind)
    rest = clone(model).fit(X[40:], y[40:])
    model.fit(X, y).forget(X[:40], y[:40])
    np.testing.assert_array_equal(model.predict_log_proba(X), rest.predict_log_proba(X))
    model.forget(X[40:], y[40:])
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_levels_appear_and_disappear():
    first = NaiveBayes("categorical").fit([["red"], ["blue"]], ["a", "b"])
    second = NaiveBayes("categorical").fit([["green"], ["red"]], ["a", "b"])
    both = first + second
    assert list(both.parameters_["x0"]["a"]) == ["blue", "green", "red"]
    both.forget([["green"], ["red"]], ["a", "b"])
    assert both.parameters_ == first.parameters_


@pytest.mark.parametrize("kind", KINDS)
def test_each_row_is_judged_as_by_a_model_of_all_the_others(kind):
    model, X, y = rows_for(kind)
    X, y = X[:30], y[:30]
    weights = 1.0 + np.arange(30) % 3
    found = model.fit(X, y, sample_weight=weights).leave_one_out(X, y, sample_weight=weights)
    for i in range(30):
        kept = np.arange(30) != i
        other = clone(model).fit(X[kept], y[kept], sample_weight=weights[kept])
        np.testing.assert_allclose(
            found.log_posterior[i], other.predict_log_proba(X[[i]])[0], rtol=1e-9, atol=1e-11
        )
    wrong = model.classes_[found.log_posterior.argmax(axis=1)] != y
    assert found.error == pytest.approx(np.average(wrong, weights=weights))


def test_leaving_one_out_of_a_mixed_frame_with_holes():
    frame, y = mixed(60)
    frame = frame.astype({"calls": float, "paid": object}).mask(
        np.random.default_rng(10).random(frame.shape) < 0.1
    )
    model = NaiveBayes(FAMILIES).fit(frame, y)
    found = model.leave_one_out(frame, y).log_posterior
    for i in range(60):
        kept = np.arange(60) != i
        other = NaiveBayes(FAMILIES).fit(frame[kept], y[kept])
        expected = other.predict_log_proba(frame[i : i + 1])[0]
        np.testing.assert_allclose(found[i], expected, rtol=1e-8, atol=1e-9)


# Settings that are found, and settings that change


def test_a_temperature_is_an_exponent_on_the_likelihood():
    model = BernoulliNaiveBayes().fit(MAIL, KIND)
    cool = BernoulliNaiveBayes(temperature=0.25).fit(MAIL, KIND)
    prior = np.log(model.priors_)
    expected = log_softmax(prior + 0.25 * (model.log_joint(MAIL) - prior), axis=1)
    np.testing.assert_allclose(cool.predict_log_proba(MAIL), expected)
    assert cool.temperature_ == 0.25
    np.testing.assert_array_equal(cool.log_joint(MAIL), model.log_joint(MAIL))
    empty = MultinomialNaiveBayes(temperature=0.25).fit(COUNTS, SIDES)
    np.testing.assert_allclose(empty.predict_proba([[0, 0, 0]]), [[1 / 3, 2 / 3]])


def test_a_column_given_five_times_is_taken_a_fifth_as_literally():
    rng = np.random.default_rng(11)
    y = np.arange(2000) % 2
    x = rng.normal(y, 1.5)[:, np.newaxis]
    once = NaiveBayes("gaussian", temperature="held-out").fit(x, y)
    often = NaiveBayes("gaussian", temperature="held-out").fit(np.tile(x, 5), y)
    assert once.temperature_ == pytest.approx(1.0, abs=0.15)
    assert often.temperature_ == pytest.approx(once.temperature_ / 5, rel=0.02)
    np.testing.assert_allclose(often.predict_proba(np.tile(x, 5)), once.predict_proba(x), atol=0.01)


def test_held_out_smoothing_makes_the_other_folds_likeliest():
    rng = np.random.default_rng(12)
    y = rng.integers(0, 2, 60)
    X = rng.poisson(rng.gamma(0.3, 1.0, size=(2, 30))[y])
    model = MultinomialNaiveBayes(smoothing="held-out").fit(X, y)
    (alpha,) = set(model.smoothing_.values())
    assert 0.01 < alpha < 100.0
    folds = [{c: group.parts[0].sums for c, group in fold.groups.items()}
             for fold in model.statistics_.parts]  # fmt: skip

    def likelihood(a):
        total = 0.0
        for held, c in itertools.product(folds, (0, 1)):
            rest = sum(fold[c] for fold in folds if fold is not held and c in fold)
            own = held.get(c, np.zeros(30))
            total += own @ np.log((rest + a) / (rest.sum() + 30 * a))
        return total

    assert likelihood(alpha) >= max(likelihood(alpha * 1.05), likelihood(alpha / 1.05)) - 1e-6
    plain = MultinomialNaiveBayes(smoothing=alpha).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("setting", ["smoothing", "temperature"])
@pytest.mark.parametrize("family", ["bernoulli", "categorical", "poisson", "binned"])
def test_rows_that_say_the_same_vouch_for_each_other(family, setting):
    # Two columns of few values: nearly every row has many equals among the others.
    rng = np.random.default_rng(14)
    y = rng.integers(0, 2, 2000)
    if family == "poisson":
        X = rng.poisson(np.where(y, 2.0, 1.0)[:, np.newaxis], size=(2000, 2))
    else:
        most = 1 if family == "bernoulli" else 4
        X = rng.binomial(most, np.where(y, 0.7, 0.3)[:, np.newaxis], size=(2000, 2))
    plain = NaiveBayes(family).fit(X, y).predict_proba(X)
    found = NaiveBayes(family, **{setting: "held-out"}).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found, plain, atol=0.03)


def test_settings_of_the_estimate_may_change_after_the_fit():
    model = MultinomialNaiveBayes().fit(COUNTS, SIDES)
    priors = {"spam": 0.9, "ham": 0.1}
    for settings in ({"smoothing": 0.1}, {"temperature": 0.5}, {"priors": priors}):
        model.set_params(**settings)
        fresh = MultinomialNaiveBayes(**model.get_params()).fit(COUNTS, SIDES)
        np.testing.assert_array_equal(model.predict_proba(COUNTS), fresh.predict_proba(COUNTS))


def test_settings_that_need_other_statistics_ask_for_a_new_fit():
    model = MultinomialNaiveBayes().fit(COUNTS, SIDES)
    for settings in ({"smoothing": "held-out"}, {"temperature": "held-out"}, {"boolean": True}):
        changed = pickle.loads(pickle.dumps(model)).set_params(**settings)
        with pytest.raises(BadSetting, match=r"\nHint: fit again"):
            changed.predict(COUNTS)
        assert len(changed.fit(COUNTS, SIDES).predict(COUNTS)) == 3
    mixed_model = NaiveBayes().fit(FRAME, LABELS).set_params(families="gaussian")
    with pytest.raises(BadSetting, match=r"the families were 'auto'.*\nHint: fit again"):
        mixed_model.predict(FRAME)


def test_select_takes_the_family_that_tells_classes_apart():
    rng = np.random.default_rng(13)
    y = np.arange(600) % 2
    # Two classes of one mean, one wide and one narrow; levels whose order says nothing.
    wide = rng.normal(size=600) * np.where(y, 3.0, 1.0)
    even_or_odd = 2 * rng.integers(0, 5, 600) + y
    level = np.where(rng.random(600) < 0.6, even_or_odd, rng.integers(0, 10, 600))
    frame = pd.DataFrame({"wide": wide, "level": level, "plain": rng.normal(y, 1.0)})
    chosen = NaiveBayes("select").fit(frame, y)
    assert chosen.families_["level"] == "categorical"
    scores = {
        family: cross_val_score(NaiveBayes(family), frame, y, cv=3, scoring="neg_log_loss").mean()
        for family in ("select", "gaussian", "shared-gaussian")
    }
    assert scores["select"] > max(scores["gaussian"], scores["shared-gaussian"]) + 0.02


# In scikit-learn's company


def test_it_works_in_pipelines_and_searches():
    letters = ["buy now", "buy it now", "we meet", "meet me now", "buy buy", "do we meet"] * 5
    y = [1, 1, 0, 0, 1, 0] * 5
    for kind in (BernoulliNaiveBayes, MultinomialNaiveBayes, ComplementNaiveBayes):
        pipeline = make_pipeline(CountVectorizer(), kind())
        name = kind.__name__.lower()
        search = GridSearchCV(pipeline, {f"{name}__smoothing": [0, 0.1, 1.0, "held-out"]}, cv=3)
        assert search.fit(letters, y).best_score_ == 1.0
        assert search.predict(["buy", "meet"]).tolist() == [1, 0]


def test_a_grid_may_hold_families_and_temperatures():
    frame, y = mixed(150)
    grid = {
        "families": ["auto", {"calls": "gaussian"}, {"weight": Binned(4), "price": LogNormal()}],
        "temperature": [None, 0.5],
        "smoothing": [0.1, 1.0],
    }
    search = GridSearchCV(NaiveBayes(), grid, cv=3, scoring="neg_log_loss", error_score="raise")
    search.fit(frame, y)
    assert len(search.cv_results_["params"]) == 12
    assert search.best_estimator_.score(frame, y) > 0.9
    copy = clone(search.best_estimator_)
    assert copy.get_params() == search.best_estimator_.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(frame)


def test_frames_made_by_other_steps_keep_their_kinds():
    frame, y = mixed(150)
    scale = make_column_transformer(
        (StandardScaler(), ["weight"]), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    pipeline = make_pipeline(scale, NaiveBayes()).fit(frame, y)
    assert pipeline[-1].families_ == {**FAMILIES, "weight": "gaussian"}
    np.testing.assert_allclose(
        pipeline.predict_proba(frame), NaiveBayes().fit(frame, y).predict_proba(frame), rtol=1e-9
    )
    assert list(pipeline[-1].feature_names_in_) == list(scale.get_feature_names_out())


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimator_travels(kind):
    model, X, y = rows_for(kind)
    model.fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    back.partial_fit(X, y).forget(X, y)
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert kind().get_params() == clone(kind()).get_params()
    assert repr(kind()) == f"{kind.__name__}()"


def test_models_of_other_choices_are_not_merged():
    one = NaiveBayes().fit([[0], [1]], [0, 1])
    other = NaiveBayes().fit([[0.5], [0.7], [1.5], [-1.0]], [0, 0, 1, 1])
    with pytest.raises(DifferentKinds, match=r"x0 is Categorical\(\) in one and Gaussian"):
        one + other
    named = [NaiveBayes("gaussian").fit(x, [0, 0, 1, 1]) for x in (LENGTHS, LENGTHS * 2)]
    assert (named[0] + named[1]).statistics_.weight == 8.0


def test_the_odds_of_two_normal_classes_are_a_sigmoid():
    model = NaiveBayes("shared-gaussian").fit(LENGTHS, [0, 0, 1, 1])
    x = np.linspace(-5, 15, 9)[:, np.newaxis]
    np.testing.assert_allclose(model.predict_proba(x)[:, 1], expit((x[:, 0] - 5.5) * 2.8))
