"""p-values of fresh rows are uniform, however few rows a class was learned from."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import kstest
from sklearn.base import clone

import suffice
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.errors import BadSetting, NoPValue, SufficeWarning
from tests.reference.typicality import (
    EXACT,
    FAMILIES,
    FORMS,
    drawn,
    mixed_model,
    mixed_rows,
    shares_below,
    within,
)
from tests.searches import examples


def fresh_p_values(covariance, draws, *, n, d, k=2, gaps=False, training=False, seed=0):
    """Return p-values of rows under their own class, over many small fits."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(d, d))
    found = []
    for _ in range(draws):
        y = np.arange(n * k) % k
        X = rng.normal(size=(n * k, d)) @ mixing + 3.0 * y[:, np.newaxis]
        model = GaussianDiscriminant(covariance).fit(X, y)
        if training:
            chosen = rng.integers(0, n * k, 4)
            p = model.typicality(X[chosen], y[chosen])[np.arange(4), y[chosen]]
        else:
            new = np.arange(4) % k
            Z = rng.normal(size=(4, d)) @ mixing + 3.0 * new[:, np.newaxis]
            if gaps:
                Z[rng.random(Z.shape) < 0.3] = np.nan
            p = model.typicality(Z)[np.arange(4), new]
        found.append(p)
    return np.concatenate(found)


@pytest.mark.parametrize("covariance", ["shared", "per-class"])
def test_p_values_of_fresh_rows_are_uniform_at_thirty_rows_of_ten_columns(covariance):
    p = fresh_p_values(covariance, 500, n=30, d=10)
    assert kstest(p, "uniform").pvalue > 0.01


@pytest.mark.parametrize("covariance", ["shared", "per-class"])
def test_p_values_of_rows_in_the_fit_are_uniform_too(covariance):
    p = fresh_p_values(covariance, 500, n=30, d=10, training=True, seed=1)
    assert kstest(p, "uniform").pvalue > 0.01


def test_p_values_with_missing_cells_are_uniform():
    p = fresh_p_values("per-class", 400, n=30, d=5, gaps=True, seed=2)
    p = p[p < 1.0]  # rows without any cell have p = 1
    assert kstest(p, "uniform").pvalue > 0.01


def test_treating_estimates_as_given_would_not_be_uniform():
    """The chi-squared p-values that fitted parameters seem to invite are far too small."""
    from scipy.stats import chi2

    rng = np.random.default_rng(3)
    p = []
    for _ in range(200):
        X = rng.normal(size=(30, 10))
        with np.errstate(all="ignore"):
            covariance = np.cov(X.T, bias=True)
        z = rng.normal(size=10) - X.mean(axis=0)
        p.append(chi2.sf(z @ np.linalg.solve(covariance, z), 10))
    assert np.mean(np.array(p) < 0.05) > 0.2


# At any number of rows


@pytest.mark.parametrize("training", [False, True], ids=["new", "training"])
@pytest.mark.parametrize(("n", "d"), [(5, 1), (7, 3), (5, 10), (20, 3)])
@pytest.mark.parametrize("form", FORMS)
def test_five_percent_of_normal_rows_have_p_below_five_percent_at_any_size(form, n, d, training):
    few = form.startswith("shared")  # with many classes a shared scatter has many rows
    rng = np.random.default_rng([n, d, training, FORMS.index(form)])
    shares = shares_below(
        lambda: GaussianDiscriminant(form),
        lambda rng, size: drawn("normal", rng, size, d),
        rng,
        0.05,
        n=n,
        k=2 if few else 40,
        fits=40 if few else 5,
        training=training,
    )
    # With more columns than rows columns are judged one by one, on the safe side.
    assert within(shares, 0.05, exact=not (form == "per-class" and d >= n))


