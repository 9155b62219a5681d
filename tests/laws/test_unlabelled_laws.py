"""Rows without a label: EM by hand, what is merged and forgotten, and rows that change nothing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from suffice import (
    BernoulliNaiveBayes,
    ComplementNaiveBayes,
    GaussianDiscriminant,
    MultinomialNaiveBayes,
    NaiveBayes,
    TextClassifier,
    load,
)
from suffice.errors import BadLabels, BadSetting, RowsLeftOut
from suffice.rows.labels import blank_labels

BLANKS: dict[str, Any] = {
    "None": lambda y: [None if v < 0 else "ab"[v] for v in y],
    "NaN": lambda y: np.where(y < 0, np.nan, y),
    "empty": lambda y: np.array(["" if v < 0 else "ab"[v] for v in y]),
    "blank": lambda y: ["  " if v < 0 else "ab"[v] for v in y],
    "masked": lambda y: np.ma.masked_array(np.maximum(y, 0), y < 0),
}


def some_rows(seed: int = 0, n: int = 40, labelled: int = 12) -> tuple[Any, Any, Any]:
    """Return counts of two classes, their classes, and the same with -1 where there is no label."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.poisson(np.where(y[:, None] == 0, [4.0, 1.0, 2.0], [1.0, 4.0, 2.0])).astype(float)
    known = np.where(np.arange(n) < labelled, y, -1)
    known[:2] = y[:2] = [0, 1]
    return X, y, known


@pytest.mark.parametrize("kind", BLANKS)
def test_rows_without_a_label_are_left_out_and_counted(kind: str) -> None:
    """They change no bit, whatever stands in the place of their label."""
    X, _, known = some_rows()
    there = known >= 0
    labels = BLANKS[kind](known)
    own = BLANKS[kind](known[there])
    for model in (GaussianDiscriminant, NaiveBayes, MultinomialNaiveBayes, ComplementNaiveBayes):
        with pytest.warns(RowsLeftOut, match=f"{(~there).sum()} rows without a label left out"):
            found = model().fit(X, labels)
        plain = model().fit(X[there], own)
        assert np.array_equal(found.predict_proba(X), plain.predict_proba(X))
        assert found.unlabelled_ is not None
        assert found.unlabelled_.rows == (~there).sum()
        assert found.unlabelled_.helped is None


def test_pandas_and_polars_blanks_are_no_labels() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for y in (
        pd.Series(["a", None, pd.NA, "b"]),
        pd.Series([1, None, None, 2], dtype="Int64"),
        pd.Series([1.0, np.nan, np.nan, 2.0]),
        pd.Series(["a", "", None, "b"], dtype="category"),
        pl.Series(["a", None, " ", "b"]),
        pl.Series([1.0, None, float("nan"), 2.0]),
    ):
        assert blank_labels(y).tolist() == [False, True, True, False], y


def test_minus_one_is_a_class() -> None:
    """scikit-learn's self-training takes it for no label; here it names a class."""
    found = NaiveBayes(unlabelled=1.0).fit([[1.5], [2.0], [5.5], [6.0]], [-1, -1, 1, 1])
    assert found.classes_.tolist() == [-1, 1]
    assert found.unlabelled_ is None


def by_hand(X: Any, known: Any, weight: float, steps: int) -> tuple[Any, Any]:
    """Return word shares and priors of multinomial naive Bayes after EM, written out."""
    labelled = known >= 0
    shares = np.eye(2)[known[labelled]]
    priors = shares.mean(axis=0)
    sums = shares.T @ X[labelled]

    def laws(counts: Any) -> Any:
        return (counts + 1.0) / (counts.sum(axis=1, keepdims=True) + counts.shape[1])

    theta = laws(sums)
    for _ in range(steps):
        joint = np.log(priors) + X[~labelled] @ np.log(theta).T
        z = np.exp(joint - joint.max(axis=1, keepdims=True))
        z /= z.sum(axis=1, keepdims=True)
        z[z < 1e-6] = 0.0
        theta = laws(sums + weight * z.T @ X[~labelled])
    return theta, priors


@pytest.mark.parametrize("weight", [0.1, 1.0])
def test_em_is_that_of_nigam(weight: float) -> None:
    """Labelled counts and λ times the expected ones; priors of few labels are theirs alone."""
    X, _, known = some_rows()
    theta, priors = by_hand(X, known, weight, 8)
    found = MultinomialNaiveBayes(unlabelled=weight).fit(X, BLANKS["None"](known))
    assert np.allclose(np.exp(found.feature_log_prob_), theta, rtol=1e-12)
    assert np.allclose(found.priors_, priors)
    assert found.unlabelled_ is not None
    assert (found.unlabelled_.weight, found.unlabelled_.steps) == (weight, 8)


