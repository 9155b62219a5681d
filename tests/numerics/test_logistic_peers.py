"""Where other logistic regressions fail on legal data, the right answer. T… are the survey's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_expit, log_softmax

from suffice import LogisticRegression
from suffice.errors import DegenerateData, SeparationWarning


def labelled(seed, n, d, k=2, strength=0.7):
    """Return standard normal rows and labels that logistic regression is the truth of."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    scores = Z @ (rng.normal(size=(d, k)) * strength) + rng.gumbel(size=(n, k))
    return Z, scores.argmax(axis=1)


def standard_errors(model):
    return model.summary().standard_errors


# T23: separable rows have no maximum


def test_t23_separated_rows_are_told_and_not_climbed():
    X, y = np.arange(10.0)[:, np.newaxis], np.repeat(["low", "high"], 5)
    with pytest.warns(SeparationWarning, match="complete separation of 'low' from 'high' by x0"):
        model = LogisticRegression().fit(X, y)
    assert not model.converged_
    assert model.separated_.kind == "complete"
    assert model.separated_.columns == ("x0",)
    assert (model.predict(X) == y).all()
    assert np.isfinite(model.coef_).all()
    # Half way between the classes is undecided.
    assert model.predict_proba([[4.5]])[0] == pytest.approx([0.5, 0.5], abs=1e-6)


@pytest.mark.parametrize("penalty", [1e-6, 1.0, 1e6])
def test_t23_with_a_penalty_there_is_a_maximum(penalty):
    """By bisection on the one equation there is: Σ(y - p)z = penalty·β, and β₀ = 0 by symmetry."""
    X, y = np.arange(10.0)[:, np.newaxis], np.repeat([0, 1], 5)
    model = LogisticRegression(penalty).fit(X, y)
    assert model.converged_
    z = (X[:, 0] - 4.5) / X.std()
    low, high = 0.0, 1e3
    for _ in range(200):
        middle = 0.5 * (low + high)
        rest = np.where(z > 0, z * expit(-middle * z), -z * expit(middle * z)).sum()
        low, high = (middle, high) if rest > penalty * middle else (low, middle)
    assert model.coef_[0, 0] * X.std() == pytest.approx(low, rel=1e-7)
    assert model.intercept_[0] == pytest.approx(-4.5 * model.coef_[0, 0], rel=1e-7)


@pytest.mark.parametrize("k", [2, 3])
def test_t23_rows_that_start_separated_converge_with_a_penalty(k):
    rng = np.random.default_rng(0)
    y = np.arange(90) % k
    X = rng.normal(size=(90, 4)) + 50.0 * np.eye(4)[y]
    model = LogisticRegression(1.0).fit(X, y)
    assert model.converged_
    residuals = (y[:, np.newaxis] == np.arange(k)) - model.predict_proba(X)
    slopes = model.coef_ * X.std(axis=0)
    pull = slopes if k > 2 else np.vstack([-slopes, slopes])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(residuals.T @ Z, pull, atol=1e-7)


# T25: underflow, overflow, predictions that change the model, labels of one batch