@pytest.mark.parametrize(
    ("n", "d", "training", "gaps"), [(5, 3, False, 0.0), (7, 2, True, 0.2), (20, 10, False, 0.2)]
)
@pytest.mark.parametrize("name", FAMILIES)
def test_five_percent_of_rows_and_no_more_have_p_below_it(name, n, d, training, gaps):
    kind, family = FAMILIES[name]
    shares = shares_below(
        lambda: NaiveBayes(family),
        lambda rng, size: drawn(kind, rng, size, d),
        np.random.default_rng([n, d, training, list(FAMILIES).index(name)]),
        0.05,
        n=n,
        k=10,
        fits=4,
        gaps=gaps,
        training=training,
    )
    # Masses cannot be met exactly, and a row without cells has p = 1.
    assert within(shares, 0.05, exact=name in EXACT and not gaps)


@pytest.mark.parametrize("training", [False, True], ids=["new", "training"])
def test_no_more_than_five_percent_of_mixed_rows_have_p_below_it(training):
    rng = np.random.default_rng(7)
    shares = shares_below(mixed_model, mixed_rows, rng, 0.05, n=6, k=10, fits=5, training=training)
    assert within(shares, 0.05, exact=False)
    assert shares.mean() > 0.015  # with normal columns there is little to be safe about


def categories(rng, n):
    """Return a frame with levels of which some are rare, and classes that differ in a number."""
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "size": rng.normal(y, 1.0),
            "age": rng.normal(size=n),
            "plan": rng.choice(list("abcdef"), n, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02]),
            "far": rng.random(n) < 0.03,
        }
    )
    return frame, y


@pytest.mark.parametrize("form", FORMS)
def test_rare_categories_are_no_more_outlying_than_they_are_rare(form):
    rng = np.random.default_rng(12)
    (X, y), (new, truth) = categories(rng, 600), categories(rng, 3000)
    model = GaussianDiscriminant(form).fit(X, y)
    p = model.typicality(new)[np.arange(3000), truth]
    # Four standard deviations of a share, and a fifth for what one fit moves all rows by.
    assert np.mean(p < 0.05) <= 0.05 * 1.2 + 4.0 * np.sqrt(0.05 * 0.95 / 3000)
    assert np.mean(p < 0.01) <= 0.01 * 1.2 + 4.0 * np.sqrt(0.01 * 0.99 / 3000)
    own = model.typicality(X, y)[np.arange(600), y]
    assert np.mean(own < 0.01) <= 0.01 + 4.0 * np.sqrt(0.01 * 0.99 / 600)
    odd = pd.DataFrame({"size": [0.0], "age": [9.0], "plan": ["a"], "far": [False]})
    assert model.typicality(odd).max() < 1e-4
    unseen = pd.DataFrame({"size": [0.0], "age": [0.0], "plan": ["z"], "far": [False]})
    assert model.typicality(unseen).max() < 0.05


# Against laws that are known, and refits


@pytest.mark.parametrize("form", FORMS)
def test_one_column_has_students_law_and_spheres_have_f(form):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(11, 1)) * 3.0, np.arange(11) % 2
    model = GaussianDiscriminant(form).fit(X, y)
    Z = np.array([[-4.0], [0.3], [2.0], [30.0]])
    own = X[y == 0]
    nu, scatter = len(own) - 1, np.square(own - own.mean()).sum()
    if form.startswith("shared"):
        nu, scatter = 9, scatter + np.square(X[y == 1] - X[y == 1].mean()).sum()
    t = (Z - own.mean()) / np.sqrt(scatter / nu * (1 + 1 / len(own)))
    np.testing.assert_allclose(
        model.typicality(Z)[:, 0], 2 * stats.t.sf(np.abs(t[:, 0]), nu), rtol=1e-9
    )
    if form == "spherical":
        X, Z = rng.normal(size=(12, 4)), rng.normal(size=(5, 4)) * 2.0
        model = GaussianDiscriminant(form).fit(X, np.arange(12) % 2)
        own = X[::2]
        mean = own.mean(axis=0)
        q = np.square(Z - mean).sum(axis=1) / (1 + 1 / 6) / np.square(own - mean).sum()
        np.testing.assert_allclose(model.typicality(Z)[:, 0], stats.f.sf(q * 5, 4, 20), rtol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(5, 3), (9, 10), (30, 2)])