def made(kind: str, unlabelled: Any) -> Any:
    """Return an estimator of every kind that learns from rows without a label."""
    return {
        "shared": lambda: GaussianDiscriminant(unlabelled=unlabelled),
        "VEV": lambda: GaussianDiscriminant("VEV", unlabelled=unlabelled),
        "naive Bayes": lambda: NaiveBayes(unlabelled=unlabelled),
        "held out": lambda: NaiveBayes(smoothing="held-out", unlabelled=unlabelled),
        "multinomial": lambda: MultinomialNaiveBayes(unlabelled=unlabelled),
        "Bernoulli": lambda: BernoulliNaiveBayes(1.5, unlabelled=unlabelled),
    }[kind]()


KINDS = ("shared", "VEV", "naive Bayes", "held out", "multinomial", "Bernoulli")


@pytest.mark.parametrize("kind", KINDS)
def test_files_learning_and_forgetting(kind: str, tmp_path: Any) -> None:
    """A file answers with the same bits; labelled rows are learned and taken back."""
    X, _, known = some_rows()
    y = BLANKS["None"](known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = made(kind, 0.5).fit(X, y)
        before = model.predict_proba(X)
        model.save(tmp_path / "m.suffice")
        again = load(tmp_path / "m.suffice")
        assert np.array_equal(again.predict_proba(X), before)
        assert str(again.unlabelled_) == str(model.unlabelled_)
        assert "without a label used with weight 0.5" in str(again.unlabelled_)
        again.partial_fit(X[:4], y[:4])
        assert not np.allclose(again.predict_proba(X), before)
        again.forget(X[:4], y[:4])
        assert np.allclose(again.predict_proba(X), before, atol=1e-9)
        twice = model + model
        assert twice.unlabelled_.rows == 2 * model.unlabelled_.rows
        assert np.allclose(twice.priors_, model.priors_)
        with pytest.raises(BadLabels, match="has no label"):
            again.partial_fit(X, y)


def test_texts_learn_from_documents_without_a_label(tmp_path: Any) -> None:
    texts = ["cheap pills now", "lunch at one", "buy cheap watches", "see you at lunch"] * 3
    y = ["spam", "ham", "spam", "ham", *[None] * 8]
    model = TextClassifier("multinomial", unlabelled=1.0, smoothing=1.0).fit(texts, y)
    model.save(tmp_path / "m.suffice")
    again = load(tmp_path / "m.suffice")
    assert np.array_equal(again.predict_proba(texts), model.predict_proba(texts))
    assert again.unlabelled_.rows == 8
    assert again.predict(["watches now"]).tolist() == ["spam"]


@pytest.mark.parametrize("apart", [0.0, 1.5])
def test_auto_needs_more_than_one_standard_error(apart: float) -> None:
    """What is chosen has gained more than its error over doing without, or nothing is chosen."""
    rng = np.random.default_rng(3)
    y = np.arange(240) % 2
    X = rng.normal(size=(240, 6)) + apart * y[:, None]
    known = np.where(np.arange(240) < 20, y, -1)
    model = GaussianDiscriminant("per-class", unlabelled="auto").fit(X, BLANKS["None"](known))
    found = model.unlabelled_
    assert found is not None
    assert found.gain is not None
    assert found.is_used == found.helped
    lower = found.gain > (found.error or 0.0)
    assert found.is_used == (lower and "less probable" not in str(found))
    plain = GaussianDiscriminant("per-class").fit(X[:20], BLANKS["None"](known[:20]))
    same = np.array_equal(plain.predict_proba(X), model.predict_proba(X))
    assert same != found.is_used
    if found.is_used:
        right = np.array(["a", "b"])[y[20:]]
        assert model.score(X[20:], right) > plain.score(X[20:], right)


def test_rows_that_are_left_out_leave_no_trace() -> None:
    """Where "auto" leaves them out, not even the laws of columns are chosen by their looks."""
    rng = np.random.default_rng(3)
    y, first = np.arange(200) % 2, np.arange(200) < 12
    X = np.column_stack([rng.integers(0, 5, 200) * 100.0, rng.normal(size=200)])
    X[first] += np.column_stack([np.arange(12), 3.0 * y[first]])  # the others look otherwise
    known = np.where(first, y, -1)
    found = NaiveBayes(unlabelled="auto").fit(X, BLANKS["None"](known))
    plain = NaiveBayes().fit(X[:12], np.array(["a", "b"])[y[:12]])
    used = NaiveBayes(unlabelled=1.0).fit(X, BLANKS["None"](known))
    assert used.families_ != plain.families_  # they would have been chosen otherwise
    assert found.unlabelled_ is not None
    assert not found.unlabelled_.is_used
    assert found.families_ == plain.families_
    assert np.array_equal(found.predict_proba(X[:12]), plain.predict_proba(X[:12]))


def test_with_few_labels_there_is_one_weight_and_one_step() -> None:
    """Below ten labelled rows a class there is nothing to choose by; from there on there is."""
    taken = {}
    for each in (6, 12):
        rng = np.random.default_rng(4)
        y = np.arange(100) % 2
        X = rng.normal(size=(100, 4)) + 1.2 * y[:, None]
        known = np.where(np.arange(100) < 2 * each, y, -1)
        model = GaussianDiscriminant("diagonal", unlabelled="auto").fit(X, BLANKS["None"](known))
        assert model.unlabelled_ is not None
        taken[each] = model.unlabelled_.weight, model.unlabelled_.steps
    assert taken == {6: (0.1, 1), 12: (1.0, 8)}


@pytest.mark.parametrize("width", [2.0, 4.0])
def test_a_lower_loss_at_the_cost_of_the_right_class_is_no_help(width: float) -> None:
    """Rows that lie wide apart make a model less sure of all, and of what is wrong too."""
    rng = np.random.default_rng(0)
    y = np.arange(18) % 2
    X = y + 0.12 * rng.normal(size=18)
    X[:4] = 1.0 - X[:4]  # four labels are wrong: without the others, it is sure of the opposite
    rows = np.append(X, rng.uniform(-width, 1.0 + width, size=60))[:, np.newaxis]
    known = np.append(y, np.full(60, -1))
    found = NaiveBayes("gaussian", unlabelled="auto").fit(rows, BLANKS["None"](known)).unlabelled_
    assert found is not None
    assert found.gain is not None
    assert found.error is not None
    assert found.gain > found.error
    assert not found.is_used
    assert str(found).endswith("but their own classes were less probable")


def test_bad_settings_and_bad_labels() -> None:
    X, _, known = some_rows()
    y = BLANKS["None"](known)
    for bad in (0.0, -0.1, 1.5, True, "always", None, np.nan):
        with pytest.raises(BadSetting, match="unlabelled="):
            NaiveBayes(unlabelled=bad).fit(X, y)
    with pytest.raises(BadSetting, match="Complement"):
        ComplementNaiveBayes(unlabelled=1.0).fit(X, y)
    for unlabelled in ("ignore", "auto", 1.0):
        with pytest.raises(BadLabels, match="none of 40 rows has a label"):
            NaiveBayes(unlabelled=unlabelled).fit(X, [None] * 40)
        with pytest.raises(BadLabels, match="none of 28 rows has a label"):
            NaiveBayes(unlabelled=unlabelled).fit(X, y, (known < 0).astype(float))


def test_blanks_beside_one_class_and_rows_of_weight_zero() -> None:
    """One class alone is all there is to guess; a weight of zero is no row, labelled or not."""
    X, _, known = some_rows()
    y = BLANKS["None"](known)
    with pytest.warns(UserWarning, match="only one class"):
        one = NaiveBayes(unlabelled="auto").fit(X[2:], ["a" if v == "a" else None for v in y[2:]])
    assert one.classes_.tolist() == ["a"]
    weights = np.where(np.arange(40) < 30, 1.0, 0.0)
    some = MultinomialNaiveBayes(unlabelled=1.0).fit(X, y, weights)
    same = MultinomialNaiveBayes(unlabelled=1.0).fit(X[:30], y[:30])
    assert np.allclose(some.predict_proba(X), same.predict_proba(X), rtol=1e-12)
    double = MultinomialNaiveBayes(unlabelled=0.5).fit(X, y, np.where(known < 0, 2.0, 1.0))
    whole = MultinomialNaiveBayes(unlabelled=1.0).fit(X, y)
    assert np.allclose(double.feature_log_prob_, whole.feature_log_prob_, rtol=1e-12)