@pytest.mark.parametrize("far", [1e2, 1e4, 1e8, 1e150, 1e300])
def test_t25_posteriors_do_not_underflow(far):
    """Naivebayes R #4: far from the boundary the log posterior is the log odds themselves."""
    X, y = labelled(0, 400, 3)
    model = LogisticRegression().fit(X, y)
    row = np.array([[far, -far, far]])
    odds = float(row[0] @ model.coef_[0] + model.intercept_[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log, share = model.predict_log_proba(row)[0], model.predict_proba(row)[0]
    assert log == pytest.approx([log_expit(-odds), log_expit(odds)], rel=1e-9)
    assert np.isfinite(share).all()
    assert share.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("far", [1e2, 1e4, 1e8, 1e150, 1e300])
def test_t25_softmax_does_not_overflow(far):
    X, y = labelled(1, 600, 3, 4)
    model = LogisticRegression().fit(X, y)
    rows = far * np.array([[1.0, -1.0, 1.0], [-1.0, 0.0, 0.5]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log, share = model.predict_log_proba(rows), model.predict_proba(rows)
    assert log == pytest.approx(log_softmax(rows @ model.coef_.T + model.intercept_, 1), rel=1e-9)
    assert share.sum(axis=1) == pytest.approx(1.0)


def test_t25_a_thousand_columns_overflow_nothing():
    """Mlpack #2017: products over many columns are sums here."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 1000)) * 1e3, np.arange(300) % 2
    X[y == 1] += 3e3
    model = LogisticRegression(1.0).fit(X, y)
    assert model.converged_
    assert np.isfinite(model.predict_log_proba(X * 1e6)).all()
    assert (model.predict(X) == y).mean() > 0.99


def test_t25_asking_changes_nothing():
    """River PR 195: prediction went on counting."""
    X, y = labelled(3, 300, 3, 3)
    model = LogisticRegression().fit(X, y)
    before = model.predict_log_proba(X)
    coefficients = model.coef_.copy()
    for ask in (model.predict, model.predict_proba, model.decision_function, model.explain):
        ask(X)
    model.summary()
    assert (model.coef_ == coefficients).all()
    assert (model.predict_log_proba(X) == before).all()


def test_t25_labels_are_those_of_all_batches():
    """cuML PR 8316: a batch that lacks a class must not rename those it has."""
    X, y = labelled(4, 3000, 2, 3, 2.0)
    names = np.array(["ant", "bee", "cat"])[y]
    order = np.argsort(y == 0, kind="stable")  # the first batches have no ants
    stream = LogisticRegression()
    for part in np.array_split(order, 5):
        stream.partial_fit(X[part], names[part])
    assert stream.classes_.tolist() == ["ant", "bee", "cat"]
    # In a shuffled stream labels keep their rows, whatever was seen first.
    stream = LogisticRegression()
    for part in (order[:200], np.random.default_rng(0).permutation(len(y))):
        stream.partial_fit(X[part], names[part])
    exact = LogisticRegression().fit(X, names)
    assert (stream.predict(X) == exact.predict(X)).mean() > 0.9


@pytest.mark.parametrize("labels", [[7, -3], ["b", "a"], [True, False], [2.0, 1.0], [10**12, 0]])
def test_labels_of_any_kind_are_answered_in_kind(labels):
    X, y = labelled(5, 200, 2)
    model = LogisticRegression().fit(X, np.array(labels)[y])
    plain = LogisticRegression().fit(X, y)
    assert model.classes_.tolist() == sorted(labels)
    sign = 1.0 if labels[0] == min(labels) else -1.0
    np.testing.assert_allclose(model.coef_, sign * plain.coef_, rtol=1e-8)
    assert (model.predict(X) == np.array(labels)[plain.predict(X)]).all()


# Columns in any units: scikit-learn issue 15556


def ill_scaled():
    """Return the example of scikit-learn PR 15583, by which lbfgs was shown to fail."""
    from sklearn.datasets import make_classification

    X, y = make_classification(n_samples=100, n_features=60, random_state=0)
    X[:, 1] += 10_000
    X[:, 0] *= 10_000
    return X, y


def test_the_ill_scaled_example_converges_as_if_it_were_scaled():
    X, y = ill_scaled()
    model = LogisticRegression(1.0).fit(X, y)
    assert model.converged_
    assert model.bound_ < 1e-7
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    scaled = LogisticRegression(1.0).fit(Z, y)
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), scaled.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), scaled.predict_proba(Z), atol=1e-10)


def test_without_a_penalty_the_ill_scaled_example_has_no_maximum_and_says_so():
    """60 columns part 100 rows; two of them are redundant, with the two that they come from."""
    X, y = ill_scaled()
    with pytest.warns() as told:
        model = LogisticRegression().fit(X, y)
    assert {entry.category for entry in told} == {DegenerateData, SeparationWarning}
    assert model.separated_.kind == "complete"
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_scales_from_millionths_to_hundreds_of_millions_do_not_matter(k, penalty):
    Z, y = labelled(6, 3000, 8, k)
    units = 10.0 ** np.linspace(-6, 8, 8)
    places = units * np.random.default_rng(6).normal(size=8) * 1e3
    plain = LogisticRegression(penalty).fit(Z, y)
    model = LogisticRegression(penalty).fit(Z * units + places, y)
    assert model.converged_
    assert model.bound_ < 1e-7
    spread = standard_errors(plain)[:, 1:]
    apart = model.against().coef * units - plain.against().coef
    assert np.abs(apart / spread).max() < 1e-8
    np.testing.assert_allclose(standard_errors(model)[:, 1:] * units, spread, rtol=1e-6)
    np.testing.assert_allclose(
        model.predict_proba(Z * units + places), plain.predict_proba(Z), atol=1e-9
    )


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("offset", [1e8, -1e12])
def test_columns_far_from_zero_keep_all_their_digits(offset, k):
    """The cells are exact there, eighths and whole numbers: so are the differences."""
    rng = np.random.default_rng(7)
    X = rng.integers(-16, 17, (1000, 3)) / (8.0 if abs(offset) < 1e10 else 1.0)
    scores = X / X.std() @ rng.normal(size=(3, k)) + rng.gumbel(size=(1000, k))
    y = scores.argmax(axis=1)
    near, far = LogisticRegression().fit(X, y), LogisticRegression().fit(X + offset, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-10)
    np.testing.assert_allclose(
        standard_errors(far)[:, 1:], standard_errors(near)[:, 1:], rtol=1e-10
    )
    np.testing.assert_allclose(far.predict_proba(X + offset), near.predict_proba(X), atol=1e-11)


@pytest.mark.parametrize("unit", [1e-150, 1e-30, 1e30, 1e150])
def test_units_at_the_ends_of_the_range_do_not_matter(unit):
    Z, y = labelled(8, 400, 2)
    plain, model = LogisticRegression().fit(Z, y), LogisticRegression().fit(Z * unit, y)
    assert model.converged_
    np.testing.assert_allclose(model.coef_ * unit, plain.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict_proba(Z * unit), plain.predict_proba(Z), atol=1e-9)


def test_nearly_collinear_columns_keep_their_sum():
    """Two columns that differ in the seventh digit: their difference is hardly known, their sum is.

    Turned by 45° the columns are well behaved: the same fit by another way.
    """
    rng = np.random.default_rng(9)
    Z, y = labelled(9, 2000, 2)
    apart = rng.integers(-8, 9, 2000) * 2.0**-20
    base = np.round(Z[:, 0] * 64) / 64
    X = np.column_stack([base + apart, base - apart])
    model = LogisticRegression().fit(X, y)
    turned = LogisticRegression().fit(np.column_stack([base, apart]), y)
    assert model.converged_
    total, difference = model.coef_[0].sum(), model.coef_[0, 0] - model.coef_[0, 1]
    spread = standard_errors(turned)[0]
    assert (total - turned.coef_[0, 0]) / spread[1] == pytest.approx(0.0, abs=1e-6)
    assert (difference - turned.coef_[0, 1]) / spread[2] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(
        model.predict_proba(X), turned.predict_proba(np.column_stack([base, apart])), atol=1e-7
    )


# Classes of any size


@pytest.mark.parametrize("k", [2, 3])
def test_a_class_of_two_rows_among_a_hundred_thousand(k):
    """Its expected number is its number: Σp = 2, for any maximum."""
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(100_000, 3)), rng.integers(0, k - 1, 100_000)
    y[[5, 77]] = k - 1
    X[[5, 77]] = [[0.3, 0.1, -0.2], [-0.2, 0.2, 0.1]]
    model = LogisticRegression().fit(X, y)
    assert model.converged_
    found = model.predict_proba(X)
    assert found[:, -1].sum() == pytest.approx(2.0, rel=1e-6)
    assert found[:, -1] @ X == pytest.approx(X[[5, 77]].sum(axis=0), abs=1e-5)
    assert standard_errors(model)[-1, 0] == pytest.approx(2**-0.5, rel=0.1)


@pytest.mark.parametrize("rare", [1e-3, 1e-8])
def test_weights_may_make_a_class_as_rare_as_they_like(rare):
    X, y = labelled(11, 300, 2)
    weights = np.where(y == 1, rare, 1.0)
    model = LogisticRegression(tolerance=1e-12).fit(X, y, weights)
    assert model.converged_
    share = model.predict_proba(X)[:, 1]
    assert weights @ share == pytest.approx(weights[y == 1].sum(), rel=1e-6)


def steps(gap):
    """Return rows on a line of which the last of the first class is `gap` past the first next."""
    x = np.concatenate([np.linspace(-1.0, -0.1, 40), [gap, 0.0], np.linspace(0.1, 1.0, 40)])
    return x[:, np.newaxis], np.repeat([0, 1], 41)


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6, 1e-8])
def test_the_smallest_overlap_has_a_maximum(gap):
    X, y = steps(gap)
    model = LogisticRegression().fit(X, y)
    assert model.separated_ is None
    assert model.converged_
    residuals = y - model.predict_proba(X)[:, 1]
    assert np.abs(residuals.sum()) < 1e-7
    assert np.abs(residuals @ X[:, 0]) < 1e-7


@pytest.mark.parametrize("gap", [-1e-1, -1e-3, -1e-6, -1e-8])
def test_the_smallest_gap_is_a_separation(gap):
    X, y = steps(gap)
    with pytest.warns(SeparationWarning, match="complete separation"):
        model = LogisticRegression().fit(X, y)
    assert model.separated_.kind == "complete"
    assert (model.predict(X) == y).all()


def test_a_shared_place_is_a_quasi_complete_separation():
    X, y = steps(0.0)
    with pytest.warns(SeparationWarning, match="quasi-complete"):
        model = LogisticRegression().fit(X, y)
    assert (model.separated_.rows_apart, model.separated_.rows_tied) == (80, 2)
    assert model.predict_proba([[0.0]])[0] == pytest.approx([0.5, 0.5], abs=1e-6)


@pytest.mark.parametrize("counts", [(1, 1, 1, 295), (1, 1, 1, 100_000), (1, 9999, 9999, 1)])
def test_lopsided_tables_converge(counts):
    """Newton's steps from a bad start overshoot here; the answer is the log odds ratio."""
    a, b, c, d = counts
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    model = LogisticRegression().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert model.converged_
    expected = np.log(a) + np.log(d) - np.log(b) - np.log(c)
    error = np.sqrt(sum(1.0 / n for n in counts))
    assert model.coef_[0, 0] == pytest.approx(expected, abs=1e-7 * error)


def test_sparse_rows_of_many_columns_are_those_of_the_filled_table():
    rng = np.random.default_rng(12)
    X = sparse.random_array((800, 400), density=0.05, rng=rng, format="csr")
    truth = rng.normal(size=400) * 3.0
    y = (X @ truth + rng.logistic(size=800) > 0).astype(int)
    thin = LogisticRegression(0.5, tolerance=1e-10).fit(X, y)
    full = LogisticRegression(0.5, tolerance=1e-10).fit(X.toarray(), y)
    assert thin.converged_
    np.testing.assert_allclose(thin.coef_, full.coef_, rtol=1e-7, atol=1e-8)