def test_sums_over_columns_have_the_law_that_draws_have(n, d):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    model = GaussianDiscriminant("diagonal").fit(np.vstack([X, X + 1.0]), np.repeat([0, 1], n))
    Z = rng.normal(size=(40, d)) * 1.5
    t2 = np.square(Z - X.mean(axis=0)) / X.var(axis=0, ddof=1) / (1 + 1 / n)
    found = np.log1p(t2 / (n - 1)).sum(axis=1)
    draws = np.square(rng.standard_t(n - 1, size=(200_000, d)))
    draws = np.sort(np.log1p(draws / (n - 1)).sum(axis=1))
    expected = 1.0 - np.searchsorted(draws, found) / len(draws)
    # Five standard deviations of a share of 200,000 draws.
    reach = 5.0 * np.sqrt(np.maximum(expected * (1 - expected), 1e-5) / len(draws))
    assert (np.abs(model.typicality(Z)[:, 0] - expected) <= reach).all()


def refitted(model, X, y, i):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        kept = np.arange(len(y)) != i
        return model().fit(X[kept], y[kept]).typicality(X[i : i + 1])[0]


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("form", FORMS)
def test_a_training_row_is_a_new_row_to_the_model_without_it(form, gaps):
    if gaps and form in ("shared", "per-class"):
        pytest.skip("EM without a row is another EM: approximate, and said to be")
    rng = np.random.default_rng(21)
    X, y = rng.normal(size=(24, 3)) + 5.0, np.arange(24) % 3
    if gaps:
        X[rng.random(X.shape) < 0.15] = np.nan
    found = GaussianDiscriminant(form).fit(X, y).typicality(X, y)
    for i in range(24):
        expected = refitted(lambda: GaussianDiscriminant(form), X, y, i)
        # With gaps a row alone has a law of its own, and many rows share a lattice: it is fine
        # where p-values matter, and coarse at the pole that log densities have at the mean.
        near = expected > 0.9
        rtol = 5e-3 if gaps else 1e-6
        np.testing.assert_allclose(found[i, ~near], expected[~near], rtol=rtol)
        np.testing.assert_allclose(found[i, near], expected[near], atol=0.02 if gaps else 1e-6)


@pytest.mark.parametrize("name", [*FAMILIES, "mixed"])
def test_a_training_row_is_a_new_row_to_naive_bayes_without_it(name):
    rng = np.random.default_rng(22)
    y = np.arange(16) % 2
    if name == "mixed":
        X, model = mixed_rows(rng, 16), mixed_model
    else:
        kind, family = FAMILIES[name]
        X = drawn(kind, rng, 16, 3)

        def model():
            return NaiveBayes(family)

    X[3, 0] = np.nan
    found = model().fit(X, y).typicality(X, y)
    for i in range(16):
        np.testing.assert_allclose(
            found[i], refitted(model, X, y, i), rtol=0.02 if name == "mixed" else 1e-3, atol=1e-9
        )


@pytest.mark.parametrize("form", FORMS)
def test_a_weight_of_two_is_two_rows(form):
    rng = np.random.default_rng(23)
    X, y, w = rng.normal(size=(20, 2)), np.arange(20) % 2, rng.integers(1, 3, 20)
    again = np.repeat(np.arange(20), w)
    heavy = GaussianDiscriminant(form).fit(X, y, w)
    many = GaussianDiscriminant(form).fit(X[again], y[again])
    np.testing.assert_allclose(heavy.typicality(X + 1), many.typicality(X + 1), rtol=1e-9)
    np.testing.assert_allclose(heavy.typicality(X, y), many.typicality(X, y), rtol=1e-9)
    columns = NaiveBayes(dict(enumerate(["gaussian", "poisson"])))
    X[:, 1] = rng.poisson(3.0, 20)
    heavy, many = clone(columns).fit(X, y, w), clone(columns).fit(X[again], y[again])
    np.testing.assert_allclose(heavy.typicality(X, y), many.typicality(X, y), rtol=1e-9)
    # All of a row's weight is taken out where it is given.
    whole = GaussianDiscriminant(form).fit(X, y, w).typicality(X[:1], y[:1], w[:1])[0]
    rest = GaussianDiscriminant(form).fit(X[1:], y[1:], w[1:]).typicality(X[:1])[0]
    np.testing.assert_allclose(whole, rest, rtol=1e-6)


# Whatever is asked


@pytest.mark.parametrize("data", ["plain", "constant", "one row", "wide", "twins"])
@pytest.mark.parametrize("form", [*FORMS, "naive Bayes"])
def test_every_row_has_a_p_value_between_zero_and_one(form, data):
    rng = np.random.default_rng(24)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 2
    if data == "constant":
        X[:, 0], X[y == 0, 1] = 7.0, 0.1
    elif data == "one row":
        y = (np.arange(12) == 4).astype(int)
    elif data == "wide":
        X = rng.normal(size=(12, 30))
    elif data == "twins":
        X[:, 1] = 2.0 * X[:, 0]
    asked = np.vstack([X[:3], X.mean(axis=0), 1e300 * np.ones_like(X[:2]), -X[:2] * 1e307])
    asked[-1, 1:] = np.nan
    asked = np.vstack([asked, np.full_like(X[:1], np.nan)])
    model = GaussianDiscriminant(form) if form in FORMS else NaiveBayes("gaussian")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model.fit(X, y)
        for p in (model.typicality(asked), model.typicality(X, y)):
            assert ((p >= 0.0) & (p <= 1.0)).all()
        assert (model.typicality(asked)[-1] == 1.0).all()
        if data in ("plain", "twins"):
            assert model.typicality(asked)[4].max() < 1e-6


def test_what_a_row_is_told_does_not_depend_on_what_else_is_asked():
    rng = np.random.default_rng(27)
    X, y = mixed_rows(rng, 120), np.arange(120) % 2
    model = mixed_model().fit(X, y)
    alone = np.vstack([model.typicality(X[i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(model.typicality(X)[:5], alone, rtol=1e-9)
    # So many kinds of rows are transformed in single precision, with small parts left out.
    many = np.vstack([X[:5], mixed_rows(rng, 1500)])
    np.testing.assert_allclose(model.typicality(many)[:5], alone, atol=1e-5)


def test_columns_with_the_same_counts_are_counted_together_and_say_the_same():
    rng = np.random.default_rng(26)
    X = (rng.random((30, 12)) < 0.4).astype(float)
    y = np.arange(30) % 2
    new = (rng.random((40, 12)) < 0.4).astype(float)
    found = NaiveBayes("bernoulli").fit(X, y).typicality(new)[:, 0]
    for row, p in zip(new, found, strict=True):
        share = (X[y == 0].sum(axis=0) + row) / 16.0
        draws = rng.random((20_000, 12)) < share
        logs = np.where(draws, np.log(share), np.log(np.where(share < 1, 1 - share, 1))).sum(axis=1)
        own = np.where(row > 0, np.log(share), np.log(np.where(share < 1, 1 - share, 1))).sum()
        # A lattice may break ties of logs, and make some: they are within half a step a column.
        low, high = (np.mean(logs <= own + side * 12 / 64) for side in (-1, 1))
        assert low - 0.02 <= p <= high + 0.02
    levels = NaiveBayes("categorical").fit(np.where(X[:, :1] > 0, "a", "b"), y)
    assert levels.typicality([["z"]])[0, 0] == pytest.approx(1 / 16)


def test_a_row_that_differs_from_a_constant_is_the_odd_one_out():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 4.0], [0.0, 3.0], [1.0, 2.0], [3.0, 1.0]])
    y = [0, 0, 0, 0, 1, 1]
    with pytest.warns(SufficeWarning, match="do not vary"):
        model = NaiveBayes("gaussian").fit(X, y)
    same, other = model.typicality([[0.0, 2.5], [0.5, 2.5]])[:, 0]
    assert same == pytest.approx(1.0)
    # One of five; or it is one of the others, and the second column goes as far: ν = 3, and
    # 2·log(1 + t²/3) = log 4 for t = √3. The lattice adds up to 3 %.
    expected = 0.2 + 0.8 * 2 * stats.t.sf(np.sqrt(3.0), 3)
    assert expected <= other <= 1.03 * expected


def test_typicality_without_statistics_is_refused_and_weights_need_labels(tmp_path):
    rng = np.random.default_rng(25)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
    for model in (GaussianDiscriminant("diagonal").fit(X, y), NaiveBayes("gaussian").fit(X, y)):
        with pytest.raises(BadSetting, match="sample_weight is given without y"):
            model.typicality(X, sample_weight=np.ones(12))
        model.save(tmp_path / "model.suffice", statistics=False)
        with pytest.raises(BadSetting, match="without its statistics"):
            suffice.load(tmp_path / "model.suffice").typicality(X)


# Where nothing is known

UNKNOWN = {
    "shared": suffice.GaussianDiscriminant,
    "per-class": lambda: suffice.GaussianDiscriminant("per-class"),
    "pooled": lambda: suffice.GaussianDiscriminant("per-class", pool=0.5),
    "diagonal": lambda: suffice.GaussianDiscriminant("diagonal"),
    "shared-diagonal": lambda: suffice.GaussianDiscriminant("shared-diagonal"),
    "spherical": lambda: suffice.GaussianDiscriminant("spherical"),
    "naive Bayes": lambda: suffice.NaiveBayes("gaussian"),
    "naive Bayes, shared": lambda: suffice.NaiveBayes(suffice.families.GaussianColumns("shared")),
}

FAR = 1e4
"""Far out, but not so far that rounding leaves nothing of the variance of the others."""


def told(ask: Any) -> tuple[Any, str]:
    """Return an answer, and what was said with it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NoPValue)
        found = ask()
    return found, " ".join(str(one.message) for one in caught)


@pytest.mark.parametrize("name", UNKNOWN)
@examples(15)
@given(sizes=st.lists(st.integers(1, 4), min_size=2, max_size=3), seed=st.integers(0, 99))
@example(sizes=[1, 3], seed=29)  # without the row that is moved, rounding leaves no variance
def test_p_is_one_for_rows_far_out_where_that_is_said_and_nowhere_else(
    name: str, sizes: list[int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(y), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = UNKNOWN[name]().fit(X, y)
    found, said = told(lambda: model.typicality([[FAR]]))
    unknown = int((found == 1.0).sum())
    assert said.startswith(f"{unknown} of {len(sizes)} classes have one row") == (unknown > 0)
    assert bool(said) == (unknown > 0)
    # A row that was in the fit, if it lay far out: it is judged by the others.
    for i in range(len(y)):
        moved = X.copy()
        moved[i] = FAR
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = UNKNOWN[name]().fit(moved, y)
        p, said = told(lambda model=model, moved=moved, i=i: model.typicality(moved[[i]], y[[i]]))
        assert (p == 1.0).any() == bool(said), (p, said)


@pytest.mark.parametrize("name", UNKNOWN)
@examples(15)
@given(sizes=st.lists(st.integers(1, 5), min_size=2, max_size=3), beside=st.booleans())
def test_a_row_unlike_what_was_always_the_same_is_odd_in_every_form(
    name: str, sizes: list[int], beside: bool
) -> None:
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.full((len(y), 1), 7.0)
    if beside:
        X = np.column_stack([X, np.random.default_rng(3).normal(size=len(y))])
    asked = np.vstack([X[:1], X[:1]])
    asked[1, 0] = FAR
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = UNKNOWN[name]().fit(X, y)
    found, said = told(lambda: model.typicality(asked))
    held = np.array(sizes, dtype=float)
    odd = np.where(held > 1.0, 1.0 / (held + 1.0), 1.0)
    if not beside:
        np.testing.assert_allclose(found[0], 1.0)
        np.testing.assert_allclose(found[1], odd, rtol=1e-6)
        assert bool(said) == bool((held == 1.0).any())
    elif name not in ("shared", "per-class", "pooled", "spherical"):
        assert (found[1] <= 1.03 * found[0]).all()  # one sum; its lattice adds up to 3 %
    else:
        both = np.minimum(2.0 * np.minimum(odd, found[0]), 1.0)
        np.testing.assert_allclose(found[1], both, rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in UNKNOWN if name != "pooled"])
def test_a_row_that_carries_all_the_variance_is_one_of_w_and_not_impossible(name: str) -> None:
    y = np.repeat([0, 1], 6)
    X = np.full((12, 1), 2.0)
    X[11] = 9.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = UNKNOWN[name]().fit(X, y)
    p, said = told(lambda: model.typicality(X[[11]], y[[11]]))
    assert not said
    assert p[0, 1] == pytest.approx(1 / 6)
    assert p[0, 0] == pytest.approx(1 / 7)


def test_columns_that_know_nothing_leave_the_answer_to_the_others() -> None:
    X = np.array([[0.0, 1.0], [1.0, np.nan], [3.0, np.nan], [9.0, 2.0], [8.0, 3.0], [7.0, 5.0]])
    y = np.array(list("aaabbb"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        both = suffice.NaiveBayes("gaussian").fit(X, y)
        one = suffice.NaiveBayes("gaussian").fit(X[:, :1], y)
    p, said = told(lambda: both.typicality([[2.0, 1e9]]))
    assert not said
    assert p[0, 0] == pytest.approx(one.typicality([[2.0]])[0, 0])
    assert p[0, 1] < 0.01


def test_a_single_row_says_which_levels_its_class_has() -> None:
    frame = pd.DataFrame({"x": [0.0, 5.0, 6.0, 7.5], "word": ["a", "b", "b", "b"]})
    y = np.array([0, 1, 1, 1])
    for model in (suffice.NaiveBayes(), suffice.GaussianDiscriminant("per-class")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            model.fit(frame, y)
        _, said = told(lambda model=model: model.typicality(frame))
        assert not said
        p, said = told(lambda model=model: model.typicality(frame, y))
        assert said.startswith("1 row(s) are alone in their class")
        assert p[0, 0] == 1.0


def test_counts_of_a_row_alone_are_told_too() -> None:
    X, y = np.array([[3.0, 1.0], [0.0, 2.0], [1.0, 4.0]]), np.array([0, 1, 1])
    for model in (suffice.MultinomialNaiveBayes(), suffice.BernoulliNaiveBayes()):
        model.fit(X, y)
        assert not told(lambda model=model: model.typicality(X))[1]
        p, said = told(lambda model=model: model.typicality(X, y))
        assert said.startswith("1 row(s) are alone in their class")
        assert p[0, 0] == 1.0


def test_diagnostics_take_rows_out_with_their_weight() -> None:
    from suffice.evaluation.diagnostics import _outlying
    from suffice.evaluation.labelled_rows import LabelledRows

    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(12, 2)), np.arange(12) % 2, rng.integers(1, 4, 12).astype(float)
    model = suffice.GaussianDiscriminant("per-class").fit(X, y, w)
    expected = model.typicality(X, y, w)[np.arange(12), y]
    rows = LabelledRows.read(X, y, w)
    np.testing.assert_array_equal(_outlying(X, rows), expected)
    assert not np.allclose(model.typicality(X, y)[np.arange(12), y], expected)
